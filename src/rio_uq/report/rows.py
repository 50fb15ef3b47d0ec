"""The rows of a report: outcomes, and the answers of the model and of RIO for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, gen_batches
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array, Mask
from rio_uq._base.checks import check_count
from rio_uq.answers import Inputs
from rio_uq.calibration import Calibration
from rio_uq.features.table_encoder import CategoryColumn, TableEncoder
from rio_uq.gp.backend.threads import effective_jobs
from rio_uq.metrics import Losses
from rio_uq.regressor import RIORegressor
from rio_uq.report.words import LONGEST_NAME, shortened
from rio_uq.summary.parts import feature_relevance, without_shared_slope

Numbers = NDArray[np.intp]

LEVELS = np.array([*range(5, 70, 5), 68, *range(70, 100, 5), 99]) / 100
SHOWN = (0.68, 0.90, 0.95)
"""Levels of intervals in the reliability curve, and those that numbers are given for."""

BATCH_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class ReportRows:
    """The rows of a report, of one output.

    Attributes
    ----------
    outcome, y_pred, mean, std : (n,) arrays
        Outcomes, predictions of the model, corrected predictions and their standard deviations.
    input_part, output_part : (n,) arrays
        Of the correction, without the slope that they share where they cancel.
    levels : (k,) array
        Levels of intervals that the calibration supports.
    inside : (n, k) array of bool
        Whether the interval of each level holds the outcome.
    level : float
        That of the intervals which are shown for each row.
    lower, upper : (n,) arrays
        Their bounds.
    features : (n, d) array
        Those of the GP, the most relevant one first.
    names : list of str
        Of the features.
    relevance : (d,) array
        Of the features, for the rows of fit.
    is_curve : bool
        Whether the output part is a function of this prediction alone.
    groups : (n,) array of str or None
        Labels of the groups that error bars were calibrated by.
    labels : (n,) array of object or None
        Names of rows; 0 to n − 1 if None.
    categories : tuple of pairs of str, or None
        For each feature that says whether a column of the table has a level: the column and the level.
    losses : pair of (n,) arrays, or None
        Negative log densities and CRPS of the outcomes; None where there is no density after calibration.
    """

    outcome: Array
    y_pred: Array
    mean: Array
    std: Array
    input_part: Array
    output_part: Array
    levels: Array
    inside: Mask
    level: float
    lower: Array
    upper: Array
    features: Array
    names: list[str]
    relevance: Array
    is_curve: bool
    groups: NDArray[np.str_] | None = None
    labels: NDArray[np.object_] | None = None
    categories: tuple[tuple[str, str] | None, ...] = ()
    losses: Losses | None = None

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def residual(self) -> Array:
        """Outcome minus prediction of the model."""
        return self.outcome - self.y_pred

    @property
    def residual_after(self) -> Array:
        """Outcome minus corrected prediction."""
        return self.outcome - self.mean

    @property
    def correction(self) -> Array:
        return self.mean - self.y_pred

    def names_of(self, rows: Numbers) -> list[int | str]:
        """Names of some rows."""
        if self.labels is None:
            return [int(row) for row in rows]
        names = self.labels[rows].tolist()
        return [int(name) if isinstance(name, Integral) else shortened(str(name), LONGEST_NAME) for name in names]

    def inside_of(self, level: float) -> Mask | None:
        """Whether intervals of that level hold the outcomes, (n,); None if the calibration has no such intervals."""
        (place,) = np.nonzero(np.isclose(self.levels, level))
        return self.inside[:, place[0]] if len(place) else None


def gather(
    rio: RIORegressor,
    X: Any,
    y: Any,
    inputs: Inputs,
    *,
    groups: Any = None,
    output: int | None = None,
    row_labels: Any = None,
) -> ReportRows:
    """Ask a fitted regressor about rows whose outcomes are known.

    Parameters
    ----------
    rio, X, y, groups, output, row_labels : as in `write_report`
    inputs : Inputs
        Features and predictions of X.
    """
    features, prediction = inputs.features, inputs.y_pred
    n_rows, n_outputs = prediction.shape
    outcome = rio.fitted_.outcome(y, n_rows)
    chosen = _check_output(output, n_outputs)
    if n_rows < 2:
        raise ValueError(f"a report needs at least two rows, and X has {n_rows}: give more rows")

    def one(values: Any) -> Array:
        return np.asarray(values).reshape(n_rows, n_outputs)[:, chosen]

    mean, std = rio.predict(X, y_pred=prediction, groups=groups, return_std=True)
    parts = rio.decompose(X, y_pred=prediction)
    by_input, by_output = without_shared_slope(one(parts.input), one(parts.output), prediction[:, chosen])
    levels = supported_levels(rio.fitted_.scores)
    inside, bounds = _intervals(rio, X, outcome[:, chosen], prediction, groups, chosen, levels)
    fitted = rio.fitted_
    losses = fitted.losses(inputs, outcome, effective_jobs(rio.n_jobs))
    names, relevance = fitted.feature_names, feature_relevance(fitted.gp, fitted.kept.features)
    order = np.argsort(-relevance[:, chosen], kind="stable")
    return ReportRows(
        outcome[:, chosen],
        prediction[:, chosen],
        one(mean),
        one(std),
        by_input,
        by_output,
        levels,
        inside,
        shown_level(levels),
        *bounds,
        features[:, order],
        [shortened(names[i], LONGEST_NAME) for i in order],
        relevance[order, chosen],
        n_outputs == 1,
        None if groups is None else np.array([shortened(str(label), LONGEST_NAME) for label in groups]),
        None if row_labels is None else _check_labels(row_labels, n_rows),
        tuple(_categories(rio, len(names))[i] for i in order),
        None if losses is None else (losses[0][:, chosen], losses[1][:, chosen]),
    )


def _categories(rio: RIORegressor, n_features: int) -> list[tuple[str, str] | None]:
    """Column and level of each feature that a TableEncoder has made of a category."""
    encoder = rio.features_
    if not isinstance(encoder, TableEncoder):
        return [None] * n_features
    categories: list[tuple[str, str] | None] = []
    for column in encoder.columns_:
        is_category, start = isinstance(column, CategoryColumn), len(column.name) + 1
        for name in column.encoded_names():
            level = shortened(name[start:], LONGEST_NAME)
            categories.append((shortened(column.name, LONGEST_NAME), level) if is_category else None)
    return categories


def _check_labels(labels: Any, n_rows: int) -> NDArray[np.object_]:
    names = list(labels)
    if len(names) != n_rows:
        raise ValueError(f"row_labels has to name every row: X has {n_rows} rows, and it has {len(names)} labels")
    array = np.empty(n_rows, dtype=object)
    array[:] = names
    return array


def supported_levels(calibration: Calibration) -> Array:
    """The levels whose intervals a calibration can give: conformal ones of high levels need many rows."""

    def is_supported(level: float) -> bool:
        try:
            calibration.check_support(np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level]))
        except ValueError:
            return False
        return True

    return np.array([level for level in LEVELS if is_supported(level)])


def shown_level(levels: Array) -> float:
    """90 %, or the highest level below it that there is."""
    return float(levels[levels <= 0.9 + 1e-9][-1])


def _intervals(
    rio: RIORegressor, X: Any, outcome: Array, prediction: Array, groups: Any, output: int, levels: Array
) -> tuple[Mask, tuple[Array, Array]]:
    """Whether intervals hold the outcomes, (n, k), and the bounds of those that are shown."""
    place = int(np.flatnonzero(levels == shown_level(levels))[0])
    labels = None if groups is None else np.asarray(groups, dtype=object)
    inside, lower, upper = [], [], []
    for batch in gen_batches(_num_samples(X), BATCH_ROWS):
        rows = np.arange(batch.start, batch.stop)
        band = rio.predict_interval(
            _safe_indexing(X, rows),
            confidence_level=levels,
            y_pred=prediction[rows],
            groups=None if labels is None else labels[rows],
        )
        band = band.reshape(len(rows), -1, 2, len(levels))[:, output]
        inside.append((band[:, 0] <= outcome[rows, None]) & (outcome[rows, None] <= band[:, 1]))
        lower.append(band[:, 0, place])
        upper.append(band[:, 1, place])
    return np.concatenate(inside), (np.concatenate(lower), np.concatenate(upper))


def _check_output(output: int | None, n_outputs: int) -> int:
    if output is None and n_outputs > 1:
        raise ValueError(
            f"the model has {n_outputs} outputs, and a report is about one: write one for each, with output=0 to "
            f"output={n_outputs - 1}"
        )
    if output is None:
        return 0
    check_count(output, "output", at_least=0)
    if output >= n_outputs:
        raise ValueError(f"output has to be less than {n_outputs}, the number of outputs; got {output}")
    return int(output)
