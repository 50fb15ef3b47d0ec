"""The methods that are compared on images: the network, Gaussian processes without it, and RIO on it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from experiments.images.data import Images, Problem
from experiments.images.network import LAYER, AngleNetwork, trained
from lab.rio import regressor
from rio_uq import RIORegressor, SeenRowsWarning, metrics
from rio_uq.features import layer
from rio_uq.models import torch_model


@dataclass(frozen=True)
class Networks:
    """The networks of a run.

    Attributes
    ----------
    of_part : AngleNetwork
        Not trained on the validation images.
    of_all : AngleNetwork
        Trained on them, too.
    """

    of_part: AngleNetwork
    of_all: AngleNetwork


@dataclass(frozen=True)
class Answer:
    """Predictions of images.

    Attributes
    ----------
    mean : (n,) array
    std, unknown_std : (n,) arrays, optional
        Standard deviations with the noise, and without it: what the GP does not know. None for a method without error
        bars, as is the distribution.
    distribution : object, optional
        As `rio_uq.RIORegressor.predict_dist` returns it.
    """

    mean: np.ndarray
    std: np.ndarray | None = None
    unknown_std: np.ndarray | None = None
    distribution: Any = None


@dataclass(frozen=True)
class Fit:
    """A fitted method.

    Attributes
    ----------
    answer : function
        From images (n, 1, 28, 28) to their predictions.
    warned : bool
        Whether a warning said that error bars may be too small, since the model may have seen the rows.
    """

    answer: Callable[[np.ndarray], Answer]
    warned: bool = False


Method = Callable[[Problem, Networks, int], Fit]
"""From what a run has and a seed to a fitted method."""


def networks_of(problem: Problem, seed: int) -> Networks:
    """Train both networks."""
    part = Images(problem.train.X[~problem.validation], problem.train.y[~problem.validation])
    return Networks(trained(part, seed), trained(problem.train, seed))


def pixels(X: np.ndarray) -> np.ndarray:
    """Images as rows of numbers."""
    return X.reshape(len(X), -1)


def network_alone(*, of_all: bool = False) -> Method:
    """The network's predictions."""

    def method(problem: Problem, networks: Networks, seed: int) -> Fit:
        model = torch_model(networks.of_all if of_all else networks.of_part)
        return Fit(lambda X: Answer(model.predict(X)))

    return method


def network_with_one_error_bar(problem: Problem, networks: Networks, seed: int) -> Fit:
    """The network's predictions, all with the root mean squared error of the validation images."""
    model, validation = torch_model(networks.of_part), problem.validation
    std = metrics.rmse(problem.train.y[validation], model.predict(problem.train.X[validation]))

    def answer(X: np.ndarray) -> Answer:
        mean = model.predict(X)
        return Answer(mean, np.full(len(mean), std), np.zeros(len(mean)), stats.norm(mean, std))

    return Fit(answer)


def rio(rows: str, features: str | None, *, variant: str | None = None, **options: Any) -> Method:
    """RIO, or a Gaussian process without the network if ``target`` is "outcome".

    Parameters
    ----------
    rows : {"validation", "trained on", "told", "all"}
        The validation images; those that the network was trained on, of which nothing is said; all training images
        with a mask of the validation images; all training images, of which nothing is said.
    features : {"pixels", "layer", None}
    variant : str, optional
        Of the paper's settings.
    **options
        Of RIORegressor.
    """

    def method(problem: Problem, networks: Networks, seed: int) -> Fit:
        extract = {"pixels": pixels, "layer": layer(networks.of_part, LAYER), None: None}[features]
        model = torch_model(networks.of_part)
        settings = {"features": extract, "random_state": seed, "n_jobs": 1, **options}
        fitted = RIORegressor(model, **settings) if variant is None else regressor(model, variant=variant, **settings)
        chosen, held_out = _rows(problem, rows)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted.fit(problem.train.X[chosen], problem.train.y[chosen], held_out=held_out)
        warned = any(issubclass(warning.category, SeenRowsWarning) for warning in caught)
        return Fit(lambda X: _answer(fitted, X, is_normal=variant is not None), warned)

    return method


def _rows(problem: Problem, rows: str) -> tuple[np.ndarray, Any]:
    """The training images to be given, (n,) of bool, and what is said of them."""
    everything = np.ones_like(problem.validation)
    return {
        "validation": (problem.validation, True),
        "trained on": (~problem.validation, None),
        "told": (everything, problem.validation),
        "all": (everything, None),
    }[rows]


def _answer(fitted: RIORegressor, X: np.ndarray, *, is_normal: bool) -> Answer:
    mean, std = fitted.predict(X, return_std=True)
    _, unknown_std = fitted.predict(X, return_std=True, include_noise=False)
    return Answer(mean, std, unknown_std, stats.norm(mean, std) if is_normal else fitted.predict_dist(X))


WITHOUT_NETWORK = {"target": "outcome", "kernel": "input"}

METHODS: dict[str, Method] = {
    "network": network_alone(),
    "network, all images": network_alone(of_all=True),
    "network, one error bar": network_with_one_error_bar,
    "GP on pixels": rio("all", "pixels", **WITHOUT_NETWORK),
    "GP on layer": rio("all", "layer", **WITHOUT_NETWORK),
    "GP on layer, validation": rio("validation", "layer", **WITHOUT_NETWORK),
    "RIO, output only": rio("validation", None, kernel="output"),
    "RIO on pixels": rio("validation", "pixels"),
    "RIO on layer": rio("validation", "layer"),
    "RIO on layer, mask": rio("told", "layer"),
    "RIO on layer, as it comes": rio("trained on", "layer"),
    "paper's RIO on pixels": rio("validation", "pixels", variant="RIO"),
    "paper's RIO on layer": rio("validation", "layer", variant="RIO"),
    "paper's RIO on layer, in-sample": rio("trained on", "layer", variant="RIO"),
}

SLOWEST = ("GP on pixels", "RIO on layer, as it comes", "GP on layer", "RIO on layer, mask")
"""Fitted to thousands of images; measured after the others."""
