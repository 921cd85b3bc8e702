"""Names that differ by a number alone, such as ``photo_17`` or ``img_00017.png``.

The eight bytes of each name that hold the number are one word. Bytes that are the same in all words
are left out; what remains should be digits, which three multiplications turn into their number: of
pairs of digits, of pairs of these, and of both halves.
"""

import numpy as np
from numpy.typing import NDArray

from plausible.tables.number_codes import encode_numbers, n_letters

WORD = 8
LOOK = 4096
BLOCK = 1 << 15  # rows that are computed with at a time, so that they stay in the cache
UInts = NDArray[np.uint64]


def _each(byte: int) -> np.uint64:
    """A word whose bytes are all the same."""
    return np.uint64(int.from_bytes(bytes([byte] * WORD), "little"))


NIBBLE, HIGH, DIGIT, SIX, ONE, SIXTEEN = map(_each, (0x0F, 0xF0, 0x30, 0x06, 0x01, 0x10))
STARTS = np.array([(1 << 8 * k) - 1 for k in range(WORD)] + [2**64 - 1], np.uint64)
PAIRS, FOURS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
TIMES = (np.uint64(10 * 2**8 + 1), np.uint64(100 * 2**16 + 1), np.uint64(10_000 * 2**32 + 1))


def encode_numbered(words: UInts) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Codes of words, and the first rows of different ones; None unless they differ by a number.

    Examples
    --------
    >>> names = [b"img7.png", b"img0.png", b"img7.png"]
    >>> encode_numbered(np.frombuffer(b"".join(names), np.uint64))
    (array([0, 1, 0]), array([0, 1]))
    """
    varies = int(np.bitwise_or.reduce(words[:LOOK] ^ words[0]))
    span = _span(varies)
    if span is None or numbers_in(words[:LOOK], *span) is None:
        return None
    span = _span(int(np.bitwise_or.reduce(words ^ words[0])))
    found = None if span is None else numbers_in(words, *span)
    return None if found is None else encode_numbers(found)


def _span(varies: int) -> tuple[int, int] | None:
    """The first byte that differs, and how many there are up to the last one."""
    if not varies:
        return None
    low = ((varies & -varies).bit_length() - 1) // 8
    return low, (varies.bit_length() + 7) // 8 - low


def numbers_in(words: UInts, low: int, count: int) -> NDArray[np.int64] | None:
    """Numbers that some bytes of words write, zeros behind them; None if some write none.

    Numbers of different lengths should have no zeros in front, or else two words could be one.
    """
    numbers = np.empty(len(words), np.uint64)
    n_digits = 0
    for start in range(0, len(words), BLOCK):
        part = words[start : start + BLOCK] >> np.uint64(8 * low)
        part &= STARTS[count]
        length = ((part & SIXTEEN) >> np.uint64(4)) * ONE >> np.uint64(56)
        is_digit = (part & HIGH) == (DIGIT & STARTS.take(length.view(np.int64)))
        part &= NIBBLE
        is_digit &= (part + SIX) & SIXTEEN == 0
        if not is_digit.all() or not length.all():
            return None
        n_digits += int(length.sum())
        part <<= np.uint64(8 * WORD) - (length << np.uint64(3))
        numbers[start : start + BLOCK] = _as_number(part)
    found = numbers.view(np.int64)
    is_fixed = n_digits == count * len(words)
    return found if is_fixed or n_letters(found) == n_digits else None


def _as_number(digits: UInts) -> UInts:
    """Eight digits from 0 to 9, the first one in the lowest byte, as one number."""
    digits = digits * TIMES[0] >> np.uint64(8)
    digits &= PAIRS
    digits *= TIMES[1]
    digits >>= np.uint64(16)
    digits &= FOURS
    digits *= TIMES[2]
    digits >>= np.uint64(32)
    return digits
