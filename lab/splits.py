"""Rows that are held out of training."""

from __future__ import annotations

import numpy as np

HELD_OUT_SHARE = 0.2


def held_out_rows(n_rows: int, seed: int, share: float = HELD_OUT_SHARE) -> np.ndarray:
    """A random 20 % of the rows for early stopping, calibration or a search, (n,) of bool."""
    held_out = np.zeros(n_rows, dtype=bool)
    held_out[np.random.default_rng(seed).permutation(n_rows)[: round(share * n_rows)]] = True
    return held_out
