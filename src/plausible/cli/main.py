"""The parser, and what becomes of errors.

A verb is a file here with `add_arguments` and `run`, and its name stands in `VERBS`. Verbs
import what they need when they run, so that help comes at once.
"""

import argparse
import importlib
import io
import json
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import plausible
from plausible._visible import visible_json
from plausible.cli import signals
from plausible.cli.options import name_option
from plausible.cli.talk import BAD_DATA, STDOUT, USAGE, Talk, UsageError, tell
from plausible.cli.wording import worded
from plausible.errors import InputError

VERBS = ("check", "pool", "fit", "predict", "evaluate", "partition", "report", "annotate",
         "reproduce", "demo", "info", "compile")  # fmt: skip
SHELLS = ("bash", "zsh", "tcsh")
TRACEBACK = "PLAUSIBLE_TRACEBACK"  # an environment variable; for those who mend the library
INTERRUPTED = "Interrupted; nothing was written."
TOO_LATE = "Interrupted, but the output was written."
LONGEST = 1000  # letters of wrong usage that are told

EPILOG = """\
Files may be CSV, JSON lines, Parquet or Arrow; "-" is standard input or output.
Exit codes: 0 done, 1 bad data or files, 2 wrong usage, 130 interrupted by Ctrl-C (143 and 129 by
SIGTERM and SIGHUP).
Shell completion: eval "$(plausible --completion bash)" (or zsh)."""


class Parser(argparse.ArgumentParser):
    """Answers wrong usage in one line, with the way to the help."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong."""
        raise UsageError(f"{self.prog}: {shortened(message)}; see {self.prog} --help.")


def shortened(text: str) -> str:
    """A message in one line, without the middle of what is very long."""
    told = " ".join(text.split())
    return told if len(told) <= LONGEST else f"{told[: LONGEST // 2]} ... {told[-LONGEST // 2 :]}"


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command, with all verbs."""
    parser = Parser(
        prog="plausible",
        description=plausible.__doc__.partition("\n")[0] if plausible.__doc__ else None,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"plausible {plausible.__version__}")
    parser.add_argument(
        "--completion", choices=SHELLS, metavar="SHELL", help="print a script that completes words"
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=Parser)
    for name in VERBS:
        module = importlib.import_module(f"plausible.cli.{name}")
        about = (module.__doc__ or "").strip()
        one = verbs.add_parser(
            name,
            help=about.partition("\n")[0].rstrip("."),
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(one)
        one.add_argument("--json", action="store_true", help="print the result as JSON")
        one.add_argument("--quiet", action="store_true", help="no messages but errors")
        one.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the answer is the exit code.

    Examples
    --------
    >>> main(["info", "--json", "--quiet"])  # doctest: +ELLIPSIS
    {...
    0
    """
    if arguments is not None:
        return _run_words(list(arguments))
    signals.listen()
    try:
        return _run_words(sys.argv[1:])
    finally:
        signals.finish()


