"""Every benchmark is started the same way."""

import re

import pytest

from benchmarks import command

NAMES = sorted(path.parent.name for path in command.FOLDER.glob("*/__main__.py"))


def test_every_benchmark_is_there():
    assert NAMES == [
        "defaults",
        "engine",
        "errors",
        "exact",
        "large",
        "levers",
        "onnx",
        "quality",
        "scale",
        "shift",
        "speed",
        "standard",
        "untuned",
        "worlds",
    ]
    for name in NAMES:
        folder = command.FOLDER / name
        assert all((folder / file).exists() for file in ("run.py", "page.py", "README.md"))
        links = re.findall(r"\]\(([^)\s]+)\)", (folder / "README.md").read_text())
        assert [link for link in links if not (folder / link).exists()] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "onnx"])
@pytest.mark.parametrize("part", command.COMMANDS)
def test_both_commands_have_help(name, part, capsys):
    with pytest.raises(SystemExit) as end:
        command.main(name, [part, "--help"])
    assert end.value.code == 0
    assert "--results" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required"),
        (["bake"], "invalid choice"),
        (["run", "--datasets", "boston"], "boston is not among yacht"),
        (["run", "--runs", "0"], "at least 1"),
    ],
)
def test_bad_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit):
        command.main("shift", arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_a_page_needs_measurements(name, tmp_path):
    with pytest.raises(SystemExit, match="make them with `run`"):
        command.main(name, ["page", "--results", str(tmp_path / "none")])
