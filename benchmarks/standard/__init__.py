"""The nine UCI sets with the fixed splits that papers on uncertainty share, in the form of their tables.

    python -m benchmarks.standard run --datasets yacht,energy --runs 20 --jobs 2
    python -m benchmarks.standard page
    python -m benchmarks.standard forget --methods ET+RIO

Everything runs in the virtual environment of benchmarks/quality/requirements.txt, with rio-uq on the path. RIO_UQ_DATA
names a folder with the splits in a folder ``standard``.
"""

RESULTS = "result.csv"
OTHERS = ("forget",)
