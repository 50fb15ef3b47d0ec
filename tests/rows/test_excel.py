"""The first sheet of an Excel file is the table that it shows."""

import re
import zipfile
from datetime import datetime
from xml.sax.saxutils import escape

import pyarrow as pa
import pytest

from rio_uq.rows.csv import CsvOptions
from rio_uq.rows.formats import open_table, table_blocks

pytest.importorskip("python_calamine")

TYPES = "http://schemas.openxmlformats.org"


def write_excel(path, rows, sheets=("Sheet1",)):
    """A small file of the Office Open XML kind; dates have the second style."""
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = []
        for letter, value in zip("ABCDEFGHIJ", row, strict=False):
            place = f'r="{letter}{number}"'
            if isinstance(value, bool):
                cells.append(f'<c {place} t="b"><v>{int(value)}</v></c>')
            elif isinstance(value, datetime):
                days = (value - datetime(1899, 12, 30)).total_seconds() / 86400
                cells.append(f'<c {place} s="1"><v>{days}</v></c>')
            elif isinstance(value, str):
                cells.append(f'<c {place} t="inlineStr"><is><t>{escape(value)}</t></is></c>')
            elif value is not None:
                cells.append(f"<c {place}><v>{value}</v></c>")
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    main = f'xmlns="{TYPES}/spreadsheetml/2006/main"'
    names = range(1, len(sheets) + 1)
    relation = f"{TYPES}/officeDocument/2006/relationships"
    members = {
        "[Content_Types].xml": f'<Types xmlns="{TYPES}/package/2006/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{TYPES}/package/2006/relationships"><Relationship Id="a" '
        f'Type="{relation}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{relation}"><sheets>'
        + "".join(f'<sheet name="{sheets[i - 1]}" sheetId="{i}" r:id="r{i}"/>' for i in names)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{TYPES}/package/2006/relationships">'
        + "".join(
            f'<Relationship Id="r{i}" Type="{relation}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i in names
        )
        + f'<Relationship Id="s" Type="{relation}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet {main}><cellXfs><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs></styleSheet>',
        **{f"xl/worksheets/sheet{i}.xml": f"<worksheet {main}><sheetData/></worksheet>" for i in names},
        "xl/worksheets/sheet1.xml": f"<worksheet {main}><sheetData>{''.join(lines)}</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)


DAY = datetime(2024, 12, 31, 18, 30)
ROWS = [
    ["id", "size", "city", "day", "sold", "mixed", "empty"],
    [7, 0.5, "Oslo", DAY, True, 3, None],
    [8, None, "Rome", None, False, "n/a", None],
    [None, None, None, None, None, None, None],
    [9, 2.0, None, DAY, True, 0.5, None],
]


def test_columns_have_the_types_of_their_cells(tmp_path):
    write_excel(tmp_path / "table.xlsx", ROWS)
    file = open_table(tmp_path / "table.xlsx", CsvOptions())
    ((table, share),) = table_blocks(file)
    assert share == 1.0
    assert table.to_pydict() == {
        "id": [7, 8, 9],
        "size": [0.5, None, 2.0],
        "city": ["Oslo", "Rome", None],
        "day": [DAY, None, DAY],
        "sold": [True, False, True],
        "mixed": ["3", "n/a", "0.5"],
        "empty": [None, None, None],
    }
    assert table.schema.field("id").type == pa.int64()


def test_a_sheet_without_rows(tmp_path):
    write_excel(tmp_path / "names.xlsx", ROWS[:1])
    assert list(table_blocks(open_table(tmp_path / "names.xlsx", CsvOptions()))) == []
    write_excel(tmp_path / "empty.xlsx", [])
    with pytest.raises(ValueError, match="is empty: a row with the names of columns is needed"):
        open_table(tmp_path / "empty.xlsx", CsvOptions())


def test_the_command_line_reads_it_and_says_which_sheet(tmp_path, capsys):
    pytest.importorskip("typer")
    from rio_uq.cli.input import InputTable

    write_excel(tmp_path / "two.xlsx", ROWS, sheets=("sales", "notes"))
    assert InputTable(tmp_path / "two.xlsx", CsvOptions()).read().num_rows == 3
    assert re.search(r"has 2 sheets: the first one,\s+'sales', is read", capsys.readouterr().err)


def test_the_extra_is_named(tmp_path, monkeypatch):
    write_excel(tmp_path / "table.xlsx", ROWS)
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r"reading Excel files needs python_calamine.*rio-uq\[excel\].*as CSV"):
        open_table(tmp_path / "table.xlsx", CsvOptions())
