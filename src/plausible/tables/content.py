"""The bytes of a table: a file, a compressed file, a file object, or standard input.

A table may be read more than once, so bytes that come only once are kept in a temporary file.
"""

import codecs
import gzip
import io
import os
import re
import sys
import tempfile
import weakref
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from plausible.checks import check_path, existing_file
from plausible.tables.errors import TableError, arrow, reading

IN_MEMORY = 1 << 24  # what comes only once is kept in memory up to this size, else on disk
PIECE = 1 << 20

PARQUET, ARROW, JSON_LINES, CSV = "Parquet", "Arrow", "JSON lines", "CSV"
JSON, EXCEL, DATABASE = "JSON", "Excel", "SQLite"
KINDS = {
    ".csv": CSV,
    ".tsv": CSV,
    ".txt": CSV,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW,
    ".feather": ARROW,
    ".ipc": ARROW,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".json": JSON,
    ".xlsx": EXCEL,
    ".xlsm": EXCEL,
}
GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
JSON_ARRAY = re.compile(rb"\[\s*([{\]]|$)")
GIVE = "give a CSV file in UTF-8, JSON, JSON lines, Excel (.xlsx), Parquet or Arrow"
FOREIGN = {
    ZIP: "a zip file",
    b"\xd0\xcf\x11\xe0": "a spreadsheet of Excel 97, or one with a password",
    b"%PDF": "a PDF file",
    b"\x93NUMPY": "a file of numpy",
    b"FEA1": "a Feather file of version 1",
    b"BZh": "a bzip2 file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"\xfd7zXZ": "an xz file",
    b"\x89HDF": "an HDF5 file",
    b"RDX2": "a workspace of R",
    b"RDX3": "a workspace of R",
    b"X\n\0\0": "an object of R",
    b"$FL2": "a file of SPSS",
    b"$FL3": "a file of SPSS",
    b"<stata_dta": "a file of Stata",
    b"@relation": "an ARFF file",
    b"@RELATION": "an ARFF file",
    b"<?xml": "an XML file",
    b"<annotations": "an XML file",
    b"<!DOCTYPE": "a web page",
    b"<html": "a web page",
    b"<table": "a web page",
}
ZIPPED = {b"vnd.oasis": "a spreadsheet of LibreOffice", b".npy": "a file of numpy"}
PACKED = ("a zip file", "a bzip2 file", "a zstd file", "an xz file")
MARKS = {  # parts of texts, by the tool that marks them
    "WebAnno or INCEpTION": re.compile(rb"#FORMAT=WebAnno TSV"),
    "brat": re.compile(rb"T\d+\t\S+ \d+ \d+[\t;]|R\d+\t\S+ Arg1:|E\d+\t\S+:T\d+|\*\t\S+ T\d+"),
}


def _is_encodable(name: str) -> bool:
    """Whether a name is text; one of bytes that are not UTF-8 can be opened by Python alone."""
    return not any(0xD800 <= ord(letter) < 0xE000 for letter in name)


class View(io.RawIOBase):
    """A reader of a shared file with a position of its own."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.at = file, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move."""
        if whence == os.SEEK_CUR:
            offset += self.at
        elif whence == os.SEEK_END:
            offset += self.file.seek(0, os.SEEK_END)
        self.at = max(offset, 0)
        return self.at

    def tell(self) -> int:
        """Where it stands."""
        return self.at

    def readinto(self, buffer: Any) -> int:
        """Read."""
        self.file.seek(self.at)
        data = self.file.read(len(buffer))
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


