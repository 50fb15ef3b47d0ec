"""The protocol and each method in words; the order is that of the page's tables."""

from __future__ import annotations

INTRODUCTION = """# Quality beside other methods

Written by `python -m benchmarks.quality page` from rows that `python -m benchmarks.quality run` measured, in the
environment of `requirements.txt`.

- Data: the UCI data sets of the RIO paper. Each run is a random split of 80 % for training and 20 % for testing,
  the same for all methods; the number of the run is the seed of everything.
- The wine data sets hold many rows more than once (240 of 1,599 and 937 of 4,898): a copy of a test row among the
  training rows rewards whoever remembers. They are shown as they are and, with a star, without copies.
- Each method has one setting for all data sets: its own defaults or what its documentation or paper recommends, as
  listed below; nothing is searched for on a data set. Whoever stops early holds out rows of the training part. Two
  choices were not made blindly. Our defaults were settled by measurements on splits of these same data sets. The
  networks with error bars of their own wait for 100 epochs instead of 30 since a look at the test rows of one run of
  yacht, ENB/h, airfoil and CCS, where that made them better.
- Error bars: NLPD is the mean negative log density of the test outcomes, CRPS the continuous ranked probability
  score, coverage the share of test outcomes inside an interval, width its mean width. RMSE, CRPS and widths are in
  the units of y.
- Seconds are those of all the work from training rows to predictions, base models included, on one thread of a
  machine that others used too: only their order of magnitude means something.
"""

DESCRIPTION = {
    "NN": (
        "the paper's network (two hidden layers of 64, RMSprop, mean squared error, stopped early on 20 % of the "
        "rows) with the mean squared residual of its validation rows as constant variance"
    ),
    "NN+RIO paper": "RIO on that network in the paper's settings: `RIORegressor.paper`",
    "NN+RIO": "RIO on that network with our defaults; it is told which rows were the network's validation rows",
    "NN+RIO cross-fit": (
        "our defaults on out-of-fold residuals of five such networks, whose mean is the base prediction"
    ),
    "NN+RIO cross-fit constant noise": 'the same with `noise="constant"`; in the section on noise only',
    "NN+RIO scaled": (
        "the same without 20 % of the training rows, on which all variances are then calibrated by one factor"
    ),
    "NN+RIO conformal": "the same with conformal calibration on those rows; intervals only",
    "NN+MAPIE": (
        "MAPIE's split conformal intervals around the network, from absolute residuals of its validation rows; "
        "intervals only"
    ),
    "NN+Laplace": (
        "Laplace's method on the last layer of the network; prior precision and noise variance make its "
        "validation rows most likely"
    ),
    "deep ensemble": (
        "five networks of the same size for mean and variance, trained by likelihood (Lakshminarayanan et al. "
        "2017, without adversarial training) on standardised outcomes by Adam, at most 1,000 epochs, stopped "
        "after 100 without improvement on 20 % of the rows, other rows for each; the best epoch counts, and the "
        "Gaussian of the mixture's moments"
    ),
    "MC dropout": (
        "a network of the same size, trained likewise by squared error with dropout of 5 % before each layer, "
        "100 draws (Gal and Ghahramani 2016); the noise variance makes its validation rows most likely"
    ),
    "ET": "300 extremely randomised trees, alone: no error bars",
    "ET+RIO": 'RIO with our defaults on out-of-fold residuals of those: `RIORegressor(model, residuals="cross-fit")`',
    "GB": "scikit-learn's gradient boosting with its defaults, alone: no error bars",
    "GB+RIO": "RIO with our defaults on out-of-fold residuals of that",
    "CatBoost": (
        "CatBoost with its defaults (1,000 rounds at most, stopped after 50 without improvement on 20 % of the "
        "rows), alone: no error bars"
    ),
    "CatBoost+RIO": "RIO with our defaults on out-of-fold residuals of that",
    "CatBoost uncertainty": "the same with the loss RMSEWithUncertainty, as it comes",
    "CatBoost scaled": (
        "the same with all variances times one factor, which makes the rows that it was stopped on most likely"
    ),
    "NGBoost": (
        "natural gradient boosting of a Gaussian with its defaults (500 rounds at most, stopped after 50 without "
        "improvement on 20 % of the rows; the best round counts)"
    ),
    "quantile forest": (
        "300 trees, otherwise the defaults of quantile-forest; RMSE is that of the forest's mean; quantiles only"
    ),
    "MAPIE CQR": (
        "MAPIE's conformalised quantile regression on scikit-learn's gradient boosting for each quantile; 20 % "
        "of the rows for conformalisation; RMSE is that of the median; intervals only"
    ),
    "GP": 'no model: `RIORegressor(target="outcome", kernel="input")` with our defaults, a Gaussian process on y',
}

NOTES = """
Methods that give intervals or quantiles only have no density, hence no NLPD. Their CRPS is twice the integral of
the pinball loss over 21 quantiles, which for a Gaussian comes out 1 % too small at most. The outcomes of the wine
data are whole numbers, which quantiles of training outcomes can meet exactly and Gaussians cannot.

Pairs of methods are compared on a data set by the t-test on differences over runs, with the variance corrected for
the overlap of training rows (Nadeau and Bengio 2003), and over data sets by Friedman's and Nemenyi's tests on ranks
(Demšar 2006). ENB/h and ENB/c share their inputs, so the data sets are not quite independent.
"""
