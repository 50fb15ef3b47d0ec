"""Writes the tables of `experiments/WHEN.md` and its figure from the stored rows; the text above them stays."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.when.figure import draw
from experiments.when.summary import summary, verdict
from experiments.when.sweeps import cases
from lab.json_lines import Row
from lab.markdown import bold, markdown_table, write_tables

COMMAND = "experiments when"
TITLE = "# What does the model add?\n\n"

SECTIONS = {
    "n": (
        "More rows",
        "`protein` is the UCI set by its standard splits, under 300 extremely randomised trees and under histogram "
        "boosting; `smooth` is generated: waves and a product of six columns, noise 0.1.",
    ),
    "d": (
        "More columns",
        "1,000 rows. `wide` has independent columns, of which two (d = 2) or six matter: a wave, thresholds, and a "
        "slope that a threshold switches on; noise 0.3. `like SC` and `like CT` are stand-ins of the shapes of the UCI "
        "sets superconductivity and CT slices, generated, with none of their rows. Trees are 100 extremely randomised "
        "ones that look at a third of the columns at each split.",
    ),
    "quality": (
        "Better models",
        "300 rows of Friedman's first problem (ten columns, noise 1). A `blend` is the truth to the share in the "
        "second column and for the rest an error of its own, smooth bias and fast wiggle; it has seen no row. "
        "`boosting` has so many rounds of gradient boosting on the training rows.",
    ),
    "extrapolation": (
        "Beyond the training range",
        "100 rows. The model is the formula of the truth with one wrong coefficient: damping 0.05 in place of 0.08 in "
        "an `oscillator`, drag 0.30 in place of 0.36 in the `power` that a car needs. The second column is how far "
        "test rows are beyond the range of time or speed, up to so many of its widths; 0 is within it.",
    ),
    "labels": (
        "Few measured rows and a simulator",
        "The truth is the `borehole` function or the weight of a wing with noise of 5 % of its standard deviation; the "
        "model is a cheaper version of it that has seen no row. That of the borehole, as published, is the truth times "
        "a constant to within 0.1 %; that of the wing leaves 11 % of the standard deviation once it is scaled.",
    ),
}

PLACES = {
    "n": "rows",
    "d": "columns",
    "quality": "share or rounds",
    "extrapolation": "widths beyond",
    "labels": "rows",
}

LEGEND = """RMSE is that of noisy test outcomes. Ratios are RMSE(RIO)/RMSE(model), RMSE(RIO)/RMSE(GP) and
CRPS(RIO)/CRPS(GP), geometric means over repetitions; behind ± is the standard error of the mean logarithm, in per cent.
Below one RIO is better. Ratios and differences of NLPD are **bold** where RIO is better by more than two standard
errors, and marked “worse” where it is worse by as much; of a single repetition neither is said, and with two or three
standard errors are rough. NLPD is infinite where a test outcome has no density at all; there is then no difference. The
last column is the share of fits in which RIO has not put the model aside for a plain GP.
"""

HEADER = (
    "runs",
    "RMSE: model",
    "GP",
    "RIO",
    "RIO/model",
    "RIO/GP",
    "CRPS: RIO/GP",
    "NLPD: GP",
    "RIO",
    "RIO − GP",
    "95 % covers: GP",
    "RIO",
    "uses model",
)


def write(rows: list[Row], page: Path, figure: Path) -> None:
    """Draw the figure, and put the tables into the page.

    Parameters
    ----------
    rows : list of dict
        As `experiments.when.run` stores them.
    page, figure : Path
    """
    points = summary(rows)
    draw(points, figure)
    link = Path(os.path.relpath(figure, page.parent)).as_posix()
    parts = [
        f"![RMSE of RIO divided by that of its rivals, against rows, columns and the model's quality]({link})\n",
        LEGEND,
        counts(points),
        *(section(points, name) for name in SECTIONS if (points["sweep"] == name).any()),
    ]
    write_tables(page, "\n".join(parts), command=COMMAND, title=TITLE)


def section(points: pd.DataFrame, name: str) -> str:
    title, text = SECTIONS[name]
    lines = [line(point) for _, point in points[points["sweep"] == name].iterrows()]
    return f"## {title}\n\n{text}\n\n{markdown_table(['world, model', PLACES[name], *HEADER], lines)}"


def line(point: pd.Series) -> list[str]:
    return [
        f"{point['world']}, {point['model']}",
        f"{point['value']:,g}",
        f"{point['runs']}",
        *(f"{point[f'{method}_rmse']:#.3g}".rstrip(".") for method in ("model", "gp", "rio")),
        ratio(point, "to_model"),
        ratio(point, "to_gp"),
        ratio(point, "crps_to_gp"),
        *(number(point[f"{method}_nlpd"], 2) for method in ("gp", "rio")),
        difference(point, "nlpd_to_gp"),
        *(f"{100 * point[f'{method}_coverage']:.1f}" for method in ("gp", "rio")),
        f"{100 * point['uses_model']:.0f} %",
    ]


def ratio(point: pd.Series, name: str) -> str:
    mean, error = point[name], point[f"{name}_error"]
    text = f"{np.exp(mean):.3f}" + ("" if np.isnan(error) else f" ± {100 * error:.1f} %")
    return marked(text, verdict(mean, error))


def difference(point: pd.Series, name: str) -> str:
    mean, error = point[name], point[f"{name}_error"]
    text = number(mean, 2) + ("" if np.isnan(error) else f" ± {error:.2f}")
    return "–" if np.isnan(mean) else marked(text, verdict(mean, error))


def marked(text: str, found: str) -> str:
    return f"{text} worse" if found == "worse" else bold(text, found == "better")


def number(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def counts(points: pd.DataFrame) -> str:
    """In how many points of each sweep RIO is better, worse, or neither, and which points have no rows."""
    lines = []
    for name in SECTIONS:
        some = points[points["sweep"] == name]
        repeated = some[some["runs"] > 1]
        if len(some):
            cells = [_counted(repeated, measure) for measure in ("to_model", "to_gp", "nlpd_to_gp")]
            lines.append([SECTIONS[name][0], str(len(some)), str(len(repeated)), *cells])
    header = ["sweep", "points", "repeated", "RMSE, to the model", "RMSE, to the GP", "NLPD, to the GP"]
    table = markdown_table(header, lines)
    text = f"Repeated points at which RIO is better / neither / worse by two standard errors:\n\n{table}"
    absent = not_measured(points)
    return text + (f"\nNot measured: {', '.join(absent)}.\n" if absent else "")


def not_measured(points: pd.DataFrame) -> list[str]:
    """Worlds and numbers of rows that have no row at all."""
    measured = set(zip(points["world"], points["n"], strict=True))
    wanted = dict.fromkeys((case.world, case.n) for case in cases())
    return [f"{world} at {n:,} rows" for world, n in wanted if (world, n) not in measured]


def _counted(points: pd.DataFrame, name: str) -> str:
    found = [verdict(mean, error) for mean, error in zip(points[name], points[f"{name}_error"], strict=True)]
    return " / ".join(str(found.count(word)) for word in ("better", "unsure", "worse"))
