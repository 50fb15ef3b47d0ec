"""The kernel matrix of a set of rows with itself, and its pull-back: K_uu of the sparse GP, K_ff of the exact one."""

from __future__ import annotations

import numpy as np

from rio_uq.gp.kernels import Kernel, KernelAt
from rio_uq.gp.typing import Array

BLOCK_COLUMNS = 256


class PointsMatrix:
    """K_uu = k(Z, Z) and its pull-back."""

    def __init__(self, at: KernelAt) -> None:
        self._at = at
        m = len(at.points)
        self._designs = at.kernel.designs(at.points)
        self._saved = at.saved_arrays(m)
        self._scratch, self.value = np.empty((2, m, m))
        self._at.forward(self._designs, self._saved)
        self._at.value(self._designs, self._saved, self._scratch, self.value)

    def pullback_sums(self, adjoint: Array) -> list[Array]:
        """The sums of the pull-back of a symmetric adjoint to one of the two arguments.

        It can be asked once: it uses up what was kept.
        """
        return self._at.backward(self._designs, self._saved, adjoint, self._scratch)


class RowsMatrix:
    """The lower triangle of K_ff = k(C, C), made in blocks of columns, with its pull-back to theta.

    Attributes
    ----------
    value : (n, n) array
        Right on and below the diagonal.
    """

    def __init__(self, kernel: Kernel, theta: Array, rows: Array) -> None:
        n = len(rows)
        self.value = np.zeros((n, n), order="F")
        self._blocks = []
        for start in range(0, n, BLOCK_COLUMNS):
            block = slice(start, min(start + BLOCK_COLUMNS, n))
            at = kernel.at(theta, rows[block])
            designs = kernel.designs(rows[start:])
            saved = at.saved_arrays(n - start)
            scratch, part = np.empty((2, block.stop - start, n - start))
            at.forward(designs, saved)
            at.value(designs, saved, scratch, part)
            self.value.T[block, start:] = part
            self._blocks.append((block, at, designs, saved, scratch, part))

    def pullback(self, outer: Array, lower: Array) -> Array:
        """Gradient by theta of Σ_ij G_ij K_ij with G = ½ (outer outerᵀ − P). It can be asked once.

        Parameters
        ----------
        outer : (n, q) array
        lower : (n, n) array, columns contiguous
            The lower triangle of the symmetric P, zeros above. Each entry below the diagonal stands for two.
        """
        total: Array = np.zeros(())
        for block, at, designs, saved, scratch, part in self._blocks:
            size = block.stop - block.start
            adjoint = np.matmul(outer[block], outer[block.start :].T, out=part)
            adjoint[:, :size] *= 0.5
            adjoint -= lower.T[block, block.start :]
            adjoint[np.diag_indices(size)] += 0.5 * lower.diagonal()[block]
            total = total + at.by_theta(at.backward(designs, saved, adjoint, scratch))
        self._blocks.clear()
        return total
