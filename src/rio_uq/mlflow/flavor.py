"""Regressors in MLflow: logged with what they gain, loaded again, served with error bars (extra ``rio-uq[mlflow]``)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from rio_uq import metrics
from rio_uq._base.checks import check_flag, check_groups, check_levels
from rio_uq._base.extras import require
from rio_uq._base.files import folder_in_one_step
from rio_uq._base.warnings import ReusedRowsWarning, warn_user
from rio_uq.gp.backend.threads import effective_jobs
from rio_uq.mlflow.folder import REGRESSOR, has_model, read_folder, requirements, write_folder
from rio_uq.mlflow.serving import ErrorBarService, InputForm
from rio_uq.models import base as base_model
from rio_uq.regressor import RIORegressor, check_regressor
from rio_uq.rows.kept import REUSED
from rio_uq.storage import STORED

MODULE, FORM = "rio_uq.mlflow", "form.json"
EXAMPLE_ROWS = 5
AGREEMENT = 1e-4
"""How far a loaded regressor may be off, in parts of its largest value: ONNX models are in single precision."""


def _import_mlflow() -> Any:
    for module in ("mlflow.models", "mlflow.pyfunc"):
        require(module, "mlflow", "rio_uq.mlflow")
    return require("mlflow", "mlflow")


def log_model(
    rio: RIORegressor,
    name: str = "model",
    *,
    X: Any = None,
    y: Any = None,
    y_pred: Any = None,
    groups: Any = None,
    confidence_level: float = 0.95,
    base: Any = None,
    trusted: Sequence[str] = (),
    pickle: bool = False,
    registered_model_name: str | None = None,
    **options: Any,
) -> Any:
    """Log a fitted regressor to the tracking store of MLflow, in the active run or in one of its own.

    With it go a signature, an input example, its requirements and, if ``y`` is given, metrics of the run:
    ``before_rmse`` and ``before_mae`` of the model alone, ``after_…`` of the corrected predictions and of their error
    bars, and ``improvement_ratio``, the share of predictions that came nearer to the outcome. What is wrong with the
    regressor and its rows is found before anything is logged; metrics are logged when the model is.

    Parameters
    ----------
    rio : RIORegressor
    name : str
        Of the model in MLflow.
    X, y : as in `RIORegressor.fit`, optional
        Rows that neither the model nor the GP has seen, for the metrics. The first rows of X are the input example; by
        default it is made of training rows that the regressor keeps, if X was an array or a frame of numbers.
    y_pred : array of the shape of y, optional
        The model's predictions for X, if the regressor has no model.
    groups : array of shape (n,), optional
        The group of each row of X, if error bars were calibrated by group.
    confidence_level, base, trusted, pickle : as in `save_model`
    registered_model_name : str, optional
        Register it under this name as well.
    **options
        As in ``mlflow.pyfunc.log_model``: ``metadata``, ``tags``, ``extra_pip_requirements`` and the like.

    Returns
    -------
    mlflow.models.model.ModelInfo
    """
    mlflow = _import_mlflow()
    check_regressor(rio)
    if y is not None and X is None:
        raise ValueError("y was given without X: metrics need the rows that y belongs to")
    level = _level(confidence_level)
    measures = {} if y is None else _measures(rio, X, y, y_pred, groups, level)
    rows = _example(rio, X, y_pred, groups)
    with (
        _prepared(mlflow, rio, rows, level, base, trusted, pickle, options) as parts,
        nullcontext() if mlflow.active_run() else mlflow.start_run(),
    ):
        info = mlflow.pyfunc.log_model(name=name, registered_model_name=registered_model_name, **parts)
        if measures:
            mlflow.log_metrics(measures)
        return info


def save_model(
    rio: RIORegressor,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    y_pred: Any = None,
    groups: Any = None,
    confidence_level: float = 0.95,
    base: Any = None,
    trusted: Sequence[str] = (),
    pickle: bool = False,
    **options: Any,
) -> None:
    """Write a fitted regressor to a folder as a model of MLflow.

    As a pyfunc it takes rows as the regressor was fitted to, a frame or an array, and returns a frame with the columns
    ``mean``, ``std``, ``lower`` and ``upper``; of q outputs ``mean_0``, ``std_0``, and so on. A parameter
    ``confidence_level`` of a request asks for other intervals. Without a model inside, the model's predictions are
    columns ``y_pred``, or ``y_pred_0`` and so on, of the frame; after calibration by group there is a column ``group``.

    Parameters
    ----------
    rio : RIORegressor
    path : path
        A folder that does not exist yet, or is empty. It is there when all is written: an error leaves nothing.
    X, y_pred, groups : as in `log_model`
        Rows for the input example.
    confidence_level : float
        Of the intervals, unless a request asks for another one.
    base : None, False, or path
        How the model under the regressor is stored. None: by skops, or as ONNX if it comes from an ONNX file. A path
        to an .onnx or .skops file, or the folder or address of a model that another flavor of MLflow has stored
        (``mlflow.xgboost.save_model``, say). False: not at all; requests bring its predictions.
    trusted : sequence of str
        Names of types that skops may load beside those of scikit-learn and the like, of functions or classes of your
        own, say. They are written down with the model, and trusted wherever it is loaded.
    pickle : bool
        Pickle the whole regressor instead, if there is no other way. Whoever loads it runs what is in it.
    **options
        As in ``mlflow.pyfunc.save_model``: ``metadata``, ``extra_pip_requirements`` and the like.
    """
    mlflow = _import_mlflow()
    check_regressor(rio)
    level, rows = _level(confidence_level), _example(rio, X, y_pred, groups)
    with (
        _prepared(mlflow, rio, rows, level, base, trusted, pickle, options) as parts,
        folder_in_one_step(path) as folder,
    ):
        mlflow.pyfunc.save_model(path=str(folder), **parts)


@contextmanager
def _prepared(
    mlflow: Any,
    rio: RIORegressor,
    rows: tuple[Any, Any, Any],
    level: float,
    base: Any,
    trusted: Sequence[str],
    pickle: bool,
    options: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    """Arguments of MLflow's own functions, with a folder that is there as long as they work."""
    check_flag(pickle, "pickle")
    if pickle and base is not None:
        raise ValueError("pickle=True holds the model as well: leave base out, or pickle")
    with TemporaryDirectory() as folder:
        data = Path(folder, "rio")
        data.mkdir()
        write_folder(rio, data, base=base, trusted=trusted, pickle=pickle)
        form = InputForm.of(rio, rows[0], has_model=has_model(data))
        (data / FORM).write_text(json.dumps({"form": form.to_dict(), "confidence_level": level}, indent=1))
        example = form.joined(*rows)
        answer = _checked_answer(rio, data, example, form, level)
        own = requirements(rio, data) + list(options.get("extra_pip_requirements") or ())
        yield {
            "loader_module": MODULE,
            "data_path": str(data),
            "signature": mlflow.models.infer_signature(example, answer, params={"confidence_level": level}),
            "input_example": example,
            "pip_requirements": own,
            **{name: value for name, value in options.items() if name != "extra_pip_requirements"},
        }


