"""RIO from Spark: its function on pandas frames, and the whole example where PySpark and Java are there."""

import shutil

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from examples import spark_udf
from rio_uq import RIORegressor


def test_the_function_of_the_udf():
    frame = spark_udf.rows(120)
    model = LinearRegression().fit(frame[["a", "b"]], frame["y"])
    rio = RIORegressor(model, noise="constant", random_state=0).fit(frame[["a", "b"]], frame["y"])
    batches = [frame[["a", "b"]][:50], frame[["a", "b"]][50:]]
    found = list(spark_udf.error_bars(rio)(iter(batches)))
    assert [len(batch) for batch in found] == [50, 70]
    expected = np.column_stack(rio.predict(frame[["a", "b"]], return_std=True))
    np.testing.assert_allclose(np.vstack(found), expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of PySpark, about pandas 3
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_in_spark(capsys):
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    rmse, inside = spark_udf.main()
    assert rmse < 0.11
    assert 0.92 < inside < 0.98
    assert "2500 rows" in capsys.readouterr().out
