"""Several outputs, each with a noise model of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rio_uq._base.array import Array
from rio_uq.gp.noise.constant import Constant
from rio_uq.gp.noise.contract import Noise, Response
from rio_uq.gp.posterior import Posterior


@dataclass(frozen=True)
class Several:
    """A noise model for each output.

    Attributes
    ----------
    models : tuple of Noise
        Each of one output.
    """

    models: tuple[Noise, ...]

    @property
    def varies(self) -> bool:
        return any(model.varies for model in self.models)

    def response(self, rows: Array, targets: Array, posterior: Posterior) -> Response:
        return Response(targets)

    def variance(self, rows: Array, level: Array, n_jobs: int = 1) -> Array:
        columns = [model.variance(rows, level[[output]], n_jobs) for output, model in enumerate(self.models)]
        return np.hstack(columns)


def of_outputs(models: Sequence[Noise]) -> Noise:
    """The models of all outputs as one."""
    if len(models) == 1 or all(model == Constant() for model in models):
        return models[0]
    return Several(tuple(models))
