"""One measurement, in this process: its peak memory is then that of the measurement.

Besides seconds by the clock those of the processor are stored, which do not depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale import msd
from benchmarks.scale.flights import FEATURES, boosting, prepare
from benchmarks.scale.parquet import blocks_of, write_parquet
from lab import generated
from lab.json_lines import Row
from lab.measuring import Stopwatch, peak_mib
from lab.peers.process import add_peers_python
from lab.rio import QUICK_TRAINING, regressor
from rio_uq import RIORegressor, metrics

N_FEATURES = 10
PARTITIONS = 10


def few_iterations(n_inducing: int) -> RIORegressor:
    """Growth is measured with the same number of iterations everywhere."""
    options = {"inference": "sparse", "n_inducing": n_inducing, "max_iter": 20, "random_state": 0}
    return regressor(generated.model, training=QUICK_TRAINING, **options)


def generated_file(folder: Path, n_rows: int) -> Path:
    """A Parquet file of that many rows; made once."""
    path = folder / f"generated-{n_rows}-{N_FEATURES}.parquet"
    if not path.exists():
        write_parquet(path, (generated.rows(start, length, N_FEATURES) for start, length in blocks_of(n_rows)))
    return path


def growth(folder: Path, rows: int, points: int) -> dict[str, Any]:
    """Fit to, and predictions of, a Parquet file."""
    path, watch = generated_file(folder, rows), Stopwatch()
    rio = few_iterations(points)
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

    train, test = prepare(folder)
    base, watch = boosting(folder), Stopwatch()
    rio = regressor(base, inference="sparse", n_inducing=100, random_state=0)
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
    trained = pq.read_table(train).to_pandas()
    constant = np.full(len(y), np.sqrt(np.mean((trained["delay"] - base.predict(trained[FEATURES])) ** 2)))
    np.save(folder / f"flights-{way}.npy", np.stack([mean, std]))
    measures: dict[str, Any] = {"rows": len(trained), "test_rows": len(y)}
    measures |= {"points": rio.n_inducing_, "bound": rio.bound_}
    for name, centre, spread in (("before", y_pred, constant), ("after", mean, std)):
        measures[f"rmse_{name}"] = metrics.rmse(y, centre)
        measures[f"nlpd_{name}"] = metrics.nlpd(y, centre, spread)
        measures[f"coverage_{name}"] = float(np.mean(np.abs(y - centre) <= 1.959964 * spread))
    other = folder / f"flights-{'dask' if way == 'file' else 'file'}.npy"
    if way == "file":
        other.unlink(missing_ok=True)  # of an earlier measurement
    elif other.exists():
        measures["largest_difference"] = float(np.max(np.abs(np.load(other) - np.stack([mean, std])) / std))
    return {**watch.measured, "fit_mib": mib, **measures}


@contextmanager
def cluster(n_workers: int) -> Any:
    import distributed

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=n_workers, **options) as local, distributed.Client(local) as client:
        yield client


def dask(folder: Path, rows: int, workers: int) -> dict[str, Any]:
    """The pass over all rows, after a small fit, on 1 or 2 worker processes (0: on threads of this process)."""
    import dask.dataframe as dd
    from rio_uq.streaming import _sums_of_part

    from rio_uq.rows.source import row_source

    watch = Stopwatch()
    few = generated.rows(0, 2000, N_FEATURES)
    rio = few_iterations(100).fit(few[:, :-1], few[:, -1])
    traffic: dict[str, Any] = {"partitions": PARTITIONS}

    def pass_over_rows() -> Any:
        frame = dd.from_map(_partition, range(PARTITIONS), n_rows=rows // PARTITIONS).persist()
        source = row_source(frame, {"y": "y"})
        source.total(_sums_of_part, rio)  # workers import what they need
        with watch.time("pass"):
            return source.total(_sums_of_part, rio)

    if workers:
        with cluster(workers) as client:
            sums = pass_over_rows()
            traffic["bytes_between_workers"] = sum(client.run(_traffic).values()) // 2  # of two passes
    else:
        sums = pass_over_rows()
    traffic["bytes_to_client"] = sum(np.asarray(part).nbytes for part in sums)
    return {**watch.measured, **traffic}


def _partition(number: int, n_rows: int) -> Any:
    import pandas as pd

    table = generated.rows(number, n_rows, N_FEATURES)
    return pd.DataFrame(table, columns=[*(str(i) for i in range(N_FEATURES)), "y"])


def _traffic(dask_worker: Any) -> int:
    """Bytes that a worker has got from others so far."""
    return sum(transfer["total"] for transfer in dask_worker.transfer_incoming_log)


def prepared(folder: Path) -> dict[str, Any]:
    """The files of the flights and the model, made in a process of their own, whose memory is not that of a fit."""
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


def measure(task: Row, options: argparse.Namespace) -> Row:
    arguments = {name: value for name, value in task.items() if name != "kind"}
    if task["kind"] == "msd":
        arguments |= {"peers_python": options.peers_python, "max_seconds": options.max_seconds}
    load = round(os.getloadavg()[0], 1)
    return {"task": task, "load": load, **MEASUREMENTS[task["kind"]](options.folder, **arguments)}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "data", help="of generated files")
    parser.add_argument("--max-seconds", type=float, default=float("inf"), help="of a fit of msd in memory")
    add_peers_python(parser)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.measure", description=__doc__)
    parser.add_argument("task", type=json.loads, help="as JSON")
    add_options(parser)
    options = parser.parse_args(arguments)
    print(json.dumps(measure(options.task, options)))


if __name__ == "__main__":
    main()
