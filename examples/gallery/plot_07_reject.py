"""
Which rows a person should look at
==================================

Error bars that differ from row to row tell which predictions to trust. ``reject`` leaves the least safe ones to a
person: a share of them, those above a threshold, or as many as are needed for a mean error.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split

from rio_uq import RIORegressor, metrics, plots

cells = load_breast_cancer(as_frame=True).data
X, y = cells.filter(like="mean"), cells["worst area"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)

rio = RIORegressor(RandomForestRegressor(100, random_state=0), random_state=0).fit(X_train, y_train)
mean = rio.predict(X_test)
print(f"mean absolute error of all {len(y_test)} rows: {metrics.mae(y_test, mean):.1f}")

look_at = rio.reject(X_test, budget=0.8)
print(f"of the 80 % that are kept: {metrics.mae(y_test[~look_at], mean[~look_at]):.1f}")
print(f"of the {look_at.sum()} that are left to a person: {metrics.mae(y_test[look_at], mean[look_at]):.1f}")

# %%
# For every share that could be kept. The dotted curve knows the errors; nothing can be below it.

plots.RiskCoverageDisplay.from_estimator(rio, X_test, y_test)

# %%
# Rows of about the same error bar, as groups: their errors should be on the diagonal.

plots.ErrorUncertaintyDisplay.from_estimator(rio, X_test, y_test)
