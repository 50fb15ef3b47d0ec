"""
What changes: errors before and after
=====================================

A linear model misses whatever is not a straight line. Its residuals show it, so RIO finds it. The model is given
unfitted here: it is cross-fitted, and every residual is of a row that its model has not seen.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rio_uq import RIORegressor, plots

cells = load_breast_cancer(as_frame=True).data
X, y = cells.filter(like="mean"), cells["worst area"]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

rio = RIORegressor(make_pipeline(StandardScaler(), RidgeCV()), random_state=0).fit(X_train, y_train)

# %%
# How errors are spread, and each row's error before and after: below the diagonal it has become smaller.

_, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, kind in zip(axes, ("histogram", "scatter"), strict=True):
    plots.BeforeAfterDisplay.from_estimator(rio, X_test, y_test, kind=kind, ax=ax)

# %%
# The correction against the prediction, over the residuals that it was to foresee: a curve that a line cannot follow.

plots.CorrectionDisplay.from_estimator(rio, X_test, y_test)
