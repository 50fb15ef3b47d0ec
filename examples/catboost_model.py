"""CatBoost on a table with categories, which it takes as they are.

    python -m examples.catboost_model

The GP needs numbers: `features` says how it gets them.
"""

from __future__ import annotations

from catboost import CatBoostRegressor
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from examples.compare import Comparison, compare
from examples.sklearn_pipeline import flats
from rio_uq import RIORegressor


def main() -> Comparison:
    X_train, X_test, y_train, y_test = train_test_split(*flats(), random_state=0)
    model = CatBoostRegressor(
        n_estimators=100,
        cat_features=["town", "advertisement"],
        thread_count=1,
        random_seed=0,
        verbose=0,
        allow_writing_files=False,
    )
    features = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["town", "advertisement"]))

    rio = RIORegressor(model, features=features, random_state=0).fit(X_train, y_train)  # cross-fits
    mean, std = rio.predict(X_test, return_std=True)
    return compare("CatBoostRegressor", y_test, model.fit(X_train, y_train).predict(X_test), mean, std)


if __name__ == "__main__":
    main()
