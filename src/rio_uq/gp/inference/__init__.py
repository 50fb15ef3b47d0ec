"""Ways to the posterior, by name."""

from __future__ import annotations

from rio_uq.gp.inference.chosen import Chosen
from rio_uq.gp.inference.contract import Inference
from rio_uq.gp.inference.exact import Exact
from rio_uq.gp.inference.nearest import Nearest
from rio_uq.gp.inference.sparse import Sparse
from rio_uq.gp.inference.svgp import SVGP
from rio_uq.gp.settings import Settings

INFERENCES: dict[str, Inference] = {"exact": Exact(), "sparse": Sparse(), "svgp": SVGP(), "nearest": Nearest()}

EXACT_ROWS = 2000
"""Up to this many rows, "auto" is exact; above, left-out rows choose between nearest rows and inducing points."""


def inference_for(settings: Settings, n_rows: int) -> Inference:
    """The way of inference that the settings name, or that suits the number of rows."""
    if settings.inference != "auto":
        return INFERENCES[settings.inference]
    return INFERENCES["exact"] if n_rows <= EXACT_ROWS else Chosen()
