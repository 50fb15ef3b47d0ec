"""Writes the golden file of the current format: run once for each version of the format, never again."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from rio_uq import RIORegressor
from rio_uq.storage.archive import FORMAT_VERSION


def main() -> None:
    rng = np.random.default_rng(0)
    names = ["length", "width"]
    X = rng.uniform(size=(80, 2)).round(3)
    y = (np.sin(6.0 * X[:, 0]) + X[:, 1] + np.where(X[:, 1] > 0.5, 1.0, 0.01) * rng.normal(size=80)).round(3)
    y_pred = X.sum(axis=1)
    frame, known = pd.DataFrame(X, columns=names), slice(0, 50)
    rio = RIORegressor(random_state=0, inference="sparse", n_inducing=8, input_kernel="matern52+rational_quadratic")
    rio.fit(frame[known], y[known], y_pred=y_pred[known])
    rio.calibrate(frame[50:], y[50:], y_pred=y_pred[50:], method="isotonic")
    assert rio.summary().noise == "varying"
    folder = Path(__file__).parent
    rio.save(folder / f"format-{FORMAT_VERSION}.rio", overwrite=False)
    given = {"X": frame[:10], "y_pred": y_pred[:10]}
    mean, std = rio.predict(**given, return_std=True)
    expected = {
        "names": names,
        "X": X[:10].tolist(),
        "y_pred": y_pred[:10].tolist(),
        "mean": mean.tolist(),
        "std": std.tolist(),
        "band": rio.predict_interval(**given, confidence_level=0.8).tolist(),
    }
    more = {"X": X[50:], "y": y[50:], "y_pred": y_pred[50:]}
    expected["more"] = {name: values.tolist() for name, values in more.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the calibration is dropped
        rio.partial_fit(frame[50:], y[50:], y_pred=y_pred[50:])
    expected["mean_with_more"] = rio.predict(**given).tolist()
    (folder / f"format-{FORMAT_VERSION}.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
