"""A world: the laws by which rows are drawn, and how RIO is asked about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

from benchmarks.worlds import truths
from benchmarks.worlds.models import PERFECT, Model
from benchmarks.worlds.noise import NORMAL, Noise

N_TEST = 5000

Inputs = Callable[[np.random.Generator, int, int], np.ndarray]


@dataclass(frozen=True)
class Rows:
    """Rows of a world: inputs (n, d); outcomes, their conditional means and predictions (n,) or (n, q).

    There are no predictions where the model is an estimator that is still to be fitted.
    """

    X: np.ndarray
    y: np.ndarray
    mean: np.ndarray
    y_pred: np.ndarray | None
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class Draw:
    """Rows for `fit` with their weights, for `calibrate` if the world has such, and test rows."""

    train: Rows
    test: Rows
    sample_weight: np.ndarray | None = None
    calibration: Rows | None = None


@dataclass(frozen=True)
class World:
    """Laws of inputs, outcomes and predictions.

    Attributes
    ----------
    name : str
        Without commas.
    n, d : int
        Rows given to `fit`, copies included, and inputs.
    noise, model : Noise, Model
    truth : callable
        Of inputs (n, d): conditional means (n,) or (n, q).
    inputs, test_inputs : callable
        Of a generator, n and d: inputs of training rows, and of test rows if these are shifted.
    shift : {"", "near", "far"}
        Of test rows.
    weights : callable or None
        Of a generator and n: weights of training rows.
    copies : int
        Of each training row. Test rows then have the same inputs and new noise.
    options : dict
        Of RIORegressor.
    calibration : int
        Rows for conformal calibration, none if 0.
    n_groups : int
        Groups that are calibrated for themselves; the noise of group g is 3^g times as large.
    """

    name: str
    n: int
    d: int
    noise: Noise = NORMAL
    model: Model = PERFECT
    truth: Callable[[np.ndarray], np.ndarray] = truths.smooth
    inputs: Inputs = truths.normal_inputs
    test_inputs: Inputs | None = None
    shift: str = ""
    weights: Callable[[np.random.Generator, int], np.ndarray] | None = None
    copies: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    calibration: int = 0
    n_groups: int = 0

    def draw(self, run: int, n_test: int = N_TEST) -> Draw:
        """The rows of a repetition; the same ones whenever it is asked for."""
        rng = np.random.default_rng([crc32(self.name.encode()), run])
        distinct = self._rows(rng, self.inputs(rng, self.n // self.copies, self.d))
        if self.copies > 1:
            X_test = np.tile(distinct.X, (-(-n_test // len(distinct.X)), 1))[:n_test]
        else:
            X_test = (self.test_inputs or self.inputs)(rng, n_test, self.d)
        return Draw(
            train=_repeated(distinct, self.copies),
            test=self._rows(rng, X_test),
            sample_weight=None if self.weights is None else self.weights(rng, self.n),
            calibration=self._rows(rng, self.inputs(rng, self.calibration, self.d)) if self.calibration else None,
        )

    def _rows(self, rng: np.random.Generator, X: np.ndarray) -> Rows:
        mean = self.truth(X)
        y = self.noise.outcomes(rng, X, mean)
        groups = None
        if self.n_groups:
            groups = np.arange(len(X)) % self.n_groups
            y = mean + 3.0**groups * (y - mean)
        predictions = self.model.predictions
        return Rows(X, y, mean, None if predictions is None else predictions(rng, X, mean), groups)


def _repeated(rows: Rows, copies: int) -> Rows:
    arrays = (rows.X, rows.y, rows.mean, rows.y_pred, rows.groups)
    return Rows(*(None if array is None else np.repeat(array, copies, axis=0) for array in arrays))
