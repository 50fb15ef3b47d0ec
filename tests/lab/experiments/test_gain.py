"""The gain over the paper, step by step, and tests on the same runs."""

import numpy as np
import pandas as pd
import pytest

from experiments.gain import gain_section, significance_section
from experiments.methods import STEPS


def rows_of(table, method, rmse, dataset="yacht"):
    entries = [(run, value) for run, value in enumerate(rmse)]
    return pd.DataFrame(
        {
            "table": table,
            "dataset": dataset,
            "run": [run for run, _ in entries],
            "method": method,
            "rmse": [value for _, value in entries],
            "nlpd_capped": [np.log(value) for _, value in entries],
        }
    )


@pytest.fixture
def rows(rng):
    common = rng.normal(scale=0.01, size=6)
    steps = [rows_of("gain", name, 2.0 - 0.1 * number + common) for number, name in enumerate(STEPS)]
    return pd.concat([*steps, rows_of("ours", "GP", 1.0 + common[:4]), rows_of("default", "RIO", 1.5 + common[::-1])])


def test_a_step_counts_on_the_runs_that_all_columns_have(rows):
    lines = [line for line in gain_section(rows).splitlines() if line.startswith("| yacht")]
    assert len(lines) == 2
    cells = [cell.strip() for cell in lines[0].strip("|").split("|")]
    assert cells[1:3] == ["4", "1.460"]  # runs, and the paper's RIO
    first = rows[(rows.table == "gain") & (rows.method == next(iter(STEPS))) & (rows.run < 4)]
    assert float(cells[3]) == pytest.approx(first.rmse.mean(), abs=5e-4)
    assert cells[-1].startswith("**")  # the best mean


def test_without_rows_there_is_no_section(rows):
    assert gain_section(rows[rows.table != "gain"]) == ""
    assert significance_section(rows, ("ours",)) == ""


def test_a_clear_difference_is_marked_and_another_is_not(rows, rng):
    noisy = rows_of("ours", "ours", 1.5 + rng.normal(size=6))
    section = significance_section(pd.concat([rows, noisy]), ("GP", "ours"))
    clear, other = next(line for line in section.splitlines() if line.startswith("| yacht")).split("|")[2:4]
    assert clear.strip().startswith("**-0.5")
    assert "**" not in other
