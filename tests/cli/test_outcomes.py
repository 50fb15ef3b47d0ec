"""--scale and --bounds: outcomes on their own scale from the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import rio_uq

FIT = ("--target", "price", "--pred-column", "yhat", "-o", "price.rio")


@pytest.fixture
def prices(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.normal(size=120)
    table = pd.DataFrame({"size": size, "yhat": np.exp(2.0 + size)})
    table["price"] = table["yhat"] * np.exp(0.3 * rng.normal(size=120))
    table.to_csv(tmp_path / "prices.csv", index=False)
    return table


@pytest.mark.parametrize(
    ("options", "kind", "ends"),
    [
        ((), "log", (0.0, np.inf)),
        (("--scale", "sqrt"), "sqrt", (0.0, np.inf)),
        (("--scale", "identity", "--bounds", "0,"), "identity", (0.0, np.inf)),
        (("--scale", "logit", "--bounds", "-5, 1e4"), "logit", (-5.0, 1e4)),
        (("--scale", "log", "--bounds", ",1e4"), "log", (-np.inf, 1e4)),
    ],
)
def test_the_scale_and_the_bounds_are_those_of_the_library(options, kind, ends, run, prices):
    said = run("fit", "prices.csv", *FIT, "--rows", "new", *options)
    assert "Residuals are taken on the scale of" in said.stdout
    (scale,) = rio_uq.load("price.rio").scale_.scales
    assert (scale.kind, scale.lower, scale.upper) == (kind, *ends)


def test_info_says_which_scale_and_why(run, prices):
    run("fit", "prices.csv", *FIT, "--rows", "new")
    said = " ".join(run("info", "price.rio").stdout.split())
    assert "scale log" in said
    assert "the logarithm of outcomes: left-out rows gain" in said
    (scale,) = json.loads(run("info", "price.rio", "--json").stdout)["scale"]
    assert scale["kind"] == "log"
    assert scale["gains"]["log"] > 0.0
    assert "left-out rows gain" in scale["in_words"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0", "a comma is missing"),
        ("0,1,2", "bounds are two"),
        (",", "both ends are empty"),
        ("a,1", "'a' is no number"),
        ("2,1", "the lower end has to be below the upper one"),
        ("0,inf", "an end without a bound is left empty"),
    ],
)
def test_bounds_that_are_none_are_refused(text, reason, run, prices):
    said = run("fit", "prices.csv", *FIT, "--bounds", text, code=2)
    assert "--bounds" in said.stderr
    assert reason in " ".join(said.stderr.replace("│", " ").split())


def test_outcomes_without_a_place_are_an_error_in_a_sentence(run, prices):
    said = run("fit", "prices.csv", *FIT, "--rows", "new", "--scale", "logit", code=1)
    assert "scale='logit' takes outcomes between 0 and 1" in " ".join(said.stderr.split())


def test_outcomes_beyond_the_scale_are_measured_and_named(run, prices, tmp_path):
    run("fit", "prices.csv", *FIT, "--rows", "new", "--scale", "log")
    new = prices.sample(50, random_state=1).assign(price=lambda table: 1.1 * table["price"])
    new.iloc[3, new.columns.get_loc("price")] = -1.0
    new.to_csv(tmp_path / "new.csv", index=False)
    said = run("evaluate", "new.csv", "--rio", "price.rio", "--level", 0.99)
    assert "1 outcome that has no place on the scale of fit" in " ".join(said.stderr.split())
    assert "NLPD is infinite" in " ".join(said.stderr.split())
    assert "infinite" in said.stdout
    measures = json.loads(run("evaluate", "new.csv", "--rio", "price.rio", "--level", 0.99, "--json").stdout)
    assert measures["rows_beyond_scale"] == 1
    assert measures["after"]["nlpd"] is None
    assert measures["after"]["coverage"]["0.99"] <= 0.98
    assert measures["after"]["crps"] > 0.0
