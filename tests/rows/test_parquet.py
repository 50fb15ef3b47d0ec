"""Blocks of Parquet files in, whole files out; what regressors make of them is in `behaviour/test_out_of_core.py`."""

import pytest

from rio_uq.rows.blocks import rows_of_a_block
from rio_uq.rows.parquet import ArrowRows, parquet_writer

pytest.importorskip("pyarrow")


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
