"""All methods, the tables that each of them is in, and what the page says of them."""

from __future__ import annotations

from benchmarks.quality import trees
from benchmarks.quality.answers import Answer
from benchmarks.standard.models import Method, alone, plain_gp, rio_on
from benchmarks.standard.splits import Split

RIO = {"ET+RIO": "ET", "HGB+RIO": "HGB", "NN+RIO": "NN"}
"""With the model below each."""

GP = "GP"
OURS = (*RIO, GP)
PUBLISHED = "MC dropout"

FEWEST_CALIBRATION_ROWS = 50
"""MAPIE needs more than 40 for 95 %, and 20 % of the rows of yacht are fewer."""


def deep_ensemble(split: Split) -> Answer:
    """See `benchmarks.quality.networks`."""
    from benchmarks.quality import networks

    return networks.deep_ensemble(split)


METHODS: dict[str, Method] = {
    **{name: rio_on(model) for name, model in RIO.items()},
    GP: plain_gp,
    "deep ensemble": deep_ensemble,
    "NGBoost": trees.ngboost_refitted,
    "CatBoost": trees.catboost_refitted,
    "quantile forest": trees.quantile_forest,
    "CQR": lambda split: trees.conformal_quantiles(split, fewest=FEWEST_CALIBRATION_ROWS),
    **{model: alone(model) for model in RIO.values()},
}
"""What is run; `PUBLISHED` is read."""

PACKAGES = {
    "deep ensemble": "torch",
    "NGBoost": "ngboost",
    "CatBoost": "catboost",
    "quantile forest": "quantile_forest",
    "CQR": "mapie.regression",
}
"""Imported before the clock is started."""

BEYOND_DATA = (*RIO, GP, "deep ensemble", "CQR")
"""Methods that gaps and tails are asked of."""


def applies(table: str, method: str) -> bool:
    """Whether a method is in a table."""
    return table == "standard" or method in BEYOND_DATA


COLUMNS = (*OURS, PUBLISHED, "deep ensemble", "NGBoost", "CatBoost", "quantile forest", "CQR")
"""Of the tables of the standard splits: all methods with error bars."""

DESCRIPTION = {
    "ET+RIO": "`RIORegressor(model)` with all defaults on 300 extremely randomised trees",
    "HGB+RIO": "the same on scikit-learn's histogram boosting as it comes",
    "NN+RIO": (
        "the same on scikit-learn's network with one hidden layer of 50 units (100 for protein), on standardised "
        "columns and outcomes, in batches of 32, until the training loss no longer falls"
    ),
    GP: '`RIORegressor(target="outcome", kernel="input")` with all other defaults: no model, a Gaussian process on y',
    PUBLISHED: (
        "RMSE and log likelihood of each split as its authors published them (Gal and Ghahramani 2016); nothing was "
        "run here"
    ),
    "deep ensemble": (
        "five networks of the same size for mean and variance, trained by likelihood (Lakshminarayanan et al. 2017, "
        "without adversarial training) on standardised outcomes by Adam, at most 1,000 epochs, stopped after 100 "
        "without improvement on 20 % of the rows, other rows for each; the best epoch counts"
    ),
    "NGBoost": (
        "natural gradient boosting of a Gaussian with its defaults; as in its paper 20 % of the rows choose, by "
        "likelihood, the number of rounds (2,000 at most, stopped after 50 without improvement), then all rows are "
        "fitted with that number"
    ),
    "CatBoost": (
        "CatBoost with the loss RMSEWithUncertainty and its other defaults; 20 % of the rows choose the number of "
        "rounds (1,000 at most, stopped after 50 without improvement), then all rows are fitted with that number"
    ),
    "quantile forest": "300 trees, otherwise the defaults of quantile-forest; no density, hence no NLPD",
    "CQR": (
        "MAPIE's conformalised quantile regression on scikit-learn's gradient boosting for each quantile; 20 % of the "
        "rows, and 50 at least, for conformalisation; RMSE is that of the median"
    ),
    "ET": "those trees alone: no error bars",
    "HGB": "that boosting alone",
    "NN": "that network alone",
}
