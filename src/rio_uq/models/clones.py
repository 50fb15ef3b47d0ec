"""Clones of a model, each fitted to a part of the rows, with the folds and the lines that tell of their progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rio_uq._base.array import Array
from rio_uq.models.cross_fitting import Fold, OutOfFold, clone_fitted_to, make_folds, out_of_fold
from rio_uq.models.fit_rows import FitRows
from rio_uq.models.many_coefficients import enough_folds
from rio_uq.models.seen_warnings import name_of

HINT = " (none with held_out, or with --rows on the command line)"


@dataclass(frozen=True)
class Clones:
    """Clones of a model.

    Attributes
    ----------
    model : estimator, callable or None
        Clones are made of an estimator alone.
    rows : FitRows
    rng : numpy.random.Generator
        Of random folds.
    verbose : bool
    has_own_folds : bool
        Whether folds are the user's own, which keep groups or times apart.
    """

    model: Any
    rows: FitRows
    rng: np.random.Generator
    verbose: bool
    has_own_folds: bool

    def folds(self, cv: Any, X: Any, **changes: Any) -> list[Fold]:
        groups = changes.get("groups", self.rows.groups)
        return make_folds(cv, X, self.rows.y, self.rows.features, groups, self.rows.weight, self.rng, self.rows.labels)

    def enough_folds(self, model: Any, cv: Any) -> Any:
        """The folds, or more of them where a linear model has nearly as many coefficients as there are rows."""
        if not isinstance(cv, int | np.integer) or self.has_own_folds:
            return cv
        n_folds = enough_folds(model, self.rows.n_counted, int(cv))
        return n_folds if n_folds > cv else cv

    def of_folds(self, cv: Any, X: Any) -> tuple[list[Fold], OutOfFold]:
        """Folds, and predictions of each row by the clone that was fitted without its fold."""
        rows, folds = self.rows, self.folds(cv, X)
        self._tell([len(train) for train, _ in folds])
        return folds, out_of_fold(self.model, X, rows.y, rows.weight, self._counted(folds), rows.fit_params)

    def predictions(self, folds: list[Fold], X: Any) -> tuple[list[Any], list[Array]]:
        """Clones fitted to the training rows of folds, and their predictions (n, q) of all rows."""
        rows = self.rows
        self._tell([len(train) for train, _ in folds], HINT)
        clones = [
            clone_fitted_to(self.model, X, rows.y, rows.weight, train, rows.fit_params)
            for train, _ in self._counted(folds)
        ]
        return clones, [rows.predicted_by(clone) for clone in clones]

    def _tell(self, sizes: list[int], hint: str = "") -> None:
        """Say how many clones there will be, and the rows that each is fitted to."""
        if self.verbose:
            clones = f"{len(sizes)} clone{'s' if len(sizes) > 1 else ''} of {name_of(self.model)}{hint}"
            rows = f"parts of {self.rows.n_counted} rows, {sum(sizes)} rows in all"
            sys.stderr.write(f"fitting {clones} to {rows}\n")

    def _counted(self, folds: list[Fold]) -> Iterator[Fold]:
        """The folds, and a line for each when its clone is begun."""
        for number, fold in enumerate(folds, start=1):
            if self.verbose:
                sys.stderr.write(f"clone {number} of {len(folds)}\n")
            yield fold
