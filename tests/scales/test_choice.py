"""Which scales are tried, and which one is chosen."""

import numpy as np
import pytest

from rio_uq.scales.choice import FEWEST_ROWS, LEAST_GAIN_OF_A_ROW, MOST_BEYOND, Beyond, ScaleChoice, candidates, chosen
from rio_uq.scales.named import IDENTITY, named_scale

FREE = (-np.inf, np.inf)
PRICES = np.random.default_rng(0).lognormal(size=200)


def kinds(y, y_pred=None, bounds=FREE):
    return [scale.kind for scale in candidates(y, y if y_pred is None else y_pred, bounds)[0]]


def test_scales_are_tried_where_outcomes_have_a_place_and_spread_over_them():
    assert kinds(PRICES) == ["log", "sqrt"]
    assert kinds(PRICES / PRICES.max() / 1.01) == ["logit"]
    assert kinds(np.random.default_rng(0).poisson(2.0, 200).astype(float)) == ["sqrt"]
    assert kinds(PRICES + 100.0) == []
    assert kinds(PRICES + 100.0, bounds=(100.0, np.inf)) == ["log", "sqrt"]
    assert kinds(-PRICES) == []
    assert kinds(-PRICES, bounds=(-np.inf, 0.0)) == ["log", "sqrt"]


def test_many_predictions_without_a_place_leave_the_scale_out():
    y_pred, many = PRICES.copy(), int(MOST_BEYOND * 200) + 1
    y_pred[3] = -0.1
    assert kinds(PRICES, y_pred) == ["log", "sqrt"]
    y_pred[:many] = 0.0
    assert kinds(PRICES, y_pred) == ["sqrt"]
    y_pred[:many] = -3.0
    scales, beyond = candidates(PRICES, y_pred, FREE)
    assert scales == []
    assert beyond == ("log", many, -3.0)
    words = ScaleChoice((IDENTITY,), ({},), (0.0,), (beyond,)).in_words(0)
    assert f"outcomes as they are: the model predicts -3 and the like for {many} rows" in words


def test_words_on_a_prediction_that_is_moved():
    scale = named_scale("log", np.array([0.2, 4.0]))
    beyond = Beyond.of(scale, np.array([1.0, -3.0]))
    words = ScaleChoice((scale,), ({},), (0.0,), (beyond,)).in_words(0)
    assert words.endswith("the model predicts -3 for 1 row, which has no place on the scale 'log': it counts as 0.1.")


def test_few_rows_are_taken_as_they_are():
    assert kinds(PRICES[: FEWEST_ROWS - 1]) == []


@pytest.mark.parametrize(
    ("gain", "outside", "kind"),
    [
        (2.0 * LEAST_GAIN_OF_A_ROW, 0.0, "log"),
        (0.5 * LEAST_GAIN_OF_A_ROW, 0.0, "identity"),
        (0.5 * LEAST_GAIN_OF_A_ROW, 0.2, "log"),
        (-0.1, 0.2, "identity"),
    ],
)
def test_a_scale_has_to_gain_clearly_unless_intervals_would_leave_the_range(gain, outside, kind):
    log_density = {"identity": np.zeros(1000), "log": np.full(1000, gain)}
    options = [named_scale("log", PRICES)]
    scale, gains = chosen(options, options, IDENTITY, log_density, np.ones(1000), outside)
    assert scale.kind == kind
    assert gains == {"log": pytest.approx(gain)}
    words = ScaleChoice((scale,), (gains,), (outside,), (None,)).in_words(0)
    assert ("20% of 95 % intervals leave the range" in words) == (kind == "identity" and outside > 0.0)


def test_a_scale_that_errs_more_is_not_taken_and_its_gain_is_kept():
    log_density = {"identity": np.zeros(1000), "log": np.full(1000, 1.0)}
    scale, gains = chosen([named_scale("log", PRICES)], [], IDENTITY, log_density, np.ones(1000), 0.0)
    assert scale is IDENTITY
    assert gains == {"log": 1.0}
