"""fit, predict, evaluate, info, export and demo do what they say, and refuse in sentences."""

import json

import numpy as np
import pandas as pd
import pytest

import rio_uq

FIT = ("--target", "price", "--pred-column", "yhat", "--drop", "id")


def read(path):
    return {".csv": pd.read_csv, ".parquet": pd.read_parquet, ".feather": pd.read_feather}[path.suffix](path)


def write(table, path):
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        getattr(table, f"to_{path.suffix[1:]}")(path)


@pytest.mark.parametrize("given", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("wanted", ["csv", "parquet", "feather"])
def test_predict_is_the_table_with_the_library_s_answers(given, wanted, run, rio_file, fresh, tmp_path):
    new, out = tmp_path / f"new.{given}", tmp_path / f"out.{wanted}"
    write(fresh, new)
    said = run("predict", new, "--rio", rio_file, "-o", out, "--level", 0.9, "--level", 0.5)
    assert "80 rows" in said.stdout
    found = read(out)
    pd.testing.assert_frame_equal(found[fresh.columns], fresh, check_dtype=False)
    rio = rio_uq.load(rio_file)
    X = fresh[["size", "age", "city"]]
    mean, std = rio.predict(X, y_pred=fresh["yhat"], return_std=True)
    band = rio.predict_interval(X, y_pred=fresh["yhat"], confidence_level=[0.9, 0.5])
    assert list(found)[-6:] == ["mean", "std", "lower_0.9", "upper_0.9", "lower_0.5", "upper_0.5"]
    rtol = 5e-7 if wanted == "csv" else 1e-12
    np.testing.assert_allclose(found[list(found)[-6:-4]], np.column_stack([mean, std]), rtol=rtol)
    np.testing.assert_allclose(found[list(found)[-4:]], band.transpose(0, 2, 1).reshape(80, 4), rtol=rtol)


def test_csv_has_the_digits_that_mean_something(run, rio_file, fresh):
    fresh.assign(serial=2**53 + 1 - np.arange(80), exact=np.pi).to_parquet("new.parquet")
    run("predict", "new.parquet", "--rio", rio_file, "-o", "out.csv")
    found = pd.read_csv("out.csv", dtype=str)
    assert found["serial"].tolist() == [str(2**53 + 1 - i) for i in range(80)]
    assert set(found["exact"]) == {"3.141592653589793"}
    assert (
        found[["mean", "std", "lower_0.95"]]
        .map(lambda text: len(text.lstrip("-0.").replace(".", "")) <= 7)
        .all(axis=None)
    )


@pytest.mark.parametrize(
    ("value", "std", "shown"),
    [
        (np.pi, 1.0, 3.141593),
        (1.7e9 + np.pi, 1.0, 1700000003.1416),
        (-1e-9 / 3, 1.0, -3.333333e-10),
        (0.0, 1.0, 0.0),
        (123456789.0, 0.0, 123456800.0),
        (np.nan, 1.0, np.nan),
        (np.inf, 1.0, np.inf),
        (2.0 / 3.0, np.inf, 0.6666667),
    ],
)
def test_digits_are_counted_from_the_number_and_from_its_standard_deviation(value, std, shown):
    from rio_uq.cli.output import meaningful

    np.testing.assert_array_equal(meaningful(np.array([value]), np.array([std])), [shown])


def test_blocks_give_what_one_piece_gives(run, rio_file, fresh, tmp_path, monkeypatch):
    fresh.to_csv("new.csv", index=False)
    run("predict", "new.csv", "--rio", rio_file, "-o", "whole.csv")
    monkeypatch.setattr("rio_uq.rows.blocks.BLOCK_ROWS", 7)
    monkeypatch.setattr("rio_uq.rows.csv.BLOCK_BYTES", 1000)
    run("predict", "new.csv", "--rio", rio_file, "-o", "parts.csv")
    pd.testing.assert_frame_equal(pd.read_csv("parts.csv"), pd.read_csv("whole.csv"), rtol=1e-9)


def test_cells_of_csv_stay_as_they_are(run, rio_file, tmp_path):
    text = (
        'zip,size,age,city,yhat,remark\n007,0.50,0.1,Oslo,1.0,"a ""quoted"", word"\n08,.5,NA,Rome,+1.0,"two\nlines"\n'
    )
    (tmp_path / "new.csv").write_text(text)
    run("predict", "new.csv", "--rio", rio_file, "-o", "out.csv")
    found = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert found["zip"].tolist() == ["007", "08"]
    assert found["size"].tolist() == ["0.50", ".5"]
    assert found["age"].tolist() == ["0.1", "NA"]
    assert found["remark"].tolist() == ['a "quoted", word', "two\nlines"]
    run("predict", "new.csv", "--rio", rio_file, "-o", "out.parquet")
    typed = pd.read_parquet("out.parquet")
    assert typed["zip"].tolist() == ["007", "08"]
    assert typed["age"].tolist() == [0.1, pytest.approx(np.nan, nan_ok=True)]


def test_evaluate_measures_before_and_after(run, rio_file, fresh):
    fresh.loc[3, "price"] = np.nan
    fresh.to_csv("test.csv", index=False)
    said = run("evaluate", "test.csv", "--rio", rio_file, "--json", "--level", "0.8")
    found = json.loads(said.stdout)
    assert "1 of 80 rows have no number in 'price'" in said.stderr
    known = fresh.dropna(subset="price")
    rio = rio_uq.load(rio_file)
    given = {"X": known[["size", "age", "city"]], "y_pred": known["yhat"]}
    mean = rio.predict(**given)
    low, high = rio.predict_interval(**given, confidence_level=0.8).T
    assert found["rows"] == 79
    assert found["before"]["rmse"] == pytest.approx(rio_uq.metrics.rmse(known["price"], known["yhat"]))
    assert found["after"]["rmse"] == pytest.approx(rio_uq.metrics.rmse(known["price"], mean))
    distribution = rio.predict_dist(**given)
    assert found["after"]["nlpd"] == pytest.approx(rio_uq.metrics.nlpd(known["price"], distribution))
    assert found["after"]["crps"] == pytest.approx(rio_uq.metrics.crps(known["price"], distribution))
    assert found["after"]["coverage"]["0.8"] == pytest.approx(
        np.mean((low <= known["price"]) & (known["price"] <= high))
    )
    assert found["after"]["width"]["0.8"] == pytest.approx(np.mean(high - low))
    assert found["after"]["rmse"] < 0.5 * found["before"]["rmse"]
    table = run("evaluate", "test.csv", "--rio", rio_file).stdout
    assert "90 % intervals hold" in table
    assert f"{found['after']['rmse']:.4g}" in table


def test_info_in_words_and_as_json(run, rio_file):
    words = run("info", rio_file).stdout
    assert "column 'yhat'" in words
    assert "Trust in the model's output" in words
    found = json.loads(run("info", rio_file, "--json").stdout)
    assert found["rows"] == 120
    assert found["features"] == ["size", "age", "age is missing", "city=Kyiv", "city=Oslo", "city=Rome"]
    assert found["table"]["target"] == "price"
    assert found["residuals"]["kind"] == "given"
    assert f"rows {found['residuals']['rows']}: {found['residuals']['reason']}" in " ".join(words.split())
    assert f"Outcomes follow {found['distribution'][0]}." in " ".join(words.split())


def test_a_seed_gives_the_same_bytes_and_options_reach_the_regressor(run, train, tmp_path):
    train.to_csv("train.csv", index=False)
    options = ("--no-ard", "--kernel", "input", "--inducing", 10, "--seed", 3, "--features", "city,size")
    for name in ("a.rio", "b.rio"):
        run("fit", "train.csv", "--target", "price", "--pred-column", "yhat", *options, "-o", name)
    assert (tmp_path / "a.rio").read_bytes() == (tmp_path / "b.rio").read_bytes()
    rio = rio_uq.load("a.rio")
    assert (rio.ard, rio.kernel, rio.n_inducing, rio.random_state) == (False, "input", 10, 3)
    assert rio.n_inducing_ == 10
    assert rio.features_.feature_names_out_ == ["city=Kyiv", "city=Oslo", "city=Rome", "size"]


def test_calibrate_with(run, train, fresh):
    train.to_csv("train.csv", index=False)
    fresh.to_csv("calib.csv", index=False)
    said = run("fit", "train.csv", *FIT, "--calibrate-with", "calib.csv", "--inducing", 10, "-o", "price.rio")
    assert "calibrated on 80 rows (conformal)" in said.stdout
    expected = rio_uq.load("price.rio").predict_interval(
        fresh[["size", "age", "city"]], y_pred=fresh["yhat"], confidence_level=0.9
    )
    run("predict", "calib.csv", "--rio", "price.rio", "-o", "out.csv", "--level", "0.9")
    np.testing.assert_allclose(pd.read_csv("out.csv")[["lower_0.9", "upper_0.9"]], expected, rtol=1e-6)
    refused = run("predict", "calib.csv", "--rio", "price.rio", "-o", "out2.csv", "--level", "0.999", code=1)
    assert "needs at least 999 calibration rows" in refused.stderr


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("seen", "the model has seen all of these rows, and cannot be fitted to parts of them"),
        ("new", "said to be new to the model, but 100% of its residuals are zero"),
    ],
)
def test_residuals_that_make_no_error_bars_are_named(run, train, rows, message):
    train.assign(yhat=train["price"]).to_csv("train.csv", index=False)
    said = run("fit", "train.csv", *FIT, "--inducing", 5, "--rows", rows, "-o", "price.rio")
    assert message in " ".join(said.stderr.split())
    assert "say --rows" not in said.stderr


