"""The vision experiment in tables and a figure: beside the paper's, and by the age that the network predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from lab.markdown import markdown_table
from rio_uq import metrics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EDGES = np.arange(10, 80, 10)
LABELS = [*(f"{edge - 10}–{edge}" for edge in EDGES), f"{EDGES[-1]}+"]
LEVELS = {68: 0.68, 90: 0.9, 95: 0.95}

PAPER = pd.DataFrame(
    [
        ("DenseNet", 7.43, np.nan, np.nan, np.nan, np.nan),
        ("SVGP", 36.45, 5.06, 0.99, 0.96, 0.62),
        ("RIO", 6.35, 3.59, 0.94, 0.91, 0.75),
    ],
    columns=["method", "mae", "nlpd", "coverage_95", "coverage_90", "coverage_68"],
)
"""IMDB Age Estimation Results with DenseNet, as the paper has them."""

ORDER = ["network", "SVGP", "R+O", "RIO", "ours"]
"""Of the methods in tables."""

BANDED = ["network", "SVGP", "RIO", "ours"]
"""Those of them that are shown by predicted age."""

COLUMNS = {
    "mae": "MAE",
    "nlpd": "NLPD",
    "coverage_95": "95 % coverage",
    "coverage_90": "90 % coverage",
    "coverage_68": "68 % coverage",
    "rmse": "RMSE",
    "crps": "CRPS",
    "fit_seconds": "seconds of fit",
}
BAND_COLUMNS = {
    "band": "predicted age",
    "method": "method",
    "rows": "rows",
    "mae": "MAE",
    "rmse": "RMSE",
    "std": "mean std",
    "coverage_95": "95 % coverage",
    "coverage_90": "90 % coverage",
    "coverage_68": "68 % coverage",
}
LOOKS = {"SVGP": ("#E69F00", "s", 5), "RIO": ("#0072B2", "o", 8), "ours": ("#D55E00", "D", 4)}
"""Colours that a colour-blind reader can tell apart, and marks that are seen where curves lie on each other."""

REMARK = (
    "The sizes of the two halves are not comparable: another network (a small ResNet-10 here, DenseNet-121 there) and "
    "other data (UTKFace here, IMDB there). What can be compared is what the methods do to the network under them. R+O "
    "is RIO with the output kernel alone, which sees nothing but the age that the network predicts."
)


def table(rows: pd.DataFrame) -> str:
    """The paper's table as Markdown: means over the splits (± their standard deviation), then the paper's figures."""
    n_runs = rows["run"].nunique()
    lines = []
    for method in sorted(rows["method"].unique(), key=ORDER.index):
        part = rows[rows["method"] == method]
        lines.append([method, *(_mean(part[column], column) for column in COLUMNS)])
    for record in PAPER.to_dict("records"):
        lines.append([f"paper: {record['method']}", *(_number(record.get(name), name) for name in COLUMNS)])
    splits = "1 split" if n_runs == 1 else f"mean over {n_runs} splits ± standard deviation between them"
    table = markdown_table(["Method", *COLUMNS.values()], lines)
    return f"{table}\nUTKFace with ResNet-10: {splits}. paper: IMDB with DenseNet. {REMARK}"


def caveat(rows: pd.DataFrame) -> str:
    """What this experiment is not, and how much smaller RIO's gain is than in the paper."""
    here = rows.groupby("method")["mae"].mean()
    there = PAPER.set_index("method")["mae"]
    text = (
        "This is not the paper's experiment done again: it is another network and other faces than the paper's, and it "
        "is unknown whether the network was trained on these faces. If it was, its errors on them are smaller than on "
        "new ones, and so may be what is left to correct."
    )
    if {"network", "RIO"} <= set(here.index):
        gains = (_gain(here["network"], here["RIO"]), _gain(there["DenseNet"], there["RIO"]))
        text += f" RIO lowers the network's MAE by {gains[0]} here; in the paper it did by {gains[1]}."
    return text


def _gain(before: float, after: float) -> str:
    """
    Examples
    --------
    >>> _gain(7.43, 6.35)
    '14.5 % (7.43 → 6.35)'
    """
    return f"{100 * (1 - after / before):.1f} % ({before:.2f} → {after:.2f})"


