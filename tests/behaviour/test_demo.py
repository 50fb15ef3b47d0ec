"""The demo does its job on shipped data and on a user's table, and says so when it cannot."""

import numpy as np
import pandas as pd
import pytest

from examples import demo

pytestmark = [pytest.mark.no_cover, pytest.mark.usefixtures("quick_fits")]


@pytest.fixture(autouse=True)
def _short_training(monkeypatch):
    """These tests are about tables and words: the networks, seven for each table, are small and stop early."""
    network, small = demo.network, {"hidden_layer_sizes": (16,), "learning_rate_init": 0.05, "n_iter_no_change": 2}
    monkeypatch.setattr(demo, "network", lambda seed: network(seed).set_params(**small))


def test_shipped_data(capsys, tmp_path):
    figure = tmp_path / "new" / "figure.png"
    demo.main(["--splits", "1", "--figure", str(figure)])
    shown = capsys.readouterr().out
    assert "breast cancer" in shown
    assert "diabetes" in shown
    assert "improved" in shown
    assert figure.read_bytes().startswith(b"\x89PNG")


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
    demo.main(["--data", str(path), "--target", "price", "--splits", "1", "--figure", str(tmp_path / "figure.png")])
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
