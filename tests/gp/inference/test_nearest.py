"""The GP of nearest rows: the exact GP where all rows are near, and the same answer however rows come and are asked."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from rio_uq.gp.deadline import Deadline
from rio_uq.gp.inference import INFERENCES, exact, local, nearest, neighbours
from rio_uq.gp.inference.neighbours import Neighbours
from rio_uq.gp.kernels.io import io_kernel
from rio_uq.gp.observations import Observations
from rio_uq.gp.optimize import Search
from rio_uq.gp.posterior import covariance, predict, predict_mean, sample
from rio_uq.gp.priors import weak_prior
from rio_uq.gp.settings import Settings
from rio_uq.gp.starts import Scales, bounds_of, rio_start
from rio_uq.gp.trust import output_slope

N = 60
KERNELS = {
    "stationary": {"input_family": "matern52", "output_family": "rbf"},
    "with slopes": {"input_family": "rbf+linear", "output_family": "matern32+linear"},
    "slopes alone": {"kind": "output", "output_family": "linear"},
}

POINTS = (0, 8)
"""That all rows share."""


def make(kind="with slopes", *, n=N, is_weighted=False, is_precise=False, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 4))
    targets = np.column_stack([np.sin(2.0 * rows[:, 0]) + rows[:, 3], rows[:, 1] ** 2]) + 0.1 * rng.normal(size=(n, 2))
    weight = rng.integers(1, 4, size=n).astype(float) if is_weighted else None
    precision = rng.uniform(0.3, 2.0, size=n) if is_precise else None
    kernel = io_kernel(3, 1, ard=True, **KERNELS[kind])
    theta = rng.normal(scale=0.3, size=kernel.n_parameters)
    return kernel, theta, np.log([0.2, 0.05]), Observations(rows, targets, weight, precision)


def nearest_rows(kernel, theta, log_noise, data, k, n_points=0):
    return nearest.posterior_of(kernel, theta, np.exp(log_noise), data, k, n_points)


def both(k, n_points, *arguments):
    """The GP of the k nearest rows, and the exact one."""
    return nearest_rows(*arguments, k, n_points), exact.posterior(*arguments)


@pytest.fixture
def few(monkeypatch):
    """A subset of 25 rows."""
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 25)


@pytest.mark.parametrize("is_precise", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_points", POINTS)
@pytest.mark.parametrize("kind", KERNELS)
def test_with_all_rows_near_it_is_the_exact_gp(kind, n_points, is_weighted, is_precise, rng):
    kernel, *at, data = make(kind, is_weighted=is_weighted, is_precise=is_precise)
    near, all_rows = both(N, n_points, kernel, *at, data)
    new = 1.5 * rng.normal(size=(70, 4))
    for one, other in zip(predict(near, new), predict(all_rows, new), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(covariance(near, new), covariance(all_rows, new), rtol=1e-7, atol=1e-8)
    for one, other in zip(near.leave_one_out(data), all_rows.leave_one_out(data), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
    for part in ("input", "output"):
        if terms := kernel.part(part):
            means = [predict_mean(posterior.of_terms(terms), new) for posterior in (near, all_rows)]
            np.testing.assert_allclose(*means, rtol=1e-8, atol=1e-9)
    assert near.log_likelihood() == pytest.approx(all_rows.log_likelihood(), rel=1e-10)
    assert near.total_weight == data.total_weight
    one, other = (output_slope(posterior, new[:, 2:]) for posterior in (near, all_rows))
    np.testing.assert_allclose(one, other, rtol=1e-7)


@pytest.mark.parametrize("tree_columns", [0, 8])
def test_a_prediction_is_the_exact_one_of_the_nearest_rows(tree_columns, few, monkeypatch, rng):
    monkeypatch.setattr(neighbours, "TREE_COLUMNS", tree_columns)
    monkeypatch.setattr(neighbours, "FARTHER", 0.0)
    kernel, theta, log_noise, data = make("stationary", is_weighted=True)
    posterior = nearest_rows(kernel, theta, log_noise, data, 7)
    new = rng.normal(size=(5, 4))
    v_in, *l_in, v_out, l_out = np.exp(theta)
    scale = np.array([np.sqrt(v_in) / length for length in l_in] + [np.sqrt(v_out) / l_out])
    for row in new:
        near = np.argsort((((data.rows - row) * scale) ** 2).sum(axis=1))[:7]
        expected = predict(exact.posterior(kernel, theta, log_noise, data.subset(near)), row[None])
        np.testing.assert_allclose(predict(posterior, row[None]), expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("tree_columns", [0, 8])
def test_leave_one_out_is_what_leaving_out_gives(tree_columns, few, monkeypatch):
    monkeypatch.setattr(neighbours, "TREE_COLUMNS", tree_columns)
    monkeypatch.setattr(neighbours, "FARTHER", 0.0)
    kernel, theta, log_noise, data = make("stationary", is_precise=True)
    residual, variance = nearest_rows(kernel, theta, log_noise, data, 9).leave_one_out(data)
    for i in (0, 17, N - 1):
        without = nearest_rows(kernel, theta, log_noise, data.subset(np.delete(np.arange(N), i)), 9)
        mean, latent = predict(without, data.rows[[i]])
        np.testing.assert_allclose(residual[i], data.targets[i] - mean[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(variance[i], latent[0], rtol=1e-9)


def test_slopes_come_from_rows_everywhere(few, rng):
    """Nearest rows alone would take a slope for a level, and know little beyond them."""
    rows = rng.uniform(-2.0, 2.0, size=(400, 2))
    data = Observations(rows, 3.0 * rows[:, 1:] + 0.1 * rng.normal(size=(400, 1)))
    kernel = io_kernel(1, 1, output_family="linear")
    theta, log_noise, new = np.log([0.1, 1.0, 10.0]), np.log([0.01]), np.array([[0.0, -4.0], [0.0, 4.0]])
    posterior = nearest_rows(kernel, theta, log_noise, data, 10)
    mean, variance = predict(posterior, new)
    expected, exact_variance = predict(exact.posterior(kernel, theta, log_noise, data), new)
    np.testing.assert_allclose(mean, expected, atol=0.3)
    assert (variance < 2.0 * exact_variance + 0.05).all()


@pytest.mark.parametrize("tree_columns", [0, 8])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_points", POINTS)
def test_an_answer_does_not_depend_on_the_others(n_points, n_jobs, tree_columns, few, monkeypatch, rng):
    monkeypatch.setattr(neighbours, "TREE_COLUMNS", tree_columns)
    posterior = nearest_rows(*make(n=300), 20, n_points)
    new = rng.normal(size=(333, 4)).round(1)
    mean, variance = predict(posterior, new, n_jobs=n_jobs)
    for rows in (slice(0, 1), slice(70, 75), slice(1, 333)):
        for one, other in zip(predict(posterior, new[rows]), (mean[rows], variance[rows]), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(predict_mean(posterior, new, n_jobs=n_jobs), mean, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n_points", POINTS)
@pytest.mark.parametrize("tree_columns", [0, 8])
def test_the_order_of_rows_does_not_matter(tree_columns, n_points, few, monkeypatch, rng):
    """Not even on a grid, where many rows are equally far."""
    monkeypatch.setattr(neighbours, "TREE_COLUMNS", tree_columns)
    kernel, theta, log_noise, data = make(n=200, is_weighted=True, is_precise=True)
    data = replace(data, rows=data.rows.round())
    order, new = rng.permutation(200), rng.normal(size=(30, 4)).round()
    one, other = (nearest_rows(kernel, theta, log_noise, rows, 20, n_points) for rows in (data, data.subset(order)))
    np.testing.assert_array_equal(predict(one, new), predict(other, new))
    left_out, others = one.leave_one_out(data), other.leave_one_out(data.subset(order))
    np.testing.assert_array_equal(np.array(left_out)[:, order], others)


@pytest.mark.parametrize("n_points", POINTS)
def test_last_digits_of_predictions_do_not_matter(n_points, few, rng):
    """They depend on the block of rows that a model predicts at once."""
    kernel, theta, log_noise, data = make(n=200)
    digits = 1.0 + 1e-15 * rng.normal(size=data.rows.shape)
    one, other = (
        nearest_rows(kernel, theta, log_noise, rows, 20, n_points)
        for rows in (data, replace(data, rows=data.rows * digits))
    )
    new = rng.normal(size=(30, 4))
    np.testing.assert_allclose(predict(one, new), predict(other, new), rtol=1e-9)
    np.testing.assert_allclose(one.leave_one_out(data), other.leave_one_out(data), rtol=1e-8)


@pytest.mark.parametrize("n_points", POINTS)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_further_rows_give_the_posterior_of_all_rows(is_weighted, n_points, few, rng):
    kernel, theta, log_noise, data = make(n=90, is_weighted=is_weighted)
    whole = nearest_rows(kernel, theta, log_noise, data, 15, n_points)
    parts = [data.subset(part) for part in np.split(rng.permutation(90), [10, 40])]
    grown = replace(nearest_rows(kernel, theta, log_noise, parts[0], 15, n_points), noise_variance=np.ones(2))
    for part in parts[1:]:
        grown = grown.with_rows(part)
    new = rng.normal(size=(20, 4))
    np.testing.assert_allclose(predict(grown, new), predict(whole, new), rtol=1e-9, atol=1e-12)
    assert grown.log_likelihood() == whole.log_likelihood()
    np.testing.assert_array_equal(grown.noise_variance, np.ones(2))
    np.testing.assert_allclose(grown.likelihood_noise, np.exp(log_noise))
    np.testing.assert_allclose(predict(whole.of_rows(data), new), predict(whole, new), rtol=1e-9, atol=1e-12)


def test_precise_rows_are_added_to_others(few, rng):
    kernel, theta, log_noise, data = make(n=50)
    first, second = data.subset(np.arange(30)), data.subset(np.arange(30, 50))
    second = replace(second, precision=np.full(20, 3.0))
    grown = nearest_rows(kernel, theta, log_noise, first, 15).with_rows(second)
    precision = np.repeat([1.0, 3.0], [30, 20])
    whole = nearest_rows(kernel, theta, log_noise, replace(data, precision=precision), 15)
    new = rng.normal(size=(20, 4))
    np.testing.assert_array_equal(predict(grown, new), predict(whole, new))


@pytest.mark.parametrize("n_points", POINTS)
def test_the_joint_distribution_agrees_with_single_rows(n_points, few, rng):
    posterior, new = nearest_rows(*make(n=200), 20, n_points), rng.normal(size=(12, 4))
    mean, variance = predict(posterior, new)
    matrices = covariance(posterior, new)
    np.testing.assert_allclose(np.diagonal(matrices, axis1=1, axis2=2).T, variance, rtol=1e-8)
    assert np.linalg.eigvalsh(matrices).min() > -1e-10
    draws = sample(posterior, new, 20_000, rng)
    np.testing.assert_allclose(draws.mean(axis=2), mean, atol=5 * np.sqrt(variance.max() / 20_000))
    np.testing.assert_allclose(draws.var(axis=2), variance, rtol=0.06)


@pytest.mark.parametrize("n_points", POINTS)
def test_parts_add_up(n_points, few, rng):
    posterior, new = nearest_rows(*make(n=200), 20, n_points), rng.normal(size=(12, 4))
    parts = [predict_mean(posterior.of_terms(posterior.kernel.part(name)), new) for name in ("input", "output")]
    np.testing.assert_allclose(sum(parts), predict_mean(posterior, new), rtol=1e-9, atol=1e-12)


def test_columns_that_hardly_count_are_not_searched(rng):
    kernel = io_kernel(3, 1, input_family="matern52", output_family="linear", ard=True)
    rows = rng.normal(size=(50, 4))
    search = Neighbours.of(kernel, np.log([2.0, 0.5, 1e3, 4.0, 1.0]), rows)
    np.testing.assert_array_equal(search.columns, [0, 2])
    np.testing.assert_allclose(search.scale**2, [8.0, 0.125])
    slopes_alone = Neighbours.of(io_kernel(3, 1, kind="output", output_family="linear"), np.zeros(1), rows)
    assert len(slopes_alone.columns) == 4


def test_a_row_among_many_copies_leaves_itself_out(monkeypatch):
    """The tree need not find the row itself among its nearest ones."""
    rows = np.zeros((40, 4))
    search = Neighbours.of(io_kernel(3, 1), np.zeros(4), rows)
    found = search.nearest_others(np.arange(40), rows, 5)
    assert found.shape == (40, 5)
    assert not (found == np.arange(40)[:, None]).any()


def test_a_tree_hardly_passes_over_a_nearer_row(rng):
    rows, wanted, k = rng.normal(size=(5000, 4)), rng.normal(size=(50, 4)), 20
    search = Neighbours.of(io_kernel(3, 1), np.zeros(4), rows)
    apart = ((search.scaled[None] - wanted[:, None, search.columns] * search.scale) ** 2).sum(axis=2)
    taken = np.sqrt(np.take_along_axis(apart, search.nearest(wanted, k), axis=1))
    nearest_ones = np.sqrt(np.sort(apart, axis=1)[:, :k])
    assert (np.sort(taken, axis=1) <= (1.0 + neighbours.FARTHER) * nearest_ones).all()
    assert taken.mean() < 1.04 * nearest_ones.mean()


def rows_near_a_surface(rng, n_rows, n_columns=30):
    """Rows of many columns that differ in six directions, and a little in all."""
    return rng.normal(size=(n_rows, 6)) @ rng.normal(size=(6, n_columns)) + 0.1 * rng.normal(size=(n_rows, n_columns))


def test_many_columns_are_searched_by_their_components(monkeypatch, rng):
    monkeypatch.setattr(neighbours, "FEWEST_ROWS", 100)
    rows = rows_near_a_surface(rng, 3030)
    rows, wanted, k = rows[:3000], rows[3000:], 20
    search = Neighbours.of(io_kernel(29, 1), np.zeros(4), rows)
    assert search._directions.shape == (30, neighbours.TREE_COLUMNS)
    apart = np.sqrt(((rows[None] - wanted[:, None]) ** 2).sum(axis=2) * search.scale[0] ** 2)
    found = search.nearest(wanted, k)
    taken, nearest_ones = np.take_along_axis(apart, found, axis=1), np.sort(apart, axis=1)[:, :k]
    assert (np.diff(taken, axis=1) >= 0.0).all()
    assert taken.mean() < 1.01 * nearest_ones.mean()
    for number in (0, 7, 29):
        np.testing.assert_array_equal(search.nearest(wanted[[number]], k), found[[number]])
    assert sorted(search.path(wanted)) == list(range(30))


def test_columns_that_all_differ_are_searched_one_and_all(monkeypatch, rng):
    monkeypatch.setattr(neighbours, "FEWEST_ROWS", 100)
    rows = rng.normal(size=(500, 30))
    search = Neighbours.of(io_kernel(29, 1), np.zeros(4), rows)
    assert search._directions is None
    apart = ((rows - rows[0]) ** 2).sum(axis=1)
    np.testing.assert_array_equal(search.nearest(rows[:1], 10)[0], np.argsort(apart, kind="stable")[:10])


def test_copies_without_noise_can_be_predicted_from(few):
    """What would be singular has a little jitter."""
    kernel, theta, _, data = make("stationary")
    rows = np.vstack([data.rows, np.repeat(data.rows[:1], 20, axis=0)])
    targets = np.vstack([data.targets, np.repeat(data.targets[:1], 20, axis=0)])
    posterior = nearest_rows(kernel, theta, np.log([0.2, 0.05]), Observations(rows, targets), 10)
    sure = replace(posterior, local=replace(posterior.local, noise_variance=np.full(2, 1e-30)))
    mean, _ = predict(sure, data.rows)
    np.testing.assert_allclose(mean[0], data.targets[0], rtol=1e-3)


def test_no_rows_give_no_predictions():
    mean, variance = predict(nearest_rows(*make(), 10), np.empty((0, 4)))
    assert mean.shape == variance.shape == (0, 2)


def test_what_is_kept_for_speed_is_not_saved(rng):
    posterior, new = nearest_rows(*make(), 10), rng.normal(size=(3, 4))
    expected = predict(posterior, new)
    assert "neighbours" in vars(posterior.local)
    other = pickle.loads(pickle.dumps(posterior))
    assert "neighbours" not in vars(other.local)
    np.testing.assert_array_equal(predict(other, new), expected)


@pytest.mark.parametrize("is_precise", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_points", POINTS)
def test_rows_in_parts_give_the_posterior_of_all_rows(n_points, is_weighted, is_precise, few, rng):
    """Whatever the posterior was that they are given to, in any order, and though one part has no rows."""
    kernel, theta, log_noise, data = make(n=90, is_weighted=is_weighted, is_precise=is_precise)
    sample = replace(nearest_rows(kernel, theta, log_noise, data.subset(np.arange(40)), 15, n_points))
    sample = replace(sample, noise_variance=np.ones(2))
    parts = [data.subset(part) for part in np.split(rng.permutation(90), [10, 10, 40])]
    first, *others = [sample.sums_of(part) for part in parts]
    for other in others:
        first = first.plus(other)
    whole, of_parts = sample.of_rows(data), sample.with_sums(first)
    new = rng.normal(size=(20, 4))
    np.testing.assert_array_equal(predict(of_parts, new), predict(whole, new))
    assert of_parts.log_likelihood() == whole.log_likelihood()
    np.testing.assert_array_equal(of_parts.noise_variance, np.ones(2))


def test_copies_in_parts_are_one_row_with_the_weight_of_all(few, rng):
    """Also where predictions differ in the last digits: eight copies of a neighbour would leave no place for others."""
    kernel, theta, log_noise, data = make(n=90)
    once = nearest_rows(kernel, theta, log_noise, data, 15)
    eighth = replace(data, weight=np.full(90, 0.125))
    copies = [replace(eighth, rows=data.rows * (1.0 + k * 1e-15)) for k in range(8)]
    several = once.with_sums(nearest.Pieces(tuple(copies)))
    assert len(several.local.data) == 90
    new = rng.normal(size=(20, 4))
    np.testing.assert_allclose(predict(several, new), predict(once, new), rtol=1e-9)
    added = once.with_rows(data)
    assert added.total_weight == 180.0
    np.testing.assert_allclose(added.local.weight, 2.0)


def test_copies_that_differ_by_rounding_are_one_row(few, rng):
    *rest, data = make(is_weighted=True, is_precise=True)
    nearly = replace(
        data, rows=data.rows + 6e-11 * rng.uniform(-1.0, 1.0, data.rows.shape), weight=None, precision=None
    )
    grown = nearest_rows(*rest, data, 10).with_rows(nearly)
    kept = grown.statistics.local.data
    assert len(kept) == N
    np.testing.assert_allclose(kept.total_weight, data.total_weight + N)
    np.testing.assert_allclose(np.sort(kept.effective_weight), np.sort(data.effective_weight + 1.0))


def test_rows_that_are_not_behind_it_cannot_be_left_out(few):
    *rest, data = make()
    posterior = nearest_rows(*rest, data, 10)
    with pytest.raises(ValueError, match="only rows behind the posterior"):
        posterior.leave_one_out(replace(data, rows=data.rows + 1.0))


def test_without_time_nothing_is_compared_among_all_rows(few):
    *_, data = make()
    one = replace(data, targets=data.targets[:, :1])
    kernel, scales = io_kernel(3, 1), Scales.of(one, 3, 0.0)
    objective = INFERENCES["nearest"].objective(kernel, one, np.zeros(0), Settings("nearest"), None, 1)
    bounds, prior = bounds_of(kernel, 1, scales), weak_prior(kernel, 1, scales)
    late = Deadline.after(1.0, clock=iter([0.0, *[2.0] * 1000]).__next__)
    objective.maximize(rio_start(kernel, 1, scales), bounds, prior, Search(5, 1e-5, None, deadline=late))
    assert late.left_out == [nearest.AMONG_ALL_ROWS]
    assert objective.n_points == 0


def test_features_of_very_many_rows_are_few(few, monkeypatch):
    monkeypatch.setattr(nearest, "MOST_FEATURES", 90 * 5)
    kernel, theta, log_noise, data = make(n=90)
    some = nearest_rows(kernel, theta, log_noise, data.subset(np.arange(50)), 15, 8)
    assert len(some.local.parts.points) == 8
    grown = some.with_rows(data.subset(np.arange(50, 90)))
    assert len(grown.local.parts.points) == 5
    assert nearest.memory_needed(90, 4, 2) == 8 * 90 * (4 * (4 + 2 + 2) + 5)


def test_stacks_of_any_size_give_the_same(few, monkeypatch, rng):
    posterior, new = nearest_rows(*make(n=100), 20), rng.normal(size=(30, 4))
    expected = predict(posterior, new)
    monkeypatch.setattr(local, "STACK", 1)
    np.testing.assert_array_equal(predict(posterior, new), expected)


def of_gp(rng, n=400):
    """Rows of a GP with known hyperparameters."""
    rows = np.hstack([rng.uniform(-2.0, 2.0, size=(n, 2)), np.zeros((n, 1))])
    kernel = io_kernel(2, 1, kind="input", input_family="matern52")
    x = np.log([1.0, 0.8, 0.04])
    matrix = kernel.matrix(x[:2], rows, rows) + 0.04 * np.eye(n)
    return kernel, x, Observations(rows, np.linalg.cholesky(matrix) @ rng.normal(size=(n, 1)))


@pytest.mark.parametrize("noise", [-1.0, 0.0, 1.0])
def test_noise_is_corrected_at_full_density(noise, monkeypatch, rng):
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 100)
    kernel, x, data = of_gp(rng)
    _, step = nearest.NearestObjective(kernel, data, 20).at_full_density(x + np.array([0.0, 0.0, noise]))
    np.testing.assert_array_equal(step.x[:2], x[:2])
    assert abs(step.x[2] - x[2]) < 0.3


@pytest.mark.parametrize(("lengthscale", "moves"), [(0.0, False), (1.5, True)])
def test_hyperparameters_move_where_left_out_rows_are_clearly_likelier(lengthscale, moves, monkeypatch, rng):
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 100)
    kernel, x, data = of_gp(rng, 2000)
    start, bounds = x + np.array([0.0, lengthscale, 0.0]), np.tile([-10.0, 10.0], (3, 1))
    objective = nearest.NearestObjective(kernel, data, 20)
    _, step = objective.among_all_rows(start, bounds, Search(50, 1e-6, rng))
    _, stays = objective.at_full_density(start)
    assert (step.loss < stays.loss) == moves
    if moves:
        assert abs(step.x[1] - x[1]) < 0.5 * lengthscale
    else:
        np.testing.assert_array_equal(step.x, stays.x)


def test_few_rows_do_not_move_hyperparameters(monkeypatch, rng):
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 100)
    kernel, x, data = of_gp(rng, 1000)
    start = x + np.array([0.0, 1.5, 0.0])
    bounds = np.tile([-10.0, 10.0], (3, 1))
    _, step = nearest.NearestObjective(kernel, data, 20).among_all_rows(start, bounds, Search(50, 1e-6, rng))
    np.testing.assert_array_equal(step.x[:2], start[:2])


def smooth_and_noisy(rng, n=1500, d=5):
    """Something smooth in many columns, of which a few near rows see little."""
    rows = np.hstack([rng.uniform(-1.0, 1.0, size=(n, d)), np.zeros((n, 1))])
    kernel = io_kernel(d, 1, kind="input", input_family="rbf")
    x = np.log([1.0, 1.5, 1.0])
    return kernel, x, rows, np.sin(rows[:, :d].sum(axis=1, keepdims=True))


def test_points_share_what_is_smooth_with_all_rows(monkeypatch, rng):
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 300)
    kernel, x, rows, truth = smooth_and_noisy(rng)
    data = Observations(rows, truth + rng.normal(size=truth.shape))
    near, shared = (nearest_rows(kernel, x[:2], x[2:], data, 10, n_points) for n_points in (0, 40))
    of_all = exact.posterior(kernel, x[:2], x[2:], data)
    errors = [np.sqrt(np.mean((predict_mean(gp, rows) - truth) ** 2)) for gp in (near, shared, of_all)]
    assert errors[1] < 1.4 * errors[2] < 0.95 * errors[0]
    deviations = [np.sqrt(predict(gp, rows[:200])[1]) for gp in (near, shared, of_all)]
    assert np.median(deviations[1] / deviations[2]) < 1.4 < np.median(deviations[0] / deviations[2])
    objective = nearest.NearestObjective(kernel, data, 10)
    assert objective.at_full_density(x)[0] == nearest.SHARED_POINTS


@pytest.mark.parametrize(
    ("n_neighbors", "lengthscale", "expected"), [(None, 1.0, 40), (None, 1e-3, 5), (5, 1.0, 5)], ids=str
)
def test_more_neighbours_are_taken_where_left_out_rows_are_worth_them(
    monkeypatch, rng, n_neighbors, lengthscale, expected
):
    """Much noise on something smooth needs many; where no row is near, more are no better."""
    for name, number in {"SUBSET_ROWS": 100, "NEIGHBOURS": 5, "MORE_NEIGHBOURS": 40, "SHARED_POINTS": 0}.items():
        monkeypatch.setattr(nearest, name, number)
    kernel, x, rows, truth = smooth_and_noisy(rng, d=2)
    x[1] = np.log(lengthscale)
    data = Observations(rows, truth + rng.normal(size=truth.shape))
    objective = nearest.NearestObjective(kernel, data, n_neighbors)
    n_points, step = objective.among_all_rows(x, np.tile([-20.0, 20.0], (3, 1)), Search(0, 1e-8, rng))
    assert (n_points, objective.n_neighbors) == (0, expected)
    assert objective.posterior(step.x).local.n_neighbors == expected


def test_more_rows_than_the_subset_tell_of_slopes():
    """Nearly all that the exact GP knows of them, though each row is compared with a few of those before it."""

    def told(data, informing_rows, subset_rows):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(local, "INFORMING_ROWS", informing_rows)
            patch.setattr(nearest, "SUBSET_ROWS", subset_rows)
            return nearest_rows(*data, 30).local.weights

    errors = []
    for seed in range(4):
        data = make(n=400, seed=seed)
        exactly = told(data, 0, 400)
        with_all, with_subset = told(data, local.INFORMING_ROWS, 25), told(data, 0, 25)
        widths = [np.trace(weights.covariance, axis1=1, axis2=2) for weights in (exactly, with_all, with_subset)]
        assert (widths[1] < 1.3 * widths[0]).all()
        assert (widths[2] > 1.5 * widths[0]).all()
        errors.append([np.linalg.norm(weights.mean - exactly.mean) for weights in (with_all, with_subset)])
    of_all, of_subset = np.sum(errors, axis=0)
    assert of_all < 0.5 * of_subset


def test_a_subset_that_is_all_rows_needs_no_correction(rng):
    kernel, x, data = of_gp(rng, 60)
    scales = Scales.of(data, 2, 0.0)
    bounds, prior = bounds_of(kernel, 1, scales), weak_prior(kernel, 1, scales)
    one, other = (
        INFERENCES[name]
        .objective(kernel, data, x, Settings(n_neighbors=20), rng, 1)
        .maximize(rio_start(kernel, 1, scales), bounds, prior, Search(100, 1e-8, rng))
        for name in ("exact", "nearest")
    )
    np.testing.assert_allclose(one.x, other.x, atol=1e-2)
    assert not other.is_estimate


def test_the_likelihood_of_more_rows_is_that_of_the_subset_times_their_number(few):
    kernel, theta, log_noise, data = make(n=100)
    posterior = nearest_rows(kernel, theta, log_noise, data, 10)
    subset = posterior.local.data.subset(np.arange(25))
    expected, _ = exact.MarginalLikelihood(kernel, subset)(theta, log_noise)
    assert posterior.log_likelihood() == pytest.approx(4.0 * expected)
