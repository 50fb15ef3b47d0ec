"""A model in an ONNX file, run by onnxruntime; what trained it need not be installed.

python -m examples.onnx_file
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import skl2onnx
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor

from examples.compare import Comparison, compare
from rio_uq import RIORegressor
from rio_uq.models import onnx_model


def save_network(X: np.ndarray, y: np.ndarray, path: Path) -> None:
    """Train a network, and keep only the file."""
    network = MLPRegressor(
        hidden_layer_sizes=(32,), early_stopping=True, learning_rate_init=0.02, max_iter=300, random_state=0
    ).fit(X, y)
    path.write_bytes(skl2onnx.to_onnx(network, X[:1].astype(np.float32)).SerializeToString())


def main() -> Comparison:
    X, y = make_friedman1(500, noise=0.5, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=200, random_state=0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        save_network(X_train, y_train, path)
        model = onnx_model(path)

    rio = RIORegressor(model, residuals="in-sample", random_state=0).fit(X_train, y_train)
    mean, std = rio.predict(X_test, return_std=True)
    return compare("ONNX file", y_test, model.predict(X_test), mean, std)


if __name__ == "__main__":
    main()
