"""Other ways to train the sparse GP than that of `rio_uq.gp.training`, for the benchmark of levers."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from rio_uq.gp.inference.contract import Objective
from rio_uq.gp.inference.sparse import SparseObjective
from rio_uq.gp.optimize import Optimum, maximize
from rio_uq.gp.training import Explored, Trained, _Trainer

FEW = 2_000
"""Rows of small subsets."""

DIFFERENCE = 1e-4
"""Step in the logarithms over which gradients are differenced."""

Array = np.ndarray


class Growing(_Trainer):
    """The first stage on subsets of growing size, each from the optimum of the last."""

    def explore(self, starts: list[Array], n_rows: int) -> Explored:
        first = super().explore(starts, n_rows // 5)
        return super().explore([first.x], n_rows)._replace(start=first.start)


class Float32First(_Trainer):
    """The first stage on rows of float32."""

    def explore(self, starts: list[Array], n_rows: int) -> Explored:
        rough = _Trainer(**{field.name: getattr(self, field.name) for field in fields(self)})
        return replace(rough, data=replace(self.data, dtype=np.float32)).explore(starts, n_rows)


def _with_prior(trainer: _Trainer, problem: Objective, x: Array) -> tuple[float, Array]:
    value, gradient = problem(x)
    log_density, pull = trainer.prior(x)
    return value + log_density, gradient + pull


class NaturalScaling(_Trainer):
    """L-BFGS on x/s, with s² the inverse curvature along each parameter where an optimisation starts.

    The curvature comes from differences of gradients on at most `FEW` rows, which cost little.
    """

    def _maximize(
        self, problem: Objective, x: Array, max_iter: int, tolerance: float, label: str, some_of: Any = None
    ) -> Optimum:
        x = np.clip(x, *self.bounds.T)
        scale = self._scale(problem, x)

        def objective(z: Array) -> tuple[float, Array]:
            value, gradient = _with_prior(self, problem, z * scale)
            return value, gradient * scale

        bounds = self.bounds / scale[:, None]
        optimum = maximize(objective, x / scale, bounds, max_iter=max_iter, tolerance=tolerance)
        return replace(optimum, x=optimum.x * scale)

    def _scale(self, problem: Objective, x: Array) -> Array:
        data, share = problem.data, 1.0
        if len(data) > FEW and isinstance(problem, SparseObjective):
            share = FEW / len(data)
            few = data.subset(np.sort(self.rng.choice(len(data), FEW, replace=False)))
            problem = SparseObjective(self.kernel, few, problem.points, move_points=False)
        at_start = problem(x)[1]
        steps = DIFFERENCE * np.eye(len(x))
        curvature = np.array([(problem(x + step)[1] - at_start)[i] / DIFFERENCE for i, step in enumerate(steps)])
        curvature = np.abs(curvature) / share + self.prior.precision
        return 1.0 / np.sqrt(np.maximum(curvature, 1.0))  # where it is flat, a unit of the logarithm


class SecondOrder(_Trainer):
    """The stage on all rows by trust-region Newton steps (trust-ncg), with products of Hessian and vector from
    differences of gradients. Beyond its bounds the objective is taken to be flat.
    """

    def run(self, explored: Explored) -> Trained:
        return _NewtonSteps(**{field.name: getattr(self, field.name) for field in fields(self)}).run(explored)


class _NewtonSteps(_Trainer):
    def _maximize(
        self, problem: Objective, x: Array, max_iter: int, tolerance: float, label: str, some_of: Any = None
    ) -> Optimum:
        evaluated: dict[bytes, tuple[float, Array]] = {}

        def objective(x: Array) -> tuple[float, Array]:
            key = x.tobytes()
            if key not in evaluated:
                inside = np.clip(x, *self.bounds.T)
                value, gradient = _with_prior(self, problem, inside)
                evaluated[key] = -value, -gradient * (inside == x)
            return evaluated[key]

        def product(x: Array, v: Array) -> Array:
            step = DIFFERENCE / np.linalg.norm(v)
            return (objective(x + step * v)[1] - objective(x)[1]) / step

        last = np.inf

        def stop_where_nothing_is_gained(intermediate_result: OptimizeResult) -> None:
            nonlocal last
            gain, last = last - intermediate_result.fun, intermediate_result.fun
            if 0.0 < gain < tolerance * max(1.0, abs(last)):  # none at all: a step that was too long
                raise StopIteration

        optimum: Any = minimize(
            objective,
            np.clip(x, *self.bounds.T),
            jac=True,
            hessp=product,
            method="trust-ncg",
            callback=stop_where_nothing_is_gained,
            options={"maxiter": max_iter, "gtol": 1e-5},
        )
        best = np.clip(optimum.x, *self.bounds.T)
        return Optimum(best, -float(optimum.fun), int(optimum.nit), optimum.nit < max_iter, str(optimum.message))
