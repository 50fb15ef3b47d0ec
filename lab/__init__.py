"""Data sets, splits, base models, storage and rendering that experiments and benchmarks share."""
