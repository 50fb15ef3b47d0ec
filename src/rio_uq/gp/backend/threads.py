"""How many threads there are: those of BLAS, and those that walk over rows."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _blas_threads() -> int:
    return max((info["num_threads"] for info in _controller().info() if info["user_api"] == "blas"), default=1)


class _SingleBlasThread:
    """BLAS on one thread while anybody is inside, as before when the last one has left.

    Threads of rows and threads of BLAS must not multiply. Threads of OpenBLAS also spin for a while after their work
    and take the processor away from others, so the engine does without them altogether.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit = ExitStack()
        self._threads_before = 1

    def threads(self) -> int:
        """Threads that BLAS uses where nobody is inside."""
        with self._lock:
            return self._threads_before if self._inside else _blas_threads()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._threads_before = _blas_threads()
                self._limit.enter_context(_controller().limit(limits=1, user_api="blas"))
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.close()


single_blas_thread = _SingleBlasThread()


def effective_jobs(n_jobs: int | None) -> int:
    """The number of threads meant by ``n_jobs``.

    None stands for as many as BLAS would use here (so that OMP_NUM_THREADS and joblib are heard), −1 for all
    processors that this process may use, −2 for all but one, and so on.
    """
    if n_jobs is None:
        return single_blas_thread.threads()
    if n_jobs < 0:
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, processors + 1 + n_jobs)
    return n_jobs


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=single_blas_thread.reset)
