"""Which scales err more than outcomes as they are."""

import numpy as np

from rio_uq.outcome_scaling import _errs_more


def test_few_far_outcomes_do_not_refuse_a_scale_and_bounded_ones_do():
    other = np.ones(100)
    with_one_far = np.append(np.ones(99), 100.0)
    assert not _errs_more(with_one_far, other, np.ones(100), has_tails=True)
    assert _errs_more(1.1 * other, other, np.ones(100), has_tails=True)
    assert not _errs_more(1.04 * other, other, np.ones(100), has_tails=True)
    assert _errs_more(1.04 * other, other, np.ones(100), has_tails=False)
