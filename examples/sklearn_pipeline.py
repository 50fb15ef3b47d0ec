"""A scikit-learn pipeline on a table with numbers, a category and text.

    python -m examples.sklearn_pipeline

The pipeline gets the table as it is. The GP needs numbers: `features` says how it gets them. A pipeline that is not
fitted yet is cross-fitted, so that every residual is of a row that its model has not seen.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from examples.compare import Comparison, compare
from rio_uq import RIORegressor


def flats(n_rows: int = 450, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Rents that depend on size and town together, and on what the advertisement says."""
    rng = np.random.default_rng(seed)
    size, town = rng.uniform(20, 120, n_rows), rng.choice(["Bonn", "Kiel", "Ulm"], n_rows)
    words = [rng.choice(pair, n_rows) for pair in (["bright", "dark"], ["quiet", "central"], ["garden", "balcony"])]
    text = pd.Series(words[0]) + " and " + words[1] + ", with a " + words[2]
    price = 8 * size**0.9 * np.where(town == "Bonn", 1.5, 1.0) + 90 * text.str.contains("bright")
    frame = pd.DataFrame({"size": size, "town": town, "advertisement": text})
    return frame, price.to_numpy() + rng.normal(scale=20, size=n_rows)


def encoder() -> object:
    return make_column_transformer(
        (StandardScaler(), ["size"]), (OneHotEncoder(), ["town"]), (TfidfVectorizer(), "advertisement")
    )


def main() -> Comparison:
    X_train, X_test, y_train, y_test = train_test_split(*flats(), random_state=0)
    model = make_pipeline(encoder(), Ridge())

    rio = RIORegressor(model, features=encoder(), random_state=0).fit(X_train, y_train)
    mean, std = rio.predict(X_test, return_std=True)
    return compare("ridge regression", y_test, model.fit(X_train, y_train).predict(X_test), mean, std)


if __name__ == "__main__":
    main()
