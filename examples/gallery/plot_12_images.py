"""
Images, seen through a layer of the network
===========================================

A network gets images of digits whose lower half is missing, and predicts how much ink there was in it. What the GP sees
of an image is a choice: ``features`` takes any function of X, such as a layer of the network. For PyTorch and ONNX
there are ready ones, `rio_uq.features.layer` and `rio_uq.features.onnx_tensor`.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor

from rio_uq import RIORegressor, metrics, plots

images = load_digits().images / 16.0
X, y = images[:, :4].reshape(len(images), -1), images[:, 4:].sum(axis=(1, 2))
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=500, random_state=0)

network = MLPRegressor(
    hidden_layer_sizes=(32, 12), learning_rate_init=0.01, early_stopping=True, max_iter=500, random_state=0
).fit(X_train, y_train)


def last_hidden_layer(X):
    """The twelve units of the last hidden layer, for images."""
    for weights, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        X = np.maximum(X @ weights + bias, 0.0)
    return X


print(f"network: RMSE {metrics.rmse(y_test, network.predict(X_test)):.3f}")
for name, features in (("pixels", None), ("layer", last_hidden_layer)):
    rio = RIORegressor(network, features=features, residuals="in-sample", random_state=0).fit(X_train, y_train)
    mean, std = rio.predict(X_test, return_std=True)
    print(f"RIO on the {name}: RMSE {metrics.rmse(y_test, mean):.3f}, NLPD {metrics.nlpd(y_test, mean, std):.3f}")

# %%
# These images are so small that their 32 pixels tell the GP more than the layer does. A photograph has millions of
# them, and there a layer is the only way. Try both where you can.

plots.ErrorBarDisplay.from_estimator(rio, X_test, y_test, max_rows=150)
