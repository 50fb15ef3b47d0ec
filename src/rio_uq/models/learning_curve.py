"""How much less a model errs than clones of it, which lack a fold of its rows.

Errors of many models fall with the number of rows n as n^−β. Clones that are fitted to halves of the rows, beside those
of K folds, tell how fast: with e_h and e_k the root mean squares of what they err by at rows that they have not seen,
and k = 1 − 1/K,

    β = log(e_h/e_k)/log(2k)        e_1/e_k = k^β
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.models.cross_fitting import make_folds, out_of_fold
from rio_uq.models.fit_rows import FitRows

LEAST_GAIN = 0.7
"""A model is not taken to err by less than this share of what clones err by."""


def gain_over_clones(model: Any, rows: FitRows, by_folds: Array, n_folds: int, rng: np.random.Generator) -> float:
    """e_1/e_k, at most 1, for which two clones of the model are fitted to halves.

    Parameters
    ----------
    model : estimator
    rows : FitRows
    by_folds : (n, q) array
        Predictions of each row by clones of folds that were fitted without it; NaN where there is none.
    n_folds : int
        K.
    rng : numpy.random.Generator
    """
    halves = make_folds(2, rows.X, rows.y, rows.features, None, rows.weight, rng)
    by_halves = out_of_fold(model, rows.X, rows.y, rows.weight, halves, rows.fit_params).prediction
    outcome = rows.y.reshape(by_folds.shape)
    counts = np.isfinite(by_folds).all(axis=1) & np.isfinite(by_halves).all(axis=1)
    of_halves, of_folds = (_sizes(outcome[counts] - values[counts]) for values in (by_halves, by_folds))
    share = 1.0 - 1.0 / max(n_folds, 3)  # of two folds e_h is e_k, and any other k says that nothing is gained
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = share ** (np.log(of_halves / of_folds) / np.log(2.0 * share))
    return float(np.clip(np.nan_to_num(gains, nan=1.0), LEAST_GAIN, 1.0).mean())


def _sizes(errors: Array) -> Array:
    """Root mean square of each output, (q,)."""
    return np.asarray(np.sqrt(np.mean(errors**2, axis=0)))
