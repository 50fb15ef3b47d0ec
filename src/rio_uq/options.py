"""The options of RIORegressor: their values, checked, and the settings of the paper."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from rio_uq._base.checks import check_choice, check_count, check_finite, check_flag, to_numeric
from rio_uq.gp.inducing import METHODS
from rio_uq.gp.inference import INFERENCES
from rio_uq.gp.kernels.terms import FAMILIES
from rio_uq.gp.noise import NOISES
from rio_uq.gp.roughness import AUTO
from rio_uq.gp.settings import Settings
from rio_uq.scales.named import NAMES

CHOICES = {
    "target": ("residual", "outcome"),
    "kernel": ("io", "input", "output"),
    "residuals": ("auto", "in-sample", "cross-fit"),
    "combine": ("auto", "refit", "average"),
    "inference": ("auto", *INFERENCES),
    "noise": tuple(NOISES),
    "distribution": ("auto", "normal", "student"),
    "weights": ("relative", "counts"),
}
TRAINING_CHOICES = {
    "starts": ("auto", "rio", "unit"),
    "prior": ("weak", "flat"),
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


class Training(BaseEstimator):
    """How the GP is trained: options that few users need, for ``RIORegressor(training=...)``.

    A dict of them will do as well. `sklearn.model_selection.GridSearchCV` finds them as ``training__starts`` and so on.

    Parameters
    ----------
    starts : {"auto", "rio", "unit"}
        Where the optimiser starts. "auto" tries two starts, one that believes in the model and one that does not, and
        keeps the better optimum; "rio" is the first of them; "unit" has all hyperparameters at one.
    n_restarts : int
        Random starts in addition.
    prior : {"weak", "flat"}
        On lengthscales, variances and noise. "weak" settles what the data leave open, which with few rows and many
        features keeps the GP from memorising; "flat" maximises the likelihood alone.
    inducing : {"greedy", "kmeans", "random", "first"} or array of shape (m, d + p)
        How inducing points are chosen, or the points themselves as rows of standardised features and predictions.
    optimize_inducing : bool
        Whether they move with the hyperparameters.
    n_neighbors : int or "auto"
        Training rows that each row is predicted from in ``inference="nearest"``, the nearest ones. Time grows with up
        to their third power. "auto" takes 50, or 100 where these predict left-out rows clearly better.
    time_budget : float or None
        Seconds that `fit` may take by the clock, from its beginning on; None for as long as it takes. When they are
        used up, searches for hyperparameters stop at the best ones so far (``converged_`` is False then, and a warning
        says why), and what would not be done in time is left out: the choice of a scale of outcomes, a Student
        likelihood, a plain GP without the model, noise that varies, GPs without each fold, the average over
        hyperparameters, and above 2,000 rows the comparison of nearest rows with a sparse GP, which is taken then. The
        GP is valid in any case, but the same data need not give the same one twice. Fits and predictions of the model
        count, but cannot be cut short, and neither can the least work that a GP takes: features, an evaluation of its
        likelihood in each search and one posterior, which with thousands of rows take seconds, and for rows in parts a
        pass over all of them. With ``n_inducing="auto"`` no more points are chosen than one thread of an ordinary
        processor has the time for, by an estimate.
    standardize_output : bool
        Whether the GP works on standardised residuals and predictions; features are standardised always.
    sample_rows : int
        Rows that hyperparameters, inducing points and noise are learnt from, drawn at random, where X is not in memory
        and has more of them.
    guard : bool
        Whether corrections are shrunk, down to none, to what left-out rows support, and error bars made for what is
        then predicted. In exact inference rows are left out by folds, and a GP is trained for each of them; a plain GP
        on the outcomes takes over where it is clearly better there.
    average : bool
        Whether a guarded exact GP of up to 200 rows, and some 25 features, predicts by the average over hyperparameters
        that so few rows leave open, not by the likeliest ones alone. A prediction then costs up to 25 times as much,
        and an ONNX graph is as much larger, which is still little.
    dtype : {"float64", "float32"}
        Precision of the work on rows in sparse inference; "float32" is faster and less exact.
    low_memory : bool
        Recompute kernel matrices instead of keeping them: sparse inference in memory that does not grow with the rows.

    Examples
    --------
    >>> from rio_uq import RIORegressor, Training
    >>> RIORegressor(training=Training(starts="rio")).get_params()["training__starts"]
    'rio'
    """

    def __init__(
        self,
        *,
        starts: str = "auto",
        n_restarts: int = 0,
        prior: str = "weak",
        inducing: Any = "greedy",
        optimize_inducing: bool = False,
        n_neighbors: int | str = "auto",
        time_budget: float | None = None,
        standardize_output: bool = True,
        sample_rows: int = 20_000,
        guard: bool = True,
        average: bool = True,
        dtype: str = "float64",
        low_memory: bool = False,
    ) -> None:
        self.starts = starts
        self.n_restarts = n_restarts
        self.prior = prior
        self.inducing = inducing
        self.optimize_inducing = optimize_inducing
        self.n_neighbors = n_neighbors
        self.time_budget = time_budget
        self.standardize_output = standardize_output
        self.sample_rows = sample_rows
        self.guard = guard
        self.average = average
        self.dtype = dtype
        self.low_memory = low_memory

    @classmethod
    def of(cls, training: Any) -> Training:
        """From the option ``training``: None, a dict or a Training."""
        if isinstance(training, Training):
            return training
        if training is None:
            return cls()
        if not isinstance(training, Mapping):
            raise TypeError(f"training has to be None, a Training or a dict of its options; got {training!r}")
        names = list(cls().get_params())
        for name in training:
            check_choice(name, "each option in training", names)
        return cls(**training)


PAPER_SETTINGS: dict[str, Any] = {
    "input_kernel": "rbf",
    "output_kernel": "rbf",
    "residuals": "in-sample",
    "inference": "sparse",
    "n_inducing": 50,
    "noise": "constant",
    "distribution": "normal",
    "scale": "identity",
    "weights": "counts",
    "max_iter": 1000,
    "tol": 2.2e-9,  # SciPy's default for L-BFGS-B
}
PAPER_TRAINING: dict[str, Any] = {
    "starts": "unit",
    "prior": "flat",
    "inducing": "first",
    "optimize_inducing": True,
    "standardize_output": False,
    "guard": False,
    "average": False,
}


def paper_parameters(variant: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of RIORegressor in the paper's settings; further options take precedence."""
    check_choice(variant, "variant", PAPER_VARIANTS)
    for name in {"target", "kernel"} & set(options):
        raise ValueError(f"{name} follows from the variant: choose one of {', '.join(PAPER_VARIANTS)} instead")
    target, kernel = PAPER_VARIANTS[variant]
    training = options.get("training")
    if training is None or isinstance(training, Mapping):
        training = Training.of({**PAPER_TRAINING, **(training or {})})
    return {**PAPER_SETTINGS, **options, "target": target, "kernel": kernel, "training": training}


