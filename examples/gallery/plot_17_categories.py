"""
Tables with text and gaps
=========================

The model gets the table as it is. The GP needs numbers: a transformer as ``features`` makes them, here with the kind of
wine as a category and gaps filled. RIO fits it and keeps it.
"""

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder

from rio_uq import RIORegressor, metrics, plots

data = load_wine(as_frame=True)
X = data.data.drop(columns="color_intensity").assign(cultivar=data.target.map({0: "A", 1: "B", 2: "C"}))
X["cultivar"] = X["cultivar"].astype("category")
X.loc[np.arange(0, len(X), 9), "proline"] = np.nan
y = data.data["color_intensity"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)

numbers = ["alcohol", "hue", "proline"]
encoder = make_column_transformer(
    (SimpleImputer(), numbers), (OneHotEncoder(), ["cultivar"]), verbose_feature_names_out=False
)
model = HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=50)
rio = RIORegressor(model, features=encoder, random_state=0).fit(X_train, y_train)

mean, std = rio.predict(X_test, return_std=True)
print(f"RMSE of boosting {metrics.rmse(y_test, model.fit(X_train, y_train).predict(X_test)):.2f}", end=", ")
print(f"with RIO {metrics.rmse(y_test, mean):.2f}")

# %%
# What the GP sees, the most relevant first:

for feature in rio.summary().features:
    print(f"{feature.name}: {feature.relevance:.2f}")

# %%

plots.ErrorBarDisplay.from_estimator(rio, X_test, y_test)
