"""
Only a column of predictions
============================

There need be no model at all. A table with features, outcomes and somebody's predictions is enough: here the three
species of iris, and a rule of thumb for the length of the petal.
"""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

from rio_uq import RIORegressor, metrics, plots

table = load_iris(as_frame=True).frame.rename(columns=lambda name: name.removesuffix(" (cm)"))
table["rule of thumb"] = 2.5 * table["sepal length"] - 11.0
train, test = train_test_split(table, test_size=0.4, random_state=0)
columns = ["sepal length", "sepal width"]

rio = RIORegressor(random_state=0)
rio.fit(train[columns], train["petal length"], y_pred=train["rule of thumb"], held_out=True)
mean, std = rio.predict(test[columns], y_pred=test["rule of thumb"], return_std=True)

print(f"RMSE of the rule {metrics.rmse(test['petal length'], test['rule of thumb']):.2f}")
print(f"RMSE with RIO    {metrics.rmse(test['petal length'], mean):.2f}")
print(f"error bars from {np.min(std):.2f} to {np.max(std):.2f} cm")

# %%

plots.ErrorBarDisplay.from_estimator(rio, test[columns], test["petal length"], y_pred=test["rule of thumb"])
