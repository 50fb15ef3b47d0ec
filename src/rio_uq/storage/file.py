"""Write and read a fitted regressor: its parameters and its `Fitted`, as plain values and arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.array import Array
from rio_uq._base.version import __version__
from rio_uq._base.warnings import warn_user
from rio_uq.features.extractors import Extractor, Transformed
from rio_uq.features.table_encoder import TableEncoder
from rio_uq.fitted import Fitted
from rio_uq.fitted_classifier import FittedClassifier
from rio_uq.gp.without_model import ModelChoice
from rio_uq.models import base as base_model
from rio_uq.models.base import needs_fit
from rio_uq.models.cross_fitting import FoldAverage
from rio_uq.models.files import KINDS, kind_of, open_model, read_model
from rio_uq.models.identity import check_same_model, disagreement, predictions_for
from rio_uq.models.probabilities import (
    Classes,
    ProbabilityFunction,
    ProbabilityModel,
    check_classifier,
    probability_model,
)
from rio_uq.models.residual_choice import KINDS_OF_RESIDUALS, VERDICTS, ResidualChoice
from rio_uq.models.seen_warnings import name_of
from rio_uq.rows.example_table import ExampleTable
from rio_uq.rows.examples import ExampleRows
from rio_uq.rows.kept import KeptRows
from rio_uq.storage.archive import FORMAT, FORMAT_VERSION, Archive, read_archive, write_archive
from rio_uq.storage.calibration import read_calibration, write_calibration
from rio_uq.storage.classifier import n_indicators, read_classes, read_classifier, write_classifier
from rio_uq.storage.examples import read_example, write_example
from rio_uq.storage.features import names_given_at_load, read_extractor, write_extractor
from rio_uq.storage.fields import ANY, Arrays, Fields, Put, member
from rio_uq.storage.gp import read_gp, write_gp
from rio_uq.storage.parameters import read_parameters, write_parameters
from rio_uq.storage.scale import read_scale, write_scale
from rio_uq.storage.shape import read_shape, write_shape

STORED = "stored"
"""For the model inside the file."""


def write(
    path: str | os.PathLike[str],
    parameters: Mapping[str, Any],
    fitted: Fitted,
    *,
    model: Any = None,
    model_file: str | os.PathLike[str] | None = None,
    trusted: Sequence[str] = (),
    overwrite: bool = True,
    classifier: FittedClassifier | None = None,
) -> None:
    """Write a file in one step; see `RIORegressor.save`.

    Parameters
    ----------
    parameters : mapping
        Of the constructor.
    model : estimator or callable, optional
        The model that will be given to `read`, if ``fitted`` has none.
    classifier : FittedClassifier, optional
        All that belongs to a classifier, whose errors ``fitted`` is about.
    """
    as_model = checked_model if classifier is None else partial(checked_classifier, classes=classifier.classes)
    arrays: dict[str, NDArray[Any]] = {}

    def put(name: str, array: NDArray[Any]) -> None:
        arrays[member(name)] = np.asarray(array)

    manifest: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
        "parameters": write_parameters(parameters, put, left_out=names_given_at_load(fitted.extract)),
        "regressor": _write_fitted(fitted, put),
        "gp": write_gp(fitted.gp, put),
        "calibration": None if fitted.calibration is None else write_calibration(fitted.calibration, put),
        "shape": None if fitted.shape is None else write_shape(fitted.shape),
        "scale": None if fitted.scale_choice is None else write_scale(fitted.scale_choice, fitted.kept.outcome),
        "model": None,
        **({} if classifier is None else {"classifier": write_classifier(classifier, put)}),
    }
    asked = fitted.model if model is None else as_model(model)
    blobs: dict[str, bytes] = {}
    inside = None
    if model_file is not None:
        manifest["model"] = kind = kind_of(os.fspath(model_file))
        blobs[f"model.{kind}"] = content = read_model(model_file, kind)
        inside = as_model(open_model(os.fspath(model_file), kind, content, trusted))
    manifest["check"] = _write_check(fitted, inside if asked is None else asked, put)
    if inside is not None and asked is not None and fitted.example is not None and manifest["check"] is not None:
        stored = arrays[member("check/y_pred")]
        spread = fitted.kept.y_pred.std(axis=0)
        check_same_model(inside, fitted.example.rebuilt(), stored, spread, os.fspath(model_file or ""))
    if fitted.metadata is not None:
        manifest["metadata"] = _checked_metadata(fitted.metadata)
    write_archive(path, manifest, arrays, blobs, overwrite=overwrite)


def read(
    path: str | os.PathLike[str], *, model: Any, trusted: Sequence[str], parameters: Mapping[str, Any]
) -> tuple[dict[str, Any], Fitted | FittedClassifier]:
    """The parameters and all that was learnt, of a regressor or of a classifier; see `rio_uq.load`.

    Parameters
    ----------
    model : estimator, callable, None or `STORED`
    parameters : mapping
        Those that a file cannot hold.
    """
    archive = read_archive(path)
    manifest, arrays = Fields(archive, archive.manifest), Arrays(archive)
    manifest.take("format")
    format_version = manifest.take("format_version")
    manifest.take("arrays")
    manifest.text("library_version")
    values = read_parameters(manifest.child("parameters"), arrays, parameters, format_version)
    noise = values["noise"] if format_version == 1 else None
    part = manifest.child("classifier") if "classifier" in manifest.left else None
    labels = None if part is None else read_classes(part, arrays)
    fitted = _read_fitted(manifest, arrays, parameters, format_version, noise, labels)
    as_model = checked_model if labels is None else partial(checked_classifier, classes=labels)
    classifier = None if part is None or labels is None else read_classifier(part, arrays, fitted, labels)
    if values["features"] is None and isinstance(fitted.extract, Transformed):
        values["features"] = fitted.extract.transform
    stored_model = _take_model(manifest, archive)
    example = manifest.optional_child("check")
    check = None if example is None else _Check.read(example, arrays, fitted)
    if "metadata" in manifest.left:
        fitted = replace(fitted, metadata=dict(manifest.child("metadata").left))
    manifest.finish()
    arrays.finish()
    is_given = not isinstance(model, str) or model != STORED
    if not is_given:
        where = f"{archive.path}, member model."
        model = None if stored_model is None else open_model(where + stored_model[0], *stored_model, trusted)
    had_model = check is None or check.y_pred is not None
    fitted = replace(
        fitted,
        model=as_model(model),
        example=None if check is None else check.example,
        is_without_its_model=model is None and had_model,
    )
    _check_agreement(fitted, archive.path, check, is_given=is_given and model is not None)
    values |= {"estimator": fitted.model}
    return values, fitted if classifier is None else replace(classifier, errors=fitted)


def what_is_left_out(parameters: Mapping[str, Any], fitted: Fitted, path: str, *, has_model: bool) -> str | None:
    """What a file lacks, in words, and how it is given to `read`; None where it lacks nothing.

    Parameters
    ----------
    has_model : bool
        Whether the model is in the file, or the user knows that it is not.
    """
    kept: dict[str, tuple[str, str]] = {}  # by parameter of `read`: what it is, and where it is found
    if fitted.model is not None and not has_model:
        is_own = fitted.model is parameters["estimator"]
        words = name_of(parameters["estimator"]) + ("" if is_own else ", as it was fitted here")
        kept["estimator"] = f"the model ({words})", "model" if is_own else "rio.estimator_"
    if isinstance(fitted.extract, Transformed) and names_given_at_load(fitted.extract):
        kept["features"] = f"what makes the features ({name_of(fitted.extract.transform)})", "rio.features_"
    if parameters["scale"] is not None and not isinstance(parameters["scale"], str):
        kept["scale"] = f"the scale ({name_of(parameters['scale'])})", "rio.scale_.scales[0].transformer"
    if not kept:
        return None
    missing, places = zip(*kept.values(), strict=True)
    given = ", ".join(f"{name}={place}" for name, place in zip(kept, places, strict=True))
    inside = "; or put the model inside, as a .skops or .onnx file: save(path, model_file=...)"
    return (
        f"{path} does not hold {' and '.join(missing)}: keep {'it' if len(kept) == 1 else 'them'}, and give "
        f"{'it' if len(kept) == 1 else 'them'} to load(path, {given}){inside if 'estimator' in kept else ''}"
    )


def checked_model(model: Any) -> Any:
    """A model that was given, which has to be fitted."""
    if base_model.needs_fit(model):
        raise ValueError(
            f"the model is not fitted: give the fitted one, rio.estimator_ of the regressor that was saved; got "
            f"{model!r}"
        )
    return base_model.fitted(model, None, np.empty(0), None)


def checked_classifier(model: Any, classes: Classes) -> Any:
    """A classifier that was given, which has to be fitted, as a model of probabilities."""
    if isinstance(model, ProbabilityModel | ProbabilityFunction | FoldAverage):
        return model
    check_classifier(model)
    if needs_fit(model):
        raise ValueError(f"the model is not fitted: give the fitted one; got {model!r}")
    if hasattr(model, "average"):  # the mean of clones, as RIOClassifier.estimator_ gives it
        return model.average
    return probability_model(model, classes)


def _checked_metadata(metadata: Any) -> dict[str, Any]:
    try:
        copied = json.loads(json.dumps(metadata, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(f"metadata has to be a dict of what JSON has a form for: {error}") from error
    if copied != metadata or not isinstance(copied, dict):
        raise TypeError(f"metadata has to be a dict with names as keys, of lists, texts and numbers; got {metadata!r}")
    return copied


def _write_fitted(fitted: Fitted, put: Put) -> dict[str, Any]:
    for name in ("features", "y_pred", "weight"):
        put(f"known/{name}", getattr(fitted.kept, name))
    if np.isfinite(fitted.kept.outcome).all():
        put("known/outcome", fitted.kept.outcome)
    names = fitted.feature_names_in
    return {
        "y_shape": list(fitted.y_shape),
        "is_residual": fitted.gp.is_residual,
        "n_features_in": fitted.n_features_in,
        "feature_names_in": None if names is None else [str(name) for name in names],
        "features": write_extractor(fitted.extract),
        "n_fitted": int(fitted.kept.n_fitted),
        "residuals": None if fitted.residuals is None else _write_residuals(fitted.residuals),
        **({} if fitted.model_choice is None else {"model_choice": _write_model_choice(fitted.model_choice)}),
    }


def _read_fitted(
    manifest: Fields,
    arrays: Arrays,
    at_load: Mapping[str, Any],
    format_version: int,
    noise_choice: str | None,
    classes: Classes | None,
) -> Fitted:
    """All but the model, the example rows and the metadata."""
    fields = manifest.child("regressor")
    y_shape = tuple(fields.items("y_shape"))
    if len(y_shape) > 1 or not all(type(size) is int and size >= 1 for size in y_shape):
        fields.fail("has to be [] or [number of outputs]", "y_shape")
    n_outputs = y_shape[0] if y_shape else 1
    fields.flag("is_residual")  # the GP has it too
    n_features_in = None if fields.is_null("n_features_in") else fields.count("n_features_in", 0)
    names = None if fields.is_null("feature_names_in") else tuple(fields.texts("feature_names_in"))
    if names is not None and len(names) != n_features_in:
        fields.fail("has to have one name for each column of X", "feature_names_in")
    features = at_load.get("features")
    extract = read_extractor(fields.optional_child("features"), features)
    kept_features = arrays.floats("known/features", None, ANY)
    n_kept, n_features = kept_features.shape
    weight = arrays.floats("known/weight", n_kept)
    outcome = np.full((n_kept, n_outputs), np.nan)
    if member("known/outcome") in arrays.left:
        outcome = arrays.floats("known/outcome", n_kept, n_outputs)
    n_fitted = fields.count("n_fitted", n_kept)
    choice = None if format_version == 1 else fields.optional_child("residuals")
    residuals = None if choice is None else _read_residuals(choice)
    model_choice = (
        _read_model_choice(fields.child("model_choice"), n_outputs) if "model_choice" in fields.left else None
    )
    fields.finish()
    _check_number_of_features(extract, n_features, arrays, is_given=features is not None)
    n_inputs = n_features if classes is None or extract is None else n_features + n_indicators(len(classes))
    gp = read_gp(manifest.child("gp"), arrays, n_inputs, n_outputs, noise_choice)
    y_pred = arrays.floats("known/y_pred", n_kept, gp.n_predictions)
    calibration = manifest.optional_child("calibration")
    shape = manifest.optional_child("shape") if format_version > 1 else None
    scale = manifest.optional_child("scale") if format_version > 1 else None
    return Fitted(
        model=None,
        extract=extract,
        gp=gp,
        y_shape=y_shape,
        kept=KeptRows(kept_features, y_pred, outcome, weight, n_fitted),
        example=None,
        n_features_in=n_features_in,
        feature_names_in=names,
        residuals=residuals,
        calibration=None if calibration is None else read_calibration(calibration, arrays, n_outputs),
        shape=None if shape is None else read_shape(shape, n_outputs),
        scale_choice=None if scale is None else read_scale(scale, n_outputs, at_load.get("scale")),
        model_choice=model_choice,
    )


def _write_residuals(choice: ResidualChoice) -> dict[str, Any]:
    evidence = {name: float(value) for name, value in choice.evidence.items()}
    return {**asdict(choice), "evidence": evidence}


def _read_residuals(fields: Fields) -> ResidualChoice:
    kind, rows, reason = fields.text("kind", KINDS_OF_RESIDUALS), fields.text("rows", VERDICTS), fields.text("reason")
    numbers = fields.child("evidence")
    evidence = {name: numbers.number(name) for name in list(numbers.left)}
    choice = ResidualChoice(kind, rows, reason, fields.count("n_fits"), evidence)
    fields.finish()
    return choice


def _write_model_choice(choice: ModelChoice) -> dict[str, Any]:
    errors = [[float(error) for error in errors] for errors in (choice.error, choice.error_without_model)]
    counted = {"gain": float(choice.gain)} if choice.gain < 1.0 else {}
    counted |= {"stray": float(choice.stray)} if choice.stray else {}
    return {"uses_model": choice.uses_model, "error": errors[0], "error_without_model": errors[1], **counted}


def _read_model_choice(fields: Fields, n_outputs: int) -> ModelChoice:
    uses_model = fields.flag("uses_model")
    error, without_model = (np.array(fields.numbers(key, n_outputs)) for key in ("error", "error_without_model"))
    gain = fields.number("gain") if "gain" in fields.left else 1.0
    stray = fields.number("stray") if "stray" in fields.left else 0.0
    fields.finish()
    return ModelChoice(uses_model, error, without_model, gain, stray)


def _check_number_of_features(extract: Extractor | None, n_features: int, arrays: Arrays, *, is_given: bool) -> None:
    encoder = extract.transform if isinstance(extract, Transformed) and not is_given else None
    is_wrong = isinstance(encoder, TableEncoder) and len(encoder.feature_names_out_) != n_features
    if (extract is None) != (n_features == 0) or is_wrong:
        arrays.fail("known/features", f"{n_features} features do not go with 'regressor.features'")


def _write_check(fitted: Fitted, model: Any, put: Put) -> dict[str, Any] | None:
    """Example rows, the GP's features of them, and what the model predicts for them, if there is one."""
    if fitted.example is None or not fitted.example.can_be_rebuilt:
        return None
    rows = fitted.example.rebuilt()
    put("check/features", fitted.features(rows))
    if model is not None:
        put("check/y_pred", predictions_for(model, rows, fitted.n_predictions))
    return {**write_example(fitted.example, put), "has_model": model is not None}


