"""The problems that engines are measured on: data, start values and inducing points, the same for everybody."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Problem:
    """n rows of d features and one prediction, with residuals; an I/O kernel of two RBF terms; m inducing points.

    Without inducing points inference is exact.
    """

    n: int
    d: int
    m: int
    ard: bool = False

    @property
    def name(self) -> str:
        points = f", m = {self.m}" if self.m else ""
        return f"n = {self.n:,}, d = {self.d}{points}{', ARD' if self.ard else ''}"

    def arrays(self) -> dict[str, np.ndarray]:
        """Rows (n, d + 1), residuals (n, 1), points (m, d + 1) and start values, the same at every call."""
        rng = np.random.default_rng(self.n + self.d)
        rows = rng.standard_normal((self.n, self.d + 1))
        signal = np.sin(2.0 * rows[:, 0]) + 0.5 * rows[:, 1] * rows[:, -1] + 0.3 * np.tanh(3.0 * rows[:, -1])
        residuals = signal + 0.3 * rng.standard_normal(self.n)
        return {
            "rows": rows,
            "residuals": residuals[:, None],
            "points": rows[: self.m].copy(),
            "lengthscale": np.array(np.sqrt(self.d)),
            "noise_variance": np.array(0.5),
            "ard": np.array(self.ard),
        }

    def save(self, folder: Path) -> Path:
        path = folder / f"{self.n}-{self.d}-{self.m}-{int(self.ard)}.npz"
        if not path.exists():
            np.savez(path, **self.arrays())
        return path


EVALUATIONS = (
    Problem(1_000, 8, 50),
    Problem(36_584, 9, 50),
    Problem(36_584, 9, 500),
    Problem(42_800, 384, 50),
    Problem(463_715, 90, 50),
)
FITS = (Problem(1_000, 8, 50), Problem(36_584, 9, 50))
PREDICTIONS = (Problem(2_000, 9, 50), Problem(2_000, 9, 500))
