"""The figures of the three theorems. Error bars are two standard errors of a mean over repeats."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from experiments.theory import advantage, io_kernel, uncertainty
from experiments.theory.summary import Summary, summarize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED, PURPLE, BLACK = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#000000"
"""Colours of Okabe and Ito, which the colour-blind can tell apart."""

STYLE = {
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 10.5,
    "legend.frameon": False,
    "lines.markersize": 6,
    "errorbar.capsize": 2,
}
DOTS_PER_INCH = 100
E_GP, E_NN, E_BOTH = r"$E_\mathrm{GP}$", r"$E_\mathrm{NN}$", r"$E_\mathrm{GP+NN}$"
E_I, E_O, E_IO = r"$E_\mathrm{I}$", r"$E_\mathrm{O}$", r"$E_\mathrm{I/O}$"
BEYOND_DELTA = f"{E_GP} − {E_BOTH} − δ"
COMPLEXITY = r"$\sigma_g^2$"


def draw_advantage(errors: pd.DataFrame, limits: pd.DataFrame, on_f: pd.DataFrame) -> Figure:
    """Theorem 1.

    Parameters
    ----------
    errors, limits, on_f : DataFrame
        Of `advantage_of_residuals`, `indistinguishability` and `generalization_on_f`.
    """
    with _figure(2, 3, height=9.6) as (figure, axes):
        _draw_errors(axes[0, 0], errors)
        _draw_differences(axes[0, 1], errors, "beyond_delta")
        axes[0, 1].set(title="Beyond δ (predicted: ≥ 0)", ylabel=BEYOND_DELTA)
        _draw_differences(axes[0, 2], errors, "beyond_network")
        axes[0, 2].set(title="Better than the network (predicted: > 0)", ylabel=f"{E_NN} − {E_BOTH}")
        axes[0, 2].legend(loc="center")
        _draw_change(axes[1, 0], limits)
        _draw_limit(axes[1, 1], limits)
        _draw_trace_formula(axes[1, 2], on_f)
        figure.suptitle("Theorem 1: advantage of fitting residuals")
    return figure


def _draw_errors(axis: Axes, errors: pd.DataFrame) -> None:
    alpha = min(advantage.ALPHAS)
    summary = summarize(errors[(errors["alpha"] == alpha) & (errors["hyperparameters"] == "apparent")], "delta")
    share = summary.mean.index / advantage.SETTING.complexity
    styles = {"gp": ("GP", "s", BLUE), "nn": ("network", "^", ORANGE), "gp_nn": ("network + GP", "o", RED)}
    for name, (label, marker, colour) in styles.items():
        _points(axis, share, summary, name, marker, colour, label)
        axis.plot(share, summary.mean[name + "_limit"], "--", color=colour, linewidth=1)
    axis.plot([], [], "--", color=BLACK, linewidth=1, label="lemmas, ε → 0")
    axis.set(title=f"Errors on h (α = {alpha}, apparent noise)", ylabel="mean squared error")
    _share_axis(axis)
    axis.set_ylim(bottom=0.0)
    axis.legend()


def _draw_differences(axis: Axes, errors: pd.DataFrame, name: str) -> None:
    """Lines are the lemmas' limits; those of fitted hyperparameters only join the points."""
    labels = {"real": "real noise", "apparent": "apparent noise", "fitted": "fitted"}
    styles = {"real": (-0.02, "s", GREEN), "apparent": (0.0, "o", BLUE), "fitted": (0.02, "^", RED)}
    axis.axhline(0.0, color=BLACK, linewidth=1)
    for alpha, choice in product(advantage.ALPHAS, advantage.HYPERPARAMETERS):
        shift, marker, colour = styles[choice]
        summary = summarize(errors[(errors["alpha"] == alpha) & (errors["hyperparameters"] == choice)], "delta")
        share = summary.mean.index / advantage.SETTING.complexity
        label, face = f"{labels[choice]}, α = {alpha:g}", colour if alpha < 1.0 else "white"
        _points(axis, share + shift, summary, name, marker, colour, label, face=face)
        if choice == "fitted":
            axis.plot(share + shift, summary.mean[name], ":", color=colour, linewidth=1)
        else:
            axis.plot(share, summary.mean[name + "_limit"], "--", color=colour, linewidth=1)
    _share_axis(axis)


