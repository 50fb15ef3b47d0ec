"""The README's three lines, nothing else, for models as people have them: do error bars hold?

    python -m benchmarks.defaults run --runs 5 --jobs 2
    python -m benchmarks.defaults page
    python -m benchmarks.defaults decisions --rows 250
    python -m benchmarks.defaults decided
    python -m benchmarks.defaults beside --baseline main

Everything runs in one virtual environment, that of requirements.txt with rio-uq on the path. RIO_UQ_DATA names the
folder of the UCI files and of the flights; the prices are those of a package.
"""

RESULTS = "result.csv"
OTHERS = ("beside", "decided", "decisions")
