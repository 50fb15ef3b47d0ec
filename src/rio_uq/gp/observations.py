"""The training rows of a GP."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.gp.backend.walking import Block, sum_over_rows


@dataclass(frozen=True)
class Observations:
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
    def effective_weight(self) -> Array | None:
        """w_i ρ_i, weight times precision; None where all are one."""
        if self.weight is None or self.precision is None:
            return self.precision if self.weight is None else self.weight
        return self.weight * self.precision

    @cached_property
    def total_effective_weight(self) -> float:
        return float(len(self.rows) if self.effective_weight is None else self.effective_weight.sum())

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
            return [squares.sum(axis=0) if self.effective_weight is None else self.effective_weight[block[1]] @ squares]

        return sum_over_rows(len(self), 4096, self.n_jobs, work)[0]

    def subset(self, indices: NDArray[np.intp] | slice) -> Observations:
        """Some of the rows, walked over in the same way."""
        weight, precision = (None if kind is None else kind[indices] for kind in (self.weight, self.precision))
        return replace(self, rows=self.rows[indices], targets=self.targets[indices], weight=weight, precision=precision)
