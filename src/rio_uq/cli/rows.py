"""Rows of a table, ready for RIO: the usable ones of each block, and notes on the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from rio_uq._base.array import Array, Mask
from rio_uq.cli.cells import check_dots, examples, frame_of, how_to_read, numbers_of, texts_of
from rio_uq.cli.console import UserError, note
from rio_uq.cli.input import InputTable
from rio_uq.cli.stored import OpenedRio, encoder_of
from rio_uq.regressor import RIORegressor


@dataclass(frozen=True)
class Block:
    """Some rows.

    Attributes
    ----------
    table : pyarrow.Table
        As they are in the file.
    usable : (n,) array of bool
        Rows that RIO can work on.
    X : DataFrame
        Of the usable rows, k of them.
    y, y_pred : (k,) arrays or None
    numbers : (k,) array of int
        Of the usable rows, as the file counts them from 1.
    groups : list of k texts or None
        That error bars are calibrated by.
    """

    table: pa.Table
    usable: Mask
    X: pd.DataFrame
    y: Array | None
    y_pred: Array | None
    numbers: NDArray[np.intp]
    groups: list[str] | None = None


class RowsInMemory(NamedTuple):
    """All usable rows of a table: X, outcomes, predictions and groups; and the blocks that they came in."""

    X: pd.DataFrame
    y: Array
    y_pred: Array
    blocks: list[Block]
    groups: list[str] | None


class TableRows:
    """The rows of a file for a fitted regressor.

    Parameters
    ----------
    file : InputTable
    opened : OpenedRio
    with_target : bool
        Rows without an outcome are then left out.
    skip_bad : bool or None
        Leave out rows that cannot be used, instead of raising an error; None where the command has no such option.
    """

    def __init__(self, file: InputTable, opened: OpenedRio, *, with_target: bool, skip_bad: bool | None) -> None:
        self.file, self.table, self.rio, self.skip_bad = file, opened.table, opened.rio, skip_bad
        self.target = self.table.target if with_target else None
        self.encoder = encoder_of(opened.rio)
        self.unseen: Counter[str] = Counter()
        self.n_rows, self.n_skipped, self.n_without_target = 0, 0, 0
        prediction = [] if self.table.prediction is None else [self.table.prediction]
        file.check_has(self.table.columns, " that RIO was fitted with")
        file.check_has(prediction, " of the model's predictions (--pred-column names it)")
        if self.target is not None:
            file.check_has([self.target], " of outcomes")
        if self.table.groups is not None:
            file.check_has([self.table.groups], " of the groups that error bars are calibrated by")

    def read(self, purpose: str) -> RowsInMemory:
        """All usable rows with outcomes, and notes on the others; without any, an error that names the purpose."""
        blocks = [block for block in self.blocks(f"reading {self.file.path.name}") if len(block.X)]
        self.tell()
        if not blocks:
            raise self.nothing_to(purpose)
        return RowsInMemory(
            pd.concat([block.X for block in blocks], ignore_index=True),
            np.concatenate([block.y for block in blocks if block.y is not None]),
            np.concatenate([predictions(self.rio, block) for block in blocks]),
            blocks,
            None if self.table.groups is None else [label for block in blocks for label in block.groups or ()],
        )

    def nothing_to(self, purpose: str) -> UserError:
        return UserError(
            f"{self.file.path} has no rows with a number in {self.target!r}: there is nothing to {purpose}"
        )

    def blocks(self, label: str) -> Iterator[Block]:
        for table in self.file.blocks(label):
            yield self._block(table)
            self.n_rows += table.num_rows

    def _block(self, table: pa.Table) -> Block:
        X, wrong = frame_of(table, self.table.columns, self.file.number_format)
        bad = np.zeros(table.num_rows, dtype=bool)
        for name, mask in wrong.items():
            bad |= self._refuse(table, name, mask, "text")
        for column in () if self.encoder is None else self.encoder.columns_:
            missing = column.bad_rows(X[column.name]) & ~wrong.get(column.name, np.zeros_like(bad))
            bad |= self._refuse(table, column.name, missing, "missing")
            self.unseen[column.name] += column.unseen(X[column.name])
        y_pred = None
        if self.table.prediction is not None:
            y_pred, _, _ = numbers_of(table.column(self.table.prediction), self.file.number_format)
            bad |= self._refuse(table, self.table.prediction, ~np.isfinite(y_pred), "prediction")
        groups = None
        if self.table.groups is not None:
            groups = texts_of(table.column(self.table.groups))
            bad |= self._refuse(table, self.table.groups, groups.isna().to_numpy(), "group")
        usable, y = ~bad, None
        if self.target is not None:
            check_dots(self.target, table.column(self.target), self.file.number_format)
            y, missing, _ = numbers_of(table.column(self.target), self.file.number_format)
            bad |= self._refuse(table, self.target, ~np.isfinite(y) & ~missing, "outcome")
            self.n_without_target += int((missing & ~bad).sum())
            usable = ~(bad | missing)
            y = y[usable]
        self.n_skipped += int(bad.sum())
        numbers = self.n_rows + np.flatnonzero(usable) + 1
        labels = None if groups is None else list(groups[usable])
        return Block(table, usable, X[usable], y, None if y_pred is None else y_pred[usable], numbers, labels)

    def _refuse(self, table: pa.Table, name: str, mask: Mask, why: str) -> Mask:
        if mask.any() and not self.skip_bad:
            check_dots(name, table.column(name), self.file.number_format)
            rows = [self.n_rows + int(row) + 1 for row in np.flatnonzero(mask)[:5]]
            cells = examples(table.column(name), mask)
            needed = {
                "text": f"a {self.table.columns.get(name)} is needed, as in the table that RIO was fitted to",
                "missing": "no value was missing in the table that RIO was fitted to: fill it, or fit to a table with "
                "missing values",
                "prediction": "every row needs the model's prediction",
                "group": "every row needs its group, by which error bars are calibrated",
                "outcome": "a number is needed, or nothing, which leaves the row out",
            }[why]
            needed += how_to_read(table.column(name), mask, self.file.number_format)
            skip = "" if self.skip_bad is None else "; or go on without such rows: --skip-bad-rows"
            raise UserError(
                f"{self.file.path}, column {name!r}, row {', '.join(map(str, rows))}{' …' if mask.sum() > 5 else ''}: "
                f"{cells} where {needed}{skip}"
            )
        return mask

    def tell(self) -> None:
        """Notes on what was found on the way."""
        for name, count in self.unseen.items():
            if count == self.n_rows and count:
                note(
                    f"column {name!r} has NO category in any row that was in the table RIO was fitted to: is it the "
                    "right column, with the same spelling? Its corrections are guesses",
                    label="warning",
                )
            elif count:
                note(
                    f"column {name!r} has a category in {count:,} rows that was not in the table RIO was fitted to: it "
                    "counts as none of those"
                )
        if self.n_skipped:
            reasons = "missing values, or text in place of numbers"
            note(f"{self.n_skipped:,} of {self.n_rows:,} rows could not be used ({reasons})")
        if self.n_without_target:
            note(f"{self.n_without_target:,} of {self.n_rows:,} rows have no number in {self.target!r}: left out")


def predictions(rio: RIORegressor, block: Block) -> Array:
    """ŷ of the usable rows, from the column or from the model."""
    if block.y_pred is not None:
        return block.y_pred
    return np.asarray(rio.fitted_.predictions(block.X)[:, 0])
