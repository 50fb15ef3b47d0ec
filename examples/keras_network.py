"""A trained Keras model.

    KERAS_BACKEND=torch python -m examples.keras_network

`RIORegressor(model)` works as it is. With `partial(model.predict, verbose=0)` Keras shows no progress bar.
"""

from __future__ import annotations

from functools import partial

import keras
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from examples.compare import Comparison, compare
from rio_uq import RIORegressor


def main() -> Comparison:
    keras.utils.set_random_seed(0)
    X, y = make_friedman1(500, noise=0.5, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=200, random_state=0)
    model = keras.Sequential(
        [
            keras.Input((10,)),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile(loss="mse", optimizer=keras.optimizers.Adam(0.02))
    model.fit(X_train, y_train, epochs=60, verbose=0)
    predict = partial(model.predict, verbose=0)

    rio = RIORegressor(predict, residuals="in-sample", random_state=0).fit(X_train, y_train)  # stopped early
    mean, std = rio.predict(X_test, return_std=True)
    return compare("Keras model", y_test, predict(X_test), mean, std)


if __name__ == "__main__":
    main()
