"""Threads of BLAS and of rows do not multiply."""

from concurrent.futures import ThreadPoolExecutor

from threadpoolctl import threadpool_info, threadpool_limits

from rio_uq.gp.backend.threads import effective_jobs, single_blas_thread
from rio_uq.gp.backend.walking import walk


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
