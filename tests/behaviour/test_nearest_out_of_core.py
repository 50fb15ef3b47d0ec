"""Rows that are not in memory, and a GP that predicts from the nearest of them: it is that of rows in memory."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from rio_uq import RIORegressor, fitting, load, row_parts
from rio_uq.gp import inference
from rio_uq.gp.denser_rows import with_noise_of_denser_rows
from rio_uq.gp.inference import nearest
from rio_uq.rows.parquet import ArrowRows

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")

pytestmark = pytest.mark.usefixtures("quick_fits")

N, N_SAMPLE = 900, 300
NAMES = ["a", "b"]
NEW = pd.DataFrame(np.random.default_rng(1).uniform(size=(40, 2)), columns=NAMES)


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch):
    monkeypatch.setattr(nearest, "SUBSET_ROWS", 100)
    monkeypatch.setattr(nearest, "SHARED_POINTS", 20)
    monkeypatch.setattr(inference, "EXACT_ROWS", 150)


def rows(frequency=8.0, n=N):
    """Something rough or smooth, a second outcome, and weights of which some are zero."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(size=(n, 2)), columns=NAMES)
    y = np.sin(frequency * frame["a"]) * np.cos(frequency * frame["b"]) + frame["a"]
    frame = frame.assign(y=y, z=frame["b"] - y) + 0.05 * rng.normal(size=(n, 4)) * [0, 0, 1, 1]
    weight = rng.integers(0, 3, size=n).astype(float)
    weight[300:450] = 0.0
    return frame.assign(weight=weight)


@pytest.fixture(scope="module")
def frame():
    return rows()


@pytest.fixture(scope="module")
def model():
    """Fitted to other rows."""
    other = rows(frequency=1.0, n=50)
    return LinearRegression().fit(other[NAMES], other["y"])


def regressor(estimator, **options):
    training = {"sample_rows": N_SAMPLE, "n_neighbors": 20}
    usual = {"inference": "nearest", "noise": "constant", "n_inducing": 20, "max_iter": 30, "random_state": 0}
    return RIORegressor(estimator, **{**usual, "training": training, **options})


def table(frame, block_rows=None):
    return ArrowRows(pa.Table.from_pandas(frame), columns=NAMES, block_rows=block_rows)


def answers(rio):
    return np.stack(rio.predict(NEW, return_std=True))


