"""A kernel in two parts: features that rows share everywhere, and a rest that near rows share.

The kernel is a sum of stationary terms k_s, and of linear ones, which are slopes on columns. With points Z among the
rows, and L Lᵀ = k_s(Z, Z), it is

    k(c, c') = φ(c)·φ(c') + κ(c, c')        φ(c) = (√v c_lin, L⁻¹ k_s(Z, c))
                                            κ(c, c') = k_s(c, c') − k_s(c, Z) k_s(Z, Z)⁻¹ k_s(Z, c')

The features have weights β ~ N(0, I), about which all rows tell something, and the rest is known from rows nearby. Of
the sum of some terms a, whose covariances with the values at Z are k_a(Z, c), the features are φ_a(c) = L⁻¹ k_a(Z, c),
and κ_a(c, c') = k_a(c, c') − φ_a(c)·φ(c'). Without points the features are those of linear terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.backend.linalg import cholesky, triangular_inverse
from rio_uq.gp.kernels.io import Kernel

Terms = tuple[int, ...]


@dataclass(frozen=True)
class TwoParts:
    """The two parts of a kernel at given parameters.

    Attributes
    ----------
    kernel : Kernel
    theta : (n_parameters,) array
    points : (m, D) array
        Z, none or more.
    """

    kernel: Kernel
    theta: Array
    points: Array

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_whitening"}

    @property
    def n_slopes(self) -> int:
        """Features of linear terms, which come first."""
        return sum(term.stop - term.start for term in self.kernel.terms if term.is_linear)

    @property
    def n_features(self) -> int:
        """p, of all features."""
        return self.n_slopes + len(self.points)

    @property
    def all_terms(self) -> Terms:
        return tuple(range(len(self.kernel.terms)))

    @cached_property
    def _whitening(self) -> Array:
        """L⁻ᵀ."""
        return triangular_inverse(cholesky(self.stationary(self.points, self.points))[0]).T

    def stationary(self, x: Array, z: Array, terms: Terms | None = None) -> Array:
        """The sum of stationary terms, of all or of some, of stacks of rows."""
        parts = self.kernel.split(self.theta)
        total = np.zeros((*x.shape[:-1], z.shape[-2]))
        for i in self.all_terms if terms is None else terms:
            if not self.kernel.terms[i].is_linear:
                total += self.kernel.terms[i].between(parts[i], x, z)
        return total

    def slopes(self, rows: Array, terms: Terms | None = None) -> Array:
        """φ of linear terms, (..., n_slopes) of rows (..., D): zero where it belongs to other terms than those asked
        for.
        """
        columns = [np.zeros((*rows.shape[:-1], 0))]
        for number, (term, theta) in enumerate(zip(self.kernel.terms, self.kernel.split(self.theta), strict=True)):
            if term.is_linear:
                is_asked_for = float(terms is None or number in terms)
                columns.append(is_asked_for * np.exp(0.5 * theta) * rows[..., term.start : term.stop])
        return np.concatenate(columns, axis=-1)

    def features(self, rows: Array, terms: Terms | None = None) -> Array:
        """φ of rows (b, D), (b, p)."""
        slopes = self.slopes(rows, terms)
        if not len(self.points):
            return slopes
        # One row at a time: the rounding of a product of matrices depends on how many rows there are.
        cross = self.stationary(rows[:, None, :], self.points, terms)
        return np.hstack([slopes, np.matmul(cross, self._whitening)[:, 0]])
