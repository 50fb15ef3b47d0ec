"""
Rows unlike anything seen
=========================

The standard deviation has two parts: noise, and what the GP does not know. The second rises where there were no rows:
``include_noise=False`` asks for it alone. Here the model and RIO have seen benign samples only.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from rio_uq import RIORegressor

data = load_breast_cancer(as_frame=True)
X, y, is_benign = data.data.filter(like="mean"), data.data["worst concavity"], data.target == 1
X_train, X_benign, y_train, _ = train_test_split(X[is_benign], y[is_benign], test_size=0.4, random_state=0)
X_malignant = X[~is_benign]

rio = RIORegressor(LinearRegression(), random_state=0).fit(X_train, y_train)
benign = rio.predict(X_benign, return_std=True, include_noise=False)[1]
strange = rio.predict(X_malignant, return_std=True, include_noise=False)[1]

label = np.repeat([0, 1], [len(benign), len(strange)])
area = roc_auc_score(label, np.concatenate([benign, strange]))
print(f"a malignant row has a larger std than a benign one in {area:.0%} of pairs")

# %%

_, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
edges = np.linspace(0.0, max(benign.max(), strange.max()), 40)
ax.hist(benign, edges, alpha=0.6, color="#0072B2", label="benign, as in training")
ax.hist(strange, edges, alpha=0.6, color="#D55E00", label="malignant, never seen")
ax.set(xlabel="standard deviation without noise", ylabel="rows")
ax.legend(frameon=False)
