"""Pages of results: text that stays above tables that are written anew."""

from lab.markdown import write_tables


def test_text_above_the_tables_stays(tmp_path):
    path, command = tmp_path / "page.md", {"command": "benchmarks.some", "title": "# Title\n"}
    write_tables(path, "old tables\n", **command)
    first = path.read_text()
    assert first.startswith("# Title\n<!-- From here on written by python -m benchmarks.some;")
    path.write_text(first.replace("# Title", "my words"))
    write_tables(path, "new tables\n", **command)
    assert path.read_text() == first.replace("# Title", "my words").replace("old", "new")