class OptionError(ValueError):
    """An option that does not go with the rows, whose values are not to blame."""


@dataclass(frozen=True)
class Options:
    """The parameters of a RIORegressor, checked; see there. And those of the model's own ``fit``, given to `fit`."""

    estimator: Any
    target: str
    kernel: str
    input_kernel: str
    output_kernel: str
    ard: bool
    features: Any
    residuals: str
    cv: Any
    combine: str
    inference: str
    n_inducing: int | str
    noise: str
    distribution: str
    scale: Any
    bounds: Any
    weights: str
    max_iter: int
    tol: float
    training: Training
    n_jobs: int | None
    random_state: Any
    verbose: bool
    fit_params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Options:
        """From parameters by name; a ValueError or TypeError says what an option may be, and what it was."""
        options = cls(**{**parameters, "training": Training.of(parameters["training"])})
        options._check()
        return replace(options, ard=bool(options.ard))  # NumPy's bool has no form in a file

    @classmethod
    def names(cls) -> list[str]:
        return [entry.name for entry in fields(cls) if entry.name != "fit_params"]

    @property
    def is_residual(self) -> bool:
        """Whether the GP is fitted to residuals, not outcomes."""
        return self.target == "residual"

    @property
    def outcome_bounds(self) -> tuple[float, float]:
        """Of outcomes, infinite where there are none."""
        lower, upper = (None, None) if self.bounds is None else self.bounds
        return -np.inf if lower is None else float(lower), np.inf if upper is None else float(upper)

    def new_seed(self) -> int:
        """A seed from ``random_state``."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def new_rng(self) -> np.random.Generator:
        return np.random.default_rng(self.new_seed())

    def _check(self) -> None:
        for name, choices in CHOICES.items():
            check_choice(getattr(self, name), name, choices)
        for name in ("input_kernel", "output_kernel"):
            families = getattr(self, name)
            if not isinstance(families, str):
                raise ValueError(f"{name} has to be a string such as 'rbf' or 'rbf+linear'; got {families!r}")
            for family in () if (name, families) == ("input_kernel", AUTO) else families.split("+"):
                check_choice(family, f"each part of {name}", FAMILIES)
        _check_scale(self.scale)
        _check_bounds(self.bounds)
        if isinstance(self.cv, numbers.Integral):
            check_count(self.cv, "cv", at_least=2)
        check_count(self.max_iter, "max_iter", at_least=1)
        if not isinstance(self.tol, numbers.Real) or not 0.0 < float(self.tol) < 1.0:
            raise ValueError(f"tol has to be a number between 0 and 1; got {self.tol!r}")
        check_flag(self.ard, "ard")
        if not isinstance(self.verbose, bool | numbers.Integral):
            raise ValueError(f"verbose has to be True or False; got {self.verbose!r}")
        n_jobs: Any = self.n_jobs
        if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
            raise ValueError(f"n_jobs has to be None, a positive number of threads, or -1 for all; got {n_jobs!r}")
        _check_training(self.training)
        _check_number_of_points(self.n_inducing, self.training.time_budget)


def _check_scale(scale: Any) -> None:
    if isinstance(scale, str):
        check_choice(scale, "scale", ("auto", *NAMES))
    elif not (hasattr(scale, "transform") and hasattr(scale, "inverse_transform")):
        names = ", ".join(map(repr, ("auto", *NAMES)))
        raise TypeError(f"scale has to be one of {names}, or a transformer with inverse_transform; got {scale!r}")


def _check_bounds(bounds: Any) -> None:
    if bounds is None:
        return
    is_pair = isinstance(bounds, tuple | list) and len(bounds) == 2 and all(map(_is_end, bounds))
    if not is_pair:
        raise ValueError(f"bounds has to be a pair such as (0, None) or (0, 1), or None; got {bounds!r}")
    lower, upper = bounds
    if lower is not None and upper is not None and not lower < upper:
        raise ValueError(f"the first of bounds has to be less than the second; got {bounds!r}")


def _is_end(value: Any) -> bool:
    return value is None or (isinstance(value, numbers.Real) and not np.isnan(float(value)))


def _check_training(training: Training) -> None:
    for name, choices in TRAINING_CHOICES.items():
        check_choice(getattr(training, name), name, choices)
    if isinstance(training.inducing, str):
        check_choice(training.inducing, "inducing", METHODS)
    check_count(training.sample_rows, "sample_rows", at_least=100)
    _check_count_or_auto(training.n_neighbors, "n_neighbors")
    check_count(training.n_restarts, "n_restarts", at_least=0)
    for name in ("optimize_inducing", "standardize_output", "low_memory", "guard", "average"):
        check_flag(getattr(training, name), name)


def _check_number_of_points(n_inducing: Any, time_budget: Any) -> None:
    _check_count_or_auto(n_inducing, "n_inducing")
    if time_budget is None:
        return
    is_number = isinstance(time_budget, numbers.Real) and not isinstance(time_budget, bool)
    if not is_number or not 0.0 < float(time_budget) < float("inf"):
        raise ValueError(f"time_budget has to be None or a number of seconds above 0; got {time_budget!r}")


def _check_count_or_auto(value: Any, name: str) -> None:
    if not isinstance(value, str):
        check_count(value, name, at_least=1)
    elif value != "auto":
        raise ValueError(f"{name} has to be a whole number of at least 1, or 'auto'; got {value!r}")


def _count_or_none(value: int | str) -> int | None:
    return None if isinstance(value, str) else value


def training_settings(options: Options, n_features: int, n_predictions: int) -> Settings:
    """The options that training looks at; inducing points that were given are checked against the number of columns."""
    training = options.training
    inducing = training.inducing
    if not isinstance(inducing, str):
        inducing = to_numeric(inducing, "inducing")
        n_columns = n_features + n_predictions
        if inducing.ndim != 2 or inducing.shape[1] != n_columns or not len(inducing):
            raise OptionError(
                f"inducing has to have shape (m, {n_columns}): {n_features} standardised features and "
                f"{n_predictions} standardised predictions a row; got {inducing.shape}"
            )
        check_finite(inducing, "inducing", "every point needs all of its coordinates")
    return Settings(
        inference=options.inference,
        n_inducing=_count_or_none(options.n_inducing),
        n_neighbors=_count_or_none(training.n_neighbors),
        time_budget=training.time_budget,
        inducing=inducing,
        optimize_inducing=training.optimize_inducing,
        max_iter=options.max_iter,
        tolerance=options.tol,
        subset_rows=None if training.starts == "unit" else Settings.subset_rows,
        verbose=options.verbose,
    )
