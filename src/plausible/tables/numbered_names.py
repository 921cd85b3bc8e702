"""Names that differ by a number alone, such as ``photo_17`` or ``img_00017.png``.

Eight bytes of each name that end with the number are one word. What stands before the number is
moved out of it, and three multiplications turn its digits into the number: of pairs of digits, of
pairs of these, and of both halves. All else should be the same in all names.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.tables.errors import arrow
from plausible.tables.kinds import places_of
from plausible.tables.number_codes import ROOM, NumberCodes, encode_numbers, n_letters

WORD = 8  # bytes, and so digits
HEAD = 4  # bytes of a name that a view of Arrow holds beside its length
INLINE = 12  # bytes of a name that a view holds in all
LOOK = 4096  # rows that tell where numbers stand
TASK = 1 << 17  # rows that are worth a turn of a thread
DIGITS = b"0123456789"
UInts = NDArray[np.uint64]
IntArray = NDArray[np.int64]


def _each(byte: int) -> np.uint64:
    """A word whose bytes are all the same."""
    return np.uint64(int.from_bytes(bytes([byte] * WORD), "little"))


DIGIT, SIX = map(_each, (0x30, 0x06))
HIGH = int(_each(0xF0))
PAIRS, FOURS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
TIMES = (np.uint64(10 * 2**8 + 1), np.uint64(100 * 2**16 + 1), np.uint64(10_000 * 2**32 + 1))
LENGTH = np.uint64(2**32 - 1)  # the part of a view that is the length


class Form(NamedTuple):
    """Where names have their numbers.

    name : one of them
    begin, end : of its number
    is_even : whether all names are as long; else they end with their numbers
    """

    name: bytes
    begin: int
    end: int
    is_even: bool


class NumberedNames:
    """Numbers of a column of names, which are read in parts, in any order.

    Attributes
    ----------
    numbers : int array (n,)
    is_sound : bool
        Whether all that were read are numbered alike.
    """

    def __init__(self, chunks: Sequence[Any], form: Form) -> None:
        self.chunks, self.form = chunks, form
        self.ends = np.cumsum([len(chunk) for chunk in chunks])
        self.numbers = np.empty(int(self.ends[-1]), np.int64)
        self.is_sound = True
        self._are_usual = True  # numbers without zeros in front

    def tasks(self) -> list[Callable[[], None]]:
        """What is to be done, in parts that are worth a turn."""
        turns = (self.ends - 1) // TASK
        starts = [0, *(np.flatnonzero(np.diff(turns)) + 1).tolist(), len(self.chunks)]
        return [partial(self._read, range(*part)) for part in pairwise(starts)]

    def _read(self, places: range) -> None:
        for place in places:
            chunk = self.chunks[place]
            found = self.numbers[self.ends[place] - len(chunk) : self.ends[place]]
            if not self.is_sound or not read_numbers(chunk, self.form, found):
                self.is_sound = False
                return
            if not self.form.is_even:
                self._look_at_digits(chunk, found)

    def _look_at_digits(self, chunk: Any, numbers: IntArray) -> None:
        """Notice whether some numbers have zeros in front."""
        ends = places_of(chunk)[0]
        if n_letters(numbers) != int(ends[-1] - ends[0]) - self.form.begin * len(chunk):
            self._are_usual = False

    def encoded(self) -> NumberCodes | None:
        """Codes of names, after all parts were read; None unless they differ as numbers do.

        Numbers of different lengths should have no zeros in front, or else two names could be one.
        """
        if not self.is_sound or not (self._are_usual or self._are_equal()):
            return None
        return encode_numbers(self.numbers)

    def _are_equal(self) -> bool:
        """Whether all names are of one length."""
        sizes = (np.diff(places_of(chunk)[0]) for chunk in self.chunks)
        length = len(self.form.name)
        return all((size == length).all() for size in sizes)


def numbered_names(column: Any) -> NumberedNames | None:
    """A column of names that are numbered, by a look at the first rows; None for others."""
    if column.null_count or sys.byteorder != "little" or not arrow().types.is_string(column.type):
        return None
    chunks = [chunk for chunk in getattr(column, "chunks", [column]) if len(chunk)]
    sample = chunks[0].slice(0, LOOK)
    form = form_of(sample)
    found = np.empty(len(sample), np.int64)
    if form is None or not read_numbers(sample, form, found):
        return None
    if int(found.max()) >= ROOM * len(column):
        return None
    return NumberedNames(chunks, form)


def form_of(sample: Any) -> Form | None:
    """Where some names have their numbers; None if they have none."""
    places, letters = places_of(sample)
    lengths = np.diff(places)
    name = bytes(letters[places[0] : places[1]])
    shortest, longest = int(lengths.min()), int(lengths.max())
    if longest > INLINE or name[-1:].strip(DIGITS) or not name:
        is_even = shortest == longest >= WORD
        table = letters[places[0] : places[-1]].reshape(-1, longest) if is_even else None
        return None if table is None else _even_form(name, table)
    begin = len(name.rstrip(DIGITS))
    return Form(name, begin, len(name), False) if begin < shortest else None


def _even_form(name: bytes, table: NDArray[np.uint8]) -> Form | None:
    """The same for names of one length, whose letters are the rows of a table."""
    varies = np.flatnonzero((table != table[0]).any(axis=0))
    if not len(varies):
        return None
    begin, end = int(varies[0]), int(varies[-1]) + 1
    while end < len(name) and name[end] in DIGITS:
        end += 1
    while begin > 0 and name[begin - 1] in DIGITS:
        begin -= 1
    begin = max(begin, end - WORD)
    return Form(name, begin, end, True) if begin <= varies[0] else None


def read_numbers(chunk: Any, form: Form, numbers: IntArray) -> bool:
    """Write the numbers of all names of an array; False unless all have that form."""
    digits = _even_digits(chunk, form) if form.is_even else _last_digits(chunk, form)
    if digits is None:
        return False
    spoiled = digits + SIX
    spoiled |= digits
    if int(np.bitwise_or.reduce(spoiled)) & HIGH:  # a byte above 9
        return False
    _as_numbers(digits, numbers.view(np.uint64))
    return True


def _last_digits(chunk: Any, form: Form) -> UInts | None:
    """Digits with which names end, the last one in the highest byte, and zeros below."""
    ends = places_of(chunk)[0]
    lengths = ends[1:] - ends[:-1]
    shortest, longest, begin = int(lengths.min()), int(lengths.max()), form.begin
    is_headed = begin >= HEAD  # the first four letters are no part of the number
    most = min(begin + WORD, INLINE) if is_headed else WORD
    pairs = views_of(chunk) if begin < shortest and longest <= most else None
    if pairs is None:
        return None
    size, word = pairs[:, 0], pairs[:, 1]
    name = form.name.ljust(WORD, b"\0")
    if is_headed:
        size = size ^ np.uint64(int.from_bytes(name[:HEAD], "little") << 32)
        if int(size.max()) > INLINE:  # it is no length alone
            return None
        name, begin = form.name[HEAD:].ljust(WORD, b"\0"), begin - HEAD
    else:
        word = word << np.uint64(32)
        word |= size >> np.uint64(32)
        size = size & LENGTH
    differs = word ^ np.uint64(int.from_bytes(name[:WORD], "little"))
    if int(np.bitwise_or.reduce(differs)) & ((1 << 8 * begin) - 1):
        return None
    size <<= np.uint64(3)
    shift = np.subtract(np.uint64(8 * (WORD + form.begin)), size, out=size)
    digits = np.right_shift(word, np.uint64(8 * begin), out=differs)
    digits <<= shift
    digits ^= DIGIT << shift
    return digits


def views_of(chunk: Any) -> UInts | None:
    """Views (n, 2) of names of at most twelve letters; None by older versions of Arrow.

    The lower half of the first word is the length, and all letters follow, with zeros behind them.
    """
    try:
        views = arrow(".compute").cast(
            chunk, arrow().string_view(), memory_pool=arrow().system_memory_pool()
        )
    except arrow().ArrowNotImplementedError:
        return None
    pairs = np.frombuffer(views.buffers()[1], np.uint64).reshape(-1, 2)
    return pairs[views.offset : views.offset + len(chunk)]


def _even_digits(chunk: Any, form: Form) -> UInts | None:
    """The same for names of one length, which stand behind one another."""
    places, letters = places_of(chunk)
    length = len(form.name)
    if not (np.diff(places) == length).all():
        return None

    def words(at: int) -> UInts:
        return np.ndarray((len(chunk),), "<u8", letters, int(places[0]) + at, (length,))

    constant = np.full(length, 255, np.uint8)
    constant[form.begin : form.end] = 0
    for start in (*range(0, length - WORD, WORD), length - WORD):
        mask = int.from_bytes(constant[start : start + WORD].tobytes(), "little")
        same = np.uint64(int.from_bytes(form.name[start : start + WORD], "little"))
        if mask and int(np.bitwise_or.reduce(words(start) ^ same)) & mask:
            return None
    start = max(form.end - WORD, 0)
    n_digits = form.end - form.begin
    digits = words(start) << np.uint64(8 * (start + WORD - form.end))
    kept = np.uint64(2**64 - (1 << 8 * (WORD - n_digits)))
    digits &= kept
    digits ^= DIGIT & kept
    return digits


def _as_numbers(digits: UInts, numbers: UInts) -> None:
    """Eight digits from 0 to 9, the first one in the lowest byte, as one number."""
    digits *= TIMES[0]
    digits >>= np.uint64(8)
    digits &= PAIRS
    digits *= TIMES[1]
    digits >>= np.uint64(16)
    digits &= FOURS
    digits *= TIMES[2]
    np.right_shift(digits, np.uint64(32), out=numbers)