def test_cross_conformal_needs_no_further_rows(run, train, fresh):
    train.to_csv("train.csv", index=False)
    fresh.to_csv("calib.csv", index=False)
    fit = ("fit", "train.csv", *FIT, "--inducing", 5, "--calibration-method", "cross-conformal", "-o", "price.rio")
    said = run(*fit, "--rows", "new")
    assert "rows new: --rows new says so" in said.stdout
    assert f"calibrated on {len(train)} rows (cross-conformal)" in said.stdout
    assert rio_uq.load("price.rio").calibration_.method == "cross-conformal"
    refused = run(*fit, "--force", code=1)
    assert "residuals of rows that the model has not seen" in refused.stderr
    refused = run(*fit, "--force", "--calibrate-with", "calib.csv", code=2)
    assert "leave --calibrate-with out" in refused.stderr


def test_export_is_a_graph_with_the_same_answers(run, rio_file, fresh):
    import onnxruntime

    said = run("export", rio_file, "-o", "price.onnx", "--level", "0.9")
    assert "age is missing, city=Kyiv" in said.stdout
    rio = rio_uq.load(rio_file)
    session = onnxruntime.InferenceSession("price.onnx")
    encoded = rio.features_.transform(fresh)
    mean, std, _, _ = session.run(None, {"features": encoded, "y_pred": fresh[["yhat"]].to_numpy()})
    expected = rio.predict(fresh[["size", "age", "city"]], y_pred=fresh["yhat"], return_std=True)
    np.testing.assert_allclose(np.hstack([mean, std]), np.column_stack(expected), rtol=1e-8)


