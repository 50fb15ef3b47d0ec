"""
Save, load, and use it without the model
========================================

A saved regressor is a small file without pickle. It does not hold the model: it is given again at load, and checked on
a few rows; or only its predictions are given.
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import rio_uq

X, y = load_diabetes(return_X_y=True)
forest = RandomForestRegressor(50, random_state=0).fit(X[:200], y[:200])
rio = rio_uq.RIORegressor(forest, random_state=0).fit(X[200:400], y[200:400])

folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "progression.rio")
rio.save(path, estimator=forest)
print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB")

# %%
# With the model, and with nothing but its predictions:

with_model = rio_uq.load(path, estimator=forest)
without = rio_uq.load(path)
a = with_model.predict_interval(X[400:])
b = without.predict_interval(X[400:], y_pred=forest.predict(X[400:]))
print("the same to the last bit:", np.array_equal(a, rio.predict_interval(X[400:])), np.array_equal(a, b))

# %%
# Another model is refused:

try:
    rio_uq.load(path, estimator=RandomForestRegressor(50, random_state=1).fit(X[:200], y[:200]))
except ValueError as error:
    print(str(error).replace(folder.name, "…"))

folder.cleanup()
