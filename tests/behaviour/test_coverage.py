"""Intervals hold about as often as they say, by the law of the noise and the number of rows; `examples.coverage`."""

import numpy as np
import pytest

from examples import coverage

pytestmark = pytest.mark.no_cover

TOLERANCES = {
    30: (0.06, 0.06, 0.06, 0.055, 0.05, 0.035),
    100: (0.045, 0.035, 0.03, 0.03, 0.03, 0.025),
    1000: (0.04, 0.03, 0.02, 0.015, 0.015, 0.01),
}
"""By the number of rows, for each of the levels: what docs/calibration.md promises. To be tightened where it can be."""


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", TOLERANCES)
@pytest.mark.parametrize("law", coverage.LAWS)
def test_mean_coverage_is_near_the_level(law, n_rows):
    mean, error = coverage.mean_coverage(law, n_rows)
    off = np.abs(mean - coverage.LEVELS)
    assert (off <= TOLERANCES[n_rows]).all(), (mean.round(3), error.round(3))


def test_coverage_is_worked_out_from_the_law(monkeypatch):
    ends = np.array([[[4.0, 6.0]] * 2] * 3)  # intervals [4, 4] and [6, 6] of each of three rows

    class Fixed:
        def __init__(self, **options):
            pass

        def fit(self, *rows, **options):
            return self

        def predict_interval(self, *rows, **options):
            return ends

    monkeypatch.setattr(coverage, "RIORegressor", Fixed)
    monkeypatch.setattr(coverage, "N_TEST", 3)
    law = coverage.Law(lambda X: coverage.stats.poisson(np.full(len(X), 5.0)), lambda X: X[:, 0])
    np.testing.assert_allclose(coverage.coverage(law, 10, 0), coverage.stats.poisson(5.0).pmf([4, 6]))


def test_the_table(monkeypatch, capsys):
    monkeypatch.setattr(coverage, "coverage", lambda law, n_rows, seed: coverage.LEVELS + 0.01 * (seed % 2))
    monkeypatch.setattr("sys.argv", ["coverage", "--rows", "100", "--laws", "normal"])
    coverage.main()
    line = capsys.readouterr().out.splitlines()[-1]
    assert line == "| normal | 100 | 50.5 | 68.5 | 80.5 | 90.5 | 95.5 | 99.5 | 0.1 |"
