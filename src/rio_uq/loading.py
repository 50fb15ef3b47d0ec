"""`load`: a saved regressor or classifier, from its file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from rio_uq import storage
from rio_uq.classifier import RIOClassifier
from rio_uq.fitted_classifier import FittedClassifier
from rio_uq.regressor import RIORegressor


def load(
    path: str | os.PathLike[str],
    *,
    estimator: Any = storage.STORED,
    trusted: Sequence[str] = (),
    **parameters: Any,
) -> RIORegressor | RIOClassifier:
    """Read what `RIORegressor.save` or `RIOClassifier.save` has written. Nothing in the file is executed.

    Parameters
    ----------
    path : path
    estimator : estimator, callable or None
        The model, which has to predict what it did for a few rows that are stored. By default the one inside the file,
        if there is one. None if predictions are given to every method. A UserWarning says so where there are no such
        rows, so that the model could not be checked: X was neither an array of numbers nor a frame, or a frame with
        dates and the like.
    trusted : sequence of str
        Names of types that a skops file inside may hold beside those that skops knows to be safe.
    **parameters
        Parameters of the constructor that are no plain values: ``features``, if it was a transformer (give the fitted
        one, ``rio.features_``) or a function; ``scale``, if it was a transformer (give the fitted one,
        ``rio.scale_.scales[0].transformer``). A ``cv`` or ``random_state`` that was an object is needed only to fit
        again.

    Returns
    -------
    RIORegressor or RIOClassifier

    Raises
    ------
    FormatError
        A ValueError that names the file, its part, and what is wrong with it.
    """
    values, fitted = storage.read(path, model=estimator, trusted=trusted, parameters=parameters)
    if isinstance(fitted, FittedClassifier):
        return RIOClassifier.of_file(values, fitted)
    rio = RIORegressor(**values)
    rio.fitted_ = fitted
    return rio
