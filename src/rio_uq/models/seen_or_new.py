"""Whether a fitted model has seen the rows given, told from clones that were fitted to parts of these rows.

Of every clone it is known which rows it has seen, so the clones are examples of both answers for this very model and
these very rows. For a prediction t of row i, by a clone or by the model, let ``inn`` be the mean prediction of some
clones of folds that have seen the row, s their spread, and ``out`` the mean of those clones of halves that have not:

    log |y − t| / |y − inn|,   log |t − inn| / s,   log |t − out| / |inn − out|,   (t − out) / (inn − out)

Fisher's linear discriminant of these four numbers tells the rows that a clone of a fold has seen from those that it has
not. Its mean over all rows, for the model's own predictions, lies between its means for unseen and for seen rows of the
clones: how far from the one to the other is the share of rows that the model has seen. The standard error is what that
share is for single clones on rows that they have not seen, plus an allowance for models of more rows than the clones.
Sizes of residuals alone would not tell: a model that was trained on more rows has small residuals on new rows too.

The model may have told a share of its own (`rio_uq.models.overlap`); the two are independent, and their mean decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array, Mask
from rio_uq.models.cross_fitting import Fold
from rio_uq.models.overlap import Share, mean_share

MATTERS = 1.1
"""Root mean squared residuals of unseen rows, in units of those of seen ones, below which nothing is memorised."""

SAME = 1e-5
"""A clone fitted to all rows whose predictions differ by no more, in standard deviations of y, is the model itself."""

NEW, ALL_SEEN, MARGIN = 0.35, 0.7, 0.75
"""Rows are new if the share of seen ones plus so much of its standard error is below the first, or all of it where
clones are clearly worse than the model; they were all seen if it is above the second, and that is not a matter of
error, unless it is known that the training rows are others."""

CLONES_WORSE = 1.5
"""Out-of-fold residuals in units of the model's own above which clones are clearly worse than the model, which has more
rows behind it, or has seen these. That such clones memorise nothing says nothing of the model."""

FEW_ROWS = 0.65
"""Training rows, in units of those given, below which a model is more like clones of halves than of folds."""

ALLOWANCE = 0.1
"""Standard error of the share for a model that was trained on more rows than the clones."""


CERTAIN = Share(1.0, 0.0)
"""Of a model that a clone of all rows repeats."""

LARGEST_ERROR = 0.5
"""Of a share that is worth a word."""

MANY_TIMES = 100.0
"""A ratio of residuals above which digits say nothing: the model knows these rows by heart."""


def times(ratio: float) -> str:
    return f"{ratio:.2f} times" if ratio < MANY_TIMES else f"more than {MANY_TIMES:.0f} times"


@dataclass(frozen=True)
class Verdict:
    """The verdict of clones on the rows.

    Attributes
    ----------
    rows : {"seen", "new", "mixed", "either"}
        "either" where seen and unseen rows have residuals of the same size: nothing is memorised.
    memorised : float
        Root mean squared out-of-fold residual in units of that of seen rows.
    clones_worse : float
        Root mean squared out-of-fold residual in units of the model's own.
    share : Share or None
        Of the rows that the model has seen; None where neither clones nor the model tell.
    """

    rows: str
    memorised: float
    clones_worse: float
    share: Share | None

    def __str__(self) -> str:
        """The reason."""
        memorised = f"out-of-fold residuals are {times(self.memorised)} those of rows that clones have seen"
        if self.rows == "either":
            return f"nothing is memorised: {memorised}"
        if self.share == CERTAIN:
            return f"a clone fitted to just these rows predicts what it does; {memorised}"
        if self.rows == "seen":
            return f"row by row, its residuals go with those of clones that have seen the rows; {memorised}"
        if self.share is None:
            return f"clones do not tell rows that they have seen from others; {memorised}"
        if self.share.error > LARGEST_ERROR:
            return f"how many of the rows it has seen, clones do not tell; {memorised}"
        share = f"{min(max(self.share.value, 0.0), 1.0):.0%} (± {self.share.error:.0%})"
        return f"it has seen an estimated {share} of the rows; {memorised}"

    @property
    def numbers(self) -> dict[str, float]:
        numbers = {"memorised": self.memorised, "clones_worse": self.clones_worse}
        return numbers if self.share is None else numbers | {"share": self.share.value, "share_error": self.share.error}


@dataclass(frozen=True)
class Clones:
    """Predictions of clones for the n rows.

    Attributes
    ----------
    folds : (n, K) array
        By clones of folds, K of at least 4.
    fold : (n,) array of int
        The fold of each row: the clone that has not seen it.
    halves : (n, H) array
        By clones of halves of the rows.
    in_half : (n, H) array of bool
        Whether each of these has seen the row; one at least has not.
    """

    folds: Array
    fold: NDArray[np.intp]
    halves: Array
    in_half: Mask


def is_same_model(y: Array, own: Array, full: Array) -> bool:
    """Whether predictions ``own`` are those of a clone fitted to all rows, ``full``, each (n, q), but for rounding."""
    unit = _unit(y.reshape(len(y), -1))
    return _rms((own - full) / unit) <= SAME


def is_small(relative_size: float | None) -> bool:
    """Whether a model was trained on so few rows, in units of those given, that clones of halves are more like it."""
    return relative_size is not None and relative_size < FEW_ROWS


def judge_outputs(
    y: Array,
    own: Array,
    by_clone: Array,
    folds: list[Fold],
    halves: list[Fold],
    *,
    is_same: bool = False,
    is_other: bool = False,
    share: Share | None = None,
    relative_size: float | None = None,
) -> Verdict:
    """Judge rows by all outputs together, each in units of its spread.

    Parameters
    ----------
    y : (n,) or (n, q) array
    own : (n, q) array
        Predictions of the model.
    by_clone : (n, q, K + H) array
        Of the clones of K folds and of H halves.
    folds, halves : lists of (train, test)
    is_same, is_other, share, relative_size : as in `judge`
    """
    rows = np.concatenate([test for _, test in folds])
    fold = np.concatenate([np.full(len(test), number) for number, (_, test) in enumerate(folds)])
    in_half = np.zeros((len(y), len(halves)), dtype=bool)
    for number, (train, _) in enumerate(halves):
        in_half[train, number] = True
    outcome = y.reshape(len(y), -1)
    unit = _unit(outcome)
    n_outputs = outcome.shape[1]

    def flat(values: Array) -> Array:
        return np.asarray((values[rows] / unit).ravel())

    values = np.moveaxis(by_clone[rows] / unit[:, None], 2, 0).reshape(by_clone.shape[2], -1).T
    clones = Clones(
        folds=values[:, : len(folds)],
        fold=np.repeat(fold, n_outputs),
        halves=values[:, len(folds) :],
        in_half=np.repeat(in_half[rows], n_outputs, axis=0),
    )
    y, own = flat(outcome), flat(own)
    return judge(y, own, clones, is_same=is_same, is_other=is_other, share=share, relative_size=relative_size)


def judge(
    y: Array,
    own: Array,
    clones: Clones,
    *,
    is_same: bool = False,
    is_other: bool = False,
    share: Share | None = None,
    relative_size: float | None = None,
) -> Verdict:
    """Judge rows by the predictions of clones.

    Parameters
    ----------
    y, own : (n,) arrays
        Outcomes, and predictions of the model.
    clones : Clones
    is_same : bool
        Whether the model is what a clone fitted to all rows is, so that it has seen them; halves are not needed then.
    is_other : bool
        Whether it is known that the training rows are not just those given.
    share : Share or None
        Of seen rows, as the model itself tells.
    relative_size : float or None
        Rows that the model was trained on, in units of the rows given, where it tells.
    """
    unit = float(y.std()) or 1.0
    tiny = 1e-6 * unit
    n, n_folds = clones.folds.shape
    out = clones.folds[np.arange(n), clones.fold]
    inn = (clones.folds.sum(axis=1) - out) / (n_folds - 1)
    outside, inside, residual = (_rms(y - values) + tiny for values in (out, inn, own))
    memorised, worse = outside / inside, outside / residual
    if is_same:
        return Verdict("seen", memorised, worse, CERTAIN)
    by_clones = clones_share(y, own, clones, by_halves=is_small(relative_size))
    both = mean_share([one for one in (share, by_clones) if one is not None])
    is_far = worse > CLONES_WORSE
    # A model of few rows has seen no larger a share of those given than that.
    new = 0.5 * relative_size if relative_size is not None and is_small(relative_size) else NEW
    rows = "mixed" if both is None else _rows_of_share(both, min(new, NEW), margin=1.0 if is_far else MARGIN)
    if rows == "seen" and is_other:
        rows = "mixed"
    if memorised < MATTERS and rows != "seen":
        return Verdict("mixed", memorised, worse, None) if is_far else Verdict("either", memorised, worse, both)
    return Verdict(rows, memorised, worse, both)


def _rows_of_share(share: Share, new: float, *, margin: float) -> str:
    if share.value + margin * share.error < new:
        return "new"
    return "seen" if share.value > ALL_SEEN and share.value - share.error > NEW else "mixed"


def clones_share(y: Array, own: Array, clones: Clones, *, by_halves: bool = False) -> Share | None:
    """The share of rows that the model has seen; None where clones do not tell rows that they have seen from others.

    The examples are clones of folds, or clones of halves for a model of few rows.
    """
    return _share_of(*(_halves_as_examples if by_halves else _folds_as_examples)(y, own, clones))


def _folds_as_examples(y: Array, own: Array, clones: Clones) -> tuple[Array, Mask, Array]:
    """Numbers (K, n, 4) of clones of folds, whether each has seen the row (K, n), and the model's numbers (n, 4)."""
    n_folds = clones.folds.shape[1]
    out = np.where(clones.in_half, 0.0, clones.halves).sum(axis=1) / (~clones.in_half).sum(axis=1)
    # A clone is compared with others than itself, and the model with as many of them as a clone is.
    spare = _spare(clones)

    def numbers(t: Array, left_out: NDArray[np.intp]) -> Array:
        return _row_numbers(y, t, *_of_clones_that_saw(clones, left_out), out)

    is_seen = clones.fold != np.arange(n_folds)[:, None]
    values = [numbers(clones.folds[:, k], np.where(is_seen[k], k, spare)) for k in range(n_folds)]
    return np.stack(values), is_seen, numbers(own, spare)


