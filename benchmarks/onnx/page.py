"""Write the page from the stored measurements."""

from __future__ import annotations

import argparse

from benchmarks.command import stored_rows
from lab.json_lines import Row
from lab.markdown import markdown_table

OURS, N_FEATURES = "rio-uq in Python", 8


def table(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        ours = row["seconds"][OURS]
        for name, seconds in row["seconds"].items():
            speed_up = {size: f"{ours[size] / seconds[size]:.1f}" for size in seconds}
            one_row, per_second = f"{1e6 * seconds['one_row']:,.0f}", f"{row['n_rows'] / seconds['many_rows']:,.0f}"
            gp = f"{row['inference']}, {row['n_points']:,} points"
            lines.append([gp, name, one_row, speed_up["one_row"], per_second, speed_up["many_rows"]])
    many = f"{rows[0]['n_rows']:,} rows at once, rows/s"
    return markdown_table(["GP", "engine", "one row, µs", "speed-up", many, "speed-up"], lines)


def page(rows: list[Row]) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in rows[-1]["packages"].items())
    return f"""# Error bars in Python and in onnxruntime

Written by `make bench-onnx`: mean and std, {N_FEATURES} features, one thread each, engines by turns, the best
round of each. The model's predictions are given, so its own time is in neither. The exported graph works in double
precision inside, whatever its inputs and outputs are.

{table(rows)}
Python {rows[-1]["python"]}, {packages}, {rows[-1]["machine"]}.
"""


def main(options: argparse.Namespace) -> None:
    options.output.write_text(page(stored_rows(options.results)))
