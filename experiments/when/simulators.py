"""Closed formulas of physics, and cheaper or wrong versions of them as models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.when.problem import N_TEST, Function, Problem, noisy, simulator, uniform
from experiments.when.tables import generator

BOREHOLE = np.array(
    [
        (0.05, 0.15),
        (100.0, 50_000.0),
        (63_070.0, 115_600.0),
        (990.0, 1110.0),
        (63.1, 116.0),
        (700.0, 820.0),
        (1120.0, 1680.0),
        (9855.0, 12_045.0),
    ]
).T
"""Bounds (2, 8) of r_w, r, T_u, H_u, T_l, H_l, L, K_w, after Harper and Gupta (1983)."""

WING = np.array(
    [
        (150.0, 200.0),
        (220.0, 300.0),
        (6.0, 10.0),
        (-10.0, 10.0),
        (16.0, 45.0),
        (0.5, 1.0),
        (0.08, 0.18),
        (2.5, 6.0),
        (1700.0, 2500.0),
        (0.025, 0.08),
    ]
).T
"""Bounds (2, 10) of S_w, W_fw, A, Λ (degrees), q, λ, t_c, N_z, W_dg, W_p, after Forrester, Sóbester and Keane
(2008).
"""

NOISE_SHARE = 0.05
"""Standard deviation of the noise of a measured row, in those of the truth."""

DAMPING, WRONG_DAMPING, OSCILLATOR_NOISE = 0.08, 0.05, 0.02
DRAG, WRONG_DRAG, POWER_NOISE = 0.36, 0.30, 0.3
BEYOND = (0.0, 0.25, 0.5, 1.0)
"""How far test rows are beyond the training range, in its widths; 0 is within it."""


def borehole(X: np.ndarray) -> np.ndarray:
    """Flow of water through a borehole: 2πT_u(H_u − H_l) / (ln(r/r_w) (1 + 2LT_u/(ln(r/r_w) r_w²K_w) + T_u/T_l))."""
    return _borehole(X, 2.0 * np.pi, 1.0)


def cheap_borehole(X: np.ndarray) -> np.ndarray:
    """Its low-fidelity version of Xiong, Qian and Wu (2013): 5 in the place of 2π, and 1.5 in that of 1."""
    return _borehole(X, 5.0, 1.5)


def _borehole(X: np.ndarray, factor: float, constant: float) -> np.ndarray:
    r_w, r, T_u, H_u, T_l, H_l, L, K_w = X.T
    log = np.log(r / r_w)
    return np.asarray(
        factor * T_u * (H_u - H_l) / (log * (constant + 2.0 * L * T_u / (log * r_w**2 * K_w) + T_u / T_l))
    )


def wing_weight(X: np.ndarray) -> np.ndarray:
    """Weight of a light aircraft's wing, in pounds.

    0.036 S_w^0.758 W_fw^0.0035 (A/cos²Λ)^0.6 q^0.006 λ^0.04 (100t_c/cosΛ)^−0.3 (N_zW_dg)^0.49 + S_wW_p
    """
    S_w, W_fw, A, sweep, q, taper, t_c, N_z, W_dg, W_p = X.T
    cosine = np.cos(np.deg2rad(sweep))
    geometry = S_w**0.758 * (A / cosine**2) ** 0.6 * taper**0.04 * (100.0 * t_c / cosine) ** -0.3
    return np.asarray(0.036 * geometry * W_fw**0.0035 * q**0.006 * (N_z * W_dg) ** 0.49 + S_w * W_p)


def cheap_wing_weight(X: np.ndarray) -> np.ndarray:
    """Without paint, sweep, taper, fuel and dynamic pressure, and with rounded exponents."""
    S_w, _, A, _, _, _, t_c, N_z, W_dg, _ = X.T
    return np.asarray(0.036 * S_w**0.75 * np.sqrt(A * N_z * W_dg) * (100.0 * t_c) ** -0.3)


def measured(truth: Function, cheap: Function, bounds: np.ndarray) -> Callable[[int, int], Problem]:
    """Few measured rows of a truth whose cheap version is the model."""

    def problem(n: int, run: int) -> Problem:
        rng = generator(truth.__name__, n, run)
        X, X_test = (uniform(*bounds, n_rows, rng) for n_rows in (n, N_TEST))
        noise = NOISE_SHARE * float(np.std(truth(X_test)))
        train, test = noisy(truth, X, noise, rng), noisy(truth, X_test, noise, rng)
        return Problem(train, {float(n): test}, (simulator("cheap version", cheap),))

    return problem


def oscillator(damping: float) -> Function:
    """Displacement A exp(−ζωt) cos(ω√(1 − ζ²)t) by the columns t, A, ω."""

    def displacement(X: np.ndarray) -> np.ndarray:
        t, amplitude, omega = X.T
        swing = np.cos(omega * np.sqrt(1.0 - damping**2) * t)
        return np.asarray(amplitude * np.exp(-damping * omega * t) * swing)

    return displacement


def power(drag: float) -> Function:
    """Power in kW that a car needs, (½ρC_dFv² + C_r m g + m g s) v by the columns v, m, s: speed, mass, slope."""

    def needed(X: np.ndarray) -> np.ndarray:
        speed, mass, slope = X.T
        return np.asarray((0.5 * 1.2 * drag * 2.2 * speed**2 + 9.81 * mass * (0.01 + slope)) * speed / 1000.0)

    return needed


OSCILLATOR = np.array([(0.0, 10.0), (0.5, 1.5), (0.8, 1.2)]).T
POWER = np.array([(10.0, 25.0), (1000.0, 2000.0), (0.0, 0.03)]).T
"""Bounds (2, 3) of the training rows; test rows go beyond in the first column."""


def beyond(
    name: str, truth: Function, wrong: Function, bounds: np.ndarray, noise: float
) -> Callable[[int, int], Problem]:
    """Training on a range, tests in it and further and further beyond, under the formula with one wrong coefficient."""

    def problem(n: int, run: int) -> Problem:
        rng = generator(name, n, run)
        train = noisy(truth, uniform(*bounds, n, rng), noise, rng)
        tests = {
            how_far: noisy(truth, uniform(*shifted(bounds, how_far), N_TEST, rng), noise, rng) for how_far in BEYOND
        }
        return Problem(train, tests, (simulator("one wrong coefficient", wrong),))

    return problem


def shifted(bounds: np.ndarray, how_far: float) -> np.ndarray:
    """Bounds whose first column ends so many widths beyond its range, and begins where the one before ended."""
    if how_far == 0.0:
        return bounds
    moved = bounds.copy()
    upper, width = bounds[1, 0], bounds[1, 0] - bounds[0, 0]
    previous = BEYOND[BEYOND.index(how_far) - 1]
    moved[:, 0] = upper + previous * width, upper + how_far * width
    return moved
