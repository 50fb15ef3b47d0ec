"""Packages beyond the core's own: imported where they are used, or an error that says how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, extra: str, purpose: str = "this", otherwise: str = "") -> Any:
    """A module of a package that an extra of rio-uq brings.

    Parameters
    ----------
    module : str
    extra : str
        ``rio-uq[extra]`` installs it.
    purpose : str
        What it is needed for.
    otherwise : str
        What else can be done, at the end of the message.

    Raises
    ------
    ImportError
        If the package is not installed.
    """
    package = module.split(".")[0]
    try:
        import_module(package)
        return import_module(module)
    except ImportError as error:
        remedy = f"pip install 'rio-uq[{extra}]'{otherwise and f', or {otherwise}'}"
        raise ImportError(f"{purpose} needs {package}, which is not installed: {remedy}") from error
