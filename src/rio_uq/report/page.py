"""The page: a template, a style sheet and a script in one file, with the data as JSON."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rio_uq._base.extras import require
from rio_uq._base.version import __version__
from rio_uq.report import words
from rio_uq.report.contents import Report
from rio_uq.report.page_json import safe_json
from rio_uq.report.rows import Numbers, ReportRows

if TYPE_CHECKING:
    from jinja2 import Environment

CORRECTION_COLUMN, STD_COLUMN, OUTCOME_COLUMN = 2, 4, 7
"""Places of columns in the table."""


def environment() -> Environment:
    """Jinja2 with all values escaped. It keeps the compiled template for the next report."""
    return _environment(require("jinja2", "report", "a report"))


@cache
def _environment(jinja2: ModuleType) -> Environment:
    pages: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rio_uq.report", "assets"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters.update(measured=words.measured, number=words.number, share=words.share, signed=words.signed)
    return pages


def render(pages: Environment, report: Report) -> str:
    """The whole page. Its security policy allows its own script and style sheet, and nothing else."""
    from markupsafe import Markup

    style = _asset("report.css")
    parts = "\n".join(_asset(name) for name in ("plot.js", "figures.js", "report.js"))
    script = f'"use strict";\n(() => {{\n{parts}}})();\n'
    return pages.get_template("report.html").render(
        report=report,
        rows=report.rows,
        version=__version__,
        style=Markup(style),
        script=Markup(script),
        data=Markup(safe_json(page_data(report))),
        style_hash=_hash(style),
        script_hash=_hash(script),
        counted=words.counted,
    )


def _asset(name: str) -> str:
    return files("rio_uq.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """As a content security policy names a script or a style sheet."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def page_data(report: Report) -> dict[str, Any]:
    """The data of the figures and the table, by the names that the script has for them."""
    rows, errors = report.rows, report.errors
    return {
        "level": rows.level,
        "outcome": report.outcome,
        "sample": {
            **_of_rows(rows, report.sample),
            "input": rows.input_part[report.sample],
            "columns": report.sample_columns.names,
            "values": report.sample_columns.values,
        },
        "comparison": [asdict(measure) for measure in report.comparison.measures],
        "reliability": {
            name: getattr(report.reliability.overall, name) for name in ("levels", "coverage", "low", "high")
        }
        | {"before": report.reliability.before},
        "coverageBy": [
            {
                "variable": part.variable,
                "groups": [{**vars(group), "off": group.off} for group in part.groups],
            }
            for part in report.reliability.by
        ],
        "errors": {
            "x": errors.curve_x,
            "y": errors.curve_y,
            "isCurve": errors.is_curve,
            "by": [asdict(part) for part in errors.by],
            "relevance": errors.relevance,
        },
        "table": _table(report),
        "rejection": vars(report.rejection),
    }


def _of_rows(rows: ReportRows, chosen: Numbers) -> dict[str, Any]:
    return {
        "row": rows.names_of(chosen),
        "y": rows.outcome[chosen],
        "yhat": rows.y_pred[chosen],
        "mean": rows.mean[chosen],
        "std": rows.std[chosen],
        "lower": rows.lower[chosen],
        "upper": rows.upper[chosen],
    }


def _table(report: Report) -> dict[str, Any]:
    """Columns of the table, those of RIO first; and why each row is in it."""
    rows, table = report.rows, report.table
    level = f"{100.0 * rows.level:.0f} %"  # with a space that can be typed
    values = _of_rows(rows, table.rows)
    own = [
        ("row", values["row"]),
        ("prediction", values["yhat"]),
        ("correction", rows.correction[table.rows]),
        ("corrected", values["mean"]),
        ("std", values["std"]),
        (f"{level} from", values["lower"]),
        (f"{level} to", values["upper"]),
        (report.outcome, values["y"]),
        ("error left", rows.residual_after[table.rows]),
    ]
    return {
        "own": len(own),
        "std": STD_COLUMN,
        "correction": CORRECTION_COLUMN,
        "outcome": OUTCOME_COLUMN,
        "names": [*(name for name, _ in own), *table.columns.names],
        "columns": [*(column for _, column in own), *table.columns.values],
        "uncertain": table.is_uncertain,
        "corrected": table.is_corrected,
        "outside": (values["y"] < values["lower"]) | (values["y"] > values["upper"]),
    }