def _draw_change(axis: Axes, limits: pd.DataFrame) -> None:
    summary = summarize(limits, "half_period")
    distance = summary.mean.index / advantage.SETTING.lengthscale
    measured = r"measured, largest $|\bar{h}_\mathrm{GP} - \bar{f}_\mathrm{GP}|$"
    _points(axis, distance, summary, "change", "o", RED, measured, line="-")
    _points(axis, distance, summary, "bound", "s", BLUE, r"lemma, largest $\sigma_g\Sigma_i |w_i - w_{n+i}|$", line="-")
    proportional = summary.mean["change"].iloc[0] * distance / distance[0]
    axis.plot(distance, proportional, ":", color=BLACK, linewidth=1, label="proportional to |v|")
    axis.set(xscale="log", yscale="log", xlabel="|v| / lengthscale", ylabel="ε: change of the prediction due to g")
    _plain_numbers(axis.xaxis, [1.0])
    _plain_numbers(axis.yaxis, [1.0])
    axis.set_title("g becomes indistinguishable")
    axis.legend(loc="upper left")


def _draw_limit(axis: Axes, limits: pd.DataFrame) -> None:
    summary = summarize(limits, "half_period")
    distance = summary.mean.index / advantage.SETTING.lengthscale
    limit, width = summary.mean["beyond_delta_limit"], _lemma_width(summary.mean)
    band = {"color": BLUE, "alpha": 0.15, "linewidth": 0, "label": "lemmas, at the measured ε"}
    axis.fill_between(distance, limit - width, limit + width, **band)
    axis.plot(distance, limit, "--", color=BLUE, linewidth=1, label="lemmas, ε → 0")
    _points(axis, distance, summary, "beyond_delta", "o", RED, "measured")
    axis.axhline(0.0, color=BLACK, linewidth=1)
    spread = float((np.abs(summary.mean["beyond_delta"] - limit) + 2.0 * summary.error["beyond_delta"]).max())
    axis.set_ylim(limit.mean() - 2.0 * spread, limit.mean() + 2.0 * spread)
    alpha, share = limits["alpha"].iloc[0], limits["delta"].iloc[0] / advantage.SETTING.complexity
    axis.set(xscale="log", xlabel="|v| / lengthscale", ylabel=BEYOND_DELTA)
    _plain_numbers(axis.xaxis, [1.0])
    axis.set_title(f"The advantage as ε → 0 (α = {alpha:g}, δ = {share:g} {COMPLEXITY})")
    axis.legend(loc="upper left")


def _lemma_width(mean: pd.DataFrame) -> pd.Series:
    """How far the lemmas let E_GP − E_GP+NN be from its limit: 2ε√E^f + 2εσ_g + ε², and the same of the residuals."""
    complexity = advantage.SETTING.complexity
    parts = (("gp", "change", complexity), ("gp_nn", "residual_change", complexity - mean["delta"]))
    total = pd.Series(0.0, index=mean.index)
    for name, change, left in parts:
        epsilon, on_f = mean[change], mean[name + "_limit"] - left
        total += 2.0 * epsilon * (np.sqrt(on_f) + np.sqrt(left)) + epsilon**2
    return total


def _draw_trace_formula(axis: Axes, on_f: pd.DataFrame) -> None:
    for alpha, colour, marker in ((1.0, BLUE, "s"), (0.25, RED, "o")):
        summary = summarize(on_f[on_f["alpha"] == alpha], "n")
        n, name = summary.mean.index, "$f$" if alpha == 1.0 else f"$r_f$ (α = {alpha:g})"
        _points(axis, n, summary, "error", marker, colour, f"measured on {name}")
        axis.plot(n, summary.mean["trace"], "-", color=colour, linewidth=1, label=f"trace formula, {name}")
        axis.plot(n, summary.mean["posterior_variance"], "x", color=BLACK, markersize=4, zorder=5)
    axis.plot([], [], "x", color=BLACK, markersize=4, label="mean posterior variance")
    axis.set(xscale="log", yscale="log", xlabel="training rows", ylabel="mean squared error")
    _plain_numbers(axis.yaxis, [1.0, 2.0, 5.0])
    _plain_numbers(axis.xaxis, [1.0])
    axis.set_xticks(n, [str(rows) for rows in n])
    axis.set_title("Generalisation of the GP on $f$ and $r_f$")
    axis.legend(loc="lower left")


