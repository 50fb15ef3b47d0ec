"""
Rows that come later
====================

``partial_fit`` adds rows to what the GP knows, exactly and without training it again. The model stays as it is: what it
has been getting wrong since, RIO corrects.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from rio_uq import RIORegressor, metrics

cells = load_breast_cancer(as_frame=True).data
X, y = cells.filter(like="mean").to_numpy(), cells["worst area"].to_numpy()
X_stream, X_test, y_stream, y_test = train_test_split(X, y, test_size=0.4, random_state=0)

model = LinearRegression().fit(X_stream[:60], y_stream[:60])
rio = RIORegressor(model, random_state=0).fit(X_stream[60:120], y_stream[60:120])

n_rows, error, sure = [60], [metrics.rmse(y_test, rio.predict(X_test))], []
sure.append(rio.predict(X_test, return_std=True, include_noise=False)[1].mean())
for start in range(120, len(X_stream), 40):
    rio.partial_fit(X_stream[start : start + 40], y_stream[start : start + 40])
    n_rows.append(n_rows[-1] + len(X_stream[start : start + 40]))
    error.append(metrics.rmse(y_test, rio.predict(X_test)))
    sure.append(rio.predict(X_test, return_std=True, include_noise=False)[1].mean())

# %%
# Errors fall, and so does what the GP does not know yet (the standard deviation without noise).

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.axhline(metrics.rmse(y_test, model.predict(X_test)), color="0.5", ls="--", label="RMSE of the model alone")
ax.plot(n_rows, error, "o-", color="#0072B2", label="RMSE with RIO")
ax.plot(n_rows, sure, "s-", color="#009E73", label="mean std without noise")
ax.set(xlabel="rows that the GP knows", ylim=(0, None), xticks=np.array(n_rows[::2]))
ax.legend(frameon=False)
