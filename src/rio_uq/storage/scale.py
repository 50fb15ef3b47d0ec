"""The scale of outcomes as plain values, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from rio_uq._base.array import Array
from rio_uq.scales.choice import Beyond, ScaleChoice
from rio_uq.scales.contract import Scale
from rio_uq.scales.named import NAMES, NamedScale
from rio_uq.scales.transformer import TransformerScale
from rio_uq.storage.fields import Fields

NUMBERS = ("lower", "upper", "offset", "floor")
ENDS = ("lowest", "highest", "step", "lower", "upper")


def write_scale(choice: ScaleChoice, outcome: Array) -> dict[str, Any]:
    """A scale for each output, with how much likelier each that was tried makes left-out rows.

    Parameters
    ----------
    outcome : (n, q) array
        Some outcomes, by which a transformer is recognised.
    """
    if len(choice.scales) > 1 and any(isinstance(scale, TransformerScale) for scale in choice.scales):
        raise TypeError(
            "a file cannot hold a transformer as scale, and load is given one of them at most: save a regressor for "
            "each output, or choose a scale by its name"
        )
    outputs = []
    evidence = zip(choice.scales, choice.gains, choice.outside, choice.beyond, strict=True)
    for number, (scale, gains, outside, beyond) in enumerate(evidence):
        outputs.append(
            {
                **_write_one(scale, outcome[:, number]),
                "gains": {name: float(gain) for name, gain in gains.items()},
                "outside": float(outside),
                "beyond": None if beyond is None else beyond._asdict(),
            }
        )
    return {"outputs": outputs}


def _write_one(scale: Scale, outcome: Array) -> dict[str, Any]:
    if not isinstance(scale, TransformerScale):
        return {"kind": scale.kind, **{name: _finite(getattr(scale, name)) for name in NUMBERS}}
    some = np.quantile(outcome, [0.1, 0.5, 0.9], method="nearest")
    numbers = {name: _finite(getattr(scale, name)) for name in ENDS}
    return {"kind": scale.kind, **numbers, "outcomes": some.tolist(), "on_scale": scale.forward(some).tolist()}


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return float(value) if np.isfinite(value) else None


def read_scale(fields: Fields, n_outputs: int, transformer: Any) -> ScaleChoice:
    """Of a file; a fitted transformer, which it cannot hold, is given."""
    outputs = fields.children("outputs")
    if len(outputs) != n_outputs:
        fields.fail(f"has to have one scale for each of {n_outputs} outputs", "outputs")
    scales, gains, outside, beyond = [], [], [], []
    for output in outputs:
        numbers = output.child("gains")
        gains.append({name: numbers.number(name) for name in list(numbers.left)})
        outside.append(output.number("outside"))
        beyond.append(_read_beyond(output.optional_child("beyond")))
        scales.append(_read_one(output, transformer))
        output.finish()
    fields.finish()
    return ScaleChoice(tuple(scales), tuple(gains), tuple(outside), tuple(beyond))


def _read_beyond(fields: Fields | None) -> Beyond | None:
    if fields is None:
        return None
    kind = fields.text("kind", (*NAMES, TransformerScale.kind))
    beyond = Beyond(kind, fields.count("n_rows", 1), fields.number("example"))
    fields.finish()
    return beyond


def _read_one(fields: Fields, transformer: Any) -> Scale:
    kind = fields.text("kind", (*NAMES, TransformerScale.kind))
    if kind == TransformerScale.kind:
        scale = TransformerScale(transformer, *(_number(fields, name) for name in ENDS))
        outcomes, on_scale = (_numbers(fields, name) for name in ("outcomes", "on_scale"))
        reason = _difference(scale, outcomes, on_scale)
        if reason is not None:
            raise ValueError(
                f"{fields.archive.path}: what was given as scale is not the transformer of fit ({reason}): give the "
                "fitted one (rio.scale_.scales[0].transformer)"
            )
        return scale
    lower, upper, offset, floor = (_number(fields, name) for name in NUMBERS)
    if not lower < upper or offset < 0.0 or floor < 0.0:
        fields.fail("has to have a lower bound below the upper one, and no negative offset or floor", "lower")
    is_bounded = [np.isfinite(end) for end in (lower, upper)]
    if (kind == "logit" and not all(is_bounded)) or (kind in ("log", "sqrt") and not any(is_bounded)):
        fields.fail(f"has to be bounded on the scale {kind!r}", "lower")
    return NamedScale(kind, lower, upper, offset, floor)


def _difference(scale: TransformerScale, outcomes: Array, on_scale: Array) -> str | None:
    """By which a transformer is seen not to be that of the file; None if there is none."""
    try:
        values = scale.forward(outcomes)
    except NotFittedError:
        return "it is not fitted"
    except Exception as error:
        return f"it raises {type(error).__name__}: {error}"
    if outcomes.shape == on_scale.shape and np.allclose(values, on_scale, rtol=1e-6):
        return None
    return f"it makes {values[0]:g} of {outcomes[0]:g}, and {on_scale[0]:g} is stored"


def _numbers(fields: Fields, name: str) -> Array:
    values = fields.items(name)
    if not values or not all(isinstance(value, float) and np.isfinite(value) for value in values):
        fields.fail("has to be a list of finite numbers", name)
    return np.array(values)


def _number(fields: Fields, name: str) -> float:
    if fields.is_null(name):
        return -np.inf if name in ("lower", "lowest") else np.inf
    return fields.number(name)
