"""Runs commands in this process, and judges what they leave: the code, each word, each file.

A command is good if it ends with 0 and its output, or with 1 or 2 and one message of our own.
"""

import functools
import importlib
import io
import itertools
import json
import linecache
import os
import re
import signal
import sys
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import plausible
from plausible.cli.talk import BAD_DATA, USAGE
from support.odd_commands import file_name

SOURCE = str(Path(plausible.__file__).parent)
PATIENCE = 60  # seconds
main_of_command = importlib.import_module("plausible.cli.main")
parser = functools.cache(main_of_command.build_parser)  # which takes longer than most commands
PARSERS = ("pyarrow.lib", "json.decoder", "zipfile", "zlib", "gzip", "_csv")

# What Python and other libraries say; none of it should reach a person.
RAW = re.compile(
    "|".join([
        r"Traceback", r"fault of plausible", r"has no attribute", r"unhashable", r"unpack",
        r"not supported between", r"unsupported operand", r"object is not", r"is not iterable",
        r"not subscriptable", r"not callable", r"invalid literal", r"[Cc]ould not convert",
        r"codec can't", r"surrogates not allowed", r"out of range", r"out of bounds",
        r"\b[A-Z]\w{0,40}(Error|Exception)\b", r"cannot reshape",
        r"unexpected keyword", r"positional argument\b", r"must be (str|real|int|a string|of type)",
        r"broadcast", r"ambiguous", r"dtype", r"NoneType", r"<class '", r" object at 0x",
        r"encountered in", r"[Aa]xis \d", r"[Ii]nput (X|y|contains)", r"Expected 2D",
        r"`[a-z_]+`? ?=", r"cannot (be )?cast", r"datetime\.|Decimal\(|array\(|timedelta",
        r"argument of type", r"[Ii]ndices must", r"index \d+ is", r"math domain",
        r"embedded null", r"recursion", r"bytes-like", r"JSON serializable", r"Out of range float",
        r"setting an array", r"inhomogeneous", r"zero-size", r"ufunc", r"\bnp\.\w+\(",
        r"mismatch", r"not in list", r"object\b.*\bexpected", r"division by zero",
        r"year -?\d+ is", r"cannot convert", r"Year is", r"ArrowInvalid", r"Unsupported",
    ])
)  # fmt: skip


@dataclass
class Outcome:
    """What a command did."""

    code: int | None
    stdout: bytes
    stderr: bytes
    error: BaseException | None  # what was told, before it was put into words
    escaped: BaseException | None  # what came out of the command


class TooLong(BaseException):
    """A command that does not end."""


@contextmanager
def patience():
    def stop(*_):
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_here(words, folder, stdin=b""):
    """Run a command in this process, with streams and a folder of its own."""
    told = []
    in_words = main_of_command.in_words

    def listening(error, *rest):
        told.append(error)
        return in_words(error, *rest)

    streams = {
        "stdin": io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)), "utf-8"),
        "stdout": io.TextIOWrapper(io.BytesIO(), "utf-8"),
        "stderr": io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace"),
    }
    code = escaped = None
    here = os.getcwd()
    os.chdir(folder)
    try:
        with (
            mock.patch.multiple(sys, **streams),
            mock.patch.multiple(main_of_command, in_words=listening, build_parser=parser),
            patience(),
        ):
            code = main_of_command.main(words)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        escaped = error
    finally:
        os.chdir(here)
    for name in ("stdout", "stderr"):
        streams[name].flush()
    said = [streams[name].buffer.getvalue() for name in ("stdout", "stderr")]
    return Outcome(code, *said, told[-1] if told else None, escaped)


def try_command(command, folder, small_files):
    """Run a command among the small files and its own; what is wrong with what it did."""
    for name, content in command.files.items():
        (folder / os.fsdecode(file_name(name))).write_bytes(content)
    before = snapshot(folder)
    outcome = run_here(command.words, folder, command.stdin)
    after = snapshot(folder)
    faults = [*judge_words(command, outcome), *judge_files(command, outcome, before, after)]
    for name in after.keys() | before.keys():
        path = folder / name
        if name not in small_files and path.is_file() and not path.is_symlink():
            path.unlink()
        elif name in small_files and after.get(name) != small_files[name]:
            path.write_bytes(small_files[name])
    return outcome, faults


def snapshot(folder):
    """Bytes by name; what is no file has none."""
    return {
        entry.name: Path(entry.path).read_bytes() if os.path.isfile(entry.path) else None
        for entry in os.scandir(folder)
    }


