"""A table of numbers, categories and dates, with missing values, as numbers; what was learnt is plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from rio_uq._base.array import Array, Mask
from rio_uq._base.checks import check_count, named, named_rows, repeated, row_labels
from rio_uq._base.warnings import warn_user
from rio_uq.features.dates import DateColumn, date_kind, days_of, learn_dates
from rio_uq.features.missing import is_missing

OTHER, MISSING = "(other)", "(missing)"


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers.

    Attributes
    ----------
    name : str
    fill : float or None
        What stands in for a missing number: the median of those there were. None if none was missing in `fit`.
    typical : float or None
        The median in any case, which stands in where numbers are missing for the first time; None in older files.
    """

    name: str
    fill: float | None
    typical: float | None = None

    def encoded_names(self) -> list[str]:
        return [self.name] if self.fill is None else [self.name, f"{self.name} is missing"]

    def bad_rows(self, values: Any) -> Mask:
        """Rows that cannot be encoded: infinite, no number, or missing where none was missing before."""
        numbers, missing = _numbers(values)
        return ~np.isfinite(numbers) & ~(missing & (self.fill is not None))

    def unseen(self, values: Any) -> int:
        return 0

    def encode(self, values: Any) -> Array:
        numbers, missing = _numbers(values)
        if self.fill is None:
            return (numbers if self.typical is None else np.where(missing, self.typical, numbers))[:, None]
        return np.column_stack([np.where(missing, self.fill, numbers), missing])


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories: a column of zeros and ones for each level.

    Attributes
    ----------
    name : str
    levels : tuple of str
        The most frequent ones.
    has_other, has_missing : bool
        Whether there were further levels, and missing values, in `fit`; each is then a level of its own.
    """

    name: str
    levels: tuple[str, ...]
    has_other: bool
    has_missing: bool

    def encoded_names(self) -> list[str]:
        extra = [label for label, is_there in ((OTHER, self.has_other), (MISSING, self.has_missing)) if is_there]
        return [f"{self.name}={level}" for level in (*self.levels, *extra)]

    def bad_rows(self, values: Any) -> Mask:
        return np.zeros(len(values), dtype=bool)

    def unseen(self, values: Any) -> int:
        """Rows with a value that there was none of in `fit`."""
        return 0 if self.has_other and self.has_missing else int((self._codes(values) < 0).sum())

    def encode(self, values: Any) -> Array:
        """Of a level that there was none of in `fit`, −1/√K in all K columns.

        With lengthscales l, two levels a and b are 1/l_a² + 1/l_b² apart. From such a row to level a it is
        (1 + 1/√K)²/l_a² + Σ_{b ≠ a} 1/(K l_b²), about as far as to a typical level. Zeros would be 1/l_a² apart: near
        to all levels whose lengthscale is long.
        """
        codes = self._codes(values)
        n_columns = len(self.encoded_names())
        encoded = np.zeros((len(codes), n_columns))
        has_level = codes >= 0
        encoded[has_level, codes[has_level]] = 1.0
        encoded[~has_level] = -1.0 / np.sqrt(max(n_columns, 1))
        return encoded

    def _codes(self, values: Any) -> NDArray[np.intp]:
        """The number of each value's column, −1 for what there was none of."""
        number = {level: i for i, level in enumerate(self.levels)}
        other = len(self.levels) if self.has_other else -1
        missing = len(self.levels) + self.has_other if self.has_missing else -1
        texts = _texts(values)
        return np.array([missing if text is None else number.get(text, other) for text in texts], dtype=np.intp)


Column = NumberColumn | CategoryColumn | DateColumn


class UnencodableColumnsError(ValueError):
    """Columns that numbers cannot be made of: all of them, each with its reason."""


