"""The parser, and what becomes of errors.

A verb is a file here with `add_arguments` and `run`, and its name stands in `VERBS`. Verbs
import what they need when they run, so that help comes at once.
"""

import argparse
import importlib
import json
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import plausible
from plausible.cli.talk import Talk, UsageError

VERBS = ("pool", "fit", "predict", "evaluate", "report", "reproduce", "demo", "info")
SHELLS = ("bash", "zsh", "tcsh")
BAD_DATA, USAGE, INTERRUPTED = 1, 2, 130
TRACEBACK = "PLAUSIBLE_TRACEBACK"  # an environment variable; for those who mend the library

EPILOG = """\
Files may be CSV, JSON lines, Parquet or Arrow; "-" is standard input or output.
Exit codes: 0 done, 1 bad data or files, 2 wrong usage, 130 interrupted by Ctrl-C.
Shell completion: eval "$(plausible --completion bash)" (or zsh)."""


class Parser(argparse.ArgumentParser):
    """Answers wrong usage in one line, with the way to the help."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and stop."""
        self.exit(USAGE, f"{self.prog}: {message}; see {self.prog} --help.\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command, with all verbs."""
    parser = Parser(
        prog="plausible",
        description=plausible.__doc__.partition("\n")[0] if plausible.__doc__ else None,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
    parser = build_parser()
    given = parser.parse_args(arguments)
    if given.completion:
        return complete(parser, given.completion)
    if given.verb is None:
        parser.print_help()
        return 0
    typed = [parser.prog, *(sys.argv[1:] if arguments is None else arguments)]
    given.command = " ".join(typed)
    talk = Talk(given.verb, quiet=given.quiet, json=given.json, to_stdout=writes_to_stdout(given))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = talk.show_warning  # type: ignore[assignment]
        code, message, result = attempt(given, talk)
    if message:
        talk.fail(message)
    if given.json:
        shown = {"error": message} if message and not result else result
        print(json.dumps(shown, indent=1, ensure_ascii=False, allow_nan=False), flush=True)
    return code


def attempt(given: argparse.Namespace, talk: Talk) -> tuple[int, str, dict[str, Any]]:
    """Exit code, message if something went wrong, and the result."""
    result: dict[str, Any] = {}
    try:
        result = given.run(given, talk)
        return int(result.pop("exit_code", 0)), "", result
    except KeyboardInterrupt:
        return INTERRUPTED, "Interrupted; nothing was written.", result
    except UsageError as error:
        return USAGE, str(error), result
    except BrokenPipeError:  # the reader has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0, "", result
    except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
        if os.environ.get(TRACEBACK):
            raise
        return BAD_DATA, in_words(error), result
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        kind = type(error).__name__
        hint = f"This is a fault of plausible; {TRACEBACK}=1 shows where."
        return BAD_DATA, f"{kind}: {error}. {hint}", result


def in_words(error: BaseException) -> str:
    """What an error says, in one line."""
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename!r}: " if error.filename else ""
        return f"{name}{error.strerror}."
    if isinstance(error, MemoryError):
        return "The data should fit into memory, but do not; give fewer rows or columns."
    return " ".join(str(error).split()) or type(error).__name__


def writes_to_stdout(given: argparse.Namespace) -> bool:
    """Whether standard output is taken by what the verb writes."""
    return getattr(given, "output", None) == "-"


def complete(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print a script for a shell."""
    try:
        import shtab
    except ImportError:
        print(
            'plausible: Shell completion needs shtab; run pip install "plausible[cli]".',
            file=sys.stderr,
        )
        return BAD_DATA
    print(shtab.complete(parser, shell))
    return 0
