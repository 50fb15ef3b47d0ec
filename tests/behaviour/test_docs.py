"""Pages keep their word: their code runs, their commands exist, their links lead somewhere.

Blocks marked ``python`` are run, those of a page in one namespace, and so are comments that begin with "setup". A block
marked ``text output`` is what the one before it prints, with numbers that are about these. Blocks marked ``pycon`` are
doctests, which pytest collects by itself. Commands in blocks marked ``bash`` are looked up.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
import tomllib
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
GUIDE = sorted((ROOT / "docs").glob("*.md"))
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *GUIDE]
LINKED = [
    *TEXTS,
    ROOT / "CHANGELOG.md",
    ROOT / "experiments" / "RESULTS.md",
    ROOT / "experiments" / "WHEN.md",
    *sorted((ROOT / "docs" / "results").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))

FENCE = re.compile(r"^(?P<ticks>```+)(?P<kind>[^\n`]*)\n(?P<code>.*?)^(?P=ticks)[ \t]*$", re.MULTILINE | re.DOTALL)
SETUP = re.compile(r"^<!-- setup\n(?P<code>.*?)^-->[ \t]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\((?P<target>[^()\s]*)\)")

SHELLS = {"bash", "sh", "shell", "console"}
ELSEWHERE = {
    "cd",
    "cat",
    "curl",
    "docker",
    "export",
    "git",
    "gunzip",
    "head",
    "kill",
    "ls",
    "mlflow",
    "twine",
    "uvicorn",
}
"""Commands that are not ours to check."""
BY_THEMSELVES = {"command-line.md", "scale.md"}
"""Pages with tests of their own: `tests/cli/test_docs.py` and `tests/rows/test_dask.py`."""


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def blocks(path, kinds):
    """Line number and code of each block of these kinds."""
    text = path.read_text()
    return [
        (text[: block.start("code")].count("\n"), block["code"])
        for block in FENCE.finditer(text)
        if block["kind"].strip() in kinds
    ]


def python_code(path):
    """The code of a page in its order, set-up included: line number, code, and what it is to print or None."""
    text = path.read_text()
    hidden = [(text[: block.start("code")].count("\n"), block["code"]) for block in SETUP.finditer(text)]
    printed = [*blocks(path, {"text output"}), (10**9, None)]
    code = sorted([*hidden, *blocks(path, {"python"})])
    ends = [*(line for line, _ in code[1:]), 10**9][: len(code)]
    return [
        (line, source, next((text for at, text in printed if line < at < end), None))
        for (line, source), end in zip(code, ends, strict=True)
    ]


@pytest.mark.parametrize(
    "path", [path for path in TEXTS if python_code(path) and path.name not in BY_THEMSELVES], ids=name_of
)
def test_code_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    namespace = {"__name__": "page"}
    try:
        for line, code, expected in python_code(path):
            with redirect_stdout(StringIO()) as shown:
                exec(compile("\n" * line + code, str(path), "exec"), namespace)
            if expected is not None:
                words, numbers = words_and_numbers(shown.getvalue())
                expected_words, expected_numbers = words_and_numbers(expected)
                assert words == expected_words
                assert numbers == pytest.approx(expected_numbers, rel=0.25, abs=0.1)  # other versions of NumPy, say
    except ModuleNotFoundError as error:
        needed = (error.name or "").split(".")[0]
        if not any(needed in re.split(r"\W", requirement)[0] for extra in EXTRAS.values() for requirement in extra):
            raise
        pytest.skip(f"{needed} is not installed")
    finally:
        plt.close("all")


def lines_of(kind, code):
    """The words of each command line of a shell block; of a console, of those after a prompt."""
    line = ""
    for part in code.replace("\\\n", " ").splitlines():
        if not line and kind == "console" and not part.startswith("$ "):
            continue
        line += part.removeprefix("$ ") + "\n"
        try:
            yield shlex.split(line, comments=True)
        except ValueError:  # a quotation that goes on
            continue
        line = ""


def words_and_numbers(text):
    """A text without its numbers and the blanks around them, and the numbers."""
    number = r"-?\d[\d,]*(?:\.\d+)?"
    words = " ".join(re.sub(number, "#", text).split())
    return words, [float(found.replace(",", "")) for found in re.findall(number, text)]


def commands(path):
    """The single commands of a page's shell blocks."""
    for kind in SHELLS:
        for _, code in blocks(path, {kind}):
            for words in lines_of(kind, code):
                if words and words[0].startswith("{"):  # an answer in JSON
                    continue
                command: list[str] = []
                for word in [*words, ";"]:
                    if word in ("&&", "||", "|", ";", "&", ">", "<"):
                        if command:
                            yield command
                        command = []
                    elif command or not re.fullmatch(r"\w+=.*", word):
                        command.append(word)


