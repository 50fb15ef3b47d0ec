"""How to train a GP."""

from __future__ import annotations

from dataclasses import dataclass

from rio_uq._base.array import Array
from rio_uq.gp import inducing
from rio_uq.gp.deadline import NEVER, Deadline


@dataclass(frozen=True)
class Settings:
    """How to train.

    Attributes
    ----------
    inference : {"auto", "exact", "sparse", "svgp", "nearest"}
    n_inducing : int or None
        None for as many as are worth their cost.
    time_budget : float or None
        Seconds that a fit should take at most: by estimate, they limit the number of points where that is free.
    deadline : Deadline
        When searches have to end.
    n_neighbors : int or None
        Training rows that predict each row in "nearest"; None for as many as left-out rows are worth.
    inducing : {"greedy", "kmeans", "random", "first"} or (m, D) array
    optimize_inducing : bool
        Whether inducing points move with the hyperparameters.
    max_iter : int
        Iterations on all rows; passes over them for "svgp".
    tolerance : float
        Relative gain of an iteration below which the optimiser has converged.
    subset_rows : int or None
        Rows of the first stage at most; None goes from every start to the optimum on all rows.
    verbose : bool
    """

    inference: str = "auto"
    n_inducing: int | None = 300
    time_budget: float | None = None
    deadline: Deadline = NEVER
    n_neighbors: int | None = None
    inducing: str | Array = "greedy"
    optimize_inducing: bool = False
    max_iter: int = 200
    tolerance: float = 1e-6
    subset_rows: int | None = 10_000
    verbose: bool = False

    def most_points(self, n_rows: int) -> int:
        if self.n_inducing is not None:
            return self.n_inducing
        if self.time_budget is None:
            return inducing.MOST_POINTS
        return inducing.affordable(self.time_budget, n_rows)
