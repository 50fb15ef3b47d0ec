"""How good predictions and their error bars are: plain functions of ``(y_true, mean, std)``.

Mean and std are those of normal distributions. Where distributions are not normal, `nlpd`, `crps`, `coverage`,
`coverage_curve`, `miscalibration_area` and `interval_width` take one object in place of both: ``nlpd(y_true,
rio.predict_dist(X))``.

Smaller is better, but for `coverage` (nearest to its level is best) and `improvement_ratio`. All of them average
over rows and over outputs. `scorer` makes a scikit-learn scorer of those that give one number.

Examples
--------
>>> import numpy as np
>>> from rio_uq import metrics
>>> y_true, mean, std = np.array([1.0, 2.0, 3.0]), np.array([1.1, 2.0, 2.7]), np.array([0.1, 0.2, 0.2])
>>> round(metrics.nlpd(y_true, mean, std), 3)
-0.38
>>> round(metrics.coverage(y_true, mean, std, confidence_level=0.95), 3)
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.metrics import mean_absolute_error, root_mean_squared_error
from sklearn.pipeline import Pipeline

from rio_uq._base.array import Array
from rio_uq._base.checks import check_finite, check_levels, to_numeric

LEVELS = np.arange(1, 100) / 100
"""The confidence levels 1 %, 2 %, … 99 %."""


def rmse(y_true: ArrayLike, mean: ArrayLike, std: ArrayLike | None = None) -> float:
    """Root mean squared error of the mean; ``std`` is not looked at."""
    return float(root_mean_squared_error(*_arrays(y_true, mean)))


def mae(y_true: ArrayLike, mean: ArrayLike, std: ArrayLike | None = None) -> float:
    """Mean absolute error of the mean; ``std`` is not looked at."""
    return float(mean_absolute_error(*_arrays(y_true, mean)))


def nlpd(y_true: ArrayLike, mean: Any, std: ArrayLike | None = None) -> float:
    """Mean negative log predictive density of the outcomes.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from rio_uq import metrics
    >>> y_true, mean, std = np.array([1.0, 2.0]), np.array([1.1, 1.5]), np.array([0.1, 0.5])
    >>> bool(np.isclose(metrics.nlpd(y_true, stats.norm(mean, std)), metrics.nlpd(y_true, mean, std)))
    True
    """
    outcome, distribution = _distribution(y_true, mean, std)
    if not hasattr(distribution, "logpdf"):
        raise TypeError(f"a distribution with a density is needed; got {distribution!r}")
    return float(-np.mean(distribution.logpdf(outcome)))


def crps(y_true: ArrayLike, mean: Any, std: ArrayLike | None = None) -> float:
    """Continuous ranked probability score, in the units of y.

    With z = (y − mean)/std it is std (z (2 Φ(z) − 1) + 2 φ(z) − 1/√π) for a normal distribution.
    """
    outcome, distribution = _distribution(y_true, mean, std)
    return float(np.mean(row_crps(outcome, distribution)))


def row_crps(y_true: Array, distribution: Any) -> Array:
    """CRPS of each outcome, by a distribution of `predict_dist`."""
    if hasattr(distribution, "crps"):
        return np.asarray(distribution.crps(y_true))
    if not _is_normal(distribution):
        raise TypeError(
            f"mean and std, or a distribution of predict_dist with a density, are needed; got {distribution!r}"
        )
    return row_scores(y_true, distribution.mean(), distribution.std()).crps


def coverage(y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, confidence_level: float = 0.95) -> float:
    """Share of outcomes inside the central interval of that level."""
    (share,) = coverage_curve(y_true, mean, std, confidence_levels=[confidence_level])
    return float(share)


def coverage_curve(
    y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, confidence_levels: ArrayLike = LEVELS
) -> Array:
    """Share of outcomes inside the central interval of each level, by default of 1 %, 2 %, … 99 %."""
    levels = np.atleast_1d(check_levels(confidence_levels, "confidence_levels"))
    outcome, distribution = _distribution(y_true, mean, std)
    # The level of the smallest central interval that holds the outcome.
    needed = np.abs(2.0 * distribution.cdf(outcome) - 1.0).ravel()
    return np.asarray((needed[:, None] <= levels).mean(axis=0))


def miscalibration_area(y_true: ArrayLike, mean: Any, std: ArrayLike | None = None) -> float:
    """Mean absolute difference between coverage and level over the levels 1 %, 2 %, … 99 %."""
    return float(np.abs(coverage_curve(y_true, mean, std) - LEVELS).mean())


def interval_width(
    y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, confidence_level: float = 0.95
) -> float:
    """Mean width of the central interval of that level, in the units of y."""
    level = check_levels(confidence_level, "confidence_level")
    _, distribution = _distribution(y_true, mean, std)
    lower, upper = distribution.interval(level)
    return float(np.mean(upper - lower))


def improvement_ratio(y_true: ArrayLike, mean: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of predictions ``y_pred`` of a model that the corrected ``mean`` has brought nearer to the outcome."""
    outcome, corrected, model = _arrays(y_true, mean, y_pred=y_pred)
    return float((np.abs(outcome - corrected) < np.abs(outcome - model)).mean())


