"""An installed rio-uq does its main jobs: run with the Python of a clean environment, outside of the repository."""

from __future__ import annotations

import platform
import sys
import tempfile
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

import rio_uq
from rio_uq import RIORegressor, metrics

REPOSITORY = Path(__file__).resolve().parents[1]


def check(is_so: bool, fact: str) -> None:
    if not is_so:
        sys.exit(f"it is not so that {fact}")


def main() -> None:
    place = Path(rio_uq.__file__).resolve()
    check(REPOSITORY not in place.parents or "site-packages" in place.parts, f"{place} is an installed package")
    check(rio_uq.__version__ == version("rio-uq"), "the package and its metadata have one version")
    for name in ("py.typed", "report/assets/report.html", "report/assets/figures.js"):
        check(files("rio_uq").joinpath(name).is_file(), f"{name} is in the wheel")

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 3))
    y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=400)
    train, rest, fresh = slice(0, 150), slice(150, 300), slice(300, 400)
    forest = RandomForestRegressor(20, random_state=0)
    for options in ({}, {"inference": "sparse", "n_inducing": 30}, {"inference": "nearest"}):
        rio = RIORegressor(forest, random_state=0, **options).fit(X[train], y[train])
        band = rio.predict_interval(X[rest], confidence_level=0.95)
        held = float(np.mean((band[:, 0] <= y[rest]) & (y[rest] <= band[:, 1])))
        error = metrics.rmse(y[rest], rio.predict(X[rest]))
        alone = metrics.rmse(y[rest], rio.estimator_.predict(X[rest]))
        check(held > 0.85, f"95 % intervals hold most outcomes ({held:.0%}, {options})")
        check(error < alone, f"predictions are better than those of the model ({error:.3f}, {alone:.3f}, {options})")
        check("RIO, fitted to" in str(rio.summary()), "a summary is printed")
        with tempfile.TemporaryDirectory() as folder:
            rio.save(Path(folder, "model.rio"), estimator=rio.estimator_)
            other = rio_uq.load(Path(folder, "model.rio"), estimator=rio.estimator_)
        check(np.array_equal(other.predict(X), rio.predict(X)), "a loaded regressor says the same")
    rio.partial_fit(X[rest], y[rest])
    rio.calibrate(X[fresh], y[fresh])
    scores = cross_val_score(RIORegressor(Ridge(), random_state=0), X, y, cv=2, scoring=metrics.scorer("nlpd"))
    check(bool(np.isfinite(scores).all()), "scores of cross-validation are numbers")
    print(  # noqa: T201
        f"rio-uq {rio_uq.__version__} works with Python {platform.python_version()}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )


if __name__ == "__main__":
    main()
