"""Print processor seconds and errors of fits by the defaults beside those of an earlier commit.

Models are fitted to the rows that RIO gets. Both trees fit in turns, each in a process of its own on one thread, so
that other work on the machine meets both.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import joblib
import numpy as np

from benchmarks.defaults.models import MODELS
from benchmarks.defaults.run import MOST_ROWS, usable
from benchmarks.defaults.tables import TABLES, UCI
from benchmarks.engine.baseline import commit_of, unpacked
from lab.markdown import markdown_table
from lab.options import at_least_one, names_among
from lab.peers.process import REPOSITORY, Peer

WORKER = ("-P", str(Path(__file__).with_name("beside_worker.py")))
THREE_MODELS = ["ridge", "forest", "histogram boosting"]
MOST_TEST_ROWS = 2000


class Pair(NamedTuple):
    """A fit before and now."""

    dataset: str
    model: str
    before: dict[str, float]
    now: dict[str, float]

    def ratio(self, name: str) -> float:
        return self.now[name] / self.before[name]

    def line(self) -> list[str]:
        seconds = [f"{side['seconds']:.1f}" for side in (self.before, self.now)]
        ratios = [f"{self.ratio(name):.2f}" for name in ("seconds", "rmse")]
        return [self.dataset, self.model, *seconds, *ratios, f"{self.now['nlpd'] - self.before['nlpd']:+.2f}"]


def compare(dataset: str, name: str, n_rows: int, run: int, trees: dict[str, Path], folder: Path) -> Pair:
    X, y = TABLES[dataset]()
    order = np.random.default_rng(run).permutation(len(y))
    given, test = np.split(order, [min(n_rows, 2 * len(y) // 3)])
    test = test[:MOST_TEST_ROWS]
    problem, stored = folder / "problem.npz", folder / "model.joblib"
    np.savez(problem, X=X[given], y=y[given], X_test=X[test], y_test=y[test])
    joblib.dump(MODELS[name](X, run).fit(X[given], y[given]), stored)
    replies = {}
    for side in sorted(trees, reverse=run % 2 == 1):
        with Peer(sys.executable, "fit", problem, program=WORKER, threads=1, repository=trees[side]) as worker:
            replies[side] = worker.ask(model=str(stored))
        if "error" in replies[side]:
            raise RuntimeError(f"{side}: {replies[side]['error']}")
        if not Path(replies[side].pop("source")).is_relative_to(trees[side]):
            raise RuntimeError(f"{side}: rio-uq was not imported from {trees[side]}")
    return Pair(dataset, name, replies["before"], replies["now"])


def summary(pairs: list[Pair]) -> str:
    """The sum over all fits of each data set, and over all, with geometric means of ratios of errors."""
    lines = []
    names = list(dict.fromkeys(pair.dataset for pair in pairs))
    for label, chosen in [*((name, [name]) for name in names), ("all", names)]:
        part = [pair for pair in pairs if pair.dataset in chosen]
        before, now = (sum(getattr(pair, side)["seconds"] for pair in part) for side in ("before", "now"))
        rmse = np.exp(np.mean([np.log(pair.ratio("rmse")) for pair in part]))
        lines.append([label, str(len(part)), f"{before:.1f}", f"{now:.1f}", f"{now / before:.2f}", f"{rmse:.3f}"])
    return markdown_table(["data", "fits", "before, s", "now, s", "now / before", "RMSE, now / before"], lines)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--baseline", metavar="COMMIT", required=True)
    for option, choices, default in (("datasets", list(UCI), list(UCI)), ("models", list(MODELS), THREE_MODELS)):
        text = f"names with commas, among {', '.join(choices)} (default: {', '.join(default)})"
        parser.add_argument(f"--{option}", type=names_among(choices), default=default, help=text)
    parser.add_argument("--rows", type=at_least_one, default=MOST_ROWS, help="at most (default: %(default)s)")
    parser.add_argument("--runs", type=at_least_one, default=1, help="number of random splits (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    pairs = []
    with TemporaryDirectory() as name:
        trees = {"before": unpacked(commit_of(options.baseline), Path(name)), "now": REPOSITORY}
        for run in range(options.runs):
            for dataset in usable(options.datasets):
                for model in options.models:
                    pairs.append(compare(dataset, model, options.rows, run, trees, Path(name)))
                    print(*pairs[-1].line(), file=sys.stderr, flush=True)
    header = ["data", "model", "before, s", "now, s", "now / before", "RMSE, now / before", "NLPD, now − before"]
    print(markdown_table(header, [pair.line() for pair in pairs]))
    print(summary(pairs))
