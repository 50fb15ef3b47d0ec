"""Fit RIO and its peers to the rows of a world, and measure what they say about test rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.worlds.world import Draw, Rows, World
from lab.json_lines import Row
from rio_uq import RIORegressor, metrics

LEVELS = (0.5, 0.68, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Answer:
    """Predictions of test rows and their error bars.

    Attributes
    ----------
    mean : (n, q) array
    intervals : (n, q, 2, k) array
        At `LEVELS`; NaN where a method has none.
    crps : (n, q) array or None
    seconds : float
        Of the processor, for fit and calibration.
    trust : (q,) array or None
    n_warnings : int
    """

    mean: np.ndarray
    intervals: np.ndarray
    crps: np.ndarray | None
    seconds: float
    trust: np.ndarray | None = None
    n_warnings: int = 0


def rio_answer(world: World, draw: Draw, run: int) -> Answer:
    """RIO as it comes, but for the options of the world. Predictions made of the truth have seen no rows."""
    train, test = draw.train, draw.test
    model = None if world.model.estimator is None else world.model.estimator(run)
    held_out = {} if train.y_pred is None else {"held_out": True}
    began = time.process_time()
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        rio = RIORegressor(model, random_state=run, n_jobs=1, **world.options)
        rio.fit(train.X, train.y, y_pred=train.y_pred, sample_weight=draw.sample_weight, **held_out)
        if draw.calibration is not None:
            rows = draw.calibration
            rio.calibrate(rows.X, rows.y, y_pred=rows.y_pred, groups=rows.groups)
        seconds = time.process_time() - began
        new = {"y_pred": test.y_pred, "groups": test.groups}
        mean = rio.predict(test.X, **new)
        intervals = rio.predict_interval(test.X, confidence_level=LEVELS, **new)
        distribution = None if world.calibration else rio.predict_dist(test.X, **new)
    return Answer(
        _columns(mean),
        intervals.reshape(len(test.X), -1, 2, len(LEVELS)),
        None if distribution is None else _columns(_crps(distribution, test.y)),
        seconds,
        np.atleast_1d(rio.trust_),
        len(shown),
    )


def _crps(distribution: Any, y: np.ndarray) -> np.ndarray:
    """CRPS of each outcome, as `metrics.crps` averages it."""
    if hasattr(distribution, "crps"):
        return np.asarray(distribution.crps(y))
    return metrics.row_scores(y, distribution.mean(), distribution.std()).crps


def model_predictions(world: World, draw: Draw, run: int) -> np.ndarray:
    """Predictions (n, q) of test rows by the model alone: one that is fitted gets all training rows."""
    if world.model.estimator is None:
        return _columns(draw.test.y_pred)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _columns(world.model.estimator(run).fit(draw.train.X, draw.train.y).predict(draw.test.X))


def measured(world: World, rows: Rows, y_pred: np.ndarray, answer: Answer) -> Iterator[Row]:
    """The measures of an answer, one row for each output or group.

    ``ratio`` is the error of the answer divided by that of the model, ``floor`` that of the truth divided by that of
    the model: root mean squared, or mean absolute where there is no variance, over all groups. Coverage is in per cent,
    at `LEVELS`.
    """
    y, mean = _columns(rows.y), _columns(rows.mean)
    base, error, floor = (
        [_error(world, *columns) for columns in zip(y.T, prediction.T, strict=True)]
        for prediction in (y_pred, answer.mean, mean)
    )
    for name, part, column in _parts(rows, y.shape[1]):
        outcome = y[part, column]
        low, high = np.moveaxis(answer.intervals[part, column], 1, 0)
        covered = 100.0 * np.mean((low <= outcome[:, None]) & (outcome[:, None] <= high), axis=0)
        row = {
            "ratio": _rounded(error[column] / base[column]),
            "floor": _rounded(floor[column] / base[column], 4),
            "coverage": [
                None if np.isnan(width) else round(float(share), 1)
                for share, width in zip(covered, low[0], strict=True)
            ],
            "crps": None if answer.crps is None else _rounded(answer.crps[part, column].mean()),
            "width": _rounded(np.mean(high - low, axis=0)[LEVELS.index(0.95)]),
            "trust": None if answer.trust is None else _rounded(answer.trust[column], 3),
            "seconds": _rounded(answer.seconds, 3),
            "warned": min(answer.n_warnings, 9),
        }
        yield {"part": name} | row if name else row


def _parts(rows: Rows, n_outputs: int) -> Iterator[tuple[str, Any, int]]:
    """Name, rows and output of each part that is judged for itself."""
    if rows.groups is not None:
        for group in np.unique(rows.groups):
            yield f"group {group + 1}", rows.groups == group, 0
    else:
        for output in range(n_outputs):
            yield f"output {output + 1}" if n_outputs > 1 else "", slice(None), output


def _error(world: World, outcome: np.ndarray, prediction: np.ndarray) -> float:
    return (metrics.rmse if world.noise.has_variance else metrics.mae)(outcome, prediction)


def _columns(values: Any) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    return array.reshape(len(array), -1)


def _rounded(value: float, digits: int = 5) -> float | None:
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None
