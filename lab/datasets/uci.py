"""The twelve data sets of the paper, from the originals of the UCI Machine Learning Repository."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pandas as pd

from lab.datasets.dataset import DataSet


def _table(frame: pd.DataFrame, target: int | str) -> tuple[np.ndarray, np.ndarray]:
    y = frame.pop(frame.columns[target] if isinstance(target, int) else target)
    return frame.to_numpy(dtype=float), y.to_numpy(dtype=float)


def _blank_separated(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(io.BytesIO(content))
    return table[:, :-1], table[:, -1]


def _energy(target: str) -> Callable[[bytes], tuple[np.ndarray, np.ndarray]]:
    def read(content: bytes) -> tuple[np.ndarray, np.ndarray]:
        frame = pd.read_excel(io.BytesIO(content), sheet_name=0, engine="calamine")
        frame = frame[[f"X{i}" for i in range(1, 9)] + [target]].dropna(how="all")
        return _table(frame, target)

    return read


def _excel_last(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    return _table(pd.read_excel(io.BytesIO(content), sheet_name=0, engine="calamine"), -1)


def _wine(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    return _table(pd.read_csv(io.BytesIO(content), sep=";"), "quality")


def _protein(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    return _table(pd.read_csv(io.BytesIO(content)), "RMSD")


def _superconductivity(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """train.csv: 81 features of a material and its critical temperature in the last column."""
    return _table(pd.read_csv(io.BytesIO(content)), "critical_temp")


def _ct_slices(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """slice_localization_data.csv: patientId, 384 histogram values, the relative location of the slice."""
    frame = pd.read_csv(io.BytesIO(content))
    return _table(frame.drop(columns="patientId"), "reference")


def _year_prediction(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """YearPredictionMSD.txt: the year, then 90 timbre features, without a header."""
    return _table(pd.read_csv(io.BytesIO(content), header=None), 0)


DATASETS = {
    dataset.name: dataset
    for dataset in (
        DataSet(
            "yacht",
            "Yacht Hydrodynamics",
            243,
            "yacht_hydrodynamics.data",
            "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
            (308, 6),
            "residuary resistance",
            _blank_separated,
        ),
        DataSet(
            "ENB/h",
            "Energy Efficiency",
            242,
            "ENB2012_data.xlsx",
            "0089fcffc1415e41e2ff63730cca5280efe54fc43d722dfde1b0aaa808e35dc4",
            (768, 8),
            "heating load",
            _energy("Y1"),
        ),
        DataSet(
            "ENB/c",
            "Energy Efficiency",
            242,
            "ENB2012_data.xlsx",
            "0089fcffc1415e41e2ff63730cca5280efe54fc43d722dfde1b0aaa808e35dc4",
            (768, 8),
            "cooling load",
            _energy("Y2"),
        ),
        DataSet(
            "airfoil",
            "Airfoil Self-Noise",
            291,
            "airfoil_self_noise.dat",
            "74c75fd71783f1e6b71f8a622b993dc592897a97cd689c5090a07147a1b097b3",
            (1503, 5),
            "sound pressure level",
            _blank_separated,
        ),
        DataSet(
            "CCS",
            "Concrete Compressive Strength",
            165,
            "Concrete_Data.xls",
            "710076c66b9ca3f8050e7942f3dcbdbe04013534daeb0077ffd3079a52d8e0c4",
            (1030, 8),
            "compressive strength",
            _excel_last,
        ),
        DataSet(
            "wine/r",
            "Wine Quality",
            186,
            "winequality-red.csv",
            "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
            (1599, 11),
            "quality",
            _wine,
        ),
        DataSet(
            "wine/w",
            "Wine Quality",
            186,
            "winequality-white.csv",
            "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
            (4898, 11),
            "quality",
            _wine,
        ),
        DataSet(
            "CCPP",
            "Combined Cycle Power Plant",
            294,
            "Folds5x2_pp.xlsx",
            "ccd490981db2a2f079963b3d9f0aea30d9d338900a0285428dfc6385396f4651",
            (9568, 4),
            "net electrical energy output",
            _excel_last,
        ),
        DataSet(
            "protein",
            "Physicochemical Properties of Protein Tertiary Structure",
            265,
            "CASP.csv",
            "4277cfcb4e91a181746cbc654f001b57951c9e6a80f4f795fdb5c807e0848f40",
            (45730, 9),
            "size of the residue (RMSD)",
            _protein,
        ),
        DataSet(
            "SC",
            "Superconductivty Data",
            464,
            "train.csv",
            None,
            (21263, 81),
            "critical temperature",
            _superconductivity,
            ranges=((0.0, 22_600.0), (0.0, 185.0)),  # the largest feature is the density of osmium
        ),
        DataSet(
            "CT",
            "Relative location of CT slices on axial axis",
            206,
            "slice_localization_data.csv",
            None,
            (53500, 384),
            "relative location of the slice",
            _ct_slices,
            ranges=((-0.25, 1.0), (0.0, 180.0)),
        ),
        DataSet(
            "MSD",
            "YearPredictionMSD",
            203,
            "YearPredictionMSD.txt",
            None,
            (515345, 90),
            "year of release",
            _year_prediction,
            n_train=463715,
            ranges=((-np.inf, np.inf), (1922.0, 2011.0)),
        ),
    )
}
