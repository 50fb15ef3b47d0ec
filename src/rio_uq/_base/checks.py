"""Checks of user input whose messages say what was expected, what came, and what to do."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array, Mask

MAX_NAMED = 5
LARGEST = 1e150


def named(values: Sequence[Any]) -> str:
    """The first few of rows or labels, for a message."""
    return ", ".join(map(repr, values[:MAX_NAMED])) + (", …" if len(values) > MAX_NAMED else "")


_first_row: ContextVar[int] = ContextVar("first_row", default=0)


@contextmanager
def rows_counted_from(number: int) -> Iterator[None]:
    """Messages name rows as a file counts them, of which these rows are a part."""
    token = _first_row.set(number)
    try:
        yield
    finally:
        _first_row.reset(token)


def row_labels(values: Any) -> NDArray[Any] | None:
    """The index of a frame or series of pandas; None where it has none, or one that counts the rows."""
    index = getattr(values, "index", None)
    if index is None or callable(index) or not hasattr(index, "is_unique") or len(index) != len(values):
        return None
    labels = np.empty(len(index), dtype=object)
    labels[:] = list(index)
    return None if all(label == row for row, label in enumerate(labels)) else labels


def named_rows(rows: NDArray[np.intp], labels: NDArray[Any] | None = None) -> str:
    """The first few of rows, by their labels if they have some, for a message."""
    if labels is None:
        return named((rows + _first_row.get()).tolist())
    shown = [str(label) if hasattr(label, "isoformat") else label for label in labels[rows].tolist()]
    return f"{'label' if len(rows) == 1 else 'labels'} {named(shown)}"


def repeated(values: Iterable[Any]) -> list[Any]:
    """Those that are there more than once."""
    return [value for value, count in Counter(values).items() if count > 1]


def check_finite(array: Array, name: str, remedy: str, rows_of: Any = None) -> None:
    """Raise a ValueError that names the rows of NaN or infinite entries of a 1-D or 2-D array.

    Rows are named by their labels where ``rows_of``, from which the array was made, is a frame or series with some.
    """
    finite = np.isfinite(array)
    if finite.all():
        return
    bad = ~(finite if array.ndim == 1 else finite.all(axis=1))
    rows = np.flatnonzero(bad)
    kinds = " and ".join(
        kind for kind, is_there in (("NaN", np.isnan(array).any()), ("infinity", np.isinf(array).any())) if is_there
    )
    count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    raise ValueError(f"{name} contains {kinds} in {count} ({named_rows(rows, row_labels(rows_of))}): {remedy}")


def to_numeric(values: Any, name: str) -> Array:
    """Values as a float64 array, or an error that says what they are instead."""
    if hasattr(values, "toarray"):
        raise TypeError(f"{name} is a sparse matrix, and has to be dense: call its toarray() first")
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(float), np.nan)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} has to be an array of numbers, the same number in every row: {error}") from error
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: {name} has to be real numbers")
    try:
        if array.dtype.kind in "mMUS":
            raise TypeError("not a number")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} has to be numbers; got {_not_numbers(array, row_labels(values))}") from error


def _not_numbers(array: NDArray[Any], labels: NDArray[Any] | None) -> str:
    """The values of an array that are no numbers, for a message."""
    is_text = array.dtype.kind in "US"
    others = [place for place, value in enumerate(array.ravel().tolist()) if is_text or not _is_number(value)]
    if not others or array.ndim == 0:
        return array.dtype.name if array.dtype.kind in "mM" or not array.size else f"{array.tolist()!r}"
    value, row = array.ravel().tolist()[others[0]], others[0] // array[:1].size
    where = f"row {row + _first_row.get()}" if labels is None else f"the row labelled {labels[row]!r}"
    more = f" and {len(others) - 1} more values that are none" if len(others) > 1 else ""
    return f"{array.dtype.name} with {value!r} in {where}{more}: convert them first, or leave those rows out"


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def check_choice(value: Any, name: str, choices: Collection[str]) -> None:
    """Raise a ValueError unless the value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} has to be one of {', '.join(map(repr, choices))}; got {value!r}")


