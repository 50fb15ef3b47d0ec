"""Answers for rows as a data frame, in the library that the rows came in."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from sklearn import get_config

from rio_uq._base.array import Array

LIBRARIES = ("pandas", "polars")


def frame_like(X: Any, columns: Mapping[str, Array]) -> Any:
    """A frame of pandas with the index of X, or of polars.

    Parameters
    ----------
    X : rows
        A frame of polars gives one of polars, all else one of pandas, unless ``transform_output`` of scikit-learn's
        configuration names a library.
    columns : mapping of str to (n,) arrays
    """
    library = get_config()["transform_output"]
    if library not in LIBRARIES:
        library = "polars" if type(X).__module__.split(".")[0] == "polars" else "pandas"
    try:
        frames = import_module(library)
    except ImportError as error:
        raise ImportError(
            f"predict_frame needs {library}, which is not installed: pip install {library}, or use predict and "
            "predict_interval, which give arrays"
        ) from error
    if library == "polars":
        return frames.DataFrame(dict(columns))
    return frames.DataFrame(dict(columns), index=getattr(X, "index", None) if hasattr(X, "iloc") else None)
