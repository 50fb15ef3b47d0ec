"""The three theorems of the paper as numerical experiments."""

from experiments.theory.report import run

__all__ = ["run"]