def check_count(value: Any, name: str, *, at_least: int) -> None:
    """Raise unless the value is a whole number of that size."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} has to be a whole number of at least {at_least}; got {value!r}")


def check_flag(value: Any, name: str) -> None:
    """Raise unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} has to be True or False; got {value!r}")


def check_levels(values: Any, name: str) -> Array:
    """Confidence levels or quantiles, strictly between 0 and 1, as an array."""
    array = to_numeric(values, name)
    if array.ndim > 1 or array.size == 0 or not ((array > 0.0) & (array < 1.0)).all():
        raise ValueError(f"{name} has to be between 0 and 1 (0.95, say), or a list of such numbers; got {values!r}")
    return array


def check_target(y: Any, n_rows: int) -> Array:
    """Outcomes as an array of shape (n_rows,) or (n_rows, q)."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: give the outcomes as the second argument")
    target = to_numeric(y, "y")
    if n_rows == 0:
        raise ValueError("X has 0 rows (0 sample(s)): at least one row is needed to fit")
    if target.ndim not in (1, 2) or target.size == 0:
        raise ValueError(f"y has to have shape ({n_rows},), or ({n_rows}, q) for q outputs; got {target.shape}")
    if len(target) != n_rows:
        raise ValueError(f"X has {n_rows} rows and y has {len(target)}: they have to be the same rows")
    check_finite(target, "y", "remove or impute them first", y)
    if np.abs(target).max() > LARGEST:
        raise ValueError(f"y has values of size {np.abs(target).max():.0e}, whose squares overflow: rescale y")
    return target


def check_weight(sample_weight: Any, n_rows: int, *, may_vanish: bool = False) -> Array | None:
    """Weights as an array of shape (n_rows,), or None where all are one; all of them may be 0 in a part of the rows."""
    if sample_weight is None:
        return None
    weight = to_numeric(sample_weight, "sample_weight")
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has to have shape ({n_rows},), one for each row; got {weight.shape}")
    check_finite(weight, "sample_weight", "every row needs a weight, which may be 0", sample_weight)
    if (weight < 0.0).any() or not (weight.any() or may_vanish):
        raise ValueError("sample_weight has to be zero or more in every row, and more than zero in at least one")
    return None if (weight == 1.0).all() else weight


def check_held_out(held_out: Any, n_rows: int) -> Mask | bool | None:
    """The mask of held-out rows of shape (n_rows,), or True or False where all rows are alike."""
    if held_out is None or isinstance(held_out, bool | np.bool_):
        return None if held_out is None else bool(held_out)
    mask = np.asarray(held_out)
    if mask.dtype != bool or mask.shape != (n_rows,):
        other = (
            [] if mask.dtype != object else [value for value in mask.ravel() if not isinstance(value, bool | np.bool_)]
        )
        values = f" with {len(other)} other values, {other[0]!r} among them" if other else ""
        raise ValueError(
            f"held_out has to be True, False, or a mask, True or False for each of the {n_rows} rows; got "
            f"{mask.dtype.name} of shape {mask.shape}{values}"
        )
    return mask if mask.any() and not mask.all() else bool(mask.all())


def check_groups(groups: Any, n_rows: int) -> list[Any]:
    """A label for each row, anything that is hashable."""
    array = np.asarray(groups, dtype=object)
    if array.shape != (n_rows,):
        raise ValueError(f"groups has to have shape ({n_rows},), one label for each row; got {array.shape}")
    labels: list[Any] = array.tolist()
    missing = [row for row, label in enumerate(labels) if _is_missing(label)]
    if missing:
        rows = named_rows(np.array(missing), row_labels(groups))
        raise ValueError(f"groups has {len(missing)} missing labels ({rows}): every row needs a group")
    unusable = {type(label).__name__ for label in labels if not isinstance(label, Hashable)}
    if unusable:
        raise TypeError(f"labels of groups have to be hashable, numbers or texts say; got {named(sorted(unusable))}")
    return labels


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA has no truth value
        return True
