"""The list of worlds."""

from __future__ import annotations

import numpy as np

from benchmarks.worlds import models, noise, truths
from benchmarks.worlds.world import World

AUTO_POINTS = {"n_inducing": "auto"}
FRIEDMAN = {"truth": truths.friedman, "inputs": truths.uniform_inputs}
ROUGH = {"d": 2, "truth": truths.rough, "inputs": truths.wide_inputs, "model": models.CONSTANT}
FAR = {"test_inputs": truths.far_inputs, "shift": "far"}
NEAR = {"test_inputs": truths.near_inputs, "shift": "near"}

NORMAL_NOISE = [World(f"normal-n{n}", n, 3) for n in (5, 10, 20, 30, 50, 100, 300, 1000, 3000)]

NOTHING_TO_LEARN = [
    World(f"nothing-d{d}-n{n}", n, d, truth=truths.linear)
    for d, n in ((1, 15), (1, 100), (10, 20), (20, 100), (20, 300), (200, 300), (500, 100))
]

SHAPES_OF_NOISE = [
    World("by-x-n50", 50, 3, noise.BY_X),
    World("by-x-n300", 300, 3, noise.BY_X),
    World("by-mean-n300", 300, 3, noise.BY_MEAN, truth=truths.positive),
    World("by-step-n300", 300, 3, noise.BY_STEP),
    World("t3-n30", 30, 3, noise.T3),
    World("t3-n100", 100, 3, noise.T3),
    World("t3-n1000", 1000, 3, noise.T3),
    World("t2-n30", 30, 3, noise.T2),
    World("t2-n300", 300, 3, noise.T2),
    World("cauchy-n30", 30, 3, noise.CAUCHY),
    World("cauchy-n300", 300, 3, noise.CAUCHY),
    World("lognormal-n30", 30, 3, noise.LOGNORMAL),
    World("lognormal-n300", 300, 3, noise.LOGNORMAL),
    World("exponential-n20", 20, 3, noise.EXPONENTIAL),
    World("exponential-n100", 100, 3, noise.EXPONENTIAL),
    World("uniform-n20", 20, 3, noise.UNIFORM),
    World("uniform-n100", 100, 3, noise.UNIFORM),
    World("bimodal-n30", 30, 3, noise.BIMODAL),
    World("bimodal-n300", 300, 3, noise.BIMODAL),
    World("poisson-n300", 300, 3, noise.POISSON, truth=truths.positive),
    World("rounded-n100", 100, 3, noise.rounded(1.0)),
    World("rounded-coarse-n300", 300, 3, noise.rounded(0.2)),
    World("zero-inflated-n100", 100, 3, noise.ABOVE_ONE, models.SCALED, truths.above_one),
    World("zero-inflated-n1000", 1000, 3, noise.ABOVE_ONE, models.SCALED, truths.above_one),
    World("zeros-n30", 30, 3, noise.ZEROS, truth=truths.positive),
    World("zeros-n300", 300, 3, noise.ZEROS, truth=truths.positive),
    World("outliers5-n30", 30, 3, noise.OUTLIERS_5),
    World("outliers5-n300", 300, 3, noise.OUTLIERS_5),
    World("outliers30-n100", 100, 3, noise.OUTLIERS_30),
    *(World(f"exp-n{n}", n, 1, noise.FACTOR, models.MEDIAN, truths.exponential) for n in (300, 1000, 2500)),
    World("all-zero-n20", 20, 3, noise.NONE, models.SMALL, truths.nought),
]

WRONG_MODELS = [
    World("biased-n30", 30, 3, model=models.BIASED),
    World("biased-n10", 10, 3, model=models.BIASED),
    World("half-n30", 30, 3, model=models.SCALED),
    World("half-n100", 100, 3, model=models.SCALED),
    World("double-n100", 100, 3, model=models.DOUBLE),
    World("reversed-n100", 100, 3, model=models.REVERSED),
    World("constant-n20", 20, 3, model=models.CONSTANT),
    World("constant-n100", 100, 3, model=models.CONSTANT),
    World("random-n30", 30, 3, model=models.RANDOM),
    World("random-n300", 300, 3, model=models.RANDOM),
    World("factor-n300", 300, 3, model=models.MULTIPLICATIVE, truth=truths.positive),
    World("missing-part-n30", 30, 3, model=models.HALF),
    World("missing-part-n1000", 1000, 3, model=models.HALF),
    World("missing-part-n3000", 3000, 3, model=models.HALF),
    *(World(f"rough-n{n}", n, noise=noise.normal(0.05), **ROUGH) for n in (2000, 2001)),
    World("rough-auto-n2001", 2001, noise=noise.normal(0.05), options=AUTO_POINTS, **ROUGH),
    World("few-inputs-d100-n200", 200, 100, noise.normal(0.3), models.CONSTANT, truths.of_few_inputs),
    World("few-inputs-d500-n1000", 1000, 500, noise.normal(0.3), models.CONSTANT, truths.of_few_inputs),
]

