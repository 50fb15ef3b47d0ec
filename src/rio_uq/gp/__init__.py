"""The engine: Gaussian processes with an input/output kernel, as pure functions on arrays."""
