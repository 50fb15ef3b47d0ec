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
        Of several outcomes (k, q) arrays.
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
        self.targets = self.table.targets if with_target else ()
        self.encoder = encoder_of(opened.rio)
        self.unseen: Counter[str] = Counter()
        self.n_rows, self.n_skipped, self.n_without_target = 0, 0, 0
        file.check_has(self.table.columns, " that RIO was fitted with")
        file.check_has(self.table.predictions, " of the model's predictions (--pred-column names it)")
        file.check_has(self.targets, " of outcomes")
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
            f"{self.file.path} has no rows with a number in {self._outcomes}: there is nothing to {purpose}"
        )

    @property
    def _outcomes(self) -> str:
        return " and ".join(map(repr, self.targets))

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
        y_pred, y = [], []
        for name in self.table.predictions:
            y_pred.append(numbers_of(table.column(name), self.file.number_format)[0])
            bad |= self._refuse(table, name, ~np.isfinite(y_pred[-1]), "prediction")
        groups = None
        if self.table.groups is not None:
            groups = texts_of(table.column(self.table.groups))
            bad |= self._refuse(table, self.table.groups, groups.isna().to_numpy(), "group")
        missing = np.zeros_like(bad)
        for name in self.targets:
            check_dots(name, table.column(name), self.file.number_format)
            numbers, is_missing, _ = numbers_of(table.column(name), self.file.number_format)
            bad |= self._refuse(table, name, ~np.isfinite(numbers) & ~is_missing, "outcome")
            missing |= is_missing
            y.append(numbers)
        self.n_without_target += int((missing & ~bad).sum())
        usable = ~(bad | missing)
        self.n_skipped += int(bad.sum())
        numbers_of_rows = self.n_rows + np.flatnonzero(usable) + 1
        labels = None if groups is None else list(groups[usable])
        return Block(
            table, usable, X[usable], _side_by_side(y, usable), _side_by_side(y_pred, usable), numbers_of_rows, labels
        )

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
            note(f"{self.n_without_target:,} of {self.n_rows:,} rows have no number in {self._outcomes}: left out")


def predictions(rio: RIORegressor, block: Block) -> Array:
    """ŷ of the usable rows, from the column or from the model."""
    if block.y_pred is not None:
        return block.y_pred
    y_pred = rio.fitted_.predictions(block.X)
    return y_pred[:, 0] if y_pred.shape[1] == 1 else y_pred


def _side_by_side(columns: list[Array], usable: Mask) -> Array | None:
    """The usable rows: (k,) of one column, (k, q) of several."""
    if not columns:
        return None
    return columns[0][usable] if len(columns) == 1 else np.column_stack(columns)[usable]
