"""Walking over rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_uq.gp.backend.walking import block_rows_for, sum_over_rows, walk


@given(n=st.integers(0, 300), block_rows=st.integers(1, 50), n_jobs=st.integers(1, 4))
def test_every_row_is_visited_once_and_in_order(n, block_rows, n_jobs):
    spans = walk(
        n, block_rows, n_jobs, lambda span, blocks: [i for _, rows in blocks for i in range(rows.start, rows.stop)]
    )
    assert [i for span in spans for i in span] == list(range(n))


def test_sums_do_not_depend_on_threads(rng):
    values = rng.normal(size=1000)
    one, two = (
        sum_over_rows(1000, 64, n_jobs, lambda span, block: [values[block[1]].sum(keepdims=True)])[0]
        for n_jobs in (1, 3)
    )
    np.testing.assert_allclose(one, two, rtol=1e-12)
    np.testing.assert_allclose(one, values.sum())


def test_an_error_in_a_thread_reaches_the_caller():
    def work(span, blocks):
        raise RuntimeError(f"span {span}")

    with pytest.raises(RuntimeError, match="span"):
        walk(100, 10, 2, work)


def test_blocks_are_smaller_for_more_points():
    assert block_rows_for(10) > block_rows_for(50) > block_rows_for(500) >= 512
