"""Measurements beside other methods and libraries: ``python -m benchmarks.<name> run|page``."""
