"""The log marginal likelihoods that a search has visited, and when."""

from __future__ import annotations

import time
from collections.abc import Callable


class OutOfTimeError(Exception):
    """A search has used up its seconds."""


class Trace:
    """Processor seconds since it was made, and the likelihood then, of each evaluation.

    Parameters
    ----------
    most_seconds : float
        After which the next evaluation raises `OutOfTimeError`.
    clock : callable
        Seconds of the processor.
    """

    def __init__(self, most_seconds: float, clock: Callable[[], float] = time.process_time) -> None:
        self.points: list[tuple[float, float]] = []
        self.most_seconds, self._clock, self._began = most_seconds, clock, clock()

    def add(self, value: float) -> None:
        seconds = self._clock() - self._began
        self.points.append((seconds, float(value)))
        if seconds > self.most_seconds:
            raise OutOfTimeError

    @property
    def best(self) -> float:
        return max(value for _, value in self.points)


def seconds_to(level: float, points: list[tuple[float, float]]) -> float | None:
    """When a search first was at a likelihood or above it; None if it never was.

    Examples
    --------
    >>> seconds_to(-5.0, [(1.0, -9.0), (2.0, -4.0), (3.0, -6.0)])
    2.0
    """
    return next((seconds for seconds, value in points if value >= level), None)
