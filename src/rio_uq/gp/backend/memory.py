"""How much memory there is, and how much arrays would take."""

from __future__ import annotations

import os

GIB = 2**30


def memory_of_machine() -> float:
    """In bytes; infinite where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return float("inf")
