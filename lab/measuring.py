"""Clocks and peak memory."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Stopwatch:
    """Seconds by the clock and of this process on a processor, by the name of what took them."""

    def __init__(self) -> None:
        self.measured: dict[str, float] = {}

    @contextmanager
    def time(self, name: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), _processor_seconds()
        yield
        self.measured[f"{name}_seconds"] = round(time.perf_counter() - wall, 3)
        self.measured[f"{name}_cpu_seconds"] = round(_processor_seconds() - cpu, 3)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def seconds_of(work: Callable[[], Any]) -> float:
    """Seconds by the clock that a call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def peak_kib() -> int:
    """Peak memory of this process.

    On Linux of its own program alone: what `resource` says there includes that of the process that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1024 if sys.platform == "darwin" else 1)


def peak_mib() -> int:
    return peak_kib() // 1024
