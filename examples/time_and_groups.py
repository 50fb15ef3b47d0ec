"""Rows that belong together: measurements of the same patient, and days of one series.

    python -m examples.time_and_groups

Random folds put rows of one patient on both sides, so that out-of-fold residuals are too small for a new patient; with
`groups`, a fold has all rows of a patient or none. Days of a series are alike as well, which `fit` notices by their
order, and the future need not be like the past: `TimeSeriesSplit` keeps models from learning from later days, and
calibration on the latest days tells what errors are like now.
It prints how many outcomes of new patients, and of later days, are inside 90 % intervals.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.signal import lfilter
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import TimeSeriesSplit

from rio_uq import DependentRowsWarning, RIORegressor

FOREST = RandomForestRegressor(30, random_state=0)


def patients(seed: int, n_patients: int = 100, visits: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Age, weight and dose; outcomes with a level of each patient's own; and the number of the patient."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), visits)
    level, age, weight = rng.normal(size=n_patients), rng.uniform(size=n_patients), rng.normal(size=n_patients)
    dose = rng.uniform(size=len(patient))
    X = np.column_stack([age[patient], weight[patient], dose])
    y = 3 * X[:, 0] + 2 * np.sin(4 * dose) + level[patient] + 0.2 * rng.normal(size=len(patient))
    return X, y, patient


def series(seed: int, n_days: int = 700) -> tuple[np.ndarray, np.ndarray]:
    """Two features that change slowly, one that does not, and outcomes with a disturbance that lasts for weeks."""
    rng = np.random.default_rng(seed)

    def slow(memory: float) -> np.ndarray:
        return lfilter([np.sqrt(1 - memory**2)], [1, -memory], rng.normal(size=n_days + 300))[300:]

    wind, heat, disturbance, load = slow(0.98), slow(0.98), slow(0.95), rng.uniform(size=n_days)
    y = 2 * np.sin(wind) + heat + 3 * load + disturbance + 0.2 * rng.normal(size=n_days)
    return np.column_stack([wind, heat, load]), y


def inside(rio: RIORegressor, X: np.ndarray, y: np.ndarray) -> float:
    """Share of outcomes inside their 90 % intervals."""
    low, high = rio.predict_interval(X, confidence_level=0.9).T
    return float(np.mean((low <= y) & (y <= high)))


def new_patients(seed: int) -> dict[str, float]:
    X, y, patient = patients(seed)
    is_training = patient < 50
    by_rows = RIORegressor(FOREST, random_state=0).fit(X[is_training], y[is_training])
    by_patient = RIORegressor(FOREST, random_state=0).fit(X[is_training], y[is_training], groups=patient[is_training])
    new = X[~is_training], y[~is_training]
    return {"random folds": inside(by_rows, *new), "folds of groups": inside(by_patient, *new)}


def later_days(seed: int) -> dict[str, float]:
    X, y = series(seed)
    early, latest, past, future = slice(0, 200), slice(200, 300), slice(0, 300), slice(300, None)
    ordered: dict[str, Any] = {"cv": TimeSeriesSplit(5), "random_state": 0}
    by_rows = RIORegressor(FOREST, random_state=0).fit(X[past], y[past], groups=range(300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DependentRowsWarning)
        by_block = RIORegressor(FOREST, random_state=0).fit(X[past], y[past])
    by_time = RIORegressor(FOREST, **ordered).fit(X[past], y[past])
    calibrated = RIORegressor(FOREST, **ordered).fit(X[early], y[early]).calibrate(X[latest], y[latest])
    models = {
        "random folds": by_rows,
        "as it comes": by_block,
        "TimeSeriesSplit": by_time,
        "and calibrated on the latest days": calibrated,
    }
    return {name: inside(rio, X[future], y[future]) for name, rio in models.items()}


def main(n_repeats: int = 5) -> dict[str, dict[str, float]]:
    shares = {}
    for title, experiment in (("new patients", new_patients), ("later days", later_days)):
        runs = [experiment(seed) for seed in range(n_repeats)]
        shares[title] = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
        print(f"{title}: " + "; ".join(f"{name} {share:.0%}" for name, share in shares[title].items()))
    return shares


if __name__ == "__main__":
    main()