class Content:
    """Bytes that can be read from the start any number of times.

    Attributes
    ----------
    name : str
        How errors call it.
    kind : {"CSV", "JSON lines", "JSON", "Parquet", "Arrow", "Excel", "SQLite"}
    is_tabbed : whether the name says that tabs separate the cells
    sheet : name of the sheet that is asked for, as in "book.xlsx#Sheet", or None
    is_needed_whole : whether all rows will be in memory at the same time
    """

    def __init__(self, source: Any, is_needed_whole: bool = False) -> None:
        self.is_needed_whole = is_needed_whole
        self.path: Path | None = None
        self.file: IO[bytes] | None = None
        self.sheet: str | None = None
        if hasattr(source, "read"):
            given = getattr(source, "name", None)
            self.name = repr(Path(given).name) if isinstance(given, str) else "the file object"
            self._keep(source)
        elif isinstance(source, str) and source == "-":
            self.name = "standard input"
            self._keep(sys.stdin.buffer)
        elif check_path(source, "A table").is_fifo():  # such as <(command) of a shell
            self.name = repr(Path(source).name)
            with open(source, "rb") as file:
                self._keep(file)
        else:
            place, self.sheet = _sheet_of(source)
            self.path = existing_file(place)
            self.name = repr(self.path.name)
        suffixes = [suffix.lower() for suffix in Path(self.name.strip("'\"")).suffixes]
        self.is_compressed = self.head(raw=True).startswith(GZIP)
        if suffixes[-1:] == [".gz"]:
            del suffixes[-1]
        ending = suffixes[-1] if suffixes else ""
        self.is_tabbed = ending == ".tsv"
        self.kind = self._find_kind(KINDS.get(ending))

    def _find_kind(self, named: str | None) -> str:
        head = self.head()
        if head.startswith(b"PAR1"):
            return PARQUET
        if head.startswith(b"ARROW1") or head.startswith(b"\xff\xff\xff\xff"):
            return ARROW
        if head.startswith(ZIP) and self._is_workbook():
            return EXCEL
        if head.startswith(b"SQLite format 3\0"):
            return DATABASE
        foreign = next((what for magic, what in FOREIGN.items() if head.startswith(magic)), None)
        if head.startswith(ZIP):
            inside = (what for mark, what in ZIPPED.items() if mark in head)
            foreign = next(inside, foreign)
        if foreign or named in (PARQUET, ARROW, EXCEL):
            raise TableError(
                f"{self.name} should be {f'a table in {named}' if named else 'a table'}, but "
                f"{f'begins like {foreign}' if foreign else 'does not begin like one'}; "
                f"{'unpack it, and ' * (foreign in PACKED)}{GIVE}."
            )
        if head.startswith(UTF16_MARKS):
            head = head[: len(head) // 2 * 2].decode("utf-16", "replace").encode()
        if b"\0" in head:
            raise TableError(
                f"{self.name} should be a table, but contains zero bytes, as binary files and "
                f"UTF-16 without a mark (BOM) do; {GIVE}."
            )
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        marker = next((tool for tool, form in MARKS.items() if form.match(start)), None)
        if marker is not None:
            raise TableError(
                f"{self.name} should be a table of answers about whole items, but is a file of "
                f"{marker}, which marks parts of texts; write a CSV file with a row for each "
                "document and person, and the columns item, annotator and label."
            )
        if named == CSV:
            return CSV
        if JSON_ARRAY.match(start):
            return JSON
        return JSON_LINES if named is not None or start.startswith(b"{") else CSV

    def _is_workbook(self) -> bool:
        with self.open_file() as file, suppress(zipfile.BadZipFile, OSError, EOFError):
            return "xl/workbook.xml" in zipfile.ZipFile(file).namelist()
        return False

    def head(self, raw: bool = False) -> bytes:
        """The first bytes, decompressed unless raw."""
        with reading(self.name, "a file"), self.open(raw) as file:
            return file.read(64)

    def open(self, raw: bool = False) -> BinaryIO:
        """The bytes from the start, decompressed unless raw."""
        plain = raw or not self.is_compressed
        if self.path is not None:
            file: Any = open(self.path, "rb") if plain else gzip.open(self.path)  # noqa: SIM115
            return file
        assert self.file is not None
        file = io.BufferedReader(View(self.file), PIECE)
        return file if plain else gzip.GzipFile(fileobj=file)  # type: ignore[return-value]

    def whole(self, most: int) -> Any:
        """All bytes as a buffer of Arrow, decompressed, or None if they are more than `most`.

        A file is mapped, so that the buffer should be dropped before anybody may shorten the file.
        """
        if self.path is not None and not self.is_compressed:
            size = self.path.stat().st_size
            if size > most:
                return None
            if size and _is_encodable(str(self.path)):
                with arrow().memory_map(str(self.path)) as file:
                    return file.read_buffer()
        with reading(self.name, "a file"), self.open() as opened:
            content = opened.read(most + 1)
        return arrow().py_buffer(content) if len(content) <= most else None

    def open_file(self) -> BinaryIO:
        """A file that can be read at any place."""
        if self.is_compressed:
            with self.open() as file:
                self._keep(file)
            self.path, self.is_compressed = None, False
        return self.open()

    def open_random(self) -> Any:
        """What pyarrow can read at any place: a path, or a file that is not compressed."""
        return str(self.path) if self.is_plain_file else self.open_file()

    @property
    def is_plain_file(self) -> bool:
        """Whether the bytes are those of a file that pyarrow can open by its path."""
        return self.path is not None and not self.is_compressed and _is_encodable(str(self.path))

    def _keep(self, file: Any) -> None:
        """Copy what a file object still holds, so that it can be read again."""
        copy = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, copy.close)
        with reading(self.name, "a file object that can be read"):
            while piece := file.read(PIECE):
                copy.write(piece.encode() if isinstance(piece, str) else piece)
        self.file = copy


def _sheet_of(source: Any) -> tuple[Any, str | None]:
    """A path and the sheet that is named behind it, as in "book.xlsx#Sheet"."""
    path, mark, sheet = str(source).rpartition("#")
    is_book = mark and KINDS.get(Path(path).suffix.lower()) == EXCEL and sheet
    return (path, sheet) if is_book and not Path(source).exists() else (source, None)
