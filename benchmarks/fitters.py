"""Whole fits by GPflow and by rio-uq in one process, in the peers' environment; asked by `benchmarks.paper_fit`.

It reads one JSON request a line, as `benchmarks.peers` does, all for one problem:

    {"problem": "….npz", "task": "versions"}                                       → version of each library
    {"problem": …, "task": "fit", "engine": "GPflow", "seed": 0, "max_seconds": 600}
        → seconds of the whole fit, of them for the graph, bound, iterations, RMSE and NLPD on the test rows

``max_iter`` can be given as well, for a fit that only warms up.
"""

from __future__ import annotations

import time
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.peers import GPflow, serve
from rio_uq import RIORegressor, __version__, metrics
from rio_uq.options import PAPER_SETTINGS

Arrays = dict[str, np.ndarray]
Request = dict[str, Any]

LIBRARIES = ("gpflow", "tensorflow", "numpy", "scipy")
PAUSE = 0.2
"""Seconds before each fit: threads that still spin after the one before must not slow it down."""


def fit_gpflow(arrays: Arrays, request: Request) -> dict[str, Any]:
    """The paper's settings in GPflow's SVGP: start values and inducing points are those of the problem."""
    began = time.perf_counter()
    engine = GPflow(arrays, "SVGP")
    built = time.perf_counter() - began
    trace = engine.fit(request.get("max_iter", PAPER_SETTINGS["max_iter"]), request["max_seconds"])
    seconds = time.perf_counter() - began
    mean, variance = engine.model.predict_y(arrays["test_rows"])
    return {
        "seconds": seconds,
        "graph_seconds": built + trace[0][0],
        "bound": engine.evaluate(),
        "n_iter": len(trace) - 1,
        "stopped": engine.stopped,
        **measures(arrays, arrays["pred_test"] + mean.numpy()[:, 0], np.sqrt(variance.numpy()[:, 0])),
    }


def fit_rio(rio: RIORegressor, arrays: Arrays) -> dict[str, Any]:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the paper stops at its number of iterations
        rio.fit(arrays["X_train"], arrays["y_train"], y_pred=arrays["pred_train"])
    seconds = time.perf_counter() - began
    mean, std = rio.predict(arrays["X_test"], y_pred=arrays["pred_test"], return_std=True)
    return {
        "seconds": seconds,
        "graph_seconds": 0.0,
        "bound": rio.bound_,
        "n_iter": rio.n_iter_,
        "stopped": "",
        **measures(arrays, mean, std),
    }


def measures(arrays: Arrays, mean: np.ndarray, std: np.ndarray) -> dict[str, float]:
    y = arrays["y_test"]
    return {"rmse": metrics.rmse(y, mean), "nlpd": metrics.nlpd(y, mean, std)}


def load(request: Request) -> Arrays:
    with np.load(request["problem"]) as arrays:
        return dict(arrays)


def answer(request: Request, arrays: Arrays) -> dict[str, Any]:
    if request["task"] == "versions":
        return {"rio-uq": __version__, **{name: version(name) for name in LIBRARIES}}
    options = {name: request[name] for name in ("max_iter",) if name in request}
    time.sleep(PAUSE)
    if request["engine"] == "GPflow":
        return fit_gpflow(arrays, request)
    if request["engine"] == "paper":
        return fit_rio(RIORegressor.paper(variant="RIO", random_state=request["seed"], **options), arrays)
    return fit_rio(RIORegressor(random_state=request["seed"], **options), arrays)


if __name__ == "__main__":
    serve(load, answer)
