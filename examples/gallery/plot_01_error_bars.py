"""
Error bars for a network
========================

A network predicts the largest radius of cell nuclei from mean measurements of the same sample (the breast cancer data).
RIO takes the fitted network as it is, corrects its predictions and says how far off they may be.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rio_uq import RIORegressor, metrics, plots

cells = load_breast_cancer(as_frame=True).data
X, y = cells.filter(like="mean"), cells["worst radius"]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

network = MLPRegressor(
    hidden_layer_sizes=(32, 32), learning_rate_init=0.01, early_stopping=True, max_iter=1000, random_state=0
)
model = make_pipeline(StandardScaler(), network).fit(X_train, y_train)

rio = RIORegressor(model, random_state=0).fit(X_train, y_train)
mean, std = rio.predict(X_test, return_std=True)

print(
    f"RMSE of the network {metrics.rmse(y_test, model.predict(X_test)):.2f}, with RIO {metrics.rmse(y_test, mean):.2f}"
)
print(f"90 % intervals hold {metrics.coverage(y_test, mean, std, confidence_level=0.9):.0%} of the outcomes")

# %%
# Every prediction has an error bar of its own. Outcomes outside of it are marked.

plots.ErrorBarDisplay.from_estimator(rio, X_test, y_test, confidence_level=0.9)
