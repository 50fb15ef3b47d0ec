"""Exact Gaussian processes: time to the same likelihood, beside GPyTorch and scikit-learn, in one run, as ratios.

    python -m benchmarks.exact run                          everything, about half an hour, most of it Adam
    python -m benchmarks.exact run --problems CCS --rows 300
    python -m benchmarks.exact page
    python -m benchmarks.exact promises                     seconds of time_budget, and those that fit takes

Everything runs in one virtual environment, that of requirements.txt with rio-uq on the path.
RIO_UQ_DATA names the folder of the data files; the other rows are generated.
"""

OTHERS = ("promises",)
