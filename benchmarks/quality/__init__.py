"""Quality of predictions and error bars beside other methods, on the paper's data sets.

    python -m benchmarks.quality run --datasets yacht,ENB/h --runs 5 --jobs 2
    python -m benchmarks.quality page

Everything runs in one virtual environment, that of requirements.txt with rio-uq on the path. RIO_UQ_DATA names the
folder of the UCI files.
"""

RESULTS = "result.csv"
