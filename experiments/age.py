"""The paper's large-scale vision experiment: the age of a face, by a pretrained network that is taken as it is.

The file holds the answers of a network to 23,704 aligned faces of UTKFace: `features` (n, 64), the global max pool of
its first residual stage, which are the GP's input; `y_pred`, its age, the expected value of its softmax; and `y`, the
age in the label. The network is dlib's ResNet-10 age predictor (64 × 64 pixels, CC0). The paper's was a DenseNet on the
172,000 images of IMDB.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit

from experiments import age_report
from experiments import predictions as stored
from experiments.measures import measured, store_of
from experiments.methods import Method, base_model, rio_method
from experiments.runner import FOLDER
from lab.datasets import DataNotFoundError, check_sha256
from lab.runs import Rows
from lab.splits import HELD_OUT_SHARE
from lab.tasks import Task, run_tasks

NAME = "age"
FILE = "age/utkface_resnet10.npz"
SHA256 = "ab731a8fb44c45ae2f4b76cb20c709a92d8f311a7cc9623035c3bfb9a197d046"
FIGURE = "age-bands.png"

METHODS: dict[str, Method] = {
    "network": base_model,
    "SVGP": rio_method(variant="SVGP"),
    "R+O": rio_method(variant="R+O"),
    "RIO": rio_method(variant="RIO"),
    "ours": rio_method(),
}


@dataclass(frozen=True)
class Faces:
    """Features (n, d), the network's age and the age in the label (n,) of each face."""

    features: np.ndarray
    y_pred: np.ndarray
    y: np.ndarray


def load(sha256: str | None = SHA256) -> Faces:
    """The faces in the folder that RIO_UQ_DATA names.

    Parameters
    ----------
    sha256 : str or None
        What the checksum of the file has to be; None takes any file.

    Raises
    ------
    DataNotFoundError
        If the file is not there.
    ValueError
        If it is another file.
    """
    folder = os.environ.get("RIO_UQ_DATA")
    if not folder or not (Path(folder) / FILE).is_file():
        raise DataNotFoundError(f"{NAME}: {FILE} is not there; set RIO_UQ_DATA to the folder that has it")
    content = (Path(folder) / FILE).read_bytes()
    check_sha256(content, sha256, NAME, str(Path(folder) / FILE))
    with np.load(io.BytesIO(content)) as arrays:
        return Faces(*(arrays[name].astype(float) for name in ("features", "y_pred", "y")))


def split(features: np.ndarray, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers for training and for testing: about 80 % and 20 %, copies of an image on the same side."""
    _, group = np.unique(features, axis=0, return_inverse=True)
    splitter = GroupShuffleSplit(n_splits=1, test_size=HELD_OUT_SHARE, random_state=run)
    ((train, test),) = splitter.split(features, groups=group.ravel())
    return train, test


def rows_of(run: int, sha256: str | None = SHA256) -> Rows:
    """The rows of a run; the network needs no training."""
    faces = load(sha256)
    train, test = split(faces.features, run)
    halves = ((faces.features[part], faces.y[part], faces.y_pred[part]) for part in (train, test))
    return Rows(*next(halves), *next(halves), base_seconds=0.0)


def work(task: Task, path: Path, *, cache: Path, sha256: str | None = SHA256) -> None:
    """One task, in a process of its own: each method's predictions are kept, then its measures are stored."""
    rows = rows_of(task.run, sha256)
    for method in task.methods:
        answer = METHODS[method](rows, task.run)
        key = task.table, task.dataset, task.run, method
        stored.save(cache, *key, y=rows.y_test, base=rows.pred_test, mean=answer.mean, std=answer.std)
        store_of(path).append(measured(*key, rows, answer))


def predictions(runs: int, cache: Path) -> pd.DataFrame:
    """The stored predictions of all test rows, of the methods that are shown by bands.

    The columns are method, run, y, y_pred, mean, std (missing for the network).
    """
    frames = []
    for run, method in product(range(runs), age_report.BANDED):
        of = stored.load(cache, NAME, NAME, run, method)
        std = np.nan if of.std is None else of.std
        columns = {"method": method, "run": run, "y": of.y, "y_pred": of.base, "mean": of.mean, "std": std}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def open_tasks(runs: int, results: Path, cache: Path) -> list[Task]:
    """A task for each method of each run whose measures or predictions are missing.

    One method a task: fits take minutes, and each should show in the bar and find a free process.
    """
    complete = store_of(results).keys() & set(stored.find(cache, NAME))
    return [
        Task(NAME, NAME, run, (method,))
        for run, method in product(range(runs), METHODS)
        if (NAME, NAME, run, method) not in complete
    ]


def run(runs: int, jobs: int, results: Path, cache: Path, folder: Path, *, sha256: str | None = SHA256) -> str:
    """Compute what is missing, draw the figure, and tell the results.

    Parameters
    ----------
    runs : int
        Number of splits.
    jobs : int
        Processes side by side.
    results : Path
        File of the measures.
    cache : Path
        Folder where predictions are kept.
    folder : Path
        Where the figure goes.
    sha256 : str or None
        See `load`.

    Returns
    -------
    str
        A section of Markdown, with a link to the figure that is right in the folder of the experiments.
    """
    load(sha256)  # says what is missing before any process is started
    run_tasks(open_tasks(runs, results, cache), jobs, results, partial(work, cache=cache, sha256=sha256))
    rows = store_of(results).read()
    rows = rows[(rows["table"] == NAME) & (rows["run"] < runs)]
    bands = age_report.bands(predictions(runs, cache))
    folder.mkdir(parents=True, exist_ok=True)
    age_report.bands_figure(bands).savefig(folder / FIGURE, dpi=150)
    link = os.path.relpath(folder / FIGURE, FOLDER)
    return age_report.section(rows, bands, Path(link).as_posix())
