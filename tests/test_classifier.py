"""RIOClassifier: worlds whose truth is known, what users ask it, files, and errors in words."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import rio_uq
from rio_uq import MostlyEqualWarning, ReusedRowsWarning, RIOClassifier, RIORegressor

QUICK = {"random_state": 0, "tol": 1e-3, "training": {"starts": "rio"}}


def draw(probability, rng):
    """Labels of two classes, the second with this probability."""
    return (rng.uniform(size=len(probability)) < probability).astype(int)


def columns(second):
    return np.column_stack([1.0 - second, second])


def loss(rio, X, probabilities, y):
    """Mean log loss of whether the model's labels are right, by error scores and by the model's own confidence."""
    right = probabilities.argmax(axis=1) == y
    ours, own = 1.0 - rio.error_score(X, y_proba=probabilities), probabilities.max(axis=1)
    return [-np.log(np.where(right, p, 1.0 - p)).mean() for p in (ours, own)]


def fitted(X, y, probabilities, **options):
    return RIOClassifier(**QUICK, **options).fit(X, y, y_proba=probabilities, held_out=True)


@pytest.fixture(scope="module")
def learnable():
    """Rows, labels and probabilities of a model that does not see a part of what decides, and new rows of the kind."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, size=(900, 2))
    y = draw(expit(3.0 * X[:, 0] + 4.0 * np.sin(4.0 * X[:, 1])), rng)
    return X, y, columns(expit(3.0 * X[:, 0]))


@pytest.fixture(scope="module")
def rio(learnable):
    X, y, probabilities = (values[:400] for values in learnable)
    return fitted(X, y, probabilities)


def new(learnable):
    return tuple(values[400:] for values in learnable)


