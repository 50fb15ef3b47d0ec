"""PyTorch modules and ONNX files are models for RIO: batches, modes, types, shapes, and errors that say what to do."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor
from rio_uq.models import onnx_model, torch_model

pytestmark = pytest.mark.usefixtures("quick_fits")


def quick(model, **options):
    return RIORegressor(
        model, training={"starts": "rio"}, noise="constant", max_iter=30, tol=1e-3, random_state=0, **options
    )


class TestTorch:
    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch")
        self.torch.manual_seed(0)

    @pytest.fixture
    def module(self):
        nn = self.torch.nn
        return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))

    def by_hand(self, module, X):
        with self.torch.no_grad():
            return module.eval()(self.torch.tensor(X, dtype=self.torch.float32)).numpy().astype(float)

    @pytest.mark.parametrize("batch_size", [1, 7, 120, 1000])
    def test_batches_change_nothing(self, module, friedman, batch_size):
        X, _ = friedman
        expected = self.by_hand(module, X)[:, 0]
        np.testing.assert_allclose(
            torch_model(module, batch_size=batch_size).predict(X), expected, rtol=1e-5, atol=1e-6
        )

    def test_every_part_gets_its_mode_back(self, module, friedman):
        X, _ = friedman
        module.train()
        module[1].eval()
        statistics = module[1].running_mean.clone()
        first = torch_model(module).predict(X)
        assert [part.training for part in module] == [True, False, True, True]
        assert module.training
        assert (module[1].running_mean == statistics).all()
        np.testing.assert_array_equal(first, torch_model(module).predict(X))

    def test_the_mode_comes_back_after_an_error(self, module):
        module.train()
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            torch_model(module).predict(np.ones((3, 5)))
        assert all(part.training for part in module.modules())

    def test_no_gradient_is_recorded(self, friedman):
        torch, seen = self.torch, []

        class Watched(torch.nn.Linear):
            def forward(self, x):
                seen.append(super().forward(x))
                return seen[-1]

        torch_model(Watched(4, 1)).predict(friedman[0])
        assert not seen[0].requires_grad

    def test_rows_get_the_type_of_the_parameters(self, module, friedman):
        X, _ = friedman
        double = torch_model(module.double()).predict(X)
        np.testing.assert_allclose(double, torch_model(module.float()).predict(X.astype(np.float32)), rtol=1e-4)

    def test_embeddings_take_integers(self):
        nn = self.torch.nn
        module = nn.Sequential(nn.Embedding(5, 3), nn.Flatten(), nn.Linear(6, 1))
        X = np.array([[0, 4], [1, 2], [3, 3]])
        for dtype in ("int64", self.torch.int64):
            assert torch_model(module, dtype=dtype).predict(X).shape == (3,)

    def test_a_module_without_parameters(self):
        model = torch_model(self.torch.nn.Flatten(), device="cpu")
        np.testing.assert_array_equal(model.predict(np.arange(3.0)[:, None]), [0.0, 1.0, 2.0])

    def test_rows_and_module_meet_on_the_device(self, friedman):
        torch, seen = self.torch, []

        class Watched(torch.nn.Linear):
            def forward(self, x):
                seen.append((x.device.type, self.weight.device.type))
                return torch.zeros(len(x))

        torch_model(Watched(4, 1), device="meta").predict(friedman[0])  # the only other device that is everywhere
        assert seen == [("meta", "meta")]

    def test_half_precision_outputs(self, module, friedman):
        X, _ = friedman
        expected = self.by_hand(module, X)[:, 0]
        np.testing.assert_allclose(torch_model(module.bfloat16()).predict(X), expected, atol=0.05)

    @pytest.mark.parametrize("container", [pd.DataFrame, np.asfortranarray, list, "tensor", "object", "read-only"])
    def test_containers_of_rows(self, module, friedman, container):
        X, _ = friedman
        given = {
            "tensor": lambda: self.torch.tensor(X),
            "object": lambda: pd.DataFrame(X).astype({0: object}),
            "read-only": lambda: np.broadcast_to(X, X.shape),
        }.get(container, lambda: container(X))()
        expected = torch_model(module).predict(X)
        np.testing.assert_allclose(torch_model(module, batch_size=50).predict(given), expected, rtol=1e-5)

    @pytest.mark.parametrize(("tail", "shape"), [((), (120,)), ((1,), (120,)), ((3,), (120, 3))])
    def test_shapes_of_outputs(self, friedman, tail, shape):
        nn = self.torch.nn
        module = nn.Sequential(nn.Linear(4, *(tail or (1,))), *([] if tail else [nn.Flatten(0)]))
        assert torch_model(module, batch_size=50).predict(friedman[0]).shape == shape

    def test_a_last_batch_of_one_row_that_is_squeezed(self, friedman):
        torch = self.torch

        class Squeezed(torch.nn.Linear):
            def forward(self, x):
                return super().forward(x).squeeze()

        X, _ = friedman
        assert torch_model(Squeezed(4, 1), batch_size=17).predict(X[:18]).shape == (18,)

    def test_wrong_shapes_are_named(self):
        with pytest.raises(ValueError, match=r"returned shape \(3, 2, 2\) for 3 rows"):
            torch_model(self.torch.nn.Identity(), dtype="float32").predict(np.ones((3, 2, 2)))
        with pytest.raises(ValueError, match=r"returned shape \(6,\) for 3 rows"):
            torch_model(self.torch.nn.Flatten(0)).predict(np.ones((3, 2)))

    def test_several_outputs_are_refused(self):
        with pytest.raises(TypeError, match="returned a tuple, and has to return one tensor"):
            torch_model(self.torch.nn.LSTM(2, 3)).predict(np.ones((3, 5, 2)))

    def test_what_is_not_a_module(self):
        with pytest.raises(TypeError, match=r"torch\.nn\.Module"):
            torch_model(LinearRegression())
        with pytest.raises(TypeError, match="not a class"):
            torch_model(self.torch.nn.Linear)
        with pytest.raises(ValueError, match="batch_size"):
            torch_model(self.torch.nn.Identity(), batch_size=0)
        with pytest.raises(ValueError, match="dtype has to be"):
            torch_model(self.torch.nn.Identity(), dtype="number")

    def test_text_is_refused(self, module):
        frame = pd.DataFrame({"a": [1.0], "b": ["x"]})
        with pytest.raises(ValueError, match="numbers only"):
            torch_model(module).predict(frame)
        with pytest.raises(ValueError, match="has to hold numbers"):
            torch_model(module).predict(np.array([["x"]]))

    def test_a_bare_module_is_sent_to_the_adapter(self, module, friedman):
        with pytest.raises(TypeError, match="torch_model"):
            quick(module).fit(*friedman)

    def test_rio_on_a_trained_module(self, friedman):
        torch, (X, y) = self.torch, friedman
        module = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
        optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
        rows, outcomes = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
        for _ in range(60):
            optimizer.zero_grad()
            ((module(rows)[:, 0] - outcomes) ** 2).mean().backward()
            optimizer.step()
        weights = {name: value.clone() for name, value in module.state_dict().items()}
        model = torch_model(module)
        rio = quick(model).fit(X, y)
        assert rio.estimator_ is model
        assert rio.score(X, y) > 1 - np.mean((y - model.predict(X)) ** 2) / np.var(y)
        assert all((weights[name] == value).all() for name, value in module.state_dict().items())
        copied = clone(rio)
        assert copied.estimator is model
        restored = pickle.loads(pickle.dumps(rio))
        np.testing.assert_array_equal(restored.predict(X), rio.predict(X))

    def test_two_outputs(self, friedman):
        X, y = friedman
        rio = quick(torch_model(self.torch.nn.Linear(4, 2))).fit(X, np.column_stack([y, -y]))
        assert rio.predict(X, return_std=True)[1].shape == (120, 2)


def test_a_missing_framework_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"needs torch.*rio-uq\[frameworks\]"):
        torch_model(object())
    with pytest.raises(ImportError, match=r"needs onnxruntime.*rio-uq\[onnx\]"):
        onnx_model(b"")


class TestOnnx:
    @pytest.fixture(autouse=True)
    def _onnx(self):
        self.onnx = pytest.importorskip("onnx")
        self.runtime = pytest.importorskip("onnxruntime")

    def linear(self, weights, *, n_rows="n", outputs=("y",), kind="FLOAT"):
        """y = X w as a graph, under as many names as are asked for."""
        helper, kind = self.onnx.helper, getattr(self.onnx.TensorProto, kind)
        weights = np.atleast_2d(np.asarray(weights, dtype=self.onnx.helper.tensor_dtype_to_np_dtype(kind)).T).T
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["X", "w"], [name]) for name in outputs],
            "linear",
            [helper.make_tensor_value_info("X", kind, [n_rows, len(weights)])],
            [helper.make_tensor_value_info(name, kind, [n_rows, weights.shape[1]]) for name in outputs],
            [self.onnx.numpy_helper.from_array(weights, "w")],
        )
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])

    def test_a_file_or_its_bytes(self, friedman, tmp_path):
        X, _ = friedman
        model = self.linear([1, 2, 3, 4])
        self.onnx.save(model, tmp_path / "model.onnx")
        for source in (tmp_path / "model.onnx", str(tmp_path / "model.onnx"), model.SerializeToString()):
            predicted = onnx_model(source, batch_size=50).predict(X)
            np.testing.assert_allclose(predicted, X @ [1, 2, 3, 4], rtol=1e-5)

    def test_weights_in_a_file_of_their_own(self, friedman, tmp_path):
        X, _ = friedman
        path = tmp_path / "model.onnx"
        self.onnx.save_model(
            self.linear([1, 2, 3, 4]), path, save_as_external_data=True, location="w.data", size_threshold=0
        )
        assert (tmp_path / "w.data").exists()
        model = pickle.dumps(onnx_model(path))
        (tmp_path / "w.data").unlink()
        np.testing.assert_allclose(pickle.loads(model).predict(X), X @ [1, 2, 3, 4], rtol=1e-5)

    def test_precision_follows_the_graph(self, friedman):
        X, _ = friedman
        predicted = onnx_model(self.linear([1, 2, 3, 4], kind="DOUBLE").SerializeToString()).predict(X)
        np.testing.assert_allclose(predicted, X @ [1, 2, 3, 4], rtol=1e-14)

    def test_a_fixed_number_of_rows(self, friedman):
        X, _ = friedman
        predicted = onnx_model(self.linear([1, 2, 3, 4], n_rows=50).SerializeToString()).predict(X)
        np.testing.assert_allclose(predicted, X @ [1, 2, 3, 4], rtol=1e-5)

    def test_several_outputs_have_to_be_chosen(self, friedman):
        graph = self.linear([1, 2, 3, 4], outputs=("mean", "median")).SerializeToString()
        with pytest.raises(ValueError, match="2 outputs: choose one as output, 'mean', 'median'"):
            onnx_model(graph)
        with pytest.raises(ValueError, match="no output 'mode': choose one of mean, median"):
            onnx_model(graph, "mode")
        assert onnx_model(graph, "median").predict(friedman[0]).shape == (120,)

    def test_two_numbers_a_row(self, friedman):
        X, y = friedman
        rio = quick(onnx_model(self.linear(np.ones((4, 2))).SerializeToString())).fit(X, np.column_stack([y, -y]))
        assert rio.predict(X).shape == (120, 2)

    def test_pickle_and_clone(self, friedman):
        X, y = friedman
        model = onnx_model(self.linear([1, 2, 3, 4]).SerializeToString())
        rio = quick(model).fit(X, y)
        assert rio.estimator_ is model
        assert clone(rio).estimator is model
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(rio)).predict(X), rio.predict(X))

    def test_a_session_is_sent_to_the_adapter(self, friedman):
        session = self.runtime.InferenceSession(self.linear([1, 2, 3, 4]).SerializeToString())
        with pytest.raises(TypeError, match="onnx_model"):
            quick(session).fit(*friedman)

    def test_what_is_not_a_graph(self):
        with pytest.raises(TypeError, match="a path or as bytes"):
            onnx_model(self.linear([1]))
        with pytest.raises(FileNotFoundError, match=r"absent\.onnx"):
            onnx_model("absent.onnx")

    def test_one_input_for_each_column(self, friedman):
        skl2onnx = pytest.importorskip("skl2onnx")
        from sklearn.compose import make_column_transformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        X, y = friedman
        frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] < 0.5, "a", "b")})
        encode = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
        pipeline = make_pipeline(encode, LinearRegression()).fit(frame, y)
        types = [
            ("size", skl2onnx.common.data_types.FloatTensorType([None, 1])),
            ("kind", skl2onnx.common.data_types.StringTensorType([None, 1])),
        ]
        model = onnx_model(skl2onnx.to_onnx(pipeline, initial_types=types).SerializeToString(), batch_size=50)
        np.testing.assert_allclose(model.predict(frame), pipeline.predict(frame), rtol=1e-5)
        with pytest.raises(ValueError, match=r"2 inputs \(size, kind\).*kind not found"):
            model.predict(frame[["size"]])
