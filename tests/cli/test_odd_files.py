"""Tables as they are found: encodings, separators, quotes, wide ones, broken ones."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FIT = ("--target", "price", "--pred-column", "yhat", "--drop", "id")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-16-le"])
def test_encodings(encoding, run, train, fresh, tmp_path):
    def named(table):
        return table.rename(columns={"size": "größe"}).replace({"city": {"Rome": "Århus, früher"}})

    for name, table in (("train.csv", train), ("new.csv", fresh)):
        (tmp_path / name).write_bytes(named(table).to_csv(index=False).encode(encoding))
    given = ("--encoding", encoding) if encoding in ("latin-1", "utf-16-le") else ()
    run("fit", "train.csv", *FIT, "--inducing", 5, *given, "-o", "price.rio")
    said = run("predict", "new.csv", "--rio", "price.rio", *given, "-o", "out.csv")
    assert said.stderr == ""
    found = pd.read_csv("out.csv", encoding="utf-8")
    assert found["city"].tolist() == named(fresh)["city"].tolist()
    assert "größe" in found


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le"])
def test_an_encoding_that_has_to_be_named(encoding, run, rio_file, fresh, tmp_path):
    text = fresh.replace({"city": {"Rome": "Århus"}}).to_csv(index=False)
    (tmp_path / "new.csv").write_bytes(text.encode(encoding))
    refused = run("predict", "new.csv", "--rio", rio_file, "-o", "out.csv", code=1).stderr
    assert "--encoding" in refused or "no column 'size'" in refused
    refused = run("predict", "new.csv", "--rio", rio_file, "--encoding", "klingon", "-o", "out.csv", code=1).stderr
    assert "klingon is not known" in refused


@pytest.mark.parametrize("encoding", ["zip", "base64", "rot13", "undefined"])
def test_an_encoding_that_is_none_of_text(encoding, run, rio_file, fresh):
    fresh.to_csv("new.csv", index=False)
    refused = run("predict", "new.csv", "--rio", rio_file, "--encoding", encoding, "-o", "out.csv", code=1).stderr
    assert f"the encoding {encoding} is not one of text" in refused
    assert "latin-1, cp1252 or utf-16, say" in refused


@pytest.mark.parametrize("separator", [";", "\t", "|", ":"])
def test_separators_and_decimal_commas(separator, run, train, tmp_path):
    train.to_csv("train.csv", index=False, sep=separator, decimal=",")
    given = ("--separator", separator) if separator == ":" else ()
    refused = run("fit", "train.csv", *FIT, *given, "-o", "price.rio", code=1).stderr
    assert "no row has a number in 'price': it holds '" in refused
    assert "--decimal ," in refused
    run("fit", "train.csv", *FIT, "--inducing", 5, *given, "--decimal", ",", "-o", "price.rio")
    said = run("evaluate", "train.csv", "--rio", "price.rio", *given, "--decimal", ",", "--json").stdout
    assert '"rows": 120' in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"size,age,city,id,yhat,price\n", "no rows"),
        (b"size,size,city,price\n1,2,3,4\n", "more than one column called 'size'"),
        (b"size,age,city,id,yhat,price\n1,2,Oslo,7,1\n", "columns, got 5"),
        (b"size,age,city,id,yhat,price\n1,2,Oslo,7,1,2,3\n", "columns, got 7"),
        (b"size,age,city,id,price\n1,2,Oslo,7,1\n", "no column 'yhat'"),
        (b"size,age,city,id,yhat,price\n,,,,,\n", "all features are empty in every row"),
        (b"size,age,city,id,yhat,price\n1,2,Oslo,3,,4\n", "no row has a number in 'yhat': it is empty in every row"),
        (b"size,age,city,id,yhat,price\n1,2,Oslo,3,1,4\n", "fit needs 5 at least"),
        (b"size,age,city,id,yhat,price\n1,2,Oslo,3,1,inf\n", "column 'price', row 1: infinite"),
        (b"PK\x03\x04\xff\xfe\x00", "--encoding"),
    ],
)
def test_broken_tables(content, message, run, tmp_path):
    (tmp_path / "train.csv").write_bytes(content)
    assert message in run("fit", "train.csv", *FIT, "-o", "price.rio", code=1).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["train.csv"]


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_file_that_is_none(ending, run, rio_file, tmp_path):
    (tmp_path / f"new.{ending}").write_bytes(b"size,age\n1,2\n")
    refused = run("predict", f"new.{ending}", "--rio", rio_file, "-o", "out.csv", code=1).stderr
    assert f"cannot be read as a {ending.title()} file" in refused


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_damaged_file_is_named(ending, run, rio_file, fresh, tmp_path):
    path = tmp_path / f"new.{ending}"
    getattr(fresh, f"to_{ending}")(path)
    content = path.read_bytes()
    pages = slice(4, 60) if ending == "parquet" else slice(len(content) // 2, len(content) // 2 + 300)
    for place in (pages, slice(-300, -100)):
        damaged = bytearray(content)
        damaged[place] = b"\xff" * len(content[place])
        path.write_bytes(damaged)
        said = run("predict", path.name, "--rio", rio_file, "-o", "out.csv", "--force", code=1).stderr
        assert f"new.{ending}" in said


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_names_and_no_rows(ending, run, rio_file, fresh, tmp_path):
    fresh[:0].to_csv("new.csv", index=False)
    run("predict", "new.csv", "--rio", rio_file, "-o", f"out.{ending}")
    found = getattr(pd, f"read_{ending}")(f"out.{ending}")
    assert list(found) == [*fresh.columns, "mean", "std", "lower_0.95", "upper_0.95"]
    assert len(found) == 0
    assert "nothing to measure" in run("evaluate", "new.csv", "--rio", rio_file, code=1).stderr


def test_a_wide_table(run, train, tmp_path):
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(len(train), 1000)).round(3)).add_prefix("sensor ")
    wide = pd.concat([train, wide], axis=1)
    wide.to_csv("wide.csv", index=False)
    run("fit", "wide.csv", *FIT[:4], "--features", "size,age", "--inducing", 5, "-o", "price.rio")
    run("predict", "wide.csv", "--rio", "price.rio", "-o", "out.parquet")
    assert pd.read_parquet("out.parquet").shape == (120, 1006 + 4)


def test_a_table_with_every_kind_of_column(run, rio_file, fresh, tmp_path):
    table = fresh.assign(
        day=pd.Timestamp("2024-01-01"),
        flag=[True, False] * 40,
        count=pd.array([1, None] * 40, dtype="Int64"),
        kind=pd.Categorical(["x", "y,z"] * 40),
        many=[[1, 2]] * 80,
    )
    table.to_parquet("new.parquet")
    run("predict", "new.parquet", "--rio", rio_file, "-o", "out.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet("out.parquet")[list(table)], pd.read_parquet("new.parquet"))
    run("predict", "new.parquet", "--rio", rio_file, "-o", "out.csv")
    line = pd.read_csv("out.csv", dtype=str).iloc[0]
    assert line[["flag", "count", "kind", "many"]].tolist() == ["True", "1", "x", "[1, 2]"]
    assert line["day"].startswith("2024-01-01")


def test_text_of_csv_is_what_other_readers_read(run, rio_file, fresh, tmp_path):
    fresh["id"] = ['plain, "quoted"\r\nnext'] * len(fresh)
    buffer = io.StringIO()
    fresh.to_csv(buffer, index=False)
    (tmp_path / "new.csv").write_text(buffer.getvalue(), newline="")
    run("predict", "new.csv", "--rio", rio_file, "-o", "out.csv")
    assert set(pd.read_csv("out.csv")["id"]) == {'plain, "quoted"\r\nnext'}


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_types_are_kept_where_there_are_no_rows(ending, run, rio_file, fresh):
    getattr(fresh[:0], f"to_{ending}")(f"new.{ending}")
    run("predict", f"new.{ending}", "--rio", rio_file, "-o", f"out.{ending}")
    found = getattr(pd, f"read_{ending}")(f"out.{ending}")
    pd.testing.assert_series_equal(found.dtypes[:6], getattr(pd, f"read_{ending}")(f"new.{ending}").dtypes)


def test_a_wide_parquet_file_comes_in_smaller_blocks(tmp_path):
    from rio_uq.cli.input import InputTable
    from rio_uq.rows.blocks import BLOCK_NUMBERS, NUMBERS_A_CELL
    from rio_uq.rows.csv import CsvOptions

    pd.DataFrame(np.zeros((5000, 600))).add_prefix("x").to_parquet(tmp_path / "wide.parquet")
    sizes = [block.num_rows for block in InputTable(tmp_path / "wide.parquet", CsvOptions()).blocks("")]
    assert sum(sizes) == 5000
    assert max(sizes) * 600 * NUMBERS_A_CELL <= BLOCK_NUMBERS


@pytest.mark.parametrize(
    ("given", "name", "separator", "decimal"),
    [
        (("--decimal", ","), "out.csv", ";", ","),
        (("--separator", ";", "--decimal", ","), "out.tsv", "\t", ","),
    ],
)
def test_output_is_written_as_the_input_is(given, name, separator, decimal, run, rio_file, fresh, tmp_path):
    fresh["id"] = "a;b\tc,d"
    fresh.to_csv("new.csv", index=False, sep=";", decimal=",")
    run("predict", "new.csv", "--rio", rio_file, *given, "-o", name)
    found = pd.read_csv(name, sep=separator, decimal=decimal)
    pd.testing.assert_frame_equal(found[list(fresh)], fresh)
    assert found["mean"].dtype == float
    run("predict", "new.csv", "--rio", rio_file, *given, "-o", "out.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet("out.parquet")[list(found)], found, check_dtype=False)


def test_tabs_in_tsv(run, rio_file, fresh):
    fresh.to_csv("new.csv", index=False)
    run("predict", "new.csv", "--rio", rio_file, "-o", "out.tsv")
    assert list(pd.read_csv("out.tsv", sep="\t"))[:6] == list(fresh)


def test_truth_has_one_spelling(run, train, fresh):
    train.assign(garden=np.arange(120) % 3 == 0).to_parquet("train.parquet")
    fresh["garden"] = np.arange(80) % 2 == 0
    fresh.to_parquet("new.parquet")
    run("fit", "train.parquet", *FIT, "--inducing", 5, "-o", "price.rio")
    run("predict", "new.parquet", "--rio", "price.rio", "-o", "out.parquet")
    expected = pd.read_parquet("out.parquet")["mean"]
    for yes, no in (("true", "false"), ("TRUE", "FALSE"), ("True", "False")):
        fresh.replace({"garden": {True: yes, False: no}}).to_csv("new.csv", index=False)
        assert run("predict", "new.csv", "--rio", "price.rio", "-o", "out.csv", "--force").stderr == ""
        np.testing.assert_allclose(pd.read_csv("out.csv")["mean"], expected, rtol=1e-6)


def test_categories_that_are_all_unknown_stand_out(run, rio_file, fresh):
    fresh.assign(city=fresh["city"].str.upper()).to_csv("new.csv", index=False)
    said = run("predict", "new.csv", "--rio", rio_file, "-o", "out.csv").stderr
    assert "warning: column 'city' has NO category" in said


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that nobody can write to is needed")
def test_a_folder_that_cannot_be_written_to_is_found_before_the_work(run, rio_file, tmp_path):
    (tmp_path / "new.csv").write_text("not,read\n")
    said = run("predict", "new.csv", "--rio", rio_file, "-o", "/proc/out.csv", code=1).stderr
    assert "nothing can be written to its folder" in said


def test_a_table_that_changes_between_two_walks_is_noticed(run, rio_file, fresh, monkeypatch):
    from rio_uq.cli import output

    fresh.to_csv("new.csv", index=False)
    types = output.column_types

    def types_of_another(table):
        found = types(table)
        fresh[::-1].to_csv("new.csv", index=False)
        return found

    monkeypatch.setattr(output, "column_types", types_of_another)
    said = run("predict", "new.csv", "--rio", rio_file, "-o", "out.parquet", code=1).stderr
    assert "new.csv has changed since it was opened" in said