class TableEncoder(TransformerMixin, BaseEstimator):
    """Columns of a frame as numbers, for ``RIORegressor(model, features=TableEncoder())``.

    A column of numbers stays as it is. If some of them are missing in `fit`, the median stands in for them, and a
    column of zeros and ones says where. Text, truth values and categories become a column of zeros and ones for each
    level: the most frequent levels, one for all others, and one for missing values, if there are any in `fit`. A level
    that was not there is none of the known ones: the same negative number in all of its columns, so that the GP takes
    it to be as far from each of them as they are from each other. A date becomes the number of days since the first
    one, and its place in the year, the week and the day, each as a sine and a cosine, where dates in `fit` go round at
    least once and differ in it. A duration becomes days, a time its place in the day.

    `RIORegressor.save` can write what was learnt, so that `rio_uq.load` needs no ``features``.

    Parameters
    ----------
    columns : list of str, optional
        By default all of X.
    max_levels : int
        Levels of a category that get a column of their own at most.

    Attributes
    ----------
    columns_ : list of NumberColumn, CategoryColumn and DateColumn
    feature_names_out_ : list of str

    Examples
    --------
    >>> import pandas as pd
    >>> from rio_uq.features.table_encoder import TableEncoder
    >>> X = pd.DataFrame({"size": [1.0, None, 3.0], "city": ["Oslo", "Rome", "Oslo"]})
    >>> encoder = TableEncoder().fit(X)
    >>> encoder.feature_names_out_
    ['size', 'size is missing', 'city=Oslo', 'city=Rome']
    >>> encoder.transform(X)
    array([[1., 0., 1., 0.],
           [2., 1., 0., 1.],
           [3., 0., 1., 0.]])
    """

    def __init__(self, columns: Sequence[str] | None = None, *, max_levels: int = 20) -> None:
        self.columns = columns
        self.max_levels = max_levels

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which columns are numbers, which values are missing, and which levels there are."""
        check_count(self.max_levels, "max_levels", at_least=1)
        if isinstance(self.columns, str):
            raise TypeError(f"columns has to be a list of names, [{self.columns!r}] say; got {self.columns!r}")
        names = list(_frame_columns(X)) if self.columns is None else list(self.columns)
        if not names:
            raise ValueError("there are no columns to encode: name at least one")
        _check_names(names)
        columns, reasons = [], {}
        for name, values in _named_columns(X, names):
            try:
                columns.append(self._learn(name, values))
            except UnencodableColumnsError as error:
                reasons[name] = str(error)
        if reasons:
            raise UnencodableColumnsError(_all_reasons(reasons))
        self.columns_ = columns
        return self

    def transform(self, X: Any) -> Array:
        """Numbers, a column for each of ``feature_names_out_``."""
        check_is_fitted(self)
        encoded = []
        filled: list[str] = []
        by_name = _named_columns(X, [column.name for column in self.columns_])
        for column, (_, values) in zip(self.columns_, by_name, strict=True):
            bad = column.bad_rows(values)
            if isinstance(column, NumberColumn) and column.typical is not None:
                first_missing = bad & _numbers(values)[1]
                filled += [column.name] if first_missing.any() else []
                bad &= ~first_missing
            if bad.any():
                raise ValueError(_complaint(column, values, np.flatnonzero(bad)))
            encoded.append(column.encode(values))
        if filled:
            warn_user(
                f"numbers are missing in {named(filled)}, where none was missing in the rows that fit has learnt from: "
                "medians of those stand in for them; fit on rows with missing values to learn what they mean (of a "
                "file, a larger sample_rows has more of them)"
            )
        return np.hstack(encoded)

    def get_feature_names_out(self, input_features: Any = None) -> list[str]:
        return self.feature_names_out_

    @property
    def feature_names_out_(self) -> list[str]:
        check_is_fitted(self)
        return _distinct([name for column in self.columns_ for name in column.encoded_names()])

    @property
    def is_plain(self) -> bool:
        """Whether all columns are numbers without missing values, which stay as they are."""
        return all(isinstance(column, NumberColumn) and column.fill is None for column in self.columns_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "columns_")

    def _learn(self, name: str, values: Any) -> Column:
        kind = kind_of(values)
        if kind == "mixed":
            raise UnencodableColumnsError(
                f"column {name!r} holds dates, times or durations beside other values: leave it out, or make dates of "
                "all of them"
            )
        if kind == "numbers":
            return _learn_numbers(name, values)
        return self._learn_levels(name, values) if kind == "categories" else learn_dates(name, kind, values)

    def _learn_levels(self, name: str, values: Any) -> CategoryColumn:
        texts = _texts(values)
        counts = Counter(text for text in texts if text is not None)
        n_texts = counts.total()
        if n_texts > self.max_levels and len(counts) > n_texts / 2:
            raise UnencodableColumnsError(
                f"column {name!r} holds text, {len(counts)} different values in {n_texts} rows, which is too many for "
                f"categories (such as {next(iter(counts))!r}): leave it out, or make numbers or a few categories of it"
            )
        frequent = sorted(counts, key=lambda level: (-counts[level], level))
        n_kept = len(frequent) if len(frequent) <= self.max_levels else self.max_levels
        return CategoryColumn(name, tuple(sorted(frequent[:n_kept])), len(frequent) > n_kept, n_texts < len(texts))


def _check_names(names: list[Any]) -> None:
    others = [name for name in names if not isinstance(name, str)]
    if others:
        raise TypeError(
            f"names of columns have to be text; got {named(others)}: X.columns = X.columns.astype(str), say"
        )
    if several := repeated(names):
        raise ValueError(f"each column has to have a name of its own; there are several of {named(several)}")


def _distinct(names: list[str]) -> list[str]:
    """The same names, with a number behind those that were there before."""
    distinct: dict[str, None] = {}
    for name in names:
        other, count = name, 1
        while other in distinct:
            count += 1
            other = f"{name} ({count})"
        distinct[other] = None
    return list(distinct)


def _all_reasons(reasons: dict[str, str]) -> str:
    if len(reasons) == 1:
        return next(iter(reasons.values()))
    return f"{len(reasons)} columns cannot be encoded ({', '.join(map(repr, reasons))}): {'; '.join(reasons.values())}"


def _complaint(column: Column, values: Any, rows: NDArray[np.intp]) -> str:
    """The rows of a column of numbers or dates that hold something else, in words."""
    name = column.name
    if isinstance(column, DateColumn):
        missing, kind, one = days_of(values, column.holds)[1], column.holds, column.holds.removesuffix("s")
    else:
        numbers, missing = _numbers(values)
        kind, one = "numbers", "number"
        infinite = np.flatnonzero(np.isinf(numbers))
        if len(infinite):
            return (
                f"column {name!r} is infinite in {len(infinite)} rows "
                f"({named_rows(infinite, row_labels(values))}): replace these numbers, or remove the rows"
            )
    where = f"column {name!r} has no usable {one} in {len(rows)} rows ({named_rows(rows, row_labels(values))})"
    if missing[rows].all():
        return (
            f"{where}, and had one in every row in fit: remove or fill these rows, or fit on a table with missing "
            "values in this column"
        )
    example = np.asarray(values, dtype=object)[rows[~missing[rows]][0]]
    return f"{where}, such as {example!r}, and held {kind} in fit: make {kind} of them, or remove the rows"


def _learn_numbers(name: str, values: Any) -> NumberColumn:
    numbers, missing = _numbers(values)
    present = numbers[~missing]
    if not np.isfinite(present).all():
        raise UnencodableColumnsError(f"column {name!r} has infinite numbers: replace them or leave the column out")
    if not len(present):
        raise UnencodableColumnsError(f"column {name!r} is empty in every row: leave it out")
    median = float(np.median(present))
    return NumberColumn(name, median if missing.any() else None, median)


def to_plain(encoder: TableEncoder) -> list[dict[str, Any]]:
    """The columns of a fitted encoder as values that JSON has a form for; see docs/format.md."""
    kinds = {NumberColumn: "number", CategoryColumn: "category"}
    return [{"kind": kinds.get(type(column), "date"), **asdict(column)} for column in encoder.columns_]


def from_plain(columns: Sequence[Column]) -> TableEncoder:
    """A fitted encoder."""
    encoder = TableEncoder([column.name for column in columns])
    encoder.columns_ = list(columns)
    return encoder


def _frame_columns(X: Any) -> Any:
    if not hasattr(X, "columns"):
        raise TypeError(f"TableEncoder takes a frame with named columns; got {type(X).__name__}")
    return X.columns


def _named_columns(X: Any, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Names and values of these columns."""
    there, wanted = list(_frame_columns(X)), set(names)
    missing = sorted(wanted - {*there}, key=names.index)
    if missing:
        raise ValueError(f"X has no column {named(missing)}: its columns are {named(there)}")
    _check_names([name for name in there if name in wanted])
    return ((name, X[name]) for name in names)


