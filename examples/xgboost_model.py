"""XGBoost: a regressor that is not fitted yet, and a trained Booster.

python -m examples.xgboost_model
"""

from __future__ import annotations

import xgboost
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from examples.compare import Comparison, compare
from rio_uq import RIORegressor


def main() -> list[Comparison]:
    X, y = make_friedman1(500, noise=0.5, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=200, random_state=0)

    # Boosting fits its training rows closely. Unfitted, it is cross-fitted: residuals are of rows it has not seen.
    model = xgboost.XGBRegressor(n_estimators=100, max_depth=4, n_jobs=1)
    rio = RIORegressor(model, random_state=0).fit(X_train, y_train)
    alone = model.fit(X_train, y_train).predict(X_test)
    regressor = compare("XGBRegressor", y_test, alone, *rio.predict(X_test, return_std=True))

    # A trained Booster takes a DMatrix; its method inplace_predict takes X. RIO gets rows the Booster has not seen.
    X_seen, X_fresh, y_seen, y_fresh = train_test_split(X_train, y_train, random_state=0)
    booster = xgboost.train({"max_depth": 4, "nthread": 1}, xgboost.DMatrix(X_seen, y_seen), 100)
    rio = RIORegressor(booster.inplace_predict, random_state=0).fit(X_fresh, y_fresh, held_out=True)
    trained = compare("Booster", y_test, booster.inplace_predict(X_test), *rio.predict(X_test, return_std=True))
    return [regressor, trained]


if __name__ == "__main__":
    main()
