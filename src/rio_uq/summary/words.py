"""Numbers in the words of a summary."""

from __future__ import annotations

from typing import Any

import numpy as np


def how_wrong(correction: float, size: float) -> str:
    """In words, from the mean correction and its mean absolute value."""
    if size == 0.0:
        return "not corrected"
    if abs(correction) < 0.5 * size:
        return f"corrected by {number(size)} on average, in both directions"
    return f"too {'low' if correction > 0 else 'high'} by {number(abs(correction))} on average"


def of_output(value: Any, output: int) -> Any:
    return value if np.ndim(value) == 0 else value[output]


def percent(share: float, digits: int = 0) -> str:
    """0.123 as "12 %"."""
    return f"{100.0 * share:.{digits}f} %"


def numbers(value: Any) -> str:
    return ", ".join(number(float(entry)) for entry in np.atleast_1d(value))


def number(value: float) -> str:
    """Three digits, without powers of ten where they can be avoided."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.12g}" if 1e-3 <= abs(rounded) < 1e7 or rounded == 0.0 else f"{rounded:.3g}"
