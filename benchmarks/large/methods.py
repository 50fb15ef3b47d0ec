"""Methods by the names that they have on the page: RIO on a model, RIO's GP alone, and others."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.defaults import peers as mapie
from benchmarks.large.answers import Answer
from benchmarks.large.models import alone, boosting, network, rio_alone, rio_on
from benchmarks.large.peers.answers import elsewhere, here
from benchmarks.large.problems import Split


def conformal_quantiles(split: Split, run: int) -> Answer:
    """LightGBM with a model for each bound, conformalised by MAPIE."""
    measured = mapie.measure("CQR", "LightGBM", tuple(split), run)
    return Answer(measured, measured.pop("seconds"), float("nan"))


OURS: dict[str, Callable[[Split, int], Answer]] = {
    "boosting": alone(boosting),
    "auto on boosting": rio_on(boosting, "auto"),
    "nearest on boosting": rio_on(boosting, "nearest"),
    "sparse on boosting": rio_on(boosting, "sparse"),
    "network": alone(network),
    "auto on network": rio_on(network, "auto"),
    "auto alone": rio_alone("auto"),
    "auto alone on own scale": rio_alone("auto", scale="identity"),
    "nearest alone": rio_alone("nearest"),
    "sparse alone": rio_alone("sparse"),
}
PEERS: dict[str, Callable[[Split, int], Answer]] = {
    "LightGBM CQR": conformal_quantiles,
    "GPyTorch SVGP": here("svgp"),
    "GPyTorch VNNGP": here("vnngp"),
    "MuyGPyS": here("muygps"),
    "GPflow SVGP": elsewhere("gpflow_svgp"),
}
METHODS = OURS | PEERS