def risk_coverage_curve(y_true: ArrayLike, mean: ArrayLike, std: ArrayLike) -> tuple[Array, Array]:
    """Mean absolute error of the safest predictions, for every share of them that could be kept.

    Predictions are ordered by their std. Where some have the same, any of them may come first: the error is then the
    one expected of a random order among them. Several outputs count as predictions of their own.

    Returns
    -------
    kept : (n,) array
        Shares 1/n, 2/n, … 1 of predictions.
    risk : (n,) array
        Mean absolute error of that share of predictions, those with the smallest std.

    Examples
    --------
    >>> from rio_uq import metrics
    >>> kept, risk = metrics.risk_coverage_curve([1.0, 2.0, 3.0, 4.0], [1.1, 2.3, 3.2, 4.8], [0.1, 0.3, 0.2, 0.5])
    >>> kept.round(2), risk.round(2)
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.1 , 0.15, 0.2 , 0.35]))
    """
    outcome, centre, spread = (array.ravel() for array in _arrays(y_true, mean, std=std))
    _, group, size = np.unique(spread, return_inverse=True, return_counts=True)
    error_of_group = np.bincount(group, weights=np.abs(outcome - centre)) / size
    rows = np.arange(1, len(outcome) + 1)
    return rows / len(outcome), np.cumsum(np.repeat(error_of_group, size)) / rows


def risk_coverage_area(y_true: ArrayLike, mean: ArrayLike, std: ArrayLike) -> float:
    """Mean of the risk-coverage curve over all shares that could be kept, in the units of y.

    The smaller, the better std tells large errors from small ones; where it tells nothing, this is the mean absolute
    error.
    """
    _, risk = risk_coverage_curve(y_true, mean, std)
    return float(risk.mean())


class RowScores(NamedTuple):
    """Scores of each row, arrays of one shape; the last two are NaN where some error bar is zero.

    Attributes
    ----------
    squared_error, absolute_error : arrays
    log_loss : array
        Negative log predictive density.
    crps : array
        Continuous ranked probability score.
    """

    squared_error: Array
    absolute_error: Array
    log_loss: Array
    crps: Array


Losses = tuple[Array, Array]
"""Negative log densities and continuous ranked probability scores of outcomes."""


def row_scores(y_true: Array, mean: Array, std: Array, losses: Losses | None = None) -> RowScores:
    """Scores of predictive distributions, row by row; the measures of this module are means of them.

    Parameters
    ----------
    y_true, mean, std : arrays of one shape
    losses : pair of arrays of that shape, or None
        Negative log densities and CRPS, where distributions are not normal.
    """
    error = y_true - mean
    if not (std > 0.0).all():
        undefined = np.full_like(error, np.nan)
        return RowScores(error**2, np.abs(error), undefined, undefined)
    if losses is not None:
        return RowScores(error**2, np.abs(error), *losses)
    z = error / std
    score = std * (z * (2.0 * stats.norm.cdf(z) - 1.0) + 2.0 * stats.norm.pdf(z) - 1.0 / np.sqrt(np.pi))
    return RowScores(error**2, np.abs(error), np.asarray(-stats.norm.logpdf(y_true, mean, std)), np.asarray(score))


def one_error_bar(residual: Array) -> Array:
    """The likeliest standard deviation that is the same for each row: the root mean square of the residuals."""
    return np.full_like(residual, np.sqrt(np.mean(residual**2)))


def normal_intervals(mean: Array, std: Array, levels: Iterable[float]) -> dict[float, tuple[Array, Array]]:
    """Ends of the central interval of each level, by level."""
    half = {level: stats.norm.ppf(0.5 + 0.5 * level) * std for level in levels}
    return {level: (mean - width, mean + width) for level, width in half.items()}


