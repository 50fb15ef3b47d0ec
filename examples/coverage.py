"""How often intervals hold, by the law of the noise and the number of rows: python -m examples.coverage

Rows are drawn from laws that are known, so that the coverage of an interval is worked out and not counted. The model
misses a wave, and has not seen the rows. Each number is a mean over repetitions and test rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from rio_uq import RIORegressor

LEVELS = np.array([0.5, 0.68, 0.8, 0.9, 0.95, 0.99])
REPETITIONS = {30: 40, 100: 24, 1000: 3}
"""By the number of rows."""

N_TEST = 500


class Law(NamedTuple):
    """The law of outcomes.

    Attributes
    ----------
    outcome : callable
        From X (n, 2) to the frozen distribution of each outcome.
    model : callable
        From X to predictions.
    """

    outcome: Callable[[Any], Any]
    model: Callable[[Any], Any]


def truth(X: Any) -> Any:
    return X[:, 0] + np.sin(2.0 * X[:, 1])


def model(X: Any) -> Any:
    return X[:, 0]


def count(value: Any) -> Any:
    """The mean of counts, from about 3 to 30."""
    return np.exp(2.3 + 0.4 * value)


LAWS = {
    "normal": Law(lambda X: stats.norm(truth(X), 0.5), model),
    "heavy tails": Law(lambda X: stats.t(3.0, truth(X), 0.5 / np.sqrt(3.0)), model),
    "skewed": Law(lambda X: stats.expon(truth(X) - 0.5, 0.5), model),
    "counts": Law(lambda X: stats.poisson(count(truth(X))), lambda X: count(model(X))),
    "spread by row": Law(lambda X: stats.norm(truth(X), 0.2 + 0.4 * np.abs(X[:, 0])), model),
}


def coverage(law: Law, n_rows: int, seed: int) -> Any:
    """The share of outcomes that intervals of each level hold, (levels,), after one fit."""
    rng = np.random.default_rng([seed, n_rows])
    X, new = rng.normal(size=(n_rows, 2)), rng.normal(size=(N_TEST, 2))
    y = law.outcome(X).rvs(size=n_rows, random_state=rng).astype(float)
    rio = RIORegressor(random_state=seed).fit(X, y, y_pred=law.model(X), held_out=True)
    band = rio.predict_interval(new, y_pred=law.model(new), confidence_level=LEVELS)
    outcome = law.outcome(new)
    # A count at the lower end is inside, and one just below it is not.
    below = [outcome.cdf(np.nextafter(ends, -np.inf)) for ends in band[:, 0].T]
    return np.array([np.mean(outcome.cdf(ends) - under) for ends, under in zip(band[:, 1].T, below, strict=True)])


def mean_coverage(name: str, n_rows: int, repetitions: int | None = None) -> tuple[Any, Any]:
    """Means over repetitions, and their standard errors, each (levels,)."""
    runs = repetitions or REPETITIONS[n_rows]
    shares = np.array([coverage(LAWS[name], n_rows, seed) for seed in range(runs)])
    return shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=list(REPETITIONS), choices=list(REPETITIONS))
    parser.add_argument("--laws", nargs="*", default=list(LAWS), choices=list(LAWS))
    options = parser.parse_args()
    print(f"| noise | rows | {' | '.join(f'{level:.0%}' for level in LEVELS)} | largest standard error |")
    print("| --- |" + " --- |" * (len(LEVELS) + 2))
    for n_rows in options.rows:
        for name in options.laws:
            mean, error = mean_coverage(name, n_rows)
            cells = " | ".join(f"{100.0 * share:.1f}" for share in mean)
            print(f"| {name} | {n_rows:,} | {cells} | {100.0 * error.max():.1f} |", flush=True)


if __name__ == "__main__":
    main()
