"""Covariate shift: how much more often rows like a calibration row will come than they came.

With p the density of calibration rows and p' that of rows to come, the ratio w = p'/p is the odds of a classifier that
tells one from the other, both taken to be equally many. Scores of calibration rows count by w (Tibshirani, Barber,
Candès and Ramdas, "Conformal prediction under covariate shift", 2019). The new row counts too, with its own w there;
here with the mean of w over the rows to come, so that one distribution of scores serves all of them.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from rio_uq._base.array import Array

FEWEST_ROWS, MOST_ROWS = 10, 10_000
"""Rows to come that the classifier is fitted to."""

FOLDS = 5
INVERSE_PENALTIES = 10.0 ** np.arange(-4, 3)

FARTHEST = 5.0
"""Standard deviations beyond which a feature is cut off, so that its square does not rule."""


def relative_weight(rows: Array, new_rows: Array) -> Array:
    """w of calibration rows in units of the mean w of rows to come, (n,).

    Logistic regression on all columns and their squares, which is exact for normal distributions with independent
    columns; its penalty is chosen by cross-validation. No w is larger than the number of calibration rows.

    Parameters
    ----------
    rows, new_rows : (n, d) and (m, d) arrays
    """
    if len(new_rows) < FEWEST_ROWS:
        raise ValueError(
            f"X_new has {len(new_rows)} rows, and at least {FEWEST_ROWS} are needed to see where rows to come differ: "
            "give more of them, or leave X_new out"
        )
    if len(new_rows) > MOST_ROWS:
        new_rows = new_rows[np.random.default_rng(0).choice(len(new_rows), MOST_ROWS, replace=False)]
    is_new = np.repeat([False, True], [len(rows), len(new_rows)])
    columns = _with_squares(np.vstack([rows, new_rows]))
    folds = StratifiedKFold(min(FOLDS, len(rows)), shuffle=True, random_state=0)

    def classifier(inverse_penalty: float) -> LogisticRegression:
        return LogisticRegression(C=inverse_penalty, class_weight="balanced", max_iter=2000)

    def loss(inverse_penalty: float) -> float:
        log_odds = cross_val_predict(classifier(inverse_penalty), columns, is_new, cv=folds, method="decision_function")
        return float(np.mean(np.logaddexp(0.0, log_odds[~is_new])) + np.mean(np.logaddexp(0.0, -log_odds[is_new])))

    best = classifier(min(INVERSE_PENALTIES, key=loss)).fit(columns, is_new)
    ratio = np.exp(np.minimum(best.decision_function(columns), np.log(len(rows))))
    return np.asarray(ratio[~is_new] / np.mean(ratio[is_new]))


def _with_squares(rows: Array) -> Array:
    scaled = np.clip(StandardScaler().fit_transform(rows), -FARTHEST, FARTHEST)
    return np.asarray(StandardScaler().fit_transform(np.hstack([scaled, scaled**2])))
