"""time_budget: a promise by the clock, which the tests set."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor, fitting
from rio_uq.gp.inference.collapsed import CollapsedBound
from rio_uq.gp.inference.exact import MarginalLikelihood
from rio_uq.gp.inference.svgp import Climb


@pytest.fixture
def clock(monkeypatch):
    """Evaluations of an objective, on any rows, take a second each, and nothing else takes time."""
    now = {"seconds": 0.0}

    def timed(evaluate):
        def evaluation(*arguments, **options):
            now["seconds"] += 1.0
            return evaluate(*arguments, **options)

        return evaluation

    for owner, name in ((MarginalLikelihood, "__call__"), (CollapsedBound, "__call__"), (Climb, "step")):
        monkeypatch.setattr(owner, name, timed(getattr(owner, name)))
    monkeypatch.setattr(fitting, "clock", lambda: now["seconds"])
    return now


def rows(rng, n=90):
    X = rng.normal(size=(n, 2))
    return X, np.exp(0.5 * X[:, 0] + np.sin(2.0 * X[:, 1])) + 0.1 * rng.normal(size=n)


def model(X):
    return X[:, 0]


def fitted(data, seconds, **options):
    training = {"time_budget": seconds, **options.pop("training", {})}
    return RIORegressor(options.pop("model", model), training=training, random_state=0, **options).fit(
        *data, held_out=True
    )


@pytest.mark.parametrize("inference", ["exact", "sparse", "svgp", "nearest"])
def test_a_fit_without_time_is_valid_and_says_why_it_stopped(inference, rng, clock):
    data = rows(rng)
    with pytest.warns(ConvergenceWarning, match="left no time for the optimiser to converge.*raise time_budget"):
        rio = fitted(data, 1e-3, inference=inference)
    assert not rio.converged_
    assert "may still change with a larger time_budget" in str(rio.summary())
    mean, std = rio.predict(data[0], return_std=True)
    assert np.isfinite(mean).all()
    assert (std > 0.0).all()
    intervals = rio.predict_interval(data[0], confidence_level=0.9)
    assert 0.7 < np.mean((intervals[:, 0] <= data[1]) & (data[1] <= intervals[:, 1])) <= 1.0


def test_the_clock_is_asked_and_more_time_is_used(rng, clock):
    data, taken = rows(rng), []
    for seconds in (10.0, 60.0, 1e6):
        clock["seconds"] = 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted(data, seconds, inference="exact")
        taken.append(clock["seconds"])
    assert taken[0] < 30.0 < taken[1] < 80.0 < taken[2]


def test_a_budget_that_suffices_changes_nothing(rng, clock):
    data = rows(rng)
    with_budget, without = (fitted(data, seconds, inference="exact") for seconds in (1e9, None))
    np.testing.assert_array_equal(with_budget.predict(data[0]), without.predict(data[0]))
    assert with_budget.converged_


def test_stages_that_would_take_too_long_are_left_out(rng, clock):
    """There is time for the GP on residuals, but not for a second one: nothing is compared."""
    data = rows(rng, 60)
    whole = fitted(data, None, inference="exact", scale="identity")
    assert whole.model_choice_ is not None
    clock["seconds"] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        some = fitted(data, 60.0, inference="exact", scale="identity")
    assert some.model_choice_ is None


def test_what_was_left_out_is_named(rng, clock):
    with pytest.warns(ConvergenceWarning, match="time_budget=60 left no .* and a GP without the model, .*raise"):
        fitted(rows(rng, 60), 60.0, inference="exact", scale="identity")


def test_no_scale_is_chosen_without_time(rng, clock):
    X, y = rows(rng, 60)
    data = X, np.exp(y)
    with pytest.warns(ConvergenceWarning):
        rio = fitted(data, 1e-3, inference="exact", scale="auto")
    assert rio.fitted_.scales.is_identity


def test_the_time_of_clones_counts(rng, clock):
    """Clones that take longer than the budget leave no time for a search."""

    class Slow(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            clock["seconds"] += 100.0
            return super().fit(X, y, sample_weight)

    X, y = rows(rng, 60)
    with pytest.warns(ConvergenceWarning, match="left no time for the optimiser to converge"):
        rio = RIORegressor(Slow(), training={"time_budget": 50.0}, inference="exact", random_state=0).fit(X, y)
    assert rio.n_iter_ == 0
    assert np.isfinite(rio.predict(X)).all()


@pytest.mark.usefixtures("few_iterations")
def test_many_rows_without_time_are_sparse(rng, clock):
    data = rows(rng, 2100)
    with pytest.warns(ConvergenceWarning, match="left no time for the optimiser to converge"):
        rio = fitted(data, 1e-3, n_inducing=20)
    assert rio.inference_ == "sparse"
    assert (rio.predict(data[0][:50], return_std=True)[1] > 0.0).all()
