"""A folder of Parquet files as one table, in the order of their names."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from plausible.tables.arrow_files import ArrowSource, ParquetSource
from plausible.tables.columns import tidy_type
from plausible.tables.content import KINDS, PARQUET, Content
from plausible.tables.errors import TableError, counted, listed


class ParquetFolder(ArrowSource):
    """The rows of all Parquet files of a folder."""

    format = PARQUET
    what = "a folder of Parquet files"

    def __init__(self, folder: Path) -> None:
        name = repr(folder.name or str(folder))
        entries = sorted(
            entry for entry in folder.iterdir() if not entry.name.startswith((".", "_"))
        )
        paths = [entry for entry in entries if KINDS.get(entry.suffix.lower()) == PARQUET]
        deeper = [entry.name for entry in entries if entry.is_dir()]
        if not paths or deeper:
            came = (
                f"has folders in it ({listed(deeper)})"
                if deeper
                else f"has other files ({listed([entry.name for entry in entries])})"
                if entries
                else "is empty"
            )
            raise TableError(
                f"{name} should be a file, or a folder of Parquet files (.parquet), but {came}; "
                f"{'bring all files into one folder' if deeper else 'name a file in it'}."
            )
        self.files = [ParquetSource(Content(path)) for path in paths]
        super().__init__(name)
        for file in self.files[1:]:
            self._check(file)
        self.index = self.files[0].index
        self.n_rows = sum(file.n_rows or 0 for file in self.files)
        left = [entry.name for entry in entries if entry not in paths]
        if left:
            count = counted(len(paths), "Parquet file")
            self.notes.append(f"{name}: {count} were read, and left out: {listed(left)}")

    def _schema(self) -> Any:
        return self.files[0].given

    def _check(self, file: ParquetSource) -> None:
        """Refuse a file whose columns are others than those of the first one."""
        first = self.files[0]
        lost = sorted(set(first.names) ^ set(file.names))
        if lost:
            has, lacks = (first, file) if lost[0] in first.names else (file, first)
            raise TableError(
                f"The Parquet files in {self.name} should have the same columns, but {has.name} "
                f"has {lost[0]!r} and {lacks.name} does not; write them alike, or move one of them "
                "elsewhere."
            )
        for name in self.names:
            types = [tidy_type(one.given.field(name).type) for one in (first, file)]
            if types[0] != types[1]:
                raise TableError(
                    f"The Parquet files in {self.name} should have columns of the same types, but "
                    f"{name!r} is {types[0]} in {first.name} and {types[1]} in {file.name}; write "
                    "them alike."
                )

    def batches(
        self,
        columns: Sequence[str],
        typed: bool = True,
        rows: int | None = None,
        gaps: bool = True,
    ) -> Iterator[Any]:
        """Record batches of some columns."""
        for file in self.files:
            yield from file.batches(columns, typed, rows, gaps)

    def batches_from(
        self, columns: Sequence[str], first: int, gaps: bool = True
    ) -> tuple[int, Iterator[Any]]:
        """Typed batches from the group of a row on, and the row where it begins."""
        start, number = 0, 0
        while number < len(self.files) and start + (self.files[number].n_rows or 0) <= first:
            start, number = start + (self.files[number].n_rows or 0), number + 1
        if number == len(self.files):
            return start, iter(())
        inside, batches = self.files[number].batches_from(columns, first - start, gaps)
        files = self.files[number + 1 :]
        later = (batch for file in files for batch in file.batches(columns, gaps=gaps))
        return start + inside, itertools.chain(batches, later)

    def groups(
        self, columns: Sequence[str], most_rows: int
    ) -> list[tuple[int, Callable[[], Any]]] | None:
        """Rows of each row group of each file, and what reads it."""
        each = [file.groups(columns, most_rows) for file in self.files]
        known = [groups for groups in each if groups is not None]
        return list(itertools.chain(*known)) if len(known) == len(each) else None

    def places(self, rows: Sequence[int]) -> list[str]:
        """``"row 3 of 'part-1.parquet'"`` for some rows."""
        ends = list(itertools.accumulate(file.n_rows or 0 for file in self.files))
        found = []
        for row in rows:
            number = next(k for k, end in enumerate(ends) if row <= end)
            before = ends[number - 1] if number else 0
            found.append(f"row {row - before} of {self.files[number].name}")
        return found