def load_model(
    model_uri: str | os.PathLike[str], *, estimator: Any = STORED, dst_path: str | None = None
) -> RIORegressor:
    """The regressor of a model that `log_model` or `save_model` has stored.

    Parameters
    ----------
    model_uri : str or path
        A folder, or an address such as ``runs:/…/model`` or ``models:/name/1``.
    estimator : estimator or callable, optional
        The model under the regressor, if it is not stored, or another object with the same predictions.
    dst_path : str, optional
        A folder to download to.

    Returns
    -------
    RIORegressor
    """
    mlflow = _import_mlflow()
    local = Path(mlflow.artifacts.download_artifacts(artifact_uri=os.fspath(model_uri), dst_path=dst_path))
    flavors = mlflow.models.Model.load(str(local)).flavors
    function = flavors.get(mlflow.pyfunc.FLAVOR_NAME, {})
    if function.get(mlflow.pyfunc.MAIN) != MODULE:
        raise ValueError(f"{model_uri} is no regressor of rio-uq: its flavors are {', '.join(flavors)}")
    return read_folder(local / function[mlflow.pyfunc.DATA], estimator=estimator)


def _load_pyfunc(path: str) -> ErrorBarService:
    """The loader of a pyfunc, by the name that MLflow looks for."""
    described = json.loads(Path(path, FORM).read_text())
    return ErrorBarService(
        read_folder(Path(path)), InputForm.from_dict(described["form"]), described["confidence_level"]
    )


