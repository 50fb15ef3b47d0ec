"""Predictions of test rows by RIO on boosting, by RIO's GP alone, and by others."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks.defaults import peers
from benchmarks.defaults.measures import QUANTILES, of_quantiles, root_mean_square
from benchmarks.large.problems import Split
from rio_uq import RIORegressor, metrics

POINTS, BATCH, EPOCHS, FEWEST_STEPS, RATE = 500, 1024, 30, 500, 0.01
"""Of GPyTorch: inducing points, rows of a batch, passes over all rows, steps at least, and Adam's step."""


class Answer(NamedTuple):
    """What is measured of a method, and processor seconds until it can predict and for the test rows."""

    measured: dict[str, float]
    seconds: float
    seconds_predicting: float
    kind: str | None = None


def boosting(split: Split, run: int) -> Answer:
    """The model alone, which has no error bars."""
    began = time.process_time()
    model = _boosting(split, run)
    fitted = time.process_time()
    mean = model.predict(split.X_test)
    return Answer({"rmse": metrics.rmse(split.y_test, mean)}, fitted - began, time.process_time() - fitted)


def rio_on_boosting(inference: str) -> Callable[[Split, int], Answer]:
    """The README's three lines; the time is that of RIO, clones included, not of the model."""

    def answer(split: Split, run: int) -> Answer:
        model = _boosting(split, run)
        rio = RIORegressor(model, inference=inference, random_state=run, n_jobs=1)
        return _of_rio(rio, split, {})

    return answer


def rio_alone(inference: str) -> Callable[[Split, int], Answer]:
    """A GP on the outcomes, with the same kernel, noise and shape."""

    def answer(split: Split, run: int) -> Answer:
        mean = float(split.y.mean())
        options: dict[str, Any] = {"inference": inference, "target": "outcome", "kernel": "input"}
        rio = RIORegressor(lambda X: np.full(len(X), mean), **options, random_state=run, n_jobs=1)
        return _of_rio(rio, split, {"held_out": True})

    return answer


def conformal_quantiles(split: Split, run: int) -> Answer:
    """LightGBM with a model for each bound, conformalised by MAPIE."""
    measured = peers.measure("CQR", "LightGBM", tuple(split), run)
    return Answer(measured, measured.pop("seconds"), float("nan"))


def _boosting(split: Split, run: int) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(random_state=run).fit(split.X, split.y)


def _of_rio(rio: RIORegressor, split: Split, said: dict[str, bool]) -> Answer:
    began = time.process_time()
    rio.fit(split.X, split.y, **said)
    fitted = time.process_time()
    distribution = rio.predict_dist(split.X_test)
    predicted = time.process_time()
    quantiles = rio.predict_quantiles(split.X_test, quantiles=QUANTILES)
    measured = of_quantiles(split.y_test, quantiles) | {
        "rmse": metrics.rmse(split.y_test, rio.predict(split.X_test)),
        "nlpd": metrics.nlpd(split.y_test, distribution),
    }
    return Answer(measured, fitted - began, predicted - fitted, rio.inference_)


def gpytorch_svgp(split: Split, run: int) -> Answer:
    """GPyTorch's SVGP on standardised columns, with a Matérn 5/2 kernel of a lengthscale each."""
    from benchmarks.large.svgp import predict, train

    centre, scale = split.X.mean(axis=0), split.X.std(axis=0)
    level, spread = split.y.mean(), split.y.std()
    rows, new = (split.X - centre) / scale, (split.X_test - centre) / scale
    began = time.process_time()
    model = train(rows, (split.y - level) / spread, run)
    fitted = time.process_time()
    mean, std = predict(model, new)
    predicted = time.process_time()
    mean, std = level + spread * mean, spread * std
    quantiles = mean[:, None] + std[:, None] * stats.norm.ppf(QUANTILES)
    measured = of_quantiles(split.y_test, quantiles) | {
        "rmse": root_mean_square(split.y_test - mean),
        "nlpd": float(-stats.norm.logpdf(split.y_test, mean, std).mean()),
    }
    return Answer(measured, fitted - began, predicted - fitted)


METHODS: dict[str, Callable[[Split, int], Answer]] = {
    "boosting": boosting,
    "auto on boosting": rio_on_boosting("auto"),
    "nearest on boosting": rio_on_boosting("nearest"),
    "sparse on boosting": rio_on_boosting("sparse"),
    "auto alone": rio_alone("auto"),
    "nearest alone": rio_alone("nearest"),
    "sparse alone": rio_alone("sparse"),
    "LightGBM CQR": conformal_quantiles,
    "GPyTorch SVGP": gpytorch_svgp,
}
