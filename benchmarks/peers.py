"""GPflow and GPyTorch behind one small interface; runs in the peers' own environment, asked by `benchmarks.engine`.

It reads one JSON request a line from standard input, all for one engine and one problem, and answers each with one:

    {"engine": "GPflow SGPR", "task": "evaluate", "problem": "….npz", "repeats": 5}   → seconds of each, bound
    {"engine": …, "task": "fit", "problem": …, "max_iter": 100}                       → trace of (seconds, bound)
    {"engine": …, "task": "predict", "problem": …, "n_rows": 1000000}                 → seconds
"""

from __future__ import annotations

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
from scipy.optimize import minimize


class GPflow:
    """SGPR (the collapsed bound) or SVGP (the uncollapsed one, full batch: the paper's engine)."""

    def __init__(self, problem, kind):
        import gpflow
        import tensorflow as tf

        self.tf, self.n_columns = tf, problem["rows"].shape[1]
        rows, residuals, points = problem["rows"], problem["residuals"], problem["points"]
        d = rows.shape[1] - 1
        lengthscale = float(problem["lengthscale"])
        lengthscales = np.full(d, lengthscale) if problem["ard"] else lengthscale
        kernel = gpflow.kernels.RBF(active_dims=list(range(d)), lengthscales=lengthscales) + gpflow.kernels.RBF(
            active_dims=[d], lengthscales=np.ones(1) if problem["ard"] else 1.0
        )
        noise = float(problem["noise_variance"])
        if kind == "SGPR":
            self.model = gpflow.models.SGPR((rows, residuals), kernel, points.copy(), noise_variance=noise)
            loss = self.model.training_loss
        else:
            likelihood = gpflow.likelihoods.Gaussian(noise)
            self.model = gpflow.models.SVGP(kernel, likelihood, points.copy(), num_data=len(rows))
            loss = self.model.training_loss_closure((rows, residuals), compile=False)
        variables = self.model.trainable_variables

        @tf.function
        def evaluate():
            with tf.GradientTape() as tape:
                value = loss()
            return value, tape.gradient(value, variables)

        self._evaluate, self._loss = evaluate, loss

    def evaluate(self):
        value, gradients = self._evaluate()
        gradients[-1].numpy()
        return -float(value.numpy())

    def fit(self, max_iter, max_seconds=float("inf")):
        """Trace of (seconds, bound): first the start values, when the graph is compiled, then each iteration.

        ``stopped`` says what ended the fit if it was not the optimiser; the model is then at the last iteration.
        """
        import gpflow

        optimizer, variables, self.stopped = gpflow.optimizers.Scipy(), self.model.trainable_variables, ""
        began = time.perf_counter()
        reached = optimizer.initial_parameters(variables).numpy()
        loss, _ = optimizer.eval_func(self._loss, variables, tf_fun_args={})(reached)  # `minimize` uses it again
        trace = [(time.perf_counter() - began, -float(loss))]

        def note(intermediate_result):
            nonlocal reached
            reached = intermediate_result.x.copy()
            trace.append((time.perf_counter() - began, -float(intermediate_result.fun)))
            if trace[-1][0] > max_seconds:
                self.stopped = f"cut off after {max_seconds:g} s"
                raise StopIteration

        try:
            optimizer.minimize(self._loss, variables, callback=note, options={"maxiter": max_iter})
        except self.tf.errors.InvalidArgumentError as error:  # a kernel matrix that is not positive definite
            self.stopped = error.message.splitlines()[0]
            optimizer.assign_tensors(variables, optimizer.unpack_tensors(variables, reached))
        return trace

    def predict(self, rows):
        predict = self.tf.function(self.model.predict_y)
        for start in range(0, len(rows), 10_000):
            predict(rows[start : start + 10_000])[1].numpy()


