"""Speed of the engine side by side with its peers, in one run, as ratios.

python -m benchmarks.engine run                    everything, about 20 minutes
python -m benchmarks.engine run --quick            the two smallest problems
python -m benchmarks.engine run --peers-python P   the interpreter of the environment with GPflow and GPyTorch
python -m benchmarks.engine run --baseline C       this tree beside commit C of rio-uq as well, about 10 minutes more
python -m benchmarks.engine run --only baseline --baseline C
python -m benchmarks.engine page
"""
