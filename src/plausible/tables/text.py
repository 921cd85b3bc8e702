"""The text of a file, as bytes in UTF-8 whatever it was written in.

UTF-8 is taken for granted where it fits, UTF-16 needs its mark (BOM), and other bytes are read as
Windows-1252 (which holds Latin-1 in print), with a note that shows a word, as several encodings
would fit. What fits none of these is refused.
"""

import codecs
import io
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from plausible.tables.content import UTF16_MARKS, Content
from plausible.tables.errors import TableError, arrow, reading

# Bytes; shorter text is parsed once and kept, longer text is parsed at each pass. Twice as much is
# kept where all of it is needed at the same time.
KEPT = 1 << 27
PIECE = 1 << 20
LARGE = 1 << 20  # bytes from which it matters when they are surveyed
LOOK = 1 << 18  # bytes that stay in the cache while they are surveyed
UTF8, UTF16, WINDOWS = "utf-8", "utf-16", "cp1252"
QUOTE = 34
WORD = re.compile(rb"[\w\x80-\xff]*[\x80-\xff][\w\x80-\xff]*")


class Text:
    """The text of a file.

    Attributes
    ----------
    name : str
        How errors call it.
    encoding : {"utf-8", "utf-16", "cp1252"}
    is_damaged : bool
        Whether some bytes are in none of them.
    n_quotes : int
        How many double quotes there are.
    notes : list of str
    is_surveyed : bool
        Whether it was looked through. Long text that begins with UTF-8 is taken for that, without
        quotes, until a patient user calls `survey`.
    """

    def __init__(self, content: Content, is_patient: bool = False) -> None:
        self.content, self.name = content, content.name
        self.notes: list[str] = []
        self.n_quotes, self.is_damaged = 0, False
        is_utf16 = content.head().startswith(UTF16_MARKS)
        self.encoding = UTF16 if is_utf16 else UTF8
        self._whole = content.whole(2 * KEPT if content.is_needed_whole else KEPT)
        self.is_surveyed = False
        if not (is_patient and self._begins_well()):
            self.survey()

    @property
    def is_plain(self) -> bool:
        """Whether it is UTF-8 without quotes, as far as is known."""
        return self.encoding == UTF8 and not self.n_quotes and not self.is_damaged

    def survey(self) -> None:
        """Look through all of it, once."""
        if self.is_surveyed:
            return
        self.is_surveyed = True
        with reading(self.name, "a text file"):
            self._survey()
        if self.encoding != UTF8 and self._whole is not None:
            self._whole = arrow().py_buffer(b"".join(pieces(self.open())))
        if self.encoding == UTF16:
            self.notes.append(f"{self.name} is in UTF-16")

    def _begins_well(self) -> bool:
        """Whether it is long, and begins with UTF-8."""
        if self.encoding != UTF8 or self._whole is None or len(self._whole) < LARGE:
            return False
        try:
            codecs.getincrementaldecoder(UTF8)("strict").decode(self._begin())
        except UnicodeDecodeError:
            return False
        return True

    def _begin(self) -> bytes:
        return bytes(memoryview(self._whole)[:LOOK])

    def begins_plainly(self) -> bool:
        """Whether there are no quotes in its first bytes."""
        return QUOTE not in self._begin()

    def pass_as_plain(self) -> None:
        """Take it for what it seems to be, since whoever has read it has seen all of it."""
        self.is_surveyed = True

    def whole(self) -> Any:
        """All bytes, as far as is known in UTF-8, as a buffer of Arrow; None if they are many."""
        return self._whole

    def take(self) -> Any:
        """The same, only once."""
        whole, self._whole = self._whole, None
        return whole

    def open(self) -> BinaryIO:
        """The bytes in UTF-8, from the start."""
        if self.encoding == UTF8:
            return self.content.open()
        return io.BufferedReader(Recoded(self.content.open(), self.encoding), PIECE)

    def open_text(self) -> io.TextIOWrapper:
        """The same as text; the few places that are not UTF-8 are replaced."""
        return io.TextIOWrapper(self.open(), "utf-8-sig", errors="replace", newline="")

    def _survey(self) -> None:
        """Count the quotes, and find out whether the bytes are UTF-8."""
        decoder = codecs.getincrementaldecoder(self.encoding)("strict")
        is_utf8 = True
        for piece in self._pieces():
            values = np.frombuffer(piece, np.uint8)
            self.n_quotes += int(np.count_nonzero(values == QUOTE))
            if self.encoding == UTF16 or (is_utf8 and not _is_plain(values, decoder)):
                try:
                    decoder.decode(bytes(piece))
                except UnicodeDecodeError:
                    is_utf8 = False
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            is_utf8 = False
        if not is_utf8 and self.encoding == UTF8:
            self._assume_windows()
        elif not is_utf8:
            raise TableError(
                f"{self.name} starts like text in UTF-16, but part of it is not; save it as CSV "
                "UTF-8."
            )

    def _pieces(self) -> Iterator[Any]:
        if self._whole is None:
            yield from pieces(self.content.open())
            return
        view = memoryview(self._whole)
        for start in range(0, len(view), LOOK):
            yield view[start : start + LOOK]

    def _assume_windows(self) -> None:
        """Take the text for Windows-1252, if nothing speaks against it."""
        decoder = codecs.getincrementaldecoder(UTF8)("replace")
        example, has_utf8 = b"", False
        for piece in pieces(self.content.open()):
            text = decoder.decode(piece)
            has_utf8 = has_utf8 or any(letter > "\x7f" and letter != "\ufffd" for letter in text)
            found = WORD.search(piece) if not example else None
            example = found[0] if found else example
            try:
                piece.decode(WINDOWS)
            except UnicodeDecodeError:
                has_utf8 = True
        if has_utf8:
            self.is_damaged = True  # whoever parses it says where
            return
        self.encoding = WINDOWS
        self.notes.append(
            f"{self.name} is not in UTF-8; it was read as Windows-1252 (Latin-1), in which it says "
            f"{example.decode(WINDOWS)[:40]!r}. If that is wrong, save it as CSV UTF-8"
        )


class Recoded(io.RawIOBase):
    """Bytes of another encoding as bytes in UTF-8."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self.file = file
        self.decoder = codecs.getincrementaldecoder(encoding)("replace")
        self.rest = b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read."""
        while not self.rest:
            piece = self.file.read(PIECE)
            self.rest = self.decoder.decode(piece, final=not piece).encode()
            if not piece:
                break
        n = min(len(buffer), len(self.rest))
        buffer[:n], self.rest = self.rest[:n], self.rest[n:]
        return n

    def close(self) -> None:
        """Close both."""
        self.file.close()
        super().close()


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of a file, some at a time."""
    with file:
        while piece := file.read(PIECE):
            yield piece


def _is_plain(values: Any, decoder: Any) -> bool:
    """Whether bytes are ASCII, and do not continue a letter that was begun."""
    return not decoder.getstate()[0] and bool(values.max(initial=0) < 128)
