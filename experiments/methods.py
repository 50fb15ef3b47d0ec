"""The methods of the paper's tables, and ours: each takes the rows of a run and answers with a prediction."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.measures import Answer
from lab.rio import fit, regressor
from lab.runs import CROSS_FITTED, Rows
from rio_uq.options import PAPER_VARIANTS

ITERATIONS = 10_000
"""Of the table with more iterations."""


Method = Callable[[Rows, int], Answer]
"""From the rows of a run and a seed to an answer."""


def base_model(rows: Rows, seed: int) -> Answer:
    """The network or the forest alone."""
    return Answer(rows.pred_test, None, None, rows.base_seconds)


def rio_method(*, use_validation: bool = False, **options: Any) -> Method:
    """RIO as a method: the paper's if ``variant`` is among the options, else our defaults.

    Parameters
    ----------
    use_validation : bool
        Tell it which training rows were the network's validation rows.
    **options
        Of `lab.rio.regressor`.
    """

    def method(rows: Rows, seed: int) -> Answer:
        rio = regressor(random_state=seed, n_jobs=1, **options)
        held_out = rows.validation if use_validation else None
        began = time.perf_counter()
        fit(rio, rows.X_train, rows.y_train, y_pred=rows.pred_train, held_out=held_out)
        seconds = time.perf_counter() - began
        mean, std = rio.predict(rows.X_test, y_pred=rows.pred_test, return_std=True)
        distribution = None if "variant" in options else rio.predict_dist(rows.X_test, y_pred=rows.pred_test)
        return Answer(mean, std, rio.noise_variance_, seconds, distribution)

    return method


def paper_methods(**options: Any) -> dict[str, Method]:
    return {variant: rio_method(variant=variant, **options) for variant in PAPER_VARIANTS}


def cross_fitted(method: Method) -> Method:
    """The method on out-of-fold predictions; the time for the networks of the folds counts as its own."""

    def with_base_seconds(rows: Rows, seed: int) -> Answer:
        answer = method(rows, seed)
        return replace(answer, seconds=answer.seconds + rows.base_seconds)

    return with_base_seconds


def plain_gp(rows: Rows, seed: int) -> Answer:
    """Our defaults without the network: the input kernel alone, on the outcomes."""
    method = rio_method(target="outcome", kernel="input")
    nothing = replace(rows, pred_train=np.zeros(len(rows.y_train)), pred_test=np.zeros(len(rows.y_test)))
    return method(nothing, seed)


def nngp(rows: Rows, seed: int) -> Answer:
    """See `experiments.nngp`."""
    from experiments import nngp

    return nngp.nngp(rows, seed)


def anp(rows: Rows, seed: int) -> Answer:
    """See `experiments.anp`."""
    from experiments import anp

    return anp.anp(rows, seed)


SMALLEST = ("yacht", "ENB/h", "ENB/c", "airfoil")
"""The data sets on which the paper tries NNGP and ANP."""

LINEAR = {"output_kernel": "rbf+linear", "training": {"starts": "auto", "standardize_output": True}}
ARD = {"input_kernel": "matern52", "ard": True}
NORMAL = {"noise": "constant", "distribution": "normal", "scale": "identity"}
UNGUARDED = {"training": {"guard": False, "average": False}}

STEPS: dict[str, Method] = {
    "closed form, logarithms": rio_method(variant="RIO"),
    "linear output kernel, starts": rio_method(variant="RIO", **LINEAR),
    "Matérn, ARD": rio_method(variant="RIO", **LINEAR, **ARD),
    "exact or near rows": rio_method(**NORMAL, **UNGUARDED),
    "noise and shape": rio_method(**UNGUARDED),
    "cross-fitting": cross_fitted(rio_method(**UNGUARDED)),
    "left-out rows decide": cross_fitted(rio_method()),
}
"""From the paper's RIO to our defaults on cross-fitted residuals; each step keeps those before it."""

ON_FOLDS = ("ours+crossfit", "RIO+crossfit", "cross-fitting", "left-out rows decide")
"""Methods with five networks, whose mean predicts."""

TABLES: dict[str, dict[str, Method]] = {
    "default": {"NN": base_model, **paper_methods(), "NNGP": nngp, "ANP": anp},
    "ard": {"NN": base_model, **paper_methods(ard=True)},
    "iterations": {"NN": base_model, **paper_methods(max_iter=ITERATIONS)},
    "random-forest": {"RF": base_model, **paper_methods(), "ours": rio_method()},
    "ours": {
        "NN": base_model,
        "GP": plain_gp,
        "ours": rio_method(use_validation=True),
        "RIO+crossfit": cross_fitted(rio_method(variant="RIO")),
        "ours+residuals of folds": cross_fitted(rio_method()),
        "ours+crossfit": cross_fitted(rio_method()),
    },
    "gain": STEPS,
}


def applies(method: str, dataset: str) -> bool:
    """Whether a method is tried on a data set."""
    return method not in ("NNGP", "ANP") or dataset in SMALLEST


def base_model_of(table: str, dataset: str, method: str) -> str:
    """The kind of base model under a method, see `lab.runs.rows_of`."""
    if method in ON_FOLDS:
        return "folds"
    if method == "ours+residuals of folds":
        return CROSS_FITTED
    if (table, dataset) == ("ard", "MSD"):
        return "two-layer network"
    return "forest" if table == "random-forest" else "network"