def draw_uncertainty(results: pd.DataFrame) -> Figure:
    """Theorem 2, from the results of `uncertainty_of_networks`."""
    with _figure(1, 3, height=5.8) as (figure, axes):
        colours = dict(zip(uncertainty.ALPHAS, (ORANGE, GREEN, BLUE, PURPLE), strict=True))
        _draw_networks(axes[0], results, colours)
        _draw_by_share(axes[1], results, colours, "latent_variance", "optimal_latent_variance")
        axes[1].set(title="Uncertainty of the latent residual", ylabel="mean latent variance")
        axes[1].set_ylim(bottom=0.0)
        axes[1].plot([], [], "--", color=BLACK, linewidth=1, label="optimal hyperparameters")
        axes[1].legend()
        _draw_by_share(axes[2], results, colours, "noise", None)
        setting, shares = uncertainty.SETTING, np.array(uncertainty.SHARES)
        apparent = [setting.apparent_noise(share * setting.complexity) for share in shares]
        axes[2].plot(shares, apparent, "--", color=BLACK, linewidth=1, label=r"$\sigma_n^2 + \sigma_g^2 - \delta$")
        axes[2].set(title="Noise that the GP sees", ylabel="fitted noise variance")
        axes[2].set_ylim(bottom=0.0)
        axes[2].legend()
        figure.suptitle("Theorem 2: the more the network's residuals vary, the less certain the GP")
    return figure


def _draw_networks(axis: Axes, results: pd.DataFrame, colours: dict[float, str]) -> None:
    markers = dict(zip(sorted(results["delta"].unique()), "ovsD^", strict=False))
    for (alpha, delta), group in results.groupby(["alpha", "delta"]):
        x, y = group["residual_variance"], group["predictive_variance"]
        axis.plot(x, y, markers[delta], color=colours[alpha], markersize=3, alpha=0.25, markeredgewidth=0)
    for (alpha, delta), line in summarize(results, ["alpha", "delta"]).mean.iterrows():
        x, y = line["residual_variance"], line["predictive_variance"]
        axis.plot(x, y, markers[delta], color=colours[alpha], markersize=9, markeredgecolor=BLACK)
    ends = np.array([results["predictive_variance"].min(), results["residual_variance"].max()])
    axis.plot(ends, ends, "--", color=BLACK, linewidth=1, label="equal")
    for alpha, colour in colours.items():
        axis.plot([], [], "o", color=colour, label=f"α = {alpha:g}")
    for delta, marker in markers.items():
        axis.plot(
            [],
            [],
            marker,
            color="white",
            markeredgecolor=BLACK,
            label=f"δ = {delta / uncertainty.SETTING.complexity:g} {COMPLEXITY}",
        )
    axis.set(
        xscale="log",
        yscale="log",
        xlabel=r"variance of the network's residuals $y - \hat{h}$",
        ylabel="mean predictive variance",
    )
    _plain_numbers(axis.xaxis, [1.0, 2.0, 5.0])
    _plain_numbers(axis.yaxis, [1.0, 2.0, 5.0])
    axis.set_title("Uncertainty of an outcome: each network, and means")
    axis.legend(ncols=2, loc="upper left")


