"""Dask arrays and data frames, in this process and on a cluster of two worker processes, some of which die."""

import gc
import os
import re
import signal
import threading
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import OneHotEncoder

from rio_uq import RIORegressor, load
from rio_uq.gp.inference import sparse
from rio_uq.gp.observations import Observations
from rio_uq.rows.dask.partitions import partitions

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.usefixtures("quick_fits")

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
N = 900
NAMES = ["a", "b", "c"]
PRELOADED = ["distributed.nanny", "dask.array", "dask.dataframe", "sklearn.linear_model", "rio_uq.regressor"]
"""All that workers need: those that are killed come back as copies of a process that has imported it."""


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N, 3))
    return X, np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=N)


@pytest.fixture(scope="module")
def model(data):
    return LinearRegression().fit(*data)


@pytest.fixture(scope="module")
def frame(data):
    frame = pd.DataFrame(data[0], columns=NAMES).assign(y=data[1])
    return frame.assign(kind=pd.Categorical(np.where(frame["a"] > 0.5, "high", "low")))


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        distributed.utils.get_mp_context().set_forkserver_preload(PRELOADED)
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            yield client


def regressor(estimator=None, **options):
    training = {"sample_rows": 120, "starts": "rio"}
    small = {"n_inducing": 10, "training": training, "noise": "constant", "ard": False}
    usual = {"max_iter": 60, "tol": 0.03, "random_state": 0, **small}
    return RIORegressor(estimator, **{**usual, **options})


