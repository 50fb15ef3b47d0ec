"""
Many rows
=========

Above 2,000 rows inference is sparse: a few hundred inducing points stand for all rows, and time grows with the rows
instead of their cube. The rows are pixels of a photograph, each to be told from its eight neighbours.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor, metrics, plots

picture = load_sample_image("china.jpg").mean(axis=2)[:210, :320] / 255.0
windows = np.lib.stride_tricks.sliding_window_view(picture, (3, 3)).reshape(-1, 9)
windows = np.random.default_rng(0).permutation(windows)
X, y = np.delete(windows, 4, axis=1), windows[:, 4]
train, test = slice(0, 4_000), slice(4_000, 14_000)

model = LinearRegression().fit(X[train], y[train])
rio = RIORegressor(model, n_inducing=60, random_state=0).fit(X[train], y[train])
mean, std = rio.predict(X[test], return_std=True)

# %%
# RIO does not make a much better predictor of the line. It knows where the picture is smooth, and errors are small.

y_pred = model.predict(X[test])
spread = np.full(len(y_pred), np.std(y[train] - model.predict(X[train])))
print(f"model alone, one error bar for all: RMSE {metrics.rmse(y[test], y_pred):.3f}", end=", ")
print(f"NLPD {metrics.nlpd(y[test], y_pred, spread):.2f}")
print(f"with RIO: RMSE {metrics.rmse(y[test], mean):.3f}, NLPD {metrics.nlpd(y[test], mean, std):.2f}")

# %%

_, ax = plt.subplots(figsize=(5.2, 5), layout="constrained")
plots.ReliabilityDisplay.from_predictions(y[test], y_pred, spread, name="one error bar for all", ax=ax)
plots.ReliabilityDisplay.from_predictions(y[test], mean, std, name="RIO", ax=ax)
