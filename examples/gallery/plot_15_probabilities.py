"""
Probabilities instead of intervals
==================================

Often the question is not how far off a prediction is, but how likely an outcome beyond some limit is. ``predict_dist``
gives a distribution for each row, as `scipy.stats.norm` does: its ``sf`` is the probability of more than a limit.
"""

import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split

from rio_uq import RIORegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
limit = 200.0

rio = RIORegressor(RidgeCV(), random_state=0).fit(X_train, y_train)
probability = rio.predict_dist(X_test).sf(limit)
happened = y_test > limit

for low, high in ((0.0, 0.1), (0.1, 0.4), (0.4, 1.0)):
    rows = (low <= probability) & (probability < high)
    print(f"probability {low:.1f} to {high:.1f}: {rows.sum():3d} rows, {np.mean(happened[rows]):.0%} above {limit:.0f}")

# %%
# Of the rows with a probability of 40 %, about 40 % should be above the limit.

CalibrationDisplay.from_predictions(happened, probability, n_bins=5, strategy="quantile", name="RIO")
