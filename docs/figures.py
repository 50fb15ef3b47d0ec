"""The figures of ``start.md`` and ``how-it-works.md``, drawn by the library when the site is built.

python docs/figures.py build/figures      the same by hand
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from rio_uq import RIORegressor, plots

BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"


def panels(n: int, height: float = 3.6, **options) -> tuple[Figure, list]:
    figure = Figure(figsize=(3.8 * n, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, n, squeeze=False, **options)[0]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, list(axes)


def wave(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A wave on a slope, with a gap where there are no rows."""
    rng = np.random.default_rng(seed)
    x = np.sort(np.concatenate([rng.uniform(0.0, 5.5, n_rows // 2), rng.uniform(7.5, 10.0, n_rows - n_rows // 2)]))
    return x[:, None], 0.6 * x + np.sin(1.5 * x) + 0.2 * rng.normal(size=n_rows)


def slope(X: np.ndarray) -> np.ndarray:
    """A model that has found the slope and not the wave."""
    return 0.6 * X[:, 0]


def residuals() -> Figure:
    """A model, its residuals, and the two together."""
    X, y = wave(50, seed=0)
    rio = RIORegressor(slope, random_state=0, noise="constant").fit(X, y, held_out=True)
    grid = np.linspace(-1.0, 11.0, 300)[:, None]
    correction, std = rio.predict_residual(grid, return_std=True)
    figure, (first, second, third) = panels(3)
    for ax in (first, third):
        ax.plot(X, y, "o", ms=3.5, color=GREY, label="outcomes y")
        ax.plot(grid, slope(grid), "--", color=VERMILLION, label="model ŷ")
    first.set(title="1. A model and its data", xlabel="x")
    second.plot(X, y - slope(X), "o", ms=3.5, color=GREY, label="residuals y − ŷ")
    second.axhline(0.0, color=VERMILLION, ls="--", lw=1.0)
    second.set(title="2. A GP learns the residuals", xlabel="x")
    for ax, base, name in ((second, 0.0, "what the GP expects"), (third, slope(grid), "corrected prediction")):
        centre = base + correction
        ax.plot(grid, centre, color=BLUE, label=name)
        ax.fill_between(grid[:, 0], centre - 1.96 * std, centre + 1.96 * std, color=BLUE, alpha=0.18, lw=0.0)
    third.set(title="3. Corrected, with error bars", xlabel="x")
    for ax in (first, second, third):
        ax.legend(frameon=False, fontsize="small", loc="upper left")
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.3 * (high - low))
    return figure


def input_and_output() -> Figure:
    """A residual that depends on the prediction, and one that depends on a feature."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(250, 3))

    def model(X: np.ndarray) -> np.ndarray:
        return X[:, 0] + X[:, 1]

    y_pred = model(X)
    y = np.minimum(y_pred, 1.0) + 0.5 * np.sin(3.0 * X[:, 2]) + 0.1 * rng.normal(size=250)
    rio = RIORegressor(model, random_state=0).fit(X, y, held_out=True)
    parts = rio.decompose(X)
    figure, (first, second, third) = panels(3, sharey=True)
    first.plot(y_pred, y - y_pred, "o", ms=3.0, color=GREY)
    first.set(title="residuals", xlabel="prediction ŷ", ylabel="residual, or part of the correction")
    order = np.argsort(y_pred)
    second.plot(y_pred[order], parts.output[order], color=BLUE, lw=2.0)
    second.set(title="output part: a function of ŷ", xlabel="prediction ŷ")
    third.plot(X[:, 2], parts.input, "o", ms=3.0, color=GREEN)
    third.set(title="input part: here of one feature", xlabel="third feature of x")
    return figure


def two_parts_of_the_error_bar() -> Figure:
    """Noise that grows with x, and a gap in the data."""
    rng = np.random.default_rng(1)
    x = np.sort(np.concatenate([rng.uniform(0.0, 4.0, 150), rng.uniform(6.5, 10.0, 150)]))
    y = np.sin(x) + (0.05 + 0.06 * x) * rng.normal(size=300)
    rio = RIORegressor(lambda X: 0.0 * X[:, 0], random_state=0).fit(x[:, None], y, held_out=True)
    grid = np.linspace(0.0, 10.0, 300)[:, None]
    mean, std = rio.predict(grid, return_std=True)
    _, latent = rio.predict(grid, return_std=True, include_noise=False)
    figure, (first, second) = panels(2)
    first.plot(x, y, "o", ms=2.5, color=GREY)
    first.plot(grid, mean, color=BLUE)
    first.fill_between(grid[:, 0], mean - 1.96 * std, mean + 1.96 * std, color=BLUE, alpha=0.18, lw=0.0)
    first.set(title="95 % intervals of outcomes", xlabel="x", ylabel="y")
    second.plot(grid, std, color=BLUE, lw=2.0, label="std of an outcome")
    second.plot(grid, latent, color=GREEN, lw=2.0, label="what the GP does not know")
    second.plot(grid, np.sqrt(np.maximum(std**2 - latent**2, 0.0)), color=VERMILLION, lw=2.0, label="noise, as learnt")
    second.plot(grid, 0.05 + 0.06 * grid, ":", color=GREY, label="noise, in truth")
    second.set(title="what they are made of", xlabel="x", ylabel="standard deviation", ylim=(0.0, 1.1))
    second.legend(frameon=False, fontsize="small", loc="upper left")
    return figure


def trust() -> Figure:
    """Trust in models that know something which x does not tell, with more and more random numbers added."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-2.0, 2.0, size=(300, 1))
    signal, garbage, noise = rng.normal(size=(3, 300))
    y = signal + 0.5 * np.sin(2.0 * X[:, 0]) + 0.2 * noise
    sizes = np.array([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
    trusts = []
    for size in sizes:
        rio = RIORegressor(random_state=0, noise="constant").fit(X, y, y_pred=signal + size * garbage, held_out=True)
        trusts.append((rio.trust_, rio.trust_std_))
    values, stds = np.array(trusts).T
    figure, (ax,) = panels(1, height=3.4)
    grid = np.linspace(0.0, 3.0, 100)
    ax.plot(grid, 1.0 / (1.0 + grid**2), ":", color=GREY, label="what would be best")
    ax.errorbar(sizes, values, yerr=1.96 * stds, fmt="o", color=BLUE, capsize=3, label="trust_ ± 1.96 trust_std_")
    ax.set(
        xlabel="std of random numbers added to ŷ", ylabel="trust_", ylim=(-0.05, 1.15), title="how much of ŷ is kept"
    )
    ax.legend(frameon=False, fontsize="small")
    return figure


def start() -> Figure:
    """What the code of ``start.md`` draws, side by side."""
    cells = load_breast_cancer(as_frame=True).data
    X, y = cells.filter(like="mean"), cells["worst area"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    rio = RIORegressor(LinearRegression(), random_state=0).fit(X_train, y_train)
    figure, (first, second) = panels(2, height=3.8)
    plots.ErrorBarDisplay.from_estimator(rio, X_test, y_test, confidence_level=0.9, ax=first)
    plots.ReliabilityDisplay.from_estimator(rio, X_test, y_test, ax=second)
    return figure


FIGURES = {
    "start": start,
    "residuals": residuals,
    "input-and-output": input_and_output,
    "error-bars": two_parts_of_the_error_bar,
    "trust": trust,
}


def draw_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        draw().savefig(folder / f"{name}.png", dpi=120)


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]))
