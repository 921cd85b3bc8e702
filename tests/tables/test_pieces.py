"""Long text is cut into pieces, whose codes should be those of the text at once."""

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from plausible.tables import TableError, csv_pieces, open_table
from plausible.tables.coders import CodeTable, choose_coder
from plausible.tables.csv_pieces import Pieces, cut

N = 45_000  # rows, which are so long that they are cut
PIECE = 1 << 17
NAMES = ["item", "who", "said", "sure"]
WORDS = ["blues", "rock", "classical music", "hip hop"]


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_pieces, "PIECE", PIECE)


def every(name: str) -> bool:
    return True


def rows_of(seed: int, item: str = "photo_{}", who: str = "worker{}") -> list[list[str]]:
    rng = np.random.default_rng(seed)
    items, people = rng.integers(0, 9000, N).tolist(), rng.integers(0, 300, N).tolist()
    said, sure = rng.integers(0, 4, N).tolist(), rng.integers(0, 100, N).tolist()
    return [
        [item.format(i), who.format(w), WORDS[k], f"0.{s:02}"]
        for i, w, k, s in zip(items, people, said, sure, strict=True)
    ]


def write(path: Path, rows: list[list[str]], end: str = "\n") -> Path:
    lines = [",".join(row) for row in [NAMES, *rows]]
    path.write_bytes((end.join(lines) + end).encode())
    return path


def codes_by_hand(cells: list[str]) -> tuple[list[int], list[str]]:
    places: dict[str, int] = {}
    codes = [-1 if cell == "NA" else places.setdefault(cell, len(places)) for cell in cells]
    return codes, list(places)


def check(path: Path, numbers: tuple[str, ...] = ("sure",)) -> None:
    """Compare codes with those of the cells that Python's own reader finds."""
    with path.open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    table = open_table(path, every)
    found = table.encoded_all(NAMES)
    for place, name in enumerate(NAMES):
        codes, names = codes_by_hand([row[place] for row in rows])
        assert found[name].codes.tolist() == codes
        said = found[name].names.tolist()
        assert said == (list(map(float, names)) if name in numbers else names), name
    assert table.column("said").to_pylist() == [None if r[2] == "NA" else r[2] for r in rows]


@pytest.mark.parametrize(
    ("item", "who"),
    [("photo_{}", "worker{}"), ("img_{:05}.png", "w{}"), ("{}", "{}"), ("{}x", "a{}b"),
     ("a long name of number {}", "{:04}")],
)  # fmt: skip
def test_codes_are_those_of_all_cells(tmp_path: Path, item: str, who: str) -> None:
    numbers = tuple(n for n, form in (("item", item), ("who", who)) if form == "{}")
    check(write(tmp_path / "a.csv", rows_of(0, item, who)), (*numbers, "sure"))


@pytest.mark.parametrize(
    ("row", "column", "cell"),
    [
        (N - 5, 0, "photo_007"),  # a number with zeros in front, and the same without
        (N - 5, 0, "photo_x"),
        (N - 5, 0, "photo_99999999"),
        (N - 5, 0, "photo_123456789"),
        (N - 5, 1, "somebody else altogether"),
        (N - 5, 2, "NA"),
        (N // 2, 2, "b\u00f6se"),
        (N // 2, 2, '"rock, ""hard"""'),
        (N // 2, 2, "ro\x00ck"),
        (3, 2, " rock"),
    ],
)
def test_what_comes_late_is_seen(tmp_path: Path, row: int, column: int, cell: str) -> None:
    rows = rows_of(1)
    rows[row][column] = cell
    check(write(tmp_path / "a.csv", rows))


@pytest.mark.parametrize("cell", ["007", "x7", "-7", "7.0", "+7", " 7"])
def test_whole_numbers_that_are_none_in_the_end(tmp_path: Path, cell: str) -> None:
    rows = rows_of(2, "{}", "{}")
    rows[N - 5][0] = cell
    path = write(tmp_path / "a.csv", rows)
    at_once = open_table(path)  # without a hint which columns will be codes
    found, wanted = open_table(path, every).encoded("item"), at_once.encoded("item")
    np.testing.assert_array_equal(found.codes, wanted.codes)
    assert found.names.tolist() == wanted.names.tolist()
    assert found.names.dtype == wanted.names.dtype


def test_more_people_than_the_first_rows_have(tmp_path: Path) -> None:
    rows = rows_of(3, who="w{}x")
    for k in range(N // 2, N):
        rows[k][1] = f"w{k % 900}y"
    check(write(tmp_path / "a.csv", rows))


def test_lines_that_end_in_other_ways(tmp_path: Path) -> None:
    check(write(tmp_path / "a.csv", rows_of(4), "\r\n"))
    path = write(tmp_path / "b.csv", rows_of(5))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    check(path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n\n", 30_000))
    rows = len(open_table(path, every).encoded("item").codes)
    assert rows == N


def test_a_row_that_is_too_short_is_named(tmp_path: Path) -> None:
    rows = rows_of(6)
    del rows[N - 5][3]
    with pytest.raises(TableError, match=f"row {N - 4} on line {N - 3}"):
        open_table(write(tmp_path / "a.csv", rows), every)


def test_pieces_are_all_of_the_text() -> None:
    rng = np.random.default_rng(0)
    lines = [b"x" * k for k in rng.integers(1, 60_000, 200).tolist()]
    text = b"\n".join([b"a", *lines])
    cuts = cut(text)
    assert cuts is not None
    assert (cuts[0], cuts[-1]) == (2, len(text))
    assert all(text[end - 1 : end] == b"\n" for end in cuts[1:-1])
    assert all(b - a >= PIECE for a, b in pairwise(cuts[:-1]))
    assert cut(b"a\n" + b"x" * (3 * PIECE)) is None  # a line that is longer than is looked for
    assert cut(b"a\rb\n" + text) is None


def test_codes_are_given_in_order_whatever_comes_first() -> None:
    """Threads may end in any order: a piece waits until those before it have their codes."""
    import pyarrow as pa

    parts = [pa.array(list(cells)) for cells in ("ba", "ac", "db")]
    pieces = Pieces(None, lambda piece: None, [])
    coder = choose_coder(pa.array(["b", "a"] * 10), 100)
    assert coder is not None
    pieces.coders["said"] = coder
    for place in (2, 0, 1):
        pieces._waiting[place] = {"said": coder.read(parts[place])}
        pieces._give_codes()
    codes, names = coder.finish()
    assert (codes.tolist(), names.to_pylist()) == ([0, 1, 1, 2, 3, 0], ["b", "a", "c", "d"])


def test_a_table_of_codes_refuses_what_has_no_room() -> None:
    table = CodeTable(5)
    assert table.add(np.array([20])) is None
    assert table.add(np.array([-1])) is None
    assert table.add(np.array([19, 3, 19])) is not None
    assert table.add(np.array([3, 3, 3])) is None  # more rows than were said
