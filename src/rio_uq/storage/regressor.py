"""Save and load a fitted regressor without pickle: plain values and arrays in a documented file, see docs/format.md."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rio_uq._base.array import Array
from rio_uq.explain import KnownRows
from rio_uq.features.extractors import Extractor, Transformed
from rio_uq.features.table_encoder import TableEncoder
from rio_uq.models import base as base_model
from rio_uq.models.files import KINDS, kind_of, open_model, read_model
from rio_uq.options import check_options
from rio_uq.rows.example_table import DTYPES, SampleTable, read_table, write_table
from rio_uq.rows.examples import LIBRARIES, MOST_ROWS, SampleRows, check_model, disagreement, predictions_of
from rio_uq.storage.archive import FORMAT, FORMAT_VERSION, Archive, read_archive, write_archive
from rio_uq.storage.features import NotPlainError, as_plain, read_extractor, write_extractor
from rio_uq.storage.fields import Arrays, Fields, member
from rio_uq.storage.gp import read_calibration, read_gp, write_calibration, write_gp

if TYPE_CHECKING:
    from rio_uq.regressor import RIORegressor

ADDED_LATER = {"sample_rows", "time_budget"}
"""Parameters that older files do not have: the regressor then has their defaults."""

STORED = "stored"


class PersistenceMixin:
    """``save`` for RIORegressor, and what a file cannot hold."""

    _extract: Extractor | None

    @property
    def features_(self) -> Any:
        """The fitted transformer, the function or the list of columns that makes the GP's features of X; None for X
        itself.
        """
        extract = self._extract
        return extract.transform if isinstance(extract, Transformed) else getattr(extract, "columns", None)

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
        rows is stored, so that `rio_uq.load` knows it again; not where X is neither an array of numbers nor a frame, or
        a frame with dates and the like: `rio_uq.load` then warns. The file holds training rows: exact inference needs
        all of them, sparse inference and `summary` some.

        Parameters
        ----------
        path : path
            ``model.rio``, say. The file is replaced in one step: a crash or a full disk leaves the old one.
        estimator : estimator or callable, optional
            The model that will be given to `rio_uq.load`, if the regressor was fitted with ``y_pred`` alone.
        model_file : path to a .onnx or .skops file, optional
            The model, stored by skops or as ONNX, to be put inside. Its predictions have to be those of the model.
        trusted : sequence of str
            Names of types that a skops file may hold beside those that skops knows to be safe.
        overwrite : bool
            Whether a file of that name may be replaced.
        metadata : dict, optional
            Anything that JSON has a form for: where the data came from, say. It is ``metadata_`` after `rio_uq.load`,
            and is written again if that is saved.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import numpy as np, rio_uq
        >>> from sklearn.linear_model import LinearRegression
        >>> X = np.linspace(0.0, 1.0, 30)[:, None]
        >>> y = np.sin(6.0 * X[:, 0])
        >>> model = LinearRegression().fit(X, y)
        >>> rio = rio_uq.RIORegressor(model, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rio.save(pathlib.Path(folder, "model.rio"))
        ...     other = rio_uq.load(pathlib.Path(folder, "model.rio"), estimator=model)
        >>> bool(np.all(other.predict(X) == rio.predict(X)))
        True
        """
        check_is_fitted(self)
        _save(self, path, estimator, model_file, trusted, overwrite, metadata)


