"""Predictions do without the model where left-out rows say so."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import rio_uq
from rio_uq import RIORegressor
from rio_uq.report import write_report

pytestmark = pytest.mark.usefixtures("few_iterations")


def truth(X):
    return 2.0 * np.sin(3.0 * X[:, 0]) + 2.0 * X[:, 1]


def memorised(X, y):
    """A model that knows the rows given by heart, and says of others what it knows of rows that have nothing to do with
    them.
    """
    neighbour = KNeighborsRegressor(1).fit(X[:, 2:], y)
    return lambda rows: neighbour.predict(rows[:, 2:])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, size=(200, 3))
    return X, truth(X) + 0.5 * rng.normal(size=200), rng.uniform(-1.0, 1.0, size=(200, 3))


@pytest.fixture(scope="module")
def without_model(rows, few_iterations):
    X, y, _ = rows
    model = memorised(X[:150], y[:150])
    return model, RIORegressor(model, random_state=0).fit(X, y, held_out=np.arange(200) >= 150)


def test_a_model_that_knows_its_training_rows_by_heart_is_done_without(rows, without_model):
    X_new = rows[2]
    _, rio = without_model
    assert not rio.model_choice_.uses_model
    assert rio.model_choice_.error_without_model[0] < 0.9 * rio.model_choice_.error[0]
    assert rio.trust_ == 0.0
    assert np.sqrt(np.mean((rio.predict(X_new) - truth(X_new)) ** 2)) < 0.3
    assert "Predictions do without the model: root mean squared errors" in str(rio.summary())
    assert "Trust" not in str(rio.summary())


def test_a_file_keeps_the_choice(rows, without_model, tmp_path):
    X_new = rows[2]
    model, rio = without_model
    rio.save(tmp_path / "x.rio")
    loaded = rio_uq.load(tmp_path / "x.rio", estimator=model)
    np.testing.assert_array_equal(loaded.predict(X_new), rio.predict(X_new))
    assert loaded.model_choice_.uses_model is False
    np.testing.assert_array_equal(loaded.model_choice_.error, rio.model_choice_.error)
    other = copy(rio)
    other.fitted_ = replace(rio.fitted_, model_choice=rio.model_choice_._replace(gain=0.9))
    other.save(tmp_path / "y.rio")
    assert rio_uq.load(tmp_path / "y.rio", estimator=model).model_choice_.gain == 0.9


class Unfinished(RegressorMixin, BaseEstimator):
    """A training that stops on its way: the more rows, the farther it gets."""

    def fit(self, X, y):
        self.model_, self.share_ = LinearRegression().fit(X, y), min(1.0, (len(y) / 200.0) ** 4)
        return self

    def predict(self, X):
        return self.share_ * self.model_.predict(X)


def test_a_model_whose_clones_predict_elsewhere_is_done_without(rows, tmp_path):
    """Corrections that are learnt from clones were added to predictions that have nothing to do with theirs."""
    X, y, X_new = rows
    model = Unfinished().fit(X, y + 100.0)
    rio = RIORegressor(model, random_state=0).fit(X, y + 100.0)
    assert rio.residuals_.kind == "out-of-fold"
    assert not rio.model_choice_.uses_model
    assert rio.model_choice_.stray > 0.5
    assert np.sqrt(np.mean((rio.predict(X_new) - 100.0 - truth(X_new)) ** 2)) < 0.3
    assert "outside the range of its clones'" in " ".join(str(rio.summary()).split())
    rio.save(tmp_path / "x.rio")
    assert rio_uq.load(tmp_path / "x.rio", estimator=model).model_choice_.stray == rio.model_choice_.stray


def test_a_good_model_is_kept_and_the_summary_says_what_it_adds(rows):
    X, y, _ = rows
    rio = RIORegressor(truth, random_state=0).fit(X, y, held_out=True)
    assert rio.model_choice_.uses_model
    assert "Beside a GP without the model: root mean squared errors" in str(rio.summary())


def test_the_first_section_of_a_report_says_how_a_gp_without_the_model_does(rows, without_model, tmp_path):
    X, y, _ = rows
    _, rio = without_model
    page = write_report(rio, X, y, tmp_path / "report.html").read_text(encoding="utf-8")
    words = rio.summary().beside_plain_gp()
    assert words.startswith("Predictions do without the model: root mean squared errors")
    assert words in page[page.index('id="better"') : page.index('id="trust"')]


@pytest.mark.parametrize(
    "options", [{"kernel": "input"}, {"target": "outcome"}, {"inference": "sparse"}, {"training": {"guard": False}}]
)
def test_it_is_no_question_where_a_part_of_the_method_is_asked_for(options, rows):
    X, y, _ = rows
    assert RIORegressor(truth, random_state=0, **options).fit(X, y, held_out=True).model_choice_ is None


def test_a_plain_gp_needs_no_model(rows, tmp_path):
    X, y, X_new = rows
    plain = {"target": "outcome", "kernel": "input", "random_state": 0}
    rio, of_zeros = (RIORegressor(model, **plain).fit(X, y) for model in (None, lambda X: np.zeros(len(X))))
    np.testing.assert_array_equal(rio.predict(X_new), of_zeros.predict(X_new))
    rio.save(tmp_path / "x.rio")
    np.testing.assert_array_equal(rio_uq.load(tmp_path / "x.rio").predict(X_new), rio.predict(X_new))
    with pytest.raises(ValueError, match="there is no model"):
        RIORegressor(target="outcome", random_state=0).fit(X, y)  # the output kernel looks at one
