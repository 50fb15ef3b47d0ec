"""Which residuals a GP was fitted to, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rio_uq._base.array import Mask

KINDS_OF_RESIDUALS = ("in-sample", "out-of-fold", "out-of-bag", "given")
VERDICTS = ("seen", "new", "mixed", "either", "unknown", "fitted here")


@dataclass(frozen=True)
class ResidualChoice:
    """Which residuals the GP was fitted to, and why.

    Attributes
    ----------
    kind : {"in-sample", "out-of-fold", "out-of-bag", "given"}
        Those of the model itself, of clones that were fitted without the row, of the trees of a bagged model that have
        not seen it, or of predictions that were given.
    rows : {"seen", "new", "mixed", "either", "unknown", "fitted here"}
        Whether the model has seen the rows; "either" where nothing is memorised, so that it makes no difference.
    reason : str
    n_fits : int
        Models that were fitted for it.
    evidence : dict of float
        The numbers behind a decision: ``memorised`` is the root mean squared out-of-fold residual in units of that of
        rows that clones have seen, ``clones_worse`` that of out-of-fold or out-of-bag residuals in units of the model's
        own; ``share`` is the estimated share of the rows that the model has seen, and ``share_error`` its standard
        error; ``relative_size`` is the number of rows that the model was trained on, in units of those given, where it
        tells; ``successive`` is the rank correlation of errors of successive rows, where it is clear.
    """

    kind: str
    rows: str
    reason: str
    n_fits: int = 0
    evidence: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_of_unseen_rows(self) -> bool:
        """Whether residuals are known to be those of rows that the model has not seen, or does not remember."""
        return self.kind in ("out-of-fold", "out-of-bag") or self.rows in ("new", "mixed", "either")

    @property
    def is_of_clones_alone(self) -> bool:
        """Whether residuals are those of clones, and rows too few to tell what these have in common with the model."""
        return self.kind == "out-of-fold" and self.rows == "unknown"

    @property
    def may_be_fitted_to_all_rows(self) -> bool:
        """Whether residuals may be those of a model that was fitted to all of these rows."""
        return self.kind in ("in-sample", "given") and self.rows in ("seen", "unknown", "fitted here")

    def __str__(self) -> str:
        """One sentence."""
        residuals = {
            "in-sample": "the model's own residuals",
            "out-of-fold": "out-of-fold residuals",
            "out-of-bag": "out-of-bag residuals",
            "given": "residuals of the predictions given",
        }[self.kind]
        return f"{residuals}, rows {self.rows}: {self.reason}"


def verdict_of(held_out: Mask | bool) -> str:
    """On the rows, where the user has told."""
    return "new" if held_out is True else "seen" if held_out is False else "mixed"


def said(held_out: Mask | bool) -> str:
    """The reason, where the user has told."""
    if isinstance(held_out, bool):
        return f"held_out={held_out} says so"
    return f"held_out says so, of {np.count_nonzero(held_out)} of {len(held_out)} rows"
