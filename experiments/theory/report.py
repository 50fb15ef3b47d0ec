"""Runs the experiments of all three theorems, draws their figures, and says in words and tables what was measured."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.theory import advantage, io_kernel, uncertainty
from experiments.theory.advantage import advantage_of_residuals, indistinguishability
from experiments.theory.figures import draw_advantage, draw_io_kernel, draw_uncertainty
from experiments.theory.generalization import generalization_on_f
from experiments.theory.io_kernel import errors_of_kernels
from experiments.theory.summary import Summary, plus_minus, summarize
from experiments.theory.uncertainty import correlations, uncertainty_of_networks
from lab.markdown import markdown_table

REPEATS = 100
"""As many take about two minutes on one core."""

PAGE = Path(__file__).parents[1]
"""The folder of the page that the section is for; figures are linked relative to it."""


def run(folder: Path, repeats: int = REPEATS, seed: int = 0) -> str:
    """Run all experiments, write their figures, and return a section in Markdown.

    Parameters
    ----------
    folder : Path
        Where `theory-1-advantage.png`, `theory-2-uncertainty.png` and `theory-3-io-kernel.png` go.
    repeats : int
        Draws of each problem; at least two, because there are standard errors.
    seed : int
    """
    if repeats < 2:
        raise ValueError(f"repeats has to be at least 2 for standard errors; got {repeats}")
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"theory: {text} ({time.monotonic() - began:.0f} s)", file=sys.stderr)

    first = (
        advantage_of_residuals(repeats, seed),
        indistinguishability(repeats, seed),
        generalization_on_f(repeats, seed),
    )
    say("theorem 1 measured")
    second = uncertainty_of_networks(repeats, seed)
    say("theorem 2 measured")
    third = errors_of_kernels(repeats, seed)
    say("theorem 3 measured")
    draw_advantage(*first).savefig(folder / "theory-1-advantage.png")
    draw_uncertainty(second).savefig(folder / "theory-2-uncertainty.png")
    draw_io_kernel(third).savefig(folder / "theory-3-io-kernel.png")
    say(f"figures are in {folder}")

    link = Path(os.path.relpath(folder, PAGE)).as_posix()
    introduction = (
        "## The theorems in numbers\n\n"
        f"The paper's three theorems as experiments on {repeats} random draws of each problem (seed {seed}), with "
        "exact GPs. Numbers are means ± standard errors over draws; error bars in the figures are two standard errors."
    )
    sections = [
        introduction,
        describe_advantage(*first),
        f"![Errors against the share of g that the network has learnt]({link}/theory-1-advantage.png)",
        describe_uncertainty(second),
        f"![Uncertainty against the variance of the residuals]({link}/theory-2-uncertainty.png)",
        describe_io_kernel(third),
        f"![Errors of the I/O, input and output kernels]({link}/theory-3-io-kernel.png)",
    ]
    return "\n\n".join(sections) + "\n"


def describe_advantage(errors: pd.DataFrame, limits: pd.DataFrame, on_f: pd.DataFrame) -> str:
    """Theorem 1 in Markdown, from the results of its three experiments."""
    setting = advantage.SETTING
    summary = summarize(errors, ["hyperparameters", "alpha", "delta"])
    lines = []
    for alpha in advantage.ALPHAS:
        for share in advantage.SHARES:
            keys = [(choice, alpha, share * setting.complexity) for choice in advantage.HYPERPARAMETERS]
            cells = [_cell(summary, keys[1], name) for name in ("gp", "nn", "gp_nn")]
            cells += [_cell(summary, key, "beyond_delta") for key in keys]
            cells += [_cell(summary, keys[-1], "beyond_network")]
            lines.append([f"{alpha:g}", _number(share, 2), *cells])
    header = ["α", "δ/σ_g²", "E_GP", "E_NN", "E_GP+NN"]
    header += [f"E_GP − E_GP+NN − δ, {label}" for label in ("real noise", "apparent noise", "fitted")]
    table = _table([*header, "E_NN − E_GP+NN, fitted"], lines)
    learnt = summary.mean.index.get_level_values("delta") >= 0.0
    real = summary.mean.loc["real", "beyond_delta_limit"].min()
    apparent = summary.mean.loc[("apparent", 1.0, -setting.complexity), "beyond_delta_limit"]
    return f"""### Theorem 1: advantage of fitting residuals

