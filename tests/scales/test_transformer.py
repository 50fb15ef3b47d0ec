"""A transformer of scikit-learn as the scale of outcomes."""

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer, PowerTransformer

from rio_uq.scales.named import named_scale
from rio_uq.scales.transformer import TransformerScale

Y = np.random.default_rng(0).lognormal(size=200)


def logarithm():
    return FunctionTransformer(np.log, np.exp)


def test_the_logarithm_by_a_transformer_is_that_by_its_name():
    scale, named = TransformerScale.of(logarithm(), Y), named_scale("log", Y)
    u = named.forward(Y)
    np.testing.assert_allclose(scale.forward(Y), u)
    np.testing.assert_allclose(scale.inverse(u), Y)
    np.testing.assert_allclose(scale.log_slope(Y), named.log_slope(Y), atol=1e-5)


def test_values_without_an_inverse_are_moved_to_where_it_ends():
    transformer = PowerTransformer("box-cox", standardize=False).fit(Y[:, None] ** 4)
    scale = TransformerScale.of(transformer, Y**4)
    far = scale.inverse(np.array([-1e6, 1e6]))
    assert np.isfinite(far).all()
    assert far[0] < Y.min() ** 4 < Y.max() ** 4 < far[1]
    assert np.isfinite(scale.forward_prediction(np.array([-5.0, 1.0]))).all()


def test_what_does_not_increase_or_has_no_inverse_is_refused():
    with pytest.raises(ValueError, match="increasing"):
        TransformerScale.of(FunctionTransformer(np.negative, np.negative), Y)
    with pytest.raises(ValueError, match="has to undo it: FunctionTransformer"):
        TransformerScale.of(FunctionTransformer(np.log, np.cosh), Y)
