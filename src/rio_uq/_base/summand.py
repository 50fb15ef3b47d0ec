"""Anything of which two can be added up."""

from __future__ import annotations

from typing import Any, Protocol, Self


class Summand(Protocol):
    def plus(self, other: Any, /) -> Self: ...
