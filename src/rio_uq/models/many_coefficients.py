"""Folds of a linear model that has nearly as many coefficients as rows.

With p coefficients by least squares from n rows, the squared error of a prediction is σ² (1 + p/(n − p − 1)) in the
mean for p < n, and for the shortest solution of p > n it falls again with p − n: it is largest where both are alike.
Clones that lack a fold are then of another kind than the model, and what the GP would correct are errors of clones that
the model does not make. They are like it if a fold is small beside |n − p|, and least squares are fitted fast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

FOLD_SHARE = 4.0
"""|n − p| in units of the rows of a fold, at least."""

USUAL_FOLDS = 5
"""Where that holds of so many folds, whoever asks for fewer gets them."""

MOST_FOLDS = 50


def n_coefficients(model: Any) -> int | None:
    """Of a fitted linear model, or one at the end of a pipeline, for one outcome; None for models of other kinds."""
    for name in ("best_estimator_", "regressor_"):
        model = getattr(model, name, model)
    if hasattr(model, "steps"):
        return n_coefficients(model.steps[-1][1])
    coefficients = getattr(model, "coef_", None)
    return None if coefficients is None or not np.ndim(coefficients) else int(np.shape(coefficients)[-1])


def enough_folds(model: Any, n_rows: int, at_least: int) -> int:
    """Folds by which clones of a fitted model are like it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 80)), rng.normal(size=100)
    >>> [enough_folds(LinearRegression().fit(X[:, :p], y), 100, at_least=5) for p in (10, 40, 80)]
    [5, 7, 20]
    """
    p = n_coefficients(model)
    if p is None:
        return at_least
    wanted = FOLD_SHARE * n_rows / max(abs(n_rows - p), 1)
    if wanted <= USUAL_FOLDS:
        return at_least
    return max(at_least, min(int(np.ceil(wanted)), MOST_FOLDS, n_rows // 2))
