"""Cells of a table as dates, durations and times of the day."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute as pc

from rio_uq.features.date_text import parsed_date

DATES, DURATIONS, TIMES = "date", "duration", "time"


def temporal_kind(kind: pa.DataType) -> str | None:
    """The kind of an Arrow type, if it is one of dates, durations or times."""
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return DATES
    if pa.types.is_duration(kind):
        return DURATIONS
    return TIMES if pa.types.is_time(kind) else None


def dates_of_texts(texts: Any) -> pd.Series:
    """Dates in ISO 8601, as the clocks of their time zones show them; NaT for all other texts."""
    encoded = pc.dictionary_encode(texts)
    days = np.array([parsed_date(text) for text in encoded.dictionary.to_pylist()] or [None], dtype="datetime64[us]")
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return pd.Series(np.where(codes < 0, np.datetime64("NaT", "us"), days[codes]))


def temporal_cells(column: pa.ChunkedArray) -> pd.Series:
    """Of an Arrow type that has dates, durations or times; dates as the clocks of their time zone show them."""
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = pc.local_timestamp(column)
    if temporal_kind(column.type) == DATES:
        column = column.cast(pa.timestamp("us"), safe=False)
    return column.to_pandas()


def no_cells(n_rows: int, kind: str) -> pd.Series:
    """Missing values of a kind."""
    dtype: Any = {DATES: "datetime64[us]", DURATIONS: "timedelta64[us]", TIMES: object}[kind]
    return pd.Series([None] * n_rows, dtype=dtype)
