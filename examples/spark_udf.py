"""RIO in Spark: a Parquet folder that Spark has written is fitted as it is; a pandas UDF puts error bars on new rows.

    pip install 'rio-uq[parquet]' 'pyspark>=4.0' scikit-learn
    python -m examples.spark_udf

The fit reads the folder in blocks, in memory that does not grow with it. The UDF predicts where the rows are: Spark
sends the regressor to its workers, in which rio-uq has to be installed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor

SCHEMA = "mean double, std double"


def error_bars(rio: RIORegressor) -> Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]:
    """The function of a pandas UDF from a struct of features to a struct of mean and std."""

    def predict(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for rows in batches:
            mean, std = rio.predict(rows, return_std=True)
            yield pd.DataFrame({"mean": mean, "std": std})

    return predict


def as_udf(rio: RIORegressor) -> Any:
    """The pandas UDF."""
    from pyspark.sql.functions import pandas_udf

    return pandas_udf(SCHEMA)(error_bars(rio))


def rows(n: int) -> pd.DataFrame:
    """Generated rows: two features and an outcome that is not linear in them."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 2))
    y = X[:, 0] + np.sin(6.0 * X[:, 1]) + 0.1 * rng.normal(size=n)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


def main() -> tuple[float, float]:
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import struct

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers' Python, which has rio-uq
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    frame = rows(2500)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train")
        session.createDataFrame(frame).write.parquet(str(path))
        model = LinearRegression().fit(frame[["a", "b"]], frame["y"])
        rio = RIORegressor(model, n_inducing=30, noise="constant", random_state=0).fit(path, "y")
        predict = as_udf(rio)
        table = session.read.parquet(str(path))
        found = table.select("y", predict(struct("a", "b")).alias("rio")).select("y", "rio.*").toPandas()
    session.stop()
    rmse = np.sqrt(np.mean((found["y"] - found["mean"]) ** 2))
    inside = np.mean(np.abs(found["y"] - found["mean"]) < 1.96 * found["std"])
    print(f"{len(found)} rows: RMSE {rmse:.3f}, {inside:.0%} within 1.96 std")
    return float(rmse), float(inside)


if __name__ == "__main__":
    main()
