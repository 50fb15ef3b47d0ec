"""A formula from a textbook, and a column of somebody else's forecasts: there is no model to train.

python -m examples.plain_function
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import train_test_split

from examples.compare import Comparison, compare
from rio_uq import RIORegressor


def swings(n_rows: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Length (m) and amplitude (rad) of a pendulum, and its period (s) as it was measured."""
    rng = np.random.default_rng(seed)
    length, amplitude = rng.uniform(0.2, 2.0, n_rows), rng.uniform(0.1, 1.5, n_rows)
    series = 1 + amplitude**2 / 16 + 11 * amplitude**4 / 3072  # of the true period
    period = 2 * np.pi * np.sqrt(length / 9.81) * series + rng.normal(scale=0.01, size=n_rows)
    return np.column_stack([length, amplitude]), period


def small_angle(X: np.ndarray) -> np.ndarray:
    """The period that schools teach, right for small amplitudes."""
    return 2 * np.pi * np.sqrt(X[:, 0] / 9.81)


def main() -> list[Comparison]:
    X_train, X_test, y_train, y_test = train_test_split(*swings(), random_state=0)

    rio = RIORegressor(small_angle, random_state=0).fit(X_train, y_train, held_out=True)
    function = compare("formula", y_test, small_angle(X_test), *rio.predict(X_test, return_std=True))

    forecast_train, forecast_test = small_angle(X_train), small_angle(X_test)  # as they might come from a file
    rio = RIORegressor(random_state=0).fit(X_train, y_train, y_pred=forecast_train, held_out=True)
    mean, std = rio.predict(X_test, y_pred=forecast_test, return_std=True)
    return [function, compare("column of forecasts", y_test, forecast_test, mean, std)]


if __name__ == "__main__":
    main()
