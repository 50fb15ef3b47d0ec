"""Whole fits at the size of YearPredictionMSD: ours to all rows, GPflow's to a tenth of them, ours to the same tenth.

The file YearPredictionMSD.txt is looked for in the folder that RIO_UQ_DATA names; without it, rows of its shape are
generated. The base model is a ridge regression of 20,000 rows, the same for everybody. In the paper's settings rows are
in memory, as arrays, and all of them are in every evaluation; "rio-uq", with its defaults, reads a Parquet file, learns
from a sample of 20,000 rows, and lets all rows into the posterior in one pass.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.linear_model import Ridge

from benchmarks.scale.parquet import blocks_of, write_parquet
from lab.datasets import DATASETS
from lab.fits.client import Fitters, problem_arrays
from lab.measuring import Stopwatch, peak_mib
from lab.rio import regressor
from lab.runs import Rows
from rio_uq import metrics

N_TRAIN, N_TEST, N_FEATURES = 463_715, 51_630, 90
BASE_ROWS = 20_000
N_FACTORS = 6
OURS, PAPER, GPFLOW, BASE = "rio-uq", "rio-uq paper", "GPflow SVGP", "base model"
NEEDED = {
    PAPER: ("X_train", "y_train", "pred_train", "X_test", "y_test", "pred_test"),
    GPFLOW: ("rows", "residuals", "points", "lengthscale", "noise_variance", "ard", "test_rows", "y_test", "pred_test"),
}
"""The arrays that an engine is given: it should not have to hold those of others in memory."""


def tasks() -> list[dict[str, Any]]:
    """The tasks: the files first, by a process of its own, whose memory is not that of a fit."""
    sizes = ((BASE, BASE_ROWS), (OURS, N_TRAIN), (PAPER, N_TRAIN // 10), (GPFLOW, N_TRAIN // 10), (PAPER, N_TRAIN))
    return [{"kind": "msd files"}, *({"kind": "msd", "engine": engine, "rows": rows} for engine, rows in sizes)]


class Files(NamedTuple):
    """Of training rows, of test rows and of the base model; ``name`` says whose rows they are."""

    name: str
    train: Path
    test: Path
    model: Path


def prepare(folder: Path) -> Files:
    """The files; made once."""
    dataset = DATASETS["MSD"]
    is_there = dataset.find() is not None
    name = Path(dataset.file).stem if is_there else "generated"
    endings = ("train.parquet", "test.parquet", "model.joblib")
    files = Files(name, *(folder / f"msd-{name}-{ending}" for ending in endings))
    if not all(path.exists() for path in (files.train, files.test)):
        rows = np.column_stack(dataset.load()) if is_there else None
        for path, first, length in ((files.train, 0, N_TRAIN), (files.test, N_TRAIN, N_TEST)):
            write_parquet(path, _blocks(rows, first, length))
    if not files.model.exists():
        joblib.dump(Ridge().fit(*read(files.train, BASE_ROWS)), files.model)
    return files


def _blocks(rows: np.ndarray | None, first: int, n_rows: int) -> Iterator[np.ndarray]:
    for start, length in blocks_of(n_rows):
        yield generated(first + start, length) if rows is None else rows[first + start :][:length]


def generated(seed: int, n_rows: int) -> np.ndarray:
    """Rows of the kind of YearPredictionMSD, the outcome last.

    The 90 columns are linear maps of six factors, in units of their own, with a tenth of noise. The factors of a row
    have a size of their own too, which gives the columns long tails and leaves many rows close to each other. With the
    paper's start values one lengthscale of one is for all columns: where they are independent, or noisier, no two rows
    are neighbours then, and L-BFGS-B ends with a GP that is nothing but noise. The outcome, a year, is linear in the
    factors, which the base model learns, plus a smooth function of three of them, which it cannot, plus noise with a
    standard deviation of 6.
    """
    always = np.random.default_rng(N_FEATURES)
    loadings = always.normal(size=(N_FACTORS, N_FEATURES)) * always.uniform(1.0, 10.0, size=N_FEATURES)
    slopes = 2.0 * always.normal(size=N_FACTORS)
    rng = np.random.default_rng([seed, N_FEATURES])
    size = np.exp(0.8 * rng.normal(size=(n_rows, 1)))
    factors = size * rng.normal(size=(n_rows, N_FACTORS))
    noise = 0.1 * np.linalg.norm(loadings, axis=0) * size * rng.normal(size=(n_rows, N_FEATURES))
    curved = 5.0 * np.sin(factors[:, 0]) + 3.0 * np.tanh(factors[:, 1] * factors[:, 2])
    y = 1998.0 + factors @ slopes + curved + 6.0 * rng.normal(size=n_rows)
    return np.column_stack([factors @ loadings + noise, y])


def read(path: Path, n_rows: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The first rows of a file: features (n, d) and outcomes (n,)."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    parts: list[np.ndarray] = []
    left = file.metadata.num_rows if n_rows is None else n_rows
    for batch in file.iter_batches(batch_size=BASE_ROWS):
        parts.append(np.column_stack([column.to_numpy() for column in batch.columns])[:left])
        left -= len(parts[-1])
        if not left:
            break
    rows = np.concatenate(parts)
    return rows[:, :-1], rows[:, -1]


def base_model(files: Files) -> Callable[[Any], np.ndarray]:
    """From X to predictions: a ridge regression of the first rows."""
    ridge = joblib.load(files.model)
    return lambda X: ridge.predict(np.asarray(X))


def write_files(folder: Path) -> dict[str, Any]:
    return {"data": prepare(folder).name}


def measure(folder: Path, engine: str, rows: int, *, peers_python: str, max_seconds: float) -> dict[str, Any]:
    """Seconds, memory, and how good the test rows are predicted; for fits in memory also how the fit went.

    They are cut off after so many processor seconds.
    """
    files = prepare(folder)
    if engine == BASE:
        measures = without_rio(files)
    elif engine == OURS:
        measures = fit_file(files)
    else:
        measures = fit_arrays(folder, files, engine, rows, peers_python, max_seconds)
    return {"data": files.name, **measures}


def without_rio(files: Files) -> dict[str, Any]:
    """Every row has the same std: the RMSE of the model on its own rows."""
    model = base_model(files)
    X, y = read(files.train, BASE_ROWS)
    X_test, y_test = read(files.test)
    return _quality(y_test, model(X_test), np.full(len(y_test), metrics.rmse(y, model(X))))


def fit_file(files: Files) -> dict[str, Any]:
    """Our defaults, as a user has them, from the Parquet file."""
    watch, rio = Stopwatch(), regressor(base_model(files), random_state=0)
    with watch.time("fit"):
        rio.fit(files.train, "y")
    mib = peak_mib()
    with watch.time("predict"):
        mean, std = rio.predict(files.test, return_std=True)
    _, y_test = read(files.test)
    fit = {"fit_mib": mib, "n_iter": rio.n_iter_, "points": rio.n_inducing_, "bound": rio.bound_, "stopped": ""}
    return {**watch.measured, **fit, **_quality(y_test, mean, std)}


def _quality(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> dict[str, float]:
    return {"rmse": metrics.rmse(y, mean), "nlpd": metrics.nlpd(y, mean, std)}


def fit_arrays(
    folder: Path, files: Files, engine: str, n_rows: int, peers_python: str, max_seconds: float
) -> dict[str, Any]:
    """The paper's settings on the first rows, as `benchmarks.speed` has them: in a process that does nothing else."""
    model = base_model(files)
    X, y = read(files.train, n_rows)
    X_test, y_test = read(files.test)
    arrays = problem_arrays(Rows(X, y, model(X), X_test, y_test, model(X_test), base_seconds=0.0))
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        path = Path(temporary) / "problem.npz"
        np.savez(path, **{name: arrays[name] for name in NEEDED[engine]})
        del arrays, X, y
        with Fitters(peers_python, path, threads=1) as fitters:
            reply = fitters.fit(engine, max_seconds, clock="cpu")
    if "error" in reply:
        raise RuntimeError(f"{engine} on {n_rows} rows: {reply['error']}")
    return reply
