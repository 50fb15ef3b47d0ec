"""
Right in every group
====================

An interval that is right on average may be too wide for one group and too narrow for another. With ``groups`` every
group is calibrated for itself. Here they are the two diagnoses of the breast cancer data, which the model is not told.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from rio_uq import RIORegressor

data = load_breast_cancer(as_frame=True)
X, y = data.data[["mean radius"]].to_numpy(), data.data["worst radius"].to_numpy()
diagnosis = np.array(["malignant", "benign"])[data.target]
X_train, X_rest, y_train, y_rest, _, group = train_test_split(X, y, diagnosis, test_size=0.7, random_state=0)
fresh, test = slice(0, 200), slice(200, None)

COLOURS = {"benign": "#0072B2", "malignant": "#D55E00"}

rio = RIORegressor(LinearRegression(), random_state=0).fit(X_train, y_train)

# %%
# Intervals in each group. Where they were calibrated by group, they need the group of the row that they are for.

_, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")


def report(title, ax, **groups):
    """Print share inside and mean width of 90 % intervals in each group."""
    low, high = rio.predict_interval(X_rest[test], confidence_level=0.9, **groups).T
    inside = (low <= y_rest[test]) & (y_rest[test] <= high)
    print(title)
    ax.set(title=title, xlabel="mean radius", ylabel="worst radius")
    for name in ("benign", "malignant"):
        rows = group[test] == name
        print(f"  {name}: {inside[rows].mean():.0%} inside, width {np.mean((high - low)[rows]):.2f}")
        ax.vlines(X_rest[test, 0][rows], low[rows], high[rows], color=COLOURS[name], alpha=0.4)
        ax.plot(X_rest[test, 0][rows], y_rest[test][rows], ".", color=COLOURS[name], label=name)
    ax.legend(frameon=False, loc="upper left")


rio.calibrate(X_rest[fresh], y_rest[fresh])
report("one calibration for all", axes[0])
rio.calibrate(X_rest[fresh], y_rest[fresh], groups=group[fresh])
report("each group for itself", axes[1], groups=group[test])
