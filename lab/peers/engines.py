"""GPflow and GPyTorch behind one small interface, in an environment of their own; see `lab.peers.process`.

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

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class Trace:
    """Seconds and bound of the start values and of each iteration, and the parameters there, to be looked at later.

    ``stopped`` says what ended the fit if it was not the optimiser; the fit is then at the last iteration.
    ``n_evaluations`` is None where an error ended it.
    """

    def __init__(self, max_seconds, clock):
        self.clock, self.began, self.max_seconds = clock, clock(), max_seconds
        self.seconds, self.bounds, self.visited, self.stopped, self.n_evaluations = [], [], [], "", None

    def note(self, bound, x):
        self.seconds.append(self.clock() - self.began)
        self.bounds.append(float(bound))
        self.visited.append(np.array(x))

    def after_iteration(self, intermediate_result):
        self.note(-intermediate_result.fun, intermediate_result.x)
        if self.seconds[-1] > self.max_seconds:
            self.stopped = f"cut off after {self.max_seconds:g} s"
            raise StopIteration


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

    def fit(self, max_iter, max_seconds=float("inf"), clock=time.perf_counter):
        """By L-BFGS-B; the graph is compiled for the start values."""
        import gpflow

        trace, variables = Trace(max_seconds, clock), self.model.trainable_variables
        optimizer = self._optimizer = gpflow.optimizers.Scipy()
        start = optimizer.initial_parameters(variables).numpy()
        loss, _ = optimizer.eval_func(self._loss, variables, tf_fun_args={})(start)  # `minimize` uses it again
        trace.note(-loss, start)
        try:
            options = {"maxiter": max_iter}
            optimum = optimizer.minimize(self._loss, variables, callback=trace.after_iteration, options=options)
            trace.n_evaluations = 1 + optimum.nfev
        except self.tf.errors.InvalidArgumentError as error:  # a kernel matrix that is not positive definite
            trace.stopped = error.message.splitlines()[0]
        return trace

    def predict_at(self, x, rows):
        """Mean and variance of outcomes at some parameters of a trace."""
        variables = self.model.trainable_variables
        self._optimizer.assign_tensors(variables, self._optimizer.unpack_tensors(variables, x))
        mean, variance = self.model.predict_y(rows)
        return mean.numpy()[:, 0], variance.numpy()[:, 0]

    def predict(self, rows):
        predict = self.tf.function(self.model.predict_y)
        for start in range(0, len(rows), 10_000):
            predict(rows[start : start + 10_000])[1].numpy()


class GPyTorch:
    """SGPR (the collapsed bound) or SVGP (the uncollapsed one, full batch)."""

    def __init__(self, problem, kind):
        import gpytorch
        import torch

        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
        self.torch, self.gpytorch, self.n_columns = torch, gpytorch, problem["rows"].shape[1]
        rows, residuals = torch.from_numpy(problem["rows"]), torch.from_numpy(problem["residuals"][:, 0])
        points = torch.from_numpy(problem["points"].copy())
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        likelihood.noise = float(problem["noise_variance"])
        make_model = self._sgpr if kind == "SGPR" else self._svgp
        self.model, objective = make_model(self._kernel(problem), likelihood, rows, residuals, points)
        self.model.likelihood, self.rows, self.residuals = likelihood, rows, residuals
        self.objective = objective

    def _kernel(self, problem):
        d, is_ard = self.n_columns - 1, bool(problem["ard"])

        def rbf(columns, lengthscale):
            kernel = self.gpytorch.kernels.RBFKernel(
                active_dims=self.torch.tensor(columns), ard_num_dims=len(columns) if is_ard else None
            )
            kernel.lengthscale = lengthscale
            scaled = self.gpytorch.kernels.ScaleKernel(kernel)
            scaled.outputscale = 1.0
            return scaled

        return rbf(list(range(d)), float(problem["lengthscale"])) + rbf([d], 1.0)

    def _sgpr(self, base, likelihood, rows, residuals, points):
        gpytorch = self.gpytorch

        class Model(gpytorch.models.ExactGP):
            def __init__(self):
                super().__init__(rows, residuals, likelihood)
                self.mean_module = gpytorch.means.ZeroMean()
                self.covar_module = gpytorch.kernels.InducingPointKernel(base, points, likelihood)

            def forward(self, x):
                return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

        model = Model()
        return model, gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def _svgp(self, base, likelihood, rows, residuals, points):
        gpytorch = self.gpytorch
        distribution = gpytorch.variational.CholeskyVariationalDistribution(len(points), mean_init_std=0.0)

        class Model(gpytorch.models.ApproximateGP):
            def __init__(self):
                strategy = gpytorch.variational.VariationalStrategy(self, points, distribution)
                super().__init__(strategy)
                self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), base

            def forward(self, x):
                return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

        model = Model()
        return model, gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(rows))

    def _loss(self):
        self.model.train()
        value = -self.objective(self.model(self.rows), self.residuals) * len(self.rows)
        self.model.zero_grad()
        value.backward()
        return value

    def evaluate(self):
        return -float(self._loss().detach())

    def _load(self, x):
        self.torch.nn.utils.vector_to_parameters(self.torch.from_numpy(x), self.model.parameters())

    def fit(self, max_iter, max_seconds=float("inf"), clock=time.perf_counter):
        """By L-BFGS-B."""
        torch, trace, parameters = self.torch, Trace(max_seconds, clock), list(self.model.parameters())

        def function(x):
            self._load(x)
            value = float(self._loss().detach())
            if not trace.visited:
                trace.note(-value, x)
            gradients = (torch.zeros_like(p) if p.grad is None else p.grad for p in parameters)
            return value, torch.cat([gradient.reshape(-1) for gradient in gradients]).numpy().copy()

        start = torch.nn.utils.parameters_to_vector(parameters).detach().numpy().copy()
        options = {"maxiter": max_iter}
        try:
            optimum = minimize(
                function, start, jac=True, method="L-BFGS-B", callback=trace.after_iteration, options=options
            )
            trace.n_evaluations = optimum.nfev
        except (ArithmeticError, RuntimeError, ValueError) as error:  # GPyTorch's errors of linear algebra are such
            trace.stopped = str(error).splitlines()[0]
        return trace

    def predict_at(self, x, rows):
        """Mean and variance of outcomes at some parameters of a trace."""
        self._load(x)
        self.model.train()  # forgets what it has kept of other parameters
        self.model.eval()
        with self.torch.no_grad(), self.gpytorch.settings.fast_pred_var(False):
            outcome = self.model.likelihood(self.model(self.torch.from_numpy(rows)))
            return outcome.mean.numpy(), outcome.variance.numpy()

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
        trace = engine.fit(request["max_iter"])
        return {"trace": list(zip(trace.seconds, trace.bounds, strict=True))}
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
