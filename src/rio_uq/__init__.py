"""Trustworthy error bars, and more accurate predictions, for any regression model you already have."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rio_uq._base.version import __version__ as __version__

if TYPE_CHECKING:
    from rio_uq import features, metrics, mlflow, models, onnx, plots, report, rows
    from rio_uq._base.errors import FormatError
    from rio_uq._base.warnings import (
        DependentRowsWarning,
        MostlyEqualWarning,
        NotStoredWarning,
        ReusedRowsWarning,
        SeenRowsWarning,
    )
    from rio_uq.classifier import RIOClassifier
    from rio_uq.loading import load
    from rio_uq.options import Training
    from rio_uq.regressor import RIORegressor

__all__ = [
    "DependentRowsWarning",
    "FormatError",
    "MostlyEqualWarning",
    "NotStoredWarning",
    "RIOClassifier",
    "RIORegressor",
    "ReusedRowsWarning",
    "SeenRowsWarning",
    "Training",
    "features",
    "load",
    "metrics",
    "mlflow",
    "models",
    "onnx",
    "plots",
    "report",
    "rows",
]


_HOMES = {
    "FormatError": "_base.errors",
    "DependentRowsWarning": "_base.warnings",
    "MostlyEqualWarning": "_base.warnings",
    "NotStoredWarning": "_base.warnings",
    "ReusedRowsWarning": "_base.warnings",
    "SeenRowsWarning": "_base.warnings",
    "RIOClassifier": "classifier",
    "RIORegressor": "regressor",
    "Training": "options",
    "load": "loading",
}


def __getattr__(name: str) -> Any:
    """Imported when asked for: the command line answers --help and the Tab key without scikit-learn."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.{_HOMES.get(name, name)}")
    return home if name not in _HOMES else getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
