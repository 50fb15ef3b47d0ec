"""GPflow's sparse GPs on outcomes, in an environment of its own; see `experiments.parameters`.

It reads one JSON request a line from standard input and answers each with one:

    {"problem": "….npz", "kind": "SGPR", "parameters": "softplus", "max_iter": 1000}   → rmse, bound, n_iter

The problem has X, y, points, X_test and y_test. "SVGP" is the paper's engine, whose variational distribution is
optimised with the hyperparameters, and "SGPR" has it in closed form.
"""

from __future__ import annotations

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np


def fit(problem, kind, parameters, max_iter):
    """RMSE of test rows, the bound and the iterations, from the start values of the paper."""
    import gpflow

    with gpflow.config.as_context(gpflow.config.Config(positive_bijector=parameters)):
        data = problem["X"], problem["y"][:, None]
        kernel, points = gpflow.kernels.RBF(), problem["points"].copy()
        if kind == "SGPR":
            model = gpflow.models.SGPR(data, kernel, points, noise_variance=1.0)
            loss = model.training_loss
        else:
            model = gpflow.models.SVGP(kernel, gpflow.likelihoods.Gaussian(1.0), points, num_data=len(data[0]))
            loss = model.training_loss_closure(data)
        optimum = gpflow.optimizers.Scipy().minimize(loss, model.trainable_variables, options={"maxiter": max_iter})
        mean = model.predict_f(problem["X_test"])[0].numpy()[:, 0]
    rmse = float(np.sqrt(np.mean((problem["y_test"] - mean) ** 2)))
    return {"rmse": rmse, "bound": -float(optimum.fun), "n_iter": int(optimum.nit)}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        with np.load(request["problem"]) as problem:
            reply = fit(problem, request["kind"], request["parameters"], request["max_iter"])
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
