"""
Why a prediction was corrected
==============================

The kernel is a sum of one part on features and one on the model's output, so every correction is the sum of two parts
too. ``summary`` says in words what was learnt; ``decompose`` gives the parts of each row. The model is a linear one on
ten measurements; the GP is shown four of them.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from rio_uq import RIORegressor, plots

cells = load_breast_cancer(as_frame=True).data
X, y = cells.filter(like="mean"), cells["worst concavity"]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
seen = ["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]

rio = RIORegressor(LinearRegression(), features=seen, random_state=0).fit(X_train, y_train)
print(rio.summary())

# %%
# The output part is a curve over the prediction. The input part belongs to features, by relevance.

plots.DecompositionDisplay.from_estimator(rio, X_test)

# %%
# Row by row, prediction and the two parts add up to the corrected prediction:

parts = rio.decompose(X_test[:3])
corrected = rio.predict(X_test[:3])
for i in range(3):
    prediction = corrected[i] - parts.input[i] - parts.output[i]
    print(f"{prediction:.3f} {parts.input[i]:+.3f} (input) {parts.output[i]:+.3f} (output) = {corrected[i]:.3f}")
