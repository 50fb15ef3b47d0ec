"""From a problem and options to a GP, with the model or without it, whichever predicts left-out rows better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rio_uq._base.array import Array
from rio_uq._base.warnings import warn_user
from rio_uq.gp.backend.threads import effective_jobs, single_blas_thread
from rio_uq.gp.deadline import NEVER, TIME_IS_UP, Deadline
from rio_uq.gp.fit import KernelChoice, TrainedGP, fit_residual_gp
from rio_uq.gp.inference import inference_for
from rio_uq.gp.inference.contract import Inference
from rio_uq.gp.kernels.io import Kernel
from rio_uq.gp.left_out import LeftOut
from rio_uq.gp.problem import Problem
from rio_uq.gp.residual import ResidualGP
from rio_uq.gp.settings import Settings
from rio_uq.gp.without_model import ModelChoice, choose_model, stray_share
from rio_uq.options import Options, training_settings
from rio_uq.outcome_scaling import on_scale
from rio_uq.rows.contract import Source
from rio_uq.scales.outputs import OutcomeScales

COARSE, PLAIN_ITERATIONS = 1e-4, 50
"""Relative gain of an iteration at which quick training ends, and iterations that a plain GP has then."""


@dataclass(frozen=True)
class Trainer:
    """Fits the GP of a problem with the options of the user."""

    options: Options
    rng: np.random.Generator
    deadline: Deadline = NEVER

    def __call__(self, problem: Problem, *, keeps_constant: bool, first_end: Array | None = None) -> TrainedGP:
        settings = training_settings(self.options, problem.features.shape[1], problem.y_pred.shape[1])
        settings = replace(settings, deadline=self.deadline)
        training = self.options.training
        return self._fit(problem, settings, training.starts, training.guard, keeps_constant, first_end)

    def may_do_without_model(self, problem: Problem) -> bool:
        """Whether it is worth a second GP: not where a user has chosen a part of the method, nor where a few points are
        to stand for rows, nor where folds of the user's own keep groups apart, whose number is small.
        """
        options, training = self.options, self.options.training
        is_default = options.is_residual and options.kernel == "io" and training.starts == "auto" and training.guard
        return is_default and problem.fold is None and self._inference(problem).keeps_rows

    def trains_folds(self, problem: Problem) -> bool:
        return self._inference(problem).trains_folds

    def _inference(self, problem: Problem) -> Inference:
        return inference_for(Settings(self.options.inference), len(problem.features))

    def without_model(self, kernel: Kernel) -> Trainer:
        """For a plain GP on outcomes, with the input kernel of another: how rough outcomes are was asked once."""
        families = "+".join(kernel.terms[number].family for number in kernel.part("input"))
        return replace(self, options=replace(self.options, target="outcome", kernel="input", input_kernel=families))

    def quickly(self, problem: Problem, max_iter: int) -> TrainedGP:
        """Well enough to compare problems: exactly, from one start, with few iterations and a coarse tolerance."""
        max_iter = min(max_iter, self.options.max_iter)
        settings = Settings("exact", max_iter=max_iter, tolerance=COARSE, deadline=self.deadline)
        return self._fit(problem, settings, "rio")

    def with_constant_noise(self) -> Trainer:
        """For errors alone."""
        return replace(self, options=replace(self.options, noise="constant"))

    def _fit(
        self,
        problem: Problem,
        settings: Settings,
        starts: str,
        guard: bool = False,
        keeps_constant: bool = False,
        first_end: Array | None = None,
    ) -> TrainedGP:
        options, training = self.options, self.options.training
        with single_blas_thread:
            return fit_residual_gp(
                problem,
                KernelChoice(options.kernel, options.input_kernel, options.output_kernel, options.ard),
                settings,
                standardize_output=training.standardize_output,
                starts=starts,
                n_restarts=training.n_restarts,
                prior=training.prior,
                noise=options.noise,
                guard=guard,
                average=training.average,
                keeps_constant=keeps_constant,
                are_counts=options.weights == "counts",
                walk_options=walk_options_of(options),
                rng=self.rng,
                first_end=first_end,
            )


def with_or_without_model(
    problem: Problem,
    scales: OutcomeScales,
    train: Trainer,
    *,
    may_choose: bool,
    gain_of_model: Callable[[], float] | None = None,
) -> tuple[ResidualGP, LeftOut, ModelChoice | None]:
    """The GP that predicts left-out rows better: that on residuals, or a plain one that does without the model; and
    what was compared, if it was.

    Where rows are left out by folds, the plain one is trained quickly first. Its rows are left out one by one then, at
    hyperparameters that have seen them: if it does not win by these errors, it will not by those of folds, which are
    larger. Where single rows are left out in any case, a plain GP has more rows than clones have whose errors may be
    those with the model: it has to win as well if these err as the model does, by ``gain_of_model``, which fits clones
    and is not begun without time. It takes over in any case from a model whose clones do not speak for it. Each GP has
    to be done in the time that is left, if it takes as long as the first one did.
    """
    began = train.deadline.clock()
    trained = train(on_scale(problem, scales), keeps_constant=scales.is_another)
    seconds = train.deadline.clock() - began
    if not may_choose or not train.may_do_without_model(problem):
        return *trained, None
    stray = 0.0 if problem.own is None else stray_share(problem.own, problem.y_pred)
    stage = "a GP without the model"
    if train.deadline.leaves_out(stage, seconds):
        return *trained, None
    outcomes = on_scale(replace(problem, is_residual=False, held_out=None, own=None, like_clones=None), scales)
    train, first_end = train.without_model(trained.gp.posterior.kernel), None
    if train.trains_folds(problem):
        quick = train.with_constant_noise().quickly(outcomes, PLAIN_ITERATIONS)
        first_end = quick.optimum
        choice = choose_model(trained.left_out, quick.left_out, by_errors_alone=True, stray=stray)
        if choice.uses_model:
            return *trained, choice
        if train.deadline.leaves_out(stage, seconds):
            return *trained, None
    without_model = train(outcomes, keeps_constant=False, first_end=first_end)
    choice = choose_model(trained.left_out, without_model.left_out, stray=stray)
    if not (choice.uses_model or choice.stray) and gain_of_model is not None and not train.trains_folds(problem):
        if train.deadline.leaves_out(stage):
            return *trained, None
        choice = choose_model(trained.left_out, without_model.left_out, gain=gain_of_model())
    return *(trained if choice.uses_model else without_model), choice


def warn_unless_converged(gp: ResidualGP) -> None:
    if not gp.converged and gp.message != TIME_IS_UP:
        warn_user(
            f"the optimiser stopped after {gp.n_iter} iterations before it had converged ({gp.message}): raise "
            "max_iter, or tol if this is good enough",
            ConvergenceWarning,
        )


def walk_options_of(options: Options, source: Source | None = None) -> dict[str, Any]:
    """How the engine walks over rows."""
    memory = {"cache_bytes": 0} if options.training.low_memory else {}
    n_jobs = effective_jobs(options.n_jobs) if source is None else source.n_jobs(options.n_jobs)
    return {"n_jobs": n_jobs, "dtype": np.dtype(options.training.dtype), **memory}
