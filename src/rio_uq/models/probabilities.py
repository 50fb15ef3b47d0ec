"""A classifier as a model that predicts numbers: the probability of each class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array
from rio_uq._base.checks import check_finite, named_rows, to_numeric
from rio_uq.models import base as base_model

TOLERANCE = 1e-2
"""Of sums of probabilities: what single precision and rounding to two digits make of them."""

Classes = NDArray[Any]
"""Labels in the order of the columns of probabilities, (K,)."""


class ProbabilityModel(BaseEstimator):
    """A scikit-learn classifier whose outcomes are indicators of classes, (n, K), and whose predictions are the
    probabilities of these.

    Classes that a clone has not seen among its rows have probability 0.

    Parameters
    ----------
    classifier : estimator
    classes : (K,) array

    Attributes
    ----------
    classifier_ : estimator
        The fitted one: ``classifier`` itself where that is fitted.
    """

    def __init__(self, classifier: Any, classes: Any) -> None:
        self.classifier = classifier
        self.classes = classes
        if not base_model.needs_fit(classifier):
            self.classifier_ = classifier

    def fit(self, X: Any, y: NDArray[Any], sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit a clone of the classifier."""
        labels = np.asarray(self.classes)[y.argmax(axis=1)]
        self.classifier_ = base_model.fitted_clone(self.classifier, X, labels, sample_weight, fit_params)
        return self

    def predict(self, X: Any) -> Array:
        """Probabilities, (n, K)."""
        values = check_probabilities(self.classifier_.predict_proba(X), _num_samples(X), None, "predict_proba")
        own = np.asarray(self.classifier_.classes_)
        place = {label: column for column, label in enumerate(np.asarray(self.classes).tolist())}
        columns = [place.get(label, -1) for label in own.tolist()]
        if -1 in columns:
            raise ValueError(f"the model predicts the classes {own.tolist()}, and fit knew {list(place)}")
        probabilities = np.zeros((len(values), len(place)))
        probabilities[:, columns] = values
        return probabilities

    def get_metadata_routing(self) -> MetadataRequest:
        return get_routing_for_object(self.classifier)

    def __sklearn_is_fitted__(self) -> bool:
        return "classifier_" in vars(self)

    def __sklearn_clone__(self) -> ProbabilityModel:
        return ProbabilityModel(base_model.unfitted_clone(self.classifier), clone(self.classes, safe=False))


class ProbabilityFunction:
    """A fitted model of another kind: a function from X to probabilities, or an object with ``predict_proba``.

    Parameters
    ----------
    model : callable or object
    n_classes : int
    """

    def __init__(self, model: Any, n_classes: int) -> None:
        self.model, self.n_classes = model, n_classes

    def predict(self, X: Any) -> Array:
        """Probabilities, (n, K)."""
        return check_probabilities(self.predict_proba(X), _num_samples(X), self.n_classes, "the model's prediction")

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(X) if hasattr(self.model, "predict_proba") else self.model(X)


def probability_model(model: Any, classes: Classes) -> ProbabilityModel | ProbabilityFunction | None:
    """The classifier as a model of probabilities; None if there is none."""
    if model is None:
        return None
    if base_model.is_estimator(model):
        return ProbabilityModel(model, classes)
    return ProbabilityFunction(model, len(classes))


def check_classifier(model: Any) -> None:
    """Raise unless a model says how probable classes are."""
    if model is None:
        return
    if isinstance(model, type):
        raise TypeError(f"estimator has to be a classifier, and not its class: give {model.__name__}()")
    if base_model.is_module(model):
        raise TypeError(
            f"{type(model).__name__} takes tensors: give a function from X to probabilities, such as "
            "lambda X: torch.softmax(network(torch.as_tensor(X)), dim=1).detach().numpy()"
        )
    has_probabilities = hasattr(model, "predict_proba")
    if base_model.is_estimator(model) and not has_probabilities:
        raise TypeError(
            f"{type(model).__name__} has no predict_proba, and RIOClassifier learns from probabilities: wrap it in "
            "sklearn.calibration.CalibratedClassifierCV"
        )
    if not has_probabilities and not callable(model):
        raise TypeError(
            f"estimator has to be a classifier with predict_proba, or a function from X to probabilities; got {model!r}"
        )


def check_probabilities(values: Any, n_rows: int, n_classes: int | None, source: str) -> Array:
    """Probabilities (n, K) that sum to one, or an error that says what is wrong with them.

    Parameters
    ----------
    n_classes : int or None
        None for any number.
    source : str
        Where they come from, for messages.
    """
    array = to_numeric(values, source)
    if array.ndim == 1 and n_classes in (None, 2):
        array = np.column_stack([1.0 - array, array])
    if array.ndim != 2 or len(array) != n_rows or (n_classes is not None and array.shape[1] != n_classes):
        columns = "K" if n_classes is None else str(n_classes)
        raise ValueError(
            f"{source} should have shape ({n_rows}, {columns}), a probability for each row of X and each class; got "
            f"shape {np.shape(values)}"
        )
    check_finite(array, source, "every row needs a probability for each class")
    total = array.sum(axis=1)
    wrong = (array.min(axis=1) < -TOLERANCE) | (np.abs(total - 1.0) > TOLERANCE)
    if wrong.any():
        rows = np.flatnonzero(wrong)
        raise ValueError(
            f"{source} has to be probabilities, none below 0 and 1 in sum; got {array[rows[0]].round(3).tolist()} and "
            f"others in {len(rows)} of {len(array)} rows ({named_rows(rows)}): take the softmax of logits first"
        )
    array = np.maximum(array, 0.0)
    return np.asarray(array / array.sum(axis=1, keepdims=True))


class AverageClassifier:
    """Clones of a classifier as one: its probabilities are the mean of theirs.

    Parameters
    ----------
    average : object
        Its ``predict`` gives probabilities, (n, K).
    classes : (K,) array
    """

    def __init__(self, average: Any, classes: Classes) -> None:
        self.average, self.classes_ = average, classes

    def predict_proba(self, X: Any) -> Array:
        return np.asarray(self.average.predict(X))

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def given_model(model: Any, classes: Classes | None = None) -> Any:
    """The classifier itself, as it was given or fitted here, from a model of probabilities; with the classes, the mean
    of clones as a classifier.
    """
    if isinstance(model, ProbabilityModel):
        return model.classifier_
    if isinstance(model, ProbabilityFunction):
        return model.model
    return model if model is None or classes is None else AverageClassifier(model, classes)
