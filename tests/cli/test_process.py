"""The program as it is started from a shell: exit codes, signals, pipes, terminals, memory."""

import os
import pty
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.processes

PROGRAM = (sys.executable, "-m", "rio_uq")

SLOW_MODEL = """
import pathlib, time
def predict(X):
    pathlib.Path("begun").touch()
    time.sleep(60)
    return 2.0 * X["size"]
"""

STEADY_MODEL = """
import time
from rio_uq.cli.console import DELAY
def predict(X):
    time.sleep(1.5 * DELAY)
    return 2.0 * X["size"]
"""


def start(*arguments, cwd):
    text = [str(argument) for argument in arguments]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a program in the background would ignore it
    try:
        return subprocess.Popen([*PROGRAM, *text], cwd=cwd, text=True, stdout=-1, stderr=-1)
    finally:
        signal.signal(signal.SIGINT, before)


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_the_middle_leaves_nothing_half_written(sent, code, rio_file, fresh, tmp_path):
    fresh.to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "out.csv").write_text("precious")
    (tmp_path / "slow_model.py").write_text(SLOW_MODEL)
    given = ("--model", "slow_model:predict", "--force")
    process = start("predict", "new.csv", "--rio", rio_file, "-o", "out.csv", *given, cwd=tmp_path)
    wait_for(tmp_path / "begun", process)
    assert any(path.name.startswith(".rio-uq-") for path in tmp_path.iterdir())
    process.send_signal(sent)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == code
    assert stdout == ""
    assert "Traceback" not in stderr
    assert (tmp_path / "out.csv").read_text() == "precious"
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert left == {"new.csv", "out.csv", "slow_model.py", "begun"}


def test_quiet_where_no_terminal_is(run, train, tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    train.to_csv(tmp_path / "train.csv", index=False)
    given = ("--target", "price", "--pred-column", "yhat", "--drop", "id", "--inducing", 5, "--rows", "new")
    said = run("fit", "train.csv", *given, "-o", "price.rio")
    assert said.stderr == ""
    assert said.stdout
    assert "\x1b" not in said.stdout
    assert (tmp_path / "price.rio").exists()


def test_a_reader_that_goes_away(tmp_path):
    with start("--version", cwd=tmp_path) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_without_the_extra(tmp_path):
    code = "import sys; sys.modules['typer'] = None; from rio_uq.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 1
    assert done.stderr == "rio-uq: the command line needs typer: pip install 'rio-uq[cli]'\n"


def test_help_and_completion_do_not_wait_for_scikit_learn(tmp_path):
    code = (
        "import sys; from rio_uq.cli.app import app; app(['fit', '--help'], standalone_mode=False); "
        "sys.exit(any(name in sys.modules for name in ('sklearn', 'numpy', 'pandas')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "rio-uq fit train.csv --target price --pred-column yhat -o price.rio" in done.stdout
    environment = {**os.environ, "_RIO_UQ_COMPLETE": "complete_bash", "COMP_WORDS": "rio-uq ev", "COMP_CWORD": "1"}
    code = "from rio_uq.cli.app import app; app(prog_name='rio-uq')"
    done = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True)
    assert done.stdout.split() == ["evaluate"]


def test_a_progress_bar_on_a_terminal(rio_file, fresh, tmp_path):
    pd.concat([fresh] * 250).to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "steady_model.py").write_text(STEADY_MODEL)
    ours, theirs = pty.openpty()
    given = ["--model", "steady_model:predict", "-o", "out.csv"]
    arguments = [*PROGRAM, "predict", "new.csv", "--rio", str(rio_file), *given]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # how a terminal says that nobody writes to it any more
        pass
    stdout, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0
    assert b"20,000 rows" in stdout
    assert pd.read_csv(tmp_path / "out.csv")["upper_0.95"].notna().all()
    assert b"predicting" in shown
    assert b"%" in shown


MEASURED = """
import resource, sys
from rio_uq.cli.app import app
app(sys.argv[1:], standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
def test_a_million_rows_in_bounded_memory(rio_file, tmp_path):
    rng = np.random.default_rng(0)
    peaks = []
    for n_rows in (1_000, 1_000_000):
        table = pd.DataFrame(rng.uniform(size=(n_rows, 2)).round(4), columns=["size", "age"])
        table = table.assign(
            city=np.array(["Oslo", "Rome"])[rng.integers(0, 2, n_rows)], yhat=2.0, id=np.arange(n_rows)
        )
        table.to_csv(tmp_path / "new.csv", index=False)
        out = tmp_path / f"out{n_rows}.csv"
        arguments = ["predict", "new.csv", "--rio", str(rio_file), "-o", out.name, "--level", "0.9"]
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *arguments], cwd=tmp_path, text=True, capture_output=True, check=True
        )
        peaks.append(int(done.stdout.split()[-1]))
        found = pd.read_csv(out, usecols=["id", "mean", "upper_0.9"])
        assert (found["id"] == np.arange(n_rows)).all()
        assert (found["upper_0.9"] > found["mean"]).all()
    assert peaks[1] - peaks[0] < 150  # MiB; the table itself takes about 400 in pandas
