"""How often 90 % intervals hold that were made without fresh rows, in small simulations.

    python -m examples.cross_conformal [DRAWS]

Intervals are those of the shape that `fit` learns, those of ranks of leave-one-out scores, and those of
``calibrate(method="cross-conformal")``. Each line is the mean over draws of training rows, 15 unless told otherwise,
with 1,000 new rows each; the last settings are hard on purpose.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from rio_uq import RIORegressor
from rio_uq.calibration.calibration import calibration_of

LEVEL, N_NEW = 0.9, 1000
FOREST = RandomForestRegressor(15, random_state=0)
SETTINGS: list[tuple[int, int, str, Any]] = [
    (50, 2, "heavy tails", FOREST),
    (30, 5, "normal", FOREST),
    (100, 5, "varying", FOREST),
    (300, 10, "skewed", FOREST),
    (40, 20, "normal", Ridge()),
    (100, 20, "nothing but noise", Ridge()),
]


def draw(rng: np.random.Generator, n: int, d: int, noise: str) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(size=(n, d))
    signal = 3.0 * np.sin(5.0 * X[:, 0]) + 2.0 * X[:, 1] ** 2
    if noise == "heavy tails":
        return X, signal + 0.5 * rng.standard_t(2.2, size=n)
    if noise == "varying":
        return X, signal + (0.2 + 2.0 * X[:, 0]) * rng.normal(size=n)
    if noise == "skewed":
        return X, signal + rng.exponential(size=n)
    return X, (0.0 if noise == "nothing but noise" else signal) + rng.normal(size=n)


def coverages(seed: int, n: int, d: int, noise: str, model: Any) -> list[float]:
    """Of the learnt shape, of leave-one-out scores, and of cross-conformal intervals."""
    rng = np.random.default_rng(seed)
    (X, y), (X_new, y_new) = draw(rng, n, d, noise), draw(rng, N_NEW, d, noise)
    rio = RIORegressor(model, random_state=0).fit(X, y)

    def share_inside(low: np.ndarray, high: np.ndarray) -> float:
        return float(np.mean((low <= y_new) & (y_new <= high)))

    shape = share_inside(*rio.predict_interval(X_new, confidence_level=LEVEL).T)
    mean, std = rio.predict(X_new), rio.fitted_.mean_and_std(rio.inputs(X_new), 1)[1][:, 0]
    factor = calibration_of(rio.loo_.z[:, None], method="conformal").quantiles(np.array(0.5 + 0.5 * LEVEL))[0, 0]
    left_out = share_inside(mean - factor * std, mean + factor * std)
    rio.calibrate(method="cross-conformal")
    return [shape, left_out, share_inside(*rio.predict_interval(X_new, confidence_level=LEVEL).T)]


def main(n_draws: int = 15) -> None:
    warnings.simplefilter("ignore")
    print("| rows, features, noise, model | learnt shape | leave-one-out scores | cross-conformal |")
    print("| --- | --- | --- | --- |")
    for n, d, noise, model in SETTINGS:
        means = np.mean([coverages(seed, n, d, noise, model) for seed in range(n_draws)], axis=0)
        name = "forest" if model is FOREST else "ridge"
        print(
            f"| {n}, {d}, {noise}, {name} | " + " | ".join(f"{100 * mean:.0f} %" for mean in means) + " |", flush=True
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
