"""Missing values in the columns of frames."""

from __future__ import annotations

from typing import Any


def is_missing(value: Any) -> bool:
    # NaN is not equal to itself, and pandas.NA has no truth value.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)
