"""All methods of the comparison in their groups, and what the page says of them."""

from __future__ import annotations

from benchmarks.quality import around_network, rio, trees
from benchmarks.quality.answers import Answer
from benchmarks.quality.promises import ABLATION, CONSTANT_NOISE
from benchmarks.quality.protocol import Method, Run


def deep_ensemble(run: Run) -> Answer:
    """See `benchmarks.quality.networks`."""
    from benchmarks.quality import networks

    return networks.deep_ensemble(run)


def mc_dropout(run: Run) -> Answer:
    """See `benchmarks.quality.networks`."""
    from benchmarks.quality import networks

    return networks.mc_dropout(run)


def last_layer_laplace(run: Run) -> Answer:
    """See `benchmarks.quality.networks`."""
    from benchmarks.quality import networks

    return networks.last_layer_laplace(run)


CALIBRATED: dict[str, Method] = {
    "NN+RIO scaled": rio.calibrated_on_network("variance"),
    "NN+RIO conformal": rio.calibrated_on_network("conformal"),
}

GROUPS: dict[str, dict[str, Method]] = {
    "networks": {
        "NN": around_network.constant_variance,
        "NN+RIO paper": rio.on_network("network", variant="RIO"),
        "NN+RIO": rio.on_network("network", use_validation=True),
        "NN+RIO cross-fit": rio.on_network("folds"),
        **CALIBRATED,
        "NN+MAPIE": around_network.split_conformal,
        "NN+Laplace": last_layer_laplace,
        "deep ensemble": deep_ensemble,
        "MC dropout": mc_dropout,
    },
    "trees": {
        "ET": trees.alone(trees.extra_trees),
        "ET+RIO": rio.cross_fit(trees.extra_trees),
        "GB": trees.alone(trees.gradient_boosting),
        "GB+RIO": rio.cross_fit(trees.gradient_boosting),
        "CatBoost": trees.alone(lambda seed: trees.CatBoost(seed=seed)),
        "CatBoost+RIO": rio.cross_fit(lambda seed: trees.CatBoost(seed=seed)),
        "CatBoost uncertainty": trees.catboost_uncertainty(scaled=False),
        "CatBoost scaled": trees.catboost_uncertainty(scaled=True),
        "NGBoost": trees.ngboost,
        "quantile forest": trees.quantile_forest,
        "MAPIE CQR": trees.conformal_quantiles,
    },
    "no model": {"GP": rio.plain_gp},
    ABLATION: {CONSTANT_NOISE: rio.on_network("folds", noise="constant")},
}
