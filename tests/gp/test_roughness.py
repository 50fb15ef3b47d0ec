"""Near rows tell how rough a function is."""

import numpy as np
import pytest

from rio_uq.gp.deadline import Deadline
from rio_uq.gp.inference.exact import MarginalLikelihood
from rio_uq.gp.inference.nearest import NearestObjective
from rio_uq.gp.inference.neighbours import Neighbours
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.roughness import ORDERS, likeliest_order
from rio_uq.gp.starts import Scales

N_ROWS = 2400


def drawn_from(order, rng):
    """Rows of a line, and values of a Gaussian process of this order there, with a little noise."""
    x = np.sort(rng.uniform(0.0, 30.0, size=N_ROWS))[:, None]
    kernel = io_kernel(1, 0, input_family=order, kind="input")
    matrix = kernel.matrix(np.zeros(kernel.n_parameters), x, x)
    values = np.linalg.cholesky(matrix + 1e-8 * np.eye(N_ROWS)) @ rng.normal(size=(N_ROWS, 1))
    return Observations(x, values + 0.01 * rng.normal(size=values.shape))


@pytest.mark.parametrize("order", ["matern52", "matern12"])
def test_the_order_that_values_were_drawn_from_is_found(order, rng):
    data = drawn_from(order, rng)
    kernels = {name: io_kernel(1, 0, input_family=name, kind="input") for name in ORDERS}
    assert likeliest_order(kernels, data, Scales.of(data, 1, 0.0), 20) == order


@pytest.mark.parametrize("budget", [0.0, 7.0])
def test_searches_for_an_order_end_in_time(budget, rng, monkeypatch):
    """But for an evaluation of each; the usual order is taken if there is no time for all."""
    now, evaluate = {"seconds": 0.0}, MarginalLikelihood.__call__

    def timed(self, *arguments):
        now["seconds"] += 1.0
        return evaluate(self, *arguments)

    monkeypatch.setattr(MarginalLikelihood, "__call__", timed)
    data, deadline = drawn_from("matern12", rng), Deadline.after(budget, lambda: now["seconds"])
    kernels = {name: io_kernel(1, 0, input_family=name, kind="input") for name in ORDERS}
    assert likeliest_order(kernels, data, Scales.of(data, 1, 0.0), 20, deadline) == ORDERS[0]
    assert now["seconds"] <= budget + 2.0  # of two starts
    assert deadline.left_out == ["the order of the Matérn kernel"]


def test_the_order_of_noise_is_the_usual_one(rng):
    data = Observations(rng.uniform(size=(N_ROWS, 2)), rng.normal(size=(N_ROWS, 1)))
    kernels = {name: io_kernel(2, 0, input_family=name, kind="input") for name in ORDERS}
    assert likeliest_order(kernels, data, Scales.of(data, 2, 0.0), 20) == ORDERS[0]


def test_a_local_step_needs_no_weights_of_features(rng):
    rows = rng.normal(size=(N_ROWS, 2))
    data = Observations(rows, np.sin(3.0 * rows[:, :1]))
    kernel = io_kernel(1, 1, input_family="matern52", output_family="rbf+linear")
    x = np.append(np.zeros(kernel.n_parameters), np.log(0.1))
    step = NearestObjective(kernel, data, 20).local_step(x)
    assert np.isfinite(step.loss)
    assert step.x[-1] < x[-1]  # there is no noise


def test_a_path_has_every_row_once_and_near_rows_in_a_row(rng):
    rows = rng.normal(size=(2000, 3))
    kernel = io_kernel(3, 0, input_family="rbf", kind="input")
    neighbours = Neighbours.of(kernel, np.zeros(kernel.n_parameters), rows)
    path = neighbours.path(rows)
    assert np.array_equal(np.sort(path), np.arange(2000))
    step, of_any = (np.linalg.norm(np.diff(some, axis=0), axis=1).mean() for some in (rows[path], rows))
    assert step < 0.6 * of_any
    assert len(neighbours.path(rows[:0])) == 0
    assert np.array_equal(neighbours.path(np.zeros((3, 3))), np.arange(3))
