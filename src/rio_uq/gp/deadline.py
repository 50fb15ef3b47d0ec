"""When a fit has to end: searches stop at the best point so far, and stages that could be done without are left out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

TIME_IS_UP = "the time budget is used up"
"""Message of a search that was stopped."""


@dataclass(frozen=True)
class Deadline:
    """The end of a time budget.

    Attributes
    ----------
    end : float
        By the clock; infinite where time does not matter.
    clock : callable
        Gives seconds that never go back.
    left_out : list of str
        Stages that were left out for want of time, which all parts of a deadline share.

    Examples
    --------
    >>> seconds = iter([0.0, 4.0, 4.0, 12.0])
    >>> deadline = Deadline.after(10.0, clock=lambda: next(seconds))
    >>> deadline.left, deadline.allows(7.0), deadline.has_passed
    (6.0, False, True)
    """

    end: float = float("inf")
    clock: Callable[[], float] = time.monotonic
    left_out: list[str] = field(default_factory=list, compare=False)

    @classmethod
    def after(cls, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """From now on; None for never."""
        return cls(clock=clock) if seconds is None else cls(clock() + seconds, clock)

    @property
    def left(self) -> float:
        """Seconds that are left, less than none where it has passed."""
        return self.end - self.clock()

    @property
    def has_passed(self) -> bool:
        return not self.left > 0.0

    def allows(self, seconds: float) -> bool:
        """Whether something that takes so long would still be in time."""
        return self.left >= seconds

    def leaves_out(self, stage: str, seconds: float = 0.0) -> bool:
        """Whether a stage that takes so long has to be left out, which is noted."""
        left = self.left
        is_late = left <= 0.0 or left < seconds
        if is_late and stage not in self.left_out:
            self.left_out.append(stage)
        return is_late

    def part(self, share: float) -> Deadline:
        """An earlier one, at which this share of what is left will have gone."""
        left = self.left
        return replace(self, end=self.end - (1.0 - share) * left) if 0.0 < left < float("inf") else self


NEVER = Deadline()
