"""Write the page: tables, slopes and a plot of what was measured."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.command import stored_rows
from benchmarks.scale import msd
from lab.fits.trajectories import Fits
from lab.json_lines import Row
from lab.markdown import markdown_table

INTRODUCTION = """# How time and memory grow

Written by `python -m benchmarks.scale page` from the measurements in `result.jsonl`. Each was made in a process of its
own, on one thread. The machine, of two cores, was busy with other work (its load is in the tables), so seconds of the
processor are given first, and seconds by the clock in brackets: on an idle machine both are nearly the same. Memory is
the peak of the whole process, Python and libraries included.
"""


def seconds(row: Row, name: str) -> str:
    return f"{row[f'{name}_cpu_seconds']:.2f} ({row[f'{name}_seconds']:.0f})"


def slope(x: list[float], y: list[float]) -> float:
    """Of log y on log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def of_kind(rows: list[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["task"]["kind"] == kind]


def series(rows: list[Row], varying: str) -> list[Row]:
    """The measurements of growth in which the other number is the one that most of them have."""
    other = {"rows": "points", "points": "rows"}[varying]
    measured = of_kind(rows, "growth")
    values = [row["task"][other] for row in measured]
    usual = max(set(values), key=lambda value: (values.count(value), value)) if values else None
    return sorted((row for row in measured if row["task"][other] == usual), key=lambda row: row["task"][varying])


def growth_section(rows: list[Row], varying: str) -> str:
    measured = series(rows, varying)
    if len(measured) < 2:
        return ""
    fixed = f"m = {measured[0]['task']['points']}" if varying == "rows" else f"n = {measured[0]['task']['rows']:,}"
    lines = [
        [
            f"{row['task'][varying]:,}",
            seconds(row, "fit"),
            f"{row['fit_mib']}",
            seconds(row, "predict"),
            f"{row['predict_mib']}",
            str(row["load"]),
        ]
        for row in measured
    ]
    last = measured[-2:]
    sizes = [row["task"][varying] for row in last]
    steps = {name: slope(sizes, [row[f"{name}_cpu_seconds"] for row in last]) for name in ("fit", "predict")}
    name = {"rows": "rows", "points": "inducing points"}[varying]
    header = [name, "fit, s", "MiB", "predict with std, s", "MiB", "load"]
    return f"""
## Growth in {name}, {fixed}, 10 features, from and to Parquet

{markdown_table(header, lines)}
Slope of the last step in the logarithms: fit {steps["fit"]:.2f}, predict {steps["predict"]:.2f}.
"""


def flights_section(rows: list[Row]) -> str:
    ways = of_kind(rows, "flights")
    if not ways:
        return ""
    names = {"file": "out of core, from the Parquet file", "dask": "Dask, two worker processes"}
    lines = [
        [
            names[row["task"]["way"]],
            seconds(row, "fit"),
            f"{row['fit_mib']}" + (f", each worker {row['worker_mib']}" if "worker_mib" in row else ""),
            seconds(row, "predict"),
            f"{row['rmse_before']:.3f} → {row['rmse_after']:.3f}",
            f"{row['nlpd_before']:.4f} → {row['nlpd_after']:.4f}",
            f"{row['coverage_before']:.3f} → {row['coverage_after']:.3f}",
        ]
        for row in ways
    ]
    header = ["", "fit, s", "MiB", "predict test rows, s", "RMSE", "NLPD", "coverage of 95 % intervals"]
    same = [row["largest_difference"] for row in ways if "largest_difference" in row]
    agreement = (
        f"Largest difference of means and stds between the two ways: {max(same):.1e} of the std.\n" if same else ""
    )
    return f"""
## {ways[0]["rows"]:,} flights

Gradient boosting predicts the delay of a flight from month, weekday, minute of the day, distance and the coordinates
of both airports; RIO ({ways[0]["points"]} inducing points) is fitted to its residuals on the same flights. The
{ways[0]["test_rows"]:,} test flights are later than all of them. Before RIO every flight has the same std, the RMSE of
the model on its training rows. Processor seconds of Dask are those of the client alone.

{markdown_table(header, lines)}
{agreement}{"".join(row["note"] for row in ways if "note" in row)}{verdict(ways[0])}"""


def verdict(row: Row) -> str:
    """The verdict of the test rows, in a sentence."""
    if row["nlpd_after"] <= row["nlpd_before"]:
        return "With RIO the test flights are more likely than without.\n"
    return (
        "RIO finds nothing to gain here: with so many flights the model has little left to be corrected on its own\n"
        "training rows, and the test flights, which are later, are predicted slightly worse than without RIO.\n"
    )


def dask_section(rows: list[Row]) -> str:
    measured = sorted(of_kind(rows, "dask"), key=lambda row: (row["task"]["rows"], row["task"]["workers"]))
    if not measured:
        return ""
    lines = [
        [
            f"{row['task']['rows']:,}",
            {0: "threads of this process"}.get(row["task"]["workers"], f"{row['task']['workers']} worker processes"),
            f"{row['pass_seconds']:.2f}",
            f"{row['bytes_between_workers']:,}" if "bytes_between_workers" in row else "",
            f"{row['bytes_to_client']:,}",
            str(row["load"]),
        ]
        for row in measured
    ]
    header = ["rows", "on", "seconds by the clock", "bytes between workers", "bytes to the client", "load"]
    return f"""
## Dask: one pass over all rows, {measured[0]["partitions"]} partitions, m = 100

{markdown_table(header, lines)}
What travels to the client is a sum of m × m numbers, and between workers one such sum for each partition at most: which
of two workers adds up differs from run to run, the number of rows does not matter. Beside that the regressor is sent
once to each worker.
"""


def msd_section(rows: list[Row]) -> str:
    measured = of_kind(rows, "msd")
    if not measured:
        return ""
    names = {
        msd.BASE: "base model alone, one std for all rows",
        msd.OURS: "rio-uq, defaults, from Parquet",
        msd.PAPER: "rio-uq, the paper's settings",
        msd.GPFLOW: "GPflow SVGP, the paper's settings",
    }
    lines = [
        [
            names[row["task"]["engine"]],
            f"{row['task']['rows']:,}",
            seconds(row, "fit") if "fit_seconds" in row else "",
            str(row.get("fit_mib", "")),
            str(row.get("n_iter", "")) + (f" ({row['stopped']})" if row.get("stopped") else ""),
            str(row.get("n_evaluations") or ""),
            f"{milliseconds(row):.0f}" if row.get("n_evaluations") else "",
            f"{row['rmse']:.3f}",
            f"{row['nlpd']:.4f}",
            str(row["load"]),
        ]
        for row in sorted(measured, key=lambda row: (list(names).index(row["task"]["engine"]), -row["task"]["rows"]))
    ]
    header = ["", "rows", "fit, s", "MiB", "iterations", "evaluations", "ms each", "RMSE", "NLPD", "load"]
    return f"""
## {MSD_NAMES[measured[0]["data"]]}

The base model, the same for everybody, is a ridge regression of {msd.BASE_ROWS:,} rows. In the paper's settings rows
are in memory, all of them are in every evaluation of the bound, and both engines have the same start values: RBF
kernels with one lengthscale for the inputs, 50 inducing points that move, at most 1,000 iterations of L-BFGS-B. GPflow
gets the first tenth of the rows; ten times its seconds stand for a fit to all rows with as many iterations. Our
defaults (ARD, 300 points, noise that depends on the row) learn from a sample of 20,000 rows of the Parquet file, which
is what their iterations are on; all rows enter the posterior. RMSE and NLPD are those of {msd.N_TEST:,} test rows.

{markdown_table(header, lines)}{comparison(measured)}"""


MSD_NAMES = {
    "generated": "Generated rows of the shape of YearPredictionMSD, 463,715 × 90",
    "YearPredictionMSD": "YearPredictionMSD, 463,715 × 90",
}


def milliseconds(row: Row) -> float:
    """Of one evaluation, with its share of all else in the fit."""
    return 1000.0 * (row["fit_cpu_seconds"] - row.get("graph_seconds", 0.0)) / row["n_evaluations"]


def comparison(rows: list[Row]) -> str:
    """Our processor seconds in those of GPflow's fit to a tenth of the rows, in ten times as many for fits to all."""
    tenth = msd.N_TRAIN // 10

    def fits(engine: str, n_rows: int) -> Fits | None:
        task = {"kind": "msd", "engine": engine, "rows": n_rows}
        return Fits(tuple(same)) if (same := [row for row in rows if row["task"] == task]) else None

    peer = fits(msd.GPFLOW, tenth)
    if peer is None:
        return ""
    cost, bound = peer.median("fit_cpu_seconds"), peer.median("bound")
    pairs: list[tuple[str, float, float]] = []
    if whole := fits(msd.PAPER, msd.N_TRAIN):
        pairs.append(("the paper's settings, all rows; GPflow × 10", whole.median("fit_cpu_seconds"), 10.0 * cost))
    if defaults := fits(msd.OURS, msd.N_TRAIN):
        pairs.append(("defaults, all rows from Parquet; GPflow × 10", defaults.median("fit_cpu_seconds"), 10.0 * cost))
    graph = f"{peer.median('graph_seconds'):.1f}"
    notes = [f"Where there are several fits, medians count. Of GPflow's seconds {graph} are for its graph."]
    if same := fits(msd.PAPER, tenth):
        pairs.append(("the same tenth", same.median("fit_cpu_seconds"), cost))
        pairs.append(("the same tenth until the bound at which GPflow ends", same.time_to_bound(bound), cost))
        notes.append(f"On the tenth ours ends at a bound of {same.median('bound'):,.1f}, GPflow at {bound:,.1f}.")
        if all(row["n_evaluations"] for row in peer.rounds):
            each = (float(np.median([milliseconds(row) for row in of.rounds])) / 1000.0 for of in (same, peer))
            pairs.append(("the same tenth, one evaluation of the bound", *each))
    lines = [[name, _shown(ours), _shown(theirs), f"{theirs / ours:.1f}×"] for name, ours, theirs in pairs]
    header = ["processor seconds", "ours", "GPflow SVGP", "ours is faster by"]
    return f"\n{markdown_table(header, lines)}\n{chr(10).join(notes)}\n"


def _shown(seconds: float) -> str:
    if not np.isfinite(seconds):
        return "never there"
    return f"{seconds:,.{0 if seconds >= 100.0 else 1 if seconds >= 1.0 else 3}f}"


def plot(rows: list[Row], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for axis, varying in zip(axes[:2], ("rows", "points"), strict=True):
        measured = series(rows, varying)
        sizes = [row["task"][varying] for row in measured]
        for name in ("fit", "predict"):
            axis.loglog(sizes, [row[f"{name}_cpu_seconds"] for row in measured], "o-", label=name)
        axis.set(xlabel={"rows": "rows", "points": "inducing points"}[varying], ylabel="processor seconds")
        axis.legend()
    measured = series(rows, "rows")
    axes[2].semilogx(
        [row["task"]["rows"] for row in measured], [row["predict_mib"] for row in measured], "o-", color="C2"
    )
    axes[2].axhline(2048, color="grey", linestyle=":")
    axes[2].set(xlabel="rows", ylabel="peak memory, MiB", ylim=(0, 2200))
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def write_page(rows: list[Row], output: Path) -> None:
    sections = [growth_section(rows, "rows"), growth_section(rows, "points"), flights_section(rows)]
    sections += [dask_section(rows), msd_section(rows)]
    picture = output.with_name("growth.png")
    plot(rows, picture)
    output.write_text(f"{INTRODUCTION}\n![growth]({picture.name})\n{''.join(sections)}")


def main(options: argparse.Namespace) -> None:
    write_page(stored_rows(options.results), options.output)
