"""Layers of PyTorch modules and tensors of ONNX graphs as what the GP sees."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from rio_uq import RIORegressor
from rio_uq.features import layer, onnx_tensor
from rio_uq.models import torch_model


@pytest.fixture
def images(rng):
    return rng.normal(size=(23, 1, 8, 8)).astype(np.float32)


class TestTorch:
    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch")
        self.torch.manual_seed(0)

    @pytest.fixture
    def module(self):
        nn = self.torch.nn
        body = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(inplace=True))
        return nn.ModuleDict({"body": body, "unused": nn.Linear(2, 2), "head": nn.Linear(3 * 36, 1)})

    @pytest.fixture
    def network(self, module):
        torch = self.torch

        class Network(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = module

            def forward(self, x):
                return self.parts["head"](self.parts["body"](x).flatten(1))

        return Network()

    def by_hand(self, network, images):
        with self.torch.no_grad():
            return network.parts["body"][0](self.torch.tensor(images)).numpy()

    @pytest.mark.parametrize("batch_size", [5, 100])
    @pytest.mark.parametrize("precision", ["float", "double"])
    def test_what_the_layer_makes_of_the_rows(self, network, images, batch_size, precision):
        """Before the next layer changes it in place."""
        getattr(network, precision)()
        images = images.astype(np.float64 if precision == "double" else np.float32)
        expected = self.by_hand(network, images)
        for pool, values in (
            (None, expected.reshape(23, -1)),
            ("max", expected.max(axis=(2, 3))),
            ("mean", expected.mean(axis=(2, 3))),
        ):
            found = layer(network, "parts.body.0", pool=pool, batch_size=batch_size)(images)
            np.testing.assert_allclose(found, values, rtol=1e-4, atol=1e-6)

    def test_a_layer_without_further_dimensions_is_not_pooled(self, network, images):
        np.testing.assert_allclose(
            layer(network, "parts.head", pool="max")(images)[:, 0], torch_model(network).predict(images), rtol=1e-5
        )

    def test_the_hook_is_removed_even_after_an_error(self, network, images):
        network.train()
        tapped = layer(network, "parts.body.0")
        tapped(images)
        with pytest.raises(RuntimeError):
            tapped(images[:, :, :5])
        assert not network.parts["body"][0]._forward_hooks
        assert all(part.training for part in network.modules())

    def test_unknown_layers_are_answered_with_the_known(self, network):
        with pytest.raises(ValueError, match=r"no layer 'body': its layers are parts, .*parts\.body\.2.*parts\.head"):
            layer(network, "body")
        with pytest.raises(ValueError, match="no layer ''"):
            layer(network, "")

    def test_a_layer_that_does_not_run(self, network, images):
        with pytest.raises(ValueError, match="not used"):
            layer(network, "parts.unused")(images)

    def test_a_layer_that_returns_no_tensor(self):
        class Last(self.torch.nn.LSTM):
            def forward(self, x):
                return super().forward(x)[0][:, -1]

        nn = self.torch.nn
        wrapped = nn.Sequential(nn.LSTM(2, 3, batch_first=True))
        with pytest.raises(TypeError, match="layer '0' returns a tuple"):
            layer(wrapped, "0")(np.ones((4, 5, 2)))
        assert layer(nn.Sequential(Last(2, 3, batch_first=True)), "0")(np.ones((4, 5, 2))).shape == (4, 3)

    def test_a_layer_that_mixes_rows(self):
        nn = self.torch.nn
        with pytest.raises(ValueError, match="has 2 rows where X has 4"):
            layer(nn.Sequential(nn.Unflatten(0, (2, 2))), "0")(np.ones((4, 5)))
        with pytest.raises(ValueError, match=r"layer '0' has shape \(20,\)"):
            layer(nn.Sequential(nn.Flatten(0)), "0")(np.ones((4, 5)))

    def test_unknown_pools(self, network):
        with pytest.raises(ValueError, match="'max', 'mean' or None; got 'sum'"):
            layer(network, "parts.head", pool="sum")

    def test_rio_with_a_layer_is_rio_on_its_values(self, rng):
        nn = self.torch.nn
        images = rng.normal(size=(60, 1, 8, 8)).astype(np.float32)
        y = images.mean(axis=(1, 2, 3)) + 0.1 * rng.normal(size=60)
        network = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(108, 1))
        options = {"random_state": 0, "training": {"starts": "rio"}, "noise": "constant"}
        rio = RIORegressor(torch_model(network), features=layer(network, "0", pool="mean"), **options).fit(images, y)
        values = layer(network, "0", pool="mean")(images)
        plain = RIORegressor(**options).fit(values, y, y_pred=torch_model(network).predict(images))
        np.testing.assert_allclose(
            rio.predict(images), plain.predict(values, y_pred=torch_model(network).predict(images))
        )

        copied = clone(rio)
        assert copied.features is rio.features
        np.testing.assert_allclose(copied.fit(images, y).predict(images), rio.predict(images))
        np.testing.assert_allclose(pickle.loads(pickle.dumps(rio)).predict(images), rio.predict(images))

    def test_a_bare_module_is_answered_with_the_remedy_which_works(self, rng):
        nn = self.torch.nn
        X = rng.normal(size=(30, 1, 4, 4)).astype(np.float32)
        y = X.mean(axis=(1, 2, 3)) + 0.1 * rng.normal(size=30)
        body = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
        model = torch_model(nn.Sequential(body, nn.Linear(3, 1)))
        with pytest.raises(TypeError, match=r"Sequential, which takes tensors: .*layer.*torch_model.*predict"):
            RIORegressor(model, features=body).fit(X, y, held_out=True)
        rio = RIORegressor(model, features=torch_model(body).predict, noise="constant", random_state=0)
        assert rio.fit(X, y, held_out=True).inputs(X).features.shape == (30, 3)


class TestOnnx:
    @pytest.fixture(autouse=True)
    def _onnx(self):
        self.onnx = pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")

    @pytest.fixture
    def kernels(self, rng):
        return rng.normal(size=(3, 1, 3, 3)).astype(np.float32)

    @pytest.fixture
    def graph(self, kernels):
        """A convolution, ReLU, and the mean of everything."""
        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        nodes = [
            helper.make_node("Conv", ["images", "kernels"], ["filtered"]),
            helper.make_node("Relu", ["filtered"], ["positive"]),
            helper.make_node("Flatten", ["positive"], ["flat"]),
            helper.make_node("ReduceMean", ["flat", "axes"], ["y"]),
        ]
        constants = [
            self.onnx.numpy_helper.from_array(kernels, "kernels"),
            self.onnx.numpy_helper.from_array(np.array([1]), "axes"),
        ]
        made = helper.make_graph(
            nodes,
            "network",
            [helper.make_tensor_value_info("images", kind, ["n", 1, 8, 8])],
            [helper.make_tensor_value_info("y", kind, ["n", 1])],
            constants,
        )
        model = helper.make_model(made, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])
        return model.SerializeToString()

    def by_hand(self, kernels, images):
        windows = np.lib.stride_tricks.sliding_window_view(images[:, 0], (3, 3), axis=(1, 2))
        return np.einsum("nijkl,ckl->ncij", windows, kernels[:, 0])

    def test_values_inside_the_graph(self, graph, kernels, images):
        expected = self.by_hand(kernels, images)
        for pool, values in (
            (None, expected.reshape(23, -1)),
            ("max", expected.max(axis=(2, 3))),
            ("mean", expected.mean(axis=(2, 3))),
        ):
            found = onnx_tensor(graph, "filtered", pool=pool, batch_size=5)(images)
            np.testing.assert_allclose(found, values, rtol=1e-4, atol=1e-5)

    def test_from_a_file_through_pickle_and_clone(self, graph, images, tmp_path):
        (tmp_path / "network.onnx").write_bytes(graph)
        tensor = onnx_tensor(tmp_path / "network.onnx", "positive", pool="max")
        (tmp_path / "network.onnx").unlink()
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(tensor))(images), tensor(images))
        assert clone(RIORegressor(features=tensor)).features is tensor

    def test_the_output_itself(self, graph, images):
        assert onnx_tensor(graph, "y")(images).shape == (23, 1)

    def test_unknown_tensors_are_answered_with_the_known(self, graph):
        with pytest.raises(ValueError, match="no tensor 'relu': its tensors are filtered, positive, flat, y"):
            onnx_tensor(graph, "relu")
        with pytest.raises(ValueError, match="pool"):
            onnx_tensor(graph, "flat", pool="sum")