Outcomes are y = f + g + ξ on the unit square. f is a draw of a GP with an RBF kernel (variance 1, lengthscale \
{setting.lengthscale:g}); g a square wave of variance σ_g² = {setting.complexity:g} whose half period |v| is \
{setting.half_period:g}, seen at {setting.n_pairs} pairs (x, x + v), so that a GP takes it for noise; ξ has variance \
σ_n² = {setting.noise:g}. The network leaves r_f ~ GP(0, αk) of f, and of g a remainder of variance σ_g² − δ; where δ \
is negative it has learnt nothing of g and has added complexity of its own. The theorem predicts, as g becomes \
indistinguishable, E_GP − E_GP+NN ≥ δ and E_NN − E_GP+NN > 0. The GP knows the kernel and either the real noise \
variance σ_n² or the apparent one (σ_n² + σ_g² on h, σ_n² + σ_g² − δ on the residuals), or it fits signal variance, \
lengthscale and noise variance by maximum likelihood. The errors in columns 3 to 5 are those at the apparent noise.

{table}

- δ ≥ 0, the network has learnt some of g or nothing: E_GP − E_GP+NN − δ {_verdict(summary, "beyond_delta", learnt)}
- δ < 0, it has added complexity: E_GP − E_GP+NN − δ {_verdict(summary, "beyond_delta", ~learnt)} The proof takes both \
GPs at the real noise variance; the limit that its lemmas give is then nowhere below {_number(real)}. At the apparent \
one a GP smooths residuals with added complexity more than it smooths h, and the limit is {_number(apparent)} at α = 1 \
and δ = −σ_g²: the theorem's first inequality needs δ ≥ 0 there.
- All cases: E_NN − E_GP+NN {_verdict(summary, "beyond_network")}
- {_noise(errors)}
- {_indistinguishability(limits)}
- {_trace(on_f)}"""


def _noise(errors: pd.DataFrame) -> str:
    alpha, complexity = min(advantage.ALPHAS), advantage.SETTING.complexity
    chosen = errors[(errors["hyperparameters"] == "fitted") & (errors["alpha"] == alpha)]
    parts = [
        f"{plus_minus(chosen[chosen['delta'] == share * complexity]['residual_noise'], 3)} at δ = {share:g} σ_g²"
        for share in (0.0, 0.5, 1.0)
    ]
    return (
        "The paper predicts that the noise estimate falls as the network learns g. The fitted noise variance is "
        f"{plus_minus(chosen[chosen['delta'] == 0.0]['noise'], 3)} on h, and on the residuals (α = {alpha:g}) "
        f"{', '.join(parts)}. It may exceed σ_n² + σ_g² − δ: r_g stays whole in what the GP leaves over, while the "
        "likelihood divides that by the rows less the degrees of freedom which the signal takes."
    )


def _indistinguishability(limits: pd.DataFrame) -> str:
    change = summarize(limits, "half_period").mean["change"]
    small = change[change.index <= 0.05]
    slope = np.polyfit(np.log(small.index), np.log(small), 1)[0]
    first, last = change.index.max(), change.index.min()
    within = int((limits["change"] <= limits["bound"]).sum())
    return (
        f"ε, the largest change of the GP's prediction due to g, falls from {change[first]:.3f} at |v| = {first:g} to "
        f"{change[last]:.4f} at |v| = {last:g}, as |v| to the power of {slope:.2f} (up to |v| = 0.05), and is within "
        f"the bound of the lemma's proof in {within} of {len(limits)} cases."
    )


def _trace(on_f: pd.DataFrame) -> str:
    gap = (on_f["trace"] / on_f["posterior_variance"] - 1.0).abs().max()
    ratio = (on_f["error"] / on_f["trace"]).groupby(on_f["repeat"]).mean()
    sizes = ", ".join(str(n) for n in sorted(on_f["n"].unique()))
    return (
        f"The trace formula for E^f_GP and E^{{r_f}}_GP equals the mean posterior variance up to {gap:.0e} of it. "
        f"Measured errors are {plus_minus(ratio, 3)} times the formula (mean over {sizes} training rows and both α)."
    )


def describe_uncertainty(results: pd.DataFrame) -> str:
    """Theorem 2 in Markdown."""
    names = {
        "predictive_variance": "of an outcome, fitted",
        "latent_variance": "of the latent residual, fitted",
        "optimal_latent_variance": "of the latent residual, optimal hyperparameters",
    }
    lines = []
    for name, label in names.items():
        columns = [correlations(results, name, method="pearson"), correlations(results, name)]
        columns += [correlations(results, name, at_fixed=fixed) for fixed in ("alpha", "delta")]
        lines.append([label, *(plus_minus(column, 3) for column in columns)])
    header = ["mean predictive variance", "Pearson", "rank", "rank, same α (δ varies)", "rank, same δ (α varies)"]
    alphas, shares = uncertainty.ALPHAS, uncertainty.SHARES
    weak = summarize(results[results["alpha"] == min(alphas)], "delta").mean
    fitted, optimal = weak["latent_variance"], weak["optimal_latent_variance"]
    return f"""### Theorem 2: uncertainty and the variance of residuals

