"""A calibration as plain values and arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from rio_uq.calibration.calibration import METHODS, Calibration
from rio_uq.storage.fields import Arrays, Fields, Put


def write_calibration(calibration: Calibration, put: Put) -> dict[str, Any]:
    """Scores of all groups and outputs in one array, group after group and in it output after output."""
    scores = [score for outputs in calibration.scores for score in outputs]
    put("calibration/n_rows", np.array(calibration.n_rows, dtype=np.int64))
    for name, array in METHODS[calibration.method].to_arrays(scores).items():
        put(name, array)
    groups = calibration.groups
    return {"method": calibration.method, "groups": None if groups is None else [_label(group) for group in groups]}


def _label(group: Any) -> Any:
    value = group.item() if isinstance(group, np.generic) else group
    if isinstance(value, str | int | float):
        return value
    raise ValueError(
        f"the group {group!r} of the calibration cannot be stored: use strings or numbers as labels of groups"
    )


def read_calibration(fields: Fields, arrays: Arrays, n_outputs: int) -> Calibration:
    method = fields.text("method", tuple(METHODS))
    groups: tuple[Any, ...] | None = None
    if fields.left.get("groups", ...) is None:
        fields.take("groups")
    else:
        groups = tuple(fields.items("groups"))
        if not groups or not all(isinstance(label, str | int | float) for label in groups):
            fields.fail("has to be a list of strings or numbers", "groups")
        if len(set(groups)) != len(groups):
            fields.fail("has to hold each label once", "groups")
    fields.finish()
    n_groups = 1 if groups is None else len(groups)
    n_rows = arrays.counts("calibration/n_rows", n_groups, least=METHODS[method].least_rows)
    if n_groups * n_outputs > max((array.size for array in arrays.left.values()), default=0):
        arrays.fail(
            "calibration/n_rows", f"{n_groups} groups of {n_outputs} outputs are more than there are scores for"
        )
    flat = METHODS[method].from_arrays(arrays, np.repeat(n_rows, n_outputs).tolist())
    scores = [tuple(flat[start : start + n_outputs]) for start in range(0, len(flat), n_outputs)]
    return Calibration(method, groups, tuple(scores))