class TestWorlds:
    @pytest.mark.parametrize("seed", range(4))
    def test_nothing_to_learn_from_a_calibrated_model(self, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1300, 3))
        probabilities = columns(expit(1.5 * X[:, 0] + X[:, 1]))
        y = draw(probabilities[:, 1], rng)
        rio = fitted(X[:300], y[:300], probabilities[:300])
        ours, own = loss(rio, X[300:], probabilities[300:], y[300:])
        assert ours < own + 0.02

    def test_an_overconfident_model_is_believed_less(self, rng):
        X = rng.normal(size=(1400, 2))
        truth = expit(1.2 * X[:, 0])
        probabilities = columns(expit(4.0 * logit(truth)))
        y = draw(truth, rng)
        rio = fitted(X[:400], y[:400], probabilities[:400])
        assert 0.15 < rio.recalibration_.slope < 0.4
        ours, own = loss(rio, X[400:], probabilities[400:], y[400:])
        assert ours < 0.7 * own
        score = rio.error_score(X[400:], y_proba=probabilities[400:])
        np.testing.assert_allclose(score, np.minimum(truth, 1.0 - truth)[400:], atol=0.12)

    def test_errors_that_features_foretell_are_found(self, rio, learnable):
        X, y, probabilities = new(learnable)
        wrong = probabilities.argmax(axis=1) != y
        assert rio.correction_choice_.share > 0.8
        score = rio.error_score(X, y_proba=probabilities)
        assert roc_auc_score(wrong, score) > roc_auc_score(wrong, -probabilities.max(axis=1)) + 0.1
        assert rio.score(X, y, y_proba=probabilities) > 0.05 + np.mean(~wrong)

    def test_a_model_that_is_always_right_stays_so(self, rng):
        X = rng.normal(size=(200, 2))
        y = (X[:, 0] > 0.0).astype(int)
        with pytest.warns(MostlyEqualWarning, match=r"label is wrong in 0 of 200 rows, too few"):
            rio = fitted(X, y, columns(np.where(y > 0, 0.9, 0.1)))
        probabilities = columns(np.where(y > 0, 0.9, 0.1))
        assert (rio.predict(X, y_proba=probabilities) == y).all()
        assert rio.error_score(X, y_proba=probabilities).max() < 0.05

    def test_certain_probabilities_that_are_right_stay_finite(self, rng):
        X = rng.normal(size=(60, 2))
        y = (X[:, 0] > 0.0).astype(int)
        rio = fitted(X, y, columns(y.astype(float)))
        score, std = rio.error_score(X, y_proba=columns(y.astype(float)), return_std=True)
        assert np.isfinite(score).all()
        assert np.isfinite(std).all()
        assert (score >= 0.0).all()

    def test_a_model_that_is_always_wrong_is_not_believed(self, rng):
        X = rng.normal(size=(200, 2))
        y = (X[:, 0] > 0.0).astype(int)
        probabilities = columns(np.where(y > 0, 0.2, 0.8))
        with pytest.warns(MostlyEqualWarning, match="label is right in 0 of 200"):
            rio = fitted(X, y, probabilities)
        assert rio.error_score(X, y_proba=probabilities).min() > 0.8
        assert (rio.predict(X, y_proba=probabilities) == y).all()

    def test_few_rows_leave_confidence_nearly_as_it_is(self, rng):
        X = rng.normal(size=(8, 2))
        probabilities = columns(np.linspace(0.1, 0.9, 8))
        rio = fitted(X, np.array([0, 0, 1, 0, 1, 1, 0, 1]), probabilities)
        score = rio.error_score(X, y_proba=probabilities)
        np.testing.assert_allclose(score, 1.0 - probabilities.max(axis=1), atol=0.2)

    def test_noise_in_labels_is_no_reason_to_correct(self, rng):
        X = rng.normal(size=(1300, 4))
        y = np.where(rng.uniform(size=1300) < 0.2, draw(np.full(1300, 0.5), rng), (X[:, 0] > 0.0).astype(int))
        probabilities = columns(np.where(X[:, 0] > 0.0, 0.9, 0.1))
        rio = fitted(X[:300], y[:300], probabilities[:300])
        ours, own = loss(rio, X[300:], probabilities[300:], y[300:])
        assert ours < own + 0.01

    @pytest.mark.parametrize("seed", range(3))
    def test_what_a_model_remembers_of_noise_is_not_taken_for_knowledge(self, seed):
        """Errors of clones at the rows around a row tell its label, which they have seen; at new rows nothing does."""
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(1200, 2))
        y = draw(np.where(X[:, 0] > 0.5, 0.7, 0.3), rng)
        rio = RIOClassifier(DecisionTreeClassifier(min_samples_leaf=3, random_state=0), **QUICK)
        rio.fit(X[:200], y[:200])
        wrong = rio.estimator_.predict(X[200:]) != y[200:]
        score, confidence = rio.error_score(X[200:]), rio.confidence(X[200:])
        assert roc_auc_score(wrong, score) > roc_auc_score(wrong, -confidence) - 0.04

    def test_near_rows_with_the_same_label_are_no_copies(self, rng):
        X = rng.uniform(size=(400, 2))
        y = (X[:, 0] > 0.5).astype(int)
        rio = RIOClassifier(KNeighborsClassifier(5), **QUICK).fit(X, y)
        assert rio.summary().accuracy > 0.93

    def test_many_classes(self, rng):
        centres = rng.normal(size=(12, 3))
        y = rng.integers(12, size=900)
        X = centres[y] + 0.5 * rng.normal(size=(900, 3))
        rio = RIOClassifier(LogisticRegression(C=0.01, max_iter=500), **QUICK).fit(X[:400], y[:400])
        assert rio.predict_proba(X[400:]).shape == (500, 12)
        np.testing.assert_allclose(rio.predict_proba(X[400:]).sum(axis=1), 1.0)
        right = rio.estimator_.predict(X[400:]) == y[400:]
        assert roc_auc_score(~right, rio.error_score(X[400:])) > 0.6


