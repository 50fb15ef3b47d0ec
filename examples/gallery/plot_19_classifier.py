"""
Where a classifier is wrong
===========================

A classifier's confidence tells some of its errors. What its features tell of the others, a Gaussian process on c − ĉ
can learn: ``error_score`` is how likely the model's label is wrong.
"""

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from rio_uq import RIOClassifier, plots

X, y = make_classification(2000, 6, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.05, random_state=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=400, random_state=0)

rio = RIOClassifier(LogisticRegression(), random_state=0).fit(X_train, y_train)
wrong = rio.estimator_.predict(X_test) != y_test
confidence = rio.estimator_.predict_proba(X_test).max(axis=1)

print(f"{wrong.mean():.1%} of the model's labels are wrong")
print(f"AUROC for telling them apart: {roc_auc_score(wrong, -confidence):.3f} by its confidence,")
print(f"                              {roc_auc_score(wrong, rio.error_score(X_test)):.3f} by error scores")
print(f"accuracy: {1.0 - wrong.mean():.1%}, with corrected probabilities {rio.score(X_test, y_test):.1%}")

# %%
# What the errors have in common, in words.

print(rio.summary())

# %%
# The rows that are kept when the others are left to a person.

display = plots.RiskCoverageDisplay.from_estimator(rio, X_test, y_test)

# %%
# Whether labels that are said to be 80 % sure are right in 80 % of cases.

plots.ConfidenceDisplay.from_estimator(rio, X_test, y_test)
