"""Mistakes made on purpose, one at a time, in copies of the tree; tests must catch each of them.

``make mutants`` makes them all, ``python tests/mutants/run.py labels reorder`` those whose file or
reason holds one of the words. The mistakes are listed in the TOML files beside this one:

    file   the file, from src/plausible
    old    a piece of it that occurs there once
    new    what takes its place
    why    what is wrong then
    tests  tests that must fail, from tests: a file, or a file::test; few and fast
"""

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
TREE = HERE.parents[1]
COPIED = ("src", "tests", "pyproject.toml")
SECONDS = 300  # that the tests of one mistake may take
os.environ.setdefault("OMP_NUM_THREADS", "1")  # for each of several processes, as in conftest.py
# Processes that test begin with what takes long to import; nothing of this library is among it.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    ["pytest", "hypothesis", "hypothesis.extra.numpy", "numba", "scipy.optimize", "scipy.stats",
     "sklearn.discriminant_analysis", "sklearn.ensemble", "sklearn.linear_model", "sklearn.mixture",
     "sklearn.model_selection"]
)  # fmt: skip
SHIFT = 10  # of exit codes: an error of this file must not look like a test that failed
VERDICTS = {0: "SURVIVED", 1: "caught"}  # by the exit code of pytest; any other is no answer


class Mutant(NamedTuple):
    """A mistake."""

    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]

    @property
    def room(self) -> str:
        return self.file.partition("/")[0]


class Outcome(NamedTuple):
    """What the tests said about a mistake."""

    mutant: Mutant
    verdict: str
    seconds: float
    said: str


def read_mutants(folder: Path = HERE) -> list[Mutant]:
    found = []
    for path in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(path.read_text())["mutant"]:
            found.append(Mutant(**entry | {"tests": tuple(entry["tests"])}))
    return found


def mutate(text: str, mutant: Mutant) -> str:
    """The text of a file with the mistake in it."""
    count = text.count(mutant.old)
    if count != 1 or mutant.new == mutant.old:
        raise ValueError(
            f"What a mistake replaces should occur once in {mutant.file} and change, but occurs "
            f"{count} times ({mutant.old!r}); correct the list in tests/mutants."
        )
    return text.replace(mutant.old, mutant.new)


def copy_tree(source: Path, target: Path) -> None:
    """What tests need; with times, so that what Python and numba have compiled stays good."""
    for name in COPIED:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name)
        else:
            shutil.copy2(source / name, target / name)


def run_tests(tree: Path, tests: list[str]) -> tuple[int, str]:
    """Exit code and last words of pytest in a tree; less than 0 if it did not end by itself."""
    with tempfile.NamedTemporaryFile("r", errors="replace") as words:
        process = PROCESSES.Process(target=in_tree, args=(tree, tests, words.name))
        process.start()
        process.join(SECONDS)
        process.kill()
        process.join()
        assert process.exitcode is not None
        return process.exitcode - SHIFT, words.read()[-3000:]


def in_tree(tree: Path, tests: list[str], words: str) -> None:
    """Run tests in a tree, in a process of its own, which ends with the exit code of pytest."""
    import pytest

    with open(words, "w") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    os.chdir(tree)
    sys.path.insert(0, str(tree / "src"))
    os.environ |= {"PYTHONPATH": str(tree / "src"), "HYPOTHESIS_PROFILE": "mutants"}
    sys.dont_write_bytecode = False  # what is compiled once serves all copies
    options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain"]
    sys.exit(SHIFT + pytest.main([*options, *(f"tests/{test}" for test in tests)]))


def try_mutant(mutant: Mutant, clean: Path) -> Outcome:
    """Make one mistake in a copy of its own, and ask the tests."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(clean, tree)
        place = tree / "src" / "plausible" / mutant.file
        place.write_text(mutate(place.read_text(), mutant))
        code, said = run_tests(tree, list(mutant.tests))
    return Outcome(mutant, VERDICTS.get(code, "BROKEN"), time.perf_counter() - began, said)


def check_clean(tree: Path, mutants: list[Mutant], pool: Executor) -> None:
    """End here if tests fail without any mistake; also compiles what the copies share."""
    by_file: dict[str, set[str]] = {}
    for test in {test for mutant in mutants for test in mutant.tests}:
        by_file.setdefault(test.partition("::")[0], set()).add(test)
    groups = [sorted(tests) for tests in by_file.values()]
    for code, said in pool.map(lambda tests: run_tests(tree, tests), groups):
        if code:
            pool.shutdown(cancel_futures=True)
            sys.exit(f"{said}\nWithout a mistake, the tests should pass, but they do not.")


def show(outcomes: list[Outcome]) -> None:
    """Totals by room, and what the tests said of mistakes that they did not catch."""
    rooms = Counter(outcome.mutant.room for outcome in outcomes)
    caught = Counter(outcome.mutant.room for outcome in outcomes if outcome.verdict == "caught")
    print(f"\n{'room':<12}{'mistakes':>9}{'caught':>8}")
    for room in sorted(rooms):
        print(f"{room:<12}{rooms[room]:>9}{caught[room]:>8}")
    print(f"{'all':<12}{rooms.total():>9}{caught.total():>8}")
    for outcome in outcomes:
        if outcome.verdict != "caught":
            print(f"\n{outcome.verdict}: {outcome.mutant.file}: {outcome.mutant.why}")
            print(f"{outcome.mutant.old}\n->\n{outcome.mutant.new}\n{outcome.said}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Mistakes that tests must catch.")
    parser.add_argument("words", nargs="*", help="only those whose file or reason has one of these")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args(arguments)
    mutants = [
        mutant
        for mutant in read_mutants()
        if not given.words or any(word in f"{mutant.file} {mutant.why}" for word in given.words)
    ]
    for mutant in mutants:  # a list that is out of date ends here, not after minutes
        mutate((TREE / "src" / "plausible" / mutant.file).read_text(), mutant)
    with tempfile.TemporaryDirectory() as folder:
        clean = Path(folder)
        copy_tree(TREE, clean)
        outcomes = []
        with ThreadPoolExecutor(given.workers) as pool:
            check_clean(clean, mutants, pool)
            for outcome in pool.map(lambda mutant: try_mutant(mutant, clean), mutants):
                what = f"{outcome.mutant.file}: {outcome.mutant.why}"
                print(f"{outcome.verdict:<9}{outcome.seconds:>5.1f} s  {what}", flush=True)
                outcomes.append(outcome)
    show(outcomes)
    return int(any(outcome.verdict != "caught" for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
