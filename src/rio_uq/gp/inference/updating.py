"""Adding rows to a posterior at fixed hyperparameters, and leaving them out: what other rows would have given.

Of its rows a posterior knows nothing but its evidence. That of the sparse GP are sums over rows, so those of new rows
are added, and the posterior is made of the totals. That of the exact GP are the rows themselves: its Cholesky factor
grows at the lower right, and keeps what it has (`rio_uq.gp.inference.exact.extended`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.inference import exact, sparse
from rio_uq.gp.inference.statistics import Evidence, ExactEvidence, SparseEvidence, Statistics
from rio_uq.gp.posterior import Posterior
from rio_uq.gp.rows import Rows, single_blas_thread


def add_rows(posterior: Posterior, data: Rows) -> Posterior:
    """The posterior of the rows that it knows and of further ones.

    Parameters
    ----------
    posterior : Posterior
        With its evidence. Its noise variance may have been set to another one than that of the likelihood, which is
        in the evidence: new rows are weighed by the latter, as the old ones were, and the former stays.
    data : Rows

    Examples
    --------
    >>> import numpy as np
    >>> from rio_uq.gp.inference import exact
    >>> from rio_uq.gp.kernels.io import io_kernel
    >>> from rio_uq.gp.posterior import predict_mean
    >>> rows = np.random.default_rng(0).normal(size=(30, 3))
    >>> targets, kernel, log_noise = np.sin(rows[:, :1]), io_kernel(2, 1), np.log([0.1])
    >>> whole = exact.posterior(kernel, np.zeros(4), log_noise, Rows(rows, targets))
    >>> first = exact.posterior(kernel, np.zeros(4), log_noise, Rows(rows[:20], targets[:20]))
    >>> both = add_rows(first, Rows(rows[20:], targets[20:]))
    >>> bool(np.allclose(predict_mean(both, rows), predict_mean(whole, rows)))
    True
    """
    evidence = _evidence(posterior)
    with single_blas_thread:
        if isinstance(evidence, ExactEvidence):
            return exact.extended(posterior, evidence, data)
        return of_sums(posterior, evidence.sums.plus(sums_of(posterior, data)))


def sums_of(posterior: Posterior, data: Rows) -> Statistics:
    """What rows tell a sparse GP, such that it can be added to what others do."""
    evidence = _sparse_evidence(posterior)
    if not len(data):
        return Statistics.of_no_rows(len(posterior.points), data.n_outputs)
    with single_blas_thread:
        log_noise = np.log(evidence.noise_variance)
        found = sparse.gather(posterior.kernel, posterior.theta, log_noise, posterior.points, data, evidence.jitter)
    return found.sums


def of_sums(posterior: Posterior, sums: Statistics) -> Posterior:
    """A sparse GP that knows the rows behind these sums, and no others."""
    evidence = _sparse_evidence(posterior)._replace(sums=sums)
    with single_blas_thread:
        known = sparse.posterior_of(posterior.kernel, posterior.theta, posterior.points, evidence)
    return replace(known, noise_variance=posterior.noise_variance)


def sums_behind(posterior: Posterior) -> Statistics:
    """What the rows that a sparse GP knows have told it."""
    return _sparse_evidence(posterior).sums


def _evidence(posterior: Posterior) -> Evidence:
    if posterior.evidence is None:
        raise ValueError("rows cannot be added to a posterior without its evidence")
    return posterior.evidence


def _sparse_evidence(posterior: Posterior) -> SparseEvidence:
    evidence = _evidence(posterior)
    if isinstance(evidence, ExactEvidence):
        raise ValueError(
            "rows that are read in parts cannot be added to an exact GP, which keeps all rows: give them as arrays, or "
            "fit with inference='sparse'"
        )
    return evidence


def leave_one_out(posterior: Posterior, data: Rows) -> tuple[Array, Array]:
    """Leave-one-out residuals and latent variances, each (n, q), of the rows behind a posterior."""
    evidence = posterior.evidence
    if evidence is None:
        raise ValueError("the rows behind a posterior cannot be left out without its evidence")
    with single_blas_thread:
        if isinstance(evidence, ExactEvidence):
            return exact.leave_one_out(posterior, evidence)
        return sparse.leave_one_out(posterior, evidence, data)


def log_likelihood(posterior: Posterior) -> tuple[float, float]:
    """The log marginal likelihood of the rows behind a posterior, or its lower bound, and the sum of their weights."""
    evidence = posterior.evidence
    if isinstance(evidence, ExactEvidence):
        return exact.likelihood_of(posterior.reducers, evidence), evidence.total_weight
    if evidence is None:
        raise ValueError("the likelihood of a posterior is not known without its evidence")
    return sparse.bound_of(evidence.noise_variance, evidence.sums)[0], evidence.sums.n
