"""Typed access to what a file says: every value is checked before it is used, and none is left over."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.storage.archive import MANIFEST, Archive

LARGEST_COUNT = 2**53
ANY = -1
"""The length of an axis of an array that may be of any length, zero included."""


Put = Callable[[str, NDArray[Any]], None]
"""Stores an array under a name."""


def member(name: str) -> str:
    """Where the array of a name is stored."""
    return f"arrays/{name}.npy"


class Fields:
    """An object of the manifest, whose fields are taken out one by one.

    Parameters
    ----------
    archive : Archive
    value : object
        Has to be a dict.
    where : str
        The path to it, for messages.
    """

    def __init__(self, archive: Archive, value: Any, where: str = "") -> None:
        self.archive, self.where = archive, where
        if not isinstance(value, dict):
            self.fail("has to be an object")
        self.left: dict[str, Any] = dict(value)

    def fail(self, what: str, key: str = "") -> NoReturn:
        path = ".".join(part for part in (self.where, key) if part)
        self.archive.fail(MANIFEST, f"{path!r} {what}" if path else what)

    def take(self, key: str) -> Any:
        if key not in self.left:
            self.fail("is missing", key)
        return self.left.pop(key)

    def is_null(self, key: str) -> bool:
        """Whether the field is null; it is then taken."""
        if self.left.get(key, ...) is not None:
            return False
        self.take(key)
        return True

    def finish(self) -> None:
        """Raise if there are fields that nobody has asked for."""
        for key in self.left:
            self.fail("is unknown", key[:60])

    def child(self, key: str) -> Fields:
        return Fields(self.archive, self.take(key), f"{self.where}.{key}" if self.where else key)

    def optional_child(self, key: str) -> Fields | None:
        return None if self.is_null(key) else self.child(key)

    def children(self, key: str) -> list[Fields]:
        return [Fields(self.archive, value, f"{self.where}.{key}[{i}]") for i, value in enumerate(self.items(key))]

    def optional_children(self, key: str) -> list[Fields | None]:
        return [
            None if value is None else Fields(self.archive, value, f"{self.where}.{key}[{i}]")
            for i, value in enumerate(self.items(key))
        ]

    def items(self, key: str) -> list[Any]:
        value = self.take(key)
        if not isinstance(value, list):
            self.fail("has to be a list", key)
        return value

    def texts(self, key: str) -> list[str]:
        values = self.items(key)
        if not all(isinstance(value, str) for value in values):
            self.fail("has to be a list of strings", key)
        return values

    def text(self, key: str, choices: Sequence[str] | None = None) -> str:
        value = self.take(key)
        if not isinstance(value, str) or (choices is not None and value not in choices):
            self.fail("has to be a string" if choices is None else f"has to be one of {', '.join(choices)}", key)
        return value

    def flag(self, key: str) -> bool:
        value = self.take(key)
        if not isinstance(value, bool):
            self.fail("has to be true or false", key)
        return value

    def count(self, key: str, least: int = 0, most: int = LARGEST_COUNT) -> int:
        value = self.take(key)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.fail(f"has to be a whole number from {least} to {most}", key)
        return value

    def number(self, key: str) -> float:
        value = self.take(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            self.fail("has to be a finite number", key)
        return float(value)

    def numbers(self, key: str, size: int) -> list[float]:
        values = self.items(key)
        is_number = [isinstance(value, int | float) and not isinstance(value, bool) for value in values]
        if len(values) != size or not all(is_number) or not all(map(_is_finite, values)):
            self.fail(f"has to be a list of {size} finite numbers", key)
        return [float(value) for value in values]

    def positive(self, key: str, *, or_zero: bool = False) -> float:
        value = self.number(key)
        if value < 0.0 or (value == 0.0 and not or_zero):
            self.fail("has to be zero or more" if or_zero else "has to be more than zero", key)
        return value


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        return False


class Arrays:
    """The arrays of a file, each of which has to be taken once."""

    def __init__(self, archive: Archive) -> None:
        self.archive, self.left = archive, dict(archive.arrays)

    def fail(self, name: str, what: str) -> NoReturn:
        self.archive.fail(member(name), what)

    def has(self, name: str) -> bool:
        return member(name) in self.left

    def take(self, name: str) -> NDArray[Any]:
        if not self.has(name):
            self.fail(name, "missing")
        return self.left.pop(member(name))

    def floats(self, name: str, *shape: int | None, finite: bool = True) -> Array:
        """Of the given shape, where None is any length but zero, and `ANY` any length."""
        array: Array = self._shaped(name, np.dtype(float), shape)
        if finite and not np.isfinite(array).all():
            self.fail(name, "NaN or infinite values, and all have to be finite")
        return array

    def positive(self, name: str, *shape: int | None) -> Array:
        array = self.floats(name, *shape)
        if not (array > 0.0).all():
            self.fail(name, "values have to be more than zero")
        return array

    def counts(self, name: str, *shape: int | None, least: int = 0) -> NDArray[np.int64]:
        array: NDArray[np.int64] = self._shaped(name, np.dtype(np.int64), shape)
        if array.size and not (least <= array.min() and array.max() <= LARGEST_COUNT):
            self.fail(name, f"values have to be {least} or more")
        return array

    def _shaped(self, name: str, dtype: np.dtype, shape: Sequence[int | None]) -> NDArray[Any]:
        array = self.take(name)
        fits = len(shape) == array.ndim and all(
            b in (ANY, a) or (b is None and a > 0) for a, b in zip(array.shape, shape, strict=True)
        )
        if not fits or array.dtype != dtype:
            words = {None: "at least 1", ANY: "any"}
            wanted = ", ".join(words.get(length, str(length)) for length in shape)
            self.fail(name, f"{array.dtype} of shape {array.shape}, and {dtype} of shape ({wanted}) is needed")
        return array

    def finish(self) -> None:
        for name in self.left:
            self.archive.fail(name, "unknown")
