"""Rows for exact Gaussian processes: standardised features and outcomes, and the start that all searches share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import Matern

from lab.datasets import DATASETS

SIZES = (300, 1_000, 2_000)

N_FEATURES, NOISE = 8, 0.1
"""Of generated rows; the noise variance is in units of the signal's."""


class Problem(NamedTuple):
    """n rows of d features, with one outcome each, all of mean 0 and standard deviation 1."""

    X: np.ndarray
    y: np.ndarray

    @property
    def start(self) -> np.ndarray:
        """Logarithms of the variance, of the d lengthscales and of the noise variance, at which everybody begins."""
        d = self.X.shape[1]
        return np.log(np.concatenate([[0.5], np.full(d, 0.5 * np.sqrt(d)), [0.5]]))


def standardised(X: np.ndarray, y: np.ndarray) -> Problem:
    return Problem((X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std())


def lengthscales() -> np.ndarray:
    """Of the generated function: from one that matters much to one that hardly does."""
    return np.geomspace(1.0, 10.0, N_FEATURES)


def drawn(n_rows: int) -> Problem:
    """A draw from a GP with the kernel that is fitted, Matérn 5/2 with `lengthscales` and a variance of 1."""
    rng = np.random.default_rng(n_rows)
    X = rng.standard_normal((n_rows, N_FEATURES))
    covariance = Matern(lengthscales(), nu=2.5)(X)
    covariance[np.diag_indices(n_rows)] += NOISE
    return standardised(X, np.linalg.cholesky(covariance) @ rng.standard_normal(n_rows))


def concrete(n_rows: int) -> Problem:
    """Random rows of CCS, the compressive strength of concrete; it has 1,030."""
    X, y = DATASETS["CCS"].load()
    chosen = np.random.default_rng(0).permutation(len(y))[:n_rows]
    return standardised(X[chosen], y[chosen])


PROBLEMS: dict[str, Callable[[int], Problem]] = {"a draw from a GP": drawn, "CCS": concrete}
"""From the number of rows, at most."""
