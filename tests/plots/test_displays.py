"""Figures show the data they should: every one is drawn, and its data are compared with what they stand for."""

import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor, metrics, plots
from rio_uq.plots.base import BLUE, VERMILLION

matplotlib.use("Agg")

WITH_OUTCOMES = [
    plots.ReliabilityDisplay,
    plots.ErrorBarDisplay,
    plots.BeforeAfterDisplay,
    plots.ErrorUncertaintyDisplay,
    plots.RiskCoverageDisplay,
]
ALL = [*WITH_OUTCOMES, plots.CorrectionDisplay, plots.DecompositionDisplay]


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(220, 4))
    return X, 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + rng.normal(scale=0.3, size=220)


@pytest.fixture(scope="module")
def model(rows):
    X, y = rows
    return LinearRegression().fit(X[:100], y[:100])


@pytest.fixture(scope="module")
def rio(model, rows):
    X, y = rows
    return RIORegressor(model, residuals="in-sample", random_state=0, tol=1e-4).fit(X[:100], y[:100])


@pytest.fixture(scope="module")
def new(rows):
    X, y = rows
    return X[100:], y[100:]


@pytest.fixture(scope="module")
def predicted(rio, new):
    return rio.predict(new[0], return_std=True)


def line(ax, label):
    """The points of the line, or of the dots, whose label begins so."""
    (found,) = [one for one in ax.lines if str(one.get_label()).startswith(label)]
    return found.get_xydata()


def rows_of(points):
    """Sorted, since the order in which dots are drawn does not matter."""
    points = np.asarray(points)
    return points[np.lexsort(points.T)]


@pytest.mark.parametrize("display", ALL)
def test_every_figure_has_labelled_axes_and_can_be_saved(display, rio, new, tmp_path):
    drawn = display.from_estimator(rio, *new)
    axes = np.ravel(drawn.ax_)
    assert all(ax.figure is drawn.figure_ for ax in axes)
    assert all(ax.get_xlabel() and ax.get_title() for ax in axes)
    assert axes[0].get_ylabel()
    drawn.figure_.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5000


@pytest.mark.parametrize("display", ALL)
def test_a_figure_can_be_drawn_on_given_axes_and_drawn_again(display, rio, new):
    n_axes = 2 if display is plots.DecompositionDisplay else 1
    figure, axes = plt.subplots(1, n_axes)
    drawn = display.from_estimator(rio, *new, ax=axes)
    assert drawn.figure_ is figure
    assert np.ravel(drawn.ax_).tolist() == np.ravel(axes).tolist()
    before = np.ravel(axes)[0].lines[0].get_xydata()
    again = drawn.plot()
    assert again is drawn
    assert drawn.figure_ is not figure
    np.testing.assert_array_equal(np.ravel(drawn.ax_)[0].lines[0].get_xydata(), before)


@pytest.mark.parametrize("display", WITH_OUTCOMES)
def test_from_predictions_is_from_estimator(display, rio, model, new, predicted):
    X, y = new
    mean, std = predicted
    third = model.predict(X) if display is plots.BeforeAfterDisplay else std
    one, other = display.from_estimator(rio, X, y), display.from_predictions(y, mean, third)
    assert vars(one).keys() == vars(other).keys()
    for name, value in vars(one).items():
        if name not in ("ax_", "figure_", "name", "kind") and not isinstance(value, str):
            np.testing.assert_allclose(value, getattr(other, name), rtol=1e-9, atol=1e-9)


@pytest.fixture(scope="module")
def without_and_with_model(new):
    X, y = new
    options = {"noise": "constant", "tol": 1e-2, "random_state": 0}
    bare = RIORegressor(**options).fit(X, y, y_pred=X[:, 0])
    return bare, RIORegressor(lambda X: X[:, 0], **options).fit(X, y)


@pytest.mark.parametrize("display", ALL)
def test_predictions_of_the_model_can_be_given(display, without_and_with_model, new):
    (X, y), (bare, with_model) = new, without_and_with_model
    one, other = display.from_estimator(bare, X, y, y_pred=X[:, 0]), display.from_estimator(with_model, X, y)
    for name, value in vars(one).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(value, getattr(other, name))


