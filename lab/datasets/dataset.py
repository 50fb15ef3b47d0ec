"""A data set of the UCI Machine Learning Repository: where its file comes from, how it is read, how it is split.

Files are read from the folder that RIO_UQ_DATA names, or downloaded once to a cache; either way their checksum has to
be right.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.files import whole_file

TRAIN_SHARE = 0.8
ARCHIVE = "https://archive.ics.uci.edu/static/public"
HOW_TO_GET_DATA = "set RIO_UQ_DATA to a folder with the UCI files, or let them be downloaded with --download"


class DataNotFoundError(Exception):
    """A data set is not there; the message says how to get it."""


@dataclass(frozen=True)
class DataSet:
    """A data set in one file.

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
    ranges : ((float, float), (float, float)) or None
        Bounds of all features and of the target, by the page's description, where there is no checksum.
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
    ranges: tuple[tuple[float, float], tuple[float, float]] | None = None

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
        self.check(X, y)
        return X, y

    def check(self, X: np.ndarray, y: np.ndarray) -> None:
        """Raise a ValueError unless the rows have the shape and, where these are known, the ranges of the data set."""
        if X.shape != self.shape:
            raise ValueError(
                f"{self.file} holds {X.shape[0]} rows of {X.shape[1]} features; {self.name} has {self.shape}"
            )
        for values, (lower, upper), what in zip((X, y), self.ranges or (), ("features", self.target), strict=False):
            if not (values.min() >= lower and values.max() <= upper):
                raise ValueError(
                    f"{self.file}: {what} from {values.min():g} to {values.max():g}; those of {self.name} are from "
                    f"{lower:g} to {upper:g}"
                )

    @property
    def address(self) -> str:
        """Of its archive in the UCI repository."""
        words = re.sub("[^a-z0-9]+", "+", self.page.lower())
        return f"{ARCHIVE}/{self.uci_id}/{words}.zip"

    def split(self, n_rows: int, run: int) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers for training and for testing in a run: the paper's own split, or that which comes with the data.

        The paper's is ``frame.sample(frac=0.8, random_state=run)`` of pandas, and the rest.
        """
        if self.n_train is not None:
            return np.arange(self.n_train), np.arange(self.n_train, n_rows)
        train = np.random.RandomState(run).choice(n_rows, size=round(TRAIN_SHARE * n_rows), replace=False)
        return train, np.setdiff1d(np.arange(n_rows), train)

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
        address = self.address
        try:
            with urllib.request.urlopen(address, timeout=60) as response:
                archive = _read_with_bar(response, self.file)
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            raise DataNotFoundError(f"{self.name}: {address} cannot be reached ({error}); {HOW_TO_GET_DATA}") from error
        content = _member(archive, self.file)
        check_sha256(content, self.sha256, self.name, address)
        path = cache_folder() / self.file
        with whole_file(path) as partial:
            partial.write_bytes(content)
        return path


def check_sha256(content: bytes, sha256: str | None, name: str, place: str) -> None:
    """Raise an error if the content of a file is not the original of a data set."""
    checksum = hashlib.sha256(content).hexdigest()
    if sha256 is not None and checksum != sha256:
        raise ValueError(
            f"{place} is not the original file of {name}: its SHA-256 is {checksum}, and should be {sha256}; remove it "
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
