"""Dates as text, in ISO 8601."""

from __future__ import annotations

import datetime
import re

DATE = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?)?$"
)
"""Dates, and dates with times."""

_DATE = re.compile(DATE)

_ZONE = re.compile(r"(:[0-9.,:]*[0-9]) ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})$")
"""A time of the day, and the zone behind it."""


def parsed_date(text: str) -> datetime.datetime | None:
    """The time that the clocks of its time zone show; None if the text is none.

    >>> parsed_date("2024-12-31T18:30+02:00"), parsed_date("31.12.2024")
    (datetime.datetime(2024, 12, 31, 18, 30), None)
    """
    if not _DATE.match(text):
        return None
    try:
        return datetime.datetime.fromisoformat(_ZONE.sub(r"\1", text))
    except ValueError:  # the thirtieth of February
        return None
