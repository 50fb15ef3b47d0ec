"""The contract of a scale of outcomes.

A scale is an increasing function g. Residuals are taken as g(y) − g(ŷ), and quantiles of outcomes are g⁻¹ of quantiles
on the scale. The density of an outcome is that of g(y) times the slope g'(y).
"""

from __future__ import annotations

from typing import Protocol

from rio_uq._base.array import Array, Mask


class Scale(Protocol):
    """The scale of one output.

    Attributes
    ----------
    kind : str
        Its name.
    is_identity : bool
        Whether outcomes are taken as they are, without bounds.
    """

    @property
    def kind(self) -> str: ...

    @property
    def is_identity(self) -> bool: ...

    def contains(self, y: Array) -> Mask:
        """Whether an outcome, or a prediction given to fit, has a place on the scale."""

    def forward(self, y: Array) -> Array:
        """g(y); −∞ or ∞ for outcomes that are beyond the range."""

    def forward_prediction(self, y_pred: Array) -> Array:
        """g(ŷ), with predictions that have no place on the scale moved to its end."""

    def inverse(self, u: Array) -> Array:
        """g⁻¹(u), within the range of outcomes."""

    def log_slope(self, y: Array) -> Array:
        """log g'(y); NaN for outcomes that have no place on the scale."""

    def in_words(self) -> str:
        """A noun."""
