"""Kernels on rows c = (x, ŷ)."""
