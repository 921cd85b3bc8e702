"""Ctrl-C, SIGTERM and SIGHUP: unfinished files go, and the exit code is 128 plus the signal.

A signal may come at any time: while modules are imported, in a destructor where exceptions get
lost, or while compiled code waits. So a thread of its own hears it, clears up and ends the process.
Only a fit that has something to save gets a KeyboardInterrupt instead, once; a second signal ends
everything. What the parent ignores (as nohup does) stays ignored.

Imports as little as it can, as it is the first that the command does.
"""

import _thread
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SIGNALS = [signal.SIGINT, signal.SIGTERM]
if hasattr(signal, "SIGHUP"):
    SIGNALS.append(signal.SIGHUP)
LAST_WORDS = 5.0  # seconds for another process to end


class State:
    """What has been heard, and what it means at present."""

    def __init__(self) -> None:
        self.armed: list[int] = []  # signals that are listened to
        self.heard: list[int] = []  # by the thread
        self.stopped: list[int] = []  # by the fit that was told to stop
        self.saves = False  # whether a fit runs that would save what it has
        self.leaving = _thread.allocate_lock()
        self.farewell: Callable[[], None] | None = None
        self.hurry: Callable[[], None] | None = None  # for a farewell that takes too long
        self.starting = _thread.allocate_lock()
        self.child: Any = None


state = State()


def is_command() -> bool:
    """Whether this process is the command, rather than a program that imports it."""
    if sys.argv[:1] == ["-m"]:  # while python -m imports the package
        return any(word.endswith("plausible.cli") for word in sys.orig_argv)
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return name in ("plausible", "plausible.exe", "plausible-script.py")


def listen() -> None:
    """Hear signals from now on; called by the main thread of the command."""
    if state.armed or os.name == "nt":
        return
    usual = (signal.SIG_DFL, signal.default_int_handler)
    for number in SIGNALS:  # at once: until then, signals are those of the interpreter
        if signal.getsignal(number) in usual:
            signal.signal(number, _handle)
            state.armed.append(number)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    _thread.start_new_thread(_hear, (reader,))
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=_forget)


def finish() -> None:
    """Let no signal change what the command has done, while the interpreter ends."""
    for number in state.armed:
        signal.signal(number, signal.SIG_IGN)
    if state.armed:
        state.leaving.acquire()  # for good; whoever is about to end the process does so
        state.armed = []


def give_way() -> None:
    """Do nothing more if the process is about to end."""
    if state.leaving.locked():
        state.leaving.acquire()


def exit_code() -> int:
    """That of a command which a signal has stopped."""
    return 128 + (state.stopped or [signal.SIGINT])[0]


@contextmanager
def saving() -> Iterator[list[int]]:
    """A block that a signal stops by KeyboardInterrupt; the list then holds its number."""
    stopped = state.stopped
    before: Any = None
    if not state.armed:  # not the command, but a program that calls it

        def note(number: int, frame: FrameType | None) -> None:
            stopped.append(number)
            raise KeyboardInterrupt

        stopped.clear()
        before = signal.signal(signal.SIGINT, note)
    hook, sys.unraisablehook = sys.unraisablehook, _without_interrupts
    state.saves = True
    try:
        yield stopped
    finally:
        state.saves = False
        sys.unraisablehook = hook
        if before is not None:
            signal.signal(signal.SIGINT, before)


def run(words: list[str], **options: Any) -> int:
    """The exit code of another command, which hears the signals that come meanwhile."""
    import subprocess

    with state.starting:
        state.child = subprocess.Popen(words, **options)
    code = int(state.child.wait())
    with state.leaving:  # nothing more happens here if this process is to end
        return code


def write(handle: int, text: str) -> None:
    """Write a line at once, past the streams, which may be in use; not where nobody reads."""
    import select

    with suppress(OSError, ValueError):
        if select.select([], [handle], [], 0)[1]:
            os.write(handle, text.encode(errors="backslashreplace"))


def _hear(reader: int) -> None:
    """What the thread does."""
    while True:
        number = os.read(reader, 1)[0]
        if number not in state.armed:
            continue
        state.heard.append(number)
        if len(state.heard) > 1 or not (state.saves or state.stopped):
            _thread.start_new_thread(_leave, (state.heard[0],))  # and hear more


def _handle(number: int, frame: FrameType | None) -> None:
    """What the main thread does, when it can."""
    if state.saves and not state.stopped:
        state.stopped.append(number)
        raise KeyboardInterrupt
    # Not here, in the midst of something that may hold a lock.
    _thread.start_new_thread(_leave, ((state.stopped or state.heard or [number])[0],))


def _leave(number: int) -> None:
    """End the process: nothing unfinished stays."""
    if not state.leaving.acquire(blocking=False):
        if len(state.heard) > 1 and state.hurry is not None:
            state.hurry()
        return
    with suppress(Exception):
        state.starting.acquire(timeout=LAST_WORDS)
        if state.child is not None:
            state.child.send_signal(number)
            state.child.wait(LAST_WORDS)
    with suppress(Exception):
        files = sys.modules.get("plausible.engine.files")
        getattr(files, "remove_parts", lambda: None)()
    with suppress(Exception):
        if state.farewell is not None:
            state.farewell()
    os._exit(128 + number)


def _forget() -> None:
    """In a copy of this process: signals mean there what they mean elsewhere."""
    signal.set_wakeup_fd(-1)
    for number in state.armed:
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, usual)
    state.armed = []


def _without_interrupts(failure: Any) -> None:
    """A KeyboardInterrupt that got lost in a destructor is told again after the iteration."""
    if not issubclass(failure.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(failure)
