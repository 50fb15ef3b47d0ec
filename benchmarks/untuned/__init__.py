"""Tables that no default was chosen on: the paper's RIO, ours, a plain GP and gradient boosting with error bars.

    python -m benchmarks.untuned run --datasets penguins,auto --runs 10 --jobs 2
    python -m benchmarks.untuned page

Everything runs in the virtual environment of benchmarks/untuned/requirements.txt, with rio-uq on the path; the tables
are those of a package in it, and no other files are needed.
"""

RESULTS = "result.csv"
