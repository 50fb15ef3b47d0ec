"""What a release says of itself is the same everywhere."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

import rio_uq

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_has_the_version_and_the_licence():
    citation = text("CITATION.cff")
    assert f"\nversion: {rio_uq.__version__}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation


def test_the_recipe_asks_for_what_the_package_does():
    run = text("recipe/meta.yaml").split("  run:\n")[1].split("\n\n")[0]
    asked = {line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()}
    assert asked == {f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]}


def test_the_lowest_versions_are_those_that_are_allowed():
    lowest = runpy.run_path(str(ROOT / "release" / "constraints.py"))["lowest"]
    assert lowest(["numpy>=1.26", "a-b>=2.0.1"]) == ["numpy==1.26", "a-b==2.0.1"]
    assert len(lowest(PROJECT["dependencies"])) == len(PROJECT["dependencies"])
    with pytest.raises(SystemExit, match="has no lowest version"):
        lowest(["numpy"])


def test_the_page_on_stability_names_what_is_public():
    page = text("docs/stability.md")
    for name in rio_uq.__all__:
        assert re.search(rf"`(rio_uq\.)?{name}`", page), name


def test_workflows_run_targets_that_there_are():
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), flags=re.MULTILINE))
    workflows = "".join(path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").iterdir())
    assert set(re.findall(r"make ([a-z-]+)", workflows)) <= targets
