"""The parameters of a regressor in a file: those that are plain values, and the names of the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from rio_uq._base.checks import named
from rio_uq.options import Options, Training
from rio_uq.storage.features import NotPlainError, as_plain
from rio_uq.storage.fields import Arrays, Fields, Put, member

ADDED_LATER = {"sample_rows", "time_budget", "guard", "n_neighbors", "average"}
"""Options of training that files of format 1 need not have: they have their defaults then."""

NEW_IN_FORMAT_2: dict[str, Any] = {"distribution": "normal", "scale": "identity", "bounds": None, "weights": "counts"}
"""Parameters that files of format 1 do not have, with the values by which they stay as they were."""

LISTS = ("features", "cv", "bounds")
"""Parameters that may be lists."""


def write_parameters(parameters: Mapping[str, Any], put: Put, left_out: Collection[str] = ()) -> dict[str, Any]:
    """For the manifest; all but the model, and but those that are given at load in any case."""
    Options.of(parameters)
    plain, others = {}, []
    for name, value in parameters.items():
        if name in ("estimator", "training"):
            continue
        if name in left_out:
            others.append(name)
            continue
        try:
            plain[name] = as_plain(value)
        except NotPlainError:
            others.append(name)
    training = Training.of(parameters["training"]).get_params()
    if not isinstance(training["inducing"], str):
        put("parameters/inducing", np.asarray(training.pop("inducing"), dtype=float))
    return {"plain": plain, "training": {name: as_plain(value) for name, value in training.items()}, "given": others}


def read_parameters(fields: Fields, arrays: Arrays, at_load: Mapping[str, Any], format_version: int) -> dict[str, Any]:
    """All but the model; those that a file cannot hold are given at load."""
    plain = dict(Fields(fields.archive, fields.take("plain"), "parameters.plain").left)
    expected = fields.texts("given")
    names = Training().get_params()
    if format_version == 1:  # all parameters were the regressor's own
        training = {name: plain.pop(name) for name in list(plain) if name in names}
        plain = {**NEW_IN_FORMAT_2, **plain}
        optional = ADDED_LATER
    else:
        training, optional = dict(fields.child("training").left), set()
    fields.finish()
    if member("parameters/inducing") in arrays.left:
        training["inducing"] = arrays.floats("parameters/inducing", None, None)
    _check_names(fields, set(names), {*training}, "training", optional)
    _check_names(fields, {*Options.names()} - {"estimator", "training"}, {*plain, *expected}, "plain", set())
    for name in set(plain) & set(expected):
        fields.fail("has to hold each parameter of RIORegressor once", name)
    for name in set(at_load) - {*Options.names()}:
        raise TypeError(
            f"load takes no {name}: beside estimator and trusted it takes parameters of RIORegressor that a file "
            f"cannot hold, {named(expected) if expected else 'of which this one has none'}"
        )
    for name in set(at_load) - set(expected):
        raise TypeError(f"{name} was given to load, and the file holds it already: leave it out")
    if "scale" in expected and "scale" not in at_load:
        raise TypeError(
            f"{fields.archive.path} was saved by a regressor whose scale is a transformer, which a file cannot hold: "
            "give it as scale=... (the fitted one, rio.scale_.scales[0].transformer)"
        )
    for name, value in plain.items():
        if isinstance(value, dict) or (isinstance(value, list) and name not in LISTS):
            fields.fail("has to be a plain value", f"plain.{name}")
    values = {**dict.fromkeys(expected), **plain, **at_load, "training": Training(**training)}
    try:
        Options.of({"estimator": None, **values})
    except (TypeError, ValueError, OverflowError) as error:
        fields.fail(f"are not those of a regressor: {error}")
    return values


def _check_names(fields: Fields, names: set[str], stored: set[str], where: str, optional: set[str]) -> None:
    for name in sorted((names - optional - stored) | (stored - names)):
        fields.fail("has to hold each parameter of RIORegressor once", f"{where}.{name}")
