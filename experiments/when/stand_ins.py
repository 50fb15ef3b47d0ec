"""Generated tables of the shapes of two wide UCI sets, superconductivity (SC) and CT slices; none of their rows."""

from __future__ import annotations

import numpy as np

from experiments.when.problem import N_TEST, Problem, Rows, extra_trees, ridge
from experiments.when.tables import WIDE_TREES, generator

ELEMENTS, PROPERTIES, MOST_PARTS = 20, 8, 6
SC_COLUMNS, SC_NOISE = 81, 5.0
CT_COLUMNS, CT_NOISE = 384, 0.5
TABLE_SEED = 0
"""Of what all repetitions share: the properties of elements, the places of bins."""


def superconductivity(n: int, run: int) -> Problem:
    """Ten statistics of each of eight properties of a compound's elements, and their number, as in SC.

    The outcome is that of families: compounds with the elements 0 and 1 have high ones that depend on their shares,
    those with 2 middling ones, all others low ones that follow a property smoothly.
    """
    rng = generator("like SC", n, run)
    properties = np.random.default_rng(TABLE_SEED).lognormal(0.0, 0.7, (ELEMENTS, PROPERTIES))
    train, test = (_compounds(n_rows, properties, rng) for n_rows in (n, N_TEST))
    return Problem(train, {float(SC_COLUMNS): test}, (extra_trees(**WIDE_TREES), ridge()))


def _compounds(n_rows: int, properties: np.ndarray, rng: np.random.Generator) -> Rows:
    X, y = np.empty((n_rows, SC_COLUMNS)), np.empty(n_rows)
    for i in range(n_rows):
        parts = rng.choice(ELEMENTS, rng.integers(2, MOST_PARTS + 1), replace=False)
        if rng.random() < 0.3:
            parts = np.union1d(parts, [0, 1])
        shares = rng.dirichlet(np.full(len(parts), 2.0))
        X[i] = np.r_[len(parts), statistics(properties[parts], shares).ravel()]
        y[i] = temperature(parts, shares, properties)
    return Rows(X, y + SC_NOISE * rng.normal(size=n_rows))


def statistics(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Means, geometric means, entropies, ranges and standard deviations, each plain and weighted.

    Parameters
    ----------
    values : (p, k) array
        Properties of the parts of a compound, above zero.
    shares : (p,) array
        They add up to one.

    Returns
    -------
    statistics : (10, k) array
    """
    even = np.full(len(shares), 1.0 / len(shares))
    lines = []
    for weights in (even, shares):
        mean = weights @ values
        amounts = weights[:, None] * values / mean
        spread = weights[:, None] * values * len(shares)
        lines += [
            mean,
            np.exp(weights @ np.log(values)),
            -np.sum(amounts * np.log(amounts), axis=0),
            np.ptp(spread, axis=0),
            np.sqrt(weights @ (values - mean) ** 2),
        ]
    return np.array(lines)


def temperature(parts: np.ndarray, shares: np.ndarray, properties: np.ndarray) -> float:
    """The truth of a compound, in kelvin."""
    share = dict(zip(parts.tolist(), shares.tolist(), strict=True))
    if 0 in share and 1 in share:
        return 90.0 - 150.0 * (share[0] - 0.3) ** 2 - 40.0 * share[1]
    base = 5.0 + 4.0 * float(shares @ np.log1p(properties[parts, 0]))
    return base + 25.0 * (2 in share)


def slices(n: int, run: int) -> Problem:
    """Bins of a polar histogram of a slice through a body, most of them empty at most heights, as in CT.

    The outcome is the height of the slice, from 0 to 100. Bins fill around heights of their own; bodies differ in
    size, and bins are clipped at zero.
    """
    rng = generator("like CT", n, run)
    shared = np.random.default_rng(TABLE_SEED)
    centres, widths = shared.uniform(0.0, 100.0, CT_COLUMNS), shared.uniform(3.0, 20.0, CT_COLUMNS)
    train, test = (_bodies(n_rows, centres, widths, rng) for n_rows in (n, N_TEST))
    return Problem(train, {float(CT_COLUMNS): test}, (extra_trees(**WIDE_TREES), ridge()))


def _bodies(n_rows: int, centres: np.ndarray, widths: np.ndarray, rng: np.random.Generator) -> Rows:
    height = rng.uniform(0.0, 100.0, n_rows)
    size = rng.lognormal(0.0, 0.2, (n_rows, 1))
    filled = size * np.exp(-0.5 * ((height[:, None] - centres) / widths) ** 2)
    X = np.maximum(0.0, filled + 0.2 * rng.normal(size=filled.shape) - 0.3)
    return Rows(X, height + CT_NOISE * rng.normal(size=n_rows))
