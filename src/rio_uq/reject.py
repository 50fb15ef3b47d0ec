"""Which predictions a person should look at: those whose error bars are too wide."""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq._base.array import Array, Mask
from rio_uq._base.checks import check_target, to_numeric


class RejectMixin:
    """Made from nothing but ``predict`` with its standard deviation and ``noise_variance_``."""

    predict: Any
    noise_variance_: Any

    def reject(
        self,
        X: Any,
        *,
        threshold: Any = None,
        budget: float | None = None,
        target_error: float | None = None,
        calibration: Any = None,
        y_pred: Any = None,
        groups: Any = None,
    ) -> Mask:
        """The rows whose predictions are better looked at by a person, by one of three rules.

        Parameters
        ----------
        X, y_pred, groups : as in `predict`
        threshold : float or (q,) array
            Reject where the standard deviation of the outcome is larger than this.
        budget : float
            Keep this share of rows, those with the smallest standard deviations; rows that share the last one of them
            are kept too. The rows are those of X; or those of ``calibration``, from which the threshold is then taken.
        target_error : float
            Keep as many rows as possible with a mean absolute error of at most this, on the rows of ``calibration``.
            Rows with a larger standard deviation than all of those kept there are rejected.
        calibration : (X, y), (X, y, y_pred) or (X, y, y_pred, groups)
            Rows that neither the model nor `fit` has seen. ``budget`` looks at X alone, so y may be None.

        Returns
        -------
        array of bool of shape (n,)
            True for rows to be looked at. With several outputs a row is as safe as its least safe output, measured in
            units of each output's noise (by ``threshold``: in those of y).

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import Ridge
        >>> from rio_uq import RIORegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> rio = RIORegressor(Ridge(), random_state=0).fit(X[:300], y[:300])
        >>> int(rio.reject(X[300:400], budget=0.9).sum())
        10
        """
        rules = {"threshold": threshold, "budget": budget, "target_error": target_error}
        given = [name for name, value in rules.items() if value is not None]
        if len(given) != 1:
            raise ValueError(f"give one of threshold, budget and target_error; got {' and '.join(given) or 'none'}")
        if threshold is not None and calibration is not None:
            raise ValueError("threshold needs no calibration rows: leave them out, or give budget or target_error")
        _, std = self.predict(X, y_pred=y_pred, groups=groups, return_std=True)
        if threshold is not None:
            return rowwise(std > _check_threshold(threshold, std.shape[1:]))
        score = self._unsafety(std)
        if budget is not None:
            known = score if calibration is None else self._calibration_rows(calibration)[0]
            return score > threshold_for_budget(known, _check_number(budget, "budget", 1.0))
        if calibration is None:
            raise ValueError(
                "target_error needs calibration=(X, y): rows that neither the model nor fit has seen, to measure errors"
            )
        known, error = self._calibration_rows(calibration)
        if error is None:
            raise ValueError("target_error needs the outcomes of the calibration rows: their y was None")
        return score > threshold_for_error(known, error, _check_number(target_error, "target_error", np.inf))

    def _unsafety(self, std: Array) -> Array:
        """One number for each row, (n,): larger is less safe."""
        return std if std.ndim == 1 else (std / np.sqrt(self.noise_variance_)).max(axis=1)

    def _calibration_rows(self, calibration: Any) -> tuple[Array, Array | None]:
        """How unsafe each calibration row is, and its absolute error if its outcome is known, both (n,)."""
        if not isinstance(calibration, tuple | list) or len(calibration) not in (2, 3, 4):
            raise ValueError(
                "calibration has to be (X, y), or (X, y, y_pred) if there is no model to ask, or (X, y, y_pred, groups)"
                " if error bars were calibrated by group"
            )
        X, y, y_pred, groups = (*calibration, None, None)[:4]
        mean, std = self.predict(X, y_pred=y_pred, groups=groups, return_std=True)
        if y is None:
            return self._unsafety(std), None
        outcome = check_target(y, len(mean))
        if outcome.size != mean.size:
            raise ValueError(f"y of calibration has shape {outcome.shape}, predictions have {mean.shape}")
        error = np.abs(outcome.reshape(mean.shape) - mean)
        return self._unsafety(std), error if error.ndim == 1 else error.mean(axis=1)


def threshold_for_budget(score: Array, budget: float) -> float:
    """The smallest threshold at or below which are at least that share of the scores (n,)."""
    n_kept = int(np.ceil(budget * len(score) - 1e-9))  # 0.07 · 100 is a little more than 7
    if n_kept == 0:
        return -np.inf
    if n_kept == len(score):
        return np.inf
    return float(np.partition(score, n_kept - 1)[n_kept - 1])


def threshold_for_error(score: Array, error: Array, target: float) -> float:
    """The largest of the scores (n,) such that the mean error (n,) of all rows at or below it is at most the target."""
    order = np.argsort(score, kind="stable")
    ordered = score[order]
    risk = np.cumsum(error[order]) / np.arange(1, len(score) + 1)
    is_last_of_its_score = np.append(ordered[1:] > ordered[:-1], True)
    reached = np.flatnonzero(is_last_of_its_score & (risk <= target))
    if not len(reached):
        best = int(np.argmin(np.where(is_last_of_its_score, risk, np.inf)))
        raise ValueError(
            f"a mean error of {target:.4g} is out of reach: the safest {best + 1} of the {len(score)} calibration rows "
            f"have {risk[best]:.4g}, and no other number of them has less; raise target_error"
        )
    return float(ordered[reached[-1]])


def rowwise(mask: Mask) -> Mask:
    """A mask of shape (n,) or (n, q) as one of rows: any output counts."""
    return np.asarray(mask if mask.ndim == 1 else mask.any(axis=1))


def _check_threshold(threshold: Any, output_shape: tuple[int, ...]) -> Array:
    array = to_numeric(threshold, "threshold")
    if array.shape not in ((), output_shape):
        one_each = f", or {output_shape[0]} of them, one for each output" if output_shape else ""
        raise ValueError(f"threshold has to be one number{one_each}; got shape {array.shape}")
    if np.isnan(array).any():
        raise ValueError("threshold is NaN, and no standard deviation is larger or smaller than that")
    return array


def _check_number(value: Any, name: str, largest: float) -> float:
    array = to_numeric(value, name)
    if array.shape != () or not 0.0 <= array <= largest:
        bounds = "of zero or more" if np.isinf(largest) else f"between 0 and {largest:.0f}"
        raise ValueError(f"{name} has to be a number {bounds}; got {value!r}")
    return float(array)
