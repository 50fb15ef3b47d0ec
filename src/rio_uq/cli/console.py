"""Output and exit codes of the command line: results on stdout, everything else on stderr, errors as sentences."""

from __future__ import annotations

import functools
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

DELAY = 1.0
"""Seconds before a progress bar shows."""


class UserError(Exception):
    """Something that the user can mend; its text says what and how."""


class Settings:
    """Set by the options that come before the command."""

    debug = False


def _console(*, stderr: bool = False) -> Console:
    """Made anew each time, for tests and pipes put others in the place of stdout and stderr."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def say(what: Any = "") -> None:
    """A result."""
    _console().print(what, markup=False)


def say_json(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def note(text: str, *, label: str = "note") -> None:
    """Something that the user should know, beside the result."""
    style = {"note": "cyan", "warning": "yellow", "error": "bold red"}[label]
    console = _console(stderr=True)
    console.print(f"{label}: ", style=style, end="")
    console.print(text, markup=False)


def is_terminal() -> bool:
    """Whether somebody sees stderr."""
    return sys.stderr.isatty()


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None]]:
    """A function that takes the share that is done; it shows a bar if the work takes longer than a moment."""
    if not is_terminal():
        yield lambda share: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=_console(stderr=True), transient=True)
    task = bar.add_task(label, total=1.0)
    began = time.monotonic()

    def update(share: float) -> None:
        bar.update(task, completed=share)
        if not bar.live.is_started and time.monotonic() - began > DELAY:
            bar.start()

    try:
        yield update
    finally:
        bar.stop()


@contextmanager
def busy(label: str) -> Iterator[None]:
    """A sign of life for work of unknown length."""
    if not is_terminal():
        yield
        return
    with _console(stderr=True).status(label):
        yield


def command(function: Callable[..., None]) -> Callable[..., None]:
    """The function as a command: warnings become notes, errors sentences with exit code 1, Ctrl-C exit code 130."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                # Models that were fitted to arrays work on the columns of a frame in their order.
                warnings.filterwarnings("ignore", message="X has feature names")
                warnings.showwarning = lambda message, *_args, **_kwargs: note(str(message), label="warning")
                function(*args, **kwargs)
        except (KeyboardInterrupt, Exception) as error:
            raise typer.Exit(_explain(error)) from None

    return run


def _explain(error: BaseException) -> int:
    """Say what went wrong; the exit code."""
    if isinstance(error, typer.Exit | typer.Abort | typer.BadParameter):
        raise error
    if isinstance(error, KeyboardInterrupt):
        note("stopped", label="error")
        return 130
    if isinstance(error, BrokenPipeError):  # the reader of stdout has gone, which is no fault
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    if Settings.debug:
        sys.stderr.write("".join(traceback.format_exception(error)))
    is_expected = isinstance(error, UserError | ValueError | TypeError | OSError | ImportError)
    text = str(error) if is_expected and str(error) else f"{type(error).__name__}: {error}"
    hint = "" if is_expected or Settings.debug else " (rio-uq --debug … shows where)"
    note(text + hint, label="error")
    return 1
