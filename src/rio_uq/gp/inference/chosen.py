"""The way of inference that left-out rows prefer, where rows are too many for the exact GP of all of them.

Hyperparameters come from an exact fit of a subset, as for nearest rows (`rio_uq.gp.inference.nearest`). At these, some
rows of the others are left out of the GP of nearest rows, with and without shared points, and of the sparse GP; the
noise of each is as likely as it can be. Where the sparse GP is not clearly less likely, it is trained from there on: it
predicts faster, and learns its hyperparameters from more rows than the subset has. Otherwise what it cannot see is
worth more. Where time runs out on the subset already, it is the sparse GP, which takes less of it, at the
hyperparameters so far.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.deadline import TIME_IS_UP
from rio_uq.gp.inference import sparse
from rio_uq.gp.inference.contract import Objective
from rio_uq.gp.inference.nearest import AMONG_ALL_ROWS, Nearest, NearestObjective
from rio_uq.gp.inference.noise_step import Step, density_step
from rio_uq.gp.inference.sparse import Sparse, SparseObjective
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Optimum, Search
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.priors import Prior
from rio_uq.gp.settings import Settings

SEARCH_ROWS = 20_000
"""Rows that the sparse GP learns its hyperparameters from, at most; its posterior is that of all rows."""

WORTH = 0.01
"""In nats for each left-out outcome: so much nearest rows have to be better than the sparse GP."""


class ChosenObjective(NearestObjective):
    """That of the nearest rows until the choice is made, and then that of the sparse GP if it is chosen."""

    def __init__(self, kernel: Kernel, data: Observations, settings: Settings, rng: np.random.Generator) -> None:
        super().__init__(kernel, data, settings.n_neighbors)
        self._settings, self._rng = settings, rng
        self._sparse: SparseObjective | None = None

    def maximize(self, x: Array, bounds: Array, prior: Prior, search: Search) -> Optimum:
        optimum = self.of_subset(x, bounds, prior, search)
        if len(self.data) == len(self.all_rows):
            return optimum
        if optimum.message == TIME_IS_UP or search.deadline.leaves_out(AMONG_ALL_ROWS):
            self._sparse = Sparse().objective(self.kernel, self.all_rows, optimum.x, self._settings, self._rng, 1)
            self.n_points = self._sparse.n_points
            return replace(optimum, x=self._sparse.start(optimum.x), is_estimate=True)
        self.n_points, step = self.among_all_rows(optimum.x, bounds, search)
        if search.deadline.leaves_out("a comparison with inducing points"):
            return replace(optimum, x=np.clip(step.x, *bounds.T), is_estimate=True)
        with_points, sparse_step = self._sparse_step(optimum.x)
        if sparse_step.loss > step.loss + WORTH * len(self.left_out) * self.data.n_outputs:
            return replace(optimum, x=np.clip(step.x, *bounds.T), is_estimate=True)
        self._sparse, self.n_points = with_points, with_points.n_points
        start, search = np.clip(sparse_step.x, *bounds.T), replace(search, curvature=None)
        if len(self.all_rows) <= SEARCH_ROWS:
            return with_points.maximize(start, bounds, prior, search)
        some = self.all_rows.subset(np.arange(SEARCH_ROWS))
        on_some = SparseObjective(self.kernel, some, with_points.points, move_points=with_points.move_points)
        return replace(on_some.maximize(start, bounds, prior, search), is_estimate=True)

    def _sparse_step(self, x: Array) -> tuple[SparseObjective, Step]:
        """The sparse GP with points for these hyperparameters, and how likely it makes left-out rows."""
        objective = Sparse().objective(self.kernel, self.all_rows, x, self._settings, self._rng, 1)
        posterior, left_out = objective.posterior(objective.start(x)), self.all_rows.subset(self.left_out)

        def leave_out(noise: Array) -> tuple[Array, Array]:
            return sparse.with_noise(posterior, noise).leave_one_out(left_out)

        return objective, density_step(x, left_out, leave_out)

    def posterior(self, x: Array) -> Posterior:
        return super().posterior(x) if self._sparse is None else self._sparse.posterior(x)


class Chosen(Nearest):
    """Nearest rows or inducing points, by the density of rows that are left out."""

    def objective(
        self, kernel: Kernel, data: Observations, x: Array, settings: Settings, rng: np.random.Generator, n_points: int
    ) -> Objective:
        return ChosenObjective(kernel, data, settings, rng)
