"""Valid calls with one or two arguments replaced by hostile values, and what came of them."""

import contextlib
import io
import random
import signal
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from fuzz.calls import Call
from fuzz.hostile import TWISTS, VALUES
from fuzz.judging import complaint, last_line_of_ours

SECONDS = 20.0  # that a call may take, on data of 24 rows


class Stuck(BaseException):
    """A call that does not end."""


@dataclass(frozen=True)
class Finding:
    """A call that let something out that it should not."""

    call: str
    replaced: tuple[tuple[str, str], ...]
    problem: str
    error: str
    place: str

    def __str__(self) -> str:
        changes = ", ".join(f"{name}={value}" for name, value in self.replaced)
        return f"{self.call}({changes}): {self.problem} at {self.place}: {self.error}"


def choose(draw: random.Random, calls: list[Call]) -> tuple[Call, tuple[tuple[str, str], ...]]:
    """A call, and which of its arguments are replaced by what; one in four times two."""
    call = draw.choice(calls)
    n_changed = min(len(call.arguments), 2 if draw.random() < 0.25 else 1)
    names = draw.sample(list(call.arguments), n_changed)
    kinds = [VALUES if draw.random() < 0.6 else TWISTS for _ in names]
    return call, tuple(
        (name, draw.choice(list(kind))) for name, kind in zip(names, kinds, strict=True)
    )


def attempt(call: Call, replaced: tuple[tuple[str, str], ...]) -> Finding | None:
    """Make the call; None if a result or an error of ours came."""
    changed = {}
    for name, value in replaced:
        if value in VALUES:
            changed[name] = VALUES[value]()
            continue
        try:
            changed[name] = TWISTS[value](call.arguments[name])
        except Exception:  # a twist that does not fit this argument
            return None
    try:
        with quiet(), limited():
            call(**changed)
    except (Exception, Stuck) as error:
        problem = complaint(error)
        if problem is not None:
            words = f"{type(error).__name__}: {error}"
            return Finding(call.name, replaced, problem, words[:300], last_line_of_ours(error))
    return None


def findings(calls: list[Call], seed: int, count: int) -> Iterator[Finding]:
    """What `count` random calls let out."""
    draw = random.Random(seed)
    for _ in range(count):
        found = attempt(*choose(draw, calls))
        if found is not None:
            yield found


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing printed, no warnings: hostile data may deserve them."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Stop a call after some seconds, where the system and the thread allow it."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Stuck(f"no answer in {SECONDS:.0f} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