@dataclass(frozen=True)
class Measures:
    """Measures of predictions and their error bars.

    Attributes
    ----------
    rmse, mae : float
    nlpd, crps : float
        NaN where there is no density: a model without errors has an error bar of zero.
    coverage, width : dict from float to float
        Of intervals, by level: the share of outcomes inside, and the mean width.
    """

    rmse: float
    mae: float
    nlpd: float
    crps: float
    coverage: dict[float, float]
    width: dict[float, float]

    @classmethod
    def of(
        cls,
        y_true: Array,
        mean: Array,
        std: Array,
        intervals: Mapping[float, tuple[Array, Array]],
        losses: Losses | None = None,
    ) -> Measures:
        """Of arrays of shape (n,); ``intervals`` has the ends by level, ``losses`` are as in `row_scores`."""
        squared, absolute, log_loss, score = (float(values.mean()) for values in row_scores(y_true, mean, std, losses))
        inside = {level: (low <= y_true) & (y_true <= high) for level, (low, high) in intervals.items()}
        return cls(
            float(np.sqrt(squared)),
            absolute,
            log_loss,
            score,
            {level: float(np.mean(held)) for level, held in inside.items()},
            {level: float(np.mean(high - low)) for level, (low, high) in intervals.items()},
        )


@dataclass(frozen=True)
class BeforeAfter:
    """A model alone, with one error bar for all rows, and its corrected predictions with their own.

    Attributes
    ----------
    n_rows : int
    before, after : Measures
    improvement_ratio : float
        Share of predictions that came nearer to the outcome.
    """

    n_rows: int
    before: Measures
    after: Measures
    improvement_ratio: float


def before_after(
    y_true: Array,
    y_pred: Array,
    mean: Array,
    std: Array,
    intervals: Mapping[float, tuple[Array, Array]],
    losses: Losses | None = None,
) -> BeforeAfter:
    """Measures of a model's predictions before correction and after it.

    Before, the model has one error bar: its root mean squared error on these very rows. No other choice of one error
    bar has a smaller NLPD here, so that corrections are compared with the best of them.

    Parameters
    ----------
    y_true, y_pred, mean, std : (n,) arrays
        Outcomes, predictions of the model, corrected predictions and their standard deviations.
    intervals : dict from float to pair of (n,) arrays
        Lower and upper ends of the intervals of corrected predictions, by level.
    losses : pair of (n,) arrays, or None
        Negative log densities and CRPS of outcomes around corrected predictions, where these are not normal.

    Examples
    --------
    >>> import numpy as np
    >>> from rio_uq import metrics
    >>> y, y_pred, mean, std = np.array([1.0, 2.0, 3.0]), np.zeros(3), np.array([1.1, 2.0, 2.7]), np.full(3, 0.2)
    >>> measures = metrics.before_after(y, y_pred, mean, std, metrics.normal_intervals(mean, std, [0.9]))
    >>> round(measures.before.rmse, 2), round(measures.after.rmse, 2), measures.after.coverage
    (2.16, 0.18, {0.9: 1.0})
    """
    spread = one_error_bar(y_true - y_pred)
    before = Measures.of(y_true, y_pred, spread, normal_intervals(y_pred, spread, intervals))
    after = Measures.of(y_true, mean, std, intervals, losses)
    return BeforeAfter(len(y_true), before, after, improvement_ratio(y_true, mean, y_pred))


OF_DISTRIBUTIONS = (nlpd, crps, coverage, miscalibration_area, interval_width)
"""Metrics that take a distribution."""

OF_THE_MEAN = (rmse, mae)
"""Metrics that do without error bars."""


def scorer(metric: Callable[..., float] | str, **options: Any) -> Callable[[Any, Any, Any], float]:
    """A scikit-learn scorer: a function of (estimator, X, y) whose larger values are better.

    Parameters
    ----------
    metric : callable or str
        One of this module's functions of (y_true, mean, std), or its name, smaller being better. For `coverage` the
        score is minus its distance from the level. Those that take a distribution are given that of ``predict_dist``,
        if it has a density; other regressors of scikit-learn need ``predict(X, return_std=True)``, but for `rmse` and
        `mae`. The regressor may be the last step of a pipeline, or the best one of a search.
    **options
        Further arguments of the metric.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import cross_val_score
    >>> from rio_uq import RIORegressor, metrics
    >>> X, y = load_diabetes(return_X_y=True)
    >>> rio = RIORegressor(Ridge(), random_state=0)
    >>> scores = cross_val_score(rio, X[:30], y[:30], cv=2, scoring=metrics.scorer("nlpd"))
    >>> scores.shape
    (2,)
    """
    if isinstance(metric, str):
        known = {one.__name__: one for one in (rmse, mae, *OF_DISTRIBUTIONS, risk_coverage_area, improvement_ratio)}
        if metric not in known:
            raise ValueError(f"metric={metric!r} is unknown: give a function, or one of {', '.join(map(repr, known))}")
        metric = known[metric]
    if not callable(metric):
        raise TypeError(f"metric has to be a function or its name, not {metric!r}")
    if metric is improvement_ratio:
        raise ValueError("improvement_ratio needs the model's own predictions, which a scorer does not have")
    return _Scorer(metric, options)


