"""Print how often residuals are those of the right rows, in more cases than `run` has; no GP is fitted.

The model was trained on the rows given ("seen"), on as many others ("new"), on half of each ("half"), on half or four
fifths of the rows given and no others ("only half", "only most"), on the rows and twice as many others ("among
others"), or on half or three times as many others ("few others", "many others"). It matters where residuals of
new rows are 1.1 times those of the rows that the model of "seen" was trained on, or more, and those of clones for rows
out of fold 1.1 times those for rows that they have seen. Seen rows, or some of them, need out-of-fold or out-of-bag
residuals, new ones the model's own. The ratio is the root mean square of the residuals that
were taken over that of up to 2,000 rows that the model has really not seen: 1 is what error bars need.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from benchmarks.defaults.measures import root_mean_square
from benchmarks.defaults.models import FUNCTION, MODELS
from benchmarks.defaults.run import MOST_ROWS, MOST_TEST_ROWS, usable
from benchmarks.defaults.tables import TABLES, rows_of_table
from benchmarks.defaults.targets import MATTERS, UNSEEN
from lab.markdown import markdown_table
from lab.options import at_least_one, names_among
from rio_uq.models.fit_rows import FitRows
from rio_uq.models.residual_choice import ResidualChoice
from rio_uq.models.residuals import choose_residuals

CASES = ("seen", "new", "half", "only half", "only most", "few others", "among others", "many others")
OTHERS_ONLY = ("new", "few others", "many others")
FEWEST_TEST_ROWS = 100


class Decision(NamedTuple):
    """One decision: whether it mattered, the residuals that were taken, and their size in units of that of new rows."""

    case: str
    dataset: str
    model: str
    matters: bool
    kind: str
    ratio: float

    @property
    def is_right(self) -> bool:
        return (self.kind not in UNSEEN) == (self.case in OTHERS_ONLY)

    @property
    def is_safe(self) -> bool:
        return self.is_right or self.case in OTHERS_ONLY


def rows_of_case(n: int, case: str, n_given: int, run: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Numbers of the rows that the model is trained on, of those given, and of test rows; None if there are too few."""
    order = np.random.default_rng(run).permutation(n)
    given, others = order[:n_given], order[n_given:]
    half = n_given // 2
    n_others = {
        "seen": 0,
        "new": n_given,
        "half": n_given - half,
        "only half": 0,
        "only most": 0,
        "few others": half,
        "among others": 2 * n_given,
        "many others": 3 * n_given,
    }
    n_own = {"seen": n_given, "half": half, "only half": half, "only most": 4 * n_given // 5, "among others": n_given}
    own = given[: n_own.get(case, 0)]
    test = others[max(n_given, n_others[case]) :][:MOST_TEST_ROWS]
    trained = np.concatenate([own, others[: n_others[case]]])
    return (trained, given, test) if len(test) >= FEWEST_TEST_ROWS else None


def chosen_residuals(model: Any, X: Any, y: np.ndarray, run: int) -> tuple[ResidualChoice, np.ndarray]:
    """The decisions of the defaults, and the residuals that they take."""
    features = X.apply(lambda column: column.astype("category").cat.codes) if hasattr(X, "columns") else X
    rows = FitRows(X, y, None, np.asarray(features, dtype=float), None, None, None)
    options = {"residuals": "auto", "cv": 5, "combine": "auto", "uses_model": True, "in_parts": False}
    rng = np.random.default_rng(check_random_state(run).randint(2**31 - 1))  # as RIORegressor(random_state=run) has it
    chosen = choose_residuals(model, rows, **options, rng=rng)
    residual = y - chosen.y_pred[:, 0]
    return chosen.choice, residual[np.isfinite(residual)]


def decide(dataset: str, name: str, n_given: int, run: int, cases: tuple[str, ...] = CASES) -> list[Decision]:
    """The decisions on one model in these cases."""
    X, y = TABLES[dataset]()
    memorised, decisions = np.inf, []
    for case in cases:
        if (rows := rows_of_case(len(y), case, min(n_given, len(y) // 3), run)) is None:
            continue
        trained, given, test = rows
        model = MODELS[name](X, run).fit(rows_of_table(X, trained), y[trained])
        own, new = (
            root_mean_square(y[part] - np.ravel(model.predict(rows_of_table(X, part)))) for part in (trained, test)
        )
        choice, residual = chosen_residuals(model, rows_of_table(X, given), y[given], run)
        by_test_rows = new / max(own, 1e-12 * new) if case == "seen" else np.inf
        memorised = min(memorised, by_test_rows, choice.evidence.get("memorised", np.inf))
        decisions.append(Decision(case, dataset, name, False, choice.kind, root_mean_square(residual) / new))
    return [decision._replace(matters=bool(memorised >= MATTERS)) for decision in decisions]


def decision_table(decisions: list[Decision]) -> str:
    """Where it matters: how often residuals are right, and safe, and their sizes; the rest are those not right."""
    lines = []
    for case in CASES:
        part = [decision for decision in decisions if decision.case == case and decision.matters]
        if not part:
            continue
        shares = [f"{100 * np.mean([getattr(one, name) for one in part]):.1f} %" for name in ("is_right", "is_safe")]
        low, middle, high = np.quantile([one.ratio for one in part], [0.05, 0.5, 0.95])
        wrong = "; ".join(f"{one.model} on {one.dataset} ({one.ratio:.2f})" for one in part if not one.is_right)
        lines.append([case, str(len(part)), *shares, f"{middle:.2f} ({low:.2f} to {high:.2f})", wrong])
    return markdown_table(["trained on", "fits", "right", "safe", "ratio (5 to 95 %)", "not right (ratio)"], lines)


def add_options(parser: argparse.ArgumentParser) -> None:
    models = [name for name in MODELS if name != FUNCTION]
    for option, choices in (("datasets", list(TABLES)), ("models", models)):
        named = {"type": names_among(choices), "default": choices}
        parser.add_argument(f"--{option}", **named, help=f"names with commas, among {', '.join(choices)} (all)")
    parser.add_argument(
        "--rows", type=at_least_one, default=MOST_ROWS, help="given rows at most (default: %(default)s)"
    )
    parser.add_argument("--cases", type=names_among(list(CASES)), default=list(CASES), help="names with commas (all)")
    parser.add_argument("--runs", type=at_least_one, default=1, help="number of random splits (default: %(default)s)")


def main(options: argparse.Namespace) -> None:
    decisions = []
    for dataset in usable(options.datasets):
        for model in options.models:
            for run in range(options.runs):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    decisions += decide(dataset, model, options.rows, run, options.cases)
        print(f"{dataset}: {len(decisions)} decisions so far", file=sys.stderr, flush=True)
    print(decision_table(decisions))
