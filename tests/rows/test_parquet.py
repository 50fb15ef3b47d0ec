"""Blocks of Parquet files in, whole files out; what regressors make of them is in `behaviour/test_out_of_core.py`."""

import numpy as np
import pytest

from rio_uq.rows.blocks import rows_of_a_block
from rio_uq.rows.parquet import ArrowRows, parquet_writer

pa = pytest.importorskip("pyarrow")


def write(path, n_rows=50, seed=0):
    from pyarrow import parquet

    rng = np.random.default_rng(seed)
    parquet.write_table(pa.table({name: rng.normal(size=n_rows) for name in "aby"}), path)
    return path


def damage(path):
    """Write over the first pages of a file, and leave the description of its columns at its end."""
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)


def test_the_extra_is_named_where_pyarrow_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.dataset", None)
    with pytest.raises(ImportError, match=r"pip install 'rio-uq\[parquet\]'"):
        ArrowRows("train.parquet")


def test_wide_rows_come_in_smaller_blocks():
    assert [rows_of_a_block(n_columns) for n_columns in (10, 1000, 10**6)] == [65_536, 8388, 1024]


def test_nothing_written_is_no_file(tmp_path):
    with pytest.raises(RuntimeError, match="stop"), parquet_writer(tmp_path / "out.parquet"):
        raise RuntimeError("stop")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("in_folder", [False, True])
def test_a_damaged_file_is_named(in_folder, tmp_path):
    for number in range(3):
        write(tmp_path / f"{number}.parquet", seed=number)
    damage(tmp_path / "1.parquet")
    rows = ArrowRows(tmp_path if in_folder else tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"1\.parquet cannot be read as a table, and may be damaged"):
        list(rows.blocks(["a", "b"]))


def test_folders_give_their_columns_and_only_the_rows_of_a_filter(tmp_path):
    from pyarrow import compute, parquet

    table = pa.table({"a": np.arange(6.0), "year": [2020, 2021] * 3})
    parquet.write_to_dataset(table, tmp_path / "years", partition_cols=["year"])
    rows = ArrowRows(tmp_path / "years", filter=compute.field("year") == 2021)
    (block,) = rows.blocks(["year", "a"])
    assert block.to_pydict() == {"year": [2021] * 3, "a": [1.0, 3.0, 5.0]}
    assert rows.n_rows == 3


@pytest.mark.parametrize("change", ["replaced", "written", "removed"])
def test_a_file_that_changes_between_two_walks_is_noticed(change, tmp_path):
    path = write(tmp_path / "train.parquet")
    rows = ArrowRows(path)
    n_rows = sum(len(block) for block in rows.blocks(["a"]))
    assert n_rows == sum(len(block) for block in rows.blocks(["a"])) == 50
    if change == "replaced":
        write(tmp_path / "other.parquet", seed=1).replace(path)
    elif change == "written":
        write(path, n_rows=60)
    else:
        path.unlink()
    with pytest.raises(ValueError, match=r"train\.parquet has changed since it was opened"):
        list(rows.blocks(["a"]))


def test_a_file_that_changes_during_the_last_walk_is_noticed(tmp_path):
    path = write(tmp_path / "train.parquet")
    walk = ArrowRows(path, block_rows=20).blocks(["a"])
    next(walk)
    write(tmp_path / "other.parquet", seed=1).replace(path)
    with pytest.raises(ValueError, match="has changed since it was opened"):
        list(walk)


def test_fit_notices_that_its_rows_are_others(tmp_path):
    from rio_uq import RIORegressor

    path = write(tmp_path / "train.parquet", n_rows=200)

    def model(X):
        """It writes the file when the rows of the sample have been read."""
        write(path, n_rows=200, seed=1)
        return X["a"]

    rio = RIORegressor(model, training={"sample_rows": 100}, n_inducing=5, tol=0.1, noise="constant")
    with pytest.raises(ValueError, match="has changed since it was opened"):
        rio.fit(path, "y", held_out=True)
