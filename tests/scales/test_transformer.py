"""A transformer of scikit-learn as the scale of outcomes."""

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer, PowerTransformer, QuantileTransformer, StandardScaler

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


@pytest.mark.parametrize("outcomes", [Y, Y**4])
def test_outcomes_beyond_the_range_are_infinite_and_have_no_slope(outcomes):
    scale = TransformerScale.of(PowerTransformer("box-cox").fit(outcomes[:, None]), outcomes)
    beyond = np.array([-1.0, 0.0])
    assert not scale.contains(beyond).any()
    np.testing.assert_array_equal(scale.forward(beyond), [-np.inf, -np.inf])
    assert np.isnan(scale.log_slope(beyond)).all()
    np.testing.assert_array_equal(scale.forward_prediction(beyond), scale.lowest)
    smallest = np.array([0.5e-5 * np.std(outcomes)])  # nearer to the end than the step of a slope
    assert np.isfinite(scale.log_slope(smallest)).all()


def test_the_end_of_a_scale_may_be_an_outcome():
    root = FunctionTransformer(np.sqrt, np.square)
    scale = TransformerScale.of(root, np.append(0.0, Y))
    assert scale.lowest == 0.0
    assert scale.contains(np.array([0.0])).all()
    assert (np.diff(scale.inverse(np.linspace(-3.0, 3.0, 50))) >= 0.0).all()


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (QuantileTransformer(n_quantiles=200), "has to be smooth, and QuantileTransformer"),
        (QuantileTransformer(n_quantiles=10, output_distribution="normal"), "has to go on beyond the outcomes of fit"),
        (FunctionTransformer(np.round, np.round), "has to increase strictly, and FunctionTransformer has steps"),
    ],
)
def test_scales_without_a_slope_are_refused_with_others_to_use(transformer, message):
    y = np.arange(50.0) if isinstance(transformer, FunctionTransformer) else Y
    with pytest.raises(ValueError, match=rf"{message}.* use a smooth one, such as PowerTransformer\(\)"):
        TransformerScale.of(transformer.fit(y[:, None]), y)


@pytest.mark.parametrize(
    "transformer", [PowerTransformer(), StandardScaler(), FunctionTransformer(np.cbrt, lambda u: u**3)]
)
def test_smooth_scales_of_outcomes_of_both_signs(transformer):
    y = Y - 1.0
    scale = TransformerScale.of(transformer.fit(y[:, None]), y)
    np.testing.assert_allclose(scale.inverse(scale.forward(y)), y, atol=1e-9)
    assert np.isfinite(scale.inverse(np.array([-1e9, 1e9]))).all()
