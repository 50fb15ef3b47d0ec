"""Whole fits on the paper's data, by turns: rio-uq as it comes and in the paper's settings, GPflow, GPyTorch.

python -m benchmarks.speed run --peers-python .venv-peers/bin/python
python -m benchmarks.speed run --datasets yacht,ENB/h --rounds 3 --max-seconds 100 --threads 1
python -m benchmarks.speed page        the page, and the section of times of the paper's experiments
"""

ENGINES = ("rio-uq", "rio-uq paper", "GPflow SVGP", "GPflow SGPR", "GPyTorch SGPR", "GPyTorch SVGP")
SMALLEST_FIRST = ("yacht", "ENB/h", "ENB/c", "CCS", "airfoil", "wine/r", "wine/w", "CCPP", "protein")