def of_all_rows(rio, frame, y="y", weight=None):
    """The same with the GP that all rows at once give, at its hyperparameters, scalings, noise and unit of weights."""
    gp, outcome = rio.fitted_.gp, frame[y].to_numpy().reshape(len(frame), -1)
    part = row_parts.Part("all rows", frame[NAMES], frame[y].to_numpy(), sample_weight=weight)
    problem = row_parts.on_scale(row_parts.new_rows(rio.fitted_, part), rio.fitted_.scales)
    whole = gp.posterior.of_rows(gp._data(problem, {}))
    whole = replace(whole, noise_variance=gp.posterior.noise_variance)
    assert len(whole.local.data) == (len(outcome) if weight is None else np.count_nonzero(weight))
    other = RIORegressor(rio.estimator)
    other.fitted_ = replace(rio.fitted_, gp=gp.with_posterior(whole))
    return other


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("block_rows", [77, None])
def test_a_file_in_blocks_is_all_rows_at_once(block_rows, is_weighted, frame, model, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet")
    given = {"sample_weight": "weight"} if is_weighted else {}
    rio = regressor(model, noise="io").fit(
        ArrowRows(tmp_path / "rows.parquet", columns=NAMES, block_rows=block_rows), "y", held_out=True, **given
    )
    assert rio.inference_ == "nearest"
    whole = of_all_rows(rio, frame, weight=frame["weight"].to_numpy() if is_weighted else None)
    np.testing.assert_allclose(answers(rio), answers(whole), rtol=1e-9)
    assert rio.bound_ == pytest.approx(whole.bound_, rel=1e-9)
    assert rio.summary().n_rows == (np.count_nonzero(frame["weight"]) if is_weighted else N)


def test_every_kind_of_rows_gives_the_same(frame, model, tmp_path):
    frame = frame[[*NAMES, "y"]]
    folder = tmp_path / "parts"
    folder.mkdir()
    for i, start in enumerate(range(0, N, 400)):
        frame[start : start + 400].to_parquet(folder / f"part-{i}.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    np.save(tmp_path / "X.npy", frame[NAMES].to_numpy())
    kinds = [pa.Table.from_pandas(frame), folder, ds.dataset(tmp_path / "rows.csv", format="csv")]
    fitted = [regressor(model).fit(kind, "y", held_out=True) for kind in kinds]
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    unnamed = LinearRegression().fit(np.eye(2), [0.0, 1.0])
    unnamed.coef_, unnamed.intercept_ = model.coef_, model.intercept_
    fitted.append(regressor(unnamed).fit(mapped, frame["y"].to_numpy(), held_out=True))
    for rio in fitted[1:3]:
        np.testing.assert_allclose(answers(rio), answers(fitted[0]), rtol=1e-9)
    found = np.stack(fitted[3].predict(NEW.to_numpy(), return_std=True))
    np.testing.assert_allclose(found, answers(fitted[0]), rtol=1e-6)


def test_up_to_the_size_of_the_sample_the_result_is_that_of_rows_in_memory(frame, model):
    rio = regressor(model, training={"sample_rows": N, "n_neighbors": 20})
    streamed = answers(rio.fit(table(frame, 100), "y", held_out=True))
    np.testing.assert_array_equal(streamed, answers(rio.fit(frame[NAMES], frame["y"], held_out=True)))


@pytest.mark.parametrize("y", ["y", ["y", "z"]])
def test_further_rows_of_a_file_and_of_a_stored_regressor(y, frame, tmp_path):
    first, rest = frame[:500], frame[500:]
    model = LinearRegression().fit(*(rows(1.0, 50)[names] for names in (NAMES, y)))
    rio = regressor(model).fit(table(first, 90), y, held_out=True)
    rio.save(tmp_path / "model.rio")
    loaded = load(tmp_path / "model.rio", estimator=model)
    np.testing.assert_array_equal(answers(loaded), answers(rio))
    sent = pickle.loads(pickle.dumps(rio))
    in_memory = pickle.loads(pickle.dumps(rio)).partial_fit(rest[NAMES], rest[y].to_numpy())
    for one in (rio, loaded, sent):
        one.partial_fit(table(rest, 70), y)
        np.testing.assert_allclose(answers(one), answers(in_memory), rtol=1e-9)
        assert one.summary().n_rows == N
    np.testing.assert_allclose(answers(rio), answers(of_all_rows(rio, frame, y)), rtol=1e-9)


def test_outliers_in_a_file_count_less_in_whatever_block_they_are(frame, model):
    spoilt = frame.assign(y=frame["y"] + np.where(np.arange(N) % 40 == 7, 50.0, 0.0))
    means = [
        regressor(model, noise="student").fit(table(spoilt, block_rows), "y", held_out=True).predict(NEW)
        for block_rows in (77, None)
    ]
    np.testing.assert_allclose(means[0], means[1], rtol=1e-6)
    clean = regressor(model, noise="student").fit(table(frame), "y", held_out=True).predict(NEW)
    error = means[0] - clean
    assert np.median(np.abs(error - np.median(error))) < 0.15  # predictions are means, outliers included


def test_copies_of_all_rows_do_not_matter(frame, model):
    std, mean = {}, {}
    for n_copies in (1, 8):
        rio = regressor(model).fit(table(pd.concat([frame] * n_copies), 1000), "y", held_out=True)
        assert len(rio.fitted_.gp.posterior.local.data) == N
        mean[n_copies], std[n_copies] = rio.predict(NEW, return_std=True, include_noise=False)
    np.testing.assert_allclose(std[8].mean(), std[1].mean(), rtol=0.35)
    np.testing.assert_allclose(mean[8], mean[1], atol=0.15)


def test_left_out_rows_of_the_sample_choose(model):
    """Nearest rows where residuals are rough, and inducing points where they are smooth; more rows help the former."""
    options = {"inference": "auto", "tol": 1e-4, "input_kernel": "matern52"}
    smooth = regressor(model, **options).fit(table(rows(frequency=1.0)), "y", held_out=True)
    assert smooth.inference_ == "sparse"
    frame = rows(frequency=14.0)
    rough = regressor(model, **options).fit(table(frame, 100), "y", held_out=True)
    assert rough.inference_ == "nearest"
    whole = of_all_rows(rough, frame)
    np.testing.assert_allclose(answers(rough), answers(whole), rtol=1e-9)


@pytest.mark.parametrize("wrong", [0.2, 5.0])
def test_noise_is_that_of_all_rows(wrong, frame, model):
    """Also where that of the sample, in which neighbours are far, is not: of the likelihood, and of new outcomes."""
    fitted = regressor(model).fit(frame[NAMES], frame["y"], held_out=True).fitted_
    spoilt = nearest.posterior_of(
        fitted.gp.posterior.kernel,
        fitted.gp.posterior.theta,
        wrong * fitted.gp.posterior.likelihood_noise,
        fitted.gp.posterior.local.data,
        20,
        0,
    )
    corrected = with_noise_of_denser_rows(replace(fitted.gp, posterior=spoilt), fitted.gp).posterior
    for noise in (corrected.likelihood_noise, corrected.noise_variance):
        assert abs(np.log(noise / fitted.gp.posterior.likelihood_noise)) < 0.4
    assert with_noise_of_denser_rows(fitted.gp, fitted.gp).noise_variance == pytest.approx(
        fitted.gp.noise_variance, rel=0.3
    )


def test_error_bars_of_few_rows_in_the_sample(model):
    """The sample sees little of what is rough, and so little of the noise that all rows have."""
    frame = rows(frequency=25.0, n=3000)
    training = {"sample_rows": N_SAMPLE, "n_neighbors": 20, "starts": "auto", "guard": True}
    rio = regressor(model, kernel="input", training=training, tol=1e-4).fit(table(frame), "y", held_out=True)
    new = rows(frequency=25.0, n=3500)[3000:]
    mean, std = rio.predict(new[NAMES], return_std=True)
    assert 0.6 < np.std((new["y"] - mean) / std) < 1.1


def test_noise_of_new_groups_is_not_that_of_left_out_rows(monkeypatch):
    """Single rows that are left out have the others of their group beside them."""
    rng = np.random.default_rng(0)
    number = np.repeat(np.arange(30), 30)
    centres, effect = rng.uniform(size=(30, 2)), rng.normal(size=30)
    X = centres[number] + 0.01 * rng.normal(size=(N, 2))
    frame = pd.DataFrame(X, columns=NAMES).assign(y=effect[number] + 0.05 * rng.normal(size=N), group=number)
    of_single_rows = []
    monkeypatch.setattr(fitting, "with_noise_of_denser_rows", lambda gp, _: of_single_rows.append(gp) or gp)
    rio = regressor(lambda X: np.zeros(len(X)))
    rio.fit(table(frame), y="y", groups="group", held_out=True)
    assert not of_single_rows
    rio.fit(table(frame.sample(frac=1.0, random_state=0)), y="y", held_out=True)
    assert len(of_single_rows) == 1


def test_too_few_rows_to_choose_by_are_sparse(frame, model, monkeypatch):
    monkeypatch.setattr(inference, "EXACT_ROWS", N_SAMPLE)
    assert regressor(model, inference="auto").fit(table(frame), "y", held_out=True).inference_ == "sparse"


def test_rows_that_do_not_fit_into_memory(frame, model, monkeypatch):
    """ "auto" takes inducing points then; asked for nearest rows, fit says so and leaves an earlier fit as it was."""
    rio = regressor(model).fit(table(frame[:400]), "y", held_out=True)
    before = pickle.dumps(rio)
    monkeypatch.setattr(row_parts, "memory_of_machine", lambda: 0.9 * nearest.memory_needed(N, 3, 1))
    assert regressor(model, inference="auto").fit(table(rows(14.0)), "y", held_out=True).inference_ == "sparse"
    message = r"keeps all 900 rows, for which it needs .* GiB: fit with inference='sparse'"
    with pytest.raises(ValueError, match=message):
        rio.fit(table(frame), "y", held_out=True)
    with pytest.raises(ValueError, match=message):
        rio.partial_fit(table(frame[400:]), "y")
    assert pickle.dumps(rio) == before


def test_an_error_on_the_way_changes_nothing(frame, model):
    rio = regressor(model, features=None).fit(table(frame[:400]), "y", held_out=True)
    before = pickle.dumps(rio)
    bad = frame.assign(b=frame["b"].where(frame.index != 530))
    message = r"in rows 500 to 599 of the Arrow table: .* contains NaN in 1 row \(530\)"
    with pytest.raises(ValueError, match=message):
        rio.partial_fit(table(bad, 100), "y")
    with pytest.raises(ValueError, match=message):
        rio.fit(table(bad, 100), "y", held_out=True)
    with pytest.raises(ValueError, match="sample_weight has to be more than zero in at least one row"):
        rio.partial_fit(table(frame.assign(weight=0.0)), "y", sample_weight="weight")
    assert pickle.dumps(rio) == before
