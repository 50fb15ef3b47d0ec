"""The figures of the paper, drawn from stored results: `draw_all`."""

from experiments.figures.gallery import draw_all

__all__ = ["draw_all"]
