"""The twelve data sets of the paper: where they come from, how to read them, how they are split.

Files are the originals of the UCI Machine Learning Repository. They are read from the folder that RIO_UQ_DATA names, or
downloaded once to a cache; either way their checksum has to be right.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

TEST_SHARE = 0.2
ARCHIVE = "https://archive.ics.uci.edu/static/public"
HOW_TO_GET_DATA = "set RIO_UQ_DATA to a folder with the UCI files, or let them be downloaded with --download"


class DataNotFoundError(Exception):
    """A data set is not there; the message says how to get it."""


@dataclass(frozen=True)
class DataSet:
    """A data set of the paper.

    Attributes
    ----------
    name : str
        As in the paper's tables.
    page : str
        Name of its page in the UCI repository.
    uci_id : int
        Number of that page.
    file : str
        Original name of the file.
    sha256 : str or None
        Checksum of the file; None where no copy could be had to take it from.
    shape : (int, int)
        Rows and input features.
    target : str
    read : callable
        From the bytes of the file to X (n, d) and y (n,).
    n_train : int or None
        Length of the fixed training part, the first rows; None for random splits.
    """

    name: str
    page: str
    uci_id: int
    file: str
    sha256: str | None
    shape: tuple[int, int]
    target: str
    read: Callable[[bytes], tuple[np.ndarray, np.ndarray]]
    n_train: int | None = None

    def load(self, *, download: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Inputs (n, d) and outcomes (n,).

        Raises
        ------
        DataNotFoundError
            If the file is not there.
        ValueError
            If it is not the original, or does not hold what it should.
        """
        X, y = self.read(self._bytes(download=download))
        if X.shape != self.shape:
            raise ValueError(
                f"{self.file} holds {X.shape[0]} rows of {X.shape[1]} features; {self.name} has {self.shape}"
            )
        return X, y

    def split(self, n_rows: int, run: int) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers for training and for testing in a run: 80 % and 20 % at random, or the fixed split."""
        if self.n_train is not None:
            return np.arange(self.n_train), np.arange(self.n_train, n_rows)
        order = np.random.default_rng(run).permutation(n_rows)
        n_test = round(TEST_SHARE * n_rows)
        return order[n_test:], order[:n_test]

    def find(self) -> Path | None:
        """The file in RIO_UQ_DATA or in the cache, if it is there."""
        folders = [cache_folder()]
        if os.environ.get("RIO_UQ_DATA"):
            named = Path(os.environ["RIO_UQ_DATA"])
            folders = [named / "uci", named, *folders]
        return next((folder / self.file for folder in folders if (folder / self.file).is_file()), None)

    def _bytes(self, *, download: bool) -> bytes:
        path = self.find()
        if path is None and download:
            path = self._download()
        if path is None:
            raise DataNotFoundError(f"{self.name}: {self.file} is not there; {HOW_TO_GET_DATA}")
        content = path.read_bytes()
        check_sha256(content, self.sha256, self.name, str(path))
        return content

    def _download(self) -> Path:
        slug = self.page.lower().replace(" ", "+")
        address = f"{ARCHIVE}/{self.uci_id}/{slug}.zip"
        try:
            with urllib.request.urlopen(address, timeout=60) as response:
                archive = _read_with_bar(response, self.file)
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            raise DataNotFoundError(f"{self.name}: {address} cannot be reached ({error}); {HOW_TO_GET_DATA}") from error
        content = _member(archive, self.file)
        check_sha256(content, self.sha256, self.name, address)
        path = cache_folder() / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        partial.write_bytes(content)
        partial.replace(path)  # an interrupted download never has the name of a whole one
        return path


def check_sha256(content: bytes, sha256: str | None, name: str, place: str) -> None:
    """Raise an error if the bytes found at a place are not the original file of a data set."""
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256:
        raise ValueError(
            f"{place} is not the original file of {name}: its SHA-256 is {found}, and should be {sha256}; remove it "
            "and get it again"
        )


def cache_folder() -> Path:
    """Where downloads are kept."""
    base = Path(os.environ.get("XDG_CACHE_HOME", "") or Path.home() / ".cache")
    return base / "rio-uq" / "uci"


def _read_with_bar(response: object, label: str) -> bytes:
    total = int(response.headers.get("Content-Length") or 0)  # type: ignore[attr-defined]
    content = io.BytesIO()
    while block := response.read(1 << 20):  # type: ignore[attr-defined]
        content.write(block)
        done = content.tell()
        share = f"{100 * done / total:3.0f} %" if total else ""
        sys.stderr.write(f"\r{label}: {done / 1e6:.1f} MB {share}")
        sys.stderr.flush()
    sys.stderr.write("\n")
    if total and content.tell() != total:
        raise ConnectionError(f"{content.tell()} of {total} bytes came")
    return content.getvalue()


def _member(archive: bytes, name: str) -> bytes:
    """A file of a zip archive, also where that archive lies inside another."""
    with zipfile.ZipFile(io.BytesIO(archive)) as outer:
        for member in outer.namelist():
            if Path(member).name == name:
                return outer.read(member)
            if member.endswith(".zip"):
                try:
                    return _member(outer.read(member), name)
                except KeyError:
                    continue
    raise KeyError(f"the archive has no file {name}")


def _table(frame: pd.DataFrame, target: int | str) -> tuple[np.ndarray, np.ndarray]:
    y = frame.pop(frame.columns[target] if isinstance(target, int) else target)
    return frame.to_numpy(dtype=float), y.to_numpy(dtype=float)


def _blank_separated(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(io.BytesIO(content))
    return table[:, :-1], table[:, -1]


def _energy(target: str) -> Callable[[bytes], tuple[np.ndarray, np.ndarray]]:
    def read(content: bytes) -> tuple[np.ndarray, np.ndarray]:
        frame = pd.read_excel(io.BytesIO(content), sheet_name=0, engine="calamine")
        frame = frame[[f"X{i}" for i in range(1, 9)] + [target]].dropna(how="all")
        return _table(frame, target)

    return read


def _excel_last(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    return _table(pd.read_excel(io.BytesIO(content), sheet_name=0, engine="calamine"), -1)


def _wine(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    return _table(pd.read_csv(io.BytesIO(content), sep=";"), "quality")


def _protein(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    return _table(pd.read_csv(io.BytesIO(content)), "RMSD")


def _superconductivity(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """train.csv: 81 features of a material and its critical temperature in the last column."""
    return _table(pd.read_csv(io.BytesIO(content)), "critical_temp")


def _ct_slices(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """slice_localization_data.csv: patientId, 384 histogram values, the relative location of the slice."""
    frame = pd.read_csv(io.BytesIO(content))
    return _table(frame.drop(columns="patientId"), "reference")


def _year_prediction(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """YearPredictionMSD.txt: the year, then 90 timbre features, without a header."""
    return _table(pd.read_csv(io.BytesIO(content), header=None), 0)


DATASETS = {
    dataset.name: dataset
    for dataset in (
        DataSet(
            "yacht",
            "Yacht Hydrodynamics",
            243,
            "yacht_hydrodynamics.data",
            "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
            (308, 6),
            "residuary resistance",
            _blank_separated,
        ),
        DataSet(
            "ENB/h",
            "Energy Efficiency",
            242,
            "ENB2012_data.xlsx",
            "0089fcffc1415e41e2ff63730cca5280efe54fc43d722dfde1b0aaa808e35dc4",
            (768, 8),
            "heating load",
            _energy("Y1"),
        ),
        DataSet(
            "ENB/c",
            "Energy Efficiency",
            242,
            "ENB2012_data.xlsx",
            "0089fcffc1415e41e2ff63730cca5280efe54fc43d722dfde1b0aaa808e35dc4",
            (768, 8),
            "cooling load",
            _energy("Y2"),
        ),
        DataSet(
            "airfoil",
            "Airfoil Self-Noise",
            291,
            "airfoil_self_noise.dat",
            "74c75fd71783f1e6b71f8a622b993dc592897a97cd689c5090a07147a1b097b3",
            (1503, 5),
            "sound pressure level",
            _blank_separated,
        ),
        DataSet(
            "CCS",
            "Concrete Compressive Strength",
            165,
            "Concrete_Data.xls",
            "710076c66b9ca3f8050e7942f3dcbdbe04013534daeb0077ffd3079a52d8e0c4",
            (1030, 8),
            "compressive strength",
            _excel_last,
        ),
        DataSet(
            "wine/r",
            "Wine Quality",
            186,
            "winequality-red.csv",
            "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
            (1599, 11),
            "quality",
            _wine,
        ),
        DataSet(
            "wine/w",
            "Wine Quality",
            186,
            "winequality-white.csv",
            "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
            (4898, 11),
            "quality",
            _wine,
        ),
        DataSet(
            "CCPP",
            "Combined Cycle Power Plant",
            294,
            "Folds5x2_pp.xlsx",
            "ccd490981db2a2f079963b3d9f0aea30d9d338900a0285428dfc6385396f4651",
            (9568, 4),
            "net electrical energy output",
            _excel_last,
        ),
        DataSet(
            "protein",
            "Physicochemical Properties of Protein Tertiary Structure",
            265,
            "CASP.csv",
            "4277cfcb4e91a181746cbc654f001b57951c9e6a80f4f795fdb5c807e0848f40",
            (45730, 9),
            "size of the residue (RMSD)",
            _protein,
        ),
        DataSet(
            "SC",
            "Superconductivty Data",
            464,
            "train.csv",
            None,
            (21263, 81),
            "critical temperature",
            _superconductivity,
        ),
        DataSet(
            "CT",
            "Relative location of CT slices on axial axis",
            206,
            "slice_localization_data.csv",
            None,
            (53500, 384),
            "relative location of the slice",
            _ct_slices,
        ),
        DataSet(
            "MSD",
            "YearPredictionMSD",
            203,
            "YearPredictionMSD.txt",
            None,
            (515345, 90),
            "year of release",
            _year_prediction,
            n_train=463715,
        ),
    )
}
