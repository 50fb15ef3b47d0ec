"""On the UCI files, where the folder that holds them is named by RIO_UQ_DATA."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from examples.demo import perceptron
from rio_uq import RIORegressor, metrics

FOLDER = Path(os.environ.get("RIO_UQ_DATA", "")) / "uci"
pytestmark = [
    pytest.mark.no_cover,
    pytest.mark.skipif(
        not os.environ.get("RIO_UQ_DATA"), reason="RIO_UQ_DATA does not name the folder of the data files"
    ),
]


def split(name, seed):
    table = np.loadtxt(FOLDER / name)
    X_train, X_test, y_train, y_test = train_test_split(table[:, :-1], table[:, -1], test_size=0.2, random_state=seed)
    model = make_pipeline(StandardScaler(), perceptron(seed)).fit(X_train, y_train)
    return model, X_train, X_test, y_train, y_test


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the paper stops at 1,000 iterations
@pytest.mark.parametrize(
    ("name", "n_splits", "make", "gain"),
    [
        ("yacht_hydrodynamics.data", 1, partial(RIORegressor, residuals="in-sample", training={"guard": False}), 0.8),
        pytest.param("yacht_hydrodynamics.data", 3, RIORegressor, 0.8, marks=pytest.mark.slow),
        ("airfoil_self_noise.dat", 1, partial(RIORegressor.paper, max_iter=200), 0.9),
        pytest.param("airfoil_self_noise.dat", 2, RIORegressor, 0.6, marks=pytest.mark.slow),
    ],
)
def test_rio_improves_the_papers_network(name, n_splits, make, gain):
    answers = []
    for seed in range(n_splits):
        model, X_train, X_test, y_train, y_test = split(name, seed)
        rio = make(model, random_state=seed).fit(X_train, y_train)
        mean, std = rio.predict(X_test, return_std=True)
        constant = np.full(len(y_test), np.std(y_train - model.predict(X_train)))
        answers.append((y_test, model.predict(X_test), constant, mean, std))
    y_test, y_pred, constant, mean, std = (np.concatenate(parts) for parts in zip(*answers, strict=True))
    assert metrics.rmse(y_test, mean) < gain * metrics.rmse(y_test, y_pred)
    assert metrics.nlpd(y_test, mean, std) < metrics.nlpd(y_test, y_pred, constant)
    assert metrics.improvement_ratio(y_test, mean, y_pred) > 0.5
