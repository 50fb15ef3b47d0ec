"""The one place that walks over rows: in blocks, on threads.

Every quantity that the sparse GP needs of the data is a sum over rows, so a walk cuts the rows into blocks,
gives each thread an unbroken span of them, and adds up what the threads return, always in the same order:
the result does not depend on timing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.threads import single_blas_thread

Result = TypeVar("Result")
Block = tuple[int, slice]
"""The number of a block and the rows it holds."""


def block_rows_for(n_points: int) -> int:
    """Rows per block such that a few (n_points, block) arrays stay in the cache of one processor."""
    fitting = max(1, 2**17 // max(1, n_points))
    return min(max(1 << (fitting.bit_length() - 1), 1024), 4096)


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
    """Add up, array by array and in float64, what ``work(span, block)`` returns for each block: new arrays, which may
    be overwritten.
    """

    def work_on_span(span: int, blocks: list[Block]) -> list[Array]:
        return _add_up(work(span, block) for block in blocks)

    return _add_up(walk(n_rows, block_rows, n_jobs, work_on_span))


def _add_up(parts: Iterable[Sequence[Array]]) -> list[Array]:
    remaining = iter(parts)
    totals = [np.asarray(array, dtype=float) for array in next(remaining)]
    for part in remaining:
        for total, summand in zip(totals, part, strict=True):
            total += summand
    return totals


@cache
def _executor(n_jobs: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_jobs, thread_name_prefix="rio-uq-rows")


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_executor.cache_clear)
