"""The lemma under Theorem 1: the error of a GP on f, whose prior is right, by the classical trace formula.

    E^f_GP = tr (Λ⁻¹ + σ_n⁻² ΦΦᵀ)⁻¹    E^{r_f}_GP = tr (α⁻¹Λ⁻¹ + σ_n⁻² ΦΦᵀ)⁻¹

with eigenvalues Λ of the kernel and eigenfunctions Φ at the training points. It is the posterior variance, mean over x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.theory.construction import KERNEL, Setting
from experiments.theory.learner import conditioned, generators, prediction, prior_draws
from rio_uq.gp.posterior import predict

SETTING = Setting()
ALPHAS = (0.25, 1.0)
TRAINING_SIZES = (4, 8, 16, 32, 64, 128)


def generalization_on_f(
    repeats: int,
    seed: int,
    *,
    setting: Setting = SETTING,
    alphas: Sequence[float] = ALPHAS,
    training_sizes: Sequence[int] = TRAINING_SIZES,
) -> pd.DataFrame:
    """E^f_GP and E^{r_f}_GP, measured and by the classical trace formula, on points without pairs and without g.

    Returns
    -------
    DataFrame
        One line for each repeat, α and number of rows ``n``: the measured ``error``, the ``trace`` formula, and the
        mean ``posterior_variance`` over the unit square by quadrature.
    """
    eigenfunctions = {alpha: Eigenfunctions.of(setting.theta(alpha)) for alpha in alphas}
    lines = []
    for n in training_sizes:
        for repeat, rng in enumerate(generators(seed, repeats)):
            rows = rng.uniform(size=(n + setting.n_test, 2))
            (f,) = prior_draws(KERNEL, setting.theta(), rows, 1, rng)
            xi = rng.normal(scale=np.sqrt(setting.noise), size=n)
            for alpha in alphas:
                psi, expansion = np.sqrt(alpha) * f, eigenfunctions[alpha]
                learner = conditioned(KERNEL, expansion.theta, setting.noise, rows[:n], psi[:n] + xi)
                lines.append(
                    {
                        "repeat": repeat,
                        "alpha": alpha,
                        "n": n,
                        "error": np.mean((psi[n:] - prediction(learner, rows[n:])) ** 2),
                        "trace": trace_formula(expansion, setting.noise, rows[:n]),
                        "posterior_variance": float(expansion.weights @ predict(learner, expansion.nodes)[1][:, 0]),
                    }
                )
    return pd.DataFrame(lines)


@dataclass(frozen=True)
class Eigenfunctions:
    """Eigenvalues and eigenfunctions of k under the uniform distribution p(x) on the unit square.

    They solve ∫ k(x, x') φ(x) p(x) dx = λ φ(x'), here by quadrature: with W the diagonal matrix of the weights p of the
    nodes z and W^½ K W^½ = U Λ Uᵀ

        φ_j(x) = Σ_m p_m^½ k(x, z_m) U_mj / λ_j

    Attributes
    ----------
    theta : (2,) array
        Log-parameters of k.
    nodes : (m, 2) array
    weights : (m,) array
        p of the nodes.
    values : (J,) array
        λ
    vectors : (m, J) array
        W^½ U
    """

    theta: np.ndarray
    nodes: np.ndarray
    weights: np.ndarray
    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(cls, theta: np.ndarray, n_nodes: int = 20) -> Eigenfunctions:
        """With the Gauss–Legendre rule of n_nodes² nodes; eigenvalues that are zero up to rounding are left out."""
        x, w = np.polynomial.legendre.leggauss(n_nodes)
        x, w = (x + 1.0) / 2.0, w / 2.0
        nodes, weights = np.column_stack([np.repeat(x, n_nodes), np.tile(x, n_nodes)]), np.outer(w, w).ravel()
        root = np.sqrt(weights)
        values, vectors = np.linalg.eigh(root[:, None] * KERNEL.matrix(theta, nodes, nodes) * root)
        kept = values > 1e-12 * values.max()
        return cls(theta, nodes, weights, values[kept], root[:, None] * vectors[:, kept])

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Φ_ji = φ_j(x_i), shape (J, n)."""
        return self.vectors.T @ KERNEL.matrix(self.theta, self.nodes, rows) / self.values[:, None]


def trace_formula(eigenfunctions: Eigenfunctions, noise: float, rows: np.ndarray) -> float:
    """E^f_GP = tr (Λ⁻¹ + σ⁻² ΦΦᵀ)⁻¹, as Σ_j λ_j [(I + σ⁻² Λ^½ΦΦᵀΛ^½)⁻¹]_jj, which inverts no eigenvalue."""
    scaled = np.sqrt(eigenfunctions.values)[:, None] * eigenfunctions(rows)
    inverse = np.linalg.inv(np.eye(len(scaled)) + scaled @ scaled.T / noise)
    return float(eigenfunctions.values @ inverse.diagonal())
