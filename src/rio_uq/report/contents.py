"""The contents of a report: its five sections, and what a reader should know first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rio_uq.report.comparison import Comparison
from rio_uq.report.errors import Errors
from rio_uq.report.rejection import Rejection
from rio_uq.report.reliability import Reliability
from rio_uq.report.rows import ReportRows
from rio_uq.report.table import RowsToSee, ShownColumns


@dataclass(frozen=True, eq=False)
class Report:
    """All that the page shows.

    Attributes
    ----------
    title, model, outcome : str
        The names of the report, of the model and of the outcome.
    rows : ReportRows
    sample : array of int
        The rows that are plotted one by one.
    sample_columns : ShownColumns
        What is said of them beside predictions.
    comparison, reliability, errors, table, rejection
        The five sections.
    beside_plain_gp : str
        How a GP without the model does on left-out rows of `fit`; empty where none was tried.
    notices : list of str
        What a reader should know first.
    decisions : list of str
        What `fit` has decided on the way to the error bars, and why.
    is_conformal : bool
        Whether error bars have intervals but no density.
    """

    title: str
    model: str
    outcome: str
    rows: ReportRows
    sample: NDArray[np.intp]
    sample_columns: ShownColumns
    comparison: Comparison
    reliability: Reliability
    errors: Errors
    table: RowsToSee
    rejection: Rejection
    beside_plain_gp: str
    notices: list[str]
    decisions: list[str]
    is_conformal: bool
