"""
A forest and its own training rows
==================================

A forest remembers its training rows, so their residuals are far too small, and error bars learnt from them are too.
``residuals="cross-fit"`` fits the forest anew on five folds: every residual is then of a row that was not seen.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split

from rio_uq import RIORegressor, metrics, plots

X_train, X_test, y_train, y_test = train_test_split(*load_diabetes(return_X_y=True), random_state=0)
forest = RandomForestRegressor(100, random_state=0).fit(X_train, y_train)

in_sample = RIORegressor(forest, residuals="in-sample", random_state=0).fit(X_train, y_train)
cross_fit = RIORegressor(forest, residuals="cross-fit", random_state=0).fit(X_train, y_train)

for name, rio in (("in-sample", in_sample), ("cross-fit", cross_fit)):
    mean, std = rio.predict(X_test, return_std=True)
    share = metrics.coverage(y_test, mean, std, confidence_level=0.9)
    print(f"{name}: 90 % intervals hold {share:.0%}, RMSE {metrics.rmse(y_test, mean):.1f}")

# %%
# On the diagonal, intervals hold what they promise at every level. Below it they are too narrow.

_, ax = plt.subplots(figsize=(5.2, 5), layout="constrained")
plots.ReliabilityDisplay.from_estimator(in_sample, X_test, y_test, name="in-sample", ax=ax)
plots.ReliabilityDisplay.from_estimator(cross_fit, X_test, y_test, name="cross-fit", ax=ax)
