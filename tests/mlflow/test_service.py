"""A regressor that was logged to a real tracking store, and is served by MLflow over HTTP."""

import doctest
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import rio_uq
from rio_uq import RIORegressor, metrics

pytestmark = [pytest.mark.no_cover, pytest.mark.filterwarnings("ignore::Warning:mlflow")]

PATIENCE = 120.0
CLIENTS, REQUESTS = 2, 30


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(160, 3)), columns=["length", "width", "age"])
    return X, np.sin(6.0 * X["length"].to_numpy()) + X["width"].to_numpy() + 0.1 * rng.normal(size=160)


@pytest.fixture(scope="module")
def rio(data):
    X, y = data
    return RIORegressor(Ridge(), random_state=0, noise="constant").fit(X[:100], y[:100])


@pytest.fixture(scope="module")
def store(mlflow, tmp_path_factory):
    """The environment of a tracking store of its own."""
    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{folder}/mlflow.db")
        patch.setenv("MLFLOW_EXPERIMENT_ID", mlflow.create_experiment("rio", artifact_location=(folder / "a").as_uri()))
        yield folder


def test_logged_and_loaded(data, rio, store, mlflow):
    X, y = data[0][100:], data[1][100:]
    with mlflow.start_run() as run:
        info = rio_uq.mlflow.log_model(
            rio, X=X, y=y, registered_model_name="wings", extra_pip_requirements=["packaging"]
        )
        assert mlflow.active_run().info.run_id == run.info.run_id
    measured = mlflow.get_run(run.info.run_id).data.metrics
    mean, std = rio.predict(X, return_std=True)
    assert measured["before_rmse"] == pytest.approx(metrics.rmse(y, rio.estimator_.predict(X)))
    assert measured["after_rmse"] == pytest.approx(metrics.rmse(y, mean))
    assert measured["after_nlpd"] == pytest.approx(metrics.nlpd(y, mean, std))
    assert measured["after_coverage"] == pytest.approx(metrics.coverage(y, mean, std))
    assert measured["after_rmse"] < measured["before_rmse"]
    assert info.signature.inputs.input_names() == list(X)
    assert info.signature.outputs.input_names() == ["mean", "std", "lower", "upper"]
    for address in (info.model_uri, "models:/wings/1", f"runs:/{run.info.run_id}/model"):
        function = mlflow.pyfunc.load_model(address)
        np.testing.assert_allclose(function.predict(X)["mean"], mean, rtol=1e-12)
    pd.testing.assert_frame_equal(function.input_example, X[:5].reset_index(drop=True))
    required = Path(mlflow.artifacts.download_artifacts(info.model_uri), "requirements.txt").read_text().split()
    assert {f"rio-uq=={rio_uq.__version__}", "packaging"} <= set(required)
    assert {line.split("==")[0] for line in required} >= {"numpy", "scipy", "scikit-learn", "skops", "mlflow"}
    loaded = rio_uq.mlflow.load_model(info.model_uri)
    np.testing.assert_array_equal(loaded.predict(X), mean)


def test_errors_leave_no_run_behind(data, rio, store, mlflow):
    X, y = data
    before = len(mlflow.search_runs())
    models = len(mlflow.search_logged_models())
    for wrong in ({"y": y[:-1]}, {"y": y, "base": "no/such/folder"}, {"y": y, "confidence_level": 2.0}):
        with pytest.raises(ValueError, match=r"same rows|not to be found|between 0 and 1"):
            rio_uq.mlflow.log_model(rio, X=X, **wrong)
    assert len(mlflow.search_runs()) == before
    assert len(mlflow.search_logged_models()) == models
    assert mlflow.active_run() is None


def test_metrics_are_logged_with_a_model_only(data, rio, store, mlflow):
    with mlflow.start_run() as run:
        for wrong in ({"name": "a/b:c"}, {"no_such_option": 1}):
            with pytest.raises((TypeError, mlflow.exceptions.MlflowException)):
                rio_uq.mlflow.log_model(rio, X=data[0], y=data[1], **wrong)
    assert mlflow.get_run(run.info.run_id).data.metrics == {}


def test_the_page_on_deployment(store):
    for module in ("onnx", "onnxruntime"):
        pytest.importorskip(module)
    page = Path(__file__).parents[2] / "docs" / "deployment.md"
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, attempted = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert attempted > 30
    assert failed == 0


