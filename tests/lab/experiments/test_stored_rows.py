"""The page of the paper's experiments shows what the code as it is gives: two cheap cells of each table, made anew."""

import os

import pytest

from experiments.measures import measured, store_of
from experiments.methods import TABLES, base_model_of
from experiments.runner import RESULTS
from lab.runs import rows_of

DATASET, RUN = "yacht", 0
BASE_MODELS = RESULTS.with_name("base-models")
"""Predictions of that run's models, with which its rows were made: another processor trains other networks."""

CELLS = [(table, method) for table in ("default", "ard", "iterations", "random-forest") for method in ("R+O", "Y+O")]


@pytest.mark.skipif(not os.environ.get("RIO_UQ_DATA"), reason="RIO_UQ_DATA does not name the folder of the data files")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("table", "method"), [*CELLS, ("ours", "ours"), ("ours", "ours+crossfit")])
def test_a_stored_row_is_what_the_code_gives(table, method):
    stored = store_of(RESULTS).read_or_unpack().set_index(["table", "dataset", "run", "method"])
    rows = rows_of(DATASET, RUN, base_model_of(table, DATASET, method), BASE_MODELS)
    answer = TABLES[table][method](rows, RUN)
    again, row = measured(table, DATASET, RUN, method, rows, answer), stored.loc[table, DATASET, RUN, method]
    assert again.rmse == pytest.approx(row.rmse, rel=0.02)
    assert again.nlpd == pytest.approx(row.nlpd, abs=0.05)
