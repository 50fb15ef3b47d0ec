"""The rio-uq of any commit fits by its defaults, asked by `benchmarks.defaults.beside`.

It is run as a file, with the repository of that commit on the path, and uses the public interface alone. It reads one
JSON request a line and answers each with one:

    {"engine": "fit", "problem": "….npz", "model": "….joblib"}
        → processor seconds of a fit, errors and log-densities of test rows, and the file that rio-uq was imported from
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import joblib
import numpy as np

import rio_uq

FIRST_ROWS = 40
"""A fit to so many comes first and is not timed: it imports what fits need."""


def fitted(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    return rio_uq.RIORegressor(model, random_state=0, n_jobs=1).fit(X, y)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    model = joblib.load(request["model"])
    with np.load(request["problem"]) as stored:
        X, y, X_test, y_test = (stored[name] for name in ("X", "y", "X_test", "y_test"))
    fitted(model, X[:FIRST_ROWS], y[:FIRST_ROWS])
    began = time.process_time()
    rio = fitted(model, X, y)
    seconds = time.process_time() - began
    error, density = rio.predict(X_test) - y_test, rio.predict_dist(X_test).logpdf(y_test)
    rmse, nlpd = float(np.sqrt(np.mean(error**2))), -float(np.mean(density))
    return {"seconds": seconds, "rmse": rmse, "nlpd": nlpd, "source": rio_uq.__file__}


def main() -> None:
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
