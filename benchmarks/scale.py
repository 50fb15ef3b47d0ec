"""How time and memory grow, out of core and on a cluster.

    python -m benchmarks.scale run --only growth --rows 1000,10000,100000 --points 50,100
    python -m benchmarks.scale run --only flights,dask
    python -m benchmarks.scale run --only msd --peers-python .venv-peers/bin/python
    python -m benchmarks.scale page

Every measurement runs in a process of its own, whose peak memory is then its own, and is stored as soon as it is known:
the same command goes on where it was interrupted. Besides seconds by the clock those of the processor are stored, which
do not depend on what else the machine does. Work is done on one thread. RIO_UQ_DATA names the folder of the flights
and of YearPredictionMSD.txt, see `benchmarks.msd`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import msd
from benchmarks.measuring import Stopwatch, blocks_of, peak_mib, write_parquet
from rio_uq import RIORegressor, metrics

HERE = Path(__file__).parent
RESULTS = HERE / "scale.jsonl"
N_FEATURES = 10
ROWS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
POINTS = (50, 100, 200, 500, 1000, 2000)
FEW_ITERATIONS: dict[str, Any] = {"max_iter": 20, "starts": "rio", "random_state": 0}
"""Growth is measured with the same number of iterations everywhere."""

PARTITIONS = 10


def model(X: Any) -> np.ndarray:
    """The base model of generated rows: it costs nothing, and misses some of the truth."""
    return np.asarray(X)[:, 0]


def generated(folder: Path, n_rows: int) -> Path:
    """A Parquet file of that many rows; made once."""
    path = folder / f"generated-{n_rows}-{N_FEATURES}.parquet"
    if not path.exists():
        write_parquet(path, (_rows(start, length, N_FEATURES) for start, length in blocks_of(n_rows)))
    return path


def _rows(seed: int, n_rows: int, n_features: int) -> np.ndarray:
    """Features and outcomes, the latter last."""
    rng = np.random.default_rng([seed, n_features])
    X = rng.normal(size=(n_rows, n_features))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=len(X))
    return np.column_stack([X, y])


def growth(folder: Path, rows: int, points: int) -> dict[str, Any]:
    """Fit to, and predictions of, a Parquet file."""
    path, watch = generated(folder, rows), Stopwatch()
    rio = RIORegressor(model, n_inducing=points, inference="sparse", **FEW_ITERATIONS)
    with watch.time("fit"):
        rio.fit(path, "y")
    fit_mib = peak_mib()
    output = folder / f"predictions-{os.getpid()}.parquet"
    with watch.time("predict"):
        rio.predict_to_parquet(path, output)
    output.unlink()
    return {**watch.measured, "fit_mib": fit_mib, "predict_mib": peak_mib()}


def flights(folder: Path, way: str) -> dict[str, Any]:
    """2.4 million flights, out of core or through Dask; the test rows say how good the result is."""
    import pyarrow.parquet as pq

    from benchmarks.flights import FEATURES, boosting, prepare

    train, test = prepare(folder)
    base, watch = boosting(folder), Stopwatch()
    rio = RIORegressor(base, n_inducing=100, random_state=0)
    if way == "file":
        with watch.time("fit"):
            rio.fit(train, "delay")
        mib = peak_mib()
    else:
        with cluster(2) as client:
            import dask.dataframe as dd

            with watch.time("fit"):
                rio.fit(dd.read_parquet(train, split_row_groups=1), "delay")
            mib = peak_mib()
            watch.measured["worker_mib"] = max(client.run(peak_mib).values())
    with watch.time("predict"):
        mean, std = rio.predict(test, return_std=True)
    rows = pq.read_table(test).to_pandas()
    y, y_pred = rows["delay"].to_numpy(), base.predict(rows[FEATURES])
    known = pq.read_table(train).to_pandas()
    constant = np.full(len(y), np.sqrt(np.mean((known["delay"] - base.predict(known[FEATURES])) ** 2)))
    np.save(folder / f"flights-{way}.npy", np.stack([mean, std]))
    found: dict[str, Any] = {"rows": len(known), "test_rows": len(y), "points": rio.n_inducing_, "bound": rio.bound_}
    for name, centre, spread in (("before", y_pred, constant), ("after", mean, std)):
        found[f"rmse_{name}"] = metrics.rmse(y, centre)
        found[f"nlpd_{name}"] = metrics.nlpd(y, centre, spread)
        found[f"coverage_{name}"] = float(np.mean(np.abs(y - centre) <= 1.959964 * spread))
    other = folder / f"flights-{'dask' if way == 'file' else 'file'}.npy"
    if way == "file":
        other.unlink(missing_ok=True)  # of an earlier measurement
    elif other.exists():
        found["largest_difference"] = float(np.max(np.abs(np.load(other) - np.stack([mean, std])) / std))
    return {**watch.measured, "fit_mib": mib, **found}


@contextmanager
def cluster(n_workers: int) -> Any:
    import distributed

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=n_workers, **options) as local, distributed.Client(local) as client:
        yield client


def dask(folder: Path, rows: int, workers: int) -> dict[str, Any]:
    """The pass over all rows, after a small fit, on 1 or 2 worker processes (0: on threads of this process)."""
    import dask.dataframe as dd

    from rio_uq.rows.source import row_source
    from rio_uq.streaming import _sums_of_part

    watch = Stopwatch()
    few = _rows(0, 2000, N_FEATURES)
    rio = RIORegressor(model, n_inducing=100, inference="sparse", **FEW_ITERATIONS).fit(few[:, :-1], few[:, -1])
    found: dict[str, Any] = {"partitions": PARTITIONS}

    def pass_over_rows() -> Any:
        frame = dd.from_map(_partition, range(PARTITIONS), n_rows=rows // PARTITIONS).persist()
        source = row_source(frame, {"y": "y"})
        source.total(_sums_of_part, rio)  # workers import what they need
        with watch.time("pass"):
            return source.total(_sums_of_part, rio)

    if workers:
        with cluster(workers) as client:
            sums = pass_over_rows()
            found["bytes_between_workers"] = sum(client.run(_traffic).values()) // 2  # of two passes
    else:
        sums = pass_over_rows()
    found["bytes_to_client"] = sum(np.asarray(part).nbytes for part in sums)
    return {**watch.measured, **found}


def _partition(number: int, n_rows: int) -> Any:
    import pandas as pd

    table = _rows(number, n_rows, N_FEATURES)
    return pd.DataFrame(table, columns=[*(str(i) for i in range(N_FEATURES)), "y"])


def _traffic(dask_worker: Any) -> int:
    """Bytes that a worker has got from others so far."""
    return sum(transfer["total"] for transfer in dask_worker.transfer_incoming_log)


def prepared(folder: Path) -> dict[str, Any]:
    """The files of the flights and the model, made in a process of their own, whose memory is not that of a fit."""
    from benchmarks.flights import boosting, prepare

    prepare(folder)
    boosting(folder)
    return {}


MEASUREMENTS: dict[str, Callable[..., dict[str, Any]]] = {
    "prepared": prepared,
    "growth": growth,
    "flights": flights,
    "dask": dask,
    "msd files": msd.write_files,
    "msd": msd.measure,
}


def tasks_of(options: argparse.Namespace) -> list[dict[str, Any]]:
    """What to measure, in the order of what it costs."""
    chosen = options.only.split(",")
    rows, points = ([int(value) for value in text.split(",")] for text in (options.rows, options.points))
    found: list[dict[str, Any]] = []
    if "growth" in chosen:
        found += [{"kind": "growth", "rows": n, "points": options.points_of_rows} for n in sorted(rows)]
        found += [{"kind": "growth", "rows": options.rows_of_points, "points": m} for m in sorted(points)]
    if "dask" in chosen:
        found += [{"kind": "dask", "rows": n, "workers": w} for n in (100_000, 1_000_000) for w in (0, 1, 2)]
    if "flights" in chosen:
        found += [{"kind": "prepared"}, *({"kind": "flights", "way": way} for way in ("file", "dask"))]
    if "msd" in chosen:
        found += msd.tasks()
    return [task for i, task in enumerate(found) if task not in found[:i]]


def stored(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(options: argparse.Namespace) -> None:
    options.folder.mkdir(parents=True, exist_ok=True)
    known = [row["task"] for row in stored(options.results)]
    for task in tasks_of(options):
        if task in known:
            continue
        if task.get("engine") == msd.GPFLOW and not Path(options.peers_python).exists():
            print(f"left out: {task}, which needs --peers-python: {options.peers_python} is not there", file=sys.stderr)
            continue
        print(task, flush=True)
        command = [sys.executable, "-m", "benchmarks.scale", "measure", json.dumps(task), "--folder", options.folder]
        command += ["--peers-python", options.peers_python, "--max-seconds", str(options.max_seconds)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        if done.returncode:
            print(f"failed with code {done.returncode}: {task}", file=sys.stderr)
            continue
        with options.results.open("a") as file:
            file.write(done.stdout.splitlines()[-1] + "\n")
        print(done.stdout.splitlines()[-1], flush=True)


def measure(options: argparse.Namespace) -> None:
    task = json.loads(options.task)
    arguments = {name: value for name, value in task.items() if name != "kind"}
    if task["kind"] == "msd":
        arguments |= {"peers_python": options.peers_python, "max_seconds": options.max_seconds}
    load = round(os.getloadavg()[0], 1)
    print(json.dumps({"task": task, "load": load, **MEASUREMENTS[task["kind"]](options.folder, **arguments)}))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run", help="measure what is not known yet")
    runs.add_argument("--only", default="growth,dask,flights,msd", help="kinds, separated by commas (%(default)s)")
    runs.add_argument("--rows", default=",".join(map(str, ROWS)), help="for growth in n (%(default)s)")
    runs.add_argument("--points-of-rows", type=int, default=100, help="m for growth in n (%(default)s)")
    runs.add_argument("--points", default=",".join(map(str, POINTS)), help="for growth in m (%(default)s)")
    runs.add_argument("--rows-of-points", type=int, default=100_000, help="n for growth in m (%(default)s)")
    one = commands.add_parser("measure", help="one measurement, in this process")
    one.add_argument("task", help="as JSON")
    one.set_defaults(run=measure)
    runs.set_defaults(run=run)
    for command in (runs, one):
        command.add_argument("--folder", type=Path, default=Path("benchmarks/scale-data"), help="of generated files")
        command.add_argument("--results", type=Path, default=RESULTS, help="file of the measurements (%(default)s)")
        command.add_argument("--peers-python", default=".venv-peers/bin/python", help="has GPflow (%(default)s)")
        command.add_argument("--max-seconds", type=float, default=float("inf"), help="of a fit of msd in memory")
    page = commands.add_parser("page", help="write the page of tables and its plot")
    page.add_argument("--results", type=Path, default=RESULTS)
    page.add_argument("-o", "--output", type=Path, default=HERE / "scale.md")
    page.set_defaults(run=write)
    options = parser.parse_args(arguments)
    options.run(options)


def write(options: argparse.Namespace) -> None:
    from benchmarks.scale_page import write_page

    write_page(stored(options.results), options.output)


if __name__ == "__main__":
    main()
