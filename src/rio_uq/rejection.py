"""Which predictions a person should look at: those whose error bars are too wide. Pure functions on arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rio_uq._base.array import Array, Mask
from rio_uq._base.checks import to_numeric


def check_rules(rules: Mapping[str, Any], calibration: Any) -> None:
    """Raise unless one of threshold, budget and target_error was given, with calibration rows where it needs them."""
    chosen = [name for name, value in rules.items() if value is not None]
    if len(chosen) != 1:
        raise ValueError(f"give one of threshold, budget and target_error; got {' and '.join(chosen) or 'none'}")
    if chosen == ["threshold"] and calibration is not None:
        raise ValueError("threshold needs no calibration rows: leave them out, or give budget or target_error")
    if chosen == ["target_error"] and calibration is None:
        raise ValueError(
            "target_error needs calibration=(X, y): rows that neither the model nor fit has seen, to measure errors"
        )


def unsafety(std: Array, noise_variance: Any) -> Array:
    """One number for each row, (n,): larger is less safe.

    With several outputs a row is as safe as its least safe output, measured in units of each output's noise.
    """
    return std if std.ndim == 1 else np.asarray((std / np.sqrt(noise_variance)).max(axis=1))


def threshold_for_budget(score: Array, budget: float) -> float:
    """The smallest threshold at or below which are at least that share of the scores (n,)."""
    n_kept = int(np.ceil(budget * len(score) - 1e-9))  # 0.07 · 100 is a little more than 7
    if n_kept == 0:
        return -np.inf
    if n_kept == len(score):
        return np.inf
    return float(np.partition(score, n_kept - 1)[n_kept - 1])


def threshold_for_error(score: Array, error: Array, target: float) -> float:
    """The largest of the scores (n,) such that the mean error (n,) of all rows at or below it is at most the target."""
    order = np.argsort(score, kind="stable")
    ordered = score[order]
    risk = np.cumsum(error[order]) / np.arange(1, len(score) + 1)
    is_last_of_its_score = np.append(ordered[1:] > ordered[:-1], True)
    reached = np.flatnonzero(is_last_of_its_score & (risk <= target))
    if not len(reached):
        best = int(np.argmin(np.where(is_last_of_its_score, risk, np.inf)))
        raise ValueError(
            f"a mean error of {target:.4g} is out of reach: the safest {best + 1} of the {len(score)} calibration rows "
            f"have {risk[best]:.4g}, and no other number of them has less; raise target_error"
        )
    return float(ordered[reached[-1]])


def rowwise(mask: Mask) -> Mask:
    """A mask of shape (n,) or (n, q) as one of rows: any output counts."""
    return np.asarray(mask if mask.ndim == 1 else mask.any(axis=1))


def check_threshold(threshold: Any, output_shape: tuple[int, ...]) -> Array:
    array = to_numeric(threshold, "threshold")
    if array.shape not in ((), output_shape):
        one_each = f", or {output_shape[0]} of them, one for each output" if output_shape else ""
        raise ValueError(f"threshold has to be one number{one_each}; got shape {array.shape}")
    if np.isnan(array).any():
        raise ValueError("threshold is NaN, and no standard deviation is larger or smaller than that")
    return array


def check_number(value: Any, name: str, largest: float) -> float:
    array = to_numeric(value, name)
    if array.shape != () or not 0.0 <= array <= largest:
        bounds = "of zero or more" if np.isinf(largest) else f"between 0 and {largest:.0f}"
        raise ValueError(f"{name} has to be a number {bounds}; got {value!r}")
    return float(array)
