"""Rows of JSON are appended one by one and survive a crash."""

import pytest

from lab.json_lines import append_row, read_rows, write_rows


def test_rows_survive_a_crash_while_one_is_written(tmp_path):
    path = tmp_path / "rows.jsonl"
    append_row(path, {"engine": "a"})
    with path.open("a") as file:
        file.write('{"engine": "b", "trace": [1, 2')
    assert read_rows(path) == [{"engine": "a"}]
    append_row(path, {"engine": "c"})
    assert read_rows(path) == [{"engine": "a"}, {"engine": "c"}]
    path.write_text('nonsense\n{"engine": "a"}\n')
    with pytest.raises(ValueError, match="line 1"):
        read_rows(path)


def test_rows_are_replaced(tmp_path):
    path = tmp_path / "new" / "rows.jsonl"
    assert read_rows(path) == []
    write_rows(path, [{"a": 1}, {"a": 2}])
    write_rows(path, [{"a": 3}])
    assert read_rows(path) == [{"a": 3}]
    assert [file.name for file in path.parent.iterdir()] == ["rows.jsonl"]
