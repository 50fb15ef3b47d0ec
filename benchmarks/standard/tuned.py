"""The data sets that were looked at while defaults were chosen, in this benchmark's names."""

from __future__ import annotations

TUNED = {
    "boston": "no: it is in no other benchmark or experiment here",
    "concrete": "yes (CCS): seen and new rows, the shape of the distribution, priors, the choice of a plain GP",
    "energy": "yes (ENB/h): the shape and tails of the distribution, priors, evidence for a correction",
    "kin8nm": "no: kept for one run of final defaults",
    "naval": "no: kept for one run of final defaults",
    "power": "yes (CCPP): priors, the choice of a plain GP, inference and roughness with many rows",
    "protein": "yes: priors, the choice of a plain GP, inference and roughness with many rows",
    "wine": "yes (wine/r): the shape of the distribution, priors",
    "yacht": "yes: seen and new rows, the shape of the distribution, priors",
}

UNTOUCHED = [name for name, text in TUNED.items() if text.startswith("no")]
