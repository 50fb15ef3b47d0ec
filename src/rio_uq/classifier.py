"""RIOClassifier: where a classifier is wrong, and probabilities set right, as a scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from rio_uq import around_model, classifying, rejection, storage
from rio_uq._base.array import Array, Mask
from rio_uq._base.checks import check_levels
from rio_uq._base.warnings import ReusedRowsWarning, warn_user
from rio_uq.confidence import CorrectionChoice, Recalibration
from rio_uq.fitted_classifier import FittedClassifier, LabelInputs
from rio_uq.gp.backend.threads import effective_jobs
from rio_uq.models.probabilities import check_classifier, given_model
from rio_uq.models.residual_choice import ResidualChoice
from rio_uq.options import Options, Training
from rio_uq.prediction_sets import SetCalibration
from rio_uq.rows.contract import Part
from rio_uq.rows.kept import REUSED
from rio_uq.rows.memory import MemorySource
from rio_uq.rows.source import check_in_memory
from rio_uq.summary.classifier import ClassifierSummary, summarize_classifier

FIXED: dict[str, Any] = {
    "target": "outcome",
    "noise": "constant",
    "distribution": "normal",
    "scale": "identity",
    "bounds": None,
    "weights": "counts",
}
"""Options of a GP on whether labels are right, which a user has no choice of."""


class RIOClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Where a classifier is wrong: its confidence set right by a GP on what it is from the truth.

    The target of the Gaussian process is c − ĉ, with c = 1 where the label that the model predicts is right and ĉ its
    confidence, the probability of that label after recalibration. The kernel looks at the model's inputs, with the
    label, and at its whole vector of probabilities. Left-out rows decide whether confidence is corrected at all.
    The model itself is not changed, retrained or looked into.

    Probabilities have to be those of rows that the model has not seen, or its confidence looks better than it is. A
    model that is not fitted yet is therefore cross-fitted. Whether a fitted one has seen the rows is found out, as in
    `RIORegressor`, see ``residuals_``. A function, a network or probabilities in columns cannot be asked: say
    ``held_out=True`` in `fit` if the rows are new.

    Parameters
    ----------
    estimator : classifier, callable or None
        The model: anything with ``predict_proba``, or a function from X to probabilities of shape (n, K), or of shape
        (n,) for the second of two classes. A fitted model is used as it is, one that is not fitted is cloned and
        fitted. None if probabilities are given as ``y_proba`` to every method.
    classes : sequence of labels, optional
        Those of the columns of probabilities, where neither the model nor y tells: for a function, or ``y_proba``.
    kernel : {"io", "input", "output"}
        What the kernel looks at: the model's inputs and its probabilities, or one of them.
    input_kernel, output_kernel, ard, features : as in `RIORegressor`
    residuals, cv, combine : as in `RIORegressor`
        Of the probabilities that the GP learns from: the model's own, or those of clones for rows that they were not
        fitted to. Folds keep the shares of labels. Clones that lack two of them decide about a correction: five folds
        are 20 fits of the model.
    inference, n_inducing, max_iter, tol, training, n_jobs, random_state, verbose : as in `RIORegressor`

    Attributes
    ----------
    fitted_ : FittedClassifier
        All that was learnt, as one frozen object; the attributes below look things up in it.
    estimator_ : object
        The fitted model, whose ``predict`` and ``predict_proba`` are its own; the mean of clones after cross-fitting.
    classes_ : (K,) array
        Labels, in the order of the columns of probabilities.
    recalibration_ : Recalibration
        How confidence follows from the model's probabilities: ``slope`` and ``offset`` on its log-odds, and the
        smallest probability that is believed, ``floor``. Confidence that is right has slope 1 and offset 0; a slope
        below 1 means that the model is surer than it should be.
    correction_choice_ : CorrectionChoice
        Whether the GP corrects confidence: the ``share`` of its correction that is made, 0 without evidence, and the
        log losses of left-out rows with and without it.
    residuals_ : ResidualChoice
        Which probabilities the GP was fitted to, whether the model has seen the rows, and the evidence.
    sets_ : SetCalibration or None
        What `calibrate` has learnt.
    hyperparameters_ : dict
        Variances and lengthscales of each part of the kernel; the last inputs are whether the model's label is each of
        the classes, the outputs its probabilities, the largest first.
    n_iter_ : int
        Iterations of the optimiser.
    converged_ : bool
        Whether the optimiser stopped because nothing was left to gain within ``tol``.
    metadata_ : dict
        What was given to `save` as ``metadata``, after `rio_uq.load`.
    n_features_in_ : int
    feature_names_in_ : array of str
        If X has column names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from rio_uq import RIOClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(50, max_depth=2, random_state=0)
    >>> rio = RIOClassifier(forest, features=[0, 1, 2], random_state=0).fit(X[:200], y[:200])
    >>> rio.predict_proba(X[200:]).shape
    (369, 2)
    >>> score, std = rio.error_score(X[200:], return_std=True)
    >>> wrong = rio.estimator_.predict(X[200:]) != y[200:]
    >>> bool(score[wrong].mean() > 2.0 * score[~wrong].mean())
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        classes: Any = None,
        kernel: str = "io",
        input_kernel: str = "auto",
        output_kernel: str = "rbf+linear",
        ard: bool = True,
        features: Any = "auto",
        residuals: str = "auto",
        cv: Any = 5,
        combine: str = "auto",
        inference: str = "auto",
        n_inducing: int | str = 300,
        max_iter: int = 200,
        tol: float = 1e-5,
        training: Training | dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.classes = classes
        self.kernel = kernel
        self.input_kernel = input_kernel
        self.output_kernel = output_kernel
        self.ard = ard
        self.features = features
        self.residuals = residuals
        self.cv = cv
        self.combine = combine
        self.inference = inference
        self.n_inducing = n_inducing
        self.max_iter = max_iter
        self.tol = tol
        self.training = training
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        y_proba: Any = None,
        sample_weight: Any = None,
        held_out: Any = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the GP to what confidence is from the truth, and first the model itself if it needs it.

        Parameters
        ----------
        X : array or frame of shape (n, d), or anything that the model and ``features`` take
            In memory.
        y : array of shape (n,)
            Labels; or the name of a column of a frame, also below.
        y_proba : array of shape (n, K) or, for two classes, (n,), optional
            The model's probabilities for X, if they are known already. They should be those of rows that it has not
            seen, with ``held_out=True``. Out-of-fold ones look better corrected than they are: clones have seen the
            rows around each row. Give the model instead.
        sample_weight : array of shape (n,), optional
            A row of weight two is the same as that row twice. Also given to a model that is fitted here, if it takes
            weights.
        held_out : bool or array of bool of shape (n,), optional
            The rows that a fitted model was not trained on: True for all of them, False for none, or a mask, in which
            case the GP is fitted to these alone.
        groups : array of shape (n,), optional
            The person, machine or place that each row belongs to, if confidence is to hold at new ones: rows of a
            group are left out together.
        **fit_params
            Further parameters for ``fit`` of a model that is fitted here.

        Returns
        -------
        self
        """
        check_classifier(self.estimator)
        if self.estimator is None and y_proba is None:
            raise ValueError(
                "there is no model to ask for probabilities: give RIOClassifier a classifier, or give fit y_proba"
            )
        params = around_model.model_fit_params(self, sample_weight, fit_params)
        options = replace(self._options(), fit_params=params)
        check_in_memory(X)
        is_of_all = isinstance(held_out, bool | np.bool_)
        roles = {"y": y, "y_pred": y_proba, "sample_weight": sample_weight, "groups": groups}
        names = getattr(self.estimator, "feature_names_in_", None)
        part = MemorySource(X, roles if is_of_all else {**roles, "held_out": held_out}, names).part
        rows = classifying.labelled_rows(part, self.estimator, self.classes)
        # Only now: an error on the way leaves an earlier fit as it was.
        self.fitted_ = classifying.fit(rows, options, held_out=bool(held_out) if is_of_all else None)
        return self

    def predict_proba(self, X: Any, *, y_proba: Any = None) -> Array:
        """Corrected probabilities of each class, (n, K).

        That of the label which the model predicts is 1 − `error_score`; the others are in proportion to the model's.

        Parameters
        ----------
        X : as in `fit`
        y_proba : array of shape (n, K), optional
            The model's probabilities for X, if they are known already.
        """
        inputs = self._inputs(X, y_proba)
        return self.fitted_.corrected(inputs, self._n_jobs())

    def predict(self, X: Any, *, y_proba: Any = None) -> NDArray[Any]:
        """The likeliest label by corrected probabilities, (n,). That of the model is ``rio.estimator_.predict(X)``."""
        probabilities = self.predict_proba(X, y_proba=y_proba)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def predict_log_proba(self, X: Any, *, y_proba: Any = None) -> Array:
        """Logarithms of corrected probabilities, (n, K)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, y_proba=y_proba)))

    def error_score(self, X: Any, *, y_proba: Any = None, return_std: bool = False) -> Any:
        """The probability that the label which the model predicts is wrong, between 0 and 1.

        Parameters
        ----------
        X, y_proba : as in `predict_proba`
        return_std : bool
            Return the GP's standard deviation as well: that of what confidence is from the truth, on average over rows
            like this one. It is large where rows are unlike those of `fit`. Whether a single label is right is less
            sure than that: its variance is p (1 − p).

        Returns
        -------
        score : (n,) array
        std : (n,) array
            If ``return_std``.
        """
        inputs, n_jobs = self._inputs(X, y_proba), self._n_jobs()
        score = 1.0 - self.fitted_.label_probability(inputs, n_jobs)
        return (score, self.fitted_.std(inputs, n_jobs)) if return_std else score

    def confidence(self, X: Any, *, y_proba: Any = None) -> Array:
        """The model's confidence in its label, recalibrated and not corrected, (n,)."""
        inputs = self._inputs(X, y_proba)
        return self.fitted_.confidence(inputs.probabilities)

    def label_is_right(self, X: Any, y: Any, *, y_proba: Any = None) -> tuple[Array, Array]:
        """Whether the label that the model predicts is right, 1 or 0, and its own probability of that label, both (n,).

        Parameters
        ----------
        X, y : rows and their labels
        y_proba : as in `predict_proba`
        """
        probabilities = self._inputs(X, y_proba).probabilities
        label = self.fitted_.columns_of(y, len(probabilities))
        return (probabilities.argmax(axis=1) == label).astype(float), probabilities.max(axis=1)

    def reject(
        self,
        X: Any,
        *,
        threshold: float | None = None,
        budget: float | None = None,
        target_error: float | None = None,
        calibration: Any = None,
        y_proba: Any = None,
    ) -> Mask:
        """The rows whose labels by the model are better looked at by a person, by one of three rules.

        Parameters
        ----------
        X, y_proba : as in `predict_proba`
        threshold : float
            Reject where `error_score` is larger than this.
        budget : float
            Keep this share of rows, those with the smallest error scores; rows that share the last one of them are kept
            too. The rows are those of X; or those of ``calibration``, from which the threshold is then taken.
        target_error : float
            Keep as many rows as possible with a share of wrong labels of at most this, on the rows of ``calibration``.
            Rows with a larger error score than all of those kept there are rejected.
        calibration : (X, y) or (X, y, y_proba)
            Rows that neither the model nor `fit` has seen. ``budget`` looks at X alone, so y may be None.

        Returns
        -------
        array of bool of shape (n,)
            True for rows to be looked at.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from rio_uq import RIOClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> rio = RIOClassifier(LogisticRegression(C=0.1), random_state=0).fit(X[::2], y[::2])
        >>> int(rio.reject(X[1::2], budget=0.8).sum())
        15
        """
        score = self.error_score(X, y_proba=y_proba)
        rules = {"threshold": threshold, "budget": budget, "target_error": target_error}
        rejection.check_rules(rules, calibration)
        if threshold is not None:
            return np.asarray(score > rejection.check_number(threshold, "threshold", 1.0))
        if budget is not None:
            reference = score if calibration is None else self._calibration_rows(calibration)[0]
            share = rejection.check_number(budget, "budget", 1.0)
            return np.asarray(score > rejection.threshold_for_budget(reference, share))
        reference, error = self._calibration_rows(calibration)
        if error is None:
            raise ValueError("target_error needs the labels of the calibration rows: their y was None")
        target = rejection.check_number(target_error, "target_error", 1.0)
        return np.asarray(score > rejection.threshold_for_error(reference, error, target))

    def _calibration_rows(self, calibration: Any) -> tuple[Array, Array | None]:
        """Error scores of calibration rows, and whether the model's label is wrong, if that is known, both (n,)."""
        if not isinstance(calibration, tuple | list) or len(calibration) not in (2, 3):
            raise ValueError("calibration has to be (X, y), or (X, y, y_proba) if there is no model to ask")
        X, y, y_proba = (*calibration, None)[:3]
        inputs = self._inputs(X, y_proba)
        score = 1.0 - self.fitted_.label_probability(inputs, self._n_jobs())
        if y is None:
            return score, None
        label = self.fitted_.columns_of(y, len(score))
        return score, (inputs.probabilities.argmax(axis=1) != label).astype(float)

    def calibrate(self, X: Any, y: Any, *, method: str = "conformal", y_proba: Any = None) -> Self:
        """Learn from rows that neither the model nor the GP has seen how large sets of classes have to be.

        A class is in the set of a row if its corrected probability is no smaller than that of the right class is in all
        but the least likely calibration rows. Sets then hold the right class with the probability asked for, or a
        little more, whatever the model, if calibration rows and new rows are exchangeable. Probabilities stay as they
        are.

        Parameters
        ----------
        X, y : as in `fit`
            Rows as good as those to come: drawn alike, and used for nothing before.
        method : {"conformal", "class-conditional"}
            "conformal" sets hold the right class so often over all rows; "class-conditional" ones do among the rows of
            each class, and need as many rows of each.
        y_proba : array of shape (n, K), optional
            The model's probabilities for X, if they are known already.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from rio_uq import RIOClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> rio = RIOClassifier(LogisticRegression(C=0.1), random_state=0).fit(X[::3], y[::3])
        >>> sets = rio.calibrate(X[1::3], y[1::3]).predict_set(X[2::3], confidence_level=0.9)
        >>> sets.shape, bool(sets[range(50), y[2::3]].mean() > 0.85)
        ((50, 3), True)
        """
        inputs = self._inputs(X, y_proba)
        fitted = self.fitted_
        label = fitted.columns_of(y, len(inputs.probabilities))
        right = (inputs.probabilities.argmax(axis=1) == label).astype(float)
        reused = fitted.errors.kept.reused(inputs.features, inputs.probabilities, right[:, None])
        if reused > REUSED:
            warn_user(
                f"{reused:.0%} of these rows were fitted to: sets calibrated on them are too small; calibrate on rows "
                "that were used for nothing else",
                ReusedRowsWarning,
            )
        sets = SetCalibration.of(method, fitted.corrected(inputs, self._n_jobs()), label)
        self.fitted_ = replace(fitted, sets=sets)
        return self

    def predict_set(self, X: Any, confidence_level: Any = 0.9, *, y_proba: Any = None) -> Mask:
        """Sets of classes that hold the right one with the given probability, after `calibrate`.

        Parameters
        ----------
        X, y_proba : as in `predict_proba`
        confidence_level : float or list of k floats
            Between 0 and 1.

        Returns
        -------
        array of bool of shape (n, K), or (n, K, k) for a list
            Whether each class is in the set; the likeliest always is.
        """
        levels = check_levels(confidence_level, "confidence_level")
        inputs = self._inputs(X, y_proba)
        sets = self.fitted_.sets
        if sets is None:
            raise ValueError(
                "sets of classes need rows that were used for nothing else: call calibrate(X, y) first, and then "
                "predict_set"
            )
        for level in levels.ravel():
            sets.check_support(float(level))
        probabilities = self.fitted_.corrected(inputs, self._n_jobs())
        masks = [sets.sets(probabilities, float(level)) for level in levels.ravel()]
        return masks[0] if levels.ndim == 0 else np.stack(masks, axis=2)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, y_proba: Any = None) -> float:
        """Accuracy of corrected labels, as of any classifier of scikit-learn."""
        return float(accuracy_score(y, self.predict(X, y_proba=y_proba), sample_weight=sample_weight))

    def summary(self, X: Any = None, *, y_proba: Any = None) -> ClassifierSummary:
        """Summary of the fit, in numbers and, printed, in words: how sure the model is and how right, and what the rows
        have in common where it is wrong more often than it thinks.

        Parameters
        ----------
        X : as in `fit`, optional
            Rows to speak about; by default those given to `fit`, or 2,000 of them.
        y_proba : array of shape (n, K), optional
            The model's probabilities for X, if they are known already.
        """
        check_is_fitted(self)
        if X is None and y_proba is not None:
            raise ValueError("y_proba are probabilities for X: give both, or neither for the rows of fit")
        inputs = None if X is None else self._inputs(X, y_proba)
        return summarize_classifier(self.fitted_, inputs, self._n_jobs())

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        estimator: Any = None,
        model_file: str | os.PathLike[str] | None = None,
        trusted: Sequence[str] = (),
        overwrite: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Write what was learnt to a file that `rio_uq.load` reads, without pickle.

        The model is not part of it, unless a file of its own tool is put inside. What it predicts for a few training
        rows is stored, so that `rio_uq.load` knows it again. The file holds training rows.

        Parameters
        ----------
        path : path
            ``model.rio``, say. The file is replaced in one step: a crash or a full disk leaves the old one.
        estimator : classifier or callable, optional
            The model that will be given to `rio_uq.load`, if this one was fitted with ``y_proba`` alone.
        model_file : path to a .skops file, optional
            The model, stored by skops, to be put inside.
        trusted : sequence of str
            Names of types that a skops file may hold beside those that skops knows to be safe.
        overwrite : bool
            Whether a file of that name may be replaced.
        metadata : dict, optional
            Anything that JSON has a form for; ``metadata_`` after `rio_uq.load`.
        """
        check_is_fitted(self)
        fitted = self.fitted_
        if metadata is not None:
            fitted = replace(fitted, errors=replace(fitted.errors, metadata=metadata))
        storage.write(
            path,
            {**FIXED, **self._gp_parameters()},
            fitted.errors,
            model=estimator,
            model_file=model_file,
            trusted=trusted,
            overwrite=overwrite,
            classifier=fitted,
        )

    @classmethod
    def of_file(cls, values: Mapping[str, Any], fitted: FittedClassifier) -> Self:
        """From the parameters and all that was learnt, as a file holds them."""
        own = {name: value for name, value in values.items() if name not in FIXED}
        model = given_model(fitted.errors.model)
        rio = cls(**{**own, "estimator": model}, classes=None if model is not None else fitted.classes.tolist())
        rio.fitted_ = fitted
        return rio

    def _inputs(self, X: Any, y_proba: Any) -> LabelInputs:
        check_is_fitted(self)
        check_in_memory(X)
        part: Part = MemorySource(X, {"y_pred": y_proba}, self.fitted_.errors.feature_names_in).part
        around_model.check_columns(self, self.fitted_.errors, part.X)
        return self.fitted_.inputs(part)

    def _gp_parameters(self) -> dict[str, Any]:
        return {name: value for name, value in self.get_params(deep=False).items() if name != "classes"}

    def _options(self) -> Options:
        return Options.of({**FIXED, **self._gp_parameters()})

    def _n_jobs(self) -> int:
        return effective_jobs(self.n_jobs)

    def get_metadata_routing(self) -> MetadataRouter:
        """The parameters that `fit` hands on to the model, for scikit-learn's metadata routing."""
        return around_model.routing_of(self)

    @property
    def estimator_(self) -> Any:
        fitted = self._learnt("estimator_")
        return given_model(fitted.errors.model, fitted.classes)

    @property
    def classes_(self) -> NDArray[Any]:
        return self._learnt("classes_").classes

    @property
    def recalibration_(self) -> Recalibration:
        return self._learnt("recalibration_").recalibration

    @property
    def correction_choice_(self) -> CorrectionChoice:
        return self._learnt("correction_choice_").choice

    @property
    def sets_(self) -> SetCalibration | None:
        return self._learnt("sets_").sets

    @property
    def residuals_(self) -> ResidualChoice:
        choice = self._learnt("residuals_").errors.residuals
        if choice is None:
            raise AttributeError("residuals_ is not there: the file does not say")
        return choice

    @property
    def hyperparameters_(self) -> dict[str, dict[str, Any]]:
        return self._learnt("hyperparameters_").gp.hyperparameters()

    @property
    def n_iter_(self) -> int:
        return self._learnt("n_iter_").gp.n_iter

    @property
    def converged_(self) -> bool:
        return self._learnt("converged_").gp.converged

    @property
    def metadata_(self) -> Mapping[str, Any]:
        metadata = self._learnt("metadata_").metadata
        if metadata is None:
            raise AttributeError("metadata_ is there after load, if metadata was given to save")
        return metadata

    @property
    def n_features_in_(self) -> int:
        n_features = self._learnt("n_features_in_").errors.n_features_in
        if n_features is None:
            raise AttributeError("n_features_in_ is not there: X had no columns in fit")
        return n_features

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        names = self._learnt("feature_names_in_").errors.feature_names_in
        if names is None:
            raise AttributeError("feature_names_in_ is not there: the columns of X had no names in fit")
        return np.array(names, dtype=object)

    def _learnt(self, name: str) -> FittedClassifier:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"{type(self).__name__} has no {name} before fit")
        return self.fitted_

    def __sklearn_is_fitted__(self) -> bool:
        return "fitted_" in vars(self)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a fitted model stay as they are, since setting them would change the model.

        Parameters of ``training`` can be set where it is None or a dict, too.
        """
        super().set_params(**around_model.settable(self, params))
        return self

    def __sklearn_clone__(self) -> Self:
        """A fitted model stays the one it is; the rest is cloned as usual."""
        copy: Self = around_model.copy_of(self)
        return copy

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def check_fitted_classifier(value: Any) -> None:
    """Raise unless the value is a fitted RIOClassifier."""
    if not isinstance(value, RIOClassifier):
        raise TypeError(f"a fitted RIOClassifier is needed; got {value!r}")
    check_is_fitted(value)
