"""Plain CSV cut into cells, and cells into codes, eight letters at a time.

Text is seen as a number of eight bytes from every place on: it is compared with a mark in a few
operations, and a cell of up to sixteen bytes is two numbers, by which it is found in a table of
known ones. Longer cells have the number of their first eight bytes and one mixed of the others, and
are compared letter by letter where both agree.
"""

from typing import Any

import numba
import numpy as np

U = np.uint64
ZERO, ONE = U(0), U(1)
EACH = U(0x0101010101010101)
LOW = U(0x7F7F7F7F7F7F7F7F)
LINE_ENDS, QUOTES, RETURNS = U(10) * EACH, U(34) * EACH, U(13) * EACH
PLACES = U(0x0001020304050607)  # times 2^(8 k), its highest byte is k
TO_LOWEST, TO_BYTE = U(7), U(56)
MASKS = np.array([(1 << 8 * k) - 1 for k in range(9)], U)  # of the first k bytes
ODD = U(0x9E3779B97F4A7C15)  # spreads what differs in a few bits
HALF, LENGTH = U(32), U(0xFFFFFFFF)
_options: dict[str, Any] = {"nogil": True, "cache": True}


@numba.njit(**_options)
def _found(differs):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The highest bit of each byte that is zero."""
    return ~(((differs & LOW) + LOW) | differs | LOW)


@numba.njit(**_options)
def split(words, start, stop, mark, n_columns, ends):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write where the cells of some lines end; gives how many there are, and what else was seen.

    It stops where a line has other than `n_columns` cells, or quotes do not enclose one cell, which
    may hold marks, but neither quotes nor line ends. What was seen are all bits of letters, and
    whether there are quotes, and returns.
    """
    marks = U(mark) * EACH
    seen, quotes, returns = ZERO, ZERO, ZERO
    n_cells, column, last, begin, inside = 0, 0, n_columns - 1, start, False
    for at in range(start, stop, 8):
        word = words[at]
        if stop - at < 8:
            word &= MASKS[stop - at]
        line_ends, quoted = _found(word ^ LINE_ENDS), _found(word ^ QUOTES)
        returns |= _found(word ^ RETURNS)
        quotes |= quoted
        seen |= word
        hits = _found(word ^ marks) | line_ends | quoted
        while hits != ZERO:
            hit = hits & (~hits + ONE)
            hits ^= hit
            place = at + np.int64(((hit >> TO_LOWEST) * PLACES) >> TO_BYTE)
            is_last = line_ends & hit != ZERO
            if quoted & hit != ZERO:
                after = words[place] >> U(8) & U(255)
                is_end = after == U(mark) or after == U(10) or after == U(13)
                if not (is_end if inside else place == begin):
                    return n_cells, seen, True, True
                inside = not inside
            elif inside:
                if is_last:
                    return n_cells, seen, True, True
            elif is_last != (column == last):
                return n_cells, seen, True, True
            else:
                ends[n_cells] = place
                n_cells += 1
                column = 0 if is_last else column + 1
                begin = place + 1
    return n_cells, seen, quotes != ZERO, returns != ZERO


@numba.njit(**_options)
def _shift(table):  # type: ignore[no-untyped-def]  # pragma: no cover
    """What leaves as many bits of a number as a table has for its places."""
    shift = U(64)
    while len(table) >> np.int64(U(64) - shift) > 1:
        shift -= ONE
    return shift


@numba.njit(**_options)
def _place(one, other, shift):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Where a table looks for two numbers first."""
    key = (one ^ (other * ODD)) * ODD
    return np.int64(((key ^ (key >> HALF)) * ODD) >> shift)


@numba.njit(**_options)
def encode(words, ends, column, n_columns, cut, codes, row, table, first, n_codes):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write codes of the cells of a column, and the first row of each, until a table is half full.

    `ends` has one place more in front, so that each cell begins behind the end of the one before;
    `cut` bytes of each cell do not belong to it. A table has for each cell that is known its two
    numbers, its length, and its code plus one. Gives the row that comes next, and how many codes
    there are.
    """
    shift, last, most = _shift(table), len(table) - 1, len(table) // 2
    while row < len(codes):
        begin = np.int64(ends[row * n_columns + column]) + 1
        size = np.int64(ends[row * n_columns + column + 1]) - begin - cut
        one, other = words[begin] & MASKS[min(size, 8)], ZERO
        k = 8
        while k < size:
            word = words[begin + k] & MASKS[min(size - k, 8)]
            other = (other ^ (other >> HALF)) * ODD + word
            k += 8
        at = _place(one, other, shift)
        while True:
            entry = table[at, 2]
            if entry == ZERO:
                if n_codes >= most:
                    return row, n_codes
                table[at, 0], table[at, 1] = one, other
                table[at, 2] = (U(n_codes + 1) << HALF) | U(size)
                first[n_codes], codes[row] = row, n_codes
                n_codes += 1
                break
            if table[at, 0] == one and table[at, 1] == other and entry & LENGTH == U(size):
                code = np.int64(entry >> HALF) - 1
                same = True
                if size > 16:
                    known, k = np.int64(ends[first[code] * n_columns + column]) + 1, 8
                    while k < size and same:
                        differs = words[begin + k] ^ words[known + k]
                        same = differs & MASKS[min(size - k, 8)] == ZERO
                        k += 8
                if same:
                    codes[row] = code
                    break
            at = (at + 1) & last
        row += 1
    return row, n_codes


@numba.njit(**_options)
def fill(known, table):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the entries of a table into a larger one."""
    shift, last = _shift(table), len(table) - 1
    for k in range(len(known)):
        if known[k, 2] != ZERO:
            at = _place(known[k, 0], known[k, 1], shift)
            while table[at, 2] != ZERO:
                at = (at + 1) & last
            for j in range(3):
                table[at, j] = known[k, j]


@numba.njit(**_options)
def gather(words, ends, column, n_columns, cut, rows, places, letters):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the cells of some rows one behind the other, without quotes, and where they begin.

    Eight letters are written at a time, the last of which may be overwritten by the next cell.
    """
    at = 0
    for k in range(len(rows)):
        cell = rows[k] * n_columns + column
        begin = np.int64(ends[cell]) + 1
        size = np.int64(ends[cell + 1]) - begin - cut
        if words[begin] & U(255) == U(34):
            begin, size = begin + 1, size - 2
        places[k] = at
        for j in range(0, size, 8):
            letters[at + j] = words[begin + j]
        at += size
    places[len(rows)] = at
