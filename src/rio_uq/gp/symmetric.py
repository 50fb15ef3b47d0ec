"""The kernel matrix of a set of rows with itself, and its pull-back: K_uu of the sparse GP, K_ff of the exact one."""

from __future__ import annotations

import numpy as np

from rio_uq.gp.kernels import Kernel
from rio_uq.gp.typing import Array

BLOCK_COLUMNS = 256


class PointsMatrix:
    """K_uu = k(Z, Z); its pull-back goes to theta and to Z, which is both of its arguments."""

    def __init__(self, kernel: Kernel, theta: Array, points: Array) -> None:
        self._at = kernel.at(theta, points)
        self._designs = kernel.designs(points)
        self._saved = self._at.saved_arrays(len(points))
        self._scratch, self.value = np.empty((2, len(points), len(points)))
        self._at.forward(self._designs, self._saved)
        self._at.value(self._designs, self._saved, self._scratch, self.value)

    def pullback(self, adjoint: Array) -> tuple[Array, Array]:
        """Gradients of Σ adjoint ∘ K_uu for a symmetric adjoint. It can be asked once: it uses up what was kept."""
        sums = self._at.backward(self._designs, self._saved, adjoint, self._scratch)
        by_theta, by_second = self._at.gradients(sums)
        return by_theta, 2.0 * by_second


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
            total = total + at.gradients(at.backward(designs, saved, adjoint, scratch))[0]
        self._blocks.clear()
        return total