def _halves_as_examples(y: Array, own: Array, clones: Clones) -> tuple[Array, Mask, Array]:
    """The same for clones of halves; ``out`` is that of one clone, other than the one that is compared with it."""
    n, n_halves = clones.halves.shape
    inside = _of_clones_that_saw(clones, _spare(clones))

    def numbers(t: Array, is_spare: Mask) -> Array:
        order = np.argsort(~is_spare, axis=1, kind="stable")
        turn = np.arange(n) % is_spare.sum(axis=1)
        out = clones.halves[np.arange(n), order[np.arange(n), turn]]
        return _row_numbers(y, t, *inside, out)

    unseen = ~clones.in_half
    values = [numbers(clones.halves[:, h], unseen & (np.arange(n_halves) != h)) for h in range(n_halves)]
    return np.stack(values), clones.in_half.T, numbers(own, unseen)


def _spare(clones: Clones) -> NDArray[np.intp]:
    """For each row a clone of a fold that has seen it, by turns."""
    n, n_folds = clones.folds.shape
    return np.asarray((clones.fold + 1 + np.arange(n) % (n_folds - 1)) % n_folds)


def _share_of(values: Array, is_seen: Mask, own: Array) -> Share | None:
    """How far the model is from examples of unseen rows to those of seen ones, by the discriminant of both."""
    weights = _discriminant(values[is_seen], values[~is_seen])
    n_clones = len(values)
    seen, unseen = np.zeros(n_clones), np.zeros(n_clones)
    for k in range(n_clones):
        rest = np.arange(n_clones) != k
        direction = _discriminant(values[rest][is_seen[rest]], values[rest][~is_seen[rest]])
        if not direction.any():
            return None
        score = values[k] @ direction * (np.linalg.norm(weights) / np.linalg.norm(direction))
        seen[k], unseen[k] = score[is_seen[k]].mean(), score[~is_seen[k]].mean()
    gap = seen.mean() - unseen.mean()
    if not gap > 0.0:
        return None
    share = (own @ weights).mean() - unseen.mean()
    return Share(float(share / gap), float(np.hypot(unseen.std(ddof=1) / gap, ALLOWANCE)))


