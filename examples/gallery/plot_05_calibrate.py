"""
Intervals with a guarantee
==========================

Conformal calibration on rows that were used for nothing else: intervals then hold what they promise whatever the noise,
if new rows are drawn as these were. Predictions stay as they are; error bars become wider or narrower together.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import train_test_split

from rio_uq import RIORegressor, plots

X_rest, X_test, y_rest, y_test = train_test_split(*load_diabetes(return_X_y=True), test_size=0.35, random_state=0)
X_train, X_fresh, y_train, y_fresh = train_test_split(X_rest, y_rest, test_size=0.4, random_state=0)

# %%
# A boosting model that has fitted its training rows closely, and RIO on these same rows: too sure of itself.

model = GradientBoostingRegressor(random_state=0).fit(X_train, y_train)
rio = RIORegressor(model, random_state=0).fit(X_train, y_train)
_, ax = plt.subplots(figsize=(5.2, 5), layout="constrained")
plots.ReliabilityDisplay.from_estimator(rio, X_test, y_test, name="before", ax=ax)

rio.calibrate(X_fresh, y_fresh, method="isotonic")
plots.ReliabilityDisplay.from_estimator(rio, X_test, y_test, name="isotonic", ax=ax)

# %%
# "isotonic" has every level, with no guarantee. "conformal" has one, for levels that its rows can tell apart:

rio.calibrate(X_fresh, y_fresh, method="conformal")
band = rio.predict_interval(X_test, confidence_level=[0.8, 0.9, 0.95])
inside = (band[:, 0] <= y_test[:, None]) & (y_test[:, None] <= band[:, 1])
print("shares of outcomes inside 80, 90 and 95 % intervals:", inside.mean(axis=0).round(2))
print("what the standard deviation was multiplied with:", rio.calibration_.std_factor.round(2))
