"""RIO from Spark: its function on pandas frames, and in Spark itself where PySpark and Java are there."""

import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from examples import spark_udf
from rio_uq import RIORegressor
from rio_uq.features import TableEncoder

pytestmark = pytest.mark.usefixtures("quick_fits")

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def fitted(model, X, y, **options):
    return RIORegressor(model, n_inducing=20, noise="constant", random_state=0, **options).fit(X, y)


@pytest.fixture(scope="module")
def frame():
    return spark_udf.rows(400).assign(city=np.tile(["Paris", "Köln", "Oslo", "Rom"], 100))


@pytest.fixture(scope="module")
def linear(frame):
    X, y = frame[["a", "b"]], frame["y"]
    return fitted(LinearRegression().fit(X, y), X, y)


def test_the_function_of_the_udf(frame, linear):
    X = frame[["a", "b"]]
    found = list(spark_udf.error_bars(lambda: linear)(iter([X[:150], X[150:]])))
    assert [len(batch) for batch in found] == [150, 250]
    np.testing.assert_allclose(np.vstack(found), np.column_stack(linear.predict(X, return_std=True)), rtol=1e-9)


def has_java():
    """Where Spark looks for it."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(str(Path(home, "bin", "java")) if home else "java") is not None


@pytest.fixture(scope="module")
def session():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # for a start that is short
        quick = {
            "sql.codegen.wholeStage": "false",
            "sql.codegen.factoryMode": "NO_CODEGEN",
            "sql.shuffle.partitions": "2",
        }
        settings = [f"--conf spark.{name}={value}" for name, value in quick.items()]
        patch.setenv("PYSPARK_SUBMIT_ARGS", " ".join([*settings, "pyspark-shell"]))
        with spark_udf.local_session() as session:
            yield session


def predicted(table, udf, *features):
    """Features, mean and std as Spark predicts them."""
    from pyspark.sql.functions import struct

    predictions = table.select(*features, udf(struct(*features)).alias("rio"))
    return predictions.select(*features, "rio.*").toArrow().to_pandas()


def assert_as_in_memory(found, rio, *features):
    expected = np.column_stack(rio.predict(found[list(features)], return_std=True))
    np.testing.assert_allclose(found[["mean", "std"]], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.processes
@pytest.mark.skipif(find_spec("pyspark") is None, reason="needs PySpark: pip install '.[spark]'")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas >= 3:FutureWarning")
@pytest.mark.skipif(not has_java(), reason="needs Java 17 or newer")
class TestInSpark:
    def test_texts_from_a_folder_that_spark_wrote(self, session, frame, tmp_path):
        features = ["a", "b", "city"]
        path = str(tmp_path / "train")
        session.createDataFrame(frame.astype({"city": "category"})).write.parquet(path)
        encoder = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
        model = make_pipeline(encoder, LinearRegression()).fit(frame[features], frame["y"])
        rio = fitted(model, path, "y", features=TableEncoder())
        found = predicted(session.read.parquet(path), spark_udf.as_udf(session, rio), *features)
        assert sorted(found["a"]) == sorted(frame["a"])
        assert_as_in_memory(found, rio, *features)

    def test_partitions_may_be_empty(self, session, frame, linear):
        table = session.createDataFrame(frame[["a", "b"]][:5]).repartition(8)
        udf = spark_udf.as_udf(session, linear)
        found = predicted(table, udf, "a", "b")
        assert len(found) == 5
        assert_as_in_memory(found, linear, "a", "b")
        assert len(predicted(table.where("a > 2"), udf, "a", "b")) == 0

    def test_a_missing_value_is_named(self, session, frame, linear):
        from pyspark.errors import PythonException

        X = frame[["a", "b"]].copy()
        X.loc[3, "b"] = np.nan
        table = session.createDataFrame(X).coalesce(1)
        with pytest.raises(PythonException, match=r"X contains NaN in 1 row \(3\)"):
            predicted(table, spark_udf.as_udf(session, linear), "a", "b")

    def test_a_worker_loads_the_regressor_once(self, session, frame, tmp_path):
        log = tmp_path / "loads"

        class Model:
            """As in a notebook: its class is nowhere to be imported from."""

            def predict(self, X):
                return X["a"].to_numpy()

            def __getstate__(self):
                return {}

            def __setstate__(self, state):
                with log.open("a") as file:
                    file.write(f"{os.getpid()}\n")

        X = frame[["a", "b"]]
        udf = spark_udf.as_udf(session, fitted(Model(), X, frame["y"]))
        assert len(predicted(session.createDataFrame(X).repartition(6), udf, "a", "b")) == 400
        processes = log.read_text().split()
        assert 1 <= len(processes) == len(set(processes)) <= 2

    def test_the_block_on_the_page(self, session, frame, linear, tmp_path):
        frame[["a", "b"]].to_parquet(tmp_path / "new.parquet")
        [block] = re.findall(r"^```python\n((?:(?!```).)*?pyspark.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
        for name in ("new.parquet", "with-error-bars"):
            assert f'"{name}"' in block
            block = block.replace(f'"{name}"', repr(str(tmp_path / name)))
        exec(block, {"__name__": "page", "pd": pd, "rio": linear})
        written = pd.read_parquet(tmp_path / "with-error-bars")
        found = written[["a", "b"]].join(pd.DataFrame(written["rio"].tolist()))
        assert len(found) == 400
        assert_as_in_memory(found, linear, "a", "b")

    def test_the_example(self, session, tmp_path):
        found = spark_udf.run(session, tmp_path / "train")
        assert spark_udf.report(found) == "2500 rows: RMSE 0.101, 95% within 1.96 std"
