"""The real command in real processes, without the seconds that imports take.

A server imports everything once. For each command it forks a child, which takes its own standard
streams and folder, and calls `plausible.cli.main` as the installed command does. `Fresh` does the
same in a new interpreter.
"""

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

import plausible

SOURCE = str(Path(plausible.__file__).parents[1])
QUIET = {
    "PYTHONPATH": SOURCE,
    "PYTHONWARNINGS": "default",
    "COLUMNS": "80",
    "TERM": "xterm-256color",
}
ROOMS = "cluster", "io", "experts", "models", "metrics", "neighbors", "report", "web"
MODULES = (
    "email.policy", "encodings.cp437", "encodings.utf_8_sig", "pyarrow.csv",
    "pyarrow.pandas_compat", "pyarrow.parquet", "skops.io", "rich.progress",
)  # fmt: skip
PATIENCE = 120.0  # seconds


@dataclass(frozen=True)
class Finished:
    """What a command left."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def json(self):
        return json.loads(self.stdout, parse_constant=refuse_constant)

    @property
    def lines(self) -> list[str]:
        return self.stderr.splitlines()


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def environment(**more: str) -> dict[str, str]:
    """Variables of a command: no terminal, no colors but its own."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("COV_")}
    known.pop("PLAUSIBLE_TRACEBACK", None)
    return known | QUIET | more


def fresh(*words, folder, stdin: bytes = b"", **variables: str) -> Finished:
    """Run the command in a new interpreter."""
    done = subprocess.run(
        [sys.executable, "-m", "plausible.cli", *map(str, words)],
        cwd=folder, input=stdin, capture_output=True, env=environment(**variables),
        timeout=PATIENCE,
    )  # fmt: skip
    return Finished(done.returncode, done.stdout, done.stderr.decode())


class Running:
    """A command that has been started."""

    def __init__(self, server: "Server", pid: int) -> None:
        self.server, self.pid = server, pid

    def interrupt(self, number: int = signal.SIGINT) -> None:
        """What Ctrl-C does, or another signal."""
        os.kill(self.pid, number)

    def wait(self) -> int:
        """The exit code; negative if a signal ended it."""
        return self.server.answer("ended")


class Server:
    """Starts one command after another."""

    def __init__(self, folder: Path) -> None:
        self.streams = folder
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment(), text=True,
        )  # fmt: skip

    def answer(self, kind: str) -> int:
        line = self.process.stdout.readline()
        assert line, "the server of commands has ended"
        # The code of a command that nobody waited for must not be taken for a process.
        assert line.startswith(kind), f"{kind!r} was expected, but {line!r} came"
        return int(line.split()[1])

    def start(self, *words, folder, stdin="/dev/null", stdout="/dev/null", stderr="/dev/null",
              without=()):  # fmt: skip
        """Start a command whose streams are files, pipes or terminals with a name.

        Packages that it should do without are as if they were not installed.
        """
        request = {"words": list(map(str, words)), "folder": str(folder), "without": list(without)}
        request["streams"] = [str(stdin), str(stdout), str(stderr)]
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return Running(self, self.answer("started"))

    def run(self, *words, folder, stdin: bytes = b"", stdout=None) -> Finished:
        """Run a command to its end."""
        files = [self.streams / name for name in ("stdin", "stdout", "stderr")]
        files[0].write_bytes(stdin)
        for file in files[1:]:
            file.write_bytes(b"")
        streams = {"stdin": files[0], "stdout": stdout or files[1], "stderr": files[2]}
        code = self.start(*words, folder=folder, **streams).wait()
        return Finished(code, files[1].read_bytes(), files[2].read_bytes().decode())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


def wait_until(happened, what: str, patience: float = PATIENCE):
    """The first true answer of a function that is asked again and again."""
    end = time.monotonic() + patience
    while not (answer := happened()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.01)
    return answer


# -- The server ------------------------------------------------------------------------------------


def serve() -> None:
    """Answer requests until there are no more: a process number, then an exit code."""
    import gc
    import importlib

    for module in MODULES:
        importlib.import_module(module)
    for room in ROOMS:
        module = importlib.import_module(f"plausible.{room}")
        for name in dir(module):  # what is imported only when it is asked for
            getattr(module, name)
    importlib.import_module("plausible.cli.main").build_parser()
    gc.freeze()  # children then share the memory
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            be_the_command(request)
        print("started", pid, flush=True)
        print("ended", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def be_the_command(request) -> None:
    """Take streams and folder, run, and leave as an interpreter does."""
    be_heard()
    names = request["streams"]
    flags = os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_WRONLY | os.O_APPEND
    for number, (name, flag) in enumerate(zip(names, flags, strict=True)):
        handle = os.open(name, flag | os.O_NOCTTY)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
        for number, mode in enumerate(("r", "w", "w"))
    )
    os.chdir(request["folder"])
    sys.modules |= dict.fromkeys(request["without"])
    sys.argv = ["plausible", *request["words"]]
    os._exit(run_main())


def be_heard() -> None:
    """Let signals do what they do by default, also where the parent ignores some."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def run_main() -> int:
    """The exit code of the command, as an interpreter would give it."""
    from plausible.cli import main

    try:
        code = main()
    except SystemExit as ending:
        code = ending.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    try:
        sys.stderr.flush()
        sys.stdout.flush()
    except OSError:
        return 120
    return int(code)


if __name__ == "__main__":
    serve()