def _level(confidence_level: Any) -> float:
    level = check_levels(confidence_level, "confidence_level")
    if level.ndim:
        raise ValueError(f"confidence_level has to be one number; got {confidence_level!r}")
    return float(level)


def _example(rio: RIORegressor, X: Any, y_pred: Any, groups: Any) -> tuple[Any, Any, Any]:
    """A few rows, with predictions and groups: those that are given, or some that the regressor keeps."""
    calibrated_by = rio.fitted_.scores.groups
    if X is not None:
        chosen = np.arange(min(EXAMPLE_ROWS, _num_samples(X)))
        prediction = None
        if y_pred is not None:
            n_columns = rio.fitted_.n_predictions
            prediction = base_model.check_predictions(y_pred, _num_samples(X), n_columns, "y_pred")[chosen]
        if groups is not None:
            check_groups(groups, _num_samples(X))
        rows = _safe_indexing(X, chosen)
        if calibrated_by is not None and groups is None:
            raise ValueError("error bars were calibrated by group: give the groups of X too")
        members = None if groups is None else np.asarray(groups)[chosen]
    elif rio.fitted_.example is not None:
        rows = rio.fitted_.example.rebuilt()
        prediction, members = None, None
        if calibrated_by is not None:
            members = np.array([calibrated_by[i % len(calibrated_by)] for i in range(len(rows))])
    else:
        raise ValueError("X is needed for an input example and a signature: give some rows as X=...")
    if prediction is None:
        prediction = rio.fitted_.kept.y_pred[:1].repeat(len(rows), axis=0) if rio.estimator_ is None else None
        prediction = rio.fitted_.predictions(rows, prediction)
    return rows, prediction, members


def _checked_answer(rio: RIORegressor, folder: Path, example: Any, form: InputForm, level: float) -> Any:
    """The error bars of the example, which regressor and stored regressor have to agree on."""
    try:
        stored = read_folder(folder)
    except ValueError as error:  # the name of a file that nobody will see is no help
        raise ValueError(f"base: {str(error).removeprefix(f'{folder / REGRESSOR}: ')}") from error
    answer = ErrorBarService(stored, form, level).table(example)
    if rio.estimator_ is None and not form.y_pred:  # the model is known only from where it is stored
        return answer
    expected = ErrorBarService(rio, form, level).table(example)
    if not ((answer - expected).abs() <= AGREEMENT * expected.abs().max()).all(axis=None):
        raise ValueError(
            f"what was stored does not say what the regressor says: {answer.iloc[0].to_dict()} where "
            f"{expected.iloc[0].to_dict()} was expected; is base the model under the regressor?"
        )
    return expected


def _measures(rio: RIORegressor, X: Any, y: Any, y_pred: Any, groups: Any, level: float) -> dict[str, float]:
    """Of the model alone and of its corrected predictions, for each output."""
    fitted = rio.fitted_
    inputs = rio.inputs(X, y_pred=y_pred, groups=groups)
    n_jobs, outcome = effective_jobs(rio.n_jobs), fitted.outcome(y, _num_samples(X))
    reused = fitted.kept.reused(inputs.features, inputs.y_pred, outcome)
    if reused > REUSED:
        warn_user(
            f"{reused:.0%} of these rows were fitted to: metrics of the run are better than they will be on new ones",
            ReusedRowsWarning,
        )
    bars = fitted.error_bars(inputs, n_jobs, level=level)
    losses = fitted.losses(inputs, outcome, n_jobs)
    measures: dict[str, float] = {}
    for output, y_true in enumerate(outcome.T):
        mean, std, lower, upper = (values[:, output] for values in bars)
        own = None if losses is None else (losses[0][:, output], losses[1][:, output])
        both = metrics.before_after(y_true, inputs.y_pred[:, output], mean, std, {level: (lower, upper)}, own)
        of_output = {
            "before_rmse": both.before.rmse,
            "before_mae": both.before.mae,
            "after_rmse": both.after.rmse,
            "after_mae": both.after.mae,
            "after_coverage": both.after.coverage[level],
            "after_interval_width": both.after.width[level],
            "improvement_ratio": both.improvement_ratio,
        }
        if losses is not None:
            of_output |= {"after_nlpd": both.after.nlpd, "after_crps": both.after.crps}
        end = "" if fitted.y_shape == () else f"_{output}"
        measures |= {f"{name}{end}": value for name, value in of_output.items()}
    return measures
