"""
A network and its validation rows
=================================

A network that cannot be trained again often has validation rows. Name them by ``held_out``: RIO then learns corrections
from all rows, and the size of the noise from those that the network was not trained on. This network has
fitted its training rows more closely than it should have.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rio_uq import RIORegressor, metrics, plots

X, y = load_diabetes(return_X_y=True)
X_known, X_test, y_known, y_test = train_test_split(X, y, test_size=0.4, random_state=1)
is_validation = np.arange(len(y_known)) % 4 == 0

network = MLPRegressor(hidden_layer_sizes=(32,), learning_rate_init=0.02, tol=1.0, max_iter=1000, random_state=0)
model = make_pipeline(StandardScaler(), network).fit(X_known[~is_validation], y_known[~is_validation])

# %%
# Residuals of the rows that the network has seen are smaller than those of others:

residual = y_known - model.predict(X_known)
print(
    f"RMSE, training rows {np.std(residual[~is_validation]):.0f}, validation rows {np.std(residual[is_validation]):.0f}"
)

# %%
# Fitted to its training rows alone, fitted to all rows without a word, and with the validation rows named:

fits = {
    "training rows only": RIORegressor(model, residuals="in-sample", random_state=0).fit(
        X_known[~is_validation], y_known[~is_validation]
    ),
    "all rows": RIORegressor(model, residuals="in-sample", random_state=0).fit(X_known, y_known),
    "held_out named": RIORegressor(model, random_state=0).fit(X_known, y_known, held_out=is_validation),
}
_, ax = plt.subplots(figsize=(5.2, 5), layout="constrained")
for name, rio in fits.items():
    mean, std = rio.predict(X_test, return_std=True)
    share = metrics.coverage(y_test, mean, std, confidence_level=0.9)
    print(f"{name}: 90 % intervals hold {share:.0%}, NLPD {metrics.nlpd(y_test, mean, std):.2f}")
    plots.ReliabilityDisplay.from_predictions(y_test, mean, std, name=name, ax=ax)
