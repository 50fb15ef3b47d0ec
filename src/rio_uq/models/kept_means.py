"""Means over training rows that a model keeps, compared with those over the rows given.

Let ψ(x) be the deviations of a row from the means that are kept, and D their mean over the n given rows, in units of
√(1/n + 1/N) for N training rows. If the given rows are new, and from the source of the training rows, D has the
covariance C of ψ(x). Many of the means say nearly the same: with W = I, DᵀWD is a sum of few terms that are as good as
independent. With

    W = (C + λ)⁻¹,        λ = τ tr C² / tr C,

there are more of them: Q = DᵀWD / tr WC has the mean 1 and the variance 2/ν, and ν = (tr WC)² / tr (WC)² is larger.

C is what the given rows say of it. W is made from four fifths of them, and the rest give tr WC and tr (WC)², as means
of ψᵀWψ and of (ψᵀWψ')²; all of this five times. With Ψ (a, ·) the centred rows that C = ΨᵀΨ/a is made from,

    uᵀWv = (uᵀv − uᵀΨᵀ(ΨΨᵀ + aλ)⁻¹Ψv)/λ,

so that nothing is needed but the products ψ(x)ᵀψ(x') and ψ(x)ᵀD.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq.models.leaves import spread_out

MOST_COMPARED = 500
"""Rows that C is estimated from."""

FOLDS = 5
RIDGE = 0.3
"""τ: smaller, and W has more of the errors of C; larger, and fewer means count."""


class KeptMeans(NamedTuple):
    """The products of deviations.

    Attributes
    ----------
    square : float
        DᵀD.
    towards : (m,) array
        ψ(x)ᵀD of some of the given rows, those of `some_rows`.
    products : (m, m) array
        ψ(x)ᵀψ(x') of these.
    n_trained : float
    """

    square: float
    towards: Array
    products: Array
    n_trained: float


class Comparison(NamedTuple):
    """Q, and ν."""

    ratio: float
    n_independent: float


def some_rows(n: int) -> NDArray[np.intp]:
    """Numbers of at most `MOST_COMPARED` rows, from the first to the last."""
    return spread_out(n, MOST_COMPARED)


def sum_of(means: Iterable[KeptMeans]) -> KeptMeans:
    """All means as one; the number of training rows is their mean."""
    square, towards, products, n_trained = zip(*means, strict=True)
    return KeptMeans(sum(square), reduce(np.add, towards), reduce(np.add, products), float(np.mean(n_trained)))


def compared(means: KeptMeans, *, is_whitened: bool = True) -> Comparison | None:
    """Q and ν; None where nothing varies, or rows are too few.

    Parameters
    ----------
    means : KeptMeans
    is_whitened : bool
        Whether all means are of the same training rows. Those of samples that are drawn anew for each tree have another
        covariance than C, and W is I.
    """
    m = len(means.towards)
    if m < 2 * FOLDS:
        return None
    everything = np.block([[means.products, means.towards[:, None]], [means.towards, means.square]])
    fold = np.arange(m) % FOLDS
    parts = [_products_left_out(everything, np.flatnonzero(fold == k), is_whitened=is_whitened) for k in range(FOLDS)]
    square, trace, squared = np.mean(parts, axis=0)
    if not trace > 0.0:
        return None
    return Comparison(float(square / trace), float(min(trace**2 / max(squared, np.finfo(float).tiny), m)))


def _products_left_out(everything: Array, out: NDArray[np.intp], *, is_whitened: bool) -> tuple[float, float, float]:
    """DᵀWD, tr WC and tr (WC)², W without the rows ``out``, each in units of tr C or of its square.

    Parameters
    ----------
    everything : (m + 1, m + 1) array
        Products of rows and, last, of D.
    """
    m = len(everything) - 1
    rest = np.setdiff1d(np.arange(m), out)
    products = everything.copy()
    products[:m] -= products[rest].mean(axis=0)
    products[:, :m] -= products[:, rest].mean(axis=1, keepdims=True)
    inside = products[np.ix_(rest, rest)] / len(rest)
    trace = float(np.trace(inside))
    if trace <= 0.0:
        return 0.0, 0.0, 0.0
    last = np.append(out, m)
    values = products[np.ix_(last, last)] / trace
    if is_whitened:
        ridge = RIDGE * float((inside**2).sum()) / trace
        across = products[np.ix_(rest, last)]
        explained = np.linalg.solve(inside + ridge * np.eye(len(rest)), across) / len(rest)
        values = (values - across.T @ explained / trace) * (trace / ridge)
    of_rows = values[:-1, :-1] / (1.0 + 1.0 / len(rest))  # their centre is an estimate, too
    is_pair = ~np.eye(len(out), dtype=bool)
    return float(values[-1, -1]), float(np.diag(of_rows).mean()), float((of_rows[is_pair] ** 2).mean())
