"""RIORegressor: what a user sees."""

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import cross_val_predict

from rio_uq import RIORegressor, metrics
from rio_uq.options import PAPER_VARIANTS

pytestmark = pytest.mark.usefixtures("quick_fits")

CAREFUL = {"random_state": 0, "tol": 1e-6, "training": {"starts": "auto"}}
"""The usual defaults, for facts about the optimum."""


@pytest.fixture
def rio(fitted_rio):
    return fitted_rio


@pytest.fixture
def model(rio):
    return rio.estimator_


@pytest.fixture
def new(rng):
    return rng.uniform(size=(15, 4))


def test_corrected_predictions_are_better(model, friedman, rng):
    X, y = friedman
    rio = RIORegressor(model, random_state=0).fit(X[:90], y[:90])
    mean, std = rio.predict(X[90:], return_std=True)
    assert metrics.rmse(y[90:], mean) < 0.3 * metrics.rmse(y[90:], model.predict(X[90:]))
    assert 0.8 <= metrics.coverage(y[90:], mean, std, confidence_level=0.95) <= 1.0


def test_std_is_that_of_an_outcome_unless_noise_is_left_out(rio, new):
    mean, outcome = rio.predict(new, return_std=True)
    _, latent = rio.predict(new, return_std=True, include_noise=False)
    np.testing.assert_allclose(outcome**2 - latent**2, rio.noise_variance_, rtol=1e-9)
    np.testing.assert_array_equal(rio.predict(new), mean)


def test_covariance_has_the_variances_on_its_diagonal(rio, new):
    mean, covariance = rio.predict(new, return_cov=True)
    expected_mean, std = rio.predict(new, return_std=True)
    np.testing.assert_allclose(mean, expected_mean)
    np.testing.assert_allclose(covariance.diagonal(), std**2, rtol=1e-8)
    _, latent = rio.predict(new, return_cov=True, include_noise=False)
    np.testing.assert_allclose(covariance - latent, rio.noise_variance_ * np.eye(15), atol=1e-12)


def test_intervals_quantiles_and_distribution_say_the_same(rio, new):
    distribution = rio.predict_dist(new)
    band = rio.predict_interval(new, confidence_level=0.9)
    assert band.shape == (15, 2)
    np.testing.assert_allclose(band.T, distribution.ppf([[0.05], [0.95]]))
    bands = rio.predict_interval(new, confidence_level=[0.5, 0.9])
    assert bands.shape == (15, 2, 2)
    np.testing.assert_allclose(bands[:, :, 1], band)
    np.testing.assert_allclose(rio.predict_quantiles(new, quantiles=[0.05, 0.95]), band)
    np.testing.assert_allclose(rio.predict_quantiles(new, quantiles=0.5), rio.predict(new))


def test_samples_follow_the_distribution(rio, new):
    draws = rio.sample_y(new, n_samples=4000, random_state=1)
    assert draws.shape == (15, 4000)
    levels = rio.predict_dist(new).cdf(draws.T)
    assert stats.kstest(levels[:, 0], "uniform").pvalue > 1e-3
    np.testing.assert_array_equal(draws, rio.sample_y(new, n_samples=4000, random_state=1))
    latent = rio.sample_y(new, n_samples=4000, random_state=1, include_noise=False)
    assert (latent.std(axis=1) < draws.std(axis=1)).all()


def test_residual_is_the_correction_alone(rio, model, new):
    correction, std = rio.predict_residual(new, return_std=True)
    mean, expected_std = rio.predict(new, return_std=True)
    np.testing.assert_allclose(model.predict(new) + correction, mean)
    np.testing.assert_array_equal(std, expected_std)
    np.testing.assert_array_equal(rio.predict_residual(new), correction)


@pytest.mark.parametrize("target", ["residual", "outcome"])
@pytest.mark.parametrize("kernel", ["io", "input", "output"])
def test_corrections_split_exactly_into_two_parts(kernel, target, model, friedman, new):
    rio = RIORegressor(model, kernel=kernel, target=target, noise="constant", tol=1e-3, random_state=0).fit(*friedman)
    parts = rio.decompose(new)
    np.testing.assert_allclose(model.predict(new) + parts.input + parts.output, rio.predict(new), rtol=1e-10)
    if target == "residual" and kernel != "io":
        assert not getattr(parts, "output" if kernel == "input" else "input").any()


