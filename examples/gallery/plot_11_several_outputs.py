"""
Several outputs at once
=======================

A model with several outputs is corrected in all of them; each has noise and error bars of its own. The output kernel
looks at all predictions together, so that an error in one may be told from another.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rio_uq import RIORegressor, metrics, plots

cells = load_breast_cancer(as_frame=True).data
names = ["worst radius", "worst texture", "worst concavity"]
X, y = cells.filter(like="mean").to_numpy(), cells[names].to_numpy()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

model = make_pipeline(StandardScaler(), RidgeCV()).fit(X_train, y_train)
rio = RIORegressor(model, random_state=0).fit(X_train, y_train)
mean, std = rio.predict(X_test, return_std=True)
before = model.predict(X_test)
for i, name in enumerate(names):
    rmse = metrics.rmse(y_test[:, i], before[:, i]), metrics.rmse(y_test[:, i], mean[:, i])
    share = metrics.coverage(y_test[:, i], mean[:, i], std[:, i], confidence_level=0.9)
    print(f"{name}: RMSE {rmse[0]:.3f} before, {rmse[1]:.3f} after; 90 % intervals hold {share:.0%}")

# %%
# Intervals have shape (n, q, 2): rows, outputs, bounds. Figures take the number of the output.

print(rio.predict_interval(X_test, confidence_level=0.9).shape)
_, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for i, (ax, name) in enumerate(zip(axes, names, strict=True)):
    plots.ErrorBarDisplay.from_estimator(rio, X_test, y_test, output=i, confidence_level=0.9, ax=ax)
    ax.set_title(name)
