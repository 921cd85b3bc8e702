"""CSV files as typed record batches, with the rows and lines of whatever is wrong.

Short files are parsed once, when they are opened, and kept as text, of which a column is typed when
it is first asked for. Of long ones, one pass learns the types of all columns, and each further pass
parses what it needs. pyarrow parses; what it passes over in silence (a quote that is never closed,
a name that comes twice) is looked for here.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

from plausible.tables.codes import (
    FEW,
    Encoded,
    distinct_all,
    encoded_numbers,
    has_many,
    recode,
    whole_numbers,
)
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
from plausible.tables.number_codes import is_written_so
from plausible.tables.quoted_cells import first_quoted, has_quoted, unquoted
from plausible.tables.source import CHUNK_ROWS, Source
from plausible.tables.text import Text
from plausible.tables.threads import at_once

BLOCKS = (1 << 20, 1 << 24, 1 << 28)  # bytes that are parsed at a time; a row has to fit
DAMAGED = "it may be damaged or cut off: write or download it again"
INT64 = "int64"
DIRECT = {INT: INT64, FLOAT: "float64"}  # kinds that pyarrow can parse by itself
LARGE = 1 << 20  # bytes from which it matters how whole numbers are parsed


class CsvSource(Source):
    """The rows of a CSV file."""

    format = CSV

    def __init__(self, content: Content) -> None:
        super().__init__()
        self.text, self.name, self.content = Text(content, is_patient=True), content.name, content
        self._typings: dict[str, Typing] = {}
        self._kinds: dict[str, str] = {}
        self._columns: dict[str, Any] = {}  # of short files: text, but for `_written`
        self._written: set[str] = set()  # columns of whole numbers, whose text is not kept
        self._clean_ones: set[str] = set()  # in which blank cells are missing
        self._values: dict[str, Any] = {}  # of short files: typed
        self._quoted: set[str] = set()  # columns with cells such as ="001"
        ahead = None if self.text.is_surveyed else self._parse_ahead()
        if ahead is None:
            self._read_header()
        self.notes += [*self.text.notes, *self._told]
        if self.text.is_damaged:
            check_encoding(self)
        whole = self.text.take()
        self.is_kept = whole is not None
        if self.is_kept:
            self._columns = self._keep(self._parse_whole(whole) if ahead is None else ahead)
        if self.text.n_quotes % 2:
            check_quotes(self)
        if self.n_blank:
            check_blank_end(self)

    def _read_header(self) -> None:
        header = read_header(self.text, self.content.is_tabbed)
        self.delimiter, self.names, self.n_before = header.delimiter, header.names, header.n_before
        self._is_renamed, self._counts, self._told = header.is_renamed, header.counts, header.notes
        self.is_empty, self.n_blank = header.is_alone, header.n_blank
        size = 4 * sum(map(len, self.names)) + 4 * len(self.names)
        self.block = next((block for block in BLOCKS if block > size), BLOCKS[-1])

    def _parse_ahead(self) -> dict[str, Any] | None:
        """Columns of text that begins plainly, parsed while it is surveyed.

        None if it cannot be parsed, or has to be parsed in another way, so that all has to be done
        again when it is known what the text is.
        """
        with ThreadPoolExecutor(1) as thread:
            survey = thread.submit(self.text.survey)
            columns = None
            with suppress(Exception):  # which comes again below, unless the survey explains it
                self._read_header()
                columns = self._parse_columns(self.text.whole())
            survey.result()
        return columns if self.text.is_plain else None

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
            lost = [name for name in columns if name not in self._typings]
            at_once([partial(self._typing, name) for name in lost], self._n_kept())
        return arrow().table([self.column(name, typed) for name in columns], names=list(columns))

    def column(self, name: str, typed: bool = True) -> Any:
        """One column, whole."""
        if not self.is_kept:
            return super().column(name, typed)
        if not typed:
            return self._clean(name)
        kind = self.kind(name)
        if kind == TEXT:
            return self._clean(name)
        if name not in self._values:
            self._values[name] = arrow().chunked_array(
                [as_kind(chunk, kind) for chunk in self._clean(name).chunks], type_of(kind)
            )
        return self._values[name]

    def named(self, name: str) -> Any:
        """A column of names: numbers and truth values as such, all else as it is written."""
        return self.column(name, self.is_valued(name))

    def keep_written(self, names: Sequence[str]) -> None:
        """Give columns of names from now on as `named` does, also where they come in batches."""
        for name in names:
            if not self.is_valued(name):
                self._kinds[name] = TEXT
                self._values.pop(name, None)

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
            tasks = [partial(self._number_codes, name) for name in lost]
            found = at_once(tasks, self._n_kept())
            rest = [name for name, it in zip(lost, found, strict=True) if not self._take(name, it)]
            for name, (codes, cells) in distinct_all({n: self._text(n) for n in rest}).items():
                self._codes[name] = recode(codes, cells, self._read_names(name, cells))
        return super().encoded_all(names)

    def _n_kept(self) -> int:
        """Rows of a short file."""
        return len(next(iter((self._columns or self._values).values())))

    def _number_codes(self, name: str) -> tuple[Encoded, Any] | None:
        """Codes and numbers of a column, if it holds whole ones that are written as usual."""
        if name in self._written:
            encoded = encoded_numbers(self._values[name])
            return None if encoded is None else (encoded, self._values[name])
        return whole_numbers(self._columns[name]) if name not in self._kinds else None

    def _take(self, name: str, found: tuple[Encoded, Any] | None) -> bool:
        """Keep what was found out about a column; False if it was nothing."""
        if found is not None:
            self._codes[name], self._values[name] = found
            if name not in self._written:
                self._typings[name] = Typing.of_whole_numbers(len(self._columns[name]))
        return found is not None and self.kind(name) == INT

    def _read_names(self, name: str, cells: Any) -> Any:
        """Distinct cells of a column of names as `named` reads them."""
        if name not in self._typings:
            self._typings[name] = Typing()
            self._typings[name].add(cells)
        kind = self.kind(name) if self.is_valued(name) else TEXT
        return as_kind(without_blanks(cells), kind)

    def is_measured(self, name: str) -> bool:
        """Whether a column holds so many different numbers that its codes would be no use."""
        if not self.is_kept or name in self._written or len(self._columns[name]) < FEW:
            return False
        return has_many(self._columns[name]) and self.kind(name) == FLOAT

    def kind(self, name: str) -> str:
        """What kind of values a column holds."""
        if name not in self._kinds:
            typing = self._typing(name)
            kind, note = typing.resolve(self.delimiter, self._has_decimal_commas)
            if kind not in DIRECT:
                self._values.pop(name, None)
            self._kinds[name] = kind
            self.notes += [f"{self.name}: column {name!r} {note}"] if note else []
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
        if name in self._typings:
            return self._typings[name]
        if self.is_kept:
            typing = self._typings[name] = Typing()
            numbers = typing.add(self._text(name))
            if numbers is not None:
                self._values[name] = without_nan(numbers)
            return typing
        self._typings = {name: Typing() for name in self.names}
        for batch in self._stream(self.names, {}, clean=False):
            for column, typing in zip(batch.columns, self._typings.values(), strict=True):
                typing.add(column)
        return self._typings[name]

    def _has_decimal_commas(self) -> bool:
        return any(self._typing(name).has_decimal_commas for name in self.names)

    def _clean(self, name: str) -> Any:
        """Text of a short file, in which blank cells are missing."""
        if name not in self._clean_ones:
            self._columns[name] = without_blanks(self._text(name))
            self._clean_ones.add(name)
        return self._columns[name]

    def _text(self, name: str) -> Any:
        """Text of a short file; that of whole numbers is written again."""
        if name not in self._columns:
            self._columns[name] = self._values[name].cast(arrow().string())
        return self._columns[name]

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

    def _parse_whole(self, whole: Any) -> dict[str, Any]:
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

    def _parse_columns(self, whole: Any, block: int | None = None) -> dict[str, Any]:
        """All columns as text, but for those of whole numbers, if they are written as these."""
        pa, block = arrow(), block or self.block
        if self.is_empty:
            return {name: pa.chunked_array([], pa.string()) for name in self.names}
        if self._counts and len(whole) >= LARGE and not self.text.n_quotes:
            with suppress(pa.ArrowInvalid):
                columns = self._parse_at_once(whole, block, dict.fromkeys(self._counts, INT64))
                if is_written_so(whole, columns):
                    return columns
        return self._parse_at_once(whole, block, {})

    def _parse_at_once(self, whole: Any, block: int, direct: dict[str, str]) -> dict[str, Any]:
        table = arrow(".csv").read_csv(
            arrow().BufferReader(whole),
            self._read_options(block_size=block),
            parse_options(self.delimiter, self.text.n_quotes > 0),
            convert_options(self.names, self.names, direct),
            arrow().system_memory_pool(),  # which gives memory back later than others
        )
        return {
            name: self._unquoted(name, column)
            for name, column in zip(self.names, table.columns, strict=True)
        }

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

    def _keep(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Keep columns of whole numbers as such; the others are returned."""
        written = {name for name in columns if not arrow().types.is_string(columns[name].type)}
        for name in written:
            self._written.add(name)
            self._values[name] = numbers = columns[name]
            n_cells = len(numbers) - numbers.null_count
            self._typings[name] = Typing.of_whole_numbers(n_cells)
        return {name: column for name, column in columns.items() if name not in written}

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
