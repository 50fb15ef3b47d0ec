"""Means over training rows, compared with those over the rows given."""

import numpy as np
import pytest

from rio_uq.models import kept_means
from rio_uq.models.kept_means import KeptMeans, compared, some_rows, sum_of


def kept(features, n_given, n_both=0):
    """Of rows whose first n_given are given; as many training rows, the first n_both of them among these."""
    given, trained = features[:n_given], features[n_given - n_both : 2 * n_given - n_both]
    deviation = given - trained.mean(axis=0)
    difference = deviation.mean(axis=0) / np.sqrt(2.0 / n_given)
    return KeptMeans(difference @ difference, deviation @ difference, deviation @ deviation.T, n_given)


def correlated(rng, n, n_means=40):
    """A few of the means vary most."""
    return rng.normal(size=(n, n_means)) / np.sqrt(np.arange(1, n_means + 1))


@pytest.mark.parametrize("is_whitened", [True, False])
def test_of_new_rows_the_ratio_is_one_with_the_variance_that_is_told(is_whitened, rng):
    comparisons = [compared(kept(correlated(rng, 200), 100), is_whitened=is_whitened) for _ in range(300)]
    ratio, n_independent = np.transpose(comparisons)
    assert ratio.mean() == pytest.approx(1.0, abs=0.15)
    assert ratio.var() == pytest.approx(np.mean(2.0 / n_independent), rel=0.35)


def test_more_means_count_though_a_few_vary_most(rng):
    means = kept(correlated(rng, 400), 200)
    variance = 1.0 / np.arange(1, 41)
    assert compared(means, is_whitened=False).n_independent == pytest.approx(
        variance.sum() ** 2 / (variance**2).sum(), rel=0.2
    )
    assert compared(means).n_independent > 20.0


def test_half_of_the_rows_that_are_seen_halve_the_ratio(rng):
    ratios = [compared(kept(correlated(rng, 400), 200, n_both=100)).ratio for _ in range(40)]
    assert np.mean(ratios) == pytest.approx(0.5, abs=0.07)


def test_products_are_those_of_the_inverse_covariance(rng):
    """With the covariance in the space of the means, instead of that of the rows."""
    rows, difference, out = rng.normal(size=(30, 4)), rng.normal(size=4), np.arange(0, 30, 5)
    everything = np.vstack([rows, difference]) @ np.vstack([rows, difference]).T
    square, trace, squared = kept_means._products_left_out(everything, out, is_whitened=True)
    rest = np.delete(rows, out, axis=0)
    covariance = np.cov(rest.T, bias=True)
    ridge = kept_means.RIDGE * (covariance**2).sum() / np.trace(covariance)
    inverse = np.linalg.inv(covariance + ridge * np.eye(4))
    left_out = rows[out] - rest.mean(axis=0)
    products = left_out @ inverse @ left_out.T / (1.0 + 1.0 / len(rest))
    assert square == pytest.approx(difference @ inverse @ difference)
    assert trace == pytest.approx(np.diag(products).mean())
    assert squared == pytest.approx((products[~np.eye(len(out), dtype=bool)] ** 2).mean())


def test_units_do_not_matter(rng):
    features = correlated(rng, 100)
    one, other = compared(kept(features, 50)), compared(kept(1e6 * features, 50))
    assert tuple(one) == pytest.approx(tuple(other))


def test_the_sum_of_two_is_that_of_all_their_means(rng):
    features = correlated(rng, 100, n_means=10)
    total, both = sum_of([kept(features[:, :4], 50), kept(features[:, 4:], 50)]), kept(features, 50)
    assert total.square == pytest.approx(both.square)
    np.testing.assert_allclose(total.towards, both.towards)
    np.testing.assert_allclose(total.products, both.products)


def test_few_rows_and_constant_means_tell_nothing(rng):
    assert compared(kept(correlated(rng, 18), 9)) is None
    assert compared(kept(np.ones((100, 3)), 50)) is None


def test_of_many_rows_some_from_the_first_to_the_last_are_compared():
    rows = some_rows(10_000)
    assert len(rows) == kept_means.MOST_COMPARED
    assert (rows[0], rows[-1]) == (0, 9999)
