"""NNGP (Lee et al., 2018): exact GP regression with the kernel of an infinitely wide ReLU network.

What follows the paper: two hidden layers, 30 × 30 values of σ_w² and σ_b², a noise variance of 0.01, the end of the
search when a Cholesky decomposition fails. What the paper leaves open, or is done otherwise here:

- The kernel has a closed form for ReLU, so that no integral is tabulated (the paper's n_g, n_v and n_c).
- Features and outcomes are normalised to mean 0 and variance 1. The prior has mean 0 and, over the grid, variances
  from near 0 to 51; a noise variance of 0.01 is then a tenth of the standard deviation of y.
- The grid search judges by the squared error on a random fifth of the training rows, for the original work chose by
  held-out rows as well; the best point is then conditioned on all training rows.
- The error bars are those of an outcome: the noise variance is part of them. The original code returns the latent
  variance alone.

In the first run of yacht, ENB/h, ENB/c and airfoil no decomposition failed; the RMSE was 1.2, 0.7, 1.5 and 1.8 where
the paper has 12.4, 5.0, 4.9 and 6.5. The first point of the grid alone gives about
the paper's errors: its searches may have ended early.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from sklearn.preprocessing import StandardScaler

from experiments.measures import Answer
from lab.runs import Rows
from lab.splits import held_out_rows

DEPTH = 2
NOISE_VARIANCE = 0.01
WEIGHT_VARIANCES = np.linspace(0.1, 5.0, 30)
BIAS_VARIANCES = np.linspace(0.0, 2.0, 30)
BLOCK_ROWS = 64
"""Rows of a kernel matrix that are worked on at once: they stay in the cache."""


@dataclass(frozen=True)
class Network:
    """An infinitely wide network: the variances of its weights, σ_w², and biases, σ_b², and its hidden layers."""

    weight_variance: float
    bias_variance: float
    depth: int = DEPTH

    def variances(self, squares: np.ndarray) -> list[np.ndarray]:
        """k(x, x) of every layer, from |x|²/d of each row: K⁰ = σ_b² + σ_w² |x|²/d, then Kˡ = σ_b² + σ_w² Kˡ⁻¹ / 2."""
        layers = [self.bias_variance + self.weight_variance * squares]
        for _ in range(self.depth):
            layers.append(self.bias_variance + self.weight_variance / 2 * layers[-1])
        return layers

    def kernel(self, gram: np.ndarray, row_squares: np.ndarray, column_squares: np.ndarray) -> np.ndarray:
        """Kernel matrix of the outputs.

        With cos θ = Kˡ⁻¹(x, x') / √(Kˡ⁻¹(x, x) Kˡ⁻¹(x', x')),

            K⁰(x, x') = σ_b² + σ_w² x·x'/d
            Kˡ(x, x') = σ_b² + σ_w²/2π √(Kˡ⁻¹(x, x) Kˡ⁻¹(x', x')) (sin θ + (π − θ) cos θ)

        Parameters
        ----------
        gram : (n, m) array
            x·x'/d.
        row_squares, column_squares : (n,) and (m,) arrays
            |x|²/d of the rows and of the columns.
        """
        return self._blocks(gram, row_squares, column_squares, lower=False)

    def lower_kernel(self, gram: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """The kernel matrix of rows with themselves, up to the diagonal; what is above it has no meaning."""
        return self._blocks(gram, squares, squares, lower=True)

    def _blocks(
        self, gram: np.ndarray, row_squares: np.ndarray, column_squares: np.ndarray, *, lower: bool
    ) -> np.ndarray:
        row_stds = [np.sqrt(layer) for layer in self.variances(row_squares)]
        column_stds = [np.sqrt(layer) for layer in self.variances(column_squares)]
        values = np.zeros_like(gram)
        for start in range(0, len(gram), BLOCK_ROWS):
            rows, columns = slice(start, start + BLOCK_ROWS), slice(start + BLOCK_ROWS if lower else None)
            block = self.weight_variance * gram[rows, columns]
            block += self.bias_variance
            for row_std, column_std in zip(row_stds[: self.depth], column_stds[: self.depth], strict=True):
                self._next_layer(block, np.outer(row_std[rows], column_std[columns]))
            values[rows, columns] = block
        return values

    def _next_layer(self, block: np.ndarray, scale: np.ndarray) -> None:
        """From Kˡ⁻¹ to Kˡ in place, where ``scale`` = √(Kˡ⁻¹(x, x) Kˡ⁻¹(x', x'))."""
        cosine = np.divide(block, scale, out=block, where=scale > 0.0)
        np.clip(cosine, -1.0, 1.0, out=cosine)
        angle = np.arccos(cosine)
        sine = np.multiply(cosine, cosine)
        np.sqrt(np.subtract(1.0, sine, out=sine), out=sine)
        cosine *= np.subtract(np.pi, angle, out=angle)
        cosine += sine
        cosine *= scale
        cosine *= self.weight_variance / (2 * np.pi)
        cosine += self.bias_variance


@dataclass(frozen=True)
class GridSearch:
    """The best point of a grid, how many points were evaluated before the search ended, and the time of one of them."""

    network: Network
    squared_error: float
    n_evaluated: int
    seconds_each: float


def predict(
    network: Network, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, noise_variance: float = NOISE_VARIANCE
) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean and variance of outcomes at new rows, the noise included.

    Parameters
    ----------
    X, y : (n, d) and (n,) arrays
        Normalised.
    X_new : (m, d) array
    """
    d = X.shape[1]
    squares, new_squares = np.sum(X**2, axis=1) / d, np.sum(X_new**2, axis=1) / d
    factor = _factor(network.lower_kernel(X @ X.T / d, squares), noise_variance)
    cross = network.kernel(X_new @ X.T / d, new_squares, squares)
    whitened = solve_triangular(factor, cross.T, trans="T")
    latent_variance = network.variances(new_squares)[-1] - np.sum(whitened**2, axis=0)
    return cross @ cho_solve((factor, False), y), np.maximum(latent_variance, 0.0) + noise_variance


def grid_search(
    X: np.ndarray,
    y: np.ndarray,
    validation: np.ndarray,
    weight_variances: np.ndarray = WEIGHT_VARIANCES,
    bias_variances: np.ndarray = BIAS_VARIANCES,
    noise_variance: float = NOISE_VARIANCE,
) -> GridSearch:
    """The variances with the least squared error on the validation rows, those of the biases varying fastest.

    Parameters
    ----------
    X, y : (n, d) and (n,) arrays
        Normalised.
    validation : (n,) array of bool
        Rows that are predicted from all others.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the first Cholesky decomposition fails.
    """
    train, held = X[~validation], X[validation]
    d = X.shape[1]
    squares, held_squares = np.sum(train**2, axis=1) / d, np.sum(held**2, axis=1) / d
    gram, held_gram = train @ train.T / d, held @ train.T / d
    best, best_error, n_evaluated = None, np.inf, 0
    began = ended = time.perf_counter()
    for weight_variance, bias_variance in itertools.product(weight_variances, bias_variances):
        network = Network(float(weight_variance), float(bias_variance))
        try:
            factor = _factor(network.lower_kernel(gram, squares), noise_variance)
        except LinAlgError:
            break
        mean = network.kernel(held_gram, held_squares, squares) @ cho_solve((factor, False), y[~validation])
        error = float(np.mean((mean - y[validation]) ** 2))
        n_evaluated += 1
        if error < best_error:
            best, best_error = network, error
        ended = time.perf_counter()
    if best is None:
        raise LinAlgError(
            "the Cholesky decomposition failed at the first point of the grid: "
            "use a larger noise variance, or check the features for values that are not finite"
        )
    return GridSearch(best, best_error, n_evaluated, (ended - began) / n_evaluated)


def _factor(lower_kernel: np.ndarray, noise_variance: float) -> np.ndarray:
    """U with UᵀU = K + σ² I; it takes the place of the kernel matrix."""
    lower_kernel.flat[:: len(lower_kernel) + 1] += noise_variance
    factor, _ = cho_factor(lower_kernel.T, lower=False, overwrite_a=True, check_finite=False)
    return factor


def nngp(rows: Rows, seed: int) -> Answer:
    """NNGP as a method of the tables.

    Its time is that of the grid search; where that ended early, the mean time of a point times all points, as in the
    paper.
    """
    features = StandardScaler().fit(rows.X_train)
    offset, scale = rows.y_train.mean(), rows.y_train.std() or 1.0
    X, y = features.transform(rows.X_train), (rows.y_train - offset) / scale
    search = grid_search(X, y, held_out_rows(len(y), seed))
    mean, variance = predict(search.network, X, y, features.transform(rows.X_test))
    seconds = search.seconds_each * len(WEIGHT_VARIANCES) * len(BIAS_VARIANCES)
    return Answer(offset + scale * mean, scale * np.sqrt(variance), None, seconds)
