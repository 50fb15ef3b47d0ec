"""Figures in the style of scikit-learn's Display classes; they need matplotlib (``pip install 'rio-uq[plots]'``).

Each has ``from_estimator(rio, X, y)`` and ``from_predictions(...)``, keeps the data it shows as attributes, and what it
has drawn as ``ax_`` and ``figure_``.

Examples
--------
>>> from sklearn.datasets import load_diabetes
>>> from sklearn.linear_model import Ridge
>>> from rio_uq import RIORegressor, plots
>>> X, y = load_diabetes(return_X_y=True)
>>> rio = RIORegressor(Ridge(), random_state=0).fit(X[:30], y[:30])
>>> display = plots.ReliabilityDisplay.from_estimator(rio, X[200:], y[200:])
>>> display.coverage.shape, display.ax_.get_xlabel()
((99,), 'level of the interval')
"""

from rio_uq.plots.confidence import ConfidenceDisplay, ErrorBandsDisplay
from rio_uq.plots.corrections import BeforeAfterDisplay, CorrectionDisplay, DecompositionDisplay
from rio_uq.plots.error_bars import ErrorBarDisplay, ReliabilityDisplay
from rio_uq.plots.uncertainty import ErrorUncertaintyDisplay, RiskCoverageDisplay

__all__ = [
    "BeforeAfterDisplay",
    "ConfidenceDisplay",
    "CorrectionDisplay",
    "DecompositionDisplay",
    "ErrorBandsDisplay",
    "ErrorBarDisplay",
    "ErrorUncertaintyDisplay",
    "ReliabilityDisplay",
    "RiskCoverageDisplay",
]
