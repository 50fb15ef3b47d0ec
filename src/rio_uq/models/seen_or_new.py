"""Whether a fitted model has seen the rows given, told from clones that were fitted to folds of these rows.

For row i, p is the prediction of the model, P_k that of the clone fitted without fold k, ``out`` that of the one clone
that has not seen the row, ``inn`` the mean of the others, ``full`` that of a clone fitted to all rows. If the rows were
seen, p goes with ``full`` and with ``inn`` as closely as these go with each other, row by row; if they are new, it does
not. Sizes of residuals alone do not tell: a model that was trained on more rows has small residuals on new rows too.

The scores below are logistic regressions on logarithms of ratios, free of units. Their weights were learnt on five
tables (concrete, airfoil, yacht and two simulated ones) with sixteen kinds of models, trained on the rows given, on
others, on many more and on half of them, and confirmed on others; `benchmarks/defaults` has how often they are right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array

MATTERS = 1.1
"""Root mean squared residuals of unseen rows, in units of those of seen ones, below which nothing is memorised."""

SAME = 1e-5
"""A clone fitted to all rows whose predictions differ by no more, in standard deviations of y, is the model itself."""

LARGEST = 4.0
"""Logarithms of ratios are cut off here."""

CLEAR, SOME = 2.0, 0.1
"""Where out-of-fold residuals are larger than in-fold ones by the first factor, rows are told apart so well that an
estimated share of seen rows above the second is one."""

SEEN = {"constant": -0.83, "same": -2.16, "agree": -2.47, "lean": -2.21, "near": 1.35}
NEW = {
    "constant": 0.49,
    "share": -1.61,
    "row": -2.29,
    "lean": -1.65,
    "same": 0.30,
    "agree": -0.13,
    "near": -0.28,
    "own_to_in": -0.77,
    "own_to_out": 1.54,
    "out_to_in": -0.29,
}
ROW = {
    "constant": -0.136,
    "agree": -0.568,
    "size": 0.031,
    "near": 0.22,
    "memory": 0.403,
    "near × memory": -0.466,
    "agree × memory": -0.253,
    "size × memory": -0.416,
}


@dataclass(frozen=True)
class Verdict:
    """What clones say of the rows.

    Attributes
    ----------
    rows : {"seen", "new", "mixed", "either"}
        "either" where seen and unseen rows have residuals of the same size: nothing is memorised.
    memorised : float
        Root mean squared out-of-fold residual in units of that of seen rows.
    clones_worse : float
        Root mean squared out-of-fold residual in units of the model's own.
    scores : dict
        The statistics, and the two scores: seen if the first is above 0, otherwise new if the second is.
    """

    rows: str
    memorised: float
    clones_worse: float
    scores: dict[str, float]


def judge(
    y: Array, own: Array, folds: Array, fold: NDArray[np.intp], full: Array, *, is_other: bool = False
) -> Verdict:
    """Judge rows by the predictions of clones.

    Parameters
    ----------
    y, own, full : (n,) arrays
        Outcomes, predictions of the model, and of a clone fitted to all rows.
    folds : (n, K) array
        Predictions of the clones of the folds, K of at least 3.
    fold : (n,) array of int
        The fold of each row: the clone that has not seen it.
    is_other : bool
        Whether it is known that the training rows are not just those given.
    """
    clones = _Clones(y, own, folds, fold, full)
    logit = clones.row_logit()
    scores = {**clones.statistics(), "share": _seen_share(logit), "row": float(np.clip(logit, -6.0, 6.0).mean())}
    scores["seen"], scores["new"] = _score(SEEN, scores), _score(NEW, scores)
    memorised, worse = clones.memorised(), clones.clones_worse()
    if not is_other and _rms(own - full) <= SAME * clones.unit:
        return Verdict("seen", memorised, worse, scores)
    rows = "seen" if scores["seen"] > 0.0 else "new" if scores["new"] > 0.0 else "mixed"
    if (is_other and rows == "seen") or (rows == "new" and memorised > CLEAR and scores["share"] > SOME):
        rows = "mixed"
    if memorised < MATTERS and rows != "seen":
        rows = "either"
    return Verdict(rows, memorised, worse, scores)


class _Clones:
    def __init__(self, y: Array, own: Array, folds: Array, fold: NDArray[np.intp], full: Array) -> None:
        n, self.n_folds = folds.shape
        self.own, self.folds, self.full = own, folds, full
        self.unit = float(y.std()) or 1.0
        self.tiny = 1e-6 * self.unit
        rows = np.arange(n)
        self.out = folds[rows, fold]
        self.inn = (folds.sum(axis=1) - self.out) / (self.n_folds - 1)
        self.has_seen = np.ones(folds.shape, dtype=bool)
        self.has_seen[rows, fold] = False
        self.residual, self.in_residual, self.out_residual = y - own, y - self.inn, y - self.out

    def memorised(self) -> float:
        return (_rms(self.out_residual) + self.tiny) / (_rms(self.in_residual) + self.tiny)

    def clones_worse(self) -> float:
        return (_rms(self.out_residual) + self.tiny) / (_rms(self.residual) + self.tiny)

    def statistics(self) -> dict[str, float]:
        others = self.folds.sum(axis=1, keepdims=True) - self.out[:, None] - self.folds
        among_folds = (self.folds - others / (self.n_folds - 2))[self.has_seen]
        to_full = (self.folds - self.full[:, None])[self.has_seen]
        distances = [np.abs(self.residual - other) for other in (self.in_residual, self.out_residual)]
        own, inside, outside = map(self._mean_size, (self.residual, self.in_residual, self.out_residual))
        return {
            "same": float(np.log(self._size(self.own - self.full) / self._size(to_full))),
            "agree": float(np.log(self._size(self.own - self.inn) / self._size(among_folds))),
            "lean": float(np.mean(distances[0] - distances[1]) / self._mean_size(self.inn - self.out)),
            "near": float(np.mean(np.abs(self.own - self.full) < np.abs(self.own - self.out))),
            "own_to_in": float(np.log(own / inside)),
            "own_to_out": float(np.log(own / outside)),
            "out_to_in": float(np.log(outside / inside)),
        }

    def row_logit(self) -> Array:
        """Log odds of each row to have been seen."""
        squares = np.where(self.has_seen, (self.folds - self.inn[:, None]) ** 2, 0.0).sum(axis=1) / (self.n_folds - 2)
        typical = float(np.sort(squares)[: max(1, int(0.95 * len(squares)))].mean()) + self.tiny**2
        spread = np.sqrt(0.5 * (squares + typical))
        difference = np.abs(self.out_residual - self.in_residual)
        usual = float(difference.mean()) + self.tiny
        to_in, to_out = np.abs(self.residual - self.in_residual), np.abs(self.residual - self.out_residual)
        values = {
            "agree": np.log((to_in + 0.1 * spread + self.tiny) / (spread + self.tiny)),
            "size": np.log((np.abs(self.residual) + 0.1 * usual) / (np.abs(self.in_residual) + 0.1 * usual)),
            "near": (to_in - to_out) / (difference + 0.2 * usual),
        }
        memory = float(np.clip(np.log(usual / np.sqrt(typical)), -3.0, 6.0))
        values |= {f"{name} × memory": memory * value for name, value in values.items()}
        values["memory"] = np.full(len(spread), memory)
        terms = [ROW[name] * np.clip(value, -12.0, 12.0) for name, value in values.items()]
        return np.asarray(ROW["constant"] + np.sum(terms, axis=0))

    def _size(self, values: Array) -> float:
        """Mean of absolute values without the largest tenth."""
        ordered = np.sort(np.abs(values), axis=None)
        return float(ordered[: max(1, int(0.9 * len(ordered)))].mean()) + self.tiny

    def _mean_size(self, values: Array) -> float:
        return float(np.mean(np.abs(values))) + self.tiny


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _score(weights: dict[str, float], statistics: dict[str, float]) -> float:
    terms = (
        weight * float(np.clip(statistics[name], -LARGEST, LARGEST))
        for name, weight in weights.items()
        if name != "constant"
    )
    return weights["constant"] + sum(terms)


def _seen_share(logit: Array) -> float:
    """The share of seen rows under which rows with these log odds are likeliest, by expectation–maximisation."""
    share = 0.5
    for _ in range(200):
        probability = 1.0 / (1.0 + np.exp(-(logit + np.log(share / (1.0 - share)))))
        last, share = share, float(np.clip(probability.mean(), 1e-3, 1.0 - 1e-3))
        if abs(share - last) < 1e-6:
            break
    return share