The theorem predicts that the residual GP is the more uncertain, the more the network's residuals vary. In each draw \
of the problem of Theorem 1, {len(alphas) * len(shares)} networks (α from {min(alphas):g} to {max(alphas):g}, δ from \
{_number(min(shares), 0)} to {max(shares):g} σ_g²) are corrected by a GP fitted to their residuals by maximum \
likelihood. Its mean predictive variance correlates with the variance of the residuals, both at the same \
{uncertainty.SETTING.n_test} test points, over the networks of a draw, by

{_table(header, lines)}

The proof speaks of the variance of the latent residual at optimal hyperparameters. A fitted GP may find less of a \
weak signal the more complexity hides it: at α = {min(alphas):g} its latent variance is {fitted.iloc[0]:.4f} at δ = \
{_number(min(shares), 0)} σ_g² and {fitted.iloc[-1]:.4f} at δ = {max(shares):g} σ_g², where the optimal ones are \
{optimal.iloc[0]:.4f} and {optimal.iloc[-1]:.4f}. Its noise variance makes up for that in the variance of an outcome. \
Where α is large the residuals vary more than the GP's uncertainty says, because r_f is what the GP corrects."""


def describe_io_kernel(results: pd.DataFrame) -> str:
    """Theorem 3 in Markdown."""
    results = results.assign(
        beyond_input=results["input"] - results["io"], beyond_output=results["output"] - results["io"]
    )
    keys = ["n", "noise", "output_share"]
    summary = summarize(results, ["hyperparameters", *keys])
    lines = []
    for setting in io_kernel.SETTINGS:
        at = (setting.n, setting.noise, setting.output_share)
        cells = [
            _cell(summary, (choice, *at), name)
            for choice in io_kernel.HYPERPARAMETERS
            for name in ("io", "beyond_input", "beyond_output")
        ]
        lines.append([str(setting.n), f"{setting.noise:g}", f"{setting.output_share:g}", *cells])
    header = ["n", "noise", "share of f_out"]
    for choice in io_kernel.HYPERPARAMETERS:
        header += [f"E_I/O, {choice}", "E_I − E_I/O", "E_O − E_I/O"]
    base = io_kernel.BASE
    return f"""### Theorem 3: advantage of the I/O kernel

Outcomes are y = f_in(x) + f_out(ŷ(x)) + ξ, with f_in and f_out drawn from GPs with RBF kernels on {base.n_inputs} \
standard normal inputs (lengthscale {base.input_lengthscale:g}) and on the output of a random, non-affine network \
(lengthscale {base.output_lengthscale:g}); the signal variance is 1. The theorem predicts that the I/O kernel has a \
smaller error than either of its parts. Differences are paired: all kernels see the same draws. A GP with known \
hyperparameters and one kernel takes the other part for noise; fitted ones are those of the largest likelihood.

{_table(header, lines)}

- E_I − E_I/O {_verdict(summary, "beyond_input")}
- E_O − E_I/O {_verdict(summary, "beyond_output")}"""


def _verdict(summary: Summary, name: str, chosen: np.ndarray | slice = slice(None)) -> str:
    """In how many of the chosen cases a difference is positive, zero within two standard errors, or negative."""
    mean, error = summary.mean[name][chosen], summary.error[name][chosen]
    higher, lower = mean > 2.0 * error, mean < -2.0 * error
    text = f"is positive by more than two standard errors in {higher.sum()} of {len(mean)} cases"
    text += f", zero within them in {(~higher & ~lower).sum()}, negative in {lower.sum()}"
    if not lower.any():
        return text + "."
    cases = [f"{_number(mean[key])} for {_case(mean.index.names, key)}" for key in mean.index[lower]]
    return f"{text} ({'; '.join(cases)})."


def _case(names: Iterable[str], key: tuple[Any, ...]) -> str:
    case = dict(zip(names, key, strict=True))
    if "delta" in case:
        share = case["delta"] / advantage.SETTING.complexity
        return f"{case['hyperparameters']}, α = {case['alpha']:g}, δ = {_number(share, 2)} σ_g²"
    return f"{case['hyperparameters']}, n = {case['n']}, noise {case['noise']:g}, share {case['output_share']:g}"


def _cell(summary: Summary, key: tuple[Any, ...], name: str) -> str:
    return f"{_number(summary.mean.loc[key, name])} ± {_number(summary.error.loc[key, name])}"


def _number(value: float, digits: int = 4) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def _table(header: list[str], lines: list[list[str]]) -> str:
    return markdown_table(header, lines).rstrip("\n")
