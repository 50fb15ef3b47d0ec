"""GPflow's SVGP, with its own start values and precision, in the environment of `lab/peers/requirements.txt`."""

from __future__ import annotations

from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from benchmarks.large.peers.batches import RATE, batches, inducing_rows

PREDICTED_AT_ONCE = 1000


def train(X: np.ndarray, y: np.ndarray, run: int) -> Any:
    """With a Matérn 5/2 kernel of a lengthscale for each column, and inducing points that move."""
    tf.random.set_seed(run)
    rng = np.random.default_rng(run)
    model = gpflow.models.SVGP(
        gpflow.kernels.Matern52(lengthscales=np.ones(X.shape[1])),
        gpflow.likelihoods.Gaussian(),
        X[inducing_rows(len(y), rng)],
        mean_function=gpflow.functions.Constant(),
        num_data=len(y),
    )
    optimizer = tf.keras.optimizers.Adam(RATE)
    variables = model.trainable_variables
    rows, outcome = tf.constant(X), tf.constant(y[:, None])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])  # batches differ in length
    def step(batch: tf.Tensor) -> None:
        with tf.GradientTape() as tape:
            loss = model.training_loss((tf.gather(rows, batch), tf.gather(outcome, batch)))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    for batch in batches(len(y), rng):
        step(tf.constant(batch))
    return model


def predict(trained: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of outcomes."""
    of_rows = tf.function(trained.predict_y, input_signature=[tf.TensorSpec([None, X.shape[1]], tf.float64)])
    parts = []
    for start in range(0, len(X), PREDICTED_AT_ONCE):
        mean, variance = of_rows(tf.constant(X[start : start + PREDICTED_AT_ONCE]))
        parts.append(np.hstack([mean.numpy(), np.sqrt(variance.numpy())]))
    return tuple(np.concatenate(parts).T)
