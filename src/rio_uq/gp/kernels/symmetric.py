"""The kernel matrix of a set of rows with itself, and its pull-back: K_uu of the sparse GP, K_ff of the exact one."""

from __future__ import annotations

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.kernels.io import Kernel, KernelAt

BLOCK_COLUMNS = 128


class PointsMatrix:
    """K_uu = k(Z, Z) and its pull-back."""

    def __init__(self, at: KernelAt) -> None:
        self._at = at
        m = len(at.points)
        self._designs = at.kernel.designs(at.points)
        self._saved = at.saved_arrays(m)
        scratch: Array
        scratch, self.value = np.empty((2, m, m))
        self._at.forward(self._designs, self._saved, scratch)
        self._at.value(self._designs, self._saved, scratch, self.value)

    def pullback_sums(self, adjoint: Array) -> list[Array]:
        """The sums of the pull-back of a symmetric adjoint to one of the two arguments.

        It can be asked once: it uses up what was kept.
        """
        return self._at.backward(self._designs, self._saved, adjoint)


class RowsMatrix:
    """The lower triangle of K_ff = k(C, C), made in blocks of columns, with its pull-back to theta.

    It owns its arrays, so that one evaluation after the other works in the same memory: memory that is new to the
    process costs time.

    Attributes
    ----------
    value : (n, n) array
        Right on and below the diagonal once it is filled.
    """

    def __init__(self, kernel: Kernel, rows: Array) -> None:
        n = len(rows)
        self._kernel, self._rows = kernel, rows
        self.value = np.zeros((n, n), order="F")
        self._shared = np.empty((2, min(n, BLOCK_COLUMNS) * n))
        self._blocks = [slice(start, min(start + BLOCK_COLUMNS, n)) for start in range(0, n, BLOCK_COLUMNS)]
        designs = kernel.designs(rows)
        self._designs = [[design.part(slice(block.start, n)) for design in designs] for block in self._blocks]
        self._saved: list[list[Array]] = []
        self._whole: KernelAt
        self._at: list[KernelAt]

    def fill(self, theta: Array) -> Array:
        """The matrix at some parameters."""
        n, whole = len(self._rows), self._kernel.at(theta, self._rows)
        self._whole, self._at = whole, [whole.part(block) for block in self._blocks]
        if not self._saved:
            self._saved = [at.saved_arrays(n - block.start) for at, block in zip(self._at, self._blocks, strict=True)]
        for block, at, designs, saved in zip(self._blocks, self._at, self._designs, self._saved, strict=True):
            shape = block.stop - block.start, n - block.start
            scratch, part = (array[: shape[0] * shape[1]].reshape(shape) for array in self._shared)
            at.forward(designs, saved, scratch)
            at.value(designs, saved, scratch, part)
            self.value.T[block, block.start :] = part
        return self.value

    def pullback(self, lower: Array) -> Array:
        """Gradient by theta of ½ Σ_ij G_ij K_ij. It can be asked once after `fill`.

        Parameters
        ----------
        lower : (n, n) array, columns contiguous
            The lower triangle of the symmetric G, zeros above. It is overwritten: each entry below the diagonal stands
            for two, so that those on it are halved.
        """
        lower[np.diag_indices(len(lower))] *= 0.5
        sums = [
            at.backward(designs, saved, lower.T[block, block.start :])
            for block, at, designs, saved in zip(self._blocks, self._at, self._designs, self._saved, strict=True)
        ]
        columns = zip(*sums, strict=True)
        totals = [np.concatenate(parts) if parts[0].ndim == 2 else np.sum(parts, axis=0) for parts in columns]
        return self._whole.by_theta(totals)
