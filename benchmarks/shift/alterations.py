"""Rows that a model was not made for: shifted ones, those of other data, and inputs altered against a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lab.base_models import Network

SHIFTS = (2, 4)
"""Standard deviations of the training inputs."""

STEPS = (0.1, 0.3, 1.0)
"""Of the fast gradient sign method, in standardised inputs."""

ONE_FEATURE = {size: f"one feature, {size} std" for size in SHIFTS}
ALL_FEATURES = {size: f"all features, {size} std" for size in SHIFTS}
OTHER_DATA = "other data"
ATTACKS = {step: f"FGSM, ε = {step:g}" for step in STEPS}
CLEAN = "clean"
KINDS = (*ONE_FEATURE.values(), *ALL_FEATURES.values(), OTHER_DATA, *ATTACKS.values())


@dataclass(frozen=True)
class Alteration:
    """Altered test rows.

    Attributes
    ----------
    kind : str
        One of `KINDS`, or `CLEAN`.
    label : str
        Which one of its kind.
    X : (n, d) array
    keeps_outcome : bool
        Whether the rows still have the outcomes of the test rows that they come from.
    """

    kind: str
    label: str
    X: np.ndarray
    keeps_outcome: bool = False


def shifts(X: np.ndarray, scale: np.ndarray) -> Iterator[Alteration]:
    """Each feature in turn and all at once, up and down by so many standard deviations.

    Parameters
    ----------
    X : (n, d) array
    scale : (d,) array
        Standard deviations of the training inputs.
    """
    d = X.shape[1]
    for size in SHIFTS:
        for sign, direction in ((1, "up"), (-1, "down")):
            step = sign * size * scale
            for i, alone in enumerate(np.diag(step)):
                yield Alteration(ONE_FEATURE[size], f"feature {i + 1} of {d} {direction} by {size} std", X + alone)
            yield Alteration(ALL_FEATURES[size], f"all features {direction} by {size} std", X + step)


def rows_of_other_data(other: np.ndarray, offset: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The inputs of another data set as if they were rows of this one.

    They are standardised by their own mean and standard deviation, surplus columns are cut off, missing ones are filled
    with this data set's mean; so each column alone looks much as it should, and only together are they strange.

    Parameters
    ----------
    other : (n, e) array
    offset, scale : (d,) arrays
        Mean and standard deviation of this data set's training inputs.
    """
    spread = other.std(axis=0)
    standardized = (other - other.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    columns = np.zeros((len(other), len(offset)))
    n_shared = min(columns.shape[1], standardized.shape[1])
    columns[:, :n_shared] = standardized[:, :n_shared]
    return offset + scale * columns


def attacked(network: Network, X: np.ndarray, y: np.ndarray, step: float) -> np.ndarray:
    """The fast gradient sign method: x + ε sign(∂(ŷ(x) − y)²/∂x), x standardised.

    Parameters
    ----------
    network : Network
    X : (n, d) array
    y : (n,) array
    step : float
        ε.
    """
    import torch

    inputs = torch.from_numpy(((X - network.offset) / network.scale).astype(np.float32)).requires_grad_()
    errors = network.layers(inputs)[:, 0] - torch.from_numpy(y.astype(np.float32))
    (gradient,) = torch.autograd.grad((errors**2).sum(), inputs)
    return X + step * network.scale * np.sign(gradient.numpy())


def alterations(network: Network, X: np.ndarray, y: np.ndarray, other: np.ndarray) -> Iterator[Alteration]:
    """All that is done to the test rows X (n, d) with outcomes y, the rows themselves first."""
    yield Alteration(CLEAN, CLEAN, X, keeps_outcome=True)
    yield from shifts(X, network.scale)
    yield Alteration(OTHER_DATA, OTHER_DATA, rows_of_other_data(other, network.offset, network.scale))
    for step, kind in ATTACKS.items():
        yield Alteration(kind, kind, attacked(network, X, y, step), keeps_outcome=True)
