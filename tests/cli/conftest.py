"""A table, a fitted file, and a way to run commands."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

if find_spec("typer") is None:  # the extra is not installed
    collect_ignore_glob = ["test_*.py"]


def make_table(n_rows, seed=0):
    """Numbers with gaps, categories, outcomes, and the predictions of a model that leaves something to be found."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.uniform(size=(n_rows, 2)).round(4), columns=["size", "age"])
    table["city"] = np.array(["Oslo", "Rome", "Kyiv"])[rng.integers(0, 3, n_rows)]
    table["id"] = [f"house {i}" for i in range(n_rows)]
    table["yhat"] = (2.0 * table["size"]).round(4)
    noise = 0.1 * rng.normal(size=n_rows)
    table["price"] = (2.0 * table["size"] + np.sin(6.0 * table["age"]) + (table["city"] == "Rome") + noise).round(4)
    table.loc[::10, "age"] = np.nan
    return table


@pytest.fixture(scope="session")
def train():
    return make_table(120)


@pytest.fixture
def fresh():
    return make_table(80, seed=1)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder; the result has exit_code, stdout and stderr."""
    from typer.testing import CliRunner

    from rio_uq import RIORegressor
    from rio_uq.cli.app import app

    monkeypatch.setitem(RIORegressor.__init__.__kwdefaults__, "noise", "constant")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "dumb")

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == code, (result.output, result.exception)
        assert "Traceback" not in result.output
        return result

    return invoke


@pytest.fixture(autouse=True, scope="module")
def _quick_fits(quick_fits):
    """These tests are about tables, files and words."""


FIT = ("--target", "price", "--pred-column", "yhat", "--drop", "id")


@pytest.fixture(scope="session")
def rio_file(train, tmp_path_factory):
    """price.rio, made by fit, with the same shape of outcomes whichever test asks first."""
    from typer.testing import CliRunner

    from rio_uq import RIORegressor, Training
    from rio_uq.cli.app import app

    folder = tmp_path_factory.mktemp("fitted")
    train.to_csv(folder / "train.csv", index=False)
    arguments = ["fit", str(folder / "train.csv"), *FIT, "-o", str(folder / "price.rio")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(RIORegressor.__init__.__kwdefaults__, "distribution", "auto")
        patch.setitem(Training.__init__.__kwdefaults__, "guard", False)  # a session comes before `quick_fits`
        result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return folder / "price.rio"
