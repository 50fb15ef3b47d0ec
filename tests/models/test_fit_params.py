"""Parameters of fit that are for the model: evaluation sets, early stopping, weights of steps, metadata routing."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rio_uq import RIORegressor

pytestmark = pytest.mark.usefixtures("quick_fits")

OPTIONS = {"random_state": 0, "noise": "constant", "tol": 1e-3}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(160, 3))
    return X, X[:, 0] + np.sin(5 * X[:, 1]) + 0.1 * rng.normal(size=160)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class Recorder(RegressorMixin, BaseEstimator):
    """Keeps what its fit was given; its predictions depend on that."""

    def fit(self, X, y, sample_weight=None, numbers=None, **others):
        self.seen_ = {"X": X, "sample_weight": sample_weight, "numbers": numbers, **others}
        return self

    def predict(self, X):
        return X[:, 0] + self.seen_["X"][0, 0]


def test_parameters_with_an_entry_for_each_row_are_cut_as_the_rows_are(data):
    X, y = data
    numbers, few = np.arange(len(X)), np.arange(3)
    rio = RIORegressor(Recorder(), cv=KFold(4), **OPTIONS).fit(X, y, numbers=numbers, few=few, flag=True)
    for model in rio.estimator_.models:
        np.testing.assert_array_equal(X[model.seen_["numbers"]], model.seen_["X"])
        assert len(model.seen_["X"]) == 120
        assert model.seen_["few"] is few
        assert model.seen_["flag"] is True


def test_a_model_that_is_fitted_once_gets_them_whole(data):
    X, y = data
    rio = RIORegressor(Recorder(), residuals="in-sample", **OPTIONS).fit(X, y, numbers=np.arange(len(X)))
    assert len(rio.estimator_.seen_["numbers"]) == len(X)
    rio = RIORegressor(Recorder(), combine="refit", **OPTIONS).fit(X, y, numbers=np.arange(len(X)))
    assert len(rio.estimator_.seen_["numbers"]) == len(X)


@pytest.mark.parametrize("model", [Ridge().fit(np.eye(3), np.arange(3.0)), lambda X: X[:, 0], None])
def test_they_are_refused_where_no_model_is_fitted(model, data):
    X, y = data
    y_pred = X[:, 0] if model is None else None
    with pytest.raises(ValueError, match="eval_set would go to the fit method of the model, which is not fitted here"):
        RIORegressor(model, **OPTIONS).fit(X, y, y_pred=y_pred, eval_set=[(X, y)])


def test_weights_of_a_step_of_a_pipeline(data):
    X, y = data
    weight = np.where(X[:, 0] > 0.5, 1.0, 0.0)
    model = make_pipeline(StandardScaler(), Ridge())
    rio = RIORegressor(model, residuals="in-sample", **OPTIONS).fit(X, y, ridge__sample_weight=weight)
    expected = make_pipeline(StandardScaler(), Ridge()).fit(X, y, ridge__sample_weight=weight)
    np.testing.assert_array_equal(rio.estimator_[-1].coef_, expected[-1].coef_)
    # and the GP is weighted too, without a warning that the model is not
    RIORegressor(model, **OPTIONS).fit(X, y, sample_weight=weight + 1.0, ridge__sample_weight=weight + 1.0)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_early_stopping_of_lightgbm(data):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = data
    model = lightgbm.LGBMRegressor(n_estimators=500, learning_rate=0.3, min_child_samples=5, n_jobs=1, verbose=-1)
    rio = RIORegressor(model, cv=2, **OPTIONS)
    rio.fit(X[:120], y[:120], eval_set=[(X[120:], y[120:])], callbacks=[lightgbm.early_stopping(3, verbose=False)])
    assert all(0 < fold.best_iteration_ < 500 for fold in rio.estimator_.models)


def test_early_stopping_of_xgboost(data):
    xgboost = pytest.importorskip("xgboost")
    X, y = data
    model = xgboost.XGBRegressor(n_estimators=300, early_stopping_rounds=3, n_jobs=1)
    with pytest.raises(ValueError, match="at least 1 validation dataset"):
        RIORegressor(model, cv=2, **OPTIONS).fit(X[:120], y[:120])
    rio = RIORegressor(model, cv=2, **OPTIONS).fit(X[:120], y[:120], eval_set=[(X[120:], y[120:])], verbose=False)
    assert all(fold.best_iteration < 299 for fold in rio.estimator_.models)


@pytest.mark.usefixtures("routing")
def test_routing_hands_on_what_the_model_asks_for(data):
    X, y = data
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    asks = Recorder().set_fit_request(sample_weight=True, numbers=True)
    rio = RIORegressor(asks, cv=KFold(4), **OPTIONS).fit(X, y, sample_weight=weight, numbers=np.arange(len(X)))
    for model in rio.estimator_.models:
        np.testing.assert_array_equal(model.seen_["sample_weight"], weight[model.seen_["numbers"]])
    declines = Recorder().set_fit_request(sample_weight=False)
    rio = RIORegressor(declines, cv=KFold(4), **OPTIONS).fit(X, y, sample_weight=weight)
    assert all(model.seen_["sample_weight"] is None for model in rio.estimator_.models)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        RIORegressor(Recorder(), **OPTIONS).fit(X, y, sample_weight=weight)
    with pytest.raises(TypeError, match="unexpected argument"):
        RIORegressor(asks, **OPTIONS).fit(X, y, unheard_of=1)
    # a fitted model is not asked
    RIORegressor(Ridge().fit(X, y), **OPTIONS).fit(X, y, sample_weight=weight)


@pytest.mark.usefixtures("routing")
def test_clones_of_a_fitted_model_are_weighted_if_it_asks_for_it(data, monkeypatch):
    X, y = data
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    weights_of_clones = []

    def fit(self, X, y, sample_weight=None):
        weights_of_clones.append(sample_weight)
        return unpatched(self, X, y, sample_weight)

    unpatched = Ridge.fit
    for asks, n_weighted in ((True, 5), (False, 0)):
        model = Ridge().set_fit_request(sample_weight=asks).fit(X, y)
        monkeypatch.setattr(Ridge, "fit", fit)
        RIORegressor(model, **OPTIONS).fit(X, y, sample_weight=weight)
        monkeypatch.setattr(Ridge, "fit", unpatched)
        assert len(weights_of_clones) == 5
        assert sum(one is not None for one in weights_of_clones) == n_weighted
        weights_of_clones.clear()


@pytest.mark.usefixtures("routing")
def test_routing_into_the_steps_of_a_pipeline(data):
    X, y = data
    weight = np.where(X[:, 0] > 0.5, 2.0, 1.0)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    model = make_pipeline(scaler, Ridge().set_fit_request(sample_weight=True))
    rio = RIORegressor(model, residuals="in-sample", **OPTIONS).fit(X, y, sample_weight=weight)
    expected = Ridge().fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    np.testing.assert_allclose(rio.estimator_[-1].coef_, expected.coef_)