class Service:
    """``mlflow models serve`` on loopback, in a process group of its own."""

    def __init__(self, address, port):
        self.port = port
        command = [sys.executable, "-m", "mlflow", "models", "serve", "--model-uri", address]
        options = ["--env-manager", "local", "--host", "127.0.0.1", "--port", str(port)]
        source = str(Path(rio_uq.__file__).parents[1])
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]),
        }
        self.process = subprocess.Popen(
            [*command, *options],
            env=environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def wait(self):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            with self.connection() as connection:
                try:
                    connection.request("GET", "/ping")
                    if connection.getresponse().status == 200:
                        return self
                except OSError:
                    time.sleep(0.1)
        self.kill()
        raise AssertionError("the service did not start")

    def kill(self):
        """As ``kill -9``, the server and all of its workers."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def connection(self):
        return closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60))

    def ask(self, body, kind="application/json"):
        """Status and answer."""
        with self.connection() as connection:
            return self.ask_by(connection, body, kind)

    def ask_by(self, connection, body, kind="application/json"):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", "/invocations", content, {"Content-Type": kind})
        response = connection.getresponse()
        return response.status, response.read().decode()


def table(X):
    return {"dataframe_split": {"columns": list(X), "data": X.to_numpy().tolist()}}


def assert_answers(service, rio, X):
    status, text = service.ask(table(X))
    assert status == 200, text
    found = pd.DataFrame(json.loads(text)["predictions"])
    mean, std = rio.predict(X, return_std=True)
    band = rio.predict_interval(X)
    assert list(found) == ["mean", "std", "lower", "upper"]
    np.testing.assert_allclose(found.to_numpy(), np.column_stack([mean, std, band]), rtol=1e-9)


ROW = {"length": 0.1, "width": 0.2, "age": 0.3}


@pytest.mark.processes
def test_served_and_killed(data, rio, store, mlflow):
    X = data[0][100:]
    info = rio_uq.mlflow.log_model(rio)  # in a run of its own, with training rows as its example
    assert mlflow.active_run() is None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    service = Service(info.model_uri, port).wait()
    try:
        assert_answers(service, rio, X)
        assert_other_levels_and_forms(service, rio)
        assert_bad_requests_are_answered(service)
        assert_answers_at_once(service)
    finally:
        service.kill()
    with pytest.raises(OSError, match=r"refused|reset"):
        service.ask(table(X))
    again = mlflow.pyfunc.load_model(info.model_uri)  # what was served is whole, and can be served again
    np.testing.assert_allclose(again.predict(X)["mean"], rio.predict(X), rtol=1e-12)


def assert_other_levels_and_forms(service, rio):
    row = pd.DataFrame([ROW])
    band = rio.predict_interval(row, confidence_level=0.5)[0]
    for body in ({"dataframe_records": [ROW]}, {"inputs": {name: [value] for name, value in ROW.items()}}):
        status, text = service.ask({**body, "params": {"confidence_level": 0.5}})
        assert status == 200, text
        (found,) = json.loads(text)["predictions"]
        np.testing.assert_allclose([found["lower"], found["upper"]], band, rtol=1e-9)
    status, text = service.ask(row.to_csv(index=False).encode(), "text/csv")
    assert status == 200, text


def assert_bad_requests_are_answered(service):
    """With a 4xx and the reason; and the service lives."""
    bad = [
        ({"dataframe_records": [{**ROW, "age": None}]}, "X contains NaN in 1 row (0)"),
        ({"dataframe_records": [{**ROW, "age": float("inf")}]}, "X contains infinity"),
        ({"dataframe_records": [{"length": 0.1, "width": 0.2}]}, "missing inputs ['age']"),
        ({"dataframe_records": [{**ROW, "age": "old"}]}, "could not convert string to float: 'old'"),
        ({"dataframe_split": {"columns": list(ROW), "data": []}}, "0 sample(s)"),
        ({"dataframe_split": {"columns": list(ROW), "data": [[1.0, 2.0]]}}, "3 columns passed"),
        ({"dataframe_records": [ROW], "params": {"confidence_level": 95}}, "has to be between 0 and 1"),
        ({"rows": [ROW]}, "exactly one of the input fields"),
        (b"{not json", "valid JSON"),
    ]
    for body, reason in bad:
        status, text = service.ask(body)
        assert status == 400, text
        assert reason in json.loads(text)["message"]
    assert service.ask(b"x", "image/png")[0] == 415
    assert service.ask({"dataframe_records": [ROW]})[0] == 200


def assert_answers_at_once(service):
    """The same row from several clients at once: every answer comes, and is the same."""

    def client(_):
        with service.connection() as connection:
            return [service.ask_by(connection, {"dataframe_records": [ROW]}) for _ in range(REQUESTS)]

    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = [answer for of_client in pool.map(client, range(CLIENTS)) for answer in of_client]
    assert len(answers) == CLIENTS * REQUESTS
    assert {status for status, _ in answers} == {200}
    assert len({text for _, text in answers}) == 1
