"""Kernels on rows c = (x, ŷ): sums of terms, among them the I/O kernel of RIO.

Parameters live in one flat vector ``theta`` of logarithms, term after term. Each term looks at one block of columns,
the model's inputs or its outputs; its mathematics is in `rio_uq.gp.kernels.stationary` and `rio_uq.gp.kernels.linear`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice, pairwise

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.kernels.contract import Design
from rio_uq.gp.kernels.terms import Term


@dataclass(frozen=True)
class Kernel:
    """A sum of terms over rows with ``n_columns`` columns.

    Examples
    --------
    >>> import numpy as np
    >>> from rio_uq.gp.kernels.io import io_kernel
    >>> kernel = io_kernel(n_inputs=2, n_outputs=1, output_family="rbf+linear", ard=True)
    >>> [f"{term.part}:{term.family}" for term in kernel.terms]
    ['input:rbf', 'output:rbf', 'output:linear']
    >>> rows = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 2.0]])
    >>> kernel.matrix(np.zeros(kernel.n_parameters), rows, rows).round(3)
    array([[3.   , 3.213],
           [3.213, 6.   ]])
    """

    terms: tuple[Term, ...]

    @cached_property
    def n_parameters(self) -> int:
        return sum(term.n_parameters for term in self.terms)

    @cached_property
    def _parts(self) -> list[slice]:
        """Where theta has the parameters of each term."""
        ends = accumulate((term.n_parameters for term in self.terms), initial=0)
        return [slice(start, end) for start, end in pairwise(ends)]

    def split(self, theta: Array) -> list[Array]:
        """The parameters of each term."""
        return [theta[part] for part in self._parts]

    def at(self, theta: Array, points: Array, dtype: np.dtype | type = np.float64) -> KernelAt:
        return KernelAt(self, theta, points, np.dtype(dtype))

    def matrix(self, theta: Array, rows: Array, points: Array) -> Array:
        """k(rows, points), shape (n, m)."""
        return self.at(theta, points).matrix(self.designs(rows)).T

    def diagonal(self, theta: Array, rows: Array) -> Array:
        """k(c_i, c_i) of each row, shape (n,)."""
        parts = zip(self.terms, self.split(theta), strict=True)
        return sum((term.diagonal(part, rows) for term, part in parts), start=np.zeros(len(rows)))

    def pullback(self, theta: Array, rows: Array, points: Array, adjoint: Array) -> tuple[Array, Array]:
        """Gradients of Σ_ij adjoint_ij k(rows_i, points_j).

        Returns
        -------
        by_theta : (n_parameters,) array
            With respect to the log-parameters.
        by_points : (m, n_columns) array
            With respect to the second argument.
        """
        at, designs = self.at(theta, points), self.designs(rows)
        saved, by_matrix = at.saved_arrays(len(rows)), np.ascontiguousarray(adjoint.T)
        at.forward(designs, saved, np.empty_like(by_matrix))
        sums = at.backward(designs, saved, by_matrix)
        return at.by_theta(sums), at.by_points(sums)

    def designs(self, rows: Array) -> list[Design]:
        """The design of each term for a block of rows (b, n_columns)."""
        return [term.design(rows) for term in self.terms]

    def trace(self, theta: Array, total_weight: float, moments: Array) -> tuple[float, Array]:
        """Σ_i w_i k(c_i, c_i) and its gradient, from Σ w_i and ``moments`` = Σ_i w_i c_i² per column."""
        traces = [
            term.trace(part, total_weight, moments) for term, part in zip(self.terms, self.split(theta), strict=True)
        ]
        return sum(value for value, _ in traces), np.concatenate([gradient for _, gradient in traces])

    def part(self, name: str) -> list[int]:
        """The indices of the terms of the "input" or of the "output" kernel."""
        return [i for i, term in enumerate(self.terms) if term.part == name]

    def restricted(self, indices: Sequence[int], theta: Array) -> tuple[Kernel, Array]:
        """The sum of some of the terms only, with its parameters."""
        parts = self.split(theta)
        return Kernel(tuple(self.terms[i] for i in indices)), np.concatenate([parts[i] for i in indices])


class KernelAt:
    """A kernel at given parameters and points Z, ready to walk over blocks of rows."""

    def __init__(self, kernel: Kernel, theta: Array, points: Array, dtype: np.dtype) -> None:
        self.kernel, self.points, self.dtype = kernel, points, dtype
        parts = zip(kernel.terms, kernel.split(theta), strict=True)
        self.terms = [term.at(part, points, dtype) for term, part in parts]

    def part(self, points: slice) -> KernelAt:
        """The same at some of the points."""
        part = copy(self)
        part.points, part.terms = self.points[points], [term.part(points) for term in self.terms]
        return part

    def saved_arrays(self, n_rows: int) -> list[Array]:
        """Arrays for `forward` to save a block of n_rows rows in."""
        shape = len(self.points), n_rows
        return [np.empty((term.n_saved, *shape), dtype=self.dtype) for term in self.kernel.terms]

    def forward(self, designs: list[Design], saved: list[Array], scratch: Array) -> None:
        for term, design, kept in zip(self.terms, designs, saved, strict=True):
            term.forward(design, kept, scratch)

    def value(self, designs: list[Design], saved: list[Array], scratch: Array, out: Array) -> None:
        """Write k(Z, c) of the block, shape (m, b), to ``out``."""
        walk = zip(self.terms, designs, saved, strict=True)
        first, design, kept = next(walk)
        total = first.value(design, kept, scratch)
        if total is scratch:
            np.copyto(out, total)
            total = out
        for term, design, kept in walk:
            np.add(total, term.value(design, kept, scratch), out=out)
            total = out
        if total is not out:
            np.copyto(out, total)

    def matrix(self, designs: list[Design]) -> Array:
        """k(Z, c) of the block, shape (m, b)."""
        n_rows = designs[0].columns.shape[1]
        saved = self.saved_arrays(n_rows)
        scratch: Array
        out: Array
        scratch, out = np.empty((2, len(self.points), n_rows), dtype=self.dtype)
        self.forward(designs, saved, scratch)
        self.value(designs, saved, scratch, out)
        return out

    def backward(self, designs: list[Design], saved: list[Array], adjoint: Array) -> list[Array]:
        """The sums of the pull-back of ``adjoint``, of all terms in one list. Overwrites ``saved``."""
        walk = zip(self.terms, designs, saved, strict=True)
        return [total for term, design, kept in walk for total in term.backward(design, kept, adjoint)]

    def by_theta(self, sums: list[Array]) -> Array:
        """Gradient of theta from the sums over all blocks."""
        remaining = iter(sums)
        return np.concatenate([term.by_theta(list(islice(remaining, term.n_sums))) for term in self.terms])

    def by_points(self, sums: list[Array]) -> Array:
        """Gradient of the points from the sums over all blocks, shape (m, n_columns)."""
        remaining, total = iter(sums), np.zeros(self.points.shape)
        for spec, term in zip(self.kernel.terms, self.terms, strict=True):
            total[:, spec.start : spec.stop] += term.by_points(list(islice(remaining, term.n_sums)))
        return total


def io_kernel(
    n_inputs: int,
    n_outputs: int,
    *,
    input_family: str = "rbf",
    output_family: str = "rbf",
    ard: bool = False,
    kind: str = "io",
) -> Kernel:
    """The kernel of RIO, k((x, ŷ), (x', ŷ')) = k_in(x, x') + k_out(ŷ, ŷ').

    Parameters
    ----------
    n_inputs, n_outputs : int
        Rows are n_inputs columns of features followed by n_outputs columns of predictions.
    input_family, output_family : str
        Names from `FAMILIES`, joined by "+" for a sum.
    ard : bool
        One lengthscale per column in both kernels.
    kind : {"io", "input", "output"}
        Both kernels or one of them.
    """
    blocks = {"input": (input_family, 0, n_inputs), "output": (output_family, n_inputs, n_inputs + n_outputs)}
    parts = ("input", "output") if kind == "io" else (kind,)
    return Kernel(
        tuple(
            Term(family, part, start, stop, ard)
            for part in parts
            for families, start, stop in (blocks[part],)
            for family in families.split("+")
        )
    )
