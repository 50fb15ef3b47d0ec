"""Targets of error bars by the defaults, and whether they are reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.defaults.measures import PEERS
from benchmarks.defaults.statistics import (
    FIT,
    TOLERANCE,
    deviations,
    duels,
    harmed,
    memorised,
    of_rio,
    since,
    with_ratio,
)
from lab.significance import SIGNIFICANCE

MATTERS = 1.1
"""A model memorises if residuals of unseen rows are this much larger than those of rows that it has seen."""

UNSEEN = ("out-of-fold", "out-of-bag")
RIGHT = {"seen": UNSEEN, "half": UNSEEN, "new": ("in-sample",)}
"""Residuals that are right in each case."""

FEW_COPIES = 0.01
"""Share of new rows that may be copies of training rows, and all of them count as new."""

MANY_TEST_ROWS = 1000

LOST = {"rmse": np.log(1.01), "nlpd": 0.01}
"""Logarithm of a ratio to the version before, and a difference to it, that count as lost."""


class Target(NamedTuple):
    what: str
    target: str
    reached: str
    is_reached: bool


def decisions(rows: pd.DataFrame) -> pd.DataFrame:
    """Fits where it matters which residuals are taken, and whether they are right, and safe: those of unseen rows.

    Where one new row in a hundred or more has a copy among the training rows, residuals of either kind are right.
    """
    fits = memorised(rows)
    fits = fits[fits["memorised"] >= MATTERS]
    is_right = [kind in RIGHT[case] for kind, case in zip(fits["kind"], fits["table"], strict=True)]
    is_right = np.array(is_right, dtype=bool) | ((fits["table"] == "new") & (fits["copies"] >= FEW_COPIES * fits["n"]))
    is_safe = fits["kind"].isin(UNSEEN) | (fits["table"] == "new")
    return fits.assign(right=is_right, safe=is_safe)


def targets(rows: pd.DataFrame, before: pd.DataFrame | None) -> Iterator[Target]:
    """Each target with what the stored rows say; without what they say nothing about."""
    rio = of_rio(rows)
    mean = deviations(rio).mean()
    for levels, most in ((("90", "95", "99"), 1.0), (("50", "68", "80"), 2.5)):
        values = [mean[f"coverage_{level}"] for level in levels]
        what = f"mean of coverage less its level at {', '.join(levels)} %, in points"
        yield Target(what, f"± {most:g}", _signed(values), bool(np.abs(values).max() <= most))
    yield from _each_dataset(rio)
    if "CV+" in set(rows["table"]):
        decided = decisions(rows)
        share = decided["right"].mean() if len(decided) else 1.0
        reached = f"{100 * share:.1f} % of {len(decided)} fits"
        yield Target("right residuals, where it matters", "99 %", reached, bool(share >= 0.99))
    for peer in PEERS:
        duel = duels(rows, peer)
        if len(duel := duel[duel["same_model"]]):
            share = (duel["ratio"] < 0.0).mean()
            reached = f"{100 * share:.1f} % of {len(duel)} pairs"
            what = f"better score than MAPIE's {peer} with the same model, seen rows"
            yield Target(what, "90 %", reached, bool(share >= 0.9))
    if before is not None and len(change := since(rio, before)):
        ratio = float(np.exp(change["crps"].mean()))
        yield Target(
            "CRPS over that of the version before", "1.000", f"{ratio:.3f} ({len(change)} fits)", ratio < 1.0005
        )
        lost = lost_datasets(change)
        what = "data sets with an RMSE 1 % or an NLPD 0.01 above that of the version before, by two standard errors"
        reached = f"{len(lost)} of {change['dataset'].nunique()}" + (f" ({', '.join(lost)})" if lost else "")
        yield Target(what, "0", reached, not lost)
    ratio = with_ratio(rio).groupby(FIT)["ratio"].mean().mean()
    reached = f"{np.exp(ratio):.3f}"
    yield Target("RMSE of RIO over that of the model, geometric mean", "1.005", reached, bool(ratio <= TOLERANCE))
    if len(tested := harmed(rows)):
        n_harmed = int((tested["p"] < SIGNIFICANCE).sum())
        reached = f"{n_harmed} of {len(tested)}"
        yield Target("pairs whose RMSE ratio is above 1.005, by the test below", "0", reached, n_harmed == 0)


def _each_dataset(rio: pd.DataFrame) -> Iterator[Target]:
    large = rio[rio["n_test"] >= MANY_TEST_ROWS]
    if not len(large):
        return
    points = deviations(large)
    means = points.groupby("dataset", sort=False).mean()
    for level, most in (("68", 4.0), ("90", 3.0), ("95", 3.0)):
        values = means[f"coverage_{level}"]
        worst = values.abs().idxmax()
        what = f"the same at {level} %, the worst of {len(means)} data sets of {MANY_TEST_ROWS:,} test rows or more"
        yield Target(what, f"± {most:g}", f"{values[worst]:+.1f} ({worst})", bool(abs(values[worst]) <= most))


def lost_datasets(change: pd.DataFrame) -> list[str]:
    """Data sets on which more than `LOST` was lost since the version before, beyond two standard errors."""
    by_dataset = change.groupby("dataset", sort=False)[list(LOST)]
    beyond = by_dataset.mean() - 2.0 * by_dataset.sem() > pd.Series(LOST)
    return list(beyond.index[beyond.any(axis=1)])


def _signed(values: list[float]) -> str:
    return ", ".join(f"{value:+.1f}" for value in values)
