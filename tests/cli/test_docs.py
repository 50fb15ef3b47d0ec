"""Every command and every block of Python in docs/command-line.md runs, and says what the page says but for numbers."""

import re
import shlex
from pathlib import Path

import pytest

from rio_uq import RIORegressor

pytestmark = pytest.mark.no_cover
PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def blocks():
    return re.findall(r"```(console|python)\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def shape(line):
    """A line without its numbers and the blanks around them."""
    return re.sub(r"\s+", " ", re.sub(r"\d[\d.,]*", "#", line)).strip()


def test_the_page(run, monkeypatch):
    pytest.importorskip("skops")
    monkeypatch.setitem(RIORegressor.__init__.__kwdefaults__, "noise", "io")  # which the page is told about
    n_commands = 0
    for kind, text in blocks():
        if kind == "python":
            exec(compile(text, str(PAGE), "exec"), {})
            continue
        said: set[str] = set()
        for line in text.splitlines():
            if line.startswith("$ rio-uq "):
                result = run(*shlex.split(line.removeprefix("$ rio-uq ")))
                said = {shape(shown) for shown in result.stdout.splitlines()}
                n_commands += 1
            else:
                assert shape(line) in said, line
    assert n_commands == 13
    made = {path.name for path in Path("rio-demo").iterdir()}
    assert made == {"train.csv", "test.csv", "radius.rio", "predictions.csv"}


def test_every_option_of_the_page_exists(run):
    helps = "".join(
        run(command, "--help").stdout for command in ("fit", "calibrate", "predict", "evaluate", "report", "export")
    )
    known = set(re.findall(r"--[a-z][a-z-]+", helps + run("--help").stdout))
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE.read_text(encoding="utf-8")))
    assert named <= known | {"--help"}
