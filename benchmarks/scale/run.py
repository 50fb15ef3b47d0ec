"""Measure what is not stored yet, each in a process of its own on one thread, and store it as soon as it is known."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.scale import measure, msd
from lab.json_lines import append_row, read_rows
from lab.options import names_among, numbers

KINDS = ("growth", "dask", "flights", "msd")
ROWS = "1000,10000,100000,1000000,10000000"
POINTS = "50,100,200,500,1000,2000"


def tasks_of(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The tasks of all kinds that were asked for, the cheap ones first."""
    tasks: list[dict[str, Any]] = []
    if "growth" in options.only:
        tasks += [{"kind": "growth", "rows": n, "points": options.points_of_rows} for n in sorted(options.rows)]
        tasks += [{"kind": "growth", "rows": options.rows_of_points, "points": m} for m in sorted(options.points)]
    if "dask" in options.only:
        tasks += [{"kind": "dask", "rows": n, "workers": w} for n in (100_000, 1_000_000) for w in (0, 1, 2)]
    if "flights" in options.only:
        tasks += [{"kind": "prepared"}, *({"kind": "flights", "way": way} for way in ("file", "dask"))]
    if "msd" in options.only:
        tasks += msd.tasks()
    return [task for i, task in enumerate(tasks) if task not in tasks[:i]]


def main(options: argparse.Namespace) -> None:
    options.folder.mkdir(parents=True, exist_ok=True)
    stored = [row["task"] for row in read_rows(options.results)]
    for task in tasks_of(options):
        if task in stored:
            continue
        if task.get("engine") == msd.GPFLOW and not Path(options.peers_python).exists():
            print(f"left out: {task}, which needs --peers-python: {options.peers_python} is not there", file=sys.stderr)
            continue
        print(task, flush=True)
        command = [sys.executable, "-m", "benchmarks.scale.measure", json.dumps(task), "--folder", options.folder]
        command += ["--peers-python", options.peers_python, "--max-seconds", str(options.max_seconds)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        if done.returncode:
            print(f"failed with code {done.returncode}: {task}", file=sys.stderr)
            continue
        append_row(options.results, json.loads(done.stdout.splitlines()[-1]))
        print(done.stdout.splitlines()[-1], flush=True)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", type=names_among(KINDS), default=list(KINDS), help="kinds, separated by commas (all)")
    parser.add_argument("--rows", type=numbers, default=ROWS, help="for growth in n (%(default)s)")
    parser.add_argument("--points-of-rows", type=int, default=100, help="m for growth in n (%(default)s)")
    parser.add_argument("--points", type=numbers, default=POINTS, help="for growth in m (%(default)s)")
    parser.add_argument("--rows-of-points", type=int, default=100_000, help="n for growth in m (%(default)s)")
    measure.add_options(parser)
