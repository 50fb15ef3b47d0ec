"""RIO on a network that has found the structure of its data, and on one that has made up its own.

An illustration on made data. Both networks are asked about the same function of one input, and RIO gets the same rows,
too few to show the function by themselves. The good network was trained on many rows. The bad one was trained on a few
noisy rows, each of them many times: early stopping, whose held-out rows are copies of the others, lets it memorise
their noise. The seed is one of six that were tried, picked for its clarity: the bad case had the
larger mean std in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from experiments.figures.style import OUTCOME_COLOUR, colour_of, new_figure, styled
from lab.base_models import train_network
from lab.rio import fit, regressor

SEED = 5
NOISE, NOISE_BAD = 0.1, 0.5
N_GOOD, N_BAD, N_COPIES, N_RIO = 3000, 30, 40, 40
HIDDEN_GOOD, HIDDEN_BAD = (128, 128), (128, 128, 128)
INTERVAL = 1.96
TRUTH_COLOUR = "#D55E00"


@dataclass(frozen=True)
class Case:
    """A network and RIO on it, on a grid of the input.

    Attributes
    ----------
    title : str
    rows : (n, 2) array
        Input and outcome of the rows that RIO was fitted to.
    grid, truth, network, mean, std : (m,) arrays
    """

    title: str
    rows: np.ndarray
    grid: np.ndarray
    truth: np.ndarray
    network: np.ndarray
    mean: np.ndarray
    std: np.ndarray


def true_function(x: np.ndarray) -> np.ndarray:
    """Two waves on a slope."""
    return np.sin(9.0 * np.pi * x) + 0.5 * np.sin(14.0 * np.pi * x) + x


def sample(n: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = rng.uniform(size=n)
    return x[:, None], true_function(x) + noise * rng.normal(size=n)


def cases(seed: int = SEED) -> tuple[Case, Case]:
    """The good and the bad network, each with RIO."""
    rng = np.random.default_rng(seed)
    X, y = sample(N_RIO, NOISE, rng)
    X_good, y_good = sample(N_GOOD, NOISE, rng)
    X_bad, y_bad = sample(N_BAD, NOISE_BAD, rng)
    good = train_network(X_good, y_good, HIDDEN_GOOD, seed)
    bad = train_network(np.tile(X_bad, (N_COPIES, 1)), np.tile(y_bad, N_COPIES), HIDDEN_BAD, seed)
    grid = np.linspace(0.0, 1.0, 400)
    panels = []
    for title, network in (
        ("Good network: residuals have low variance", good),
        ("Bad network: residuals modelled with high uncertainty", bad),
    ):
        rio = fit(regressor(network, variant="RIO", random_state=seed), X, y)
        mean, std = rio.predict(grid[:, None], return_std=True)
        rows = np.column_stack([X, y])
        panels.append(Case(title, rows, grid, true_function(grid), network.predict(grid[:, None]), mean, std))
    return panels[0], panels[1]


@styled
def draw_good_bad(both: tuple[Case, Case]) -> Figure:
    """A panel for each case: truth, rows, the network's prediction, RIO with its 95 % band."""
    figure = new_figure(
        (10.0, 4.6),
        "RIO on a network that has found the structure, and on one with unnecessary complexity",
        "Made data: the same function and rows in both panels. The band is where RIO expects 95 % of outcomes.",
    )
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    blue = colour_of("RIO")
    for case, axis in zip(both, axes, strict=True):
        low, high = case.mean - INTERVAL * case.std, case.mean + INTERVAL * case.std
        axis.fill_between(case.grid, low, high, color=blue, alpha=0.25, linewidth=0, label="RIO, 95 % band")
        axis.plot(case.grid, case.network, color=colour_of("NN"), linewidth=3.0, label="network")
        axis.plot(case.grid, case.mean, color=blue, linewidth=1.5, label="RIO, mean")
        axis.plot(case.grid, case.truth, color=TRUTH_COLOUR, linewidth=1.5, linestyle="--", label="truth")
        axis.plot(*case.rows.T, "o", mfc=OUTCOME_COLOUR, mec="black", markersize=4.5, label="rows")
        axis.set(title=case.title, xlabel="input")
    axes[0].set_ylabel("outcome")
    axes[0].legend(loc="upper left", ncols=2)
    return figure
