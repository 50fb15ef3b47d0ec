"""The terms of a kernel: a family on one block of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.kernels.contract import Design, Family, TermAt
from rio_uq.gp.kernels.linear import Linear
from rio_uq.gp.kernels.stationary import PROFILES

_REGISTRY: dict[str, Family] = {**PROFILES, "linear": Linear()}

FAMILIES = tuple(_REGISTRY)


@dataclass(frozen=True)
class Term:
    """One summand of a kernel: a family on the columns ``start:stop`` of the rows.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    part : {"input", "output"}
        Which of the two kernels of RIO the term belongs to.
    start, stop : int
        The columns it looks at.
    ard : bool
        One lengthscale (for a linear term: one variance) per column instead of one for all.
    """

    family: str
    part: str
    start: int
    stop: int
    ard: bool = False

    @property
    def n_scales(self) -> int:
        """Number of lengthscales, or of variances of a linear term."""
        return self.stop - self.start if self.ard else 1

    @property
    def is_linear(self) -> bool:
        """Whether the term is a regression on its columns, which rows from everywhere determine."""
        return self.family == "linear"

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the entries of the term's ``theta``, which holds their logarithms."""
        return self._family.parameter_names(self.n_scales)

    @property
    def n_saved(self) -> int:
        """Arrays that are saved of a block for its pull-back: k and its slopes, or what they follow from."""
        return self._family.n_saved

    @property
    def n_parameters(self) -> int:
        return len(self.parameter_names)

    def design(self, rows: Array) -> Design:
        """The design of a block of rows (b, D), in its own copy."""
        return self._family.design(self._columns(rows), self.n_scales)

    def at(self, theta: Array, points: Array, dtype: np.dtype) -> TermAt:
        """The term at given parameters and given points Z: what the walk over blocks uses."""
        return self._family.at(theta, self._columns(points), self.n_scales, dtype)

    def between(self, theta: Array, x: Array, z: Array) -> Array:
        """k(x, z), shape (..., a, b), of stacks of rows x (..., a, D) and z (..., b, D)."""
        return self._family.between(theta, self._columns(x), self._columns(z), self.n_scales)

    def by_theta_between(self, theta: Array, x: Array, adjoint: Array) -> Array:
        """Gradient of Σ adjoint ∘ k(x, x) by theta, of stacks of rows x (..., a, D) and an adjoint (..., a, a)."""
        return self._family.by_theta_between(theta, self._columns(x), adjoint, self.n_scales)

    def roughness(self, theta: Array) -> Array:
        """How fast values part with the distance of rows in each of the term's columns."""
        return self._family.roughness(theta, self.stop - self.start)

    def trace(self, theta: Array, total_weight: float, moments: Array) -> tuple[float, Array]:
        """Σ_i w_i k(c_i, c_i) and its gradient, from Σ w_i and ``moments`` = Σ_i w_i c_i² per column."""
        return self._family.trace(theta, total_weight, moments[self.start : self.stop])

    def diagonal(self, theta: Array, rows: Array) -> Array:
        """k(c_i, c_i) of each row, shape (n,)."""
        return self._family.diagonal(theta, self._columns(rows))

    def in_units(self, theta: Array, columns: Array, targets: Array) -> dict[str, Any]:
        """The parameters in the units of the data, by name, given the scales of all columns (D,) and targets (q,)."""
        return self._family.in_units(theta, self.n_scales, columns[self.start : self.stop], targets)

    @property
    def _family(self) -> Family:
        return _REGISTRY[self.family]

    def _columns(self, rows: Array) -> Array:
        return rows[..., self.start : self.stop]
