"""LightGBM: a regressor that is not fitted yet, and a trained Booster.

python -m examples.lightgbm_model
"""

from __future__ import annotations

import lightgbm
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from examples.compare import Comparison, compare
from rio_uq import RIORegressor


def main() -> list[Comparison]:
    X, y = make_friedman1(500, noise=0.5, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=200, random_state=0)

    # Boosting fits its training rows closely. Unfitted, it is cross-fitted: residuals are of rows it has not seen.
    model = lightgbm.LGBMRegressor(n_estimators=100, n_jobs=1, verbose=-1)
    rio = RIORegressor(model, random_state=0).fit(X_train, y_train)
    alone = model.fit(X_train, y_train).predict(X_test)
    regressor = compare("LGBMRegressor", y_test, alone, *rio.predict(X_test, return_std=True))

    # A trained Booster is used as it is. RIO gets rows that it has not seen.
    X_seen, X_fresh, y_seen, y_fresh = train_test_split(X_train, y_train, random_state=0)
    booster = lightgbm.train({"verbose": -1, "num_threads": 1}, lightgbm.Dataset(X_seen, y_seen), 100)
    rio = RIORegressor(booster, random_state=0).fit(X_fresh, y_fresh, held_out=True)
    trained = compare("Booster", y_test, booster.predict(X_test), *rio.predict(X_test, return_std=True))
    return [regressor, trained]


if __name__ == "__main__":
    main()
