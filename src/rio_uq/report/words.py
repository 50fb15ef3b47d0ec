"""Numbers as a reader wants to see them."""

from __future__ import annotations

import math
from collections.abc import Sequence

MOST_DIGITS, LONGEST_NAME = 12, 80


def number(value: float, digits: int = 3) -> str:
    """So many significant digits, "–" where there is no number.

    >>> number(1234.5), number(0.012345), number(1_234_567.0), number(-0.0), number(math.nan)
    ('1234', '0.0123', '1,230,000', '0', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    size = abs(value)
    if size and not 1e-4 <= size < 1e9:
        return _minus(f"{value:.{digits - 1}e}")
    if size >= 10_000:
        return _minus(f"{float(f'{value:.{digits}g}'):,.0f}")
    rounded = float(f"{value:.{max(digits, len(str(int(size))))}g}")
    return _minus(f"{rounded + 0.0:.{MOST_DIGITS}g}")


def measured(value: float) -> str:
    """Three significant digits, zeros included: what was measured.

    >>> measured(23.0), measured(0.5), measured(-1234.5), measured(math.inf)
    ('23.0', '0.500', '−1234', '∞')
    """
    if not math.isfinite(value) or not 1e-4 <= abs(value) < 10_000:
        return number(value)
    return _minus(f"{value:.{max(0, 2 - math.floor(math.log10(float(f'{abs(value):.3g}'))))}f}")


def signed(value: float) -> str:
    """With a plus before what is more than zero."""
    return f"+{number(value)}" if value > 0 else number(value)


def share(value: float, digits: int = 1) -> str:
    """0.1234 as "12.3 %", with a space that does not break."""
    return "–" if math.isnan(value) else _minus(f"{100.0 * value:.{digits}f}\N{NO-BREAK SPACE}%")


def distinct(values: Sequence[float]) -> list[str]:
    """Values with as many digits as it takes to tell them apart, in proportion to how far they reach.

    >>> distinct([-1.521, 0.000954, 1.4]), distinct([1900.0, 1911.6, 2020.0]), distinct([1.0, 2.0, 5.0])
    (['−1.52', '0', '1.4'], ['1900', '1912', '2020'], ['1', '2', '5'])
    """
    reach = max(values) - min(values)
    if not 1e-4 <= max(reach, abs(values[0])) < 1e9:
        return [number(value, 4) for value in values]
    decimals = 2 - math.floor(math.log10(reach)) if reach else 2
    while True:
        rounded = [round(value, decimals) for value in values]
        if len(set(rounded)) == len(set(values)) or decimals > MOST_DIGITS:
            return [_minus(_plain(value, max(decimals, 0))) for value in rounded]
        decimals += 1


def _plain(value: float, decimals: int) -> str:
    text = f"{value + 0.0:,.{decimals}f}" if abs(value) >= 10_000 else f"{value + 0.0:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def listed(parts: Sequence[str]) -> str:
    """ "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """ "1 row", "12,345 rows"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def shortened(text: str, longest: int) -> str:
    """With an ellipsis where it is longer."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _minus(text: str) -> str:
    return text.replace("-", "−")
