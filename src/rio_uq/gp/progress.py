"""A progress bar for the optimiser: iterations done, the bound, the time left at most."""

from __future__ import annotations

import sys
import time


class ProgressBar:
    """On a terminal the bar moves in place; elsewhere a line is written every few seconds.

    Parameters
    ----------
    label : str
    max_iter : int
    """

    def __init__(self, label: str, max_iter: int) -> None:
        self.label, self.max_iter = label, max_iter
        self.stream = sys.stderr
        self.in_place = self.stream.isatty()
        self.began = self.written = time.monotonic()

    def update(self, iteration: int, bound: float) -> None:
        """Show an iteration, unless the last one was shown a moment ago."""
        now = time.monotonic()
        if now - self.written >= (0.1 if self.in_place else 5.0):
            self.written = now
            left = (now - self.began) * (self.max_iter / iteration - 1)
            self._write(iteration, bound, f"at most {left:.0f} s left", "" if self.in_place else "\n")

    def finish(self, iteration: int, bound: float) -> None:
        """Show the end."""
        self._write(iteration, bound, f"done in {time.monotonic() - self.began:.1f} s", "\n")

    def _write(self, iteration: int, bound: float, state: str, end: str) -> None:
        filled = min(20, round(20 * iteration / self.max_iter))
        bar = "█" * filled + "·" * (20 - filled)
        start = "\r\033[K" if self.in_place else ""
        self.stream.write(f"{start}{self.label:<22} {bar} iteration {iteration:>4}  bound {bound:14.4f}  {state}{end}")
        self.stream.flush()
