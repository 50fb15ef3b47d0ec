"""Cholesky factors with growing jitter, and triangular solves, on float64 matrices."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack
from scipy.linalg.blas import dtrmm, dtrmv, dtrsm

from rio_uq._base.array import Array

BASE_JITTER = 1e-8
"""Always added to a kernel matrix, as a share of its mean diagonal."""

MAX_JITTER = 1e-2

SMALL = 64
"""Triangular matrices up to this size are inverted by LAPACK."""


class NotPositiveDefiniteError(np.linalg.LinAlgError):
    """A kernel matrix could not be factorised even with the largest jitter."""


def cholesky(
    matrix: Array, jitter: float = 0.0, *, diagonal: Array | None = None, out: Array | None = None
) -> tuple[Array, float]:
    """Lower Cholesky factor of ``matrix + jitter · mean(diagonal) · I``, with as little jitter as works.

    Parameters
    ----------
    matrix : (m, m) array
        Symmetric, of which the lower triangle is enough if columns are contiguous; not changed.
    jitter : float
        The share of the mean diagonal to start with. On failure it grows tenfold, up to `MAX_JITTER`.
    diagonal : (m,) array or None
        Stands in for the diagonal of the matrix.
    out : (m, m) array, columns contiguous, or None
        Where the factor goes.

    Returns
    -------
    factor : (m, m) array
    jitter : float
        The share that was added in the end.

    Raises
    ------
    NotPositiveDefiniteError
        If no jitter helps; the message says what is wrong with the matrix.
    """
    if diagonal is None:
        diagonal = matrix.diagonal()
    scale = diagonal.sum() / len(diagonal)
    by_columns = matrix if matrix.flags.f_contiguous else matrix.T
    attempt = np.empty_like(by_columns, order="F") if out is None else out
    while True:
        np.copyto(attempt, by_columns)
        np.fill_diagonal(attempt, diagonal + jitter * scale)
        factor, info = lapack.dpotrf(attempt, lower=1, clean=1, overwrite_a=1)
        if info == 0 and np.isfinite(factor[-1, -1]):
            return factor, jitter
        if not np.isfinite(matrix).all():
            raise NotPositiveDefiniteError(
                "a kernel matrix has entries that are not finite: a hyperparameter or a feature has overflowed; "
                "check the scale of the features"
            )
        if jitter >= MAX_JITTER:
            raise NotPositiveDefiniteError(
                f"a kernel matrix of size {len(matrix)} is not positive definite even with {jitter:.0e} of its "
                "diagonal added: rows are repeated too often for the noise variance that was learnt; remove "
                "duplicate rows, or use fewer inducing points"
            )
        jitter = max(10.0 * jitter, 1e-12)


def solve_lower(factor: Array, right: Array, *, transposed: bool = False) -> Array:
    """factor⁻¹ right, or factor⁻ᵀ right, for a lower triangular factor (m, m) and right (m, k)."""
    return np.asarray(dtrsm(1.0, factor, right, lower=1, trans_a=int(transposed)))


def lower_product(lower: Array, right: Array) -> Array:
    """lower @ right (m, k) for a lower triangular matrix with contiguous rows: half the work of a full product."""
    if right.shape[1] == 1:
        return np.asarray(dtrmv(lower.T, right[:, 0], lower=0, trans=1))[:, None]
    return np.asarray(dtrmm(1.0, lower.T, right, lower=0, trans_a=1))


def triangular_inverse(factor: Array) -> Array:
    """The inverse of a lower triangular factor, rows contiguous."""
    inverted = np.array(factor, order="F")
    _invert_lower(inverted)
    return np.ascontiguousarray(inverted)


def lower_inverse(factor: Array, *, overwrite: bool = False) -> Array:
    """The lower triangle of the inverse of factor · factorᵀ, zeros above; if allowed, in place of the factor."""
    inverted = np.asfortranarray(factor) if overwrite else np.array(factor, order="F")
    _invert_lower(inverted)
    lower, _ = lapack.dlauum(inverted, lower=1, overwrite_c=1)
    return np.asarray(lower)


def _invert_lower(factor: Array) -> None:
    """Invert a lower triangular matrix in place, by halves.

        (A 0)⁻¹   (    A⁻¹      0 )
        (B C)   = (−C⁻¹ B A⁻¹  C⁻¹)

    Nearly all of it is products of matrices, which BLAS does faster than LAPACK's dtrtri inverts.
    """
    if len(factor) <= SMALL:
        factor[:] = lapack.dtrtri(factor, lower=1)[0]
        return
    half = len(factor) // 2
    upper, lower = factor[:half, :half], factor[half:, half:]
    _invert_lower(upper)
    _invert_lower(lower)
    product = dtrmm(-1.0, upper, factor[half:, :half], side=1, lower=1)
    factor[half:, :half] = dtrmm(1.0, lower, product, lower=1, overwrite_b=1)


def inverse(factor: Array) -> Array:
    """The inverse of factor · factorᵀ, whole and symmetric."""
    lower = lower_inverse(factor)
    whole = lower + lower.T
    np.fill_diagonal(whole, lower.diagonal())
    return whole


def log_determinant(factor: Array) -> float:
    """log |factor · factorᵀ|."""
    return float(2.0 * np.log(factor.diagonal()).sum())


def inverse_root(matrix: Array, least: float) -> Array:
    """C with C Cᵀ = A⁻¹ for a symmetric matrix A, (p, p), whose eigenvalues are taken to be ``least`` or more."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors / np.sqrt(np.maximum(values, least)))
