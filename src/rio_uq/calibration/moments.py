"""Moments of outcomes whose distribution is known on another scale."""

from __future__ import annotations

import numpy as np

from rio_uq._base.array import Array
from rio_uq.calibration.scores import normal_nodes
from rio_uq.scales.outputs import OutcomeScales

BLOCK_NUMBERS = 2_000_000
"""Outcomes at all nodes that are worked off at a time."""


def moments(scales: OutcomeScales, centre: Array, spread: Array, nodes: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of g⁻¹(centre + spread Z) for each row and output, both (n, q).

    Parameters
    ----------
    centre, spread : (n, q) arrays
    nodes : (n or 1, q or 1, k) array
        Quantiles of Z at the probabilities Φ(x) of the nodes x of `rio_uq.calibration.scores.normal_nodes`.
    """
    _, weight = normal_nodes()
    mean, std = np.empty_like(centre), np.empty_like(centre)
    block = max(1, BLOCK_NUMBERS // (len(weight) * centre.shape[1]))
    for start in range(0, len(centre), block):
        rows = slice(start, start + block)
        scores = nodes if len(nodes) == 1 else nodes[rows]
        outcome = scales.inverse(centre[rows, :, None] + spread[rows, :, None] * scores)
        mean[rows] = outcome @ weight
        std[rows] = np.sqrt(((outcome - mean[rows, :, None]) ** 2) @ weight)
    return mean, std
