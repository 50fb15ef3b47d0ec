"""Data sets that experiments and benchmarks share."""

from collections.abc import Mapping

from lab.datasets.dataset import HOW_TO_GET_DATA, TEST_SHARE, DataNotFoundError, DataSet, cache_folder, check_sha256
from lab.datasets.uci import DATASETS

__all__ = [
    "DATASETS",
    "HOW_TO_GET_DATA",
    "TEST_SHARE",
    "DataNotFoundError",
    "DataSet",
    "available",
    "cache_folder",
    "check_sha256",
]


def available(
    names: list[str], *, download: bool = False, datasets: Mapping[str, DataSet] = DATASETS
) -> tuple[list[str], dict[str, str]]:
    """The data sets that can be read, and why the others cannot."""
    usable, missing = [], {}
    for name in names:
        dataset = datasets[name]
        try:
            if dataset.find() is None:
                dataset.load(download=download)
            usable.append(name)
        except DataNotFoundError as error:
            missing[name] = str(error)
    return usable, missing
