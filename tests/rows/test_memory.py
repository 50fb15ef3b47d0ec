"""Rows in memory keep the contract of a source."""

import numpy as np
import pandas as pd

from rio_uq.rows.memory import MemorySource


class Total(int):
    def plus(self, other):
        return Total(self + other)


def test_they_are_one_part_and_some_of_them_can_be_taken():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0], "y": [7.0, 8.0, 9.0]})
    source = MemorySource(X, {"y": "y", "sample_weight": [1.0, 0.0, 2.0]})
    assert source.n_rows == 3
    assert source.take(np.arange(3)) is source.part
    some = source.take(np.array([0, 2]))
    assert list(some.X.columns) == ["a", "b"]
    np.testing.assert_array_equal(some.X["b"], [4.0, 6.0])
    np.testing.assert_array_equal(some.y, [7.0, 9.0])
    np.testing.assert_array_equal(some.sample_weight, [1.0, 2.0])
    assert some.groups is None
    assert source.total(lambda context, part: Total(context + len(part.X)), 10) == 13