HEAVY = {
    "t3": noise.T3,
    "t2": noise.T2,
    "cauchy": noise.CAUCHY,
    "outliers5": noise.OUTLIERS_5,
    "outliers30": noise.OUTLIERS_30,
    "far-outliers2": noise.outliers(0.02, 100.0),
    "lognormal": noise.LOGNORMAL,
}
HEAVY_TAILS = [
    *(World(f"half-{name}-n100", 100, 3, law, models.SCALED) for name, law in HEAVY.items()),
    *(World(f"missing-part-{name}-n300", 300, 3, law, models.HALF) for name, law in HEAVY.items()),
    World("ridge-outliers5-n100", 100, 3, noise.OUTLIERS_5, models.RIDGE),
    World("ridge-t3-n1000", 1000, 3, noise.T3, models.RIDGE),
    World("far-outliers20-n300", 300, 3, noise.outliers(0.2, 100.0)),
]

TRAINED_MODELS = [
    World("forest-n30", 30, 5, model=models.FOREST, **FRIEDMAN),
    World("forest-n100", 100, 10, model=models.FOREST, **FRIEDMAN),
    World("forest-n300", 300, 5, model=models.FOREST, **FRIEDMAN),
    World("forest-nothing-n100", 100, 5, model=models.FOREST, truth=truths.nought),
    World("forest-t3-n300", 300, 3, noise.T3, models.FOREST),
    World("boosting-n100", 100, 5, model=models.BOOSTING, **FRIEDMAN),
    World("boosting-n300", 300, 10, model=models.BOOSTING, **FRIEDMAN),
    World("ridge-n20", 20, 5, model=models.RIDGE, truth=truths.linear),
    World("ridge-n50", 50, 20, model=models.RIDGE, truth=truths.linear),
    World("least-squares-n60", 60, 45, model=models.LEAST_SQUARES, truth=truths.linear),
    World("least-squares-n100", 100, 80, model=models.LEAST_SQUARES, truth=truths.linear),
    World("ridge-n300", 300, 10, model=models.RIDGE, **FRIEDMAN),
    World("ridge-lognormal-n720", 720, 19, noise.LOGNORMAL, models.RIDGE, truths.linear),
]


def _same(weight: float) -> World:
    return World(f"weights-{weight:g}-n100", 100, 3, weights=lambda rng, n: np.full(n, weight))


WEIGHTS_AND_COPIES = [
    *(_same(weight) for weight in (10.0, 1000.0, 0.01)),
    World("weights-sum-to-1-n100", 100, 3, weights=lambda rng, n: np.full(n, 1.0 / n)),
    World("weights-uneven-n100", 100, 3, weights=lambda rng, n: rng.exponential(size=n)),
    World("copies-sparse-n2500", 2500, 3, copies=10, options={"inference": "sparse"}),
    World("copies-exact-n300", 300, 3, copies=10),
    World("coarse-n300", 300, 1, noise.ZERO_OR_ONE, truth=truths.rare, inputs=truths.coarse_inputs),
]

OUTPUTS = [
    World("two-outputs-n100", 100, 3, truth=truths.two),
    World("one-field-n300", 300, 3, noise.ONE_FIELD, truth=truths.two),
    World("five-outputs-n100", 100, 3, truth=truths.five),
]

INPUTS = [
    World("lognormal-inputs-n100", 100, 3, truth=truths.linear, inputs=truths.lognormal_inputs),
    World("collinear-inputs-n100", 100, 10, inputs=truths.collinear_inputs),
    World("near-n30", 30, 3, model=models.HALF, **NEAR),
    World("near-n300", 300, 3, model=models.HALF, **NEAR),
    World("near-perfect-n100", 100, 3, **NEAR),
    World("far-n15", 15, 3, truth=truths.linear, **FAR),
    World("far-n100", 100, 3, **FAR),
    World("far-half-n300", 300, 3, model=models.SCALED, **FAR),
]

SERIES = {"noise": noise.LASTING, "inputs": truths.slow_inputs}
IN_TIME = [
    World("series-n100", 100, 3, **SERIES),
    World("series-n300", 300, 3, **SERIES),
    World("series-n1000", 1000, 3, **SERIES),
    World("series-half-n300", 300, 3, model=models.SCALED, **SERIES),
    World("series-ridge-n300", 300, 3, model=models.RIDGE, **SERIES),
    World("series-forest-n300", 300, 3, model=models.FOREST, **SERIES),
    World("lasting-n300", 300, 3, noise.LASTING),
]

CONFORMAL = [
    World("ties-n100", 100, 1, noise.TWO_VALUES, models.MIDDLE, truths.middle, truths.coarse_inputs, calibration=100),
    World("groups-n300", 300, 3, calibration=300, n_groups=3),
]

WORLDS = {
    world.name: world
    for world in [
        *NORMAL_NOISE,
        *NOTHING_TO_LEARN,
        *SHAPES_OF_NOISE,
        *WRONG_MODELS,
        *HEAVY_TAILS,
        *TRAINED_MODELS,
        *WEIGHTS_AND_COPIES,
        *OUTPUTS,
        *INPUTS,
        *IN_TIME,
        *CONFORMAL,
    ]
}