class TestProbabilities:
    def test_they_sum_to_one_and_follow_the_error_score(self, rio, learnable):
        X, _, probabilities = new(learnable)
        corrected = rio.predict_proba(X, y_proba=probabilities)
        np.testing.assert_allclose(corrected.sum(axis=1), 1.0)
        label = probabilities.argmax(axis=1)
        score = rio.error_score(X, y_proba=probabilities)
        np.testing.assert_allclose(corrected[np.arange(len(X)), label], 1.0 - score)

    def test_other_classes_keep_their_proportions(self, rng):
        X, y = rng.normal(size=(300, 2)), rng.integers(3, size=300)
        probabilities = rng.dirichlet(np.ones(3), size=300)
        rio = fitted(X, y, probabilities)
        corrected = rio.predict_proba(X, y_proba=probabilities)
        ordered = np.argsort(probabilities, axis=1)[:, :2]
        before, after = (np.take_along_axis(values, ordered, axis=1) for values in (probabilities, corrected))
        np.testing.assert_allclose(after[:, 0] * before[:, 1], after[:, 1] * before[:, 0], atol=1e-12)

    def test_without_a_correction_the_order_of_rows_is_that_of_confidence(self, rng):
        X, probabilities = rng.normal(size=(200, 2)), columns(rng.uniform(size=200))
        rio = fitted(X, draw(np.full(200, 0.5), rng), probabilities)
        assert not rio.correction_choice_.is_corrected
        order = np.argsort(-probabilities.max(axis=1))
        assert (np.diff(rio.error_score(X, y_proba=probabilities)[order]) >= 0.0).all()

    def test_the_second_of_two_classes_will_do(self, rio, learnable):
        X, _, probabilities = new(learnable)
        np.testing.assert_array_equal(
            rio.predict_proba(X, y_proba=probabilities[:, 1]), rio.predict_proba(X, y_proba=probabilities)
        )

    def test_the_std_is_larger_far_away(self, rio):
        near, far = np.zeros((1, 2)), np.full((1, 2), 30.0)
        half = np.array([[0.4, 0.6]])
        (_, std), (_, beyond) = (rio.error_score(X, y_proba=half, return_std=True) for X in (near, far))
        assert beyond[0] > 2.0 * std[0]


