"""Tables against one parse by pyarrow: text, numbers, and answers of people.

Run with ``make bench``; contestants take turns. A million answers of 500 people about 100,000 items
in no order, and a million rows of four numbers.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from timing import interleave, show

from plausible.engine import StreamRows, read_any
from plausible.io import read_annotations
from plausible.tables import open_table, read_table

N = 1_000_000
LIMIT = 2.0


def write_answers(path: Path) -> None:
    """A long table of answers."""
    rng = np.random.default_rng(0)
    items = np.char.add("photo_", rng.integers(0, N // 10, N).astype(str))
    people = np.char.add("worker", rng.integers(0, 500, N).astype(str))
    said = np.array(["blues", "rock", "jazz", "classical music", "hip hop"])[rng.integers(0, 5, N)]
    with path.open("w") as file:
        file.write("item,annotator,label\n")
        file.writelines(f"{a},{b},{c}\n" for a, b, c in zip(items, people, said, strict=True))


def write_ordinary(path: Path, ids: str, has_numbers: bool, beside: str) -> None:
    """Other ordinary answers: names of files, numbers, and how sure people are."""
    rng = np.random.default_rng(2)
    items, people = rng.integers(0, N // 10, N).tolist(), rng.integers(0, 500, N).tolist()
    classes = list("0123456789") if has_numbers else ["blues", "rock", "jazz", "hip hop"]
    said, sure = rng.integers(0, len(classes), N).tolist(), rng.random(N).round(2).tolist()
    with path.open("w") as file:
        file.write(f"item,annotator,label{f',{beside}' if beside else ''}\n")
        for item, who, k, degree in zip(items, people, said, sure, strict=True):
            name = who if has_numbers else f"worker{who}"
            end = f",{degree}" if beside else ""
            file.write(f"{ids.format(item)},{name},{classes[k]}{end}\n")


def write_times(path: Path) -> None:
    """Answers with when they were given."""
    rng = np.random.default_rng(3)
    items, people = rng.integers(0, N // 10, N).tolist(), rng.integers(0, 500, N).tolist()
    moments = np.datetime64("2024-01-01T00:00:00") + rng.integers(0, 10**7, N)
    with path.open("w") as file:
        file.write("item,annotator,label,time\n")
        for item, who, moment in zip(items, people, moments.astype(str).tolist(), strict=True):
            file.write(f"{item},{who},{who % 4},{moment}\n")


def write_numbers(path: Path) -> None:
    """Four columns of numbers."""
    rng = np.random.default_rng(1)
    columns = {name: rng.normal(size=N) for name in "abc"} | {"d": rng.integers(0, 99, N)}
    pyarrow.csv.write_csv(pa.table(columns), path)


def encode(path: Path) -> Any:
    """Every column by its distinct names."""
    table = open_table(path)
    return [table.encoded(name) for name in table.names]


def summed(path: Path) -> Any:
    """One pass of a stream."""
    return StreamRows(read_any(path)).reduce(lambda columns: columns[0].sum(axis=0))


def compare(claim: str, path: Path, ours: Callable[[Path], Any]) -> bool:
    """Time a reader and pyarrow in turns, and print their ratio."""
    seconds = interleave(
        {"pyarrow": lambda: pyarrow.csv.read_csv(path), "ours": lambda: ours(path)}, repeats=7
    )
    ratio = seconds["ours"] / seconds["pyarrow"]
    return show(f"{claim} ({seconds['pyarrow']:.3f} s)", ratio, f"<= {LIMIT:g}", ratio <= LIMIT)


def ordinary(folder: Path, ids: str, has_numbers: bool, beside: str) -> bool:
    """Answers as they often come."""
    path = folder / "ordinary.csv"
    write_ordinary(path, ids, has_numbers, beside)
    told = f"read_annotations, items {ids.format(17)}{f', {beside}' if beside else ''}"
    return compare(told, path, read_annotations)


def main() -> None:
    """Measure readers of the same files."""
    with tempfile.TemporaryDirectory() as folder:
        answers, numbers, times = (Path(folder) / f"{of}.csv" for of in ("who", "numbers", "times"))
        write_answers(answers)
        write_numbers(numbers)
        write_times(times)
        holds = [
            compare("read_table, text, against pyarrow.csv.read_csv", answers, read_table),
            compare("read_table, numbers", numbers, read_table),
            compare("read_table, times", times, read_table),
            compare("columns of names as codes", answers, encode),
            compare("read_annotations", answers, read_annotations),
            *(
                ordinary(Path(folder), *given)
                for given in (
                    ("{}", True, ""),
                    ("{}", True, "doubt"),
                    ("img_{:05}.png", False, ""),
                    ("img_{:05}.png", False, "confidence"),
                    ("https://example.org/{:05}.png", False, ""),
                )
            ),
            compare("read_any, opened and summed", numbers, summed),
        ]
    raise SystemExit(0 if all(holds) else 1)


if __name__ == "__main__":
    main()
