"""The graph of a classifier computes what the classifier does."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import rio_uq
from rio_uq import RIOClassifier, RIORegressor

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

QUICK = {"random_state": 0, "tol": 1e-2, "max_iter": 20, "training": {"starts": "rio"}}


@pytest.mark.parametrize(
    ("n_classes", "options"),
    [
        (2, {}),
        (4, {}),
        (2, {"kernel": "output"}),
        (3, {"kernel": "input", "features": [2, 0]}),
        (2, {"inference": "sparse", "n_inducing": 20}),
    ],
    ids=["two classes", "four", "probabilities alone", "some columns", "sparse"],
)
def test_the_graph_computes_what_the_classifier_does(n_classes, options, tmp_path):
    X, y = make_classification(260, 4, n_informative=3, n_redundant=0, n_classes=n_classes, random_state=0)
    model = LogisticRegression().fit(X[130:], y[130:])
    rio = RIOClassifier(model, **QUICK, **options).fit(X[:130], y[:130], held_out=True)
    path = tmp_path / "model.onnx"
    rio_uq.onnx.export_classifier(rio, path)
    probabilities = model.predict_proba(X)
    probabilities[0] = np.eye(n_classes)[0]  # nothing is left for the others
    session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    feeds = {"X": X, "y_proba": probabilities}
    score, std, corrected = session.run(None, {value.name: feeds[value.name] for value in session.get_inputs()})
    expected = rio.error_score(X, y_proba=probabilities, return_std=True)
    np.testing.assert_allclose(score[:, 0], expected[0], atol=1e-8)
    np.testing.assert_allclose(std[:, 0], expected[1], atol=1e-6)
    np.testing.assert_allclose(corrected, rio.predict_proba(X, y_proba=probabilities), atol=1e-8)


def test_what_cannot_be_exported(rng):
    with pytest.raises(TypeError, match="a fitted RIOClassifier is needed"):
        rio_uq.onnx.export_classifier(RIORegressor())
    X = rng.normal(size=(60, 2))
    y = (rng.uniform(size=60) < expit(X[:, 0])).astype(int)
    rio = RIOClassifier(inference="nearest", **QUICK).fit(X, y, y_proba=expit(X[:, 0]), held_out=True)
    with pytest.raises(ValueError, match="cannot search for these"):
        rio_uq.onnx.export_classifier(rio)
