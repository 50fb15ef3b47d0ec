"""Stored predictions come back as they were, under their own names, and never in part."""

import numpy as np
import pytest

from experiments import predictions


@pytest.fixture
def arrays(rng):
    y, base, mean = rng.normal(size=(3, 7))
    return {"y": y, "base": base, "mean": mean, "std": rng.uniform(size=7)}


@pytest.mark.parametrize("has_std", [True, False])
def test_predictions_come_back(arrays, has_std, tmp_path):
    if not has_std:
        arrays["std"] = None
    predictions.save(tmp_path / "new", "default", "ENB/h", 3, "R+I", **arrays)
    kept = predictions.load(tmp_path / "new", "default", "ENB/h", 3, "R+I")
    for name, values in arrays.items():
        np.testing.assert_array_equal(getattr(kept, name), values)
    assert (kept.std is not None) == has_std


def test_names_that_look_alike_are_kept_apart(arrays, tmp_path):
    keys = [
        ("default", "ENB-h", 0, "R+I"),
        ("default", "ENB/h", 0, "R I"),
        ("default", "ENB/h", 0, "R+I"),
        ("default", "ENB/h", 0, "R/I"),
        ("default", "ENB/h", 10, "R+I"),
        ("default", "ENB_h%2F", 0, "R+I"),
    ]
    for i, key in enumerate(reversed(keys)):
        predictions.save(tmp_path, *key, **arrays | {"mean": np.full(7, i)})
    predictions.save(tmp_path, "random-forest", "ENB/h", 0, "R+I", **arrays)
    assert predictions.find(tmp_path, "default") == keys
    assert [predictions.load(tmp_path, *key).mean[0] for key in keys] == [5, 4, 3, 2, 1, 0]
    assert predictions.find(tmp_path, "ard") == []
    assert predictions.find(tmp_path / "absent", "default") == []


def test_an_interrupted_write_leaves_what_was_there(arrays, tmp_path, monkeypatch):
    key = ("default", "yacht", 0, "RIO")
    predictions.save(tmp_path, *key, **arrays)

    def half(file, **_):
        file.write(b"half of it")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", half)
    with pytest.raises(OSError, match="no space left"):
        predictions.save(tmp_path, *key, **arrays | {"mean": np.zeros(7)})
    with pytest.raises(OSError, match="no space left"):
        predictions.save(tmp_path, "default", "yacht", 1, "RIO", **arrays)
    assert predictions.find(tmp_path, "default") == [key]
    np.testing.assert_array_equal(predictions.load(tmp_path, *key).mean, arrays["mean"])
    assert [path.name for path in tmp_path.rglob("*.*")] == ["RIO.npz"]


def test_arrays_that_do_not_belong_together_are_refused(arrays, tmp_path):
    with pytest.raises(ValueError, match=r"'std': \(6,\)"):
        predictions.save(tmp_path, "default", "yacht", 0, "RIO", **arrays | {"std": np.ones(6)})
    with pytest.raises(ValueError, match="one number for each test row"):
        predictions.save(tmp_path, "default", "yacht", 0, "RIO", **{name: np.ones((7, 1)) for name in arrays})
    assert predictions.find(tmp_path, "default") == []


def test_absent_predictions_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no predictions of RIO for run 2 of ENB/h in table ard"):
        predictions.load(tmp_path, "ard", "ENB/h", 2, "RIO")
