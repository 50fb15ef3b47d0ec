"""Clones by construction: each predicts the truth, plus what it has memorised of the noise, plus a draw."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rio_uq.models.overlap import Share
from rio_uq.models.seen_or_new import Clones, clones_share, is_same_model, judge, judge_outputs

N = 300


def predictions(rng, memory, seen_share, error=0.2):
    """Outcomes, predictions of a model that has seen a share of the rows, and clones."""
    truth, noise = rng.normal(size=N), rng.normal(size=N)

    def by_models(has_seen):
        memorised = memory * noise[:, None] * has_seen
        return truth[:, None] + memorised + error * rng.normal(size=has_seen.shape)

    fold = np.arange(N) % 5
    halvings = rng.uniform(size=(N, 2)) < 0.5
    in_half = np.column_stack([halvings, ~halvings])
    own = by_models(rng.permutation(N)[:, None] < seen_share * N)[:, 0]
    return truth + noise, own, Clones(by_models(np.arange(5) != fold[:, None]), fold, by_models(in_half), in_half)


@pytest.mark.parametrize("by_halves", [False, True])
@given(seen_share=st.floats(0.0, 1.0), seed=st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_the_share_of_rows_that_a_model_has_seen_is_estimated(by_halves, seen_share, seed):
    share = clones_share(*predictions(np.random.default_rng(seed), 0.8, seen_share), by_halves=by_halves)
    assert share.value == pytest.approx(seen_share, abs=0.2)
    assert share.error < 0.25


@pytest.mark.parametrize(("seen_share", "rows"), [(1.0, "seen"), (0.5, "mixed"), (0.0, "new")])
def test_a_model_is_judged_by_what_it_has_memorised(seen_share, rows, rng):
    verdict = judge(*predictions(rng, 0.8, seen_share))
    assert verdict.rows == rows
    assert verdict.memorised > 3.0
    assert verdict.numbers["share"] == verdict.share.value


def test_a_model_that_has_seen_other_rows_too_has_not_just_seen_these(rng):
    assert judge(*predictions(rng, 0.8, 1.0), is_other=True).rows == "mixed"


def test_where_nothing_is_memorised_it_makes_no_difference(rng):
    verdict = judge(*predictions(rng, 0.0, 0.0))
    assert verdict.rows in ("either", "seen")
    assert "seen" in str(verdict)


def test_a_model_that_a_clone_of_all_rows_repeats_has_seen_them(rng):
    """Halves are not needed then."""
    y, own, clones = predictions(rng, 0.8, 1.0)
    none = replace(clones, halves=np.empty((N, 0)), in_half=np.empty((N, 0), dtype=bool))
    verdict = judge(y, own, none, is_same=True)
    assert (verdict.rows, verdict.share) == ("seen", Share(1.0, 0.0))


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_predictions_are_the_same_but_for_rounding(rng, unit):
    y, own = unit * rng.normal(size=N), unit * rng.normal(size=(N, 1))
    assert is_same_model(y, own, own * (1.0 + 1e-9))
    assert not is_same_model(y, own, own + 1e-3 * unit * rng.normal(size=(N, 1)))


def test_what_the_model_tells_counts_by_its_error(rng):
    y, own, clones = predictions(rng, 0.8, 0.0)
    assert judge(y, own, clones, share=Share(0.9, 0.01)).rows == "mixed"  # the two contradict each other
    assert judge(y, own, clones, share=Share(0.9, 10.0)).rows == "new"


def test_units_do_not_matter(rng):
    y, own, clones = predictions(rng, 0.8, 0.4)
    other = replace(clones, **{name: 1e6 * getattr(clones, name) for name in ("folds", "halves")})
    one, same = judge(y, own, clones), judge(1e6 * y, 1e6 * own, other)
    assert one.rows == same.rows
    assert one.numbers == pytest.approx(same.numbers)


def test_an_output_that_is_there_twice_changes_no_verdict(rng):
    y, own, clones = predictions(rng, 0.8, 0.5)
    rows = np.arange(N)
    folds = [(rows[clones.fold != k], rows[clones.fold == k]) for k in range(5)]
    halves = [(rows[inside], rows[~inside]) for inside in clones.in_half.T]
    by_clone = np.column_stack([clones.folds, clones.halves])

    def verdict(n_outputs):
        def repeated(values):
            return np.repeat(values[:, None], n_outputs, axis=1)

        return judge_outputs(repeated(y), repeated(own), repeated(by_clone), folds, halves)

    one, both = verdict(1), verdict(2)
    assert one.rows == both.rows == "mixed"
    assert one.memorised == pytest.approx(both.memorised)
