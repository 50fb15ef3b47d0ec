"""The alternatives: conformal intervals around the model by MAPIE, and a plain Gaussian process."""

from __future__ import annotations

import time
import warnings

import numpy as np
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from benchmarks.quality.answers import crps_of_quantiles
from benchmarks.quality.around_network import Known
from benchmarks.worlds.answers import LEVELS, Answer
from benchmarks.worlds.world import Draw, World
from rio_uq import metrics

FURTHER_LEVELS = (0.1, 0.2, 0.3, 0.4, 0.6)
"""Of conformal intervals, for the CRPS."""

MOST_ROWS_OF_GP = 500
MOST_LENGTHSCALES = 50
"""Above so many inputs the plain GP has one lengthscale for all: scikit-learn's gradients would fill the memory."""


def mapie_answer(world: World, draw: Draw, run: int) -> Answer:
    """Split conformal intervals around given predictions, cross-conformal ones (CV+) around a model that is fitted."""
    n, q = len(draw.test.X), draw.test.y.reshape(len(draw.test.y), -1).shape[1]
    began = time.process_time()
    # A quantile of n scores needs n > 1/(1 − level), and MAPIE wants n > 1/level too.
    levels = sorted(level for level in (*LEVELS, *FURTHER_LEVELS) if 1.0 / min(level, 1.0 - level) < world.n)
    mean, bounds = np.empty((n, q)), np.full((n, q, 2, len(LEVELS)), np.nan)
    crps = np.full((n, q), np.nan)
    for output in range(q):
        mean[:, output], intervals = _conformal(world, draw, run, output, levels)
        for place, level in enumerate(LEVELS):
            if level in levels:
                bounds[:, output, :, place] = intervals[:, :, levels.index(level)]
        if len(levels) == len(LEVELS) + len(FURTHER_LEVELS) and not world.n_groups:
            quantiles = np.column_stack([intervals[:, 0, ::-1], mean[:, output], intervals[:, 1]])
            ends = (*(0.5 - 0.5 * np.array(levels[::-1])), 0.5, *(0.5 + 0.5 * np.array(levels)))
            crps[:, output] = crps_of_quantiles(draw.test.y.reshape(n, q)[:, output], quantiles, ends)
    return Answer(mean, bounds, crps, time.process_time() - began)


def _conformal(world: World, draw: Draw, run: int, output: int, levels: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Predictions (n,) and intervals (n, 2, k) of one output."""
    from mapie.regression import CrossConformalRegressor, SplitConformalRegressor

    train, test = draw.train, draw.test
    if world.model.estimator is not None:
        cross = CrossConformalRegressor(world.model.estimator(run), confidence_level=levels, random_state=run)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cross.fit_conformalize(train.X, train.y).predict_interval(test.X, aggregate_predictions=None)
    known, new = (rows.y_pred.reshape(len(rows.X), -1)[:, [output]] for rows in (train, test))
    split = SplitConformalRegressor(Known(), confidence_level=levels, prefit=True)
    split.conformalize(known, train.y.reshape(world.n, -1)[:, output])
    return split.predict_interval(new)


def gp_answer(world: World, draw: Draw, run: int) -> Answer:
    """scikit-learn's Gaussian process on the outcomes, with a lengthscale for each input."""
    lengthscales = np.full(world.d if world.d <= MOST_LENGTHSCALES else 1, np.sqrt(world.d))
    kernel = ConstantKernel() * Matern(lengthscales, (1e-2, 1e4), nu=2.5) + WhiteKernel(0.5, (1e-6, 1e2))
    regressor = GaussianProcessRegressor(kernel, normalize_y=True, random_state=run)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regressor.fit(draw.train.X, draw.train.y)
        seconds = time.process_time() - began
        mean, std = (array.reshape(len(draw.test.X), -1) for array in regressor.predict(draw.test.X, return_std=True))
    std = np.maximum(std, 1e-12)
    half = stats.norm.ppf(0.5 + 0.5 * np.array(LEVELS)) * std[:, :, None]
    intervals = np.stack([mean[:, :, None] - half, mean[:, :, None] + half], axis=2)
    return Answer(mean, intervals, metrics.row_scores(draw.test.y.reshape(mean.shape), mean, std).crps, seconds)
