"""Tables in files: every format gives the same rows, in blocks of one size, whatever the file looks like inside."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

from rio_uq.rows import blocks  # noqa: E402
from rio_uq.rows.csv import CsvOptions, EncodingError  # noqa: E402
from rio_uq.rows.formats import WRITTEN, open_table, table_blocks  # noqa: E402


def write(frame, path):
    if path.suffix in (".csv", ".tsv"):
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".feather":
        pa.feather.write_feather(frame, path, chunksize=13)
    else:
        frame.to_parquet(path, row_group_size=13)


@pytest.mark.parametrize("ending", WRITTEN)
def test_every_format_gives_the_same_rows_in_blocks(ending, tmp_path, monkeypatch):
    import pyarrow.feather  # noqa: F401

    monkeypatch.setattr(blocks, "BLOCK_ROWS", 7)
    monkeypatch.setattr("rio_uq.rows.csv.BLOCK_BYTES", 64)
    frame = pd.DataFrame({"a": np.arange(50.0), "b": [f"row {i}" for i in range(50)]})
    path = tmp_path / f"table{ending}"
    write(frame, path)
    tables, shares = zip(*table_blocks(open_table(path, CsvOptions())), strict=True)
    assert [table.num_rows for table in tables] == [7] * 7 + [1]
    assert list(shares) == sorted(shares)
    assert 0.0 < shares[0] < shares[-1] <= 1.0
    joined = pa.concat_tables(tables)
    assert joined.column("b").to_pylist() == frame["b"].tolist()
    assert [float(value) for value in joined.column("a").to_pylist()] == frame["a"].tolist()


def test_errors_are_those_of_the_library(tmp_path):
    with pytest.raises(ValueError, match=r"has to end in one of \.csv, \.tsv"):
        open_table(tmp_path / "table.txt", CsvOptions())
    (tmp_path / "bad.xlsx").write_bytes(b"no table")
    with pytest.raises(ValueError, match="cannot be read as an Excel file"):
        open_table(tmp_path / "bad.xlsx", CsvOptions())
    for ending in ("parquet", "feather"):
        (tmp_path / f"bad.{ending}").write_bytes(b"no table")
        with pytest.raises(ValueError, match=f"cannot be read as a {ending.title()} file, and may be damaged"):
            open_table(tmp_path / f"bad.{ending}", CsvOptions())
    (tmp_path / "twice.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(ValueError, match="more than one column called 'a'"):
        open_table(tmp_path / "twice.csv", CsvOptions())
    (tmp_path / "latin.csv").write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(EncodingError, match="is not written in utf-8"):
        open_table(tmp_path / "latin.csv", CsvOptions())
    with pytest.raises(EncodingError, match="klingon is not known"):
        open_table(tmp_path / "latin.csv", CsvOptions(encoding="klingon"))


def test_rows_know_nothing_of_the_command_line():
    source = Path(blocks.__file__).parent
    assert not [path for path in source.rglob("*.py") if "rio_uq.cli" in path.read_text()]


def test_opening_a_wide_table_compares_each_name_with_few_others(tmp_path, monkeypatch):
    from rio_uq.rows import formats

    comparisons = 0

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal comparisons
            comparisons += 1
            return str.__eq__(self, other)

    class Wide:
        path = tmp_path / "wide.csv"
        schema = SimpleNamespace(names=[Name(f"sensor {i}") for i in range(1000)])

    monkeypatch.setattr(formats, "CsvFile", lambda path, options: Wide())
    formats.open_table(Wide.path, CsvOptions())
    assert comparisons <= 1000
