"""The contract of all ways of inference.

An `Inference` makes the `Objective` that training maximises, and that makes the posterior of rows at given
hyperparameters. What a posterior keeps of its rows are `Statistics`, which can take further rows in, leave single ones
out and make the posterior of others. A new way of inference is one file with these three, and an entry in
`rio_uq.gp.inference.INFERENCES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rio_uq._base.array import Array
from rio_uq._base.summand import Summand

if TYPE_CHECKING:
    from rio_uq.gp.kernels.io import Kernel
    from rio_uq.gp.observations import Observations
    from rio_uq.gp.optimize import Optimum, Search
    from rio_uq.gp.posterior import Posterior
    from rio_uq.gp.priors import Prior
    from rio_uq.gp.settings import Settings


class Objective(Protocol):
    """The log marginal likelihood of fixed rows, or a lower bound, as a function of one vector.

    The vector holds the log-parameters of the kernel, the log noise variances (q,), and what else moves.
    """

    @property
    def n_points(self) -> int:
        """Inducing points; 0 where there are none."""

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Value and gradient."""

    def start(self, x: Array) -> Array:
        """The whole vector, from log-parameters and log noise variances."""

    def bounds(self, bounds: Array) -> Array:
        """Bounds of the whole vector, from those of log-parameters and log noise variances."""

    def maximize(self, x: Array, bounds: Array, prior: Prior, search: Search) -> Optimum:
        """Maximise objective plus log prior, from log-parameters and log noise variances x within their bounds."""

    def posterior(self, x: Array) -> Posterior:
        """The posterior at a whole vector."""


class Inference(Protocol):
    """A way of inference.

    Attributes
    ----------
    sorts_rows : bool
        Whether rows are sorted, so that what is learnt does not depend on their order, and equal measurements kept in
        few rows, since each row costs.
    trains_folds : bool
        Whether rows are so few that hyperparameters may have fitted single ones, so that leaving rows out takes GPs
        that are trained without them.
    keeps_rows : bool
        Whether a posterior keeps all of its rows, so that memory grows with them.
    """

    sorts_rows: bool
    trains_folds: bool
    keeps_rows: bool

    def needs_exploring(self, settings: Settings) -> bool:
        """Whether `objective` depends on hyperparameters so much that even a single start is worth a first search."""

    def exploring_rows(self, n_rows: int) -> int:
        """On how many rows starts are compared where it may be n_rows."""

    def rounds(self, settings: Settings, data: Observations) -> list[int]:
        """Iterations at which a round ends and the objective is made anew; the last ends the training."""

    def objective(
        self, kernel: Kernel, data: Observations, x: Array, settings: Settings, rng: np.random.Generator, n_points: int
    ) -> Objective:
        """The objective near the log-parameters and log noise variances x, with at least n_points inducing points where
        their number is free.
        """


class Statistics(Protocol):
    """The sufficient statistics of the rows behind a posterior, at its hyperparameters.

    Attributes
    ----------
    kind : {"exact", "sparse", "nearest"}
    noise_variance : (q,) array
        That of the likelihood, by which rows are weighed; the posterior may have got another one for new outcomes.
    """

    @property
    def kind(self) -> str: ...

    @property
    def noise_variance(self) -> Array: ...

    @property
    def total_weight(self) -> float:
        """Σ w_i of the rows."""

    @property
    def sums(self) -> Summand:
        """Sums over the rows, to which those of rows that come in parts can be added; or the rows themselves, whose sum
        is all of them.
        """

    def sums_of(self, posterior: Posterior, data: Observations) -> Summand:
        """The same sums of other rows."""

    def with_sums(self, posterior: Posterior, sums: Any) -> Posterior:
        """The posterior of the rows behind these sums, and no others."""

    def of_rows(self, posterior: Posterior, data: Observations) -> Posterior:
        """The posterior of other rows alone, at the same hyperparameters and points, by the noise of the likelihood."""

    def with_rows(self, posterior: Posterior, data: Observations) -> Posterior:
        """The posterior of the rows behind it and of further ones."""

    def leave_one_out(self, posterior: Posterior, data: Observations) -> tuple[Array, Array]:
        """Leave-one-out predictions for the rows behind the posterior, at fixed hyperparameters and points.

        Returns
        -------
        residual, variance : (n, q) arrays
            Target minus leave-one-out mean, and the leave-one-out variance of the latent value (without noise).
        """

    def log_likelihood(self, posterior: Posterior) -> float:
        """The log marginal likelihood of the rows, or its lower bound."""
