"""Trustworthy error bars, and more accurate predictions, for any regression model you already have."""

from rio_uq import metrics, plots, report
from rio_uq.archive import FormatError
from rio_uq.persistence import load
from rio_uq.regressor import RIORegressor

__all__ = ["FormatError", "RIORegressor", "load", "metrics", "plots", "report"]
__version__ = "0.1.0"
