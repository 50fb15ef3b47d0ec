"""The lines that examples print: predictions before and after RIO, on rows that neither the model nor RIO has seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rio_uq import metrics


class Comparison(NamedTuple):
    """RMSE of the model alone and with RIO, and the share of outcomes inside the 95 % intervals."""

    before: float
    after: float
    coverage: float


def compare(name: str, y: Any, y_pred: Any, mean: Any, std: Any) -> Comparison:
    """Print one line, and return its numbers."""
    comparison = Comparison(
        metrics.rmse(y, np.ravel(y_pred)),
        metrics.rmse(y, mean),
        metrics.coverage(y, mean, std, confidence_level=0.95),
    )
    print(
        f"{name}: RMSE {comparison.before:.3g} alone, {comparison.after:.3g} with RIO; "
        f"95 % intervals hold {comparison.coverage:.1%} of {len(y)} new outcomes"
    )
    return comparison