def test_reliability(rio, new, predicted, monkeypatch):
    X, y = new
    display = plots.ReliabilityDisplay.from_estimator(rio, X, y)
    np.testing.assert_allclose(display.coverage, metrics.coverage_curve(y, *predicted))
    np.testing.assert_array_equal(line(display.ax_, "RIO"), np.stack([metrics.LEVELS, display.coverage], axis=1))
    np.testing.assert_array_equal(line(display.ax_, "as promised"), [[0.0, 0.0], [1.0, 1.0]])
    monkeypatch.setattr("rio_uq.plots.error_bars.BATCH_ROWS", 7)
    np.testing.assert_allclose(plots.ReliabilityDisplay.from_estimator(rio, X, y).coverage, display.coverage)


def test_reliability_curves_on_one_axes_have_colours_and_names_of_their_own(new, predicted):
    mean, std = predicted
    first = plots.ReliabilityDisplay.from_predictions(new[1], mean, std, name="right")
    plots.ReliabilityDisplay.from_predictions(new[1], mean, 0.1 * std, name="wrong", ax=first.ax_)
    labels = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert [label.split(":")[0] for label in labels] == ["right", "as promised", "wrong"]
    assert first.ax_.lines[0].get_color() == BLUE
    assert first.ax_.lines[2].get_color() == VERMILLION


def test_error_bars(rio, new, predicted):
    X, y = new
    display = plots.ErrorBarDisplay.from_estimator(rio, X, y, confidence_level=0.8)
    np.testing.assert_allclose(
        np.stack([display.lower, display.upper], 1), rio.predict_interval(X, confidence_level=0.8)
    )
    inside, outside = line(display.ax_, "outcome inside"), line(display.ax_, "outcome outside")
    assert len(inside) / len(X) == metrics.coverage(y, *predicted, confidence_level=0.8)
    np.testing.assert_array_equal(
        rows_of(np.concatenate([inside, outside])), rows_of(np.stack([y, display.mean], axis=1))
    )
    segments = np.concatenate([bars.get_segments() for bars in display.ax_.collections])
    np.testing.assert_allclose(
        rows_of(segments[:, :, 1]), rows_of(np.stack([display.lower, display.upper], axis=1)), rtol=1e-12
    )
    assert "80 %" in display.ax_.get_ylabel()


def test_many_error_bars_are_thinned_out_evenly(rng):
    y = rng.normal(size=5000)
    display = plots.ErrorBarDisplay.from_predictions(y, y, np.ones(5000), max_rows=100)
    assert len(display.shown) == 100
    assert {y.argmin(), y.argmax()} <= set(display.shown)
    assert len(line(display.ax_, "outcome inside (100.0 %)")) == 100


def test_error_bars_without_end_are_cut_off():
    y = np.arange(4.0)
    half = np.array([1.0, 1.0, np.inf, 1.0])
    display = plots.ErrorBarDisplay(y_true=y, mean=y, lower=y - half, upper=y + half).plot()
    segments = np.array(display.ax_.collections[0].get_segments())
    assert np.isfinite(segments).all()
    assert segments[2, 0, 1] < -1.0
    assert segments[2, 1, 1] > 4.0


def test_before_and_after(rio, model, new, predicted):
    X, y = new
    display = plots.BeforeAfterDisplay.from_estimator(rio, X, y)
    np.testing.assert_allclose(display.before, model.predict(X) - y)
    np.testing.assert_allclose(display.after, predicted[0] - y)
    assert display.improved == metrics.improvement_ratio(y, predicted[0], model.predict(X))
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    expected = [metrics.rmse(y, model.predict(X)), metrics.rmse(y, predicted[0])]
    assert labels == [f"{name}: RMSE {rmse:.3g}" for name, rmse in zip(("model", "with RIO"), expected, strict=True)]
    heights = [patch.get_xy()[:, 1].max() for patch in display.ax_.patches]
    counts = [
        np.histogram(errors, np.unique(display.ax_.patches[0].get_xy()[:, 0]))[0]
        for errors in (display.before, display.after)
    ]
    assert heights[0] == counts[0].max()
    assert heights[2] == counts[1].max()


