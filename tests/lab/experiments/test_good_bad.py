"""RIO is sure of a good network and unsure of a bad one, and the figure shows both."""

import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection

pytest.importorskip("torch")

from experiments.figures import gallery
from experiments.figures.good_bad import cases, draw_good_bad
from rio_uq import metrics


@pytest.fixture(scope="module")
def both():
    return cases()


def test_uncertainty_follows_the_quality_of_the_network(both):
    good, bad = both
    np.testing.assert_array_equal(good.rows, bad.rows)
    assert metrics.rmse(good.truth, good.network) < 0.3 < 0.4 < metrics.rmse(bad.truth, bad.network)
    assert bad.std.mean() > 1.5 * good.std.mean()
    for case in both:
        assert metrics.coverage(case.truth, case.mean, case.std) > 0.8
        assert metrics.rmse(case.truth, case.mean) < 1.1 * metrics.rmse(case.truth, case.network)


def test_the_bad_network_has_turns_that_the_truth_has_not(both):
    _, bad = both
    wrong = np.sign(np.diff(bad.network)) != np.sign(np.diff(bad.truth))
    assert wrong.mean() > 0.2


def test_panels_show_truth_rows_network_and_band(both):
    figure = draw_good_bad(both)
    for case, axis in zip(both, figure.axes, strict=True):
        lines = {line.get_label(): line for line in axis.lines}
        assert set(lines) == {"truth", "network", "RIO, mean", "rows"}
        for name, values in (("truth", case.truth), ("network", case.network), ("RIO, mean", case.mean)):
            np.testing.assert_array_equal(lines[name].get_xydata(), np.column_stack([case.grid, values]))
        np.testing.assert_array_equal(lines["rows"].get_xydata(), case.rows)
        (band,) = axis.collections
        assert isinstance(band, FillBetweenPolyCollection)
        extent = band.get_datalim(axis.transData)
        np.testing.assert_allclose(
            [extent.y0, extent.y1], [(case.mean - 1.96 * case.std).min(), (case.mean + 1.96 * case.std).max()]
        )
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


def test_the_figure_is_written(both, tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.figures.good_bad.cases", lambda: both)
    (path,) = gallery.draw_good_and_bad(tmp_path)
    assert path == tmp_path / "good-and-bad.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 400_000