class GPyTorch:
    """SGPR."""

    def __init__(self, problem, kind):
        import gpytorch
        import torch

        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(os.cpu_count())
        self.torch, self.gpytorch, self.n_columns = torch, gpytorch, problem["rows"].shape[1]
        rows, residuals = torch.from_numpy(problem["rows"]), torch.from_numpy(problem["residuals"][:, 0])
        points = torch.from_numpy(problem["points"].copy())
        d, is_ard = rows.shape[1] - 1, bool(problem["ard"])
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        likelihood.noise = float(problem["noise_variance"])

        def rbf(columns, lengthscale):
            kernel = gpytorch.kernels.RBFKernel(
                active_dims=torch.tensor(columns), ard_num_dims=len(columns) if is_ard else None
            )
            kernel.lengthscale = lengthscale
            scaled = gpytorch.kernels.ScaleKernel(kernel)
            scaled.outputscale = 1.0
            return scaled

        class Model(gpytorch.models.ExactGP):
            def __init__(self):
                super().__init__(rows, residuals, likelihood)
                self.mean_module = gpytorch.means.ZeroMean()
                base = rbf(list(range(d)), float(problem["lengthscale"])) + rbf([d], 1.0)
                self.covar_module = gpytorch.kernels.InducingPointKernel(base, points, likelihood)

            def forward(self, x):
                return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

        self.model, self.rows, self.residuals = Model(), rows, residuals
        self.objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, self.model)

    def _loss(self):
        self.model.train()
        value = -self.objective(self.model(self.rows), self.residuals) * len(self.rows)
        self.model.zero_grad()
        value.backward()
        return value

    def evaluate(self):
        return -float(self._loss().detach())

    def fit(self, max_iter):
        torch, trace, began = self.torch, [], time.perf_counter()
        parameters = list(self.model.parameters())

        def load(x):
            torch.nn.utils.vector_to_parameters(torch.from_numpy(x), parameters)

        def function(x):
            load(x)
            value = self._loss()
            return float(value.detach()), torch.cat([p.grad.reshape(-1) for p in parameters]).numpy().copy()

        latest = [0.0]

        def note(intermediate_result):
            latest[0] = -float(intermediate_result.fun)
            trace.append((time.perf_counter() - began, latest[0]))

        start = torch.nn.utils.parameters_to_vector(parameters).detach().numpy().copy()
        minimize(function, start, jac=True, method="L-BFGS-B", callback=note, options={"maxiter": max_iter})
        return trace

    def predict(self, rows):
        self.model.eval()
        with self.torch.no_grad(), self.gpytorch.settings.fast_pred_var(False):
            for start in range(0, len(rows), 10_000):
                block = self.torch.from_numpy(rows[start : start + 10_000])
                self.model.likelihood(self.model(block)).variance.numpy()


ENGINES = {"GPflow": GPflow, "GPyTorch": GPyTorch}


def make(request):
    library, kind = request["engine"].split()
    with np.load(request["problem"]) as arrays:
        engine = ENGINES[library](dict(arrays), kind)
    engine.evaluate()
    return engine


def answer(request, engine):
    if request["task"] == "fit":
        return {"trace": engine.fit(request["max_iter"])}
    if request["task"] == "predict":
        rows = np.random.default_rng(0).standard_normal((request["n_rows"], engine.n_columns))
        began = time.perf_counter()
        engine.predict(rows)
        return {"seconds": time.perf_counter() - began}
    seconds = []
    for _ in range(request["repeats"]):
        began = time.perf_counter()
        bound = engine.evaluate()
        seconds.append(time.perf_counter() - began)
    return {"seconds": seconds, "bound": bound}


def serve(make, answer):
    """Answer requests: ``make(request)`` at the first one, ``answer(request, made)`` at each."""
    made = None
    replies, sys.stdout = sys.stdout, sys.stderr  # libraries that print must not disturb the replies
    for line in sys.stdin:
        try:
            request = json.loads(line)
            made = made or make(request)
            reply = answer(request, made)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"[:300]}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    serve(make, answer)
