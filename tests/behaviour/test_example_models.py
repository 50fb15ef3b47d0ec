"""Every example of a model runs, RIO makes its predictions better, and its error bars hold."""

import importlib
import os

import pytest
from sklearn.ensemble import RandomForestRegressor

from examples.compare import Comparison
from rio_uq import Training

EPOCHS = {"max_epochs": 15}

pytestmark = [pytest.mark.no_cover, pytest.mark.usefixtures("quick_fits")]

os.environ.setdefault("KERAS_BACKEND", "torch")


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("plain_function", []),
        ("sklearn_pipeline", []),
        ("statsmodels_results", ["statsmodels"]),
        ("xgboost_model", ["xgboost"]),
        ("lightgbm_model", ["lightgbm"]),
        ("catboost_model", ["catboost"]),
        ("torch_module", ["torch"]),
        ("cnn_images", ["torch"]),
        ("skorch_network", ["torch", "skorch"]),
        ("onnx_file", ["skl2onnx", "onnxruntime"]),
        ("keras_network", ["torch", "keras"]),
    ],
)
@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy")  # Keras on PyTorch
def test_example(name, needs, capsys, monkeypatch):
    for module in needs:
        pytest.importorskip(module)
    example = importlib.import_module(f"examples.{name}")
    if name == "skorch_network":  # six networks
        make = example.NeuralNetRegressor
        monkeypatch.setattr(example, "NeuralNetRegressor", lambda *parts, **more: make(*parts, **more | EPOCHS))
    if name == "keras_network":
        fit = example.keras.Sequential.fit
        monkeypatch.setattr(
            example.keras.Sequential, "fit", lambda *parts, **more: fit(*parts, **more | {"epochs": 20})
        )
    found = example.main()
    shown = capsys.readouterr().out.splitlines()
    comparisons = [found] if isinstance(found, Comparison) else found
    assert len(shown) == len(comparisons)
    for before, after, coverage in comparisons:
        assert after < before
        assert 0.9 <= coverage <= 1.0


def test_time_and_groups(capsys, monkeypatch):
    example = importlib.import_module("examples.time_and_groups")
    monkeypatch.setattr(example, "FOREST", RandomForestRegressor(10, random_state=0))
    monkeypatch.setitem(Training.__init__.__kwdefaults__, "guard", True)
    found = example.main(n_repeats=1)
    assert found["new patients"]["random folds"] < found["new patients"]["folds of groups"]
    assert found["later days"]["TimeSeriesSplit"] < found["later days"]["and calibrated on the latest days"]
    assert len(capsys.readouterr().out.splitlines()) == 2
