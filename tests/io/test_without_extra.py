"""Without the extra, the rest of the library works, and errors say what to install."""

import subprocess
import sys

import pytest

BLOCKED = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Finder())
import plausible, plausible.io, plausible.models
from plausible.io import load, read_table, save, write_table
assert not set({names}) & set(sys.modules)
"""


def run(names, code):
    program = BLOCKED.format(names=names) + code
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


WITHOUT = """
for call in ({calls}):
    try:
        call()
    except ImportError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("names", "calls"),
    [
        (("pyarrow",), ["lambda: read_table('x.csv')", "lambda: write_table({'a': [1]}, 'x.csv')"]),
        (
            ("skops",),
            ["lambda: save(plausible.models.SoftNearestCentroid(), 'x')", "lambda: load('x')"],
        ),
    ],
)
def test_what_to_install(names, calls):
    done = run(names, WITHOUT.replace("{calls}", ", ".join(calls)))
    remedy = f'needs {names[0]}, which is not installed; run pip install "plausible[io]"'
    assert done.stdout.count(remedy) == len(calls), done.stderr


def test_pandas_and_polars_are_not_imported():
    done = run(("pandas", "polars"), "print(read_table({'a': [1]}).to_pydict())")
    assert done.stdout.strip() == "{'a': [1]}", done.stderr