def test_before_and_after_row_by_row(rio, new):
    display = plots.BeforeAfterDisplay.from_estimator(rio, *new, kind="scatter")
    nearer, others = line(display.ax_, "nearer"), line(display.ax_, "not nearer")
    assert (nearer[:, 1] < nearer[:, 0]).all()
    assert (others[:, 1] >= others[:, 0]).all()
    assert len(nearer) == round(display.improved * len(new[1]))
    np.testing.assert_array_equal(
        rows_of(np.concatenate([nearer, others])),
        rows_of(np.stack([np.abs(display.before), np.abs(display.after)], axis=1)),
    )
    with pytest.raises(ValueError, match="kind has to be one of"):
        plots.BeforeAfterDisplay.from_estimator(rio, *new, kind="pie")


def test_correction(rio, model, new):
    X, y = new
    display = plots.CorrectionDisplay.from_estimator(rio, X, y)
    correction, std = rio.predict_residual(X, return_std=True, include_noise=False)
    np.testing.assert_allclose(line(display.ax_, "correction"), np.stack([model.predict(X), correction], axis=1))
    np.testing.assert_allclose(
        line(display.ax_, "residual"), np.stack([model.predict(X), y - model.predict(X)], axis=1)
    )
    segments = np.array(display.ax_.collections[0].get_segments())
    np.testing.assert_allclose(segments[:, 1, 1] - segments[:, 0, 1], 2 * 1.96 * std)
    without = plots.CorrectionDisplay.from_estimator(rio, X)
    assert without.residual is None
    labels = [text.get_text() for text in without.ax_.get_legend().get_texts()]
    assert labels == ["95 % interval of the correction", "correction"]
    bare = plots.CorrectionDisplay.from_predictions(model.predict(X), correction)
    assert not bare.ax_.collections


def test_error_against_uncertainty(new, predicted, rng):
    (_, y), (mean, std) = new, predicted
    display = plots.ErrorUncertaintyDisplay.from_predictions(y, mean, std)
    np.testing.assert_array_equal(line(display.ax_, "rows"), np.stack([std, np.abs(y - mean)], axis=1))
    groups = line(display.ax_, "RMSE of groups")
    assert len(groups) == 10
    np.testing.assert_allclose(np.sqrt(np.mean(groups**2, axis=0)), np.sqrt(np.mean([std**2, (y - mean) ** 2], axis=1)))
    spread = rng.uniform(1.0, 10.0, size=20_000)
    right = plots.ErrorUncertaintyDisplay.from_predictions(spread * rng.normal(size=20_000), 0 * spread, spread)
    np.testing.assert_allclose(right.group_rmse, right.group_std, rtol=0.06)
    above = right.error > right.ax_.get_ylim()[1]
    assert 0 < above.mean() < 0.005
    assert len(line(right.ax_, f"rows ({above.sum()} more above)")) == 20_000


def test_risk_and_coverage(new, predicted):
    (_, y), (mean, std) = new, predicted
    display = plots.RiskCoverageDisplay.from_predictions(y, mean, std, name="RIO")
    np.testing.assert_array_equal(line(display.ax_, "RIO"), np.stack(metrics.risk_coverage_curve(y, mean, std), axis=1))
    assert display.area == metrics.risk_coverage_area(y, mean, std)
    assert (display.best_risk <= display.risk + 1e-12).all()
    np.testing.assert_allclose(line(display.ax_, "rows in random order")[:, 1], metrics.mae(y, mean))
    np.testing.assert_array_equal(line(display.ax_, "ordered by")[:, 1], display.best_risk)


def test_decomposition(rio, model, new):
    X, _ = new
    display = plots.DecompositionDisplay.from_estimator(rio, X)
    parts, order = rio.decompose(X), np.argsort(model.predict(X))
    curve, bars = display.ax_
    np.testing.assert_allclose(line(curve, "output part"), np.stack([model.predict(X), parts.output], axis=1)[order])
    np.testing.assert_allclose(line(curve, "input part"), np.stack([model.predict(X), parts.input], axis=1))
    features = rio.summary().features
    assert [label.get_text() for label in bars.get_yticklabels()] == [feature.name for feature in features]
    np.testing.assert_allclose([bar.get_width() for bar in bars.patches], [feature.relevance for feature in features])
    assert bars.yaxis_inverted()
    with pytest.raises(ValueError, match="two axes"):
        display.plot(ax=curve)


