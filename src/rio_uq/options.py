"""The options of RIORegressor: what is allowed, and the settings of the paper."""

from __future__ import annotations

import numbers
from typing import Any

from rio_uq._base.checks import check_choice, check_count, check_finite, check_flag, to_numeric
from rio_uq.gp.inducing import METHODS
from rio_uq.gp.kernels.terms import FAMILIES
from rio_uq.gp.training import Settings

CHOICES = {
    "target": ("residual", "outcome"),
    "kernel": ("io", "input", "output"),
    "residuals": ("auto", "in-sample", "cross-fit"),
    "combine": ("refit", "average"),
    "inference": ("auto", "exact", "sparse", "svgp"),
    "starts": ("auto", "rio", "unit"),
    "prior": ("weak", "flat"),
    "noise": ("constant", "io"),
    "dtype": ("float64", "float32"),
}

PAPER_VARIANTS = {
    "RIO": ("residual", "io"),
    "R+I": ("residual", "input"),
    "R+O": ("residual", "output"),
    "Y+O": ("outcome", "output"),
    "Y+IO": ("outcome", "io"),
    "SVGP": ("outcome", "input"),
}

PAPER_SETTINGS: dict[str, Any] = {
    "input_kernel": "rbf",
    "output_kernel": "rbf",
    "residuals": "in-sample",
    "inference": "sparse",
    "n_inducing": 50,
    "inducing": "first",
    "optimize_inducing": True,
    "standardize_output": False,
    "starts": "unit",
    "prior": "flat",
    "noise": "constant",
    "max_iter": 1000,
    "tol": 2.2e-9,  # SciPy's default for L-BFGS-B
}


def check_options(params: dict[str, Any]) -> None:
    """Raise an error that names the option, what it may be, and what it was."""
    for name, known in CHOICES.items():
        check_choice(params[name], name, known)
    for name in ("input_kernel", "output_kernel"):
        if not isinstance(params[name], str):
            raise ValueError(f"{name} has to be a string such as 'rbf' or 'rbf+linear'; got {params[name]!r}")
        for family in params[name].split("+"):
            check_choice(family, f"each part of {name}", FAMILIES)
    if isinstance(params["inducing"], str):
        check_choice(params["inducing"], "inducing", METHODS)
    if isinstance(params["cv"], numbers.Integral):
        check_count(params["cv"], "cv", at_least=2)
    _check_number_of_points(params["n_inducing"], params["time_budget"])
    check_count(params["sample_rows"], "sample_rows", at_least=100)
    check_count(params["n_restarts"], "n_restarts", at_least=0)
    check_count(params["max_iter"], "max_iter", at_least=1)
    if not isinstance(params["tol"], numbers.Real) or not 0.0 < float(params["tol"]) < 1.0:
        raise ValueError(f"tol has to be a number between 0 and 1; got {params['tol']!r}")
    for name in ("ard", "optimize_inducing", "standardize_output", "low_memory"):
        check_flag(params[name], name)
    if not isinstance(params["verbose"], bool | numbers.Integral):
        raise ValueError(f"verbose has to be True or False; got {params['verbose']!r}")
    n_jobs = params["n_jobs"]
    if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ValueError(f"n_jobs has to be None, a positive number of threads, or -1 for all; got {n_jobs!r}")


def _check_number_of_points(n_inducing: Any, time_budget: Any) -> None:
    if isinstance(n_inducing, str):
        if n_inducing != "auto":
            raise ValueError(f"n_inducing has to be a whole number of at least 1, or 'auto'; got {n_inducing!r}")
    else:
        check_count(n_inducing, "n_inducing", at_least=1)
    if time_budget is None:
        return
    is_number = isinstance(time_budget, numbers.Real) and not isinstance(time_budget, bool)
    if not is_number or not 0.0 < float(time_budget) < float("inf"):
        raise ValueError(f"time_budget has to be None or a number of seconds above 0; got {time_budget!r}")
    if n_inducing != "auto":
        raise ValueError(
            f"time_budget limits how many inducing points are chosen, and n_inducing={n_inducing} says how many: set "
            "n_inducing='auto', or leave time_budget out"
        )


def training_settings(params: dict[str, Any], n_features: int, n_outputs: int) -> Settings:
    """The options that training looks at; inducing points that were given are checked against the number of columns."""
    inducing = params["inducing"]
    if not isinstance(inducing, str):
        inducing = to_numeric(inducing, "inducing")
        n_columns = n_features + n_outputs
        if inducing.ndim != 2 or inducing.shape[1] != n_columns or not len(inducing):
            raise ValueError(
                f"inducing has to have shape (m, {n_columns}): {n_features} standardised features and "
                f"{n_outputs} standardised predictions a row; got {inducing.shape}"
            )
        check_finite(inducing, "inducing", "every point needs all of its coordinates")
    return Settings(
        inference=params["inference"],
        n_inducing=None if params["n_inducing"] == "auto" else params["n_inducing"],
        time_budget=params["time_budget"],
        inducing=inducing,
        optimize_inducing=params["optimize_inducing"],
        max_iter=params["max_iter"],
        tolerance=params["tol"],
        subset_rows=None if params["starts"] == "unit" else Settings.subset_rows,
        verbose=params["verbose"],
    )