def test_the_output_part_is_a_function_of_the_prediction_alone(rio, new):
    one = rio.decompose(new, y_pred=np.full(15, 3.0)).output
    np.testing.assert_allclose(one, one[0], rtol=1e-10)


def test_trust_is_near_one_in_a_good_model(rng):
    X = rng.normal(size=(300, 3))
    truth = np.sin(2 * X[:, 0]) + X[:, 1]
    y = truth + 0.1 * rng.normal(size=300)
    rio = RIORegressor(**CAREFUL).fit(X, y, y_pred=truth)
    assert rio.trust_ == pytest.approx(1.0, abs=0.05)
    assert rio.trust_std_ < 0.1


def test_trust_is_near_zero_in_a_useless_model_and_predictions_are_a_plain_gps(rng):
    X = rng.normal(size=(300, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=300)
    noise, new_noise = rng.normal(size=300), rng.normal(size=50)
    rio = RIORegressor(**CAREFUL).fit(X, y, y_pred=noise)
    plain = RIORegressor(target="outcome", kernel="input", **CAREFUL).fit(X, y, y_pred=noise)
    assert rio.trust_ == pytest.approx(0.0, abs=0.05)
    new = rng.normal(size=(50, 3))
    mean, std = rio.predict(new, y_pred=new_noise, return_std=True)
    expected_mean, expected_std = plain.predict(new, y_pred=new_noise, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, atol=0.05)
    np.testing.assert_allclose(std, expected_std, rtol=0.1)


def test_trust_without_an_output_kernel_is_all_or_nothing(model, friedman):
    for target, trust in (("residual", 1.0), ("outcome", 0.0)):
        rio = RIORegressor(model, kernel="input", target=target, noise="constant", tol=1e-2).fit(*friedman)
        assert rio.trust_ == trust


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_scaling_y_scales_mean_and_std(inference, friedman, new):
    X, y = friedman
    model = Ridge().fit(X, y)
    options = {"inference": inference, "n_inducing": 40, "random_state": 0}
    one = RIORegressor(**options).fit(X, y, y_pred=model.predict(X))
    other = RIORegressor(**options).fit(X, 1024 * y, y_pred=1024 * model.predict(X))
    for a, b in zip(
        one.predict(new, y_pred=model.predict(new), return_std=True),
        other.predict(new, y_pred=1024 * model.predict(new), return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(1024 * a, b, rtol=1e-6)
    assert other.bound_ == pytest.approx(one.bound_ - 120 * np.log(1024), abs=1e-4)
    assert other.noise_variance_ == pytest.approx(1024**2 * one.noise_variance_, rel=1e-6)


@pytest.mark.parametrize("inference", ["exact", "sparse"])
def test_shifting_and_scaling_features_changes_nothing(inference, friedman, new):
    X, y = friedman
    model = Ridge().fit(X, y)
    options = {"inference": inference, "n_inducing": 40, "random_state": 0}
    one = RIORegressor(**options).fit(X, y, y_pred=model.predict(X))
    other = RIORegressor(**options).fit(100 + 7 * X, y, y_pred=model.predict(X))
    for a, b in zip(
        one.predict(new, y_pred=model.predict(new), return_std=True),
        other.predict(100 + 7 * new, y_pred=model.predict(new), return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-3)
    np.testing.assert_allclose(
        other.hyperparameters_["input:matern52"]["lengthscale"],
        7 * one.hyperparameters_["input:matern52"]["lengthscale"],
        rtol=0.05,
    )


def test_the_order_of_rows_changes_nothing(friedman, new, rng):
    X, y = friedman
    order = rng.permutation(len(X))
    y_pred = X.sum(axis=1)
    one = RIORegressor(random_state=0).fit(X, y, y_pred=y_pred)
    other = RIORegressor(random_state=0).fit(X[order], y[order], y_pred=y_pred[order])
    np.testing.assert_allclose(
        one.predict(new, y_pred=new.sum(axis=1)), other.predict(new, y_pred=new.sum(axis=1)), rtol=1e-6
    )


def test_a_weight_of_two_is_two_rows(friedman, new):
    X, y = friedman
    weight = 1 + np.arange(len(X)) % 3
    one = RIORegressor(Ridge(), random_state=0, tol=1e-11).fit(X, y, sample_weight=weight)
    other = RIORegressor(Ridge(), random_state=0, tol=1e-11).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.predict(new), other.predict(new), rtol=1e-3)


def test_stopping_early_is_said(model, friedman):
    with pytest.warns(ConvergenceWarning, match="stopped after 3 iterations.*raise max_iter"):
        rio = RIORegressor.paper(model, max_iter=3).fit(*friedman)
    assert not rio.converged_
    assert rio.n_iter_ == 3


def test_sparse_with_enough_points_is_the_exact_gp(model, friedman, new):
    exact = RIORegressor(model, inference="exact", **CAREFUL).fit(*friedman)
    sparse = RIORegressor(model, inference="sparse", n_inducing=120, **CAREFUL).fit(*friedman)
    np.testing.assert_allclose(exact.predict(new), sparse.predict(new), atol=0.05)
    assert sparse.bound_ == pytest.approx(exact.bound_, abs=0.5)
    assert sparse.bound_ < exact.bound_ + 1e-2


@pytest.mark.parametrize("inducing", ["greedy", "kmeans", "random", "first", "given"])
def test_inducing_points(inducing, model, friedman, rng):
    points = rng.normal(size=(10, 5)) if inducing == "given" else inducing
    options = {
        "inference": "sparse",
        "n_inducing": 10,
        "training": {"inducing": points},
        "tol": 1e-3,
        "random_state": 0,
    }
    rio = RIORegressor(model, residuals="in-sample", **options).fit(*friedman)
    assert rio.n_inducing_ == 10
    assert metrics.rmse(friedman[1], rio.predict(friedman[0])) < metrics.rmse(friedman[1], model.predict(friedman[0]))


def test_optimised_points_have_a_higher_bound(model, friedman, rng):
    options = {"inference": "sparse", "n_inducing": 8, "noise": "constant", "tol": 1e-3, "random_state": 0}
    for points in ("first", rng.normal(size=(8, 5))):
        training = {"starts": "rio", "inducing": points}
        fixed = RIORegressor(model, training=training, **options).fit(*friedman)
        moved = RIORegressor(model, training={**training, "optimize_inducing": True}, **options).fit(*friedman)
        assert moved.bound_ > fixed.bound_ + 1.0


@pytest.mark.parametrize("variant", PAPER_VARIANTS)
def test_the_papers_settings(variant, model, friedman, new):
    rio = RIORegressor.paper(model, variant=variant)
    assert (rio.target, rio.kernel) == PAPER_VARIANTS[variant]
    assert (rio.n_inducing, rio.ard) == (50, False)
    assert (rio.training.inducing, rio.training.optimize_inducing) == ("first", True)
    assert not rio.training.standardize_output
    assert rio.max_iter == 1000
    rio.set_params(tol=1e-4).fit(*friedman)
    np.testing.assert_array_equal(rio.fitted_.gp.targets.scale, 1.0)
    np.testing.assert_array_equal(rio.fitted_.gp.outputs.scale, 1.0)
    assert rio.n_inducing_ == 50
    assert np.isfinite(rio.predict(new)).all()


def test_hyperparameters_are_in_the_units_of_the_data(rio, friedman):
    found = rio.hyperparameters_
    assert list(found) == ["input:matern52", "output:rbf", "output:linear"]
    assert found["input:matern52"]["lengthscale"].shape == (4,)
    assert (
        found["input:matern52"]["lengthscale"][3] > 3 * found["input:matern52"]["lengthscale"][0]
    )  # a feature that does nothing
    assert isinstance(found["output:linear"]["variance"], float)
    assert np.sqrt(rio.noise_variance_) == pytest.approx(0.3, rel=0.25)


def test_kernels_of_every_family(model, friedman, new):
    rio = RIORegressor(
        model, input_kernel="matern52+matern52", output_kernel="rational_quadratic", random_state=0, ard=False, tol=1e-4
    ).fit(*friedman)
    assert list(rio.hyperparameters_) == ["input:matern52", "input:matern52#2", "output:rational_quadratic"]
    assert rio.hyperparameters_["output:rational_quadratic"]["shape"] > 0
    assert np.isfinite(rio.predict(new, return_std=True)).all()


def test_random_restarts_never_make_it_worse(model, friedman):
    one = RIORegressor(model, random_state=0, tol=1e-4).fit(*friedman)
    more = RIORegressor(model, random_state=0, tol=1e-4, training={"n_restarts": 2}).fit(*friedman)
    assert more.bound_ > one.bound_ - 1.0


def test_options_of_the_walk_do_not_change_the_result(model, friedman, new):
    options = {"inference": "sparse", "n_inducing": 60, "noise": "constant", "random_state": 0}
    one = RIORegressor(model, **options).fit(*friedman)
    low = RIORegressor(model, training={"low_memory": True}, n_jobs=2, **options).fit(*friedman)
    single = RIORegressor(model, training={"dtype": "float32"}, **options).fit(*friedman)
    np.testing.assert_allclose(one.predict(new), low.predict(new), rtol=1e-6)
    truth = 10 * np.sin(np.pi * new[:, 0] * new[:, 1]) + 20 * (new[:, 2] - 0.5) ** 2
    assert metrics.rmse(truth, single.predict(new)) < 1.5 * metrics.rmse(truth, one.predict(new))


def test_several_outputs(rng, friedman, new):
    X, y = friedman
    Y = np.column_stack([y, -2 * y + 50 * X[:, 0], rng.normal(size=len(y))])
    model = LinearRegression().fit(X, Y)
    rio = RIORegressor(model, random_state=0).fit(X, Y)
    mean, std = rio.predict(new, return_std=True)
    assert mean.shape == std.shape == (15, 3)
    assert rio.noise_variance_.shape == rio.trust_.shape == rio.trust_std_.shape == (3,)
    assert rio.noise_variance_[2] == pytest.approx(1.0, rel=0.4)
    assert rio.predict_interval(new).shape == (15, 3, 2)
    assert rio.predict_interval(new, confidence_level=[0.5, 0.9]).shape == (15, 3, 2, 2)
    assert rio.predict_quantiles(new, quantiles=[0.1, 0.5, 0.9]).shape == (15, 3, 3)
    assert rio.sample_y(new, n_samples=6).shape == (15, 3, 6)
    assert rio.predict(new, return_cov=True)[1].shape == (15, 15, 3)
    parts = rio.decompose(new)
    np.testing.assert_allclose(model.predict(new) + parts.input + parts.output, mean, rtol=1e-9)
    before, after = metrics.rmse(Y[:, 0], model.predict(X)[:, 0]), metrics.rmse(Y[:, 0], rio.predict(X)[:, 0])
    assert after < 0.5 * before


def test_more_than_two_thousand_rows_are_sparse_and_a_little_less_is_exact(rng):
    """Of something so smooth that points know as much as near rows do."""
    X = rng.uniform(size=(2600, 2))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=2600)
    y_pred = np.zeros(2600)
    rio = RIORegressor(n_inducing=30, noise="constant", random_state=0, tol=1e-3).fit(X, y, y_pred=y_pred)
    assert rio.n_inducing_ <= 30
    exact = RIORegressor(random_state=0, tol=1e-3, training={"starts": "rio"}).fit(
        X[:150], y[:150], y_pred=y_pred[:150]
    )
    assert exact.n_inducing_ == 150
    mean, std = rio.predict(X[:50], y_pred=y_pred[:50], return_std=True)
    np.testing.assert_allclose(mean, np.sin(3 * X[:50, 0]), atol=0.1)
    np.testing.assert_allclose(std, 0.1, rtol=0.15)


def test_verbose_shows_a_bar(model, friedman, capsys):
    RIORegressor(model, verbose=True, **CAREFUL).fit(*friedman)
    shown = capsys.readouterr().err
    assert "start 2 on 120 rows" in shown
    assert "on all 120 rows" in shown
    assert "bound" in shown


def test_out_of_fold_predictions_of_a_forest_give_right_error_bars(rng):
    X = rng.uniform(size=(400, 4))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + rng.normal(size=400)
    forest = RandomForestRegressor(50, random_state=0).fit(X[:200], y[:200])
    y_pred = cross_val_predict(forest, X[:200], y[:200], cv=5)
    rio = RIORegressor(forest, random_state=0).fit(X[:200], y[:200], y_pred=y_pred)
    mean, std = rio.predict(X[200:], return_std=True)
    assert metrics.rmse(y[200:], mean) < metrics.rmse(y[200:], forest.predict(X[200:]))
    assert metrics.coverage(y[200:], mean, std, confidence_level=0.95) == pytest.approx(0.95, abs=0.05)


def test_max_iter_is_kept(model, friedman):
    with pytest.warns(ConvergenceWarning):
        rio = RIORegressor(model, inference="sparse", n_inducing=20, max_iter=25, tol=1e-12).fit(*friedman)
    assert rio.n_iter_ <= 25


def test_learning_from_batches_of_rows(friedman):
    X, y = friedman
    rio = RIORegressor(lambda X: 10 * X[:, 0], inference="svgp", n_inducing=40, max_iter=500, tol=1e-4, random_state=0)
    mean, std = rio.fit(X[:100], y[:100]).predict(X[100:], return_std=True)
    assert np.sqrt(np.mean((mean - y[100:]) ** 2)) < 1.0
    assert ((mean - y[100:]) / std).std() < 1.8
    bound = rio.bound_
    assert rio.partial_fit(X[100:], y[100:]).bound_ != bound


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_a_frame_by_name(library, friedman):
    """As those of a Parquet file."""
    frames = pytest.importorskip(library)
    X, y = friedman
    names = ["a", "b", "c", "d"]
    table = dict(zip(names, X.T, strict=True))
    whole = frames.DataFrame(
        {**table, "price": y, "guess": X[:, 0], "weight": 1.0 + (y > 0.0), "kind": ["u", "v"] * 60}
    )
    options = {"random_state": 0, "tol": 1e-2, "noise": "constant"}
    rio = RIORegressor(**options).fit(whole[[*names, "price", "guess"]], "price", y_pred="guess")
    usual = RIORegressor(**options).fit(frames.DataFrame(table), y, y_pred=X[:, 0])
    assert rio.feature_names_in_.tolist() == names
    expected = usual.predict(frames.DataFrame(table), y_pred=X[:, 0])
    np.testing.assert_array_equal(rio.predict(whole, y_pred="guess"), expected)
    assert rio.score(whole, y, y_pred="guess") == usual.score(frames.DataFrame(table), y, y_pred=X[:, 0])
    rio.calibrate(whole, "price", method="variance", y_pred="guess", groups="kind")
    assert rio.calibration_.groups == ("u", "v")
    labels = ["u", "v"] * 60  # a list of texts is not a list of columns where labels are meant
    for groups in ("kind", labels):
        _, std = rio.predict(whole, y_pred="guess", groups=groups, return_std=True)
        assert std.shape == (120,)
    with pytest.raises(ValueError, match=r"X has no column 'prize': its columns are 'a'"):
        rio.fit(whole, "prize")
    with pytest.raises(ValueError, match="'price' is y, and cannot be a column of X too"):
        RIORegressor(Named(whole.columns), **options).fit(whole, "price")


class Named:
    """A fitted model that has seen columns of these names."""

    def __init__(self, names):
        self.feature_names_in_ = np.array(list(names), dtype=object)

    def predict(self, X):
        return np.zeros(len(X))
