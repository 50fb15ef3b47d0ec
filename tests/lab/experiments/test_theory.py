"""The theorems of the paper hold in small experiments, as far as they hold, and the lemmas under them exactly."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments.theory import io_kernel, run
from experiments.theory.advantage import SETTING, advantage_of_residuals, indistinguishability
from experiments.theory.construction import KERNEL, Setting, draw_problem
from experiments.theory.generalization import Eigenfunctions, generalization_on_f, trace_formula
from experiments.theory.learner import conditioned, expected_error, fitted, prediction, weight_function
from experiments.theory.report import describe_io_kernel
from experiments.theory.summary import plus_minus, summarize
from experiments.theory.uncertainty import correlations, uncertainty_of_networks
from rio_uq.gp.posterior import predict


@pytest.fixture(scope="module")
def errors():
    return advantage_of_residuals(12, 0, shares=(-1.0, 0.0, 0.5, 1.0))


@pytest.fixture(scope="module")
def networks():
    return uncertainty_of_networks(6, 0)


def mean_and_error(values):
    return values.mean(), values.sem()


def at(results, **given):
    return results[np.logical_and.reduce([results[name] == value for name, value in given.items()])]


class TestConstruction:
    def test_g_changes_its_sign_within_pairs(self, rng):
        problem = draw_problem(SETTING, rng)
        n = SETTING.n_pairs
        first, second = problem.g[:n], problem.g[n : 2 * n]
        np.testing.assert_array_equal(first, -second)
        np.testing.assert_allclose(problem.g**2, SETTING.complexity)
        assert 0 < (first > 0.0).sum() < n
        np.testing.assert_allclose(problem.rows[n : 2 * n] - problem.rows[:n], [[SETTING.half_period, 0.0]] * n)

    @pytest.mark.parametrize("share", [-1.0, -0.5, 0.0, 0.4, 1.0])
    def test_delta_is_what_the_network_has_learnt_of_g(self, share, rng):
        delta = share * SETTING.complexity
        problem = draw_problem(replace(SETTING, n_test=1500, n_pairs=1), rng)
        _, r_g = problem.remainder(0.5, delta)
        np.testing.assert_array_equal(r_g[0], -r_g[1])
        tolerance = 0.0 if share >= 0.0 else 0.06
        np.testing.assert_allclose(SETTING.complexity - np.mean(r_g**2), delta, rtol=1e-12, atol=tolerance + 1e-12)

    def test_alpha_is_what_the_network_has_left_of_f(self):
        alpha, small = 0.3, Setting(n_pairs=1, n_test=2)
        draws = [draw_problem(small, np.random.default_rng(seed)) for seed in range(3000)]
        pairs = np.array([(problem.f[0], problem.remainder(alpha, 0.0)[0][0]) for problem in draws])
        covariance = pairs.T @ pairs / len(pairs)
        # Var f = 1, Var r_f = α, and what is known of f is independent of r_f: E[f r_f] = α.
        np.testing.assert_allclose(covariance, [[1.0, alpha], [alpha, alpha]], atol=0.05)

    def test_a_shorter_wave_leaves_the_rest_as_it_is(self):
        long, short = (
            draw_problem(replace(SETTING, half_period=half_period), np.random.default_rng(1))
            for half_period in (0.1, 0.01)
        )
        np.testing.assert_array_equal(long.rows[long.test], short.rows[short.test])
        np.testing.assert_array_equal(long.noise, short.noise)
        np.testing.assert_allclose(long.f[long.test], short.f[short.test], atol=1e-12)

    @pytest.mark.parametrize(("alpha", "delta"), [(0.0, 0.0), (1.1, 0.0), (0.5, 0.6)])
    def test_impossible_networks_are_refused(self, alpha, delta, rng):
        with pytest.raises(ValueError, match="has to be in"):
            draw_problem(SETTING, rng).remainder(alpha, delta)


class TestLearner:
    def test_predictions_are_weighted_targets(self, rng):
        rows, targets, new = rng.uniform(size=(30, 2)), rng.normal(size=30), rng.uniform(size=(7, 2))
        learner = conditioned(KERNEL, SETTING.theta(), 0.2, rows, targets)
        np.testing.assert_allclose(targets @ weight_function(learner, new), prediction(learner, new), atol=1e-12)

    def test_expected_error_is_the_posterior_variance_of_the_right_gp_and_more_of_others(self, rng):
        rows, new = rng.uniform(size=(30, 2)), rng.uniform(size=(50, 2))
        truth = (KERNEL, SETTING.theta(), 0.2, new)
        right = conditioned(KERNEL, SETTING.theta(), 0.2, rows, np.zeros(30))
        np.testing.assert_allclose(expected_error(right, *truth), predict(right, new)[1].mean(), rtol=1e-10)
        for theta, noise in ((SETTING.theta(), 0.7), (SETTING.theta(0.3), 0.2), (np.log([1.0, 0.5]), 0.2)):
            assert expected_error(conditioned(KERNEL, theta, noise, rows, np.zeros(30)), *truth) > expected_error(
                right, *truth
            )

    def test_fitted_hyperparameters_are_those_of_the_data(self, rng):
        problem = draw_problem(replace(SETTING, n_pairs=150, complexity=1e-9), rng)
        learner = fitted(KERNEL, problem.rows[problem.train], (problem.f + problem.noise)[problem.train])
        np.testing.assert_allclose(learner.noise_variance, SETTING.noise, rtol=0.25)
        np.testing.assert_allclose(np.exp(learner.theta[1]), SETTING.lengthscale, rtol=0.25)


class TestAdvantage:
    @pytest.mark.parametrize("hyperparameters", ["real", "apparent"])
    def test_errors_are_what_the_lemmas_say(self, errors, hyperparameters):
        chosen = at(errors, hyperparameters=hyperparameters)
        for name in ("gp", "gp_nn"):
            gap = (chosen[name] - chosen[name + "_limit"]).groupby(chosen["repeat"]).mean()
            mean, error = mean_and_error(gap)
            assert error < 0.02
            assert abs(mean) < 3.0 * error

    def test_advantage_is_at_least_what_the_network_has_learnt_of_g(self, errors):
        learnt = errors[errors["delta"] >= 0.0]
        assert (at(learnt, hyperparameters="real")["beyond_delta_limit"] > -1e-12).all()
        assert (at(learnt, hyperparameters="apparent")["beyond_delta_limit"] > -1e-12).all()
        for _, group in learnt.groupby(["hyperparameters", "alpha", "delta"]):
            mean, error = mean_and_error(group["beyond_delta"])
            assert mean >= -2.5 * error
        mean, error = mean_and_error(at(learnt, hyperparameters="fitted", alpha=0.25, delta=0.5)["beyond_delta"])
        assert mean > 2.0 * error

    def test_added_complexity_can_cost_more_than_the_theorem_allows(self, errors):
        spoilt = at(errors, alpha=1.0, delta=-SETTING.complexity)
        assert (at(spoilt, hyperparameters="real")["beyond_delta_limit"].abs() < 1e-12).all()
        assert (at(spoilt, hyperparameters="apparent")["beyond_delta_limit"] < -0.005).all()

    def test_the_network_is_always_improved(self, errors):
        known_limits = errors[errors["hyperparameters"] != "fitted"]
        assert (known_limits["beyond_network_limit"] > 0.0).all()
        found = summarize(errors, ["hyperparameters", "alpha", "delta"])
        assert (found.mean["beyond_network"] > 2.0 * found.error["beyond_network"]).all()

    def test_fitted_noise_falls_as_the_network_learns_g(self, errors):
        mean = summarize(at(errors, hyperparameters="fitted"), ["alpha", "delta"]).mean
        for _, noise in mean["residual_noise"].groupby("alpha"):
            assert (np.diff(noise) < -0.1).all()
        assert (mean.xs(0.5, level="delta")["residual_noise"] < 0.5 * mean["noise"].iloc[0]).all()

    def test_g_becomes_indistinguishable_as_the_pairs_close(self):
        limits = indistinguishability(6, 0, half_periods=(0.02, 0.01, 0.005, 0.0025))
        assert (limits["change"] <= limits["bound"]).all()
        mean = summarize(limits, "half_period").mean
        np.testing.assert_allclose(mean["bound"].iloc[1:].to_numpy() / mean["bound"].iloc[:-1], 2.0, rtol=0.02)
        assert mean["change"].iloc[-1] > 4.0 * mean["change"].iloc[0] > 0.0


class TestGeneralization:
    def test_eigenfunctions_are_orthonormal_and_make_the_kernel(self, rng):
        phi = Eigenfunctions.of(SETTING.theta())
        at_nodes = phi(phi.nodes)[-30:]
        np.testing.assert_allclose(at_nodes * phi.weights @ at_nodes.T, np.eye(30), atol=1e-8)
        rows = rng.uniform(size=(10, 2))
        matrix = (phi(rows).T * phi.values) @ phi(rows)
        np.testing.assert_allclose(matrix, KERNEL.matrix(SETTING.theta(), rows, rows), atol=1e-8)

    def test_trace_formula_is_the_mean_posterior_variance(self, rng):
        for alpha in (0.1, 1.0):
            phi, rows = Eigenfunctions.of(SETTING.theta(alpha)), rng.uniform(size=(25, 2))
            variance = predict(conditioned(KERNEL, SETTING.theta(alpha), 0.05, rows, np.zeros(25)), phi.nodes)[1][:, 0]
            np.testing.assert_allclose(trace_formula(phi, 0.05, rows), phi.weights @ variance, rtol=1e-8)

    def test_measured_errors_follow_the_formula(self):
        results = generalization_on_f(40, 0, training_sizes=(16, 64))
        for _, group in results.groupby(["alpha", "n"]):
            mean, error = mean_and_error(group["error"] - group["trace"])
            assert error < 0.15 * group["trace"].mean()
            assert abs(mean) < 3.0 * error
        trace = summarize(results, ["n", "alpha"]).mean["trace"].unstack("alpha")
        assert (trace[0.25] < trace[1.0]).all()


class TestUncertainty:
    def test_uncertainty_is_positively_correlated_with_the_variance_of_residuals(self, networks):
        for name, least in (("predictive_variance", 0.7), ("latent_variance", 0.2), ("optimal_latent_variance", 0.7)):
            for method in ("pearson", "spearman"):
                mean, error = mean_and_error(correlations(networks, name, method=method))
                assert mean - 2.0 * error > least

    def test_either_remainder_makes_the_optimal_gp_less_certain(self, networks):
        for fixed, other in (("alpha", "delta"), ("delta", "alpha")):
            for _, group in networks.groupby(["repeat", fixed]):
                variance = group.sort_values(other)["optimal_latent_variance"]
                assert (np.diff(variance) * (1.0 if other == "alpha" else -1.0) > 0.0).all()

    def test_fixing_alpha_compares_networks_that_differ_in_delta_only(self):
        results = pd.DataFrame(
            {
                "repeat": 0,
                "alpha": [0.1, 0.1, 1.0, 1.0],
                "residual_variance": [1.0, 2.0, 3.0, 4.0],
                "predictive_variance": [4.0, 3.0, 10.0, 9.0],
            }
        )
        assert correlations(results, "predictive_variance", at_fixed="alpha").item() == pytest.approx(-1.0)
        assert correlations(results, "predictive_variance").item() == pytest.approx(0.6)


class TestIOKernel:
    def test_the_network_is_not_affine(self, rng):
        network = io_kernel.Network.random(3, 16, rng)
        X, step = rng.normal(size=(500, 3)), rng.normal(size=(500, 3))
        there, back = np.abs(network(X + step) - network(X)), np.abs(network(X - step) - network(X))
        assert np.median(np.abs(there - back)) > 0.1 * np.median(there)

    @pytest.mark.parametrize("kind", ["input", "output"])
    def test_no_hyperparameters_make_one_kernel_as_good_as_both(self, kind, rng):
        setting = replace(io_kernel.BASE, n=60, n_test=80)
        problem = io_kernel.draw_problem(setting, rng)
        rows, new, theta = problem.rows[:60], problem.rows[60:], setting.parameters("io")[0]
        truth = (setting.kernel("io"), theta, setting.noise, new)
        best = expected_error(problem.learner("io", "known"), *truth)
        np.testing.assert_allclose(best, predict(problem.learner("io", "known"), new)[1].mean(), rtol=1e-9)
        kernel = setting.kernel(kind)
        others = [
            expected_error(
                conditioned(kernel, rng.normal(size=2), np.exp(rng.normal(-2.0)), rows, np.zeros(60)), *truth
            )
            for _ in range(200)
        ]
        assert min(others) > 1.2 * best

    def test_both_kernels_are_better_than_one(self):
        results = io_kernel.errors_of_kernels(8, 0, [io_kernel.BASE, replace(io_kernel.BASE, noise=0.5)])
        assert len(results) == 8 * 2 * 2
        for _, group in results.groupby(["hyperparameters", "noise"]):
            for kind in ("input", "output"):
                mean, error = mean_and_error(group[kind] - group["io"])
                assert mean > 2.0 * error

    def test_one_kernel_takes_the_other_part_for_noise(self):
        setting = replace(io_kernel.BASE, output_share=0.7, noise=0.2)
        theta, noise = setting.parameters("input")
        np.testing.assert_allclose(np.exp(theta), [0.3, setting.input_lengthscale])
        assert noise == pytest.approx(0.9)
        theta, noise = setting.parameters("io")
        np.testing.assert_allclose(np.exp(theta), [0.3, setting.input_lengthscale, 0.7, setting.output_lengthscale])
        assert noise == pytest.approx(0.2)

    def test_the_report_names_the_cases_that_contradict_the_theorem(self):
        lines = [
            {
                "repeat": repeat,
                "hyperparameters": choice,
                "n": setting.n,
                "noise": setting.noise,
                "output_share": setting.output_share,
                "io": 0.2,
                "input": 0.5 + 0.01 * repeat,
                "output": 0.1 if choice == "fitted" and setting.n == 25 else 0.5,
            }
            for repeat in range(3)
            for choice in io_kernel.HYPERPARAMETERS
            for setting in io_kernel.SETTINGS
        ]
        text = describe_io_kernel(pd.DataFrame(lines))
        assert "E_I − E_I/O is positive by more than two standard errors in 24 of 24 cases" in text
        assert "negative in 1 (−0.1000 for fitted, n = 25, noise 0.1, share 0.5)." in text


def test_summaries_are_means_with_standard_errors():
    results = pd.DataFrame(
        {"repeat": [0, 1, 0, 1], "n": [1, 1, 2, 2], "error": [1.0, 3.0, 5.0, 5.0], "kind": list("abab")}
    )
    found = summarize(results, "n")
    assert list(found.mean.columns) == ["error"]
    np.testing.assert_allclose(found.mean["error"], [2.0, 5.0])
    np.testing.assert_allclose(found.error["error"], [1.0, 0.0])
    assert plus_minus(results["error"][:2], 2) == "2.00 ± 1.00"


def test_results_depend_on_the_seed_alone():
    settings = [replace(io_kernel.BASE, n=20, n_test=30)]
    first, second, other = (io_kernel.errors_of_kernels(2, seed, settings) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, second)
    assert (first["io"] != other["io"]).all()


def test_run_writes_figures_and_a_section(tmp_path, capsys):
    from matplotlib.image import imread

    text = run(tmp_path / "figures", repeats=2, seed=3)
    for name in ("theory-1-advantage.png", "theory-2-uncertainty.png", "theory-3-io-kernel.png"):
        image = imread(tmp_path / "figures" / name)
        assert image.shape[1] == 1600
        assert 0.02 < (image[..., :3].min(axis=2) < 0.9).mean() < 0.5
        assert f"/{name})" in text
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## The theorems in numbers",
        "### Theorem 1: advantage of fitting residuals",
        "### Theorem 2: uncertainty and the variance of residuals",
        "### Theorem 3: advantage of the I/O kernel",
    ]
    assert "nan" not in text
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "theorem 3 measured" in printed.err


def test_standard_errors_need_two_repeats(tmp_path):
    with pytest.raises(ValueError, match="at least 2"):
        run(tmp_path, repeats=1, seed=0)