def _of_clones_that_saw(clones: Clones, left_out: NDArray[np.intp]) -> tuple[Array, Array]:
    """Mean and spread of the predictions of each row by the clones of folds that saw it, but for one."""
    n, n_folds = clones.folds.shape
    counts = np.ones(clones.folds.shape, dtype=bool)
    counts[np.arange(n), clones.fold] = counts[np.arange(n), left_out] = False
    mean = np.where(counts, clones.folds, 0.0).sum(axis=1) / (n_folds - 2)
    variance = np.where(counts, (clones.folds - mean[:, None]) ** 2, 0.0).sum(axis=1) / max(n_folds - 3, 1)
    typical = np.sort(variance)[: max(1, int(0.95 * n))].mean()
    return mean, np.sqrt(0.5 * (variance + typical))


def _row_numbers(y: Array, t: Array, inn: Array, spread: Array, out: Array) -> Array:
    """The four numbers of each row; differences are those beside a small part of |inn − out|."""
    distance = np.abs(inn - out)
    usual = float(distance.mean()) + 1e-6 * (float(y.std()) or 1.0)

    def log(values: Array) -> Array:
        return np.log(np.abs(values) + 0.05 * usual)

    way = (t - out) * np.sign(inn - out) / (distance + 0.2 * usual)
    return np.column_stack(
        [log(y - t) - log(y - inn), log(t - inn) - log(spread), log(t - out) - log(distance), np.clip(way, -3.0, 3.0)]
    )


def _discriminant(seen: Array, unseen: Array) -> Array:
    """Fisher's linear discriminant, with a little more variance than there is."""
    covariance = 0.5 * (np.cov(seen.T) + np.cov(unseen.T))
    covariance += np.diag(1e-3 * np.diag(covariance) + 1e-9)
    return np.asarray(np.linalg.solve(covariance, seen.mean(axis=0) - unseen.mean(axis=0)))


def _unit(outcome: Array) -> Array:
    """The spread of each column, one where there is none."""
    spread = outcome.std(axis=0)
    return np.where(spread > 0.0, spread, 1.0)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))
