"""The scales of all outputs together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rio_uq._base.array import Array
from rio_uq.scales.contract import Scale
from rio_uq.scales.named import IDENTITY


@dataclass(frozen=True, eq=False)
class OutcomeScales:
    """A scale for each of q outputs; arrays have them along their second axis."""

    scales: tuple[Scale, ...]

    @property
    def is_identity(self) -> bool:
        return all(scale.is_identity for scale in self.scales)

    @property
    def is_another(self) -> bool:
        """Whether some outcomes are on another scale than their own, bounds apart."""
        return any(scale.kind != "identity" for scale in self.scales)

    @property
    def may_explode(self) -> bool:
        """Whether outcomes may be exponentials of what is on the scale, which have no mean under heavy tails."""
        return any(scale.kind in ("log", "transformer") for scale in self.scales)

    def forward(self, y: Array) -> Array:
        return self._each(y, lambda scale, column: scale.forward(column))

    def forward_prediction(self, y_pred: Array) -> Array:
        return self._each(y_pred, lambda scale, column: scale.forward_prediction(column))

    def inverse(self, u: Array) -> Array:
        return self._each(u, lambda scale, column: scale.inverse(column))

    def log_slope(self, y: Array) -> Array:
        return self._each(y, lambda scale, column: scale.log_slope(column))

    def addends_of_outcomes(self, base: Array, first: Array, second: Array) -> tuple[Array, Array]:
        """Two addends to ``base`` on the scale, each as an addend of the outcome: what one adds depends on which comes
        first, and is the mean of both orders.
        """
        neither, one, other, both = map(self.inverse, (base, base + first, base + second, base + first + second))
        return 0.5 * (one - neither + both - other), 0.5 * (other - neither + both - one)

    def beyond(self, y: Array) -> str | None:
        """A sentence on the first output that has outcomes (n, q) without a place on its scale; None if none has."""
        for number, (scale, column) in enumerate(zip(self.scales, y.T, strict=True)):
            outside = np.flatnonzero(~scale.contains(column))
            if len(outside):
                of_output = f" of output {number}" if len(self.scales) > 1 else ""
                count = "1 outcome that has" if len(outside) == 1 else f"{len(outside):,} outcomes that have"
                return (
                    f"y{of_output} has {count} no place on the scale of fit ({scale.in_words()}), "
                    f"{column[outside[0]]:g} in row {outside[0]}{' among them' if len(outside) > 1 else ''}"
                )
        return None

    def checked(self, y: Array) -> Array:
        """Outcomes (n, q), if all have their place; an error names those that do not."""
        beyond = self.beyond(y)
        if beyond is not None:
            raise ValueError(f"{beyond}: fit again with another scale or other bounds")
        return y

    def _each(self, values: Array, of_column: Callable[[Scale, Array], Array]) -> Array:
        if self.is_identity:
            return of_column(IDENTITY, values)
        columns = [of_column(scale, values[:, i]) for i, scale in enumerate(self.scales)]
        return np.stack(columns, axis=1)
