"""What the command says, where, and how it shows progress."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from plausible._visible import visible
from plausible.cli import signals
from plausible.cli.wording import worded

BAD_DATA, USAGE = 1, 2  # exit codes; that of a signal is in `plausible.cli.signals`
STDOUT = "standard output"
ECHO = 4  # columns that are left free for the ^C of a terminal, so that the bar can be wiped away
Step = Callable[[Any], None]


class UsageError(Exception):
    """Options that do not go together; exit code 2."""


def tell(line: str) -> None:
    """A line on standard error, if anybody listens there."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(visible(line, keep="\t"), file=sys.stderr, flush=True)


class Talk:
    """Messages to standard error, results to standard output.

    With `json` nothing but JSON goes to standard output, and with `to_stdout`, nothing but data.
    """

    def __init__(self, verb: str, *, quiet: bool, json: bool, to_stdout: bool) -> None:
        self.verb, self.quiet, self.json = verb, quiet, json
        self.is_mute = json or to_stdout
        self.has_bar = False

    def note(self, *lines: str) -> None:
        """Say what is being done, or was assumed."""
        if not self.quiet:
            for line in lines:
                tell(worded(line))

    def say(self, text: str) -> None:
        """Give a result to a person."""
        if self.is_mute:
            return
        try:
            print(visible(text, keep="\n\t"), flush=True)
        except OSError as error:
            raise OSError(error.errno, error.strerror, STDOUT) from error

    def fail(self, message: str) -> None:
        """Say what went wrong."""
        tell(f"plausible {self.verb}: {message}")

    def leave(self, message: str) -> None:
        """Say why the process ends at once, past all that may be under way."""
        shown = "\r\x1b[2K\x1b[?25h" if self.has_bar else ""  # no bar, and a cursor
        signals.write(2, f"{shown}plausible {self.verb}: {message}\n")
        if self.json:
            signals.write(1, f'{{\n "error": "{message}"\n}}\n')

    def show_warning(self, message: Warning | str, *where: Any) -> None:
        """A warning in one line, without the line of code."""
        self.note(f"Warning: {' '.join(str(message).split())}")

    @contextmanager
    def progress(self, what: str) -> Iterator[Step | None]:
        """A function of the engine's `Progress` that draws a bar, on a terminal; else None."""
        bar = None if self.quiet or not sys.stderr.isatty() else _make_bar()
        if bar is None:
            yield None
            return
        with bar:
            self.has_bar = True
            task = bar.add_task(what, total=1.0, criterion="")

            def step(progress: Any) -> None:
                whole = progress.seconds + progress.seconds_left
                done = progress.seconds / whole if 0 < whole < float("inf") else None
                bar.update(
                    task,
                    completed=1.0 if not progress.n_starts else done or 0.0,
                    total=None if done is None and progress.n_starts else 1.0,
                    criterion=f"iteration {progress.iteration}, criterion {progress.criterion:.8g}",
                    left=progress.seconds_left,
                )

            yield step
        self.has_bar = False


def _in_time(seconds: float) -> str:
    """Time that is left, in words; nothing where it cannot be told."""
    if seconds == float("inf"):
        return ""
    if seconds < 100:
        return f"{seconds:.0f} s left"
    return f"{seconds / 60:.0f} min left" if seconds < 6000 else f"{seconds / 3600:.0f} h left"


def _make_bar() -> Any:
    """A bar on standard error; None where rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            SpinnerColumn,
            TextColumn,
        )
        from rich.table import Column
        from rich.text import Text
    except ImportError:
        return None

    class Left(ProgressColumn):
        """Time that is left, where it can be told."""

        def render(self, task: Any) -> Text:
            left = task.fields.get("left", float("inf"))
            return Text(_in_time(left))

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[criterion]}"),
        Left(table_column=Column(no_wrap=True)),
        console=Console(stderr=True, width=max(Console(stderr=True).width - ECHO, 20)),
        transient=True,
    )