@dataclass(frozen=True)
class _Scorer:
    metric: Callable[..., float]
    options: dict[str, Any]

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        value = float(self.metric(y, *self._answers(estimator, X), **self.options))
        if self.metric is coverage:
            return -abs(value - float(self.options.get("confidence_level", 0.95)))
        return -value

    def _answers(self, estimator: Any, X: Any) -> tuple[Any, ...]:
        if self.metric in OF_THE_MEAN:
            return (estimator.predict(X),)
        regressor, X = _regressor_inside(estimator, X)
        if self.metric in OF_DISTRIBUTIONS and hasattr(regressor, "predict_dist"):
            distribution = regressor.predict_dist(X)
            if hasattr(distribution, "logpdf"):
                return (distribution,)
        return self._mean_and_std(regressor, X)

    def _mean_and_std(self, regressor: Any, X: Any) -> tuple[Any, Any]:
        if _takes_return_std(regressor):
            answer = regressor.predict(X, return_std=True)
            if isinstance(answer, tuple) and len(answer) == 2:
                return answer
        name = getattr(self.metric, "__name__", repr(self.metric))
        remedy = "score it by 'rmse' or 'mae', or give its model to RIORegressor"
        if hasattr(regressor, "regressor_"):  # a TransformedTargetRegressor
            remedy = "put it inside of RIORegressor instead of around it, or choose RIORegressor's scale"
        raise TypeError(f"the scorer of {name} needs error bars, and {type(regressor).__name__} has none: {remedy}")


def _regressor_inside(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The regressor at the end of a pipeline or of a search, and the rows of X as they reach it."""
    while not hasattr(estimator, "predict_dist"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            X = estimator[:-1].transform(X) if len(estimator) > 1 else X
            estimator = estimator[-1]
        else:
            break
    return estimator, X


def _takes_return_std(regressor: Any) -> bool:
    if hasattr(regressor, "regressor_"):  # it would take any argument, and transform back what is no prediction
        return False
    try:
        parameters = signature(regressor.predict).parameters
    except (TypeError, ValueError):  # compiled functions may have none
        return True
    return "return_std" in parameters or any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())


def _arrays(y_true: ArrayLike, mean: ArrayLike, **others: ArrayLike) -> list[Array]:
    """Finite arrays of one shape."""
    arrays = {name: to_numeric(values, name) for name, values in {"y_true": y_true, "mean": mean, **others}.items()}
    shape = arrays["y_true"].shape
    for name, array in arrays.items():
        if array.shape != shape:
            raise ValueError(f"y_true has shape {shape} and {name} has shape {array.shape}: they have to agree")
        if array.size == 0:
            raise ValueError(f"{name} is empty: there is nothing to measure")
        check_finite(array, name, "every row needs a value")
    return list(arrays.values())


def _distribution(y_true: ArrayLike, mean: Any, std: ArrayLike | None) -> tuple[Array, Any]:
    """Outcomes and their distribution: normal with mean and std, or the object that was given in place of both."""
    is_distribution = hasattr(mean, "cdf")
    if is_distribution == (std is not None):
        raise TypeError("give mean and std, or in place of both a distribution such as predict_dist returns")
    moments: list[Any] = [mean.mean(), mean.std()] if is_distribution else [mean, std]
    outcome, centre, spread = _arrays(y_true, moments[0], std=moments[1])
    if (spread <= 0.0).any():
        raise ValueError("std has to be more than zero in every row: a measure of error bars needs error bars")
    return outcome, mean if is_distribution else stats.norm(centre, spread)


def _is_normal(distribution: Any) -> bool:
    """Whether it is a frozen `scipy.stats.norm`."""
    return getattr(getattr(distribution, "dist", None), "name", None) == "norm"
