"""Folds that keep groups of rows together: what rows of a person or a machine share is not to be seen at a new one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.gp import posterior as gp_posterior
from rio_uq.gp.folds import MORE_FOLDS, N_FOLDS, FoldPredictions
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior

FEW_GROUPS = 50
"""Of so many groups there are more folds: what is left out are groups, and these are fewer than rows."""


def group_folds(groups: Sequence[Hashable], n_folds: int | None = None) -> NDArray[np.intp]:
    """The fold of each row, (n,), with all rows of a group in one fold and folds of about the same size.

    Parameters
    ----------
    groups : sequence of n labels
    n_folds : int or None
        At most as many as groups; None for those of a GP.
    """
    sizes: dict[Hashable, int] = {}
    for label in groups:
        sizes[label] = sizes.get(label, 0) + 1
    if len(sizes) < 2:
        raise ValueError(
            f"groups has one label, {next(iter(sizes), None)!r}, for all rows: to see how rows of a new group do, give "
            "rows of two groups at least, or leave groups out"
        )
    if n_folds is None:
        n_folds = MORE_FOLDS if len(sizes) <= FEW_GROUPS else N_FOLDS
    filled = np.zeros(min(n_folds, len(sizes)))
    fold = {}
    for label in sorted(sizes, key=lambda label: (-sizes[label], str(label))):
        fold[label] = int(filled.argmin())
        filled[fold[label]] += sizes[label]
    return np.array([fold[label] for label in groups], dtype=np.intp)


def predict_groups(posterior: Posterior, data: Observations, fold: NDArray[np.intp]) -> FoldPredictions:
    """Predict each fold from the others, at the hyperparameters and inducing points that all rows have led to."""
    mean, latent = np.empty((2, len(data), data.n_outputs))
    for number in np.unique(fold):
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        rows = data.subset(inside)
        offset: Array = np.average(rows.targets, axis=0, weights=rows.effective_weight)
        centred = replace(rows, targets=rows.targets - offset)
        without = posterior.of_rows(centred)
        expected, latent[outside] = gp_posterior.predict(without, data.rows[outside], n_jobs=data.n_jobs)
        mean[outside] = offset + expected
    return FoldPredictions(mean, latent, mean)