def assert_knows_all_rows(rio, X, y):
    """Its posterior is the one made of all rows at once, at its hyperparameters, scalings and inducing points."""
    gp, known = rio.fitted_.gp, rio.fitted_.gp.posterior
    prediction = rio.fitted_.predictions(X)
    features = rio.fitted_.features(X)
    data = Observations(gp._rows(features, prediction), gp.targets.apply(np.asarray(y)[:, None] - prediction))
    whole = sparse.posterior(known.kernel, known.theta, np.log(known.statistics.noise_variance), known.points, data)
    whole = replace(whole, noise_variance=known.noise_variance)
    mean, variance = replace(gp, posterior=whole).mean_and_variance(features, prediction, 1)
    found, std = rio.predict(X, return_std=True, include_noise=False)
    np.testing.assert_allclose(found, (prediction + mean)[:, 0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(std, np.sqrt(variance[:, 0]), rtol=1e-6)
    assert rio.summary().n_rows == len(X)


def nearest(estimator, **options):
    training = {"sample_rows": 200, "starts": "rio", "n_neighbors": 15}
    return regressor(estimator, **{"inference": "nearest", "training": training, **options})


def assert_is_of_all_rows(rio, X, y):
    """Its nearest rows are those of all rows in memory, at its hyperparameters and scalings."""
    gp = rio.fitted_.gp
    known, prediction = gp.posterior, rio.fitted_.predictions(X)
    data = Observations(gp._rows(X, prediction), gp.targets.apply(y[:, None] - prediction))
    whole = replace(known.of_rows(data), noise_variance=known.noise_variance)
    mean, variance = replace(gp, posterior=whole).mean_and_variance(X, prediction, 1)
    found, std = rio.predict(X, return_std=True, include_noise=False)
    np.testing.assert_allclose(found, (prediction + mean)[:, 0], rtol=1e-9)
    np.testing.assert_allclose(std, np.sqrt(variance[:, 0]), rtol=1e-9)
    assert len(known.local.data) == rio.summary().n_rows == len(X)


class TestInThisProcess:
    def test_arrays(self, data, model):
        X, y = data
        chunks = (100, 0, 350, 50, 400)  # unequal, and one without rows
        rio = regressor(model, noise="io").fit(da.from_array(X, chunks=(chunks, 2)), da.from_array(y, chunks=90))
        assert type(rio.fitted_.gp.posterior.points) is np.ndarray
        assert_knows_all_rows(rio, X, y)
        lazy = rio.predict(da.from_array(X, chunks=(chunks, 3)), return_std=True)
        assert [type(part) for part in lazy] == [da.Array, da.Array]
        assert lazy[0].shape == (N,)
        np.testing.assert_allclose(dask.compute(*lazy), rio.predict(X, return_std=True), rtol=1e-9)

    def test_nearest_rows(self, data, model, tmp_path):
        """Whatever the partitions are, and after more rows; the regressor holds them all, and can be saved."""
        X, y = data
        first, rest = slice(0, 600), slice(600, None)
        fits = [
            nearest(model).fit(da.from_array(X[first], chunks=(chunks, 2)), da.from_array(y[first], chunks=100))
            for chunks in ((100, 0, 350, 150), 200)
        ]
        assert fits[0].inference_ == "nearest"
        for rio in fits:
            assert_is_of_all_rows(rio, X[first], y[first])
        np.testing.assert_allclose(fits[0].predict(X), fits[1].predict(X), rtol=1e-9)
        rio = fits[0].partial_fit(da.from_array(X[rest], chunks=(70, 3)), y[rest])
        assert_is_of_all_rows(rio, X, y)
        rio.save(tmp_path / "model.rio")
        loaded = load(tmp_path / "model.rio", estimator=model)
        lazy = loaded.predict(da.from_array(X, chunks=(250, 3)), return_std=True)
        np.testing.assert_allclose(dask.compute(*lazy), rio.predict(X, return_std=True), rtol=1e-9)

    def test_nearest_rows_without_weight_are_left_out(self, data, model):
        X, y = data
        weight = np.repeat([0.0, 1.0], N // 2)  # the first partitions do not count at all
        rio = nearest(model).fit(da.from_array(X, chunks=(150, 3)), y, sample_weight=weight)
        assert_is_of_all_rows(rio, X[N // 2 :], y[N // 2 :])

    def test_unknown_chunk_sizes(self, data, model):
        X, y = data
        both = da.from_array(np.column_stack([X, y]), chunks=(200, 4))
        some = both[both[:, 0] > 0.3]
        rio = regressor(model).fit(some[:, :3], some[:, 3])
        kept = X[:, 0] > 0.3
        assert_knows_all_rows(rio, X[kept], y[kept])
        band = rio.predict_interval(some[:, :3], confidence_level=[0.5, 0.9])
        np.testing.assert_allclose(band, rio.predict_interval(X[kept], confidence_level=[0.5, 0.9]), rtol=1e-8)

    def test_frames_with_categories_and_empty_partitions(self, frame):
        X = frame.drop(columns="y")
        boosting = HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype").fit(X, frame["y"])
        features = make_column_transformer((OneHotEncoder(sparse_output=False), ["kind"]), remainder="passthrough")
        lazy = dd.from_pandas(frame.sort_values("a", ignore_index=True), npartitions=5)
        lazy = lazy[lazy["a"] > 0.3]  # nothing is left of the first partition
        rio = regressor(boosting, features=features).fit(lazy, "y")
        kept = frame.sort_values("a", ignore_index=True)
        kept = kept[kept["a"] > 0.3]
        assert_knows_all_rows(rio, kept.drop(columns="y"), kept["y"])
        series = regressor(boosting, features=features).fit(lazy.drop(columns="y"), lazy["y"])
        assert series.bound_ == rio.bound_
        expected = rio.predict(kept.drop(columns="y"))
        np.testing.assert_allclose(rio.predict(lazy).compute(), expected, rtol=1e-8)

    @pytest.mark.parametrize("is_one_frame", [True, False])
    def test_files_that_dask_may_join(self, is_one_frame, frame, model, tmp_path):
        """Reading few of many columns, Dask joins small files, and not the same ones for X and for y."""
        for i, start in enumerate(range(0, N, 300)):
            wide = frame[start : start + 300].drop(columns="kind").assign(**{f"unused{k}": 0.0 for k in range(20)})
            wide.to_parquet(tmp_path / f"part-{i}.parquet")
        lazy = dd.read_parquet(tmp_path)
        rio = regressor(features=NAMES)
        if is_one_frame:
            rio.fit(lazy[[*NAMES, "y"]], "y", y_pred=frame["b"])
        else:
            rio.fit(lazy[NAMES], lazy["y"], y_pred=frame["b"])
        assert rio.fitted_.gp.posterior.statistics.sums.n == N
        expected = rio.predict(frame[NAMES], y_pred=frame["b"])
        np.testing.assert_allclose(rio.predict(lazy, y_pred=lazy["b"]).compute(), expected, rtol=1e-7)

    def test_categories_that_differ_between_partitions(self, frame):
        parts = [frame[frame["kind"] == kind].astype({"kind": "str"}) for kind in ("high", "low")]
        lazy = dd.concat([dd.from_pandas(part, npartitions=2) for part in parts]).astype({"kind": "category"})
        assert not lazy["kind"].cat.known
        rio = regressor(features=NAMES).fit(lazy, "y", y_pred=np.zeros(N))
        assert rio.summary().n_rows == N

    def test_weights_given_as_an_array_and_more_rows(self, data, model):
        X, y = data
        weight = np.repeat([0.0, 1.0], N // 2)  # the first partitions do not count at all
        lazy = da.from_array(X, chunks=(150, 3))
        rio = regressor(model).fit(lazy, y, sample_weight=weight)
        assert rio.fitted_.gp.posterior.statistics.sums.n == N // 2
        rio.partial_fit(lazy[: N // 2], da.from_array(y[: N // 2], chunks=75))
        np.testing.assert_allclose(rio.fitted_.gp.posterior.statistics.sums.n, N)

    def test_several_outputs_and_parts_of_the_correction(self, data):
        X, y = data
        both = np.column_stack([y, X[:, 2] ** 2])
        rio = regressor(LinearRegression().fit(X, both)).fit(
            da.from_array(X, chunks=400), da.from_array(both, chunks=300)
        )
        lazy = da.from_array(X, chunks=500)
        assert rio.predict(lazy).shape == (N, 2)
        np.testing.assert_allclose(rio.decompose(lazy).input.compute(), rio.decompose(X).input, rtol=1e-7, atol=1e-12)

    def test_calibrated_by_group(self, data, model):
        X, y = data
        group = X[:, 0] > 0.5
        lazy = da.from_array(X, chunks=500)
        rio = regressor(model).fit(lazy, y).calibrate(X, y, groups=group)
        found = rio.predict_interval(lazy, groups=da.from_array(group, chunks=500))
        np.testing.assert_allclose(found.compute(), rio.predict_interval(X, groups=group), rtol=1e-8)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda X, y: {"y": y[:-1]}, r"X has 900 rows and y has 899"),
            (lambda X, y: {"y": y[y > 0.0][:, None]}, "in partition . of X: X has 300 rows and y has"),
            (lambda X, y: {"y": y.rechunk(450)[y > 0.0]}, "X has 3 partitions and y has 4"),
            (lambda X, y: {"y": "y"}, "a Dask array has no column 'y'"),
            (lambda X, y: {"y": np.zeros(7)}, r"each of the 900 rows of X; got shape \(7,\)"),
            (lambda X, y: {"X": X[:0], "y": y[:0]}, "X has no rows"),
            (
                lambda X, y: {"y": da.where(da.arange(N, chunks=300) == 650, np.nan, y)},
                "in partition 2 of X: y contains",
            ),
        ],
    )
    def test_what_cannot_be_is_said(self, change, message, data, model):
        lazy = {"X": da.from_array(data[0], chunks=(300, 3)), "y": da.from_array(data[1], chunks=300)}
        with pytest.raises(ValueError, match=message):
            regressor(model).fit(**{**lazy, **change(*lazy.values())})

    def test_columns_that_are_not_there(self, frame):
        lazy = dd.from_pandas(frame, npartitions=2)
        with pytest.raises(ValueError, match="X has no column 'z': its columns are 'a', 'b', 'c', 'y', 'kind'"):
            regressor().fit(lazy, "z", y_pred="y")

    def test_methods_that_need_rows_in_memory_say_so(self, data, model):
        lazy = da.from_array(data[0], chunks=300)
        rio = regressor(model).fit(lazy, data[1])
        with pytest.raises(TypeError, match="this method takes rows in memory"):
            rio.calibrate(lazy, data[1])
        with pytest.raises(TypeError, match="use predict for X of Dask"):
            rio.predict_to_parquet(lazy, "out.parquet")


def slow(model, seconds, folder):
    """A model that takes its time with every partition, and leaves a file for each that it was asked for."""

    def predict(X):
        name = f"{os.getpid()}-{time.monotonic_ns()}"
        (folder / name).touch()
        time.sleep(seconds)
        return model.predict(X)

    return predict


def held_up(model, folder):
    """A model that leaves a file for each partition it is asked for, and answers once there is a file "go"."""
    client = os.getpid()

    def predict(X):
        if os.getpid() != client:  # where it is asked first, for the rows that the GP learns from
            (folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
            wait_for((folder / "go").exists, "leave to go on")
        return model.predict(X)

    return predict


def slow_at_first(model, seconds):
    """A model that takes its time on the client, where it is asked first."""
    client = os.getpid(), threading.get_ident()

    def predict(X):
        if (os.getpid(), threading.get_ident()) == client:
            time.sleep(seconds)
        return model.predict(X)

    return predict


def wait_for(condition, what):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


def tasks_left(client):
    """Data that were scattered are no tasks, and go when the last reference to them does."""
    gc.collect()
    return client.run_on_scheduler(
        lambda dask_scheduler: sum(task.run_spec is not None for task in dask_scheduler.tasks.values())
    )


def begun_and_waiting(dask_worker):
    """Tasks of a worker, those among them that were cancelled after they had begun."""
    return len(dask_worker.state.executing), len(dask_worker.state.ready)


SCHEDULER = """
import os, time
from distributed import LocalCluster
cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="tcp")
with open(path + ".part", "w") as file:
    file.write(cluster.scheduler_address)
os.rename(path + ".part", path)
time.sleep(600)
"""
"""A scheduler and its worker in one process, which says where it is in a file."""


def forget_transfers(dask_worker):
    dask_worker.transfer_incoming_log.clear()


def transferred(dask_worker):
    """The kinds of what a worker has got from others."""
    keys = [key for transfer in dask_worker.transfer_incoming_log for key in transfer["keys"]]
    return {distributed.utils.key_split(key) for key in keys}


def test_what_several_partitions_share_is_not_made_again(data):
    """A frame less its mean: all partitions need the mean, each needs its own rows."""
    calls = []
    frame = dd.from_pandas(pd.DataFrame(data[0], columns=NAMES), npartitions=6).persist()
    frame = frame.map_partitions(lambda rows: calls.append(len(rows)) or rows, meta=frame._meta)
    centred = frame - frame.mean()
    parts = partitions([centred.to_delayed(optimize_graph=False)])
    assert all(part.needed for part in parts)
    made = dask.compute([dask.delayed(lambda part, needed: part.made_of(needed)[0])(*part) for part in parts])[0]
    np.testing.assert_allclose(pd.concat(made), data[0] - data[0].mean(axis=0), atol=1e-12)
    assert calls.count(N // 6) <= 2 * 6


@pytest.mark.parametrize(
    "make", [lambda frame: frame["a"], lambda frame: frame.to_bag(), lambda frame: dask.delayed(1)]
)
def test_other_collections_are_no_rows(make, frame, model):
    with pytest.raises(TypeError, match="X has to be a Dask array or a Dask data frame"):
        regressor(model).fit(make(dd.from_pandas(frame[NAMES], npartitions=2)), np.zeros(N))


@pytest.mark.processes
class TestOnACluster:
    def test_the_same_as_in_this_process(self, client, data, model):
        X, y = data
        lazy = da.from_array(X, chunks=(130, 3)), da.from_array(y, chunks=130)
        rio = regressor(model).fit(*lazy)
        assert_knows_all_rows(rio, X, y)
        again = regressor(model).fit(*client.persist(lazy))
        assert again.bound_ == rio.bound_  # to the last bit: the order of the sums does not depend on the cluster
        found = rio.predict(lazy[0], return_std=True)
        np.testing.assert_allclose(dask.compute(*found), rio.predict(X, return_std=True), rtol=1e-8)
        rows = dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=3)  # of unknown lengths
        assert rio.score(rows.to_dask_array(), y) == pytest.approx(rio.score(X, y))
        del found
        wait_for(lambda: tasks_left(client) == 0, "the end of all tasks")

    @pytest.mark.parametrize("is_persisted", [True, False])
    def test_only_sums_travel_between_workers(self, is_persisted, client, data, tmp_path):
        """Though one worker holds all rows and the other has nothing to do."""
        known = pd.DataFrame(data[0], columns=NAMES).assign(y=data[1])
        frame = dd.from_pandas(known, npartitions=8)
        if is_persisted:
            (frame,) = client.persist([frame], workers=sorted(client.nthreads())[:1])
        frame = frame.assign(y=frame["y"] + 0.0)  # rows that have yet to be made of those that are held
        client.run(forget_transfers)
        model = LinearRegression().fit(known[NAMES], known["y"])
        rio = regressor(slow(model, 0.1, tmp_path)).fit(frame, "y")
        assert rio.summary().n_rows == N
        travelled = {name for names in client.run(transferred).values() for name in names}
        assert travelled <= {
            "work_on",
            "plus",
            "Fitted",
        }  # what was fitted is sent once to each, by the client or a worker

    def test_nearest_rows_come_to_the_client_and_nowhere_else(self, client, data, model):
        X, y = data
        lazy = da.from_array(X, chunks=(130, 3)), da.from_array(y, chunks=130)
        expected = nearest(model).fit(*lazy, held_out=True)
        assert_is_of_all_rows(expected, X, y)
        persisted = client.persist(lazy)
        client.run(forget_transfers)
        rio = nearest(model).fit(*persisted, held_out=True)
        travelled = {name for names in client.run(transferred).values() for name in names}
        assert not travelled & {"work_on", "plus"}
        np.testing.assert_array_equal(rio.predict(X, return_std=True), expected.predict(X, return_std=True))
        found = rio.predict(lazy[0], return_std=True)
        np.testing.assert_allclose(dask.compute(*found), rio.predict(X, return_std=True), rtol=1e-9)
        del found, persisted
        wait_for(lambda: tasks_left(client) == 0, "the end of all tasks")

    def test_a_killed_worker_costs_time_only(self, client, data, model, tmp_path):
        X, y = data
        lazy = client.persist([da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100)])
        expected = regressor(model).fit(*lazy)
        first = set(client.scheduler_info(n_workers=-1)["workers"])

        def kill():
            wait_for(lambda: len(list(tmp_path.iterdir())) >= 3, "work on partitions")
            os.kill(client.run(os.getpid)[sorted(first)[0]], signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        rio = regressor(slow(model, 0.3, tmp_path)).fit(*lazy)
        thread.join()
        assert set(client.scheduler_info(n_workers=-1)["workers"]) != first
        assert rio.bound_ == pytest.approx(expected.bound_, rel=1e-12)
        np.testing.assert_allclose(rio.predict(X), expected.predict(X), rtol=1e-9)
        client.wait_for_workers(2)

    def test_lazy_predictions_outlive_workers_and_client(self, client, data, model):
        X, y = data
        rio = regressor(model, inference="sparse").fit(X[:200], y[:200])
        lazy = rio.predict(da.from_array(X, chunks=(100, 3)))
        expected = rio.predict(X)
        np.testing.assert_allclose(lazy.compute(), expected)
        first = set(client.nthreads())
        for pid in client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: len(client.nthreads()) == 2 and not first & set(client.nthreads()), "new workers")
        np.testing.assert_allclose(lazy.compute(), expected)
        np.testing.assert_allclose(lazy.compute(scheduler="synchronous"), expected)

    def test_rows_that_cannot_be_made_again(self, client, data, model):
        X, y = data
        address = sorted(client.nthreads())[0]
        held = [client.scatter(block, workers=[address]) for block in np.split(X, 3)]
        lazy = da.concatenate([da.from_delayed(block, (300, 3), dtype=float) for block in map(dask.delayed, held)])
        os.kill(client.run(os.getpid)[address], signal.SIGKILL)
        wait_for(lambda: address not in client.nthreads(), "the end of the worker")
        with pytest.raises(RuntimeError, match="lost with the worker that held them"):
            regressor(model).fit(lazy, da.from_array(y, chunks=300))
        client.wait_for_workers(2)

    def test_bad_rows_are_named_by_their_partition(self, client, data, model):
        X, y = data[0].copy(), data[1]
        X[555, 1] = np.inf
        rio = regressor(model, inference="sparse").fit(X[:200], y[:200])
        before = rio.bound_
        with pytest.raises(ValueError, match=r"in partition 5 of X: X contains infinity in 1 row \(55\)"):
            rio.fit(da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100))
        assert rio.bound_ == before
        wait_for(lambda: tasks_left(client) == 0, "the end of all tasks")

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_a_model_that_cannot_be_sent(self, client, data, model):
        lock = threading.Lock()

        def predict(X):
            with lock:
                return model.predict(X)

        with pytest.raises(TypeError, match="cannot be sent to the workers: its model"):
            regressor(predict).fit(da.from_array(data[0], chunks=(300, 3)), data[1])

    def test_an_interrupt_leaves_no_tasks_behind(self, client, data, model, tmp_path):
        """The two that each of the workers is at are finished; none of the others begins."""
        lazy = da.from_array(data[0], chunks=(90, 3)), da.from_array(data[1], chunks=90)

        def interrupt():
            wait_for(lambda: len(list(tmp_path.iterdir())) == 2, "work on partitions")
            os.kill(os.getpid(), signal.SIGINT)

        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
        try:
            thread = threading.Thread(target=interrupt)
            thread.start()
            with pytest.raises(KeyboardInterrupt):
                regressor(held_up(model, tmp_path)).fit(*lazy)
            thread.join()
            wait_for(lambda: tasks_left(client) == 0, "the end of all tasks")
            wait_for(lambda: set(client.run(begun_and_waiting).values()) == {(1, 0)}, "workers to drop what waits")
        finally:
            signal.signal(signal.SIGINT, before)
            (tmp_path / "go").touch()
        wait_for(lambda: set(client.run(begun_and_waiting).values()) == {(0, 0)}, "the end of what had begun")
        assert len(list(tmp_path.iterdir())) == 2 + 1

    def test_the_page_on_scale(self, client, tmp_path, monkeypatch, capsys):
        """All but the block for Spark, which `tests/behaviour/test_spark.py` runs."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("dask.distributed.LocalCluster", lambda **_: nullcontext(client.cluster))
        blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
        assert len(blocks) >= 8
        names: dict = {}
        for block in (block for block in blocks if "pyspark" not in block):
            exec(block.replace("tcp://scheduler.example:8786", client.cluster.scheduler_address), names)
        np.testing.assert_allclose(names["on_a_cluster"], names["on_threads"])
        shown = capsys.readouterr().out.splitlines()
        assert shown[0] == "['mean', 'std', 'lower', 'upper']"
        assert 1 <= int(shown[1]) <= 400
        assert names["rio"].summary().n_rows == 1500
        assert names["other"].summary().n_rows == 667

    def test_a_cluster_that_adapts_may_have_no_worker_at_first(self, data, model):
        options = {"n_workers": 0, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
            cluster.adapt(minimum=0, maximum=1, interval="100ms", wait_count=1)
            rio = regressor(slow_at_first(model, 1.0)).fit(da.from_array(data[0], chunks=(450, 3)), data[1])
        assert rio.summary().n_rows == N

    @pytest.mark.usefixtures("client")  # whose copies of an imported process are the quickest way to another one
    def test_a_lost_scheduler_is_an_error(self, data, model, tmp_path):
        address_file = tmp_path / "address"
        work = tmp_path / "work"
        work.mkdir()
        names = {"path": str(address_file)}
        scheduler = distributed.utils.get_mp_context().Process(target=exec, args=(SCHEDULER, names), daemon=True)
        scheduler.start()
        try:
            wait_for(address_file.exists, "the scheduler")
            impatient = dask.config.set({"distributed.comm.timeouts.connect": "2s"})
            with impatient, distributed.Client(address_file.read_text()) as client:
                client.wait_for_workers(1, timeout=30)

                def kill():
                    wait_for(lambda: any(work.iterdir()), "work on partitions")
                    scheduler.kill()

                thread = threading.Thread(target=kill)
                thread.start()
                lazy = da.from_array(data[0], chunks=(100, 3)), da.from_array(data[1], chunks=100)
                with pytest.raises(ConnectionError, match="connection to the Dask scheduler was lost"):
                    regressor(held_up(model, work)).fit(*lazy)
                thread.join()
        finally:
            scheduler.kill()
            scheduler.join()


def test_rows_are_rejected_as_those_in_memory(data, model):
    X, y = data
    rio = RIORegressor(model, random_state=0, tol=1e-3).fit(X[:200], y[:200], held_out=True)
    lazy = da.from_array(X, chunks=(300, 3))
    cut = float(np.median(rio.predict(X, return_std=True)[1]))
    rules = [{"threshold": cut}, {"budget": 0.8}, {"budget": 0.8, "calibration": (lazy, None)}]
    rules.append({"target_error": 1.0, "calibration": (lazy, da.from_array(y, chunks=300))})
    for rule in rules:
        rejected = rio.reject(lazy, **rule)
        assert isinstance(rejected, np.ndarray)
        in_memory = {name: (X, y) if name == "calibration" else value for name, value in rule.items()}
        np.testing.assert_array_equal(rejected, rio.reject(X, **in_memory))
