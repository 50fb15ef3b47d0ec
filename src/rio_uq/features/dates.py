"""Dates as numbers: days since the first one, and their place in the year, the week and the day.

A place is an angle on a circle, given as its sine and cosine, so that 31 December is next to 1 January. It is left out
where it says nothing that days do not: where dates do not go round once, or all have the same place.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array, Mask
from rio_uq.features.date_text import parsed_date
from rio_uq.features.missing import is_missing

KINDS = ("dates", "durations", "times")
PARTS = {"year": 365.0, "week": 7.0, "day": 1.0}
"""Circles, and the days that dates have to reach over for each of them."""

EPOCH = datetime.date(1970, 1, 1)
SECONDS_OF_A_DAY = 86_400.0
MICROSECONDS_OF_A_DAY = 86_400_000_000


@dataclass(frozen=True)
class DateColumn:
    """A column of dates, of durations or of times of the day.

    Attributes
    ----------
    name : str
    holds : {"dates", "durations", "times"}
    origin : float
        The first date, in days since 1970; 0 for durations and times.
    parts : tuple of {"year", "week", "day"}
        The circles that rows have a place on.
    fill : float or None
        Days that stand in for a missing value: the median of those there were. None if none was missing in `fit`.
    """

    name: str
    holds: str
    origin: float
    parts: tuple[str, ...]
    fill: float | None

    def encoded_names(self) -> list[str]:
        days = [] if self.holds == "times" else [f"{self.name} (days)"]
        circles = [f"{self.name} ({part}, {function})" for part in self.parts for function in ("sin", "cos")]
        return [*days, *circles, *([] if self.fill is None else [f"{self.name} is missing"])]

    def bad_rows(self, values: Any) -> Mask:
        """Rows that cannot be encoded: of another kind, or missing where none was missing before."""
        days, missing = days_of(values, self.holds)
        return np.isnan(days) & ~(missing & (self.fill is not None))

    def unseen(self, values: Any) -> int:
        return 0

    def encode(self, values: Any) -> Array:
        days, missing = days_of(values, self.holds)
        filled = days if self.fill is None else np.where(missing, self.fill, days)
        columns = [] if self.holds == "times" else [filled - self.origin]
        for part in self.parts:
            angle = 2.0 * np.pi * _place(filled, part)
            # The centre of the circle for a missing value: it is as far from all of them.
            columns += [np.where(missing, 0.0, np.sin(angle)), np.where(missing, 0.0, np.cos(angle))]
        return np.column_stack(columns if self.fill is None else [*columns, missing])


def learn_dates(name: str, kind: str, values: Any) -> DateColumn:
    """The parts in which the dates of a column vary.

    Parameters
    ----------
    name : str
    kind : {"dates", "durations", "times"}
    values : column of a frame
        One value at least is not missing.
    """
    days, missing = days_of(values, kind)
    present = days[~missing]
    parts = tuple(PARTS) if kind == "dates" else ()
    reach = float(np.ptp(present))
    varying = tuple(part for part in parts if reach >= PARTS[part] and np.ptp(_place(present, part)) > 0.0)
    return DateColumn(
        name,
        kind,
        float(present.min()) if kind == "dates" else 0.0,
        ("day",) if kind == "times" else varying,
        float(np.median(present)) if missing.any() else None,
    )


def date_kind(array: NDArray[Any], present: Sequence[Any]) -> str | None:
    """Of a column: one of `KINDS`, "mixed" if some values only are of one of them, None if none is.

    Text is of dates where all of it is, in ISO 8601.

    Parameters
    ----------
    array : (n,) array
    present : sequence
        Its values that are not missing, where they are Python objects.
    """
    if array.dtype.kind in "mM":
        return None if np.isnat(array).all() else "dates" if array.dtype.kind == "M" else "durations"
    if present and all(isinstance(value, str) for value in present):
        return "dates" if all(parsed_date(text.strip()) is not None for text in dict.fromkeys(present)) else None
    kinds = {_kind_of_value(value) for value in present}
    if len(kinds) == 1:
        return kinds.pop()
    return "mixed" if kinds - {None} else None


def _kind_of_value(value: Any) -> str | None:
    types = {"dates": datetime.date, "durations": datetime.timedelta, "times": datetime.time}
    return next((kind for kind, its_type in types.items() if isinstance(value, its_type)), None)


def days_of(values: Any, kind: str) -> tuple[Array, Mask]:
    """Days since 1970 (of durations and times: days), NaN for what is none, and which values are missing.

    Dates with a time zone count as the clock there shows them.
    """
    array = np.asarray(_without_zone(values))
    if array.dtype.kind == {"dates": "M", "durations": "m"}.get(kind):
        missing = np.isnat(array)
        whole = np.where(missing, np.zeros(1, array.dtype), array).astype(f"{array.dtype.kind}8[us]").astype(np.int64)
        return np.where(missing, np.nan, whole / MICROSECONDS_OF_A_DAY), missing
    objects = np.asarray(values, dtype=object).tolist()
    missing = np.array([is_missing(value) for value in objects], dtype=bool)
    return np.array([_days(value, kind) for value in objects], dtype=np.float64), missing


def _without_zone(values: Any) -> Any:
    """The times that the clocks of their zone show."""
    if getattr(getattr(values, "dt", None), "tz", None) is not None:  # of pandas
        return values.dt.tz_localize(None)
    if getattr(getattr(values, "dtype", None), "time_zone", None) is not None:  # of polars
        return values.dt.replace_time_zone(None, ambiguous="earliest", non_existent="null")
    return values


def _days(value: Any, kind: str) -> float:
    if isinstance(value, str) and kind == "dates":
        value = parsed_date(value.strip())
    if is_missing(value) or _kind_of_value(value) != kind:
        return float("nan")
    if kind == "durations":
        return float(value.total_seconds()) / SECONDS_OF_A_DAY
    if kind == "times":
        return _share_of_day(value)
    days = float(value.toordinal() - EPOCH.toordinal())
    return days + (_share_of_day(value) if isinstance(value, datetime.datetime) else 0.0)


def _share_of_day(clock: datetime.time | datetime.datetime) -> float:
    return ((clock.hour * 60 + clock.minute) * 60 + clock.second + 1e-6 * clock.microsecond) / SECONDS_OF_A_DAY


def _place(days: Array, part: str) -> Array:
    """On the circle, from 0 to 1: whole days in the year and in the week."""
    if part == "day":
        return np.asarray(days - np.floor(days))
    if part == "week":
        return np.asarray(np.floor(days) % 7.0 / 7.0)
    whole = np.floor(days).astype("datetime64[D]")
    years = whole.astype("datetime64[Y]")
    first, following = (start.astype("datetime64[D]").astype(float) for start in (years, years + 1))
    return np.asarray((np.floor(days) - first) / (following - first))
