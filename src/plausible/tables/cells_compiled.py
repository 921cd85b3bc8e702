"""Plain CSV cut into cells, 64 letters at a time, and cells into codes, eight at a time.

What ends cells is told by bits of 64 letters, one after the other. Then text is seen as a number of
eight bytes from every place on: a cell of up to sixteen bytes is two numbers, by which it is found
in a table of known ones. Longer cells have the number of their first eight bytes and one mixed of
the others, and are compared letter by letter where both agree.
"""

from typing import Any

import numba
import numpy as np

U = np.uint64
ZERO, ONE, TWO = U(0), U(1), U(2)
LINE_END, QUOTE, RETURN = np.uint8(10), np.uint8(34), np.uint8(13)
IS_QUOTE, IS_RETURN = np.uint8(2), np.uint8(4)  # flags of letters; 1 is for what ends a cell
BLOCK = 4096  # letters that are flagged at a time
EACH = U(0x0101010101010101)
TO_BITS, TO_BYTE = U(0x0102040810204080), U(56)  # brings the lowest bits of eight bytes together
SEQUENCE, TO_PLACE = U(0x03F79D71B4CB0A89), U(58)  # in which all numbers of six bits come once
PLACES = np.zeros(64, np.uint8)  # of the only bit that is set, by the number that it brings up
for _k in range(64):
    PLACES[(int(SEQUENCE) << _k) % 2**64 >> 58] = _k
LAST = U(63)
MASKS = np.array([(1 << 8 * k) - 1 for k in range(9)], U)  # of the first k bytes
ODD = U(0x9E3779B97F4A7C15)  # spreads what differs in a few bits
HALF, LENGTH = U(32), U(0xFFFFFFFF)
_options: dict[str, Any] = {"nogil": True, "cache": True}


@numba.njit(**_options)
def _flag(letters, mark, flags):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write what each letter is; gives all bits of letters, and of flags."""
    seen, flagged = np.uint8(0), np.uint8(0)
    for k in range(len(letters)):
        letter = letters[k]
        is_end = np.uint8((letter == mark) | (letter == LINE_END))
        flag = np.uint8(
            is_end | np.uint8(letter == QUOTE) * IS_QUOTE | np.uint8(letter == RETURN) * IS_RETURN
        )
        flags[k] = flag
        seen, flagged = np.uint8(seen | letter), np.uint8(flagged | flag)
    return seen, flagged


@numba.njit(**_options)
def _bits(flags, start, which):  # type: ignore[no-untyped-def]  # pragma: no cover
    """One bit of each of 64 flags, which come eight at a time."""
    bits = ZERO
    for k in range(8):
        bits |= ((((flags[start + k] >> which) & EACH) * TO_BITS) >> TO_BYTE) << U(8 * k)
    return bits


@numba.njit(**_options)
def _enclosed(quotes, ends, returns, before):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Which of 64 letters are in quotes, and whether these enclose whole cells.

    `before` has three bits for the letter before them: whether it is in quotes, ends a cell, and
    closes quotes. The same is given for the last of them.
    """
    inside = quotes
    for k in range(6):
        inside ^= inside << U(1 << k)
    inside ^= ZERO - (before & ONE)
    outer, closing = ends & ~inside, quotes & ~inside
    begins = outer << ONE | (before >> ONE & ONE)
    follows = closing << ONE | before >> TWO
    is_right = (quotes & inside & ~begins) | (follows & ~(ends | returns)) == ZERO
    return inside, is_right, inside >> LAST | outer >> LAST << ONE | closing >> LAST << TWO


@numba.njit(**_options)
def split(text, start, stop, mark, n_columns, ends, flags, words):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write where the cells of some lines end; gives how many there are, and what else was seen.

    It stops where a line has other than `n_columns` cells, or quotes do not enclose one cell, which
    may hold marks, but no quotes; up to 64 ends too many are written then, and none is given. What
    was seen are all bits of letters, and whether there are quotes, and returns.
    """
    n_cells, column, last, is_right = 0, 0, n_columns - 1, True
    seen, has_quotes, has_returns, before = 0, False, False, TWO
    for block in range(start, stop, BLOCK):
        size = min(BLOCK, stop - block)
        for k in range(size, min(size + 64, BLOCK)):
            flags[k] = 0
        block_seen, flagged = _flag(text[block : block + size], mark, flags)
        seen |= block_seen
        has_quotes |= flagged & IS_QUOTE != 0
        has_returns |= flagged & IS_RETURN != 0
        for at in range(0, size, 64):
            hits = _bits(words, at // 8, ZERO)
            if has_quotes:
                quotes, returns = _bits(words, at // 8, ONE), _bits(words, at // 8, TWO)
                inside, is_right, before = _enclosed(quotes, hits, returns, before)
                hits &= ~inside
            else:
                before = hits >> LAST << ONE
            while hits != ZERO:
                hit = hits & (~hits + ONE)
                hits ^= hit
                place = block + at + np.int64(PLACES[(hit * SEQUENCE) >> TO_PLACE])
                is_right &= (text[place] == LINE_END) == (column == last)
                column = 0 if column == last else column + 1
                ends[n_cells] = place
                n_cells += 1
            if not is_right:
                return 0, seen, has_quotes, has_returns
    return n_cells, seen, has_quotes, has_returns


@numba.njit(**_options)
def _place(one, other, last):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Where a table, whose last place has all bits, looks for two numbers first."""
    key = (one ^ (other * ODD)) * ODD
    return np.int64(((key ^ (key >> HALF)) * ODD) >> HALF) & last


@numba.njit(**_options)
def encode(words, ends, column, n_columns, cut, codes, row, table, first, n_codes):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write codes of the cells of a column, and the first row of each, until a table is half full.

    `ends` has one place more in front, so that each cell begins behind the end of the one before;
    `cut` bytes of each cell do not belong to it. A table has for each cell that is known its two
    numbers, its length, and its code plus one. Gives the row that comes next, and how many codes
    there are.
    """
    last, most = len(table) - 1, len(table) // 2
    while row < len(codes):
        begin = np.int64(ends[row * n_columns + column]) + 1
        size = np.int64(ends[row * n_columns + column + 1]) - begin - cut
        one, other = words[begin] & MASKS[min(size, 8)], ZERO
        k = 8
        while k < size:
            word = words[begin + k] & MASKS[min(size - k, 8)]
            other = (other ^ (other >> HALF)) * ODD + word
            k += 8
        at = _place(one, other, last)
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
    last = len(table) - 1
    for k in range(len(known)):
        if known[k, 2] != ZERO:
            at = _place(known[k, 0], known[k, 1], last)
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


@numba.njit(**_options)
def are_simple(words, ends, column, n_columns, cut):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Whether no cell of a column begins with a blank, or with 0 and a digit or x behind a sign."""
    for cell in range(column, len(ends) - 1, n_columns):
        begin = np.int64(ends[cell]) + 1
        word = words[begin]
        first = word & U(255)
        if first == U(43) or first == U(45):
            word >>= U(8)
        second = word >> U(8) & U(255)
        is_digit = U(48) <= second <= U(57) or second | U(32) == U(120)
        is_blank = first == U(32) or first == U(9)
        if (word & U(255) == U(48) and is_digit) or (is_blank and begin < ends[cell + 1] - cut):
            return False
    return True
