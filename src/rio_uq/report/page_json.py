"""JSON for a script element: rounded numbers, and nothing that could end the element."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

DIGITS = 6
"""Significant digits of numbers in the data."""


def safe_json(value: Any) -> str:
    """JSON that may stand in a script element: nothing in it can end the element or start another."""
    text = json.dumps(plain(value), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode(errors="replace").decode()  # half of a surrogate pair is no text


def plain(value: Any) -> Any:
    """Arrays and numbers as JSON has them: rounded, and None where there is no number."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        if is_whole(value):
            return int(value)
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    return value


def is_whole(value: float) -> bool:
    """Whether a float is a whole number that it holds exactly, an id say: there is nothing to round."""
    return value.is_integer() and abs(value) < 2**53
