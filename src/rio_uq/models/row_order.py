"""What is said, or shown by their order, of rows that belong together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq._base.checks import check_groups
from rio_uq._base.warnings import DependentRowsWarning, warn_user
from rio_uq.gp.left_out import LeftOut
from rio_uq.gp.order import N_BLOCKS, blocks_of_successive, dependence
from rio_uq.models.residual_choice import ResidualChoice


def labels_of_groups(groups: Any, n_rows: int) -> list[Any] | None:
    """Labels of rows that belong together; None where none do: a group for each row says that rows are independent."""
    if groups is None:
        return None
    labels = check_groups(groups, n_rows)
    return labels if len(set(labels)) < n_rows else None


class Blocks(NamedTuple):
    """Blocks of successive rows, since rows that follow each other err alike.

    Attributes
    ----------
    block : (n,) array of int
    correlation : float
        Rank correlation of errors.
    """

    block: NDArray[np.intp]
    correlation: float

    def __str__(self) -> str:
        return f"rows that follow each other err alike (rank correlation {self.correlation:.2f})"

    def warn(self) -> None:
        warn_user(
            f"{self}, as those of a time series or of one group do, and rows to come may have no such neighbours: "
            f"folds are {N_BLOCKS} blocks of successive rows, so that error bars are those of a new block. Give groups "
            "to say what belongs together, or a splitter as cv; a group for each row, groups=range(len(y)), says that "
            "rows are independent",
            DependentRowsWarning,
        )

    def added_to(self, choice: ResidualChoice) -> ResidualChoice:
        """A choice of residuals with these blocks among its reasons."""
        reason = f"{choice.reason}; {self}, so that folds are blocks of successive rows"
        return replace(choice, reason=reason, evidence={**choice.evidence, "successive": self.correlation})


def blocks_if_dependent(
    left_out: LeftOut, outcome: Array, residual: Array, used: NDArray[np.intp], n_rows: int
) -> Blocks | None:
    """Blocks of the n rows, where errors of left-out ones show that they depend on each other.

    Parameters
    ----------
    left_out : LeftOut
        Of copies of one measurement, which err alike in any case, the first counts.
    outcome, residual : (m, q) arrays
        Of the rows that were used; residuals are the targets of the GP.
    used : (m,) array of int
        Their numbers.
    """
    distinct = np.flatnonzero(left_out.weight > 0.0)
    distinct = distinct[np.argsort(left_out.first_rows[distinct])]
    first = left_out.first_rows[distinct]
    scores = left_out.scores[distinct]
    correlation = dependence(scores, outcome[first], residual[first], scores * left_out.std[distinct])
    if correlation is None:
        return None
    return Blocks(blocks_of_successive(np.isin(np.arange(n_rows), used[first])), correlation)