def test_decomposition_with_many_features_or_none(rng):
    y_pred, zero = rng.normal(size=30), np.zeros(30)
    names = [f"a feature with a long name, number {i}" for i in range(40)]
    relevance = dict(zip(names, rng.uniform(size=40), strict=True))
    display = plots.DecompositionDisplay.from_predictions(y_pred, y_pred, zero, relevance=relevance)
    widths = [bar.get_width() for bar in display.ax_[1].patches]
    np.testing.assert_array_equal(widths, sorted(relevance.values(), reverse=True)[:12])
    assert "28 more" in display.ax_[1].get_title()
    none = plots.DecompositionDisplay.from_predictions(y_pred, zero, y_pred)
    assert not none.ax_[1].patches
    assert "does not look at features" in none.ax_[1].texts[0].get_text()


@pytest.fixture(scope="module")
def two(new):
    """A regressor with two outputs, and its data."""
    X, y = new
    outputs = np.stack([y, 100.0 * X[:, 0] ** 2], axis=1)
    rio = RIORegressor(LinearRegression(), distribution="normal", random_state=0, tol=1e-2)
    return rio.fit(X, outputs), X, outputs


@pytest.mark.parametrize("display", ALL)
def test_one_of_several_outputs_is_chosen(display, two):
    rio, X, y = two
    display.from_estimator(rio, X, y, output=1)
    with pytest.raises(ValueError, match="less than 2"):
        display.from_estimator(rio, X, y, output=2)
    if display is not plots.ReliabilityDisplay:
        with pytest.raises(ValueError, match="2 outputs, and a figure shows one"):
            display.from_estimator(rio, X, y)


def test_data_of_the_output_chosen(two):
    rio, X, y = two
    mean, std = rio.predict(X, return_std=True)
    both = plots.ReliabilityDisplay.from_estimator(rio, X, y)
    np.testing.assert_allclose(both.coverage, metrics.coverage_curve(y, mean, std))
    second = plots.ReliabilityDisplay.from_estimator(rio, X, y, output=1)
    np.testing.assert_allclose(second.coverage, metrics.coverage_curve(y[:, 1], mean[:, 1], std[:, 1]))
    np.testing.assert_array_equal(plots.ErrorBarDisplay.from_estimator(rio, X, y, output=1).mean, mean[:, 1])
    parts = plots.DecompositionDisplay.from_estimator(rio, X, output=1)
    np.testing.assert_allclose(parts.input_part + parts.output_part, rio.predict_residual(X)[:, 1])
    by_input = rio.decompose(X).input[:, 1]
    assert np.std(parts.input_part) < 0.5 * np.std(by_input)  # without its slope on ŷ, which the output part takes back
    np.testing.assert_array_equal(line(parts.ax_[0], "output part")[:, 1], parts.output_part)
    assert parts.relevance == {feature.name: feature.relevance[1] for feature in rio.summary().features}


def test_without_matplotlib_the_error_names_the_extra(rio, new, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"rio-uq\[plots\]"):
        plots.RiskCoverageDisplay.from_estimator(rio, *new)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [1.0], [1.0]), "same rows"),
        (([], [], []), "nothing to draw"),
        (([1.0], [np.nan], [1.0]), "mean contains NaN"),
        ((1.0, 1.0, 1.0), "has to have shape"),
    ],
)
def test_bad_data(arguments, message):
    with pytest.raises(ValueError, match=message):
        plots.ErrorUncertaintyDisplay.from_predictions(*arguments)


def test_outcomes_of_other_rows_are_refused(rio, new):
    X, y = new
    for display in WITH_OUTCOMES:
        with pytest.raises(ValueError, match="same rows"):
            display.from_estimator(rio, X, y[1:])