# -- Words -----------------------------------------------------------------------------------------


def judge_words(command, outcome):
    """What is wrong with the code and with what is said."""
    if outcome.escaped is not None:
        yield f"escaped: {outcome.escaped!r}"
        return
    if outcome.code not in (0, BAD_DATA, USAGE):
        yield f"code {outcome.code}"
    is_data = writes_data(command.words)
    told = outcome.stderr.decode("utf-8")
    shown = "" if is_data else outcome.stdout.decode("utf-8", "backslashreplace")
    if outcome.code:
        yield from judge_message(told)
    for text in (told, shown):
        if hidden := controls(text):
            yield f"control characters {hidden[:3]}"
        raw = None if "--help" in command.words else RAW.search(text)
        if raw and raw[0] not in " ".join(command.words):
            yield f"raw {raw[0]!r}"
    if outcome.error is not None and not is_ours(outcome.error, told):
        yield f"not on purpose: {type(outcome.error).__name__}"
    if "--json" in command.words and "--help" not in command.words and shown:
        yield from judge_json(shown, outcome.code)


def writes_data(words):
    """Whether standard output is taken by the result."""
    return any(pair in (("-o", "-"), ("--output", "-")) for pair in itertools.pairwise(words))


def judge_message(told):
    """One line, the last one, that begins with the command and ends as a sentence."""
    lines = told.splitlines()
    messages = [line for line in lines if re.match(r"plausible( \w+)?: ", line)]
    if len(messages) != 1 or lines[-1] != messages[0]:
        yield f"{len(messages)} messages"
    elif not messages[0].endswith((".", "?")):
        yield "no end of a sentence"
    elif len(messages[0]) > 5000:
        yield "a message without end"


def controls(text):
    """Characters that a terminal would obey, or that turn the order of letters."""
    return [
        hex(ord(letter))
        for letter in text
        if letter not in "\n\t\u200c\u200d"
        and unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]


def judge_json(shown, code):
    """Whether there is one object of JSON, which tells an error if there was one."""
    try:
        found = json.loads(shown, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        yield "no JSON"
        return
    if code and not ("error" in found or "exit_code" in found or "experiments" in found):
        yield "JSON without the error"


def is_ours(error, told):
    """Whether an error was raised on purpose, and tells nothing of one that was not."""
    if not is_on_purpose(error):
        return False
    cause, seen = error.__cause__ or error.__context__, [error]
    while cause is not None and cause not in seen:  # an error may be raised from itself
        seen.append(cause)
        text = " ".join(str(cause).split())[:60]
        repeated = len(text) > 3 and text in told
        is_parser = type(cause).__module__ in PARSERS or isinstance(cause, OSError)
        if repeated and not is_on_purpose(cause) and not is_parser:
            return False
        cause = cause.__cause__ or cause.__context__
    return True


def is_on_purpose(error):
    """Whether the line that raised an error is one of ours that says ``raise``."""
    if isinstance(error, (OSError, MemoryError)) and getattr(error, "errno", 1):
        return True
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or not place.tb_frame.f_code.co_filename.startswith(SOURCE):
        return False
    return (
        linecache.getline(place.tb_frame.f_code.co_filename, place.tb_lineno)
        .strip()
        .startswith("raise")
    )


# -- Files -----------------------------------------------------------------------------------------


def judge_files(command, outcome, before, after):
    """What is wrong with what is left in the folder."""
    output = output_of(command.words)
    allowed = {output, f"{output}.checkpoint"} if output else set()
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    if changed - allowed:
        yield f"other files changed: {sorted(changed - allowed)}"
    if outcome.code and changed - {f"{output}.checkpoint"}:
        yield f"changed in spite of the error: {sorted(changed)}"
    is_asked = "--help" not in command.words and command.words[:1] != ["reproduce"]
    if outcome.code == 0 and output and is_asked and "/" not in output:
        if output != "-" and not after.get(output):
            yield "no output"
        if output == "-" and not outcome.stdout:
            yield "no output on standard output"
    page = after.get(output) if changed and (output or "").endswith(".html") else None
    if hidden := controls((page or b"").decode("utf-8")):
        yield f"control characters {hidden[:3]} in the page"


def output_of(words):
    """Where the result should go."""
    found = [b for a, b in itertools.pairwise(words) if a in ("-o", "--output")]
    return found[-1] if found else None
