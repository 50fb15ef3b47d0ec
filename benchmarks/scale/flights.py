"""Three million flights: features that are known before departure, and how late the flight was.

`flights-3m.parquet` and `airports.csv` are in the folder that RIO_UQ_DATA names. `prepare` makes two Parquet files of
them, numbers only, the last fifth by date being the test rows.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from lab.files import whole_file

FEATURES = [
    "month",
    "weekday",
    "minute",
    "distance",
    "origin_latitude",
    "origin_longitude",
    "destination_latitude",
    "destination_longitude",
]
TEST_SHARE = 0.2


def prepare(folder: Path) -> tuple[Path, Path]:
    """Paths of the files of training and test rows; made once."""
    import pandas as pd

    train, test = folder / "flights-train.parquet", folder / "flights-test.parquet"
    if train.exists() and test.exists():
        return train, test
    data = Path(os.environ["RIO_UQ_DATA"])
    flights = pd.read_parquet(data / "flights-3m.parquet").sort_values("date", kind="stable", ignore_index=True)
    airports = pd.read_csv(data / "airports.csv").set_index("iata")
    date = pd.to_datetime(flights["date"])
    table = pd.DataFrame(
        {
            "month": date.dt.month,
            "weekday": date.dt.weekday,
            "minute": 60 * date.dt.hour + date.dt.minute,
            "distance": flights["distance"],
            "origin_latitude": flights["origin"].map(airports["latitude"]),
            "origin_longitude": flights["origin"].map(airports["longitude"]),
            "destination_latitude": flights["destination"].map(airports["latitude"]),
            "destination_longitude": flights["destination"].map(airports["longitude"]),
            "delay": flights["delay"],
        }
    ).astype(np.float64)
    is_complete = table.notna().all(axis=1)
    n_left_out = int((~is_complete).sum())
    print(f"{len(table)} flights, {n_left_out} of them left out: an airport without coordinates, or no delay")
    table = table[is_complete]
    n_test = round(TEST_SHARE * len(table))
    for part, path in ((table[-n_test:], test), (table[:-n_test], train)):
        with whole_file(path) as partial:
            part.to_parquet(partial, index=False, row_group_size=200_000)
    return train, test


def boosting(folder: Path) -> Any:
    """Gradient boosting on all training rows; made once."""
    import joblib
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingRegressor

    path = folder / "flights-model.joblib"
    if not path.exists():
        rows = pd.read_parquet(prepare(folder)[0])
        model = HistGradientBoostingRegressor(random_state=0).fit(rows[FEATURES], rows["delay"])
        joblib.dump(model, path)
    return joblib.load(path)
