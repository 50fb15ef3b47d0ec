"""A regression of statsmodels: its results have a predict method, which takes the frame that the formula speaks of.

python -m examples.statsmodels_results
"""

from __future__ import annotations

import statsmodels.formula.api as formula
from sklearn.model_selection import train_test_split

from examples.compare import Comparison, compare
from examples.sklearn_pipeline import encoder, flats
from rio_uq import RIORegressor


def main() -> Comparison:
    X_train, X_test, y_train, y_test = train_test_split(*flats(), random_state=0)
    results = formula.ols("price ~ size + C(town)", X_train.assign(price=y_train)).fit()

    rio = RIORegressor(results, features=encoder(), residuals="in-sample", random_state=0).fit(X_train, y_train)
    mean, std = rio.predict(X_test, return_std=True)
    return compare("least squares", y_test, results.predict(X_test), mean, std)


if __name__ == "__main__":
    main()
