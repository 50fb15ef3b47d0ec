"""Many rows: what "auto" does beside each way of inference, and beside other Gaussian processes for many rows.

    python -m benchmarks.large run --problems protein,arm --rows 10000
    python -m benchmarks.large page
    python -m benchmarks.large million --neighbors 32

It runs in the virtual environment of requirements.txt with rio-uq on the path, but for GPflow, whose interpreter
--peers-python names. RIO_UQ_DATA names the folder of the data files; the arm is generated.
"""

OTHERS = ("million",)
