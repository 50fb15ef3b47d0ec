"""The array types of the whole library, and a few functions of rows that several parts of it need."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]


def evenly_spaced(n_rows: int, most: int) -> NDArray[np.intp]:
    """At most so many of the numbers 0 to n_rows − 1, spread evenly, both ends among them."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).round().astype(np.intp))


def evenly_by(values: Array, most: int) -> NDArray[np.intp]:
    """At most so many rows, evenly spaced in the order of their values."""
    return np.asarray(np.argsort(values, kind="stable")[evenly_spaced(len(values), most)])


def row_keys(values: Array) -> list[bytes]:
    """Each row of an (n, d) array as a key for sets: the same for rows of the same numbers, be zeros signed or not."""
    return [row.tobytes() for row in np.ascontiguousarray(values) + 0.0]
