"""Where the model is the truth, error bars are right: intervals hold as often as they say."""

import numpy as np
import pytest

from rio_uq import RIORegressor, metrics
from rio_uq.gp.kernels import io_kernel


@pytest.mark.slow
@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_coverage_over_draws_from_the_prior(inference):
    rng = np.random.default_rng(1)
    kernel = io_kernel(2, 1, input_family="matern52", ard=True)
    levels = np.array([0.68, 0.9, 0.95])
    covered = []
    for seed in range(30):
        X, y_pred = rng.uniform(-2, 2, size=(400, 2)), rng.uniform(-2, 2, size=400)
        rows = np.column_stack([X, y_pred])
        prior = kernel.matrix(np.zeros(kernel.n_parameters), rows, rows) + 0.05 * np.eye(400)
        y = y_pred + np.linalg.cholesky(prior) @ rng.normal(size=400)
        rio = RIORegressor(inference=inference, n_inducing=80, random_state=seed).fit(
            X[:200], y[:200], y_pred=y_pred[:200]
        )
        mean, std = rio.predict(X[200:], y_pred=y_pred[200:], return_std=True)
        covered.append(metrics.coverage_curve(y[200:], mean, std, confidence_levels=levels))
    np.testing.assert_allclose(np.mean(covered, axis=0), levels, atol=0.03)
