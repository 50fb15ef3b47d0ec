"""Whether error bars grow where the model should not be believed: on shifted rows, other data and attacked inputs.

python -m benchmarks.shift run
python -m benchmarks.shift run --datasets yacht,ENB/h --runs 3
python -m benchmarks.shift page
"""
