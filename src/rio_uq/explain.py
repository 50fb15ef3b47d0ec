"""From a fitted RIORegressor to its `Summary`: what the GP has learnt, on rows that it knows or on others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from rio_uq._base.array import Array
from rio_uq.features.extractors import feature_names
from rio_uq.gp.residual import ResidualGP
from rio_uq.summary import Band, Feature, Shares, Summary, worst_bands

MOST_ROWS, FEWEST_ROWS, MOST_NUMBERS = 2000, 100, 1_000_000
"""Of the training rows, so many are kept at most: fewer, down to 100, where they would be more numbers than that."""

N_BANDS, ROWS_OF_A_BAND = 5, 10
MATTERS = 0.1
"""Bands are made of features with at least this share of the largest relevance."""


@dataclass(frozen=True)
class KnownRows:
    """Some of the rows that the GP was fitted to.

    Attributes
    ----------
    features, y_pred : (n, d), (n, q) arrays
    weight : (n,) array
    n_fitted : int
        How many rows there were.
    """

    features: Array
    y_pred: Array
    weight: Array
    n_fitted: int


def keep_rows(
    features: Array, y_pred: Array, weight: Array | None, rows: NDArray[np.intp], rng: np.random.Generator
) -> KnownRows:
    """A random sample of the rows with the given numbers, small enough to be kept with the estimator."""
    n_fitted = len(rows)
    n_kept = min(n_fitted, _most_rows(features.shape[1] + y_pred.shape[1]))
    if n_kept < n_fitted:
        rows = np.sort(rng.choice(rows, n_kept, replace=False))
    return KnownRows(features[rows], y_pred[rows], np.ones(n_kept) if weight is None else weight[rows], n_fitted)


def keep_more(known: KnownRows, more: KnownRows, seed: int) -> KnownRows:
    """A random sample of all rows, from the sample that is known and further rows: as many of each as chance would
    have drawn from all of them.
    """
    n_columns = known.features.shape[1] + known.y_pred.shape[1]
    n_kept = min(len(known.weight) + len(more.weight), _most_rows(n_columns))
    for rows in (known, more):  # where a sample is all there is, as many as are in proportion to it
        if len(rows.weight) < rows.n_fitted:
            n_kept = min(n_kept, len(rows.weight) * (known.n_fitted + more.n_fitted) // rows.n_fitted)
    rng = np.random.default_rng([seed, known.n_fitted])  # another draw for each batch of a stream
    n_known = _share(known.n_fitted, more.n_fitted, n_kept, rng)
    n_known = min(max(n_known, n_kept - len(more.weight)), len(known.weight))
    chosen = [
        (rows, np.sort(rng.choice(len(rows.weight), n, replace=False)))
        for rows, n in ((known, n_known), (more, n_kept - n_known))
    ]
    return KnownRows(
        np.vstack([rows.features[numbers] for rows, numbers in chosen]),
        np.vstack([rows.y_pred[numbers] for rows, numbers in chosen]),
        np.concatenate([rows.weight[numbers] for rows, numbers in chosen]),
        known.n_fitted + more.n_fitted,
    )


def _share(n_one: int, n_other: int, n_drawn: int, rng: np.random.Generator) -> int:
    """How many rows of the first set chance draws from both."""
    if n_one + n_other < 10**9:
        return int(rng.hypergeometric(n_one, n_other, n_drawn))
    return int(rng.binomial(n_drawn, n_one / (n_one + n_other)))  # NumPy has no larger urns


def _most_rows(n_columns: int) -> int:
    return min(MOST_ROWS, max(FEWEST_ROWS, MOST_NUMBERS // n_columns))


class ExplainMixin:
    """``summary`` for RIORegressor."""

    _known_rows: KnownRows
    _gp: ResidualGP
    _extract: Any
    _inputs: Any
    _base: Any
    _per_output: Any
    _jobs: Any
    ard: bool
    noise: str
    trust_: Any
    trust_std_: Any
    converged_: bool

    def summary(self, X: Any = None, *, y_pred: Any = None) -> Summary:
        """What was learnt, in numbers and, printed, in words.

        Parameters
        ----------
        X : as in `fit`, optional
            Rows to speak about: how residuals are made up and where the model errs depends on them. By default those
            given to `fit` and `partial_fit`, or 2,000 of them.
        y_pred : array of shape (n,) or (n, q), optional
            The model's predictions for X, if they are known already.

        Returns
        -------
        Summary

        Examples
        --------
        >>> import numpy as np
        >>> from rio_uq import RIORegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(200, 2))
        >>> y = X[:, 0] + np.sin(5.0 * X[:, 1]) + 0.1 * rng.normal(size=200)
        >>> rio = RIORegressor(lambda X: X[:, 0], random_state=0).fit(X, y)
        >>> summary = rio.summary()
        >>> summary.features[0].name, round(summary.noise_std, 2)
        ('x1', 0.1)
        """
        check_is_fitted(self)
        known = self._known_rows
        if X is None and y_pred is not None:
            raise ValueError("y_pred are predictions for X: give both, or neither for the rows of fit")
        if X is not None:
            features, prediction = self._inputs(X, y_pred)
            known = KnownRows(features, prediction, np.ones(len(features)), known.n_fitted)
        return _summarize(self, known)


def _summarize(rio: ExplainMixin, known: KnownRows) -> Summary:
    gp, (features, y_pred, weight) = rio._gp, (known.features, known.y_pred, known.weight)
    mean, latent = gp.mean_and_variance(features, y_pred, rio._jobs())
    noise = gp.noise_at(features, y_pred, rio._jobs())
    correction = mean + rio._base(y_pred) - y_pred
    relevance = feature_relevance(gp, features)
    names = _names(rio, features.shape[1])
    order = np.argsort(-relevance[:, 0], kind="stable")
    variances = _variances(gp, known, correction, latent, noise, rio._jobs())
    total = np.sum(variances, axis=0)
    constant = "constant" if rio.noise == "constant" else "no evidence"
    low, high = np.quantile(np.sqrt(noise), [0.05, 0.95], axis=0)
    return Summary(
        n_rows=known.n_fitted,
        converged=rio.converged_,
        shares=Shares(*(rio._per_output(variance / total) for variance in variances)),
        residual_std=rio._per_output(np.sqrt(total)),
        noise_std=rio._per_output(np.sqrt(variances[-1])),
        bias=rio._per_output(np.average(correction, axis=0, weights=weight)),
        correction_size=rio._per_output(np.average(np.abs(correction), axis=0, weights=weight)),
        trust=rio.trust_,
        trust_std=rio.trust_std_,
        features=tuple(Feature(names[i], rio._per_output(relevance[i])) for i in order),
        has_ard=rio.ard,
        bands=tuple(_bands(known, correction, [(names[i], i) for i in order if _matters(relevance[:, 0], i)])),
        noise=constant if gp.field is None else "varying",
        noise_range=(rio._per_output(low), rio._per_output(high)),
        calibrated=getattr(rio, "calibration_", None) is not None,
    )


def _variances(
    gp: ResidualGP, known: KnownRows, correction: Array, latent: Array, noise: Array, n_jobs: int
) -> tuple[Array, Array, Array, Array]:
    """The variance of residuals over rows and outcomes, as a sum of four parts, each (q,); see `Shares`.

    By the law of total variance it is that of the correction over rows, plus the mean of what is not known of it, plus
    the mean noise.
    """

    def spread(values: Array) -> Array:
        centre = np.average(values, axis=0, weights=known.weight)
        return np.asarray(np.average((values - centre) ** 2, axis=0, weights=known.weight))

    has_output_part = bool(gp.posterior.kernel.part("output"))
    by_input = gp.part("input", known.features, known.y_pred, n_jobs) if has_output_part else correction
    input_spread, output_spread = spread(by_input), spread(correction - by_input)
    both = input_spread + output_spread
    share = np.divide(input_spread, both, out=np.zeros_like(both), where=both > 0.0)
    learnt = spread(correction)
    unsettled, unforeseen = (np.average(values, axis=0, weights=known.weight) for values in (latent, noise))
    return share * learnt, (1.0 - share) * learnt, np.asarray(unsettled), np.asarray(unforeseen)


def feature_relevance(gp: ResidualGP, features: Array) -> Array:
    """By how much the input part is expected to change, in the units of y, when a feature moves by its standard
    deviation over the given rows (n, d); shape (d, q).

    A priori, f(c + δ) − f(c) has the variance k(c + δ, c + δ) − 2 k(c + δ, c) + k(c, c); c is the mean of the rows.
    """
    d, posterior = features.shape[1], gp.posterior
    terms = posterior.kernel.part("input")
    squares = np.zeros(d)
    if d and terms:
        kernel, theta = posterior.kernel.restricted(terms, posterior.theta)
        step = gp.inputs.apply(features).std(axis=0)
        centre = np.zeros((1, posterior.points.shape[1]))
        at_centre = kernel.diagonal(theta, centre)
        for batch in gen_batches(d, 256):
            columns = np.arange(d)[batch]
            moved = np.zeros((len(columns), centre.shape[1]))
            moved[np.arange(len(columns)), columns] = step[columns]
            cross = kernel.matrix(theta, moved, centre)[:, 0]
            squares[batch] = kernel.diagonal(theta, moved) - 2.0 * cross + at_centre
    return np.sqrt(np.maximum(squares, 0.0))[:, None] * gp.targets.scale


def names_and_relevance(rio: ExplainMixin) -> tuple[list[str], Array]:
    """The features that the GP sees, with their relevance (d, q) for the rows of fit."""
    features = rio._known_rows.features
    return _names(rio, features.shape[1]), feature_relevance(rio._gp, features)


def _names(rio: ExplainMixin, n_features: int) -> list[str]:
    return feature_names(rio._extract, n_features, getattr(rio, "feature_names_in_", None))


def _matters(relevance: Array, i: int) -> bool:
    return bool(relevance[i] > MATTERS * relevance.max())


def _bands(known: KnownRows, correction: Array, chosen: list[tuple[str, int]]) -> list[Band]:
    """The worst bands of each output."""
    n_bands = min(N_BANDS, len(correction) // ROWS_OF_A_BAND)
    if n_bands < 2:
        return []
    features = [(name, known.features[:, i]) for name, i in chosen]
    return [
        band
        for output in range(correction.shape[1])
        for band in worst_bands(
            [(None, known.y_pred[:, output]), *features],
            correction[:, output],
            known.weight,
            n_bands=n_bands,
            output=output,
        )
    ]