def _is_categorical(values: Any) -> bool:
    """Whether a column of pandas or polars says so itself, whatever its levels are."""
    return str(getattr(values, "dtype", "")).startswith(("category", "Categorical", "Enum"))


def kind_of(values: Any) -> str:
    """ "numbers", "categories", "dates", "durations", "times", or "mixed" if some values only are of the last three."""
    if _is_categorical(values):
        return "categories"
    array = np.asarray(values)
    if array.dtype.kind in "iuf":
        return "numbers"
    present = [] if array.dtype.kind in "mM" else [value for value in array.tolist() if not is_missing(value)]
    kind = date_kind(array, present)
    if kind is not None:
        return kind
    is_number = all(isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in present)
    return "numbers" if is_number else "categories"


def is_numeric(values: Any) -> bool:
    """Whether a column holds a number, or a truth value, in every row."""
    if _is_categorical(values):
        return False
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return True
    return kind_of(values) == "numbers" and not _numbers(values)[1].any()


def _numbers(values: Any) -> tuple[Array, Mask]:
    """As floats, NaN for what is none, and which of them are missing."""
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        numbers = array.astype(np.float64)
        return numbers, np.isnan(numbers)
    missing = np.array([is_missing(value) for value in array.tolist()], dtype=bool)
    return np.array([_float(value) for value in array.tolist()], dtype=np.float64), missing


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
    except OverflowError:  # an integer beyond the largest float
        return float("inf")


def _texts(values: Any) -> list[str | None]:
    if hasattr(values, "cat") and hasattr(
        values.cat, "codes"
    ):  # of pandas: missing values would make floats of whole numbers
        levels = [str(level) for level in values.cat.categories]
        return [None if code < 0 else levels[code] for code in values.cat.codes]
    return [None if is_missing(value) else str(value) for value in np.asarray(values, dtype=object).tolist()]
