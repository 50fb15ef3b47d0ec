"""Walking over rows."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from rio_uq.gp.rows import Rows, block_rows_for, effective_jobs, single_blas_thread, sum_over_rows, walk


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


def blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def test_blas_has_one_thread_inside_a_walk_and_as_many_as_before_after():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert walk(10, 5, 2, lambda span, blocks: blas_threads()) == [{1}, {1}]
        assert blas_threads() == before


def test_blas_is_restored_when_threads_come_and_go_in_any_order():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(4) as executor:
            list(executor.map(lambda _: walk(100, 10, 2, lambda span, blocks: span), range(50)))
        assert blas_threads() == before


def test_number_of_jobs():
    assert effective_jobs(3) == 3
    assert effective_jobs(-1) >= 1
    assert effective_jobs(-1000) == 1
    with single_blas_thread:
        assert effective_jobs(None) == 1


def test_blocks_are_smaller_for_more_points():
    assert block_rows_for(10) > block_rows_for(50) > block_rows_for(500) >= 512


def test_moments_are_weighted(rng):
    rows, weight = rng.normal(size=(50, 3)), rng.uniform(size=50)
    np.testing.assert_allclose(Rows(rows, rows[:, :1], weight).moments, weight @ rows**2)
    np.testing.assert_allclose(Rows(rows, rows[:, :1]).moments, (rows**2).sum(axis=0))
