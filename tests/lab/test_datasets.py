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
    dataset = replace(DATASETS[name], shape=(12, X.shape[1]), n_train=None, ranges=None)
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
    return content, replace(DATASETS["MSD"], shape=X.shape, sha256=checksum, n_train=None, ranges=None)


def test_a_download_is_unpacked_checked_and_kept(no_files, monkeypatch, small_msd, capsys):
    content, dataset = small_msd
    nested = zipped("YearPredictionMSD.txt.zip", zipped("folder/YearPredictionMSD.txt", content))
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: Response(nested))
    X, _ = dataset.load(download=True)
    assert X.shape == dataset.shape
    assert dataset.find().read_bytes() == content
    assert "100 %" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "outcome"), [("SC", -1.0), ("CT", 200.0), ("MSD", 1066.0)])
def test_values_beyond_their_range_are_refused_where_there_is_no_checksum(name, outcome):
    dataset = replace(DATASETS[name], shape=(3, 2))
    (_, high), (_, last) = dataset.ranges
    X, y = np.zeros((3, 2)), np.full(3, last)
    dataset.check(X, y)
    with pytest.raises(ValueError, match=f"{dataset.target} from .*{outcome:g}"):
        dataset.check(X, np.array([outcome, last, last]))
    if np.isfinite(high):
        with pytest.raises(ValueError, match="features from 0 to"):
            dataset.check(np.array([[0.0, high + 1.0]] * 3), y)


def test_a_bad_file_leaves_out_its_own_data_set_alone(no_files, small_msd):
    content, dataset = small_msd
    folder = datasets.cache_folder()
    folder.mkdir(parents=True)
    (folder / dataset.file).write_bytes(content)
    (folder / "CASP.csv").write_text("RMSD,F1\n1,2\n")
    choices = {"protein": DATASETS["protein"], "MSD": dataset}
    usable, missing = datasets.available(list(choices), datasets=choices)
    assert usable == ["MSD"]
    assert "not the original file" in missing["protein"]


def test_addresses_have_words_joined_by_a_plus():
    assert DATASETS["airfoil"].address.endswith("/291/airfoil+self+noise.zip")
    assert DATASETS["CT"].address.endswith("/206/relative+location+of+ct+slices+on+axial+axis.zip")


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


@pytest.mark.parametrize(("n_rows", "run"), [(308, 0), (768, 1), (1599, 42), (45730, 99)])
def test_splits_are_those_of_the_paper(n_rows, run):
    frame = pd.DataFrame({"row": np.arange(n_rows)})
    sample = frame.sample(frac=0.8, random_state=run)
    train, test = DATASETS["yacht"].split(n_rows, run)
    np.testing.assert_array_equal(train, sample.row)
    np.testing.assert_array_equal(test, frame.drop(sample.index).row)


def test_a_split_that_comes_with_the_data():
    train, test = DATASETS["MSD"].split(515345, run=3)
    assert (len(train), test[0], len(test)) == (463715, 463715, 51630)
