"""`FittedClassifier`: all that `fit` has learnt of a classifier, as one frozen object, and what it says of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from rio_uq._base.array import Array
from rio_uq._base.checks import named_rows
from rio_uq.confidence import (
    CorrectionChoice,
    Recalibration,
    corrected_confidence,
    indicators_of_label,
    sorted_probabilities,
    with_label_probability,
)
from rio_uq.fitted import Fitted
from rio_uq.gp.residual import ResidualGP
from rio_uq.models.probabilities import check_probabilities
from rio_uq.prediction_sets import SetCalibration
from rio_uq.rows.contract import Part


class LabelInputs(NamedTuple):
    """Rows as the GP of a classifier takes them.

    Attributes
    ----------
    features : (n, d) array
        Of X, without the indicators of the label.
    probabilities : (n, K) array
        Of the model.
    """

    features: Array
    probabilities: Array


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """All that was learnt.

    Attributes
    ----------
    errors : Fitted
        The model, as one that predicts probabilities, and the GP on c − ĉ. Its inputs are those of X and the indicators
        of the label that the model predicts.
    classes : (K,) array
        Labels, in the order of the columns of probabilities.
    recalibration : Recalibration
    choice : CorrectionChoice
    sets : SetCalibration or None
    """

    errors: Fitted
    classes: NDArray[Any]
    recalibration: Recalibration
    choice: CorrectionChoice
    sets: SetCalibration | None = None

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def gp(self) -> ResidualGP:
        return self.errors.gp

    @property
    def metadata(self) -> Mapping[str, Any] | None:
        return self.errors.metadata

    def inputs(self, part: Part) -> LabelInputs:
        """Rows of X as the GP takes them."""
        return LabelInputs(self.errors.features(part.X), self.probabilities(part.X, part.y_pred))

    def probabilities(self, X: Any, given: Any = None) -> Array:
        """Of each class, (n, K): those that are given, or the model's."""
        if given is not None:
            return check_probabilities(given, _num_samples(X), self.n_classes, "y_proba")
        if self.errors.model is None:
            raise ValueError(
                "there is no model to ask for probabilities, since `fit` was given none or the file has none inside: "
                "give this method y_proba, or the model to RIOClassifier before `fit`, or to load: load(path, "
                "estimator=model)"
            )
        return np.asarray(self.errors.model.predict(X))

    def gp_rows(self, inputs: LabelInputs) -> tuple[Array, Array]:
        """The two blocks of the GP's rows, see `gp_rows`."""
        return gp_rows(self.errors.extract is not None, inputs)

    def confidence(self, probabilities: Array) -> Array:
        """ĉ of each row after recalibration, (n,)."""
        return self.recalibration.confidence(probabilities)

    def label_probability(self, inputs: LabelInputs, n_jobs: int) -> Array:
        """The corrected probability that the model's label is right, (n,)."""
        confidence = self.confidence(inputs.probabilities)
        if not self.choice.is_corrected:
            return confidence
        correction = self.gp.mean(*self.gp_rows(inputs), n_jobs)[:, 0]
        return corrected_confidence(confidence, self.choice.share * correction)

    def std(self, inputs: LabelInputs, n_jobs: int) -> Array:
        """The GP's standard deviation of what c − ĉ is on average at each row, (n,)."""
        _, variance = self.gp.mean_and_variance(*self.gp_rows(inputs), n_jobs)
        return np.asarray(np.sqrt(variance[:, 0]))

    def corrected(self, inputs: LabelInputs, n_jobs: int) -> Array:
        """Corrected probabilities of each class, (n, K)."""
        return with_label_probability(inputs.probabilities, self.label_probability(inputs, n_jobs))

    def columns_of(self, y: Any, n_rows: int) -> NDArray[np.intp]:
        """The column of the label of each row, (n,)."""
        return columns_of_labels(y, n_rows, self.classes)


def gp_rows(has_inputs: bool, inputs: LabelInputs) -> tuple[Array, Array]:
    """Inputs of the GP, (n, d) with the indicators of the label where it looks at inputs at all, and probabilities in
    their order, (n, K).
    """
    features, probabilities = inputs
    ordered = sorted_probabilities(probabilities)
    return (np.hstack([features, indicators_of_label(probabilities)]) if has_inputs else features), ordered


def columns_of_labels(y: Any, n_rows: int, classes: NDArray[Any]) -> NDArray[np.intp]:
    """The column of the label of each row, (n,), or an error that names labels which the model does not know."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n_rows,):
        raise ValueError(f"y has to have shape ({n_rows},), a label for each row of X; got {labels.shape}")
    place = {label: column for column, label in enumerate(classes.tolist())}
    values = labels.tolist()
    columns = np.array([place.get(label, -1) for label in values], dtype=np.intp)
    unknown = np.flatnonzero(columns < 0)
    if len(unknown):
        raise ValueError(
            f"y has the label {values[unknown[0]]!r} in {len(unknown)} rows ({named_rows(unknown)}), and the model "
            f"knows the classes {classes.tolist()}: leave such rows out, or fit the model to rows of all classes"
        )
    return columns