def load(
    path: str | os.PathLike[str], *, estimator: Any = STORED, trusted: Sequence[str] = (), **parameters: Any
) -> RIORegressor:
    """Read a regressor that `RIORegressor.save` has written. Nothing in the file is executed.

    Parameters
    ----------
    path : path
    estimator : estimator, callable or None
        The model, which has to predict what it did for a few rows that are stored. By default the one inside the file,
        if there is one. None for a regressor that is given ``y_pred``. A UserWarning says so where there are no such
        rows, so that the model could not be checked: X was neither an array of numbers nor a frame, or a frame with
        dates and the like.
    trusted : sequence of str
        Names of types that a skops file inside may hold beside those that skops knows to be safe.
    **parameters
        Parameters of the constructor that are no plain values: ``features``, if it was a transformer (give the fitted
        one, ``rio.features_``) or a function. A ``cv`` or ``random_state`` that was an object is needed only to fit
        again.

    Returns
    -------
    RIORegressor

    Raises
    ------
    FormatError
        A ValueError that names the file, its part, and what is wrong with it.
    """
    archive = read_archive(path)
    manifest, arrays = Fields(archive, archive.manifest), Arrays(archive)
    for key in ("format", "format_version", "arrays"):
        manifest.take(key)
    manifest.text("library_version")
    rio = _read_parameters(manifest.child("parameters"), arrays, parameters)
    _read_state(rio, manifest, arrays, parameters.get("features"))
    stored_model = _take_model(manifest, archive)
    check = _read_check(rio, manifest.optional_child("check"), arrays)
    if "metadata" in manifest.left:
        rio.metadata_ = dict(manifest.child("metadata").left)
    manifest.finish()
    arrays.finish()
    is_given = not isinstance(estimator, str) or estimator != STORED
    if is_given:
        model = estimator
    else:
        model = (
            None
            if stored_model is None
            else open_model(f"{archive.path}, member model.{stored_model[0]}", *stored_model, trusted)
        )
    rio.estimator = rio.estimator_ = _fitted_model(model)
    _check_agreement(rio, archive.path, check, is_given=is_given and model is not None)
    return rio


def _save(
    rio: Any, path: Any, estimator: Any, model_file: Any, trusted: Sequence[str], overwrite: bool, metadata: Any
) -> None:
    arrays: dict[str, NDArray[Any]] = {}

    def put(name: str, array: NDArray[Any]) -> None:
        arrays[member(name)] = np.asarray(array)

    parameters = rio.get_params(deep=False)
    check_options(parameters)
    manifest: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION, "library_version": _version()}
    manifest["parameters"] = _write_parameters(parameters, put)
    manifest["regressor"] = _write_regressor(rio, put)
    manifest["gp"] = write_gp(rio._gp, put)
    manifest["calibration"] = None if rio.calibration_ is None else write_calibration(rio.calibration_, put)
    model, blobs = rio.estimator_ if estimator is None else _fitted_model(estimator), {}
    manifest["model"] = None
    inside = None
    if model_file is not None:
        manifest["model"] = kind = kind_of(os.fspath(model_file))
        blobs[f"model.{kind}"] = content = read_model(model_file, kind)
        inside = open_model(os.fspath(model_file), kind, content, trusted)
    manifest["check"] = _write_check(rio, inside if model is None else model, put)
    if inside is not None and model is not None and rio._sample is not None:
        check_model(rio, inside, arrays[member("check/y_pred")], os.fspath(model_file))
    kept = getattr(rio, "metadata_", None) if metadata is None else metadata
    if kept is not None:
        manifest["metadata"] = _checked_metadata(kept)
    write_archive(path, manifest, arrays, blobs, overwrite=overwrite)


