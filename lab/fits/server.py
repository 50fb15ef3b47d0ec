"""Whole fits by rio-uq, GPflow or GPyTorch with their trajectories; asked by `lab.fits.client`.

It reads one JSON request a line, as `lab.peers.engines` does, all for one problem:

    {"problem": "….npz", "task": "versions", "libraries": ["gpflow"]}              → version of each library
    {"problem": …, "task": "fit", "engine": "GPflow SVGP", "seed": 0, "max_seconds": 600, "clock": "wall"}
        → seconds of the whole fit, of them for the graph, bound, iterations, evaluations, peak of memory, RMSE and
          NLPD on the test rows, and the trajectories of bound and NLPD

``max_iter`` can be given as well, for a fit that only warms up. NLPD along the way is computed after the fit, from the
parameters that it visited: at some of them, closer together at the beginning.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from lab.fits.watching import Arrays, CutOffError, Watch, fit_arrays, fit_at
from lab.measuring import Stopwatch, peak_mib
from lab.peers.engines import CLOCKS, ENGINES, serve
from lab.rio import regressor
from rio_uq import RIORegressor, metrics
from rio_uq.options import PAPER_SETTINGS

Request = dict[str, Any]
Measures = dict[str, float]

N_LOOKS = 16
"""Points of a trajectory at which NLPD is computed, at most."""

VARIANTS = {"rio-uq": None, "rio-uq paper": "RIO"}
"""Our engines: the defaults, and the paper's settings."""

PAUSE = 0.2
"""Seconds before each fit: threads that still spin after the one before must not slow it down."""


def fit_peer(arrays: Arrays, request: Request) -> dict[str, Any]:
    """The paper's settings in another library: start values and inducing points are those of the problem."""
    library, kind = request["engine"].split()
    clock, stopwatch = CLOCKS[request["clock"]], Stopwatch()
    with stopwatch.time("fit"):
        began = clock()
        engine = ENGINES[library](arrays, kind)
        built = clock() - began
        trace = engine.fit(request.get("max_iter", PAPER_SETTINGS["max_iter"]), request["max_seconds"], clock)
        seconds = clock() - began

    def measured_at(i: int) -> Measures:
        mean, variance = engine.predict_at(trace.visited[i], arrays["test_rows"])
        return measures(arrays, arrays["pred_test"] + mean, np.sqrt(variance))

    times = [built + elapsed for elapsed in trace.seconds]
    return {
        "seconds": seconds,
        "graph_seconds": times[0],
        "n_iter": len(times) - 1,
        "n_evaluations": trace.n_evaluations,
        **stopwatch.measured,
        "fit_mib": peak_mib(),
        "stopped": trace.stopped,
        "has_comparable_bound": True,
        **trajectories(times, times, trace.bounds, measured_at),
    }


def fit_rio(rio: RIORegressor, arrays: Arrays, request: Request) -> dict[str, Any]:
    """Time after the last iteration (posterior, noise) counts on the way to an NLPD, not to a bound."""
    max_seconds = request["max_seconds"]
    watch, stopped = Watch(max_seconds, CLOCKS[request["clock"]]), ""
    stopwatch = Stopwatch()
    with stopwatch.time("fit"):
        try:
            with watch.watching():
                fit_arrays(rio, arrays)
        except CutOffError:
            stopped = f"cut off after {max_seconds:g} s"
        seconds = watch.elapsed
    mib, visits = peak_mib(), watch.visits
    last = fit_at(visits[-1], rio, arrays) if stopped else rio
    unit = last.bound_ - visits[-1].bound
    times = [visit.seconds for visit in visits]
    rest = 0.0 if stopped else seconds - times[-1]

    def measured_at(i: int) -> Measures:
        fitted = last if i == len(visits) - 1 else fit_at(visits[i], rio, arrays)
        mean, std = fitted.predict(arrays["X_test"], y_pred=arrays["pred_test"], return_std=True)
        return measures(arrays, mean, std)

    return {
        "seconds": seconds,
        "graph_seconds": 0.0,
        "n_iter": len(visits) if stopped else rio.n_iter_,
        "n_evaluations": watch.n_evaluations,
        **stopwatch.measured,
        "fit_mib": mib,
        "stopped": stopped,
        "inference": last.inference_,
        "has_comparable_bound": has_comparable_bound(last, watch.total_weight, len(arrays["y_train"])),
        **trajectories(times, [t + rest for t in times], [visit.bound + unit for visit in visits], measured_at),
    }


def has_comparable_bound(rio: RIORegressor, total_weight: float, n_rows: int) -> bool:
    """Whether the bound is one of the likelihood of all rows, each counted once, and of outcomes as they are: that of
    nearest rows is the likelihood of a subset, times n/m.
    """
    is_of_outcomes = all(scale.kind == "identity" for scale in rio.scale_.scales)
    return rio.inference_ != "nearest" and total_weight == n_rows and is_of_outcomes


def trajectories(
    times: list[float], nlpd_times: list[float], bounds: list[float], measured_at: Callable[[int], Measures]
) -> dict[str, Any]:
    """The whole trajectory of the bound, NLPD at some points of it, and where both end."""
    looks = np.unique(np.geomspace(1, len(times), N_LOOKS).round().astype(int)) - 1
    measures_there = [measured_at(i) for i in looks]
    trace = {"seconds": _rounded(times), "bound": _rounded(bounds)}
    look_times, nlpds = [nlpd_times[i] for i in looks], [each["nlpd"] for each in measures_there]
    at_looks = {"seconds": _rounded(look_times), "nlpd": _rounded(nlpds)}
    # An end that was not rounded as its trajectory is would never be reached.
    ends = {"bound": trace["bound"][-1], "nlpd": at_looks["nlpd"][-1], "rmse": measures_there[-1]["rmse"]}
    return {**ends, "trace": trace, "looks": at_looks}


def _rounded(values: list[float]) -> list[float]:
    return [round(value, 5) for value in values]


def measures(arrays: Arrays, mean: np.ndarray, std: np.ndarray) -> Measures:
    y = arrays["y_test"]
    return {"rmse": metrics.rmse(y, mean), "nlpd": metrics.nlpd(y, mean, std)}


def load(request: Request) -> Arrays:
    with np.load(request["problem"]) as arrays:
        return dict(arrays)


def answer(request: Request, arrays: Arrays) -> dict[str, Any]:
    if request["task"] == "versions":
        return {name: version(name) for name in request["libraries"]}
    options = {name: request[name] for name in ("max_iter",) if name in request}
    time.sleep(PAUSE)
    if request["engine"] not in VARIANTS:
        return fit_peer(arrays, request)
    rio = regressor(variant=VARIANTS[request["engine"]], random_state=request["seed"], **options)
    return fit_rio(rio, arrays, request)


if __name__ == "__main__":
    serve(load, answer)
