"""The standard splits: files as the papers' authors made them, and none that is something else."""

import numpy as np
import pytest

from lab.datasets import DataNotFoundError
from lab.datasets.standard import STANDARD, StandardSet, published_mc_dropout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "standard").mkdir()
    monkeypatch.setenv("RIO_UQ_DATA", str(tmp_path))
    return tmp_path / "standard"


def test_rows_are_for_training_or_for_testing(folder):
    np.savez(folder / "toy.npz", X=np.ones((5, 2)), y=np.arange(5.0), test=np.array([[1, 4], [0, 2]]))
    rows = StandardSet("toy", "toy", (5, 2), 2, "y").load()
    assert rows.train(0).tolist() == [0, 2, 3]
    assert rows.train(1).tolist() == [1, 3, 4]


def test_another_file_is_refused(folder):
    np.savez(folder / "yacht.npz", X=np.ones((5, 2)), y=np.arange(5.0), test=np.array([[1, 4]]))
    with pytest.raises(ValueError, match="yacht has"):
        STANDARD["yacht"].load()


def test_it_is_said_what_is_missing(folder):
    with pytest.raises(DataNotFoundError, match=r"standard/energy\.npz"):
        STANDARD["energy"].load()
    with pytest.raises(DataNotFoundError, match=r"standard/mc_dropout\.csv"):
        published_mc_dropout()


@pytest.mark.parametrize("name", STANDARD)
def test_the_files(name):
    try:
        rows = STANDARD[name].load()
        published = published_mc_dropout()
    except DataNotFoundError as error:
        pytest.skip(str(error))
    assert np.isfinite(rows.X).all()
    assert np.isfinite(rows.y).all()
    draws = np.random.RandomState(1)  # the splits can be made again from the rows alone
    for test in rows.test:
        order = draws.choice(range(len(rows.y)), len(rows.y), replace=False)
        assert set(test) == set(order[round(0.9 * len(rows.y)) :])
        assert len(np.unique(test)) == len(test)
        assert len(test) == pytest.approx(0.1 * len(rows.y), abs=1)
        assert test.min() >= 0
        assert test.max() < len(rows.y)
    assert published[published["dataset"] == name]["split"].tolist() == list(range(len(rows.test)))