@dataclass(frozen=True)
class _Check:
    """Example rows of a file, the GP's features of them, and what the model predicted for them, if that was known."""

    example: ExampleRows | ExampleTable
    features: Array
    y_pred: Array | None

    @classmethod
    def read(cls, fields: Fields, arrays: Arrays, fitted: Fitted) -> _Check:
        example = read_example(fields, arrays, fitted.n_features_in)
        features = arrays.floats("check/features", len(example), fitted.kept.features.shape[1])
        has_model = fields.flag("has_model")
        y_pred = arrays.floats("check/y_pred", len(example), fitted.n_predictions) if has_model else None
        fields.finish()
        return cls(example, features, y_pred)


def _take_model(manifest: Fields, archive: Archive) -> tuple[str, bytes] | None:
    """Kind and content of the model inside, if there is one."""
    blobs = dict(archive.blobs)
    model = None
    if not manifest.is_null("model"):
        kind = manifest.text("model", KINDS)
        if f"model.{kind}" not in blobs:
            archive.fail(f"model.{kind}", "missing")
        model = kind, blobs.pop(f"model.{kind}")
    for name in blobs:
        archive.fail(name, "unknown")
    return model


def _check_agreement(fitted: Fitted, path: str, check: _Check | None, *, is_given: bool) -> None:
    """Raise unless features and model are those of the file; warn where a model that was given cannot be checked."""
    if check is None or not check.example.can_be_rebuilt:
        if is_given:
            reason = "it holds no rows of X" if check is None else f"its rows of X need {check.example.library}"
            warn_user(
                f"{path}: the model given to load could not be checked, for {reason}: make sure that it is the one "
                "that was fitted"
            )
        return
    rows, spread = check.example.rebuilt(), fitted.kept.features.std(axis=0)
    if isinstance(fitted.extract, Transformed):
        wrong = disagreement(fitted.extract(rows), check.features, spread)
        if wrong:
            raise ValueError(f"{path}: the features given to load are not those of fit: {wrong}")
    if fitted.model is not None and check.y_pred is not None:
        check_same_model(fitted.model, rows, check.y_pred, fitted.kept.y_pred.std(axis=0), path)
