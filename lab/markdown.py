"""Markdown that pages of results are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


def markdown_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table, its last line ended.

    Examples
    --------
    >>> print(markdown_table(["data set", "RMSE"], [["yacht", "0.43"]]), end="")
    | data set | RMSE |
    | --- | --- |
    | yacht | 0.43 |
    """
    return "".join(f"| {' | '.join(line)} |\n" for line in [header, ["---"] * len(header), *lines])


def bold(text: str, is_bold: bool = True) -> str:
    return f"**{text}**" if is_bold else text


def write_tables(path: Path, tables: str, *, command: str, title: str) -> None:
    """Put tables into a page in the place of those that were there; the text above them stays.

    Parameters
    ----------
    path : Path
    tables : str
    command : str
        Module that writes them, named in the comment that separates them from the text.
    title : str
        Beginning of a new page.
    """
    begin = f"<!-- From here on written by python -m {command}; the text above stays. -->\n"
    above = path.read_text(encoding="utf-8").split(begin)[0] if path.exists() else title
    path.write_text(f"{above}{begin}{tables}", encoding="utf-8")