def test_demo_keeps_what_is_there(run, tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "test.csv").write_text("precious")
    assert "here/test.csv exist already" in run("demo", "-o", "here", code=1).stderr
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["test.csv"]
    assert "is no folder" in run("demo", "-o", "here/test.csv", code=1).stderr


def test_nothing_is_overwritten_without_force(run, rio_file, train, fresh, tmp_path):
    train.to_csv("train.csv", index=False)
    fresh.to_csv("new.csv", index=False)
    commands = [
        ("fit", "train.csv", *FIT, "--inducing", 5, "-o", "kept.rio"),
        ("predict", "new.csv", "--rio", rio_file, "-o", "kept.csv"),
        ("export", rio_file, "-o", "kept.onnx"),
    ]
    for command in commands:
        kept = tmp_path / command[-1]
        kept.write_text("precious")
        assert "exists already" in run(*command, code=1).stderr
        assert kept.read_text() == "precious"
        run(*command, "--force")
        assert kept.read_bytes() != b"precious"
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"train.csv", "new.csv", "kept.rio", "kept.csv", "kept.onnx"}


def test_an_output_that_appears_meanwhile_is_kept(run, rio_file, fresh, tmp_path, monkeypatch):
    import rio_uq.cli.output as output

    fresh.to_csv("new.csv", index=False)
    real = output._csv_block

    def slow(*arguments):
        (tmp_path / "out.csv").write_text("precious")
        return real(*arguments)

    monkeypatch.setattr(output, "_csv_block", slow)
    assert "exists already" in run("predict", "new.csv", "--rio", rio_file, "-o", "out.csv", code=1).stderr
    assert (tmp_path / "out.csv").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("fit", "train.csv", "--target", "prize", "--pred-column", "yhat", "-o", "a.rio"), 1, "did you mean 'price'"),
        (("fit", "train.csv", "--target", "price", "--pred-column", "yhat", "-o", "a.rio"), 1, "'id'.*--drop"),
        (("fit", "train.csv", "--target", "price", "-o", "a.rio"), 2, "the column of the model's predictions"),
        (
            ("fit", "train.csv", "--target", "price", "--pred-column", "yhat", "--cross-fit", "-o", "a.rio"),
            2,
            "--model",
        ),
        (("fit", "train.csv", "--target", "id", "--pred-column", "yhat", "-o", "a.rio"), 1, "no row has a number"),
        (("fit", "train.csv", "--target", "price", "--pred-column", "price", "-o", "a.rio"), 1, "two columns"),
        (("fit", "train.csv", *FIT, "-o", "nowhere/a.rio"), 1, "no folder"),
        (("fit", "train.csv", *FIT, "-o", "."), 1, "is a folder"),
        (("fit", "train.csv", *FIT, "--kernel", "cubic", "-o", "a.rio"), 2, "cubic"),
        (("fit", "train.csv", *FIT, "--features", "price", "-o", "a.rio"), 1, "cannot be a feature"),
        (("fit", "train.csv", *FIT, "--features", "id", "-o", "a.rio"), 1, "no columns left"),
        (("fit", "absent.csv", *FIT, "-o", "a.rio"), 2, "does not exist"),
        (("predict", "train.csv", "--rio", "{rio}", "-o", "out.xlsx"), 1, "Excel files are read, and not written"),
        (("predict", "train.csv", "--rio", "{rio}", "-o", "out.txt"), 1, "has to end in one of .csv"),
        (("calibrate", "train.csv", "--rio", "{rio}", "-o", "a.csv"), 1, "has to end in .rio"),
        (("calibrate", "train.csv", "--rio", "{rio}", "-o", "a.rio", "--groups", "town"), 1, "no column 'town' of the"),
        (
            ("calibrate", "train.csv", "--rio", "{rio}", "-o", "a.rio", "--calibration-method", "cross-conformal"),
            2,
            "does not hold",
        ),
        (("fit", "train.csv", *FIT, "--groups", "town", "-o", "a.rio"), 1, "no column 'town' that --groups names"),
        (("predict", "train.csv", "--rio", "{rio}", "-o", "out.csv", "--level", "95"), 2, "did you mean 0.95"),
        (("predict", "train.csv", "--rio", "train.csv", "-o", "out.csv"), 1, "not a saved regressor"),
        (("predict", "train.csv", "--rio", "{rio}", "--pred-column", "y", "-o", "out.csv"), 1, "no column 'y'"),
        (("evaluate", "train.csv", "--rio", "{rio}", "--target", "cost"), 1, "no column 'cost'"),
        (("export", "{rio}", "-o", "price.bin"), 1, "end in .onnx"),
        (("fit", "train.csv", *FIT, "-o", "price.csv"), 1, "has to end in .rio"),
        (("fit", "train.csv", *FIT, "-o", "train.csv", "--force"), 1, "has to end in .rio"),
        (("report", "train.csv", "--rio", "{rio}", "-o", "report.csv"), 1, "has to end in .html"),
        (("predict", "train.csv", "--rio", "{rio}", "-o", "./train.csv", "--force"), 1, "is an input of this command"),
        (
            ("predict", "train.csv", "--rio", "{rio}", "-o", "o.csv", "--model", "m:m", "--pred-column", "y"),
            2,
            "one of",
        ),
        (("evaluate", "train.csv", "--rio", "{rio}", "--target", "yhat"), 1, "two columns"),
        (("evaluate", "train.csv", "--rio", "{rio}", "--decimal", ",,"), 2, "is not one character"),
        (("evaluate", "train.csv", "--rio", "{rio}", "--separator", "||"), 2, "is not one character"),
        (("fit", "train.csv", "--target", "city", "--pred-column", "yhat", "-o", "a.rio"), 1, "'(Oslo|Rome|Kyiv)'"),
        (("info",), 2, "Missing argument"),
        (("wish",), 2, "No such command"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(arguments, code, message, run, rio_file, train, tmp_path):
    import re

    train.to_csv("train.csv", index=False)
    said = run(*[str(argument).format(rio=rio_file) for argument in arguments], code=code)
    assert re.search(message, " ".join(said.stderr.replace("│", " ").split()))
    assert said.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["train.csv"]


def test_rows_that_cannot_be_used(run, rio_file, fresh):
    fresh = fresh.astype({"size": object})
    fresh.loc[5, "size"] = "?"
    fresh.loc[70, "size"] = None
    fresh.loc[71, "city"] = "Lima"
    fresh.to_csv("new.csv", index=False)
    refused = run("predict", "new.csv", "--rio", rio_file, "-o", "out.csv", code=1)
    assert "column 'size', row 6: '?' where a number is needed" in refused.stderr
    said = run("predict", "new.csv", "--rio", rio_file, "-o", "out.csv", "--skip-bad-rows")
    assert "2 of 80 rows could not be used" in said.stderr
    assert "column 'city' has a category in 1 rows that was not in the table" in said.stderr
    found = pd.read_csv("out.csv")
    assert np.flatnonzero(found["mean"].isna()).tolist() == [5, 70]
    assert found["std"].drop([5, 70]).gt(0).all()


def test_columns_that_are_taken_get_a_prefix(run, rio_file, fresh):
    fresh.rename(columns={"id": "mean"}).to_csv("new.csv", index=False)
    assert "--prefix" in run("predict", "new.csv", "--rio", rio_file, "-o", "out.csv", code=1).stderr
    run("predict", "new.csv", "--rio", rio_file, "-o", "out.csv", "--prefix", "rio_")
    assert list(pd.read_csv("out.csv"))[-4:] == ["rio_mean", "rio_std", "rio_lower_0.95", "rio_upper_0.95"]


def test_a_file_that_python_made(run, fresh, tmp_path):
    known = fresh.dropna()
    X = known[["size", "age"]]

    def model(X):
        return 2.0 * np.asarray(X)[:, 0]

    rio = rio_uq.RIORegressor(model, random_state=0, max_iter=20, tol=1e-3, noise="constant").fit(
        X, known["price"], y_pred=known["yhat"]
    )
    rio.save("python.rio")
    known.to_csv("new.csv", index=False)
    run("predict", "new.csv", "--rio", "python.rio", "--pred-column", "yhat", "-o", "out.csv")
    np.testing.assert_allclose(pd.read_csv("out.csv")["mean"], rio.predict(X, y_pred=known["yhat"]), rtol=1e-6)
    assert "--target" in run("evaluate", "new.csv", "--rio", "python.rio", "--pred-column", "yhat", code=1).stderr
    assert "no model inside" in run("predict", "new.csv", "--rio", "python.rio", "-o", "b.csv", code=1).stderr
    rio = rio_uq.RIORegressor(model, random_state=0, max_iter=20, tol=1e-3, noise="constant")
    rio.fit(X.to_numpy(), known["price"]).save("array.rio")
    refused = run("predict", "new.csv", "--rio", "array.rio", "--pred-column", "yhat", "-o", "c.csv", code=1)
    assert "does not say which columns" in refused.stderr


def test_empty_columns_and_unnamed_columns(run, train, tmp_path):
    table = train.assign(nothing=np.nan).drop(columns=["id", "city"])
    options = ("--target", "price", "--pred-column", "yhat", "--inducing", 5)
    table.to_csv("indexed.csv")
    said = run("fit", "indexed.csv", *options, "-o", "a.rio").stderr
    assert "'nothing': empty in every row" in said
    assert "a column without a name" in said
    assert rio_uq.load("a.rio").feature_names_in_.tolist() == ["size", "age"]


def test_numbers_and_text_in_one_column(run, train):
    train.astype({"size": object}).assign(size=lambda t: t["size"].where(t.index != 3, "?")).to_csv(
        "t.csv", index=False
    )
    refused = run("fit", "t.csv", *FIT, "-o", "a.rio", code=1).stderr
    assert "column 'size' holds numbers, and in 1 rows text ('?')" in refused


def test_a_kernel_that_does_not_look_at_features(run, train, fresh):
    train.to_csv("train.csv", index=False)
    fresh.to_csv("new.csv", index=False)
    run("fit", "train.csv", *FIT, "--kernel", "output", "-o", "price.rio")
    run("predict", "new.csv", "--rio", "price.rio", "-o", "out.csv")
    X = fresh[["size", "age", "city"]]
    expected = rio_uq.load("price.rio").predict(X, y_pred=fresh["yhat"])
    np.testing.assert_allclose(pd.read_csv("out.csv")["mean"], expected, rtol=1e-6)


def test_outcomes_and_predictions_are_all_that_the_output_kernel_needs(run, train, fresh):
    for name, table in (("train", train), ("new", fresh)):
        table[["yhat", "price"]].to_csv(f"{name}.csv", index=False)
    fit = ("fit", "train.csv", "--target", "price", "--pred-column", "yhat", "--rows", "new", "-o", "price.rio")
    assert "no columns left that could be features: add some, or --kernel output" in run(*fit, code=1).stderr
    said = run(*fit, "--kernel", "output", "--calibrate-with", "new.csv")
    assert "fitted to 120 rows of predictions" in said.stdout
    run("predict", "new.csv", "--rio", "price.rio", "-o", "out.csv")
    X = pd.DataFrame(index=range(len(fresh)))
    expected = rio_uq.load("price.rio").predict(X, y_pred=fresh["yhat"])
    np.testing.assert_allclose(pd.read_csv("out.csv")["mean"], expected, rtol=1e-6)
    said = run("evaluate", "new.csv", "--rio", "price.rio")
    assert "100% of the rows that RIO was calibrated with are rows here" in said.stderr
    run("report", "new.csv", "--rio", "price.rio", "-o", "report.html")
    run("info", "price.rio")


def test_calibration_rows_that_cannot_be_used(run, train, fresh):
    train.to_csv("train.csv", index=False)
    fresh.assign(size=np.nan).to_csv("calib.csv", index=False)
    refused = run("fit", "train.csv", *FIT, "--calibrate-with", "calib.csv", "--inducing", 5, "-o", "a.rio", code=1)
    assert "calib.csv, column 'size', row 1, 2, 3, 4, 5 …: '' where no value was missing" in refused.stderr
    assert "--skip-bad-rows" not in refused.stderr
    fresh[:0].to_csv("calib.csv", index=False)
    refused = run("fit", "train.csv", *FIT, "--calibrate-with", "calib.csv", "--inducing", 5, "-o", "a.rio", code=1)
    assert "nothing to calibrate with" in refused.stderr


def test_rows_without_outcome_or_prediction_are_left_out_of_fit(run, train):
    train = train.copy()
    train.loc[:9, "price"] = np.nan
    train.loc[5:14, "yhat"] = np.nan
    train.to_csv("train.csv", index=False)
    said = run("fit", "train.csv", *FIT, "--inducing", 5, "-o", "price.rio")
    assert "10 of 120 rows have no number in 'price'" in said.stderr
    assert "5 of 120 rows have no number in 'yhat'" in said.stderr
    assert "fitted to 105 rows" in said.stdout


def test_a_link_stays_a_link(run, rio_file, fresh, tmp_path):
    fresh.to_csv("new.csv", index=False)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out.csv").symlink_to(tmp_path / "elsewhere" / "real.csv")
    run("predict", "new.csv", "--rio", rio_file, "-o", "out.csv")
    assert (tmp_path / "out.csv").is_symlink()
    assert len(pd.read_csv(tmp_path / "elsewhere" / "real.csv")) == 80


def test_where_an_error_comes_from_is_shown_on_request(rio_file, tmp_path):
    from typer.testing import CliRunner

    from rio_uq.cli.app import app

    arguments = ["--debug", "export", str(rio_file), "-o", str(tmp_path / "price.bin")]
    said = CliRunner().invoke(app, arguments)
    assert said.exit_code == 1
    assert "Traceback" in said.stderr
    assert "end in .onnx" in said.stderr


@pytest.mark.parametrize(
    "stored",
    [
        [],
        {"columns": []},
        {"target": 1, "prediction": None, "model": None, "columns": [{"name": "a", "kind": "number"}]},
    ],
)
def test_a_damaged_description_of_the_table(stored, run, rio_file, fresh):
    fresh.to_csv("new.csv", index=False)
    rio_uq.load(rio_file).save("damaged.rio", metadata={"table": stored})
    assert "is damaged" in run("predict", "new.csv", "--rio", "damaged.rio", "-o", "out.csv", code=1).stderr


def test_version(run):
    assert run("--version").stdout == f"rio-uq {rio_uq.__version__}\n"