def _checked_metadata(metadata: Any) -> dict[str, Any]:
    try:
        copied = json.loads(json.dumps(metadata, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(f"metadata has to be a dict of what JSON has a form for: {error}") from error
    if copied != metadata or not isinstance(copied, dict):
        raise TypeError(f"metadata has to be a dict with names as keys, of lists, texts and numbers; got {metadata!r}")
    return copied


def _version() -> str:
    from rio_uq import __version__

    return __version__


def _write_parameters(parameters: dict[str, Any], put: Any) -> dict[str, Any]:
    plain, given = {}, []
    for name, value in parameters.items():
        if name == "estimator":
            continue
        if name == "inducing" and not isinstance(value, str):
            put("parameters/inducing", np.asarray(value, dtype=float))
            continue
        try:
            plain[name] = as_plain(value)
        except NotPlainError:
            given.append(name)
    return {"plain": plain, "given": given}


def _read_parameters(fields: Fields, arrays: Arrays, given: dict[str, Any]) -> RIORegressor:
    from rio_uq.regressor import RIORegressor

    plain, expected = fields.take("plain"), fields.texts("given")
    fields.finish()
    names = set(RIORegressor().get_params(deep=False)) - {"estimator"}
    stored = dict(Fields(fields.archive, plain, "parameters.plain").left)
    if member("parameters/inducing") in arrays.left:
        stored["inducing"] = arrays.floats("parameters/inducing", None, None)
    found = {*stored, *expected}
    for name in sorted(names - ADDED_LATER - found | found - names | set(stored) & set(expected)):
        fields.fail("has to hold each parameter of RIORegressor once", name)
    for name in set(given) - set(expected):
        raise TypeError(f"{name} was given to load, and the file holds it already: leave it out")
    for name, value in stored.items():
        if isinstance(value, dict) or (isinstance(value, list) and name not in ("features", "cv")):
            fields.fail("has to be a plain value", f"plain.{name}")
    rio = RIORegressor(**stored, **given)
    try:
        check_options(rio.get_params(deep=False))
    except (TypeError, ValueError, OverflowError) as error:
        fields.fail(f"are not those of a regressor: {error}")
    return rio


def _write_regressor(rio: Any, put: Any) -> dict[str, Any]:
    known: KnownRows = rio._known_rows
    for name in ("features", "y_pred", "weight"):
        put(f"known/{name}", getattr(known, name))
    names = getattr(rio, "feature_names_in_", None)
    return {
        "y_shape": list(rio._y_shape),
        "is_residual": rio._is_residual,
        "n_features_in": getattr(rio, "n_features_in_", None),
        "feature_names_in": None if names is None else [str(name) for name in names],
        "features": write_extractor(rio._extract),
        "n_fitted": int(known.n_fitted),
    }


def _read_state(rio: RIORegressor, manifest: Fields, arrays: Arrays, features: Any) -> None:
    fields = manifest.child("regressor")
    y_shape = fields.items("y_shape")
    if len(y_shape) > 1 or not all(type(size) is int and size >= 1 for size in y_shape):
        fields.fail("has to be [] or [number of outputs]", "y_shape")
    rio._y_shape, rio._n_outputs = tuple(y_shape), y_shape[0] if y_shape else 1
    rio._is_residual = fields.flag("is_residual")
    if fields.left.get("n_features_in", ...) is not None:
        rio.n_features_in_ = fields.count("n_features_in", 0)
    else:
        fields.take("n_features_in")
    if fields.left.get("feature_names_in", ...) is not None:
        names = fields.texts("feature_names_in")
        if len(names) != getattr(rio, "n_features_in_", None):
            fields.fail("has to have one name for each column of X", "feature_names_in")
        rio.feature_names_in_ = np.array(names, dtype=object)
    else:
        fields.take("feature_names_in")
    rio._extract = read_extractor(fields.optional_child("features"), features)
    if features is None and isinstance(rio._extract, Transformed):
        rio.features = rio._extract.transform
    y_pred = arrays.floats("known/y_pred", None, rio._n_outputs)
    known = arrays.floats("known/features", len(y_pred), None), y_pred, arrays.floats("known/weight", len(y_pred))
    rio._known_rows = KnownRows(*known, fields.count("n_fitted", len(y_pred)))
    fields.finish()
    n_features = known[0].shape[1]
    is_encoded = isinstance(rio.features, TableEncoder) and features is None
    if (rio._extract is None) != (n_features == 0) or (
        is_encoded and len(rio.features.feature_names_out_) != n_features
    ):
        arrays.fail("known/features", f"{n_features} features do not go with 'regressor.features'")
    rio._gp = read_gp(manifest.child("gp"), arrays, n_features, rio._n_outputs)
    rio._show_what_was_learnt()
    calibration = manifest.optional_child("calibration")
    rio.calibration_ = None if calibration is None else read_calibration(calibration, arrays, rio._n_outputs)


def _write_check(rio: Any, model: Any, put: Any) -> dict[str, Any] | None:
    sample: SampleRows | SampleTable | None = rio._sample
    if sample is None or (isinstance(sample, SampleTable) and not sample.is_known_here):
        return None
    rows = sample.rebuilt()
    put("check/features", rio._features(rows))
    if model is not None:
        put("check/y_pred", predictions_of(rio, model, rows))
    if isinstance(sample, SampleTable):
        return {"library": sample.library, "table": write_table(sample), "has_model": model is not None}
    put("check/rows", sample.values)
    columns = None if sample.columns is None else list(sample.columns)
    return {"library": sample.library, "columns": columns, "has_model": model is not None}


def _read_check(rio: RIORegressor, fields: Fields | None, arrays: Arrays) -> tuple[Array, Array | None] | None:
    """The GP's features of the rows of the check, and what the model predicted for them, if that was known."""
    rio._sample = None
    if fields is None:
        return None
    rio._sample = _read_sample(fields, arrays)
    n_rows = len(rio._sample.columns[0].values if isinstance(rio._sample, SampleTable) else rio._sample.values)
    features = arrays.floats("check/features", n_rows, None)
    y_pred = arrays.floats("check/y_pred", n_rows, rio._n_outputs) if fields.flag("has_model") else None
    fields.finish()
    return features, y_pred


def _read_sample(fields: Fields, arrays: Arrays) -> SampleRows | SampleTable:
    library = fields.text("library", LIBRARIES)
    if "table" in fields.left:
        columns_of_table = fields.children("table")
        if library not in DTYPES or not columns_of_table:
            fields.fail("has to have the columns of a frame", "table")
        return read_table(columns_of_table, library, MOST_ROWS)
    rows = arrays.take("check/rows")
    columns = None if fields.left.get("columns", ...) is None else tuple(fields.texts("columns"))
    fields.left.pop("columns", None)
    if rows.ndim < 2 or not len(rows):
        arrays.fail("check/rows", "rows have to be at least one, of numbers")
    if (columns is None) != (library == "numpy") or (columns is not None and len(columns) != rows.shape[1]):
        fields.fail("has to name each column of a frame", "columns")
    return SampleRows(rows, library, columns)


def _take_model(manifest: Fields, archive: Archive) -> tuple[str, bytes] | None:
    blobs = dict(archive.blobs)
    found = None
    if manifest.left.get("model", ...) is None:
        manifest.take("model")
    else:
        kind = manifest.text("model", KINDS)
        if f"model.{kind}" not in blobs:
            archive.fail(f"model.{kind}", "missing")
        found = kind, blobs.pop(f"model.{kind}")
    for name in blobs:
        archive.fail(name, "unknown")
    return found


def _fitted_model(model: Any) -> Any:
    if base_model.needs_fit(model):
        raise ValueError(f"the model is not fitted: give the fitted one; got {model!r}")
    return base_model.fitted(model, None, np.empty(0), None)


def _check_agreement(rio: Any, path: str, check: tuple[Array, Array | None] | None, *, is_given: bool) -> None:
    """Raise unless features and model are those of the file; warn where a model that was given cannot be checked."""
    is_table = isinstance(rio._sample, SampleTable)
    if check is None or (is_table and not rio._sample.is_known_here):
        if is_given:
            reason = "it holds no rows of X" if check is None else f"its rows of X need {rio._sample.library}"
            warnings.warn(
                f"{path}: the model given to load could not be checked, for {reason}: make sure that it is the one "
                "that was fitted",
                UserWarning,
                stacklevel=3,
            )
        return
    features, y_pred = check
    if isinstance(rio._extract, Transformed):
        spread = rio._known_rows.features.std(axis=0)
        wrong = disagreement(rio._extract(rio._sample.rebuilt()), features, spread)
        if wrong:
            raise ValueError(f"{path}: the features given to load are not those of fit: {wrong}")
    if rio.estimator_ is not None and y_pred is not None:
        check_model(rio, rio.estimator_, y_pred, path)
