"""Scales with names: inverses, slopes, ranges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_uq.scales.named import IDENTITY, NAMES, NamedScale, named_scale

OUTCOMES = st.lists(st.integers(1, 99), min_size=3, max_size=20, unique=True).map(lambda values: np.array(values) / 100)
BOUNDED = {
    "identity": [(-np.inf, np.inf), (0.0, np.inf)],
    "log": [(-np.inf, np.inf), (-2.0, np.inf), (-np.inf, 3.0)],
    "sqrt": [(-np.inf, np.inf), (-2.0, np.inf), (-np.inf, 3.0)],
    "logit": [(-np.inf, np.inf), (-2.0, 3.0)],
}
CASES = [(kind, bounds) for kind, choices in BOUNDED.items() for bounds in choices]


@pytest.mark.parametrize(("kind", "bounds"), CASES)
@given(OUTCOMES)
def test_a_scale_increases_has_an_inverse_and_a_slope(kind, bounds, y):
    y = np.sort(y)
    scale = named_scale(kind, y, bounds)
    u = scale.forward(y)
    assert (np.diff(u) > 0.0).all()
    np.testing.assert_allclose(scale.inverse(u), y, rtol=1e-9, atol=1e-12)
    step = 1e-6 * np.minimum(y, 1.0 - y)
    slope = (scale.forward(y + step) - scale.forward(y - step)) / (2.0 * step)
    np.testing.assert_allclose(np.exp(scale.log_slope(y)), slope, rtol=1e-6)


@pytest.mark.parametrize(("kind", "bounds"), CASES)
def test_values_far_away_stay_in_the_range_of_outcomes(kind, bounds):
    scale = named_scale(kind, np.array([0.1, 0.5, 0.9]), bounds)
    back = scale.inverse(np.array([-1e3, -1.0, 0.0, 1.0, 1e3]))
    assert (np.diff(back) >= 0.0).all()
    assert (back >= scale.lower).all()
    assert (back <= scale.upper).all()


def test_zeros_among_counts_have_a_place_on_the_square_root():
    scale = named_scale("sqrt", np.array([0.0, 1.0, 4.0]))
    assert scale.offset == 0.375
    np.testing.assert_allclose(scale.inverse(scale.forward(np.array([0.0, 2.0]))), [0.0, 2.0], atol=1e-12)
    assert np.isfinite(scale.log_slope(np.array([0.0]))).all()
    assert scale.inverse(np.array([-5.0])) == [0.0]


def test_counts_of_any_mean_have_the_same_spread_on_the_square_root(rng):
    scale = named_scale("sqrt", np.array([0.0, 1.0]))
    spreads = [np.std(scale.forward(rng.poisson(mean, 20_000).astype(float))) for mean in (4.0, 20.0, 100.0)]
    np.testing.assert_allclose(spreads, 0.5, rtol=0.06)


def test_predictions_beyond_the_range_are_moved_to_its_end():
    y = np.array([2.0, 4.0])
    scale = named_scale("log", y)
    np.testing.assert_allclose(scale.forward_prediction(np.array([-3.0, 0.0, 0.5, 2.0])), np.log([1.0, 1.0, 1.0, 2.0]))
    np.testing.assert_array_equal(IDENTITY.forward_prediction(np.array([-3.0])), [-3.0])


@pytest.mark.parametrize(("kind", "bounds"), [*CASES[1:], ("log", (0.0, 1.0)), ("sqrt", (0.0, 1.0))])
def test_outcomes_beyond_the_range_are_infinite(kind, bounds):
    scale = named_scale(kind, np.array([0.1, 0.5, 0.9]), bounds)
    beyond = np.array([end for end in (scale.lower - 1.0, scale.upper + 1.0) if np.isfinite(end)])
    assert not scale.contains(beyond).any()
    np.testing.assert_array_equal(scale.forward(beyond), np.sign(beyond - 0.5) * np.inf)
    assert np.isnan(scale.log_slope(beyond)).all()


@pytest.mark.parametrize("y", [[0.0, 1.0, 4.0], [1.0, 2.0, 4.0]])
def test_the_square_root_has_a_finite_slope_at_its_bound(y):
    assert np.isfinite(named_scale("sqrt", np.array(y)).log_slope(np.array([0.0]))).all()


@pytest.mark.parametrize(("kind", "offset"), [("log", 0.0), ("sqrt", 0.01)])
def test_the_upper_of_two_bounds_is_an_end_and_nothing_more(kind, offset):
    y = np.array([1.0, 50.0, 100.0])
    scale, free = named_scale(kind, y, (0.0, 100.0)), named_scale(kind, y)
    assert scale.offset == free.offset == offset
    np.testing.assert_array_equal(scale.forward(y), free.forward(y))
    np.testing.assert_array_equal(scale.forward_prediction(np.array([120.0])), free.forward(np.array([100.0])))
    assert scale.inverse(np.array([1e3])) == [100.0]


@pytest.mark.parametrize(
    ("kind", "y", "bounds", "message"),
    [
        (
            "log",
            [1.0, 0.0, -1.0],
            (-np.inf, np.inf),
            "from 0 on, the lower end excluded, and y has 2 others, 0 in row 1",
        ),
        ("sqrt", [1.0, -1.0], (-np.inf, np.inf), "from 0 on, and y has 1 others"),
        ("logit", [0.5, 1.0], (-np.inf, np.inf), "between 0 and 1, the ends excluded"),
        ("logit", [0.5], (0.0, np.inf), "needs both bounds"),
        ("identity", [5.0], (-np.inf, 4.0), "up to 4"),
        ("log", [5.0, 0.0], (0.0, 5.0), "between 0 and 5, the lower end excluded"),
        ("log", [5.0, 0.0], (-np.inf, 5.0), "up to 5, the upper end excluded"),
    ],
)
def test_outcomes_without_a_place_are_named(kind, y, bounds, message):
    with pytest.raises(ValueError, match=message):
        named_scale(kind, np.array(y), bounds)


def test_words():
    words = [named_scale(kind, np.array([0.2, 0.4])).in_words() for kind in NAMES]
    assert words == [
        "outcomes as they are",
        "the logarithm of outcomes",
        "the square root of outcomes",
        "the logit of outcomes",
    ]
    assert NamedScale("identity", 0.0).in_words() == "outcomes as they are, from 0 on"
    assert NamedScale("logit", 0.0, 5.0).in_words() == "the logit of outcomes, between 0 and 5"
