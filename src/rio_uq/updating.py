"""``partial_fit`` for RIORegressor: more rows for a GP whose hyperparameters stay."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from rio_uq._base.checks import check_weight
from rio_uq.calibration.calibration import Calibration
from rio_uq.explain import KnownRows, keep_more
from rio_uq.gp.residual import Problem, ResidualGP
from rio_uq.rows.source import is_source


class UpdateMixin:
    """``partial_fit`` for RIORegressor."""

    calibration_: Calibration | None
    _gp: ResidualGP
    _known_rows: KnownRows
    _is_residual: bool
    random_state: Any
    fit: Any
    _inputs: Any
    _outcome: Any
    _base: Any
    _per_output: Any
    _walk_options: Any
    _new_source: Any
    _partial_fit_source: Any

    def partial_fit(self, X: Any, y: Any, *, y_pred: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what the GP knows, without training it again. Before the first `fit` this is `fit`.

        The result is that of all rows at once with the same hyperparameters. What stays as `fit` has learnt it: the
        model ``estimator_`` (which predicts the new rows and has not seen them, so that their residuals are honest),
        hyperparameters, noise and how it depends on the row, scalings and inducing points. What follows the new rows:
        corrections, error bars, ``bound_``, ``trust_`` and the rows of `summary`. A calibration is dropped with a
        warning, since it was that of another GP: `calibrate` again, on rows that are in neither.

        If rows come from elsewhere than those of `fit`, or are many more, fit anew: hyperparameters may have become
        wrong, and inducing points may lie where there are no rows. Memory and time stay the same with every batch in
        sparse inference; in exact inference they grow with the square of the rows.

        Parameters
        ----------
        X, y, y_pred, sample_weight : as in `fit`
            New rows only.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from rio_uq import RIORegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(300, 1))
        >>> y = np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=300)
        >>> rio = RIORegressor(lambda X: 0.0 * X[:, 0], random_state=0).fit(X[:50], y[:50])
        >>> before = rio.predict(X, return_std=True, include_noise=False)[1].mean()
        >>> rio = rio.partial_fit(X[50:], y[50:])
        >>> after = rio.predict(X, return_std=True, include_noise=False)[1].mean()
        >>> bool(after < 0.6 * before)
        True
        """
        if not hasattr(self, "_gp"):
            self.fit(X, y, y_pred=y_pred, sample_weight=sample_weight)
            return self
        if is_source(X):
            given = {"y": y, "y_pred": y_pred, "sample_weight": sample_weight}
            self._partial_fit_source(self._new_source(X, given))
            return self
        new = self._new_rows(X, y, y_pred, sample_weight)
        self._take_in(self._gp.with_rows(new, self._walk_options()), new, len(new.features))
        return self

    def _new_rows(self, X: Any, y: Any, y_pred: Any, sample_weight: Any, *, is_part: bool = False) -> Problem:
        """What there is to know of new rows; of a part of them all weights may be zero."""
        features, prediction = self._inputs(X, y_pred)
        outcome = self._outcome(y, len(prediction))
        weight = check_weight(sample_weight, len(prediction), may_vanish=is_part)
        targets = outcome - self._base(prediction)
        if weight is None:
            return Problem(features, prediction, targets, None, self._is_residual)
        kept = weight > 0.0
        return Problem(features[kept], prediction[kept], targets[kept], weight[kept], self._is_residual)

    def _take_in(self, gp: ResidualGP, new: Problem, n_new: int) -> None:
        """Go on with a GP that knows more rows, of which some are given."""
        weight = np.ones(len(new.features)) if new.weight is None else new.weight
        more = KnownRows(new.features, new.y_pred, weight, n_new)
        known = keep_more(self._known_rows, more, check_random_state(self.random_state).randint(2**31 - 1))
        if self.calibration_ is not None:
            warnings.warn(
                "new rows have changed the GP, so its calibration is dropped: calibrate again, on rows that were "
                "given neither to fit nor to partial_fit",
                UserWarning,
                stacklevel=3,
            )
        # Nothing above has changed the regressor: an error on the way leaves it as it was.
        self._gp, self._known_rows = gp, known
        self._tell_of_rows()

    def _tell_of_rows(self) -> None:
        """Set the attributes that depend on all rows seen so far."""
        self.calibration_ = None
        self.bound_ = self._gp.bound
        trust, std = self._gp.trust()
        self.trust_, self.trust_std_ = self._per_output(trust), self._per_output(std)
