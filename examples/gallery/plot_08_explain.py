"""
Why a prediction was corrected
==============================

The kernel is a sum of one part on the model's inputs and one on its output, so every correction is the sum of two parts
too. ``summary`` says in words what was learnt; ``decompose`` gives the parts of each row.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rio_uq import RIORegressor, plots

cells = load_breast_cancer(as_frame=True).data
X, y = cells[["mean radius", "mean texture", "mean smoothness", "mean concavity"]], cells["worst area"]
rio = RIORegressor(make_pipeline(StandardScaler(), RidgeCV()), random_state=0).fit(X[:400], y[:400])
print(rio.summary())

# %%
# The output part is a curve over the prediction. The input part belongs to features, by relevance.

plots.DecompositionDisplay.from_estimator(rio, X[400:])

# %%
# Row by row, prediction and the two parts add up to the corrected prediction:

parts = rio.decompose(X[400:403])
corrected = rio.predict(X[400:403])
for i in range(3):
    prediction = corrected[i] - parts.input[i] - parts.output[i]
    print(f"{prediction:7.1f} {parts.input[i]:+7.1f} (input) {parts.output[i]:+7.1f} (output) = {corrected[i]:7.1f}")
