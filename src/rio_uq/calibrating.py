"""Rows for a calibration: scores of rows that were used for nothing else, or those of `fit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from rio_uq._base.array import Array
from rio_uq._base.checks import check_groups
from rio_uq._base.warnings import ReusedRowsWarning, warn_user
from rio_uq.answers import Inputs
from rio_uq.calibration.calibration import CONFORMAL, CROSS_CONFORMAL
from rio_uq.calibration.shift import relative_weight
from rio_uq.fitted import Fitted
from rio_uq.rows.contract import Part
from rio_uq.rows.kept import MOST_ROWS, REUSED


class CalibrationRows(NamedTuple):
    """Rows that error bars are calibrated on.

    Attributes
    ----------
    scores : (n, q) array
        (y − mean)/std, on the scale of outcomes.
    inputs : Inputs or None
        The rows themselves; None where they are not kept.
    weight : (n,) array or None
    groups : sequence of n labels or None
    """

    scores: Array
    inputs: Inputs | None
    weight: Array | None
    groups: Sequence[Any] | None

    def weighted_as(self, new: Inputs) -> Self:
        """With weights by how much more often rows like them are among ``new``, the rows to come."""
        if self.inputs is None:
            raise ValueError(
                f"X_new with method={CROSS_CONFORMAL!r} needs the features of all rows of fit, and RIO keeps those of "
                f"{MOST_ROWS:,} rows at most: keep some rows apart from fit, and give their X and y with "
                "method='conformal'"
            )
        ratio = relative_weight(*(np.hstack([rows.features, rows.y_pred]) for rows in (self.inputs, new)))
        return self._replace(weight=ratio if self.weight is None else ratio * self.weight)


def check_has_rows(X: Any) -> None:
    if X is None:
        raise ValueError(
            f"calibrate needs rows X and y that were used for nothing else; only method={CROSS_CONFORMAL!r} does "
            "without"
        )


def check_no_rows(X: Any, y: Any, y_pred: Any) -> None:
    if X is not None or y is not None or y_pred is not None:
        raise ValueError(
            f"method={CROSS_CONFORMAL!r} takes the rows of fit: leave X, y and y_pred out, or use "
            "method='conformal' for rows that were used for nothing else"
        )


def fresh_rows(fitted: Fitted, part: Part, method: str, n_jobs: int) -> CalibrationRows:
    """Of rows that neither the model nor the GP has seen."""
    inputs = fitted.inputs(part)
    outcome = fitted.outcome(part.y, len(inputs.y_pred))
    reused = fitted.kept.reused(inputs.features, inputs.y_pred, outcome)
    if reused > REUSED:
        warn_user(
            f"{reused:.0%} of these rows were fitted to: error bars calibrated on them are too small; calibrate on "
            "rows that were used for nothing else",
            ReusedRowsWarning,
        )
    centre, spread = fitted.mean_and_std(inputs, n_jobs)
    scores = (fitted.scales.forward(outcome) - centre) / spread
    if not np.isfinite(scores).all():
        _check_beyond(fitted.scales.beyond(outcome), method)
    return CalibrationRows(scores, inputs, None, part.groups)


def _check_beyond(beyond: str | None, method: str) -> None:
    """Outcomes beyond the scale have infinite scores: methods that go by ranks can take them, and others cannot."""
    if method not in CONFORMAL:
        raise ValueError(
            f"{beyond}, and method={method!r} cannot count infinite scores: use method='conformal', or fit again "
            "with another scale or other bounds"
        )
    warn_user(
        f"{beyond}: such rows count as outside of every interval; where many are, fit again with another scale or "
        "other bounds"
    )


def rows_of_fit(fitted: Fitted, groups: Any) -> CalibrationRows:
    """Those rows of `fit` that tell of rows to come, each scored by a GP that was trained without its fold."""
    loo, kept, inputs = fitted.loo, fitted.kept, None
    if loo is None or fitted.residuals is None:
        raise ValueError(
            f"method={CROSS_CONFORMAL!r} takes the rows of fit, which are there after fit to rows in memory, and "
            "not after partial_fit or load: calibrate before saving, or call fit with all rows; or give X and y "
            "that were used for nothing else, with method='conformal'"
        )
    if not fitted.residuals.is_of_unseen_rows:
        raise ValueError(
            f"method={CROSS_CONFORMAL!r} takes residuals of rows that the model has not seen, and those of fit are "
            f"no such ({fitted.residuals}): fit with residuals='cross-fit', or with held_out=True if it has seen "
            "none of these rows; or give X and y that were used for nothing else, with method='conformal'"
        )
    counts = loo.weight > 0.0
    labels = None if groups is None else check_groups(groups, len(counts))
    scores = loo.z_by_fold.reshape(len(counts), -1)
    if kept.is_everything:
        counted = counts[np.isfinite(scores).all(axis=1)]
        inputs = Inputs(kept.features[counted], kept.y_pred[counted])
    weight = loo.weight[counts]
    return CalibrationRows(
        scores[counts],
        inputs,
        None if np.ptp(weight) == 0.0 else weight / weight.mean(),
        None if labels is None else [label for label, is_counted in zip(labels, counts, strict=True) if is_counted],
    )
