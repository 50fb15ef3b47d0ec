"""RIO in Spark: a Parquet folder that Spark has written is fitted as it is; a pandas UDF puts error bars on new rows.

    pip install 'rio-uq[spark]'        # and Java 17 or newer
    python -m examples.spark_udf

The fit reads the folder in blocks, in memory that does not grow with it. The UDF predicts where the rows are: the
regressor is broadcast, so that a worker loads it once and not with every task. rio-uq has to be installed in the
Python of the workers.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "mean double, std double"


def error_bars(regressor: Callable[[], RIORegressor]) -> Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]:
    """The function of a pandas UDF from a struct of features to a struct of mean and std."""

    def predict(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for rows in batches:
            mean, std = regressor().predict(rows, return_std=True)
            yield pd.DataFrame({"mean": mean, "std": std})

    return predict


class Pickled:
    """Arrives as the regressor, with the classes and functions of a script or notebook that its model is made of.

    Spark pickles functions in this way, but broadcasts plainly, and so without these.
    """

    def __init__(self, rio: RIORegressor) -> None:
        self.rio = rio

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        from pyspark import cloudpickle

        return pickle.loads, (cloudpickle.dumps(self.rio),)


def as_udf(session: SparkSession, rio: RIORegressor) -> Any:
    """The pandas UDF, with the regressor sent to the executors of this session."""
    from pyspark.sql.functions import pandas_udf

    sent = session.sparkContext.broadcast(Pickled(rio))
    return pandas_udf(SCHEMA)(error_bars(lambda: sent.value))


@contextmanager
def local_session() -> Iterator[SparkSession]:
    """Spark on two cores of this machine, stopped at the end, after an error as well."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers' Python, which has rio-uq
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # whatever the name of this machine leads to
    options = {"spark.ui.enabled": "false", "spark.sql.execution.arrow.pyspark.enabled": "true"}
    session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def rows(n: int) -> pd.DataFrame:
    """Generated rows: two features and an outcome that is not linear in them."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 2))
    y = X[:, 0] + np.sin(6.0 * X[:, 1]) + 0.1 * rng.normal(size=n)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


def run(session: SparkSession, path: Path) -> pd.DataFrame:
    """Write rows to a folder, fit RIO to it, and predict the same rows in Spark: outcome, mean and std."""
    from pyspark.sql.functions import struct

    frame = rows(2500)
    session.createDataFrame(frame).write.parquet(str(path))
    model = LinearRegression().fit(frame[["a", "b"]], frame["y"])
    rio = RIORegressor(model, n_inducing=30, noise="constant", random_state=0).fit(path, "y", held_out=True)
    predict = as_udf(session, rio)
    table = session.read.parquet(str(path))
    return table.select("y", predict(struct("a", "b")).alias("rio")).select("y", "rio.*").toArrow().to_pandas()


def report(answers: pd.DataFrame) -> str:
    """How good these predictions are, in a line."""
    rmse = np.sqrt(np.mean((answers["y"] - answers["mean"]) ** 2))
    inside = np.mean(np.abs(answers["y"] - answers["mean"]) < 1.96 * answers["std"])
    return f"{len(answers)} rows: RMSE {rmse:.3f}, {inside:.0%} within 1.96 std"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, local_session() as session:
        print(report(run(session, Path(folder, "train"))))


if __name__ == "__main__":
    main()
