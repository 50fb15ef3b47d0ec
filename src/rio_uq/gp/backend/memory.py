"""How much memory there is, and how much arrays would take."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

GIB = 2**30

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Files in which Linux has the limit of a container, by its second and its first version of control groups."""


def memory_of_machine() -> float:
    """In bytes, of the container if there is one; infinite where the system does not say."""
    try:
        memory = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = float("inf")
    for path in LIMITS:
        with suppress(OSError, ValueError):  # "max" where there is no limit
            memory = min(memory, float(path.read_text()))
    return memory