def _draw_by_share(
    axis: Axes, results: pd.DataFrame, colours: dict[float, str], name: str, optimal: str | None
) -> None:
    for (alpha, colour), marker in zip(colours.items(), "ovsD", strict=True):
        summary = summarize(results[results["alpha"] == alpha], "delta")
        share = summary.mean.index / uncertainty.SETTING.complexity
        _points(axis, share, summary, name, marker, colour, f"α = {alpha:g}", line="-")
        if optimal is not None:
            axis.plot(share, summary.mean[optimal], "--", color=colour, linewidth=1)
    _share_axis(axis)


def draw_io_kernel(results: pd.DataFrame) -> Figure:
    """Theorem 3, from the results of `errors_of_kernels`."""
    base = io_kernel.BASE
    with _figure(1, 3, height=5.8) as (figure, axes):
        at = {name: results[name] == getattr(base, name) for name in ("n", "noise", "output_share")}
        _draw_kernels(axes[0], results[at["n"] & at["output_share"]], "noise", io_kernel.KINDS)
        axes[0].set(title=f"By noise (n = {base.n})", xlabel="noise variance (signal: 1)", ylabel="mean squared error")
        axes[0].legend(loc="lower right", ncols=2)
        _draw_kernels(axes[1], results[at["noise"] & at["output_share"]], "n", io_kernel.KINDS)
        axes[1].set(
            title=f"By training rows (noise {base.noise:g})", xlabel="training rows n", ylabel="mean squared error"
        )
        axes[1].set_xticks(io_kernel.SIZES, [str(n) for n in io_kernel.SIZES])
        axes[1].tick_params(axis="x", which="minor", bottom=False)
        differences = results.assign(
            input=results["input"] - results["io"], output=results["output"] - results["io"], io=np.nan
        )
        _draw_kernels(axes[2], differences[at["n"] & at["noise"]], "output_share", ("input", "output"))
        axes[2].set(title="Paired differences to the I/O kernel", ylabel=f"{E_I} − {E_IO} and {E_O} − {E_IO}")
        axes[2].set_xscale("linear")
        axes[2].set_xlabel(r"share of $f_\mathrm{out}$ in the signal variance")
        figure.suptitle("Theorem 3: the I/O kernel against the input and the output kernel alone")
    return figure


def _draw_kernels(axis: Axes, results: pd.DataFrame, by: str, kinds: tuple[str, ...]) -> None:
    styles = {"io": ("I/O", "o", RED), "input": ("input", "s", BLUE), "output": ("output", "^", GREEN)}
    for choice, kind in product(io_kernel.HYPERPARAMETERS, kinds):
        summary = summarize(results[results["hyperparameters"] == choice], by)
        label, marker, colour = styles[kind]
        face, line = (colour, "-") if choice == "fitted" else ("white", "--")
        _points(axis, summary.mean.index, summary, kind, marker, colour, f"{label}, {choice}", face=face, line=line)
    axis.set(xscale="log", yscale="log")
    _plain_numbers(axis.yaxis, [1.0, 2.0, 5.0])
    _plain_numbers(axis.xaxis, [1.0, 3.0])


def _plain_numbers(axis: Axis, digits: list[float]) -> None:
    """Ticks of a logarithmic axis as 0.02, 0.05, 0.1."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=digits))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _share_axis(axis: Axes) -> None:
    axis.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
    axis.set_xlabel(f"δ/{COMPLEXITY}: share of g learnt (negative: complexity added)")


@contextmanager
def _figure(n_rows: int, n_columns: int, *, height: float) -> Iterator[tuple[Figure, Any]]:
    """A figure of 1,600 pixels width and its axes, drawn in our style."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(16, height), dpi=DOTS_PER_INCH, layout="constrained")
        yield figure, figure.subplots(n_rows, n_columns)


def _points(
    axis: Axes,
    x: pd.Index,
    summary: Summary,
    name: str,
    marker: str,
    colour: str,
    label: str,
    *,
    face: str | None = None,
    line: str = "",
) -> None:
    """Means of a column with error bars."""
    style = {"color": colour, "markerfacecolor": face or colour, "linewidth": 1.3, "elinewidth": 1.0, "label": label}
    axis.errorbar(x, summary.mean[name], yerr=2.0 * summary.error[name], fmt=marker + line, **style)
