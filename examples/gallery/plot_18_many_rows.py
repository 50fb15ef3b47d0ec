"""
Many rows
=========

Many rows take another way of inference than few. With ``inference="sparse"`` some inducing points stand for all of
them, and time grows with the rows instead of their cube. The rows are pixels of a photograph, each to be told from its
eight neighbours.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor, metrics

photo = load_sample_image("china.jpg").mean(axis=2)[:210, :320] / 255.0
windows = np.lib.stride_tricks.sliding_window_view(photo, (3, 3))
rows = windows.reshape(-1, 9)
X, y = np.delete(rows, 4, axis=1), rows[:, 4]
train = np.random.default_rng(0).choice(len(y), 4_000, replace=False)
test = np.setdiff1d(np.arange(len(y)), train)

model = LinearRegression().fit(X[train], y[train])
rio = RIORegressor(model, inference="sparse", n_inducing=60, random_state=0).fit(X[train], y[train])
y_pred, (mean, std) = model.predict(X), rio.predict(X, return_std=True)

# %%
# Predictions are a little better, and error bars much better than one for all: RIO knows where the picture is smooth.

one_for_all = np.full(len(y), np.std(y[train] - y_pred[train]))
for name, centre, spread in (("model alone", y_pred, one_for_all), ("with RIO", mean, std)):
    rmse, nlpd = metrics.rmse(y[test], centre[test]), metrics.nlpd(y[test], centre[test], spread[test])
    print(f"{name}: RMSE {rmse:.4f}, NLPD {nlpd:.2f} on {len(test):,} rows")

# %%

_, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
axes[0].imshow(photo[1:-1, 1:-1], cmap="gray")
axes[0].set_title("pixels to be predicted")
axes[1].imshow(std.reshape(windows.shape[:2]), cmap="viridis", vmax=np.quantile(std, 0.99))
axes[1].set_title("standard deviation of each")
for ax in axes:
    ax.axis("off")
