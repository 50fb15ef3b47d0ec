"""The rio-uq of any commit at work, asked by `benchmarks.engine.baseline`.

It is run as a file, with the repository of that commit on the path, so everything it imports is of that commit: it uses
the public interface alone, and for single evaluations the commit's own benchmark, which knows the names inside of its
engine. It reads one JSON request a line, all for one work and one problem, and answers each with one:

    {"engine": "fit", "problem": "….npz", "repeats": 3}
        → processor seconds of one repeat, what came out, and the file that rio-uq was imported from
"""

from __future__ import annotations

import inspect
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import rio_uq

Arrays = dict[str, np.ndarray]
Result = dict[str, Any]
Work = tuple[Callable[[], Any], Callable[[Any], Result]]
"""The parts that are timed, and the numbers that come out of them."""

OPTIONS = {
    "features": None,
    "residuals": "in-sample",
    "distribution": "normal",
    "max_iter": 20,
    "n_jobs": 1,
    "random_state": 0,
}
"""Those whose defaults have changed, and those that keep fits short and the same; unknown ones are left out."""

N_COMPARED = 200
"""Rows whose predictions are compared."""


def evaluation(arrays: Arrays) -> Work:
    """One evaluation of the bound and its gradient."""
    try:
        from benchmarks.engine.ours import Ours
        from benchmarks.engine.problems import Problem
    except ImportError:  # earlier commits have the benchmark in one module
        from benchmarks.engine import Ours, Problem  # type: ignore[attr-defined, no-redef]
    n, n_columns = arrays["rows"].shape
    ours = Ours(Problem(n, n_columns - 1, len(arrays["points"]), bool(arrays["ard"])))
    return ours.evaluate, lambda bound: {"bound": [bound]}


def fit(arrays: Arrays) -> Work:
    """A whole fit: sparse with as many inducing points as the problem has, exact if it has none."""
    X, y_pred, m = arrays["rows"][:, :-1], arrays["rows"][:, -1], len(arrays["points"])
    y = y_pred + arrays["residuals"][:, 0]
    inference = {"inference": "sparse", "n_inducing": m} if m else {"inference": "exact"}
    options = {**OPTIONS, **inference, "ard": bool(arrays["ard"])}
    names = inspect.signature(rio_uq.RIORegressor).parameters
    rio = rio_uq.RIORegressor(**{name: value for name, value in options.items() if name in names})

    def result(fitted: Any) -> Result:
        mean, std = fitted.predict(X[:N_COMPARED], y_pred=y_pred[:N_COMPARED], return_std=True)
        return {"mean": mean.tolist(), "std": std.tolist(), "bound": [fitted.bound_], "n_iter": [fitted.n_iter_]}

    return lambda: rio.fit(X, y, y_pred=y_pred), result


def prediction(arrays: Arrays, n_rows: int) -> Work:
    """Means and standard deviations of new rows, by a fit to those of the problem."""
    rio = fit(arrays)[0]()
    rows = np.random.default_rng(0).standard_normal((n_rows, arrays["rows"].shape[1]))

    def result(predicted: tuple[np.ndarray, np.ndarray]) -> Result:
        mean, std = predicted
        return {"mean": mean[:N_COMPARED].tolist(), "std": std[:N_COMPARED].tolist()}

    return lambda: rio.predict(rows[:, :-1], y_pred=rows[:, -1], return_std=True), result


def make(request: dict[str, Any]) -> Work:
    kind, *size = request["engine"].split()
    with np.load(request["problem"]) as stored:
        arrays = dict(stored)
    if kind == "predict":
        return prediction(arrays, int(size[0].replace(",", "")))
    return {"evaluate": evaluation, "fit": fit}[kind](arrays)


def answer(request: dict[str, Any], work: Work) -> dict[str, Any]:
    do, result_of = work
    began = time.process_time()
    for _ in range(request["repeats"]):
        outcome = do()
    seconds = (time.process_time() - began) / request["repeats"]
    return {"seconds": seconds, "result": result_of(outcome), "source": rio_uq.__file__}


def main() -> None:
    warnings.simplefilter("ignore")  # fits are stopped early, and nothing is known about the model
    work = None
    for line in sys.stdin:
        try:
            request = json.loads(line)
            work = work or make(request)
            reply = answer(request, work)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
