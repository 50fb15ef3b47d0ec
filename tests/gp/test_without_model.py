"""The choice between the GP on residuals and a plain one, by left-out rows."""

from dataclasses import replace

import numpy as np
import pytest

from rio_uq.gp.left_out import LeftOut
from rio_uq.gp.without_model import choose_model, stray_share


def left_out(errors, std=1.0, weight=None):
    errors = np.asarray(errors, dtype=float)
    errors = errors[:, None] if errors.ndim == 1 else errors
    spread = np.full_like(errors, std)
    weight = np.ones(len(errors)) if weight is None else weight
    return LeftOut(errors, spread, errors / spread, np.zeros_like(errors), weight, None)


def test_the_plain_gp_takes_over_where_it_is_clearly_better(rng):
    errors = rng.normal(size=200)
    choice = choose_model(left_out(errors), left_out(0.5 * errors, 0.5))
    assert not choice.uses_model
    assert choice.error[0] == pytest.approx(2.0 * choice.error_without_model[0])


@pytest.mark.parametrize("factor", [0.99, 1.0, 2.0])
def test_the_model_is_kept_where_the_plain_gp_is_not(factor, rng):
    errors = rng.normal(size=200)
    assert choose_model(left_out(errors), left_out(factor * rng.permutation(errors), factor)).uses_model


def test_a_plain_gp_that_is_too_sure_of_itself_is_not_believed(rng):
    errors = rng.normal(size=200)
    assert choose_model(left_out(errors), left_out(0.8 * errors, 0.2)).uses_model


def test_rows_that_the_model_has_seen_do_not_count(rng):
    errors, seen = rng.normal(size=200), np.arange(200) < 100
    with_model = left_out(np.where(seen, 0.01 * errors, errors), weight=np.where(seen, 0.0, 1.0))
    assert not choose_model(with_model, left_out(0.5 * errors, 0.5)).uses_model
    assert choose_model(replace(with_model, weight=np.ones(200)), left_out(0.9 * errors, 0.9)).uses_model


def test_few_rows_or_one_outlier_do_not_decide(rng):
    errors = rng.normal(size=200)
    assert choose_model(left_out(errors[:10]), left_out(0.5 * errors[:10], 0.5)).uses_model
    outlier = errors.copy()
    outlier[0] = 100.0
    assert choose_model(left_out(outlier), left_out(rng.normal(size=200))).uses_model


def test_copies_of_a_measurement_count_once(rng):
    errors = rng.normal(size=60)
    better = np.where(np.arange(60) < 5, 0.1, 1.0) * errors
    place = np.concatenate([np.arange(60), np.repeat(np.arange(5), 40)])
    alone = choose_model(left_out(errors), left_out(better))
    with_copies = choose_model(replace(left_out(errors), place=place), left_out(better[place]))
    assert with_copies.uses_model == alone.uses_model
    np.testing.assert_allclose(with_copies.error_without_model, alone.error_without_model)


def test_the_plain_gp_has_to_beat_the_model_and_not_its_clones(rng):
    errors = rng.normal(size=400)
    clones, plain = left_out(errors), left_out(0.9 * errors, 0.9)
    choice = choose_model(clones, plain)
    assert not choice.uses_model
    assert choice.gain == 1.0
    with_gain = choose_model(clones, plain, gain=0.85)
    assert with_gain.uses_model
    np.testing.assert_allclose(with_gain.error, choice.error)  # those that were measured
    np.testing.assert_allclose(with_gain.expected_error, 0.85 * choice.error)
    assert not choose_model(clones, left_out(0.7 * errors, 0.7), gain=0.85).uses_model


def test_clones_that_predict_elsewhere_do_not_speak_for_the_model(rng):
    of_clones = rng.uniform(0.0, 1.0, size=(100, 1))
    assert stray_share(of_clones + 0.4, of_clones) == 0.0
    assert stray_share(of_clones + 2.0, of_clones) == 1.0
    errors = rng.normal(size=200)
    assert choose_model(left_out(errors), left_out(2.0 * errors, 2.0), stray=0.05).uses_model
    choice = choose_model(left_out(errors), left_out(2.0 * errors, 2.0), stray=0.5)
    assert not choice.uses_model
    assert choice.stray == 0.5
