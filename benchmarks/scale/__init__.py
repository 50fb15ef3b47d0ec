"""How time and memory grow, out of core and on a cluster.

    python -m benchmarks.scale run --only growth --rows 1000,10000,100000 --points 50,100
    python -m benchmarks.scale run --only flights,dask
    python -m benchmarks.scale run --only msd --peers-python .venv-peers/bin/python
    python -m benchmarks.scale page

RIO_UQ_DATA names the folder of the flights and of YearPredictionMSD.txt, see `benchmarks.scale.msd`.
"""