class TestModels:
    def test_a_fitted_model_is_used_as_it_is(self):
        X, y = make_classification(200, 4, random_state=0)
        model = LogisticRegression().fit(X, y)
        before = pickle.dumps(model)
        rio = RIOClassifier(model, **QUICK).fit(X, y)
        assert rio.estimator_ is model
        assert pickle.dumps(model) == before
        assert rio.residuals_.rows in ("seen", "either")

    def test_a_model_that_memorises_is_judged_by_rows_that_clones_have_not_seen(self):
        X, y = make_classification(300, 6, flip_y=0.3, random_state=0)
        model = RandomForestClassifier(30, random_state=0).fit(X, y)
        rio = RIOClassifier(model, **QUICK).fit(X, y)
        assert rio.residuals_.kind == "out-of-fold"
        assert 0.1 < rio.error_score(X).mean() < 0.5  # none of its labels is wrong here

    def test_an_unfitted_model_is_cross_fitted(self):
        X, y = make_classification(200, 4, random_state=0)
        model, labels = LogisticRegression(), np.array(["no", "yes"])[y]
        rio = RIOClassifier(model, **QUICK).fit(X, labels)
        assert not hasattr(model, "coef_")
        assert list(rio.classes_) == ["no", "yes"]
        assert set(rio.predict(X)) == {"no", "yes"}
        assert rio.estimator_.predict_proba(X).shape == (200, 2)
        assert (rio.estimator_.predict(X) == labels).mean() > 0.8

    def test_a_class_that_a_fold_lacks_has_probability_zero_there(self, rng):
        X = rng.normal(size=(80, 2))
        y = np.append(np.repeat([0, 1], 39), [2, 2])
        rio = RIOClassifier(LogisticRegression(), **QUICK).fit(X, y)
        assert rio.predict_proba(X).shape == (80, 3)

    def test_a_function(self, learnable):
        X, y, _ = new(learnable)
        labels = np.array(["a", "b"])[y]
        rio = RIOClassifier(lambda X: expit(3.0 * X[:, 0]), **QUICK).fit(X, labels, held_out=True)
        assert rio.predict_proba(X).shape == (len(X), 2)
        assert set(rio.predict(X)) <= {"a", "b"}

    def test_classes_of_a_function_that_y_does_not_tell(self, rng):
        X = rng.normal(size=(60, 2))
        y = rng.choice(["a", "c"], size=60)

        def model(X):
            return np.tile([0.5, 0.2, 0.3], (len(X), 1))

        with pytest.raises(ValueError, match=r"3 columns of probabilities, and y has 2 classes: say classes="):
            RIOClassifier(model, **QUICK).fit(X, y, held_out=True)
        rio = RIOClassifier(model, classes=["a", "b", "c"], **QUICK).fit(X, y, held_out=True)
        assert rio.predict_proba(X).shape == (60, 3)

    def test_folds_of_a_splitter_see_labels(self):
        X, y = make_classification(120, 4, weights=[0.9], random_state=0)
        rio = RIOClassifier(LogisticRegression(), cv=StratifiedKFold(3), **QUICK).fit(X, y)
        assert rio.residuals_.n_fits == 3

    def test_a_mask_of_held_out_rows(self, learnable):
        X, y, probabilities = new(learnable)
        mask = np.arange(len(X)) < 300
        seen = np.where(mask[:, None], probabilities, columns(y.astype(float)))
        rio = RIOClassifier(**QUICK).fit(X, y, y_proba=seen, held_out=mask)
        assert rio.summary().n_rows == 300
        assert rio.summary().accuracy < 0.9

    def test_groups(self, learnable):
        X, y, probabilities = new(learnable)
        rio = RIOClassifier(**QUICK).fit(X, y, y_proba=probabilities, held_out=True, groups=np.arange(len(X)) // 5)
        assert rio.predict(X, y_proba=probabilities).shape == y.shape


class TestScikitLearn:
    def test_clone_keeps_a_fitted_model(self):
        X, y = make_classification(60, 4, random_state=0)
        model = LogisticRegression().fit(X, y)
        assert clone(RIOClassifier(model)).estimator is model
        assert clone(RIOClassifier(LogisticRegression(), kernel="input")).kernel == "input"
        with pytest.raises(ValueError, match=r"give RIOClassifier an unfitted one"):
            RIOClassifier(model).set_params(estimator__C=2.0)

    def test_grid_search(self):
        X, y = make_classification(120, 4, random_state=0)
        rio = RIOClassifier(LogisticRegression(), **QUICK)
        search = GridSearchCV(rio, {"estimator__C": [0.01, 1.0]}, cv=2, scoring="neg_log_loss").fit(X, y)
        assert search.best_score_ > -0.7

    def test_frames(self, learnable):
        X, y, _ = new(learnable)
        frame = pd.DataFrame(X, columns=["a", "b"]).assign(label=y)
        rio = RIOClassifier(LogisticRegression(), **QUICK).fit(frame[["a", "b"]], frame["label"])
        assert list(rio.feature_names_in_) == ["a", "b"]
        assert rio.summary().features[0].name in ("a", "b")

    def test_weights_are_counts(self, rng):
        X, probabilities = rng.normal(size=(60, 2)), columns(rng.uniform(size=60))
        y, weight = draw(probabilities[:, 1], rng), rng.integers(1, 4, size=60)
        one = RIOClassifier(**QUICK).fit(X, y, y_proba=probabilities, sample_weight=weight, held_out=True)
        twice = np.repeat(np.arange(60), weight)
        other = RIOClassifier(**QUICK).fit(X[twice], y[twice], y_proba=probabilities[twice], held_out=True)
        np.testing.assert_allclose(one.recalibration_.slope, other.recalibration_.slope, rtol=1e-3)


class TestRejection:
    def test_a_budget_keeps_the_safest(self, rio, learnable):
        X, y, probabilities = new(learnable)
        rejected = rio.reject(X, budget=0.8, y_proba=probabilities)
        assert rejected.sum() == 100
        wrong = probabilities.argmax(axis=1) != y
        assert wrong[rejected].mean() > 1.5 * wrong.mean()

    def test_a_target_error_holds_on_the_calibration_rows(self, rio, learnable):
        X, y, probabilities = new(learnable)
        rejected = rio.reject(X, target_error=0.05, calibration=(X, y, probabilities), y_proba=probabilities)
        assert (probabilities.argmax(axis=1) != y)[~rejected].mean() <= 0.05
        assert 0 < rejected.sum() < len(X)

    def test_a_threshold_is_a_probability(self, rio, learnable):
        X, _, probabilities = new(learnable)
        rejected = rio.reject(X, threshold=0.3, y_proba=probabilities)
        np.testing.assert_array_equal(rejected, rio.error_score(X, y_proba=probabilities) > 0.3)
        with pytest.raises(ValueError, match="threshold has to be a number between 0 and 1"):
            rio.reject(X, threshold=3.0, y_proba=probabilities)


class TestSets:
    def test_they_hold_the_right_class_as_often_as_they_should(self, learnable, rio):
        X, y, probabilities = new(learnable)
        shares = []
        rng = np.random.default_rng(0)
        for _ in range(60):
            order = rng.permutation(len(X))
            some, others = order[:100], order[100:]
            rio.calibrate(X[some], y[some], y_proba=probabilities[some])
            sets = rio.predict_set(X[others], 0.9, y_proba=probabilities[others])
            shares.append(sets[np.arange(len(others)), y[others]].mean())
        assert 0.885 < np.mean(shares) < 0.93

    def test_each_class_for_itself(self, learnable, rio):
        X, y, probabilities = new(learnable)
        rio.calibrate(X[:250], y[:250], method="class-conditional", y_proba=probabilities[:250])
        sets = rio.predict_set(X[250:], [0.8, 0.95], y_proba=probabilities[250:])
        assert sets.shape == (250, 2, 2)
        assert (sets[:, :, 1] >= sets[:, :, 0]).all()
        inside = sets[np.arange(250), y[250:], 0]
        assert min(inside[y[250:] == k].mean() for k in (0, 1)) > 0.7

    def test_too_few_rows_for_a_level(self, learnable, rio):
        X, y, probabilities = new(learnable)
        rio.calibrate(X[:10], y[:10], y_proba=probabilities[:10])
        with pytest.raises(ValueError, match=r"at least 99 calibration rows, and there are 10.*level of 0.9091"):
            rio.predict_set(X, 0.99, y_proba=probabilities)

    def test_rows_of_fit_are_no_calibration_rows(self, learnable, rio):
        X, y, probabilities = (values[:400] for values in learnable)
        with pytest.warns(ReusedRowsWarning, match="sets calibrated on them are too small"):
            rio.calibrate(X, y, y_proba=probabilities)


class TestFiles:
    @pytest.mark.parametrize("method", [None, "conformal", "class-conditional"])
    def test_a_file_gives_the_same_answers(self, method, tmp_path, learnable, rio):
        X, y, probabilities = new(learnable)
        if method is not None:
            rio.calibrate(X, y, method=method, y_proba=probabilities)
        rio.save(tmp_path / "model.rio", metadata={"from": "a test"})
        other = rio_uq.load(tmp_path / "model.rio", estimator=None)
        assert isinstance(other, RIOClassifier)
        np.testing.assert_array_equal(
            other.predict_proba(X, y_proba=probabilities), rio.predict_proba(X, y_proba=probabilities)
        )
        assert other.metadata_ == {"from": "a test"}
        assert other.correction_choice_ == rio.correction_choice_
        if method is not None:
            sets = [one.predict_set(X, 0.8, y_proba=probabilities) for one in (rio, other)]
            np.testing.assert_array_equal(*sets)

    def test_the_model_is_known_again(self, tmp_path):
        X, y = make_classification(120, 4, random_state=0)
        labels = np.array(["no", "yes"])[y]
        model = LogisticRegression().fit(X, labels)
        rio = RIOClassifier(model, **QUICK).fit(X, labels)
        rio.save(tmp_path / "model.rio")
        other = rio_uq.load(tmp_path / "model.rio", estimator=model)
        np.testing.assert_array_equal(other.predict(X), rio.predict(X))
        with pytest.raises(ValueError, match="the model is not the one that was fitted or saved"):
            rio_uq.load(tmp_path / "model.rio", estimator=LogisticRegression(C=1e-3).fit(X, labels))

    def test_a_skops_model_inside(self, tmp_path):
        skops = pytest.importorskip("skops.io")
        X, y = make_classification(120, 4, random_state=0)
        model = LogisticRegression().fit(X, y)
        rio = RIOClassifier(model, **QUICK).fit(X, y)
        skops.dump(model, tmp_path / "model.skops")
        rio.save(tmp_path / "model.rio", model_file=tmp_path / "model.skops")
        np.testing.assert_array_equal(rio_uq.load(tmp_path / "model.rio").predict(X), rio.predict(X))

    def test_pickle(self, learnable, rio):
        X, _, probabilities = new(learnable)
        other = pickle.loads(pickle.dumps(rio))
        np.testing.assert_array_equal(
            other.error_score(X, y_proba=probabilities), rio.error_score(X, y_proba=probabilities)
        )


class TestSummary:
    def test_words(self, rio):
        words = str(rio.summary())
        assert "of the model's labels are right" in words
        assert "Error scores are corrected" in words
        assert "where x1 is" in words

    def test_labels_with_most_errors_first(self, rio, learnable):
        X, _, probabilities = new(learnable)
        labels = rio.summary(X, y_proba=probabilities).labels
        assert sum(one.share for one in labels) == pytest.approx(1.0)
        assert labels[0].share * labels[0].error >= labels[1].share * labels[1].error


class TestErrors:
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.arange(40) % 2

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (LinearSVC(), "LinearSVC has no predict_proba.*CalibratedClassifierCV"),
            (LogisticRegression, r"not its class: give LogisticRegression\(\)"),
            (3, "a classifier with predict_proba, or a function"),
        ],
    )
    def test_models_that_give_no_probabilities(self, model, message):
        with pytest.raises(TypeError, match=message):
            RIOClassifier(model).fit(self.X, self.y)

    @pytest.mark.parametrize(
        ("probabilities", "message"),
        [
            (np.full((40, 2), 3.0), r"none below 0 and 1 in sum; got \[3.0, 3.0\].*softmax of logits"),
            (np.full((39, 2), 0.5), r"shape \(40, K\).*got shape \(39, 2\)"),
            (np.full((40, 2), np.nan), "contains NaN in 40 rows"),
            (np.full((40, 3), 1 / 3), None),
        ],
    )
    def test_columns_that_are_no_probabilities(self, probabilities, message):
        if message is None:
            RIOClassifier(**QUICK).fit(self.X, self.y, y_proba=probabilities, held_out=True)  # a class without rows
            return
        with pytest.raises(ValueError, match=message):
            RIOClassifier(**QUICK).fit(self.X, self.y, y_proba=probabilities, held_out=True)

    def test_labels(self):
        rio = RIOClassifier(LogisticRegression(), **QUICK)
        with pytest.raises(ValueError, match="one class only, 1"):
            rio.fit(self.X, np.ones(40, dtype=int))
        with pytest.raises(ValueError, match="missing labels, the first in row 3"):
            rio.fit(self.X, np.where(np.arange(40) == 3, None, "a"))
        with pytest.raises(ValueError, match="Unknown label type"):
            rio.fit(self.X, self.X[:, 0])
        model = LogisticRegression().fit(self.X, self.y)
        with pytest.raises(ValueError, match=r"label 7 in 1 rows \(5\).*knows the classes \[0, 1\]"):
            RIOClassifier(model, **QUICK).fit(self.X, np.where(np.arange(40) == 5, 7, self.y))

    def test_no_model(self):
        with pytest.raises(ValueError, match="no model to ask for probabilities"):
            RIOClassifier().fit(self.X, self.y)
        rio = RIOClassifier(**QUICK).fit(self.X, self.y, y_proba=np.full((40, 2), 0.5), held_out=True)
        with pytest.raises(ValueError, match="give this method y_proba"):
            rio.predict(self.X)

    def test_sets_before_calibrate(self, rio):
        other = clone(rio).fit(self.X, self.y, y_proba=np.full((40, 2), 0.5), held_out=True)
        with pytest.raises(ValueError, match=r"call calibrate\(X, y\) first"):
            other.predict_set(self.X, y_proba=np.full((40, 2), 0.5))

    def test_a_file_of_a_classifier_is_no_regressor(self, tmp_path, rio):
        from rio_uq.regressor import load_regressor

        rio.save(tmp_path / "model.rio")
        with pytest.raises(ValueError, match="holds a classifier"):
            load_regressor(tmp_path / "model.rio", estimator=None)

    def test_a_regressor_is_not_a_classifier(self):
        from rio_uq.classifier import check_fitted_classifier

        with pytest.raises(TypeError, match="a fitted RIOClassifier is needed"):
            check_fitted_classifier(RIORegressor())
