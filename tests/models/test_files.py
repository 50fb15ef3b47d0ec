"""Models that an earlier version has stored, under the names that modules had then, can still be read."""

import io
import json
import pickle
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from rio_uq import RIORegressor
from rio_uq.features import TableEncoder
from rio_uq.models import files
from rio_uq.models.cross_fitting import FoldAverage

pytest.importorskip("skops")

pytestmark = pytest.mark.usefixtures("quick_fits")

FORMER = {new: old for old, types in files.MOVED.items() for new in types.values()}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 3))
    return X, X[:, 0] + np.sin(5.0 * X[:, 1]) + 0.1 * rng.normal(size=60)


def as_of_old(content):
    """A skops file with the names of before."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = members["schema.json"].decode()
    for new, old in FORMER.items():
        text = text.replace(json.dumps(new), json.dumps(old))
    assert text != members["schema.json"].decode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in (members | {"schema.json": text.encode()}).items():
            archive.writestr(name, member)
    return buffer.getvalue()


def average(X, y):
    return FoldAverage([Ridge(alpha).fit(X, y) for alpha in (0.1, 1.0)])


def test_every_present_module_has_the_classes_that_were_stored():
    for types in files.MOVED.values():
        for name, module in types.items():
            assert hasattr(import_module(module), name)


def test_a_skops_file_of_old(data):
    X, y = data
    model = average(X, y)
    content = as_of_old(files.dump_skops(model).content)
    assert b"rio_uq.cross_fit" in content
    np.testing.assert_array_equal(files.load_model("skops", content).predict(X), model.predict(X))


def test_types_trusted_by_their_names_of_old(data):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(data[0], columns=["a", "b", "c"])
    model = make_pipeline(TableEncoder(), Ridge()).fit(frame, data[1])
    content, types = files.dump_skops(model)
    own = [name for name in types if name.startswith("rio_uq.")]
    assert own
    with pytest.raises(files.UntrustedTypesError, match=r"rio_uq\.features\.table_encoder"):
        files.load_model("skops", as_of_old(content), [])
    former = [name.replace("rio_uq.features.table_encoder", "rio_uq.table_encoder") for name in types]
    loaded = files.load_model("skops", as_of_old(content), former)
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))


def test_a_file_of_today_stays_as_it_is(data):
    content = files.dump_skops(Ridge().fit(*data)).content
    assert files.load_model("skops", content).predict(data[0]).shape == (60,)


def test_a_pickle_of_old(data):
    X, y = data
    model = average(X, y)
    content = pickle.dumps(model, protocol=0).replace(b"rio_uq.models.cross_fitting", b"rio_uq.cross_fit")
    np.testing.assert_array_equal(files.load_pickle(content).predict(X), model.predict(X))


def folder_of(tmp_path, content):
    settings = {"pickled": True, "base": "pickled", "features": None, "trusted": []}
    (tmp_path / "parcel.json").write_text(json.dumps(settings))
    (tmp_path / "regressor.pkl").write_bytes(content)
    return tmp_path


def test_pickled_regressors(data, tmp_path):
    from rio_uq.mlflow.folder import read_folder

    X, y = data
    model = Ridge().fit(X, y)
    rio = RIORegressor(model, random_state=0, max_iter=20, tol=1e-2, noise="constant").fit(X, y)
    loaded = read_folder(folder_of(tmp_path, pickle.dumps(rio)))
    np.testing.assert_array_equal(loaded.predict(X), rio.predict(X))
    state = {**rio.get_params(deep=False), "_gp": None, "estimator_": model, "n_features_in_": 3}
    old = RIORegressor.__new__(RIORegressor)
    vars(old).update(state)
    for content in (
        pickle.dumps(old),
        pickle.dumps(rio, protocol=0).replace(b"rio_uq.gp.posterior", b"rio_uq.nowhere.gone"),
        pickle.dumps(PCA()),
    ):
        with pytest.raises(ValueError, match=r"regressor\.pkl .*log the model again"):
            read_folder(folder_of(tmp_path, content))


def test_one_extra_says_which_skops_is_needed():
    """Other extras name that one."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    named = {
        extra: need
        for extra, needs in project["optional-dependencies"].items()
        for need in needs
        if need.startswith("skops")
    }
    assert named == {"skops": "skops>=0.13"}
