"""Distributions of scores: facts about each of them, and how one is chosen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from rio_uq.calibration import shape as shape_module
from rio_uq.calibration import student
from rio_uq.calibration.normal import ScaledNormal
from rio_uq.calibration.scores import crps_by_quantiles
from rio_uq.calibration.shape import fit_shape
from rio_uq.calibration.skewed import SkewedStudent
from rio_uq.calibration.student import Student

DEGREES = st.floats(2.05, 200.0)
SCALES = st.floats(0.3, 3.0)
HEIGHTS = st.lists(st.floats(0.5, 2.0), min_size=1, max_size=12).map(lambda values: np.array(values) / np.mean(values))
UNEVEN = st.builds(Student.of, st.floats(1.0, 2.05), SCALES, st.just(np.array([-3.0, 40.0])))
STUDENTS = st.builds(Student, st.just(100), DEGREES, SCALES, HEIGHTS) | UNEVEN
EDGES = np.array([0.7, 0.3, 0.05])


def refined_skewed(degrees, lower, upper, heights):
    """With heights of the mean one."""
    plain = SkewedStudent(100, degrees, lower, upper, np.array(heights), EDGES)
    return SkewedStudent(100, degrees, lower, upper, plain.heights / plain.total, EDGES)


TWO_SIDES = st.lists(st.lists(st.floats(0.5, 2.0), min_size=4, max_size=4), min_size=2, max_size=2)
SKEWED = st.builds(SkewedStudent, st.just(100), DEGREES, SCALES, SCALES)
SKEWED |= st.builds(refined_skewed, DEGREES, SCALES, SCALES, TWO_SIDES)
SHAPES = STUDENTS | SKEWED | st.builds(ScaledNormal, st.just(100), SCALES)
P = np.concatenate([[1e-12, 1e-6, 1e-3], np.linspace(0.01, 0.99, 99), [0.999, 1.0 - 1e-6]])


def moment(shape, power):
    """∫ zᵖ f(z) dz as ∫ (z(q)ᵖ ± z(1 − q)ᵖ) dq over q = eᵗ up to ½: both tails keep their digits."""
    t = np.linspace(np.log(1e-30), np.log(0.5), 4_001)
    q = np.exp(t)
    if shape.ppf(np.array(0.5)) == 0.0:  # symmetric
        return float(integrate.trapezoid((1.0 + (-1.0) ** power) * q * np.abs(shape.ppf(q)) ** power, t))
    mirrored = SkewedStudent(9, shape.degrees, shape.upper, shape.lower, shape.heights[::-1], shape.edges)
    return float(integrate.trapezoid(q * (shape.ppf(q) ** power + (-mirrored.ppf(q)) ** power), t))


@given(SHAPES)
@settings(max_examples=60, deadline=None)
def test_quantiles_invert_the_distribution_function(shape):
    quantiles = shape.ppf(P)
    assert (np.diff(quantiles) > 0.0).all()
    np.testing.assert_allclose(shape.cdf(quantiles), P, rtol=1e-7)  # those of Student in SciPy 1.12 are right to 2e-8
    np.testing.assert_array_equal(shape.ppf(np.array([0.0, 1.0])), [-np.inf, np.inf])


@given(SHAPES)
@settings(max_examples=60, deadline=None)
def test_the_density_is_the_slope_of_the_distribution_function(shape):
    ends = shape.ppf(np.linspace(0.001, 0.999, 1500))
    middle = 0.5 * (ends[1:] + ends[:-1])
    slope = np.diff(shape.cdf(ends)) / np.diff(ends)
    ratio = np.exp(shape.logpdf(middle)) / slope
    assert np.median(np.abs(ratio - 1.0)) < 1e-4  # steps of a histogram are between two points here and there
    mass = float(np.exp(shape.logpdf(middle)) @ np.diff(ends))
    assert mass == pytest.approx(0.998, abs=1e-2)  # at a step a whole interval counts with one of two heights


@given(DEGREES.filter(lambda degrees: degrees > 3.0), SCALES, SCALES, HEIGHTS, TWO_SIDES)
@settings(max_examples=60, deadline=None)
def test_the_mean_is_zero_and_the_standard_deviation_is_a_closed_form(degrees, lower, upper, heights, sides):
    for shape in (
        Student(9, degrees, lower, heights),
        SkewedStudent(9, degrees, lower, upper),
        refined_skewed(degrees, lower, upper, sides),
        ScaledNormal(9, lower),
    ):
        assert moment(shape, 1) == pytest.approx(0.0, abs=1e-4)
        assert np.sqrt(moment(shape, 2)) == pytest.approx(shape.std, rel=1e-3)


@given(STUDENTS)
@settings(max_examples=40, deadline=None)
def test_a_student_is_symmetric(shape):
    z = np.linspace(0.1, 9.0, 50)
    np.testing.assert_allclose(shape.cdf(-z), 1.0 - shape.cdf(z), atol=1e-12)
    np.testing.assert_array_equal(shape.logpdf(-z), shape.logpdf(z))
    assert shape.ppf(np.array(0.5)) == 0.0


@given(DEGREES, SCALES)
@settings(max_examples=40, deadline=None)
def test_equal_sides_and_a_flat_histogram_are_the_student_distribution_of_scipy(degrees, scale):
    z = np.linspace(-8.0, 8.0, 81)
    reference = stats.t(degrees, scale=scale * np.sqrt((degrees - 2.0) / degrees))
    for shape in (
        Student(9, degrees, scale),
        Student(9, degrees, scale, np.ones(10)),
        SkewedStudent(9, degrees, scale, scale),
    ):
        np.testing.assert_allclose(shape.logpdf(z), reference.logpdf(z), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(shape.cdf(z), reference.cdf(z), rtol=1e-9)
        assert shape.std == pytest.approx(scale, rel=1e-9)


@given(DEGREES, SCALES, SCALES)
@settings(max_examples=40, deadline=None)
def test_a_mirrored_skewed_distribution_has_its_sides_exchanged(degrees, lower, upper):
    one, other = SkewedStudent(9, degrees, lower, upper), SkewedStudent(9, degrees, upper, lower)
    z = np.linspace(-8.0, 8.0, 81)
    np.testing.assert_allclose(one.logpdf(z), other.logpdf(-z), rtol=1e-9, atol=1e-12)
    assert one.std == pytest.approx(other.std)


def test_the_ranked_probability_score_is_the_integral_that_it_should_be():
    z = np.array([-3.0, -0.2, 0.0, 1.5, 12.0])
    normal = ScaledNormal(9, 1.3)
    np.testing.assert_allclose(crps_by_quantiles(normal, z), normal.crps(z), atol=1e-5)
    for shape in (Student(9, 3.0, 1.1, np.linspace(0.5, 1.5, 10)), SkewedStudent(9, 4.0, 0.7, 1.4)):
        x = np.linspace(-400.0, 400.0, 800_001)
        cdf = shape.cdf(x)
        for value, score in zip(z, shape.crps(z), strict=True):
            integral = integrate.trapezoid((cdf - (x >= value)) ** 2, x)
            assert score == pytest.approx(integral, rel=2e-3)


def test_a_histogram_takes_evidence(rng):
    student = Student(1000, 8.0, 1.0)
    own, evidence = student.refined(student.ppf(rng.uniform(size=1000)), np.ones(1000))
    assert own is student
    assert evidence == 0.0
    bimodal = rng.choice([-1.0, 1.0], size=1000) + 0.2 * rng.standard_normal(1000)
    refined, evidence = student.refined(bimodal, np.ones(1000))
    assert evidence > 100.0
    assert refined.total == pytest.approx(1.0)
    for level in (0.5, 0.8, 0.95):
        assert np.mean(np.abs(bimodal) < refined.ppf(np.array(0.5 + 0.5 * level))) == pytest.approx(level, abs=0.06)


def test_a_skewed_histogram_takes_evidence(rng):
    plain = SkewedStudent(2000, 8.0, 0.7, 1.3)
    own, evidence = plain.refined(plain.ppf(rng.uniform(size=2000)), np.ones(2000))
    assert own is plain
    assert evidence == 0.0
    zeros = np.where(
        rng.uniform(size=2000) < 0.9, -0.3 + 0.05 * rng.normal(size=2000), 3.0 * rng.exponential(size=2000)
    )
    zeros = (zeros - zeros.mean()) / zeros.std()
    shape = fit_shape(zeros[:, None], np.ones(2000), "auto").scores[0]
    assert shape.kind == "skewed"
    assert shape.total == pytest.approx(1.0)
    low, high = shape.ppf(np.array([0.025, 0.975]))
    assert np.mean((zeros > low) & (zeros < high)) == pytest.approx(0.95, abs=0.015)


def test_bins_are_as_fine_as_scores_are_far(rng):
    scores = np.where(np.arange(1000) < 200, 100.0, 1.0) * rng.standard_normal(1000)
    shape = fit_shape(scores[:, None], np.ones(1000), "auto").scores[0]
    new = np.where(np.arange(10_000) < 2000, 100.0, 1.0) * rng.standard_normal(10_000)
    for level in (0.5, 0.68, 0.95):
        assert np.mean(np.abs(new) < shape.ppf(np.array(0.5 + 0.5 * level))) == pytest.approx(level, abs=0.025)


@pytest.mark.parametrize("degrees", [1.0, 1.5, 2.0])
def test_tails_without_a_variance_are_those_of_scipy_as_far_as_the_scores_are(degrees):
    reference = stats.t(degrees, scale=0.5)
    scores = reference.ppf(np.linspace(0.0005, 0.9995, 1000))
    shape = Student.of(degrees, 0.5, scores)
    assert np.isfinite(shape.std)
    assert shape.total == pytest.approx(1.0)
    for probability in (0.75, 0.9, 0.99, 0.999):
        quantile = shape.ppf(np.array(probability))
        assert 1.0 - reference.cdf(quantile) == pytest.approx(1.0 - probability, rel=0.15)
    assert Student.fit(scores, np.ones(1000)).ppf(np.array(0.99)) == pytest.approx(reference.ppf(0.99), rel=0.1)


def test_parameters_are_found_again_and_weights_count_as_copies(rng):
    scores = stats.t(4.0, scale=np.sqrt(0.5)).rvs(4000, random_state=0)
    fit = Student.fit(scores, np.ones(4000))
    assert fit.degrees == pytest.approx(4.0, rel=0.15)
    assert fit.scale == pytest.approx(1.0, rel=0.05)
    truth = SkewedStudent(9, 6.0, 0.6, 1.3)
    skewed = SkewedStudent.fit(truth.ppf(rng.uniform(size=4000)), np.ones(4000))
    assert skewed.upper / skewed.lower == pytest.approx(1.3 / 0.6, rel=0.1)
    twice = Student.fit(np.repeat(scores[:300], 2), np.ones(600))
    weighed = Student.fit(scores[:300], np.full(300, 2.0))
    assert weighed.degrees == pytest.approx(twice.degrees, rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "draws"),
    [
        ("normal", lambda rng, n: rng.standard_normal(n)),
        ("student", lambda rng, n: rng.standard_t(3.0, n) / np.sqrt(3.0)),
        ("skewed", lambda rng, n: rng.exponential(size=n) - 1.0),
    ],
)
def test_auto_finds_the_kind_of_distribution_of_many_rows(kind, draws, monkeypatch):
    monkeypatch.setattr(shape_module, "FEW_ROWS", 400)
    kinds = [
        fit_shape(draws(np.random.default_rng(seed), 500)[:, None], np.ones(500), "auto").scores[0].kind
        for seed in range(10)
    ]
    assert kinds.count(kind) >= 9


def test_each_output_has_its_own_shape_and_a_choice_is_obeyed(rng, monkeypatch):
    monkeypatch.setattr(shape_module, "FEW_ROWS", 400)
    scores = np.column_stack([rng.standard_normal(800), rng.standard_t(3.0, 800) / np.sqrt(3.0)])
    weight = np.ones(800)
    shape = fit_shape(scores, weight, "auto")
    assert [score.kind for score in shape.scores] == ["normal", "student"]
    assert not shape.is_normal
    assert shape.gains[1] > 10.0 > shape.gains[0]
    assert [score.kind for score in fit_shape(scores, weight, "student").scores] == ["student", "student"]
    assert fit_shape(scores, weight, "normal") is None


def test_rows_of_no_weight_and_rows_without_a_score_do_not_count(rng):
    scores = rng.standard_normal((200, 1))
    odd = np.concatenate([scores, np.full((50, 1), 40.0), [[np.inf]], [[np.nan]]])
    weight = np.concatenate([np.ones(200), np.zeros(50), np.ones(2)])
    assert (
        fit_shape(odd, weight, "student").scores[0].degrees
        == fit_shape(scores, np.ones(200), "student").scores[0].degrees
    )


def test_scores_that_are_all_too_small_are_no_evidence_of_heavy_tails(rng):
    shape = fit_shape(0.05 * rng.standard_normal((300, 1)), np.ones(300), "auto")
    assert shape.scores[0].std == pytest.approx(1.0, abs=0.1)
    assert "nearly normal" in shape.in_words(0)


def test_few_rows_cannot_exclude_heavy_tails(rng):
    few, many = (fit_shape(rng.standard_normal((n, 1)), np.ones(n), "auto").scores[0] for n in (100, 3000))
    assert many.is_normal
    assert few.logpdf(10.0) > stats.norm.logpdf(10.0) + 20.0
    assert few.ppf(np.array(0.95)) == pytest.approx(stats.norm.ppf(0.95), abs=0.2)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("kind", ["auto", "student"])
def test_no_scores_and_zeros_and_a_few_are_no_error(n, kind, rng):
    assert fit_shape(np.zeros((n, 1)), np.ones(n), kind).is_normal
    shape = fit_shape(rng.standard_normal((n, 1)), np.ones(n), kind).scores[0]
    assert 0.7 < shape.std < 1.8


@pytest.mark.parametrize("n", [10, 30, 100])
def test_the_variance_of_few_normal_scores_is_uncertain(n, rng):
    """Intervals of n rows from a normal distribution, scaled by their own spread, hold as often as they should."""
    levels, n_worlds = np.array([0.5, 0.9, 0.95, 0.99]), 40
    held = np.zeros(4)
    for _ in range(n_worlds):
        scores = rng.standard_normal(n)
        spread = np.sqrt(np.mean(scores**2))
        (shape,) = fit_shape(scores[:, None] / spread, np.ones(n), "auto").scores
        held += 2.0 * stats.norm.cdf(spread * shape.ppf(0.5 + 0.5 * levels)) - 1.0
    np.testing.assert_allclose(held / n_worlds, levels, atol=0.06)
    np.testing.assert_allclose((held / n_worlds)[1:], levels[1:], atol=0.025)


def test_few_heavy_tailed_scores_leave_the_tails_uncertain(rng, monkeypatch):
    scores = rng.standard_t(3.0, size=(40, 1))
    averaged = Student.fit(scores[:, 0], np.ones(40))
    monkeypatch.setattr(student, "FEW_ROWS", 0)
    likeliest = Student.fit(scores[:, 0], np.ones(40))
    assert averaged.total == pytest.approx(1.0)
    assert averaged.ppf(np.array(0.995)) > likeliest.ppf(np.array(0.995))
    assert averaged.ppf(np.array(0.75)) == pytest.approx(likeliest.ppf(np.array(0.75)), rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_scores_of_two_populations_are_held(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=300) + 6.0 * (rng.uniform(size=300) < 0.12)
    scores = (scores - scores.mean()) / scores.std()
    shape = fit_shape(scores[:, None], np.ones(300), "auto").scores[0]
    for level in (0.8, 0.9, 0.95):
        low, high = shape.ppf(np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level]))
        inside = np.mean((low <= scores) & (scores <= high))
        assert inside > level - 0.04
    assert abs(shape.mean) < 1e-9
