"""Measure the tables; those that are measured again replace what was stored of them."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.levers.data import Data, training_arguments
from benchmarks.levers.trainers import FEW, Float32First, Growing, NaturalScaling, SecondOrder
from lab.json_lines import read_rows, write_rows
from lab.options import numbers
from rio_uq.gp import fit as gp_fit
from rio_uq.gp import inducing, training
from rio_uq.gp.backend.threads import single_blas_thread
from rio_uq.gp.backend.walking import block_rows_for
from rio_uq.gp.inference import collapsed as sparse
from rio_uq.gp.inference.exact import ExactObjective
from rio_uq.gp.inference.sparse import SparseObjective
from rio_uq.gp.observations import Observations
from rio_uq.gp.posterior import Posterior

BLOCKS = (256, 512, 1024, 2048, 4096)
MORE_ROUNDING = 0.1
"""For `ROUNDING_ALLOWED` of sparse inference: a rougher bound, and fewer evaluations that take one more product."""
Array = np.ndarray


def record(table: str, data: Data, way: str, seconds: float, **more: Any) -> dict[str, Any]:
    row = {"table": table, "data": data.name, "n": len(data.y), "way": way, "cpu_seconds": round(seconds, 5), **more}
    print(row, flush=True)
    return row


def take_turns(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, Any]]:
    """The least seconds of the processor that each way took in some rounds, and what it gave."""
    best: dict[str, tuple[float, Any]] = {}
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.process_time()
            result = way()
            seconds = time.process_time() - began
            best[name] = (min(seconds, best[name][0]) if name in best else seconds, result)
    return best


STAGES = {
    "exploring starts": [(training._Trainer, "explore")],
    "choosing inducing points": [(inducing, "choose"), (inducing, "enough")],
    "evaluations on all rows": [(SparseObjective, "__call__"), (ExactObjective, "__call__")],
    "posterior": [(SparseObjective, "posterior"), (ExactObjective, "posterior")],
    "noise": [(Posterior, "leave_one_out"), (gp_fit, "learn_noise")],
}


def stages(sizes: list[int], n_real: int) -> Iterator[dict[str, Any]]:
    """Shares of a whole default fit. What the noise needs, points and evaluations included, counts as noise."""
    for data in [*(Data.generated(n) for n in sizes), *Data.all_of(n_real)[1:]]:
        spent, open_stages = dict.fromkeys(STAGES, 0.0), [""]

        def timed(stage: str, function: Callable, *, spent: dict = spent, inside: list = open_stages) -> Callable:
            def call(*arguments: Any, **options: Any) -> Any:
                outer = inside[-1]
                if outer == "noise" or (outer and stage != "choosing inducing points"):
                    return function(*arguments, **options)
                inside.append(stage)
                began = time.process_time()
                try:
                    return function(*arguments, **options)
                finally:
                    inside.pop()
                    seconds = time.process_time() - began
                    spent[stage] += seconds
                    if outer:
                        spent[outer] -= seconds

            return call

        with ExitStack() as stack:
            for stage, functions in STAGES.items():
                for owner, name in functions:
                    function = timed(stage, getattr(owner, name))
                    # A plain function, so that it binds as the method it stands in for.
                    stack.enter_context(mock.patch.object(owner, name, function))
            began = time.process_time()
            data.rio().fit(data.X, data.y)
            seconds = time.process_time() - began
        shares = {stage: round(100.0 * part / seconds, 1) for stage, part in spent.items()}
        yield record("stages", data, "as it is", seconds, **shares, rest=round(100.0 - sum(shares.values()), 1))


def evaluations(n: int, points: list[int], rounds: int) -> Iterator[dict[str, Any]]:
    """One evaluation of the bound and its gradient at the first start, after one that has filled the memory."""
    for data in Data.all_of(n):
        arguments = training_arguments(data)
        kernel, rows, x = arguments["kernel"], arguments["data"], arguments["starts"][0]
        theta, log_noise = x[: kernel.n_parameters], x[kernel.n_parameters :]
        for m in points:
            chosen = inducing.choose("greedy", m, rows.rows, kernel, theta, np.random.default_rng(0))

            def evaluation(varied: Observations, chosen: Array = chosen) -> Callable[[], float]:
                bound = sparse.CollapsedBound(kernel, varied, len(chosen))  # noqa: B023
                return lambda: bound(theta, log_noise, chosen)[0]  # noqa: B023

            usual = block_rows_for(m)
            stacked = [np.random.default_rng(0).normal(size=(m + 1, usual)) for _ in range(-(-len(rows) // usual))]
            copies = [block.T.copy() for block in stacked]
            ways: dict[str, Callable[[], Any]] = {
                "as it is": evaluation(rows),
                "float32 rows": evaluation(replace(rows, dtype=np.float32)),
                "blocks made again, not kept": evaluation(replace(rows, cache_bytes=0)),
                **{f"blocks of {b:,} rows": evaluation(replace(rows, block_rows=b)) for b in BLOCKS},
                "only the products, syrk": lambda stacked=stacked: [a @ a.T for a in stacked],
                "only the products, gemm": lambda stacked=stacked, copies=copies: [
                    a @ b for a, b in zip(stacked, copies, strict=True)
                ],
            }
            with single_blas_thread:
                times = take_turns(ways, rounds + 1)  # the first one fills the memory
            for way, (seconds, _) in times.items():
                yield record("evaluations", data, way, seconds, m=m, block_rows=usual)


def trainings(n: int, m: int, seeds: int, only: str) -> Iterator[dict[str, Any]]:
    """Whole trainings, without the noise of rows; evaluations are counted on all rows and on fewer."""
    evaluate, counts = SparseObjective.__call__, Counter[tuple[int, int]]()

    def counting(problem: Any, x: Array) -> Any:
        counts[len(problem.data), len(problem.points)] += 1
        return evaluate(problem, x)

    for data in Data.all_of(n):
        ways: dict[str, tuple[type, dict[str, Any]]] = {
            "as it is": (training._Trainer, {}),
            "no stage on a subset": (training._Trainer, {"subset_rows": None}),
            f"first stage on {FEW:,} rows": (training._Trainer, {"subset_rows": FEW}),
            f"subsets that grow, from {FEW:,} rows": (Growing, {}),
            "one start, that of RIO": (training._Trainer, {"starts": "rio"}),
            "one start, all hyperparameters one": (training._Trainer, {"starts": "unit"}),
            "parameters scaled by curvature": (NaturalScaling, {}),
            "second-order steps on all rows": (SecondOrder, {}),
            "float32 in the first stage": (Float32First, {}),
            f"rounding of {MORE_ROUNDING:g} allowed, not {sparse.ROUNDING_ALLOWED:g}": (
                training._Trainer,
                {"rounding": MORE_ROUNDING},
            ),
        }
        for seed, way in product(range(seeds), ways):
            if only and way not in only.split(";"):
                continue
            kind, options = ways[way]
            arguments = training_arguments(data, n_inducing=m, training={"starts": options.get("starts", "auto")})
            subset_rows = options.get("subset_rows", training.Settings.subset_rows)
            arguments["settings"] = replace(arguments["settings"], subset_rows=subset_rows)
            arguments["rng"] = np.random.default_rng(seed)
            counts.clear()
            allowed = options.get("rounding", sparse.ROUNDING_ALLOWED)
            with (
                mock.patch.object(training, "_Trainer", kind),
                mock.patch.object(SparseObjective, "__call__", counting),
                mock.patch.object(sparse, "ROUNDING_ALLOWED", allowed),
            ):
                began = time.process_time()
                trained = training.train(**arguments)
                seconds = time.process_time() - began
            on_all = sum(count for (n_rows, _), count in counts.items() if n_rows == len(data.y))
            work = sum(count * n_rows * points for (n_rows, points), count in counts.items()) / (len(data.y) * m)
            more = {"on_all": on_all, "on_fewer": counts.total() - on_all, "work": round(work, 1)}
            more |= {"objective": trained.objective, "failed": trained.message.startswith("ABNORMAL")}
            yield record("trainings", data, way, seconds, m=m, seed=seed, **more)


def main(options: argparse.Namespace) -> None:
    tables = {
        "stages": lambda: stages(options.sizes, options.rows),
        "evaluations": lambda: evaluations(options.rows, options.points, options.rounds),
        "trainings": lambda: trainings(options.rows, options.points_of_trainings, options.seeds, options.ways),
    }
    for name in options.only.split(","):
        others = [row for row in read_rows(options.results) if row["table"] != name]
        write_rows(options.results, [*others, *tables[name]()])


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="stages,evaluations,trainings", help="tables (%(default)s)")
    parser.add_argument("--sizes", type=numbers, default="1000,5000,20000", help="generated rows of whole fits")
    parser.add_argument("--rows", type=int, default=20_000, help="of all else, at most (%(default)s)")
    parser.add_argument("--points", type=numbers, default="50,300", help="of evaluations (%(default)s)")
    parser.add_argument("--rounds", type=int, default=4, help="of evaluations (%(default)s)")
    parser.add_argument("--points-of-trainings", type=int, default=50, help="(%(default)s)")
    parser.add_argument("--seeds", type=int, default=2, help="of trainings (%(default)s)")
    parser.add_argument("--ways", default="", help="of trainings, separated by semicolons (all)")
