"""`write_report`: from a fitted regressor and rows with known outcomes to an HTML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_random_state

from rio_uq._base.files import written_in_one_step
from rio_uq._base.warnings import ReusedRowsWarning, warn_user
from rio_uq.regressor import RIORegressor
from rio_uq.report.comparison import compare
from rio_uq.report.contents import Report
from rio_uq.report.errors import measure_errors
from rio_uq.report.page import environment, render
from rio_uq.report.rejection import measure_rejection
from rio_uq.report.reliability import measure_reliability
from rio_uq.report.rows import ReportRows, gather
from rio_uq.report.table import rows_to_see, shown_columns
from rio_uq.report.words import LONGEST_NAME, counted, share, shortened
from rio_uq.rows.kept import REUSED

PLOTTED_ROWS, HOVER_COLUMNS = 2000, 6
FEW_ROWS = 50


def write_report(
    rio: RIORegressor,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    y_pred: Any = None,
    groups: Any = None,
    output: int | None = None,
    title: str | None = None,
    row_labels: Any = None,
    notes: Any = None,
    notices: Sequence[str] = (),
    random_state: Any = 0,
) -> Path:
    """Write a page that shows what RIO does to a model, on rows that neither of them has seen.

    It is one file that needs no network: whether the model is better with RIO, whether its intervals can be trusted,
    where the model goes wrong, which rows a person should look at, and what it helps to reject the riskiest ones.

    Parameters
    ----------
    rio : fitted RIORegressor
    X : as in `RIORegressor.predict`
    y : array of shape (n,) or (n, q)
        The outcomes of these rows, two at least.
    path : str or path
        The file to write. One that exists is replaced, when the new one is complete.
    y_pred : array of the shape of y, optional
        The model's predictions for X, if they are known already.
    groups : array of shape (n,), optional
        The group of each row, if error bars were calibrated by group.
    output : int, optional
        Which of several outputs the report is about.
    title : str, optional
    row_labels : sequence of n numbers or texts, optional
        What the page calls the rows; 0 to n − 1 by default.
    notes : DataFrame of n rows, optional
        Columns that the table shows and no model sees: an id, a name.
    notices : sequence of str
        What a reader should know first, beside what the report finds itself.
    random_state : int, RandomState or None
        For bootstrap resamples, and for the rows that are plotted.

    Returns
    -------
    Path
        Of the file.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from rio_uq import RIORegressor
    >>> from rio_uq.report import write_report
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> rio = RIORegressor(Ridge(), random_state=0).fit(X[:30], y[:30])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(rio, X[300:], y[300:], f"{folder}/report.html")
    ...     path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    target = _check_path(path)
    pages = environment()
    report = _examine(rio, X, y, y_pred, groups, output, title, row_labels, notes, notices, random_state)
    with written_in_one_step(target) as file:
        file.write(render(pages, report).encode())
    return target


def _check_path(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of the file, {target / 'report.html'} say")
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist: make it first, or choose another path")
    return target


def _examine(
    rio: RIORegressor,
    X: Any,
    y: Any,
    y_pred: Any,
    groups: Any,
    output: int | None,
    title: str | None,
    row_labels: Any,
    notes: Any,
    notices: Sequence[str],
    random_state: Any,
) -> Report:
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    inputs = rio.inputs(X, y_pred=y_pred)
    reused = rio.fitted_.kept.reused(inputs.features, inputs.y_pred, rio.fitted_.outcome(y, len(inputs.y_pred)))
    if reused > REUSED:
        warn_user(
            f"{share(reused, 0)} of these rows were fitted to: all numbers of the report are better than they will be "
            "on new ones",
            ReusedRowsWarning,
        )
    rows = gather(rio, X, y, inputs, groups=groups, output=output, row_labels=row_labels)
    sample = np.sort(rng.choice(len(rows), min(len(rows), PLOTTED_ROWS), replace=False))
    summary = rio.summary(_safe_indexing(X, sample), y_pred=inputs.y_pred[sample])
    model = _model_name(rio)
    return Report(
        title=title or f"RIO report: {model}",
        model=model,
        outcome=_outcome_name(y, output),
        rows=rows,
        sample=sample,
        sample_columns=shown_columns(rio, X, sample, rows, HOVER_COLUMNS),
        comparison=compare(rows, rng),
        reliability=measure_reliability(rows, _fitted_error(rio, output or 0), is_cross_fit=_has_unseen_residuals(rio)),
        errors=measure_errors(rows, summary, output or 0, rng),
        table=rows_to_see(rio, X, rows, notes),
        rejection=measure_rejection(rows),
        beside_plain_gp=summary.beside_plain_gp(output or 0),
        notices=[*notices, *_notices(rows, len(sample), reused)],
        decisions=summary.decisions(output or 0),
        is_conformal=rio.calibration_ is not None and not rio.calibration_.is_normal,
    )


def _has_unseen_residuals(rio: RIORegressor) -> bool:
    choice = rio.fitted_.residuals
    return choice is not None and choice.is_of_unseen_rows


def _fitted_error(rio: RIORegressor, output: int) -> float | None:
    """Root mean square of the residuals that the GP was fitted to, where the regressor keeps some of them; not of those
    of seen and unseen rows together, which a mask of held-out rows tells apart.
    """
    kept, choice = rio.fitted_.kept, rio.fitted_.residuals
    is_of_both = choice is not None and choice.rows == "mixed" and choice.kind in ("in-sample", "given")
    if kept.residual is None or is_of_both:
        return None
    return float(np.sqrt(np.average(kept.residual[:, output] ** 2, weights=kept.weight)))


def _model_name(rio: RIORegressor) -> str:
    model = rio.estimator if rio.estimator is not None else rio.estimator_
    if model is None:
        return "given predictions"
    name = getattr(model, "__name__", type(model).__name__)
    return "a function" if name == "<lambda>" else str(name)


def _outcome_name(y: Any, output: int | None) -> str:
    if hasattr(y, "columns"):
        return shortened(str(list(y.columns)[output or 0]), LONGEST_NAME)
    name = getattr(y, "name", None)
    return "outcome" if name is None or not str(name) else shortened(str(name), LONGEST_NAME)


def _notices(rows: ReportRows, n_plotted: int, reused: float) -> list[str]:
    notices = []
    if reused > REUSED:
        notices.append(
            f"{share(reused, 0)} of these rows are rows that RIO was fitted to: all numbers below are better than they "
            "will be on new ones."
        )
    if len(rows) < FEW_ROWS:
        notices.append(f"There are {counted(len(rows), 'row')} only: take all numbers as rough.")
    if n_plotted < len(rows):
        notices.append(
            f"All numbers are those of all {len(rows):,} rows. Plots of single rows show {n_plotted:,} of them, drawn "
            "at random; the table has those that stand out."
        )
    if rows.levels[-1] < 0.95:
        notices.append(
            f"Error bars were calibrated on too few rows for intervals beyond {share(float(rows.levels[-1]), 0)}: "
            "higher levels are left out."
        )
    return notices
