"""The paper's data sets: formats, checksums, splits, downloads that fail."""

import hashlib
import io
import os
import urllib.error
import urllib.request
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lab import datasets
from lab.datasets import DATASETS, DataNotFoundError

HAS_FILES = bool(os.environ.get("RIO_UQ_DATA"))


@pytest.fixture
def no_files(monkeypatch, tmp_path):
    monkeypatch.delenv("RIO_UQ_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(not HAS_FILES, reason="RIO_UQ_DATA does not name the folder of the data files")
@pytest.mark.parametrize("name", [name for name, dataset in DATASETS.items() if dataset.sha256])
def test_original_files_have_the_shapes_of_the_paper(name):
    X, y = DATASETS[name].load()
    assert X.shape == DATASETS[name].shape
    assert np.isfinite(X).all()
    assert np.isfinite(y).all()


def small_file(name, n):
    """A file of n rows in the documented format of a data set that could not be had, with what it holds."""
    rng = np.random.default_rng(0)
    d = DATASETS[name].shape[1]
    X, y = rng.normal(size=(n, d)).round(4), rng.normal(size=n).round(4)
    if name == "SC":
        frame = pd.DataFrame(X, columns=[f"feature_{i}" for i in range(d)]).assign(critical_temp=y)
    elif name == "CT":
        frame = pd.DataFrame(X, columns=[f"value{i}" for i in range(d)])
        frame.insert(0, "patientId", np.arange(n) // 3)
        frame["reference"] = y
    else:
        frame = pd.DataFrame(np.column_stack([y, X]))
    return frame.to_csv(index=False, header=name != "MSD").encode(), X, y


@pytest.mark.parametrize("name", ["SC", "CT", "MSD"])
def test_documented_formats_of_files_that_could_not_be_had(name, no_files):
    content, X, y = small_file(name, 12)
    dataset = replace(DATASETS[name], shape=(12, X.shape[1]), n_train=None)
    path = datasets.cache_folder() / dataset.file
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    found_X, found_y = dataset.load()
    np.testing.assert_allclose(found_X, X)
    np.testing.assert_allclose(found_y, y)
    with pytest.raises(ValueError, match="12 rows"):
        replace(dataset, shape=(13, X.shape[1])).load()


def test_a_missing_file_is_named_with_the_remedy(no_files):
    with pytest.raises(DataNotFoundError, match=r"CASP.csv is not there; set RIO_UQ_DATA"):
        DATASETS["protein"].load()


def test_an_altered_file_is_refused(no_files):
    path = datasets.cache_folder() / "CASP.csv"
    path.parent.mkdir(parents=True)
    path.write_text("RMSD,F1\n1,2\n")
    with pytest.raises(ValueError, match="not the original file of protein"):
        DATASETS["protein"].load()


class Response(io.BytesIO):
    def __init__(self, content, length=None):
        super().__init__(content)
        self.headers = {"Content-Length": str(len(content) if length is None else length)}


def zipped(name, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def small_msd():
    content, X, _ = small_file("MSD", 12)
    checksum = hashlib.sha256(content).hexdigest()
    return content, replace(DATASETS["MSD"], shape=X.shape, sha256=checksum, n_train=None)


def test_a_download_is_unpacked_checked_and_kept(no_files, monkeypatch, small_msd, capsys):
    content, dataset = small_msd
    nested = zipped("YearPredictionMSD.txt.zip", zipped("folder/YearPredictionMSD.txt", content))
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: Response(nested))
    X, _ = dataset.load(download=True)
    assert X.shape == dataset.shape
    assert dataset.find().read_bytes() == content
    assert "100 %" in capsys.readouterr().err


def unreachable(*_, **__):
    raise urllib.error.URLError("no route")


@pytest.mark.parametrize(
    "answer",
    [unreachable, lambda *_, **__: Response(b"short", length=1000)],
    ids=["unreachable", "interrupted"],
)
def test_a_failed_download_leaves_nothing(answer, no_files, monkeypatch, small_msd):
    _, dataset = small_msd
    monkeypatch.setattr(urllib.request, "urlopen", answer)
    with pytest.raises(DataNotFoundError, match="cannot be reached"):
        dataset.load(download=True)
    assert dataset.find() is None


def test_a_download_of_another_file_is_refused(no_files, monkeypatch, small_msd):
    _, dataset = small_msd
    wrong = zipped("YearPredictionMSD.txt", b"1,2\n")
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: Response(wrong))
    with pytest.raises(ValueError, match="SHA-256"):
        dataset.load(download=True)
    assert dataset.find() is None


def test_splits():
    train, test = DATASETS["yacht"].split(308, run=0)
    assert len(test) == 62
    assert sorted([*train, *test]) == list(range(308))
    again, _ = DATASETS["yacht"].split(308, run=0)
    other, _ = DATASETS["yacht"].split(308, run=1)
    np.testing.assert_array_equal(train, again)
    assert not np.array_equal(train, other)
    train, test = DATASETS["MSD"].split(515345, run=3)
    assert (len(train), test[0], len(test)) == (463715, 463715, 51630)
