"""Experiments and benchmarks share the lab, and know nothing of each other."""

from pathlib import Path

import pytest

import lab


def test_the_layers_are_kept(monkeypatch, capsys):
    cli = pytest.importorskip("importlinter.cli")
    folder = Path(lab.__file__).parent
    monkeypatch.chdir(folder.parent)
    status = cli.lint_imports(config_filename=str(folder / "importlinter.toml"), no_cache=True)
    assert status == cli.EXIT_STATUS_SUCCESS, capsys.readouterr().out