def bands(predictions: pd.DataFrame) -> pd.DataFrame:
    """Errors, error bars and coverage of each method where the network's age lies in a band.

    Parameters
    ----------
    predictions : DataFrame
        Columns method, y, y_pred, mean, std; a missing std is that of a method without error bars.

    Returns
    -------
    DataFrame
        Columns band, method, rows, mae, rmse, std (its mean), coverage_68, coverage_90, coverage_95; a row for each
        band that is not empty × method, bands in order.
    """
    number = np.digitize(predictions["y_pred"], EDGES)
    entries = []
    for (band, method), part in predictions.groupby([number, predictions["method"].map(ORDER.index)]):
        y, mean, std = (part[name].to_numpy() for name in ("y", "mean", "std"))
        has_bars = not np.isnan(std).any()
        coverage = metrics.coverage_curve(y, mean, std, confidence_levels=list(LEVELS.values())) if has_bars else None
        entries.append(
            {
                "band": LABELS[band],
                "method": ORDER[method],
                "rows": len(part),
                "mae": metrics.mae(y, mean),
                "rmse": metrics.rmse(y, mean),
                "std": std.mean(),
                **{f"coverage_{level}": np.nan if coverage is None else coverage[i] for i, level in enumerate(LEVELS)},
            }
        )
    return pd.DataFrame(entries)


def bands_table(bands: pd.DataFrame) -> str:
    """The bands as Markdown."""
    lines = [[_number(record[column], column) for column in BAND_COLUMNS] for record in bands.to_dict("records")]
    return markdown_table(list(BAND_COLUMNS.values()), lines).rstrip("\n")


def bands_figure(bands: pd.DataFrame) -> Figure:
    """Coverage by band, a panel for each level."""
    from matplotlib.figure import Figure

    labels = list(bands["band"].unique())
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for axis, (level, share) in zip(figure.subplots(1, len(LEVELS), sharex=True), LEVELS.items(), strict=True):
        axis.axhline(share, color="black", linewidth=0.8, linestyle="--")
        for method, part in bands.dropna(subset=["std"]).groupby("method", sort=False):
            colour, mark, size = LOOKS[method]
            places = [labels.index(band) for band in part["band"]]
            style = {"marker": mark, "markersize": size, "linewidth": 1.3, "color": colour, "label": method}
            axis.plot(places, part[f"coverage_{level}"], markerfacecolor="white", markeredgewidth=1.5, **style)
        axis.set_xticks(range(len(labels)), labels, rotation=45)
        axis.set(title=f"{level} % intervals", xlabel="age that the network predicts")
        axis.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("share of ages inside the interval")
    figure.axes[0].legend(frameon=False, loc="best")
    return figure


def section(rows: pd.DataFrame, bands: pd.DataFrame, figure: str) -> str:
    """All of it as a section of Markdown; ``figure`` is the link."""
    return "\n\n".join(
        [
            "## Age from face images",
            "The network is taken as it is; each method sees the 64 features of its first stage and the age that it "
            "predicts. Splits are 80 % to 20 %, with copies of an image on one side. The same person may be on both "
            "sides in different images: the data do not tell. Labels were not checked. MAE, RMSE, CRPS in years.",
            caveat(rows),
            table(rows),
            "### By predicted age",
            _spread(bands),
            bands_table(bands),
            f"![Coverage of the intervals by predicted age]({figure})",
        ]
    )


def _spread(bands: pd.DataFrame) -> str:
    """How far error bars follow the errors over the bands."""
    sentences = []
    for method, part in bands.dropna(subset=["std"]).groupby("method", sort=False):
        sentences.append(
            f"{method}: RMSE {part['rmse'].min():.1f} to {part['rmse'].max():.1f}, "
            f"mean std {part['std'].min():.1f} to {part['std'].max():.1f}"
        )
    return (
        "Errors grow with age, so that one noise variance for all faces cannot be right in every band. Smallest and "
        f"largest value of a band, in years: {'; '.join(sentences)}. Test rows of all splits together:"
    )


def _mean(values: pd.Series, column: str) -> str:
    text = _number(values.mean(), column)
    if len(values) > 1 and column in ("mae", "nlpd", "rmse", "crps") and values.notna().all():
        text += f" ± {values.std():.2f}"
    return text


def _number(value: object, column: str) -> str:
    if isinstance(value, str | int):
        return str(value)
    if value is None or np.isnan(value):
        return "–"
    return f"{value:.0f}" if column == "fit_seconds" else f"{value:.2f}"
