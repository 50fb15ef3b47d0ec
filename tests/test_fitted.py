"""`Fitted` where the GP looks at more predictions than there are outcomes."""

from dataclasses import replace

import numpy as np
import pytest

from rio_uq import RIORegressor
from rio_uq.answers import Inputs
from rio_uq.fitted import Fitted
from rio_uq.gp.fit import KernelChoice, fit_residual_gp
from rio_uq.gp.problem import Problem
from rio_uq.gp.settings import Settings
from rio_uq.options import Options, training_settings
from rio_uq.rows.contract import Part
from rio_uq.rows.examples import example_rows
from rio_uq.rows.kept import keep_rows
from rio_uq.storage import STORED, read, write
from rio_uq.summary import summarize

pytestmark = pytest.mark.usefixtures("quick_fits")

N, P = 80, 2


def two_predictions(X):
    """Not one prediction for each outcome: a mean and a spread, say."""
    return np.column_stack([X[:, 0], 3.0 + X[:, 1]])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N, 2))
    return X, 50.0 + np.sin(4.0 * X[:, 0]) + X[:, 1] + 0.05 * rng.normal(size=N)


@pytest.fixture(scope="module", params=["io", "input"])
def fitted(request, rows):
    X, y = rows
    y_pred = two_predictions(X)
    gp, _ = fit_residual_gp(
        Problem(X, y_pred, y[:, None], None, is_residual=False),
        KernelChoice(request.param, "rbf", "rbf+linear", ard=True),
        Settings("exact", max_iter=30),
        standardize_output=True,
        starts="auto",
        n_restarts=0,
        prior="weak",
        noise="constant",
        walk_options={},
        rng=np.random.default_rng(0),
    )
    usual = RIORegressor(lambda X: X[:, 0], random_state=0).fit(X, y).fitted_
    return replace(
        usual,
        model=two_predictions,
        gp=gp,
        kept=keep_rows(X, y_pred, y[:, None], None, np.arange(N), np.random.default_rng(0)),
        example=example_rows(X),
    )


@pytest.fixture
def inputs(fitted, rows):
    return fitted.inputs(Part("X", rows[0]))


def test_predictions_have_their_own_number_of_columns(fitted, rows, inputs):
    assert (fitted.n_predictions, fitted.n_outputs) == (P, 1)
    np.testing.assert_array_equal(inputs.y_pred, two_predictions(rows[0]))
    with pytest.raises(ValueError, match=r"y_pred should have shape \(80, 2\)"):
        fitted.predictions(rows[0], rows[1])


def test_answers_are_about_outcomes(fitted, rows, inputs):
    y = rows[1]
    assert fitted.base(inputs.y_pred).shape == (N, 1)
    mean, std = fitted.predict(inputs, 1, return_std=True)
    assert mean.shape == std.shape == (N,)
    assert np.abs(mean - y).mean() < 0.1
    np.testing.assert_allclose(fitted.mean(inputs, 1)[:, 0], mean)
    few = Inputs(inputs.features[:5], inputs.y_pred[:5])
    of_few, covariance = fitted.predict(few, 1, return_cov=True)
    np.testing.assert_allclose(of_few, mean[:5])
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), std[:5], rtol=1e-6)
    quantiles = fitted.quantiles(inputs, 1, probabilities=np.array([0.5, 0.8413447460685429]))
    np.testing.assert_allclose(quantiles, np.column_stack([mean, mean + std]), rtol=1e-9)
    draws = fitted.sample(few, 1, n_samples=400, rng=np.random.default_rng(0), include_noise=True)
    np.testing.assert_allclose(draws.mean(axis=1), mean[:5], atol=4.0 * std[:5].max() / 20.0)


def test_a_correction_is_the_corrected_prediction_itself(fitted, inputs):
    mean, std = fitted.predict(inputs, 1, return_std=True)
    correction, its_std = fitted.correction(inputs, 1, return_std=True)
    np.testing.assert_allclose(correction, mean)
    np.testing.assert_allclose(fitted.correction(inputs, 1), mean)
    np.testing.assert_array_equal(its_std, std)
    parts = fitted.decompose(inputs, 1)
    assert parts.input.shape == parts.output.shape == (N,)
    np.testing.assert_allclose(parts.input + parts.output, mean, rtol=1e-8)


def test_a_summary_is_about_the_mean(fitted, inputs):
    summary = summarize(fitted, fitted.kept, 1)
    assert summary.bias == pytest.approx(fitted.mean(inputs, 1).mean())
    assert sum(summary.shares) == pytest.approx(1.0)
    assert {band.variable for band in summary.bands} <= {"x0", "x1"}
    assert "not one for each output" in str(summary)


def test_a_file_gives_the_same(fitted, rows, inputs, tmp_path):
    path = tmp_path / "model.rio"
    write(path, RIORegressor(target="outcome").get_params(deep=False), fitted)
    _, again = read(path, model=two_predictions, trusted=(), parameters={})
    np.testing.assert_array_equal(again.kept.y_pred, fitted.kept.y_pred)
    for value, other in zip(
        again.mean_and_std(again.inputs(Part("X", rows[0])), 1), fitted.mean_and_std(inputs, 1), strict=True
    ):
        np.testing.assert_array_equal(value, other)
    with pytest.raises(ValueError, match="not the one that was fitted"):
        read(path, model=lambda X: X[:, 0], trusted=(), parameters={})
    _, without = read(path, model=STORED, trusted=(), parameters={})
    assert isinstance(without, Fitted)
    assert without.model is None


def test_inducing_points_have_a_column_for_each_prediction():
    options = Options.of(RIORegressor(training={"inducing": np.zeros((4, 5))}).get_params(deep=False))
    assert training_settings(options, 3, P).inducing.shape == (4, 5)
    with pytest.raises(ValueError, match=r"shape \(m, 4\): 3 standardised features and 1"):
        training_settings(options, 3, 1)