def _run_words(words: list[str]) -> int:
    """Run the command, whatever goes wrong; the answer is the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for letters that it does not have
    try:
        return start(words)
    except SystemExit as ending:  # after --help and --version
        return _print_result({}, int(ending.code or 0), False)
    except UsageError as error:  # before there is a verb that could tell it
        tell(str(error))
        return _print_result({"error": str(error)}, USAGE, "--json" in words)
    except KeyboardInterrupt:
        tell("plausible: Interrupted.")
        return signals.exit_code()


def start(words: list[str]) -> int:
    """Understand the words of the command, and do what they say."""
    parser = build_parser()
    given, strange = parser.parse_known_args(words)
    if strange:
        prog = " ".join(filter(None, (parser.prog, given.verb)))
        raise UsageError(
            f"{prog}: unknown arguments: {shortened(' '.join(strange))}; see {prog} --help."
        )
    if given.completion:
        return _print_result({}, complete(parser, given.completion), False)
    if given.verb is None:
        parser.print_help()
        return _print_result({}, 0, False)
    if given.json and _writes_to_stdout(given):
        raise UsageError(
            f"plausible {given.verb}: --json and -o - should not both write to standard output; "
            "name a file."
        )
    given.command = shlex.join([parser.prog, *words])
    return _run_verb(given)


def _run_verb(given: argparse.Namespace) -> int:
    """Run a verb, say what went wrong, and print the result if JSON is asked for."""
    talk = Talk(given.verb, quiet=given.quiet, json=given.json, to_stdout=_writes_to_stdout(given))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = talk.show_warning  # type: ignore[assignment]
        given.farewell = interruption(getattr(given, "output", None))
        signals.state.farewell = lambda: talk.leave(given.farewell())
        code, message, result = attempt(given, talk)
        signals.give_way()
        signals.state.farewell = signals.state.hurry = None
    if message:
        talk.fail(message)
    shown = {"error": message} if message and not result else result
    return _print_result(shown, code, given.json, talk.fail)


def interruption(output: str | None) -> Callable[[], str]:
    """What to say when a signal ends the command: whether it had written its file by then."""

    def seen() -> tuple[int, int] | None:
        if output is None or not os.path.isfile(output):
            return None
        found = os.stat(output)
        return found.st_ino, found.st_mtime_ns

    before = seen()
    return lambda: INTERRUPTED if seen() == before else TOO_LATE


def attempt(given: argparse.Namespace, talk: Talk) -> tuple[int, str, dict[str, Any]]:
    """Exit code, message if something went wrong, and the result."""
    try:
        result = given.run(given, talk)
        result |= {"notes": list(map(worded, result["notes"]))} if "notes" in result else {}
        return int(result.pop("exit_code", 0)), "", result
    except KeyboardInterrupt:
        return signals.exit_code(), given.farewell(), {}
    except UsageError as error:
        return USAGE, str(error), {}
    except BrokenPipeError:  # the reader has had enough
        silence()
        return 0, "", {}
    except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
        if os.environ.get(TRACEBACK):
            raise
        return BAD_DATA, in_words(error, getattr(given, "output", None), given), {}
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        kind = type(error).__name__
        hint = f"This is a fault of plausible; {TRACEBACK}=1 shows where."
        return BAD_DATA, f"{kind}: {' '.join(str(error).split())}. {hint}", {}


def _print_result(result: dict[str, Any], code: int, as_json: bool, fail: Any = tell) -> int:
    """Print what was found, if JSON is asked for; the exit code, also of a full disk."""
    try:
        if as_json:
            print(as_text(result), flush=True)
        elif sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        silence()
    except OSError as error:
        silence()
        if code == 0:
            fail(in_words(error, "-"))
        return code or BAD_DATA
    return code


def as_text(result: dict[str, Any]) -> str:
    """JSON that standard output can hold."""
    text = visible_json(json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False))
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(result, indent=1, allow_nan=False)
    return text


def silence() -> None:
    """Let what is still to be written to standard output go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def in_words(
    error: BaseException, output: str | None = None, given: argparse.Namespace | None = None
) -> str:
    """What an error says, in one line; one that names no file is about the output.

    Where the library names a parameter, the command names its option, if it has one.
    """
    if isinstance(error, OSError) and error.strerror:
        name = error.filename or (STDOUT if output == "-" else output)
        place = name if name in (None, STDOUT) else repr(str(name))
        return f"{f'{place}: ' if place else ''}{error.strerror}."
    if isinstance(error, MemoryError):
        return "The data should fit into memory, but do not; give fewer rows or columns."
    told = str(error)
    if isinstance(error, InputError) and given is not None:
        told = error.in_words(lambda name, value: name_option(given, name, value))
    return " ".join(told.split()) or type(error).__name__


def _writes_to_stdout(given: argparse.Namespace) -> bool:
    """Whether standard output is taken by what the verb writes."""
    return getattr(given, "output", None) == "-"


def complete(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print a script for a shell."""
    try:
        import shtab
    except ImportError:
        tell('plausible: Shell completion needs shtab; run pip install "plausible[cli]".')
        return BAD_DATA
    print(shtab.complete(parser, shell))
    return 0
