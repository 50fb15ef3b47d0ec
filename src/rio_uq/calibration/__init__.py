"""Calibration of error bars: arrays in, quantiles out."""

from rio_uq.calibration.calibration import Calibration

__all__ = ["Calibration"]
