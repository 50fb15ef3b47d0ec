"""Trustworthy error bars, and more accurate predictions, for any regression model you already have."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rio_uq import metrics, mlflow, onnx, plots, report
    from rio_uq.archive import FormatError
    from rio_uq.persistence import load
    from rio_uq.regressor import RIORegressor

__all__ = ["FormatError", "RIORegressor", "load", "metrics", "mlflow", "onnx", "plots", "report"]
__version__ = "0.1.0"

_HOMES = {"FormatError": "archive", "RIORegressor": "regressor", "load": "persistence"}


def __getattr__(name: str) -> Any:
    """Imported when asked for: the command line answers --help and the Tab key without scikit-learn."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.{_HOMES.get(name, name)}")
    return home if name not in _HOMES else getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
