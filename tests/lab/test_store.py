"""Rows are never lost, never repeated, and never half there."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

import pytest

from lab.store import Store
from lab.tasks import Task, open_tasks


@dataclass(frozen=True)
class Row:
    table: str
    dataset: str
    run: int
    method: str
    rmse: float
    nlpd: float | None


ROW = Row("default", "yacht", 0, "NN", 1.0, None)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "new" / "rows.csv", Row)


def test_rows_come_back(store):
    assert store.keys() == set()
    store.append(ROW)
    store.append(replace(ROW, method="RIO", nlpd=1.25))
    assert store.keys() == {("default", "yacht", 0, "NN"), ("default", "yacht", 0, "RIO")}
    frame = store.read()
    assert list(frame.columns) == ["table", "dataset", "run", "method", "rmse", "nlpd"]
    assert frame["nlpd"].tolist()[1] == 1.25
    assert frame["nlpd"].isna().tolist() == [True, False]


def test_half_a_line_is_passed_over_and_overwritten(store):
    store.append(ROW)
    with open(store.path, "a") as file:
        file.write("default,yacht,0,RIO,1.2")
    assert len(store.read()) == 1
    store.append(replace(ROW, method="R+I"))
    assert [key[3] for key in sorted(store.keys())] == ["NN", "R+I"]


def test_a_repeated_row_counts_once(store):
    store.append(ROW)
    store.append(replace(ROW, rmse=9.0))
    assert store.read()["rmse"].tolist() == [1.0]


def test_a_foreign_file_is_refused(store):
    store.path.parent.mkdir()
    store.path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="move it out of the way"):
        store.read()


def test_rows_are_packed_and_unpacked(store):
    for method in ("RIO", "NN"):
        store.append(replace(ROW, method=method))
    store.pack()
    store.path.unlink()
    assert store.read_or_unpack().method.tolist() == ["NN", "RIO"]
    keys = store.keys()
    assert {method for *_, method in keys} == {"NN", "RIO"}
    store.append(replace(ROW, rmse=9.0))
    assert store.read_or_unpack().set_index("method").rmse.to_dict() == {"NN": 9.0, "RIO": 1.0}


def append_many(path, method):
    for run in range(50):
        Store(path, Row).append(replace(ROW, run=run, method=method))


def test_processes_side_by_side(store):
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as executor:
        list(executor.map(append_many, [store.path] * 2, ["NN", "RIO"]))
    assert len(store.read()) == 100


def test_only_what_is_missing_is_to_be_done(store):
    store.append(ROW)
    tasks = open_tasks("default", ["yacht", "CCS"], 2, ["NN", "RIO"], store)
    assert tasks == [
        Task("default", "yacht", 0, ("RIO",)),
        Task("default", "CCS", 0, ("NN", "RIO")),
        Task("default", "yacht", 1, ("NN", "RIO")),
        Task("default", "CCS", 1, ("NN", "RIO")),
    ]
    only_on_yacht = open_tasks("default", ["yacht", "CCS"], 1, ["RIO"], store, lambda method, name: name == "yacht")
    assert only_on_yacht == [Task("default", "yacht", 0, ("RIO",))]
