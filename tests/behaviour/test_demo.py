"""The demo does its job on shipped data and on a user's table, and says so when it cannot."""

import numpy as np
import pandas as pd
import pytest

from examples import demo

pytestmark = [pytest.mark.no_cover, pytest.mark.usefixtures("quick_fits")]


@pytest.fixture(autouse=True)
def _short_training(monkeypatch):
    """These tests are about tables and words: models are small, and rows few."""
    network, boosting = demo.network, demo.boosting
    small = {"hidden_layer_sizes": (16,), "learning_rate_init": 0.05, "n_iter_no_change": 2}
    small = {f"mlpregressor__{name}": value for name, value in small.items()}
    models = {
        "boosting": lambda seed: boosting(seed).set_params(max_iter=10),
        "network": lambda seed: network(seed).set_params(**small),
    }
    monkeypatch.setattr(demo, "MODELS", models)


def test_shipped_data(capsys, tmp_path):
    pytest.importorskip("vega_datasets")
    pytest.importorskip("mapie")
    demo.main(["--splits", "1", "--output", str(tmp_path / "new")])
    shown = capsys.readouterr().out
    assert "398 rows, 7 columns" in shown
    for line in ("boosting, conformal", "boosting with RIO", "network with RIO", "GP without a model"):
        assert f"\n{line} " in shown
    assert (tmp_path / "new" / "predictions.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "new" / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_coverage_and_width_are_those_of_the_intervals():
    y, mean = np.array([0.0, 1.0, 2.0, 9.0]), np.zeros(4)
    intervals = np.stack([np.tile([-1.5, -2.5, -4.0], (4, 1)), np.tile([1.5, 2.5, 4.0], (4, 1))], axis=1)
    measured = demo.measures(y, demo.Answer(mean, intervals, None, 1.0))
    assert (measured["68%"], measured["90%"], measured["95%"], measured["width, 90%"]) == (50.0, 75.0, 75.0, 5.0)
    assert np.isnan(measured["NLPD"])


@pytest.fixture
def table(rng):
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    frame["kind"] = np.where(frame["a"] > 0, "x", "y")
    frame["price"] = frame["a"] * 3 + (frame["kind"] == "x") + 0.1 * rng.normal(size=80)
    frame.loc[3, "b"] = np.nan
    frame.loc[5, "kind"] = None
    frame.loc[7, "price"] = np.nan
    return frame


def test_a_table_with_semicolons_text_gaps_infinities_and_an_empty_column(table, tmp_path, capsys):
    table.loc[11, "a"] = np.inf
    path = tmp_path / "my.csv"
    table.assign(empty=np.nan).to_csv(path, index=False, sep=";")
    pytest.importorskip("mapie")
    demo.main(["--data", str(path), "--target", "price", "--splits", "1", "--output", str(tmp_path / "out")])
    shown = capsys.readouterr().out
    assert "1 of 80 rows have no number in 'price'" in shown
    assert "79 rows, 3 columns" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "absent.csv", "--target", "price"], "cannot be read"),
        (["--data", "{path}", "--target", "prize"], r"no column 'prize'.*'price'"),
        (["--data", "{path}"], "TARGET="),
        (["--data", "{path}", "--target", "kind"], "0 usable rows"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(arguments, message, table, tmp_path):
    path = tmp_path / "my.csv"
    table.to_csv(path, index=False)
    with pytest.raises(SystemExit, match=message):
        demo.main([argument.format(path=path) for argument in arguments])


def test_a_target_without_data(capsys):
    with pytest.raises(SystemExit):
        demo.main(["--target", "price"])
    assert "--data" in capsys.readouterr().err


def test_at_least_one_split(capsys):
    with pytest.raises(SystemExit):
        demo.main(["--splits", "0"])
    assert "at least 1" in capsys.readouterr().err
