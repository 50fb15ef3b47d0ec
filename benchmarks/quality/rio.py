"""RIO on the paper's network, on tree ensembles, and the same engine as a plain GP on the outcomes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.quality.answers import LEVELS, Answer, quantiles_of_intervals
from benchmarks.quality.protocol import Method, Run
from lab.rio import fit, regressor


def on_network(kind: str, *, use_validation: bool = False, **options: Any) -> Method:
    """RIO on predictions of the paper's network, kept from its one training.

    Parameters
    ----------
    kind : {"network", "folds"}
        One network, or one for each of five folds of cross-fitting.
    use_validation : bool
        Tell RIO which training rows were the network's validation rows.
    **options
        Of `lab.rio.regressor`.
    """

    def method(run: Run) -> Answer:
        rows = run.with_network(kind)
        rio = regressor(random_state=run.number, n_jobs=1, **options)
        held_out = rows.validation if use_validation else None
        began = time.perf_counter()
        fit(rio, rows.X_train, rows.y_train, y_pred=rows.pred_train, held_out=held_out)
        mean, std = rio.predict(rows.X_test, y_pred=rows.pred_test, return_std=True)
        return Answer(mean, rows.base_seconds + time.perf_counter() - began, std)

    return method


def calibrated_on_network(calibration: str) -> Method:
    """RIO on the paper's network, cross-fitted without 20 % of the training rows, then calibrated on those.

    Parameters
    ----------
    calibration : {"variance", "conformal"}
    """

    def method(run: Run) -> Answer:
        from lab.base_models import PaperNetwork

        began = time.perf_counter()
        held = run.held_out()
        network = PaperNetwork(run.hidden, run.number)
        rio = regressor(network, residuals="cross-fit", combine="average", random_state=run.number, n_jobs=1)
        fit(rio, run.X_train[~held], run.y_train[~held])
        rio.calibrate(run.X_train[held], run.y_train[held], method=calibration)  # type: ignore[attr-defined]
        mean, std = rio.predict(run.X_test, return_std=True)
        if calibration == "variance":
            return Answer(mean, time.perf_counter() - began, std)
        intervals = rio.predict_interval(run.X_test, confidence_level=list(LEVELS))
        quantiles = quantiles_of_intervals(mean, intervals)
        return Answer(mean, time.perf_counter() - began, quantiles=quantiles)

    return method


def cross_fit(make_model: Callable[[int], Any]) -> Method:
    """RIO on a model that it fits itself, with out-of-fold residuals; ``make_model`` is given a seed."""

    def method(run: Run) -> Answer:
        began = time.perf_counter()
        model = make_model(run.number)
        rio = regressor(model, residuals="cross-fit", random_state=run.number, n_jobs=1)
        fit(rio, run.X_train, run.y_train)
        mean, std = rio.predict(run.X_test, return_std=True)
        return Answer(mean, time.perf_counter() - began, std)

    return method


def plain_gp(run: Run) -> Answer:
    """No model: a GP of the inputs on the outcomes, with our defaults."""
    began = time.perf_counter()
    rio = regressor(target="outcome", kernel="input", random_state=run.number, n_jobs=1)
    fit(rio, run.X_train, run.y_train, y_pred=np.zeros(len(run.y_train)))
    mean, std = rio.predict(run.X_test, y_pred=np.zeros(len(run.y_test)), return_std=True)
    return Answer(mean, time.perf_counter() - began, std)
