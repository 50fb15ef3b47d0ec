"""
Inside a grid search
====================

``RIORegressor`` is a scikit-learn estimator: it can be cloned, put into pipelines and searched over. Here model and
kernel are chosen together, by how good the error bars are: `rio_uq.metrics.scorer` makes a score of any measure.
"""

import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rio_uq import RIORegressor, metrics

X, y = load_diabetes(return_X_y=True, as_frame=True)
search = GridSearchCV(
    RIORegressor(make_pipeline(StandardScaler(), Ridge()), random_state=0),
    {"estimator__ridge__alpha": [1.0, 100.0], "kernel": ["io", "output"]},
    scoring=metrics.scorer(metrics.nlpd),
    cv=3,
).fit(X, y)

table = pd.DataFrame(search.cv_results_["params"])
table["NLPD"] = -search.cv_results_["mean_test_score"]
print(table.sort_values("NLPD").round(3).to_string(index=False))

# %%
# The best one is fitted to all rows and ready for use:

mean, std = search.best_estimator_.predict(X[:3], return_std=True)
print(mean.round(), std.round())
search.best_estimator_
