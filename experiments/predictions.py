"""Test predictions, one file for each table × data set × run × method, from which figures are drawn.

A file is ``<table>/<data set>/<run>/<method>.npz`` with each name percent-encoded ("ENB/h" is "ENB%2Fh"), so that names
come back as they were. It gets its name once it is whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np

from lab.files import save_arrays
from lab.store import Key


@dataclass(frozen=True)
class Predictions:
    """A method's predictions of the test rows of a run.

    Attributes
    ----------
    y : (n,) array
        Outcomes.
    base : (n,) array
        The base model's predictions.
    mean : (n,) array
        The method's predictions.
    std : (n,) array or None
        Their error bars; None for a method without.
    """

    y: np.ndarray
    base: np.ndarray
    mean: np.ndarray
    std: np.ndarray | None


def save(
    folder: Path,
    table: str,
    dataset: str,
    run: int,
    method: str,
    *,
    y: np.ndarray,
    base: np.ndarray,
    mean: np.ndarray,
    std: np.ndarray | None,
) -> None:
    """Keep the predictions of a method; those kept before under the same key are replaced."""
    arrays = {"y": y, "base": base, "mean": mean} | ({} if std is None else {"std": std})
    arrays = {name: np.asarray(values, dtype=float) for name, values in arrays.items()}
    shapes = {name: values.shape for name, values in arrays.items()}
    if arrays["y"].ndim != 1 or len(set(shapes.values())) > 1:
        raise ValueError(f"predictions need one number for each test row; got the shapes {shapes}")
    save_arrays(_path(folder, table, dataset, run, method), **arrays)


def load(folder: Path, table: str, dataset: str, run: int, method: str) -> Predictions:
    """The predictions kept under a key."""
    path = _path(folder, table, dataset, run, method)
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is not there: no predictions of {method} for run {run} of {dataset} in table {table} were kept"
        )
    with np.load(path) as arrays:
        return Predictions(arrays["y"], arrays["base"], arrays["mean"], arrays.get("std"))


def find(folder: Path, table: str) -> list[Key]:
    """The keys of a table under which predictions are kept, sorted."""
    keys = []
    for path in (folder / quote(table, safe="")).glob("*/*/*.npz"):
        dataset, run, method = path.parts[-3], path.parts[-2], path.stem
        keys.append((table, unquote(dataset), int(run), unquote(method)))
    return sorted(keys)


def _path(folder: Path, table: str, dataset: str, run: int, method: str) -> Path:
    return folder / quote(table, safe="") / quote(dataset, safe="") / str(int(run)) / f"{quote(method, safe='')}.npz"
