"""The array type of the whole library."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]