def complaint(command):
    """The fault of a command, or None."""
    name, *arguments = command
    if name == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        unknown = [word for word in arguments if "=" not in word and word not in targets]
        return f"the Makefile has no target {unknown}" if unknown else None
    if name == "pip" or command[:3] == ["python", "-m", "pip"]:
        asked = re.findall(r"(?:\.|rio-uq)\[([^\]]*)\]", " ".join(arguments))
        unknown = [extra for extras in asked for extra in extras.split(",") if extra not in EXTRAS]
        return f"pyproject.toml has no extra {unknown}" if unknown else None
    if name.startswith("python"):
        if arguments[:1] == ["-m"]:
            if arguments[1] in ("build", "venv", "http.server"):
                return None
            return None if importlib.util.find_spec(arguments[1]) else f"there is no module {arguments[1]}"
        return None if (ROOT / arguments[0]).exists() else f"there is no file {arguments[0]}"
    if name == "rio-uq":
        return command_line_complaint(arguments)
    return None if name in ELSEWHERE else f"{name} is neither ours nor known to be from elsewhere"


def command_line_complaint(arguments):
    """Whether ``rio-uq`` has the command and its options."""
    if "rio-uq" not in PROJECT.get("scripts", {}):
        return "pyproject.toml has no script rio-uq"
    typer = pytest.importorskip("typer")
    group = typer.main.get_command(importlib.import_module("rio_uq.cli.app").app)
    if not arguments or arguments[0].startswith("-"):
        return None
    if arguments[0] not in group.commands:
        return f"rio-uq has no command {arguments[0]}: it has {', '.join(group.commands)}"
    known = {"--help"}
    for parameter in group.commands[arguments[0]].params:
        known.update(parameter.opts, parameter.secondary_opts)
    unknown = [word for word in arguments[1:] if word.startswith("-") and word.split("=")[0] not in known]
    return f"rio-uq {arguments[0]} has no option {unknown}" if unknown else None


@pytest.mark.parametrize("path", [path for path in TEXTS if blocks(path, SHELLS)], ids=name_of)
def test_commands_exist(path):
    wrong = {" ".join(command): complaint(command) for command in commands(path)}
    assert wrong
    assert {command: why for command, why in wrong.items() if why} == {}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("make coffee", "no target"),
        ("pip install 'rio-uq[nonsense]'", "no extra"),
        ("python -m benchmarks.nonsense", "no module"),
        ("python examples/nonsense.py", "no file"),
        ("nonsense --help", "neither ours"),
    ],
)
def test_a_command_that_does_not_exist_is_noticed(command, message):
    assert message in complaint(shlex.split(command))


def without_code(text):
    return re.sub(r"`+[^`\n]*`+", "", FENCE.sub("", text))


def anchors(path):
    """The names of headings in links, as code hosts and the site make them."""
    text = path.read_text()
    included = re.findall(r"^```\{include\} (\S+)", text, re.MULTILINE)
    found = {
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    }
    return found.union(*(anchors((path.parent / other).resolve()) for other in included))


def leads_nowhere(path, target):
    """Why a link on a page is broken, or None."""
    parts = urlsplit(target)
    if parts.scheme or target.startswith("//"):
        is_fine = parts.scheme == "mailto" or (parts.scheme in ("http", "https") and "." in parts.netloc)
        return None if is_fine else "is no address"
    page = path.parent / unquote(parts.path) if parts.path else path
    made = re.fullmatch(r"(?:.*/)?gallery/(\w+)", parts.path)
    if made:  # written by sphinx-gallery
        is_there = made[1] == "index" or (ROOT / "examples" / "gallery" / f"{made[1]}.py").exists()
        return None if is_there else "is no example of the gallery"
    if page.parent.name == "_figures":
        return None if f'"{page.stem}"' in (ROOT / "docs" / "figures.py").read_text() else "is no figure of the site"
    if not page.exists():
        return "does not exist"
    if parts.fragment and page.suffix == ".md" and parts.fragment not in anchors(page):
        return f"has no heading {parts.fragment}: it has {sorted(anchors(page))}"
    return None


@pytest.mark.parametrize("path", LINKED, ids=name_of)
def test_links_lead_somewhere(path):
    targets = [link["target"] for link in LINK.finditer(without_code(path.read_text()))]
    targets += re.findall(r"^```\{include\} (\S+)", path.read_text(), re.MULTILINE)
    assert {target: why for target in targets if (why := leads_nowhere(path, target))} == {}


@pytest.mark.parametrize(
    "target", ["nonsense.md", "calibration.md#nonsense", "gallery/plot_nonsense", "https:/nonsense"]
)
def test_a_link_that_leads_nowhere_is_noticed(target):
    assert leads_nowhere(ROOT / "docs" / "guide.md", target)


def test_the_gallery_is_short_and_needs_no_network():
    assert len(EXAMPLES) >= 10
    for path in EXAMPLES:
        code = path.read_text()
        assert len(code.splitlines()) <= 60, path.name
        assert "fetch_" not in code, path.name
        assert re.match(r'"""\n.+\n=+\n', code), f"{path.name} has no title"


def test_files_to_touch_exist():
    """The table of the design notes, but for what is still to be built."""
    text = (ROOT / "docs/design.md").read_text()
    table = text.partition("## Where to change what")[2].partition("##")[0]
    named = {name for name in re.findall(r"`([\w./]+)`", table) if "/" in name or name.endswith(".py")}
    roots = (ROOT / "src/rio_uq", ROOT)
    missing = {name for name in named if not any((root / name).exists() for root in roots)}
    assert missing == {"search/"}
