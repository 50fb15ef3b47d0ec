"""Warnings that point at the user's line, whatever way the call took."""

from __future__ import annotations

import inspect
import warnings

INSIDE = frozenset({"rio_uq", "sklearn", "joblib"})
"""Packages between the user's line and the place that warns."""


class SeenRowsWarning(UserWarning):
    """Error bars rest on whether the model has seen the rows given, and nothing tells for sure."""


class ReusedRowsWarning(UserWarning):
    """Error bars are calibrated or measured on rows that were fitted to."""


class DependentRowsWarning(UserWarning):
    """Rows that follow each other err alike, so that others are left out together with them."""


class MostlyEqualWarning(UserWarning):
    """Most outcomes are one value, and too few are others to tell how these scatter."""


class NotStoredWarning(UserWarning):
    """A saved file does without the model, or something else that has to be given again when it is read."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if the user's own line had done it: the first one outside this library and scikit-learn."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
