"""The command line, ``rio-uq``: a thin shell over the library, with the extra ``rio-uq[cli]``."""

from __future__ import annotations

import signal
import sys
from importlib.util import find_spec

NEEDED = ("typer", "rich", "pandas", "pyarrow")


def main() -> None:
    """The entry point of ``rio-uq``."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.exit(f"rio-uq: the command line needs {', '.join(missing)}: pip install 'rio-uq[cli]'")
    # A request to end cleans up as an error does: no temporary file stays behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        from rio_uq.cli.app import app

        app()
    except KeyboardInterrupt:
        sys.exit(130)
