"""Data sets that experiments and benchmarks share."""

import zipfile
from collections.abc import Mapping

from lab.datasets.dataset import HOW_TO_GET_DATA, DataNotFoundError, DataSet, cache_folder, check_sha256
from lab.datasets.uci import DATASETS

__all__ = [
    "DATASETS",
    "HOW_TO_GET_DATA",
    "DataNotFoundError",
    "DataSet",
    "available",
    "cache_folder",
    "check_sha256",
]


def available(
    names: list[str], *, download: bool = False, datasets: Mapping[str, DataSet] = DATASETS
) -> tuple[list[str], dict[str, str]]:
    """The data sets that can be read, and why the others cannot: a bad file leaves out its own data set alone."""
    usable, missing = [], {}
    for name in names:
        dataset = datasets[name]
        try:
            dataset.load(download=download)
            usable.append(name)
        except (DataNotFoundError, ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
            missing[name] = str(error)
    return usable, missing
