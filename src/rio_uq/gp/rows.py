"""The one place that walks over rows: in blocks, on threads.

Every quantity that the sparse GP needs of the data is a sum over rows, so a walk cuts the rows into blocks,
gives each thread an unbroken span of them, and adds up what the threads return, always in the same order:
the result does not depend on timing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from rio_uq._base.array import Array

Result = TypeVar("Result")
Block = tuple[int, slice]
"""The number of a block and the rows it holds."""


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _blas_threads() -> int:
    return max((info["num_threads"] for info in _controller().info() if info["user_api"] == "blas"), default=1)


class _SingleBlasThread:
    """BLAS on one thread while anybody is inside, as before when the last one has left.

    Threads of rows and threads of BLAS must not multiply. Threads of OpenBLAS also spin for a while after their work
    and take the processor away from others, so the engine does without them altogether.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit = ExitStack()
        self._threads_before = 1

    def threads(self) -> int:
        """Threads that BLAS uses where nobody is inside."""
        with self._lock:
            return self._threads_before if self._inside else _blas_threads()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._threads_before = _blas_threads()
                self._limit.enter_context(_controller().limit(limits=1, user_api="blas"))
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.close()


single_blas_thread = _SingleBlasThread()


def effective_jobs(n_jobs: int | None) -> int:
    """The number of threads meant by ``n_jobs``.

    None stands for as many as BLAS would use here (so that OMP_NUM_THREADS and joblib are heard), −1 for all
    processors that this process may use, −2 for all but one, and so on.
    """
    if n_jobs is None:
        return single_blas_thread.threads()
    if n_jobs < 0:
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, processors + 1 + n_jobs)
    return n_jobs


def block_rows_for(n_points: int) -> int:
    """Rows per block such that a few (n_points, block) arrays stay in the cache of one processor."""
    return int(np.clip(2 ** int(np.log2(max(1, 2**17 // max(1, n_points)))), 1024, 4096))


def walk(n_rows: int, block_rows: int, n_jobs: int, work: Callable[[int, list[Block]], Result]) -> list[Result]:
    """Call ``work(span, blocks)`` for the span of blocks of each thread; results in the order of the rows."""
    starts = range(0, n_rows, block_rows)
    blocks = [(i, slice(start, min(start + block_rows, n_rows))) for i, start in enumerate(starts)]
    n_spans = max(1, min(n_jobs, len(blocks)))
    if n_spans == 1:
        return [work(0, blocks)]
    cuts = np.linspace(0, len(blocks), n_spans + 1).round().astype(int)
    spans = [blocks[a:b] for a, b in pairwise(cuts)]
    with single_blas_thread:
        return list(_executor(n_jobs).map(work, range(n_spans), spans))


def in_parallel(work: Callable[[int], Result], items: Iterable[int], n_jobs: int) -> list[Result]:
    """``work`` of each item, on threads if there are any."""
    if n_jobs == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(n_jobs) as executor:
        return list(executor.map(work, items))


def sum_over_rows(
    n_rows: int, block_rows: int, n_jobs: int, work: Callable[[int, Block], Sequence[Array]]
) -> list[Array]:
    """Add up, array by array and in float64, what ``work(span, block)`` returns for each block."""

    def work_on_span(span: int, blocks: list[Block]) -> list[Array]:
        return _add_up(work(span, block) for block in blocks)

    return _add_up(walk(n_rows, block_rows, n_jobs, work_on_span))


def _add_up(parts: Iterable[Sequence[Array]]) -> list[Array]:
    remaining = iter(parts)
    totals = [np.array(array, dtype=float) for array in next(remaining)]
    for part in remaining:
        for total, summand in zip(totals, part, strict=True):
            total += summand
    return totals


@cache
def _executor(n_jobs: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_jobs, thread_name_prefix="rio-uq-rows")


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_executor.cache_clear)
    os.register_at_fork(after_in_child=single_blas_thread.reset)


@dataclass(frozen=True)
class Rows:
    """Rows c = (x, ŷ) with their targets, and how to walk over them.

    Parameters
    ----------
    rows : (n, D) array
    targets : (n, q) array
        The residuals, one column for each output.
    weight : (n,) array or None
        How often each row counts.
    precision : (n,) array or None
        How precise the outcome of each row is: its noise variance is σ²/precision. It does not change how often the
        row counts.
    block_rows : int or None
        Rows in a block; None chooses by the size of the processor's cache.
    n_jobs : int
        Threads.
    dtype : numpy dtype
        float64, or float32 for the work on blocks; sums and all (m, m) algebra are float64 in both cases.
    cache_bytes : int
        Kernel matrices of blocks are kept between the two walks of an evaluation if all of them fit into this;
        0 recomputes them, in memory that does not grow with n.
    """

    rows: Array
    targets: Array
    weight: Array | None = None
    precision: Array | None = None
    block_rows: int | None = None
    n_jobs: int = 1
    dtype: np.dtype | type = np.float64
    cache_bytes: int = 2**30

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_outputs(self) -> int:
        return int(self.targets.shape[1])

    @cached_property
    def total_weight(self) -> float:
        return float(len(self.rows) if self.weight is None else self.weight.sum())

    @cached_property
    def pull(self) -> Array | None:
        """How strongly each row pulls, weight times precision; None where all are one."""
        if self.weight is None or self.precision is None:
            return self.precision if self.weight is None else self.weight
        return self.weight * self.precision

    @cached_property
    def total_pull(self) -> float:
        return float(len(self.rows) if self.pull is None else self.pull.sum())

    @cached_property
    def log_precision(self) -> float:
        """Σ_i w_i log ρ_i with the weights w and the precisions ρ."""
        if self.precision is None:
            return 0.0
        return float((np.log(self.precision) * (1.0 if self.weight is None else self.weight)).sum())

    @cached_property
    def moments(self) -> Array:
        """Σ_i w_i ρ_i c_i² of each column, shape (D,)."""

        def work(span: int, block: Block) -> list[Array]:
            squares = np.asarray(self.rows[block[1]], dtype=float) ** 2
            return [squares.sum(axis=0) if self.pull is None else self.pull[block[1]] @ squares]

        return sum_over_rows(len(self), 4096, self.n_jobs, work)[0]

    def subset(self, indices: NDArray[np.intp]) -> Rows:
        """Some of the rows, walked over in the same way."""
        weight, precision = (None if kind is None else kind[indices] for kind in (self.weight, self.precision))
        return replace(self, rows=self.rows[indices], targets=self.targets[indices], weight=weight, precision=precision)
