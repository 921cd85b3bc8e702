"""CSV files as typed record batches, with the rows and lines of whatever is wrong.

Short files are parsed once, when they are opened, and kept as text, of which a column is typed when
it is first asked for. Of long ones, one pass learns the types of all columns, and each further pass
parses what it needs. pyarrow parses; what it passes over in silence (a quote that is never closed,
a name that comes twice) is looked for here.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.tables.codes import Coded, Encoded
from plausible.tables.content import CSV, Content
from plausible.tables.csv_faults import (
    blank_names,
    check_blank_end,
    check_encoding,
    check_quotes,
    explain,
)
from plausible.tables.csv_header import read_header
from plausible.tables.csv_lines import Record, records
from plausible.tables.csv_options import convert_options, parse_options
from plausible.tables.errors import TableError, arrow, first_line, reading
from plausible.tables.kinds import (
    BOOL,
    FLOAT,
    INT,
    NULL,
    TEXT,
    Typing,
    as_kind,
    type_of,
    without_blanks,
    without_nan,
)
from plausible.tables.plain_cells import is_worth_compiling, read_plain
from plausible.tables.quoted_cells import first_quoted, has_quoted, unquoted
from plausible.tables.source import CHUNK_ROWS, Source
from plausible.tables.text import Text
from plausible.tables.text_columns import CodedColumn, NumberColumn, TextColumn, Typed
from plausible.tables.threads import at_once

BLOCKS = (1 << 20, 1 << 24, 1 << 28)  # bytes that are parsed at a time; a row has to fit
DAMAGED = "it may be damaged or cut off: write or download it again"
DIRECT = {INT: "int64", FLOAT: "float64"}  # kinds that pyarrow can parse by itself


class CsvSource(Source):
    """The rows of a CSV file."""

    format = CSV

    def __init__(self, content: Content) -> None:
        super().__init__()
        self.text, self.name, self.content = Text(content, is_patient=True), content.name, content
        self._typings: dict[str, Typing] = {}  # of long files
        self._kinds: dict[str, str] = {}
        self._columns: dict[str, TextColumn] = {}  # of short files
        self._quoted: set[str] = set()  # columns with cells such as ="001"
        ahead = None if self.text.is_surveyed else self._read_ahead()
        if ahead is None:
            self._read_header()
        self.notes += [*self.text.notes, *self._told]
        if self.text.is_damaged:
            check_encoding(self)
        whole = self.text.take()
        self.is_kept = whole is not None
        if self.is_kept:
            self._columns = self._parse_whole(whole) if ahead is None else ahead
        if self.text.n_quotes % 2:
            check_quotes(self)
        if self.n_blank:
            check_blank_end(self)

    def _read_header(self) -> None:
        header = read_header(self.text, self.content.is_tabbed)
        self.delimiter, self.names, self.n_before = header.delimiter, header.names, header.n_before
        self._is_renamed, self._told = header.is_renamed, header.notes
        self.is_empty, self.n_blank = header.is_alone, header.n_blank
        size = 4 * sum(map(len, self.names)) + 4 * len(self.names)
        self.block = next((block for block in BLOCKS if block > size), BLOCKS[-1])

    def _read_ahead(self) -> dict[str, TextColumn] | None:
        """Columns of text that begins well, read before or while it is surveyed.

        None if it cannot be read, or has to be read in another way, so that all has to be done
        again when it is known what the text is.
        """
        if is_worth_compiling() and (columns := self._read_plain()) is not None:
            self.text.pass_as_plain()
            return columns
        if not self.text.begins_plainly():
            self.text.survey()
            return None
        with ThreadPoolExecutor(1) as thread:
            survey = thread.submit(self.text.survey)
            columns = None
            with suppress(Exception):  # which comes again below, unless the survey explains it
                self._read_header()
                columns = self._parse_columns(self.text.whole(), self.block)
            survey.result()
        return columns if self.text.is_plain else None

    def _read_plain(self) -> dict[str, TextColumn] | None:
        """Columns, most of them in codes; None if the text turns out not to be plain."""
        with suppress(TableError):  # which comes again when the survey has told more
            self._read_header()
            whole, n_columns = self.text.whole(), len(self.names)
            parse = partial(self._parse_numbers, whole)
            found = read_plain(whole, self.n_before, self.delimiter, n_columns, parse)
            if found is not None:
                return {n: self._made(n, it) for n, it in zip(self.names, found, strict=True)}
        return None

    def _made(self, name: str, found: Any) -> TextColumn:
        """A column of plain text, given what it was read as."""
        if isinstance(found, Coded):
            return CodedColumn(found)
        if isinstance(found, Typed):
            return NumberColumn(found, partial(self._read_again, name))
        return TextColumn(found)

    def _read_again(self, name: str) -> Any:
        """A column as text, from the file."""
        batches = self._stream([name], {}, clean=False)
        return arrow().chunked_array([batch.column(0) for batch in batches], arrow().string())

    # -- What a table offers

    def schema(self, columns: Sequence[str]) -> Any:
        """Names and types of some columns."""
        return arrow().schema([(name, type_of(self.kind(name))) for name in columns])

    def batches(
        self,
        columns: Sequence[str],
        typed: bool = True,
        rows: int | None = None,
        gaps: bool = True,
    ) -> Iterator[Any]:
        """Record batches of some columns, as text or as whatever kind of value they hold."""
        if self.is_kept:
            yield from self.whole(columns, typed).to_batches(max_chunksize=rows or CHUNK_ROWS)
            return
        if not typed:
            yield from self._stream(columns, {})
            return
        kinds = {name: self.kind(name) for name in columns}
        schema, direct = self.schema(columns), self._direct(columns)
        for batch in self._stream(columns, direct):
            arrays = [
                without_nan(column) if name in direct else as_kind(column, kinds[name])
                for name, column in zip(columns, batch.columns, strict=True)
            ]
            yield arrow().record_batch(arrays, schema=schema)

    def whole(self, columns: Sequence[str], typed: bool = True) -> Any:
        """All rows of some columns."""
        if not self.is_kept:
            return super().whole(columns, typed)
        if typed:
            kept = [self._columns[name] for name in columns]
            at_once([partial(getattr, column, "typed") for column in kept], self._n_kept())
        kinds = [self.kind(name) if typed else TEXT for name in columns]
        tasks = [
            partial(self._columns[name].values, kind)
            for name, kind in zip(columns, kinds, strict=True)
        ]
        return arrow().table(at_once(tasks, self._n_kept()), names=list(columns))

    def column(self, name: str, typed: bool = True) -> Any:
        """One column, whole."""
        if not self.is_kept:
            return super().column(name, typed)
        return self._columns[name].values(self.kind(name) if typed else TEXT)

    def named(self, name: str) -> Any:
        """A column of names: numbers and truth values as such, all else as it is written."""
        return self.column(name, self.is_valued(name))

    def keep_written(self, names: Sequence[str]) -> None:
        """Give columns of names from now on as `named` does, also where they come in batches."""
        for name in names:
            if not self.is_valued(name):
                self._kinds[name] = TEXT

    def is_valued(self, name: str) -> bool:
        """Whether names are numbers or truth values; text such as 12e3 is rather a code."""
        kind = self.kind(name)
        return kind in (INT, FLOAT, BOOL, NULL) and not (
            kind == FLOAT and self._typing(name).is_code
        )

    def encoded(self, name: str) -> Encoded:
        """A column of names, each of them once, and which of them is in each row."""
        return self.encoded_all([name])[name]

    def encoded_all(self, names: Sequence[str]) -> dict[str, Encoded]:
        """The same for several columns; those of short files are typed by their distinct cells."""
        lost = [name for name in dict.fromkeys(names) if name not in self._codes]
        if self.is_kept and lost:
            kept = [self._columns[name] for name in lost]
            at_once([column.count for column in kept], self._n_kept())
            for name, column in zip(lost, kept, strict=True):
                kind = self.kind(name) if self.is_valued(name) else TEXT
                self._codes[name] = column.encoded(kind)
        return super().encoded_all(names)

    def known_codes(self, names: Sequence[str]) -> list[NDArray[np.int64]] | None:
        """Also those of distinct cells, which are those of their names unless some are the same."""
        columns = [self._columns.get(name) for name in names]
        coded = [column.coded.codes for column in columns if isinstance(column, CodedColumn)]
        known = super().known_codes(names)
        return coded if known is None and len(coded) == len(names) else known

    def _n_kept(self) -> int:
        """Rows of a short file."""
        return len(next(iter(self._columns.values())))

    def is_measured(self, name: str) -> bool:
        """Whether a column holds so many different numbers that its codes would be no use."""
        return self.is_kept and self._columns[name].is_varied() and self.kind(name) == FLOAT

    def kind(self, name: str) -> str:
        """What kind of values a column holds."""
        if name not in self._kinds:
            typing = self._typing(name)
            kind, assumed = typing.resolve(
                self.delimiter, self._has_decimal_commas, self._has_decimal_points
            )
            self._kinds[name] = kind
            self._tell(name, assumed, kind == TEXT)
        return self._kinds[name]

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Lines on which some rows, in rising order, begin."""
        wanted = set(rows)
        found = (record.line for row, record in self.records() if row in wanted)
        return list(islice(found, len(wanted)))

    def records(self) -> Iterator[tuple[int, Record]]:
        """Rows, from 0 for the header, and where they are."""
        with self.text.open_text() as file:
            found = records(file, self.delimiter)
            yield from enumerate(islice(found, self.n_before, None))

    # -- Types

    def _typing(self, name: str) -> Typing:
        if self.is_kept:
            return self._columns[name].typed.typing
        if not self._typings:
            self._typings = {name: Typing() for name in self.names}
            for batch in self._stream(self.names, {}, clean=False):
                for column, typing in zip(batch.columns, self._typings.values(), strict=True):
                    typing.add(column)
        return self._typings[name]

    def _has_decimal_commas(self) -> bool:
        return any(self._typing(name).has_decimal_commas for name in self.names)

    def _has_decimal_points(self) -> bool:
        return any(self._typing(name).has_decimal_points for name in self.names)

    def _direct(self, columns: Sequence[str]) -> dict[str, str]:
        """Columns of numbers that pyarrow can parse by itself."""
        return {
            name: DIRECT[self.kind(name)]
            for name in columns
            if self.kind(name) in DIRECT
            and self._typings[name].is_tidy
            and name not in self._quoted
        }

    # -- Parsing

    def _parse_whole(self, whole: Any) -> dict[str, TextColumn]:
        """All columns; where a row is longer than a block, the whole text is one."""
        reason = ""
        for block in (self.block, len(whole) + 1):
            try:
                return self._parse_columns(whole, block)
            except arrow().ArrowInvalid as error:
                reason = first_line(error)
        del whole
        explain(self)
        raise TableError(f"{self.name} cannot be read as a CSV file ({reason}); {DAMAGED}.")

    def _parse_columns(self, whole: Any, block: int) -> dict[str, TextColumn]:
        """All columns by Arrow."""
        pa = arrow()
        if self.is_empty:
            return {name: TextColumn(pa.chunked_array([], pa.string())) for name in self.names}
        options = convert_options(self.names, self.names, {})
        return {
            name: TextColumn(self._unquoted(name, column))
            for name, column in zip(
                self.names, self._parse_by_arrow(whole, block, options), strict=True
            )
        }

    def _parse_numbers(self, whole: Any, kinds: Mapping[int, str]) -> list[Any]:
        """Some columns of numbers by Arrow, which raises an error if they hold anything else."""
        direct = {self.names[number]: DIRECT[kind] for number, kind in kinds.items()}
        options = convert_options(self.names, list(direct), direct)
        return self._parse_by_arrow(whole, self.block, options)

    def _parse_by_arrow(self, whole: Any, block: int, options: Any) -> list[Any]:
        table = arrow(".csv").read_csv(
            arrow().BufferReader(whole),
            self._read_options(block_size=block),
            parse_options(self.delimiter, self.text.n_quotes > 0),
            options,
            arrow().system_memory_pool(),  # which gives memory back later than others
        )
        return list(table.columns)

    def _unquoted(self, name: str, column: Any) -> Any:
        """A column in which cells such as ``="001"`` are the text in their quotes."""
        is_text = self.text.n_quotes > 0 and arrow().types.is_string(column.type)
        if not is_text or not has_quoted(column):
            return column
        if not self._quoted:
            cell = first_quoted(column)
            self.notes.append(f"{self.name}: cells such as {cell} were read as {cell[2:-1]!r}")
        self._quoted.add(name)
        return unquoted(column)

    def _stream(
        self, columns: Sequence[str], direct: dict[str, str], clean: bool = True
    ) -> Iterator[Any]:
        """Record batches; where a block is too short for a row, longer ones are parsed.

        Columns are text, or numbers if they are among the `direct` ones; if `clean`, blank cells
        are missing.
        """
        rows = [0]
        while not self.is_empty:
            done = rows[0]
            try:
                rows[0] = 0
                for batch in self._parse(columns, direct, clean):
                    start, rows[0] = rows[0], rows[0] + batch.num_rows
                    if rows[0] > done:
                        yield batch.slice(max(done - start, 0))
                return
            except arrow().ArrowInvalid as error:
                explain(self)
                longer = [size for size in BLOCKS if size > self.block]
                if not longer:
                    raise TableError(
                        f"{self.name} cannot be read as a CSV file after row {rows[0]} "
                        f"({first_line(error)}); {DAMAGED}."
                    ) from error
                self.block = longer[0]

    def _parse(self, columns: Sequence[str], direct: dict[str, str], clean: bool) -> Iterator[Any]:
        pa, pcsv = arrow(), arrow(".csv")
        invalid: Exception | None = None
        with reading(self.name, "a CSV file"), self.text.open() as file:
            try:
                with pcsv.open_csv(
                    file,
                    self._read_options(use_threads=False, block_size=self.block),
                    parse_options(self.delimiter, self.text.n_quotes > 0),
                    convert_options(self.names, columns, direct),
                ) as reader:
                    for batch in reader:
                        texts = map(self._unquoted, columns, batch.columns)
                        arrays = [
                            without_blanks(column) if clean and name not in direct else column
                            for name, column in zip(columns, texts, strict=True)
                        ]
                        yield pa.record_batch(arrays, names=list(columns))
            except pa.ArrowInvalid as error:
                invalid = error
        if invalid is not None:
            raise invalid

    def _read_options(self, **options: Any) -> Any:
        if self._is_renamed:
            names = [*self.names, *blank_names(self.n_blank)]
            options |= {"column_names": names, "skip_rows_after_names": 1}
        return arrow(".csv").ReadOptions(skip_rows=self.n_before, **options)
