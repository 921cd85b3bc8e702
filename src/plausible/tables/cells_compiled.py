"""Plain CSV cut into cells, 64 letters at a time, and cells into codes, eight letters at a time.

What ends cells is told by bits of 64 letters, one after the other. Then text is seen as numbers of
eight bytes from any place on: a cell of up to sixteen bytes is two numbers, by which it is found in
a table of known ones. Longer cells have the number of their first eight bytes and one mixed of the
others, and are compared letter by letter where both agree.

Compiling is what a first file waits for, and is in proportion to what numba handles: loops get
nothing but whole numbers, arrays by their addresses, and what they do often gives LLVM its
instructions directly. Whoever calls keeps the arrays.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

U = np.uint64
ZERO, ONE, TWO, OPEN, LAST = U(0), U(1), U(2), U(5), U(63)
LINE_END, RETURN, QUOTE = 10, 13, 34
IS_FOREIGN, HAS_QUOTES, HAS_RETURNS = 1, 2, 4  # what `split` has seen
ODD = 0x9E3779B97F4A7C15  # spreads what differs in a few bits
MIX, HALF = U(ODD), U(32)
SHORT = 16  # bytes of a cell that are told by two numbers
BATCH = 32  # cells whose places in a table are asked for before they are looked at
# Bytes of a known cell: its two numbers, where it is, its length, and its code plus one; and of one
# that is looked for: the first three, its length, and the place of the table that comes first.
ENTRY, ROOM = 32, 40
CODE = 32  # bits of the length, above which the code is
BIT, BYTE, INT, WHOLE = (ir.IntType(n) for n in (1, 8, 32, 64))
LETTERS = ir.VectorType(BYTE, 64)
I8, B8 = types.int64, types.uint64
_options: dict[str, Any] = {"nogil": True, "cache": True, "no_cfunc_wrapper": True}


def _instruction(gives: Any, *takes: Any) -> Callable[[Callable[..., Any]], Any]:
    """Turn what writes instructions of LLVM into a function for compiled loops."""

    def made(write: Callable[..., Any]) -> Any:
        def lowered(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
            return write(builder, *arguments)

        def typed(context: Any, *given: Any) -> Any:
            return gives(*takes), lowered

        typed.__signature__ = signature(write)  # type: ignore[attr-defined]
        return intrinsic(typed)

    return made


def _load(b: Any, at: Any, kind: Any) -> Any:
    return b.load(b.inttoptr(at, kind.as_pointer()), align=1)


def _store(b: Any, at: Any, value: Any) -> Any:
    b.store(value, b.inttoptr(at, value.type.as_pointer()), align=1)
    return WHOLE(0)


@_instruction(B8, I8)
def word_at(b: Any, at: Any) -> Any:
    """Eight bytes."""
    return _load(b, at, WHOLE)


@_instruction(I8, I8)
def whole_at(b: Any, at: Any) -> Any:
    """A whole number of eight bytes."""
    return _load(b, at, WHOLE)


@_instruction(I8, I8)
def place_at(b: Any, at: Any) -> Any:
    """A whole number of four bytes."""
    return b.sext(_load(b, at, INT), WHOLE)


@_instruction(I8, I8, I8)
def put_whole(b: Any, at: Any, value: Any) -> Any:
    """Write a whole number of eight bytes."""
    return _store(b, at, value)


@_instruction(I8, I8, I8)
def put_place(b: Any, at: Any, value: Any) -> Any:
    """Write a whole number of four bytes."""
    return _store(b, at, b.trunc(value, INT))


@_instruction(I8, I8, B8, B8, I8, I8)
def put_entry(b: Any, at: Any, one: Any, other: Any, third: Any, fourth: Any) -> Any:
    """Write four numbers of eight bytes."""
    for k, value in enumerate((one, other, third, fourth)):
        _store(b, b.add(at, WHOLE(8 * k)), value)
    return WHOLE(0)


@_instruction(types.boolean, I8, B8, B8, I8)
def is_entry(b: Any, at: Any, one: Any, other: Any, size: Any) -> Any:
    """Whether an entry has these numbers, and this length."""
    found = [b.xor(_load(b, b.add(at, WHOLE(8 * k)), WHOLE), x) for k, x in enumerate((one, other))]
    length = b.zext(_load(b, b.add(at, WHOLE(24)), INT), WHOLE)
    return b.icmp_unsigned("==", b.or_(b.or_(*found), b.xor(length, size)), WHOLE(0))


@_instruction(B8, I8, I8)
def equal_at(b: Any, at: Any, letter: Any) -> Any:
    """One bit for each of 64 letters: whether it is this one."""
    nothing = ir.Constant(LETTERS, ir.Undefined)
    one = b.insert_element(nothing, b.trunc(letter, BYTE), INT(0))
    each = b.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(INT, 64), [0] * 64))
    return b.bitcast(b.icmp_unsigned("==", _load(b, at, LETTERS), each), WHOLE)


@_instruction(B8, I8)
def foreign_at(b: Any, at: Any) -> Any:
    """One bit for each of 64 letters: whether it is not ASCII."""
    none = ir.Constant(LETTERS, [0] * 64)
    return b.bitcast(b.icmp_signed("<", _load(b, at, LETTERS), none), WHOLE)


@_instruction(B8, B8)
def between(b: Any, quotes: Any) -> Any:
    """Bits from each first bit of a pair to before the second one."""
    for k in range(6):
        quotes = b.xor(quotes, b.shl(quotes, WHOLE(1 << k)))
    return quotes


@_instruction(I8, B8)
def first_bit(b: Any, bits: Any) -> Any:
    """The place of the lowest bit that is set."""
    return b.cttz(bits, BIT(0))


@_instruction(I8, B8)
def n_bits(b: Any, bits: Any) -> Any:
    """How many bits are set."""
    return b.ctpop(bits)


@_instruction(B8, I8)
def mask(b: Any, size: Any) -> Any:
    """All bits of so many bytes, of none if it is negative, of eight if it is more."""
    some = b.sub(b.shl(WHOLE(1), b.shl(size, WHOLE(3))), WHOLE(1))
    some = b.select(b.icmp_signed("<", size, WHOLE(8)), some, WHOLE(-1))
    return b.select(b.icmp_signed(">", size, WHOLE(0)), some, WHOLE(0))


@_instruction(I8, B8, B8)
def spread(b: Any, one: Any, other: Any) -> Any:
    """A number of 32 bits, about as often one as the other, made of two."""
    key = b.mul(b.xor(one, b.mul(other, WHOLE(ODD))), WHOLE(ODD))
    return b.lshr(b.mul(b.xor(key, b.lshr(key, WHOLE(32))), WHOLE(ODD)), WHOLE(32))


@_instruction(I8, I8)
def ask_for(b: Any, at: Any) -> Any:
    """Let the memory at a place come into the cache meanwhile."""
    pointer = BYTE.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, INT, INT, INT])
    prefetch = b.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    b.call(prefetch, [b.inttoptr(at, pointer), INT(0), INT(3), INT(1)])
    return WHOLE(0)


@_instruction(I8, B8, I8)
def is_odd(b: Any, word: Any, size: Any) -> Any:
    """Whether a cell begins with a blank, or with 0 and a digit or x behind a sign."""

    def letter(bits: Any) -> Any:
        return b.and_(bits, WHOLE(255))

    def is_one_of(found: Any, letters: str) -> Any:
        one, other = (b.icmp_unsigned("==", found, WHOLE(ord(each))) for each in letters)
        return b.or_(one, other)

    first = letter(word)
    bare = b.select(is_one_of(first, "+-"), b.lshr(word, WHOLE(8)), word)
    second = letter(b.lshr(bare, WHOLE(8)))
    is_digit = b.icmp_unsigned("<", b.sub(second, WHOLE(ord("0"))), WHOLE(10))
    goes_on = b.or_(is_digit, is_one_of(second, "xX"))
    is_zero = b.icmp_unsigned("==", letter(bare), WHOLE(ord("0")))
    is_blank = b.and_(is_one_of(first, " \t"), b.icmp_signed(">", size, WHOLE(0)))
    return b.zext(b.or_(b.and_(is_zero, goes_on), is_blank), WHOLE)


@numba.njit(**_options)
def count(text, tail, start, stop, letter):  # type: ignore[no-untyped-def]  # pragma: no cover
    """How often a letter comes; `tail` has the letters behind the last 64, as in `split`."""
    found, at = 0, start
    while at < stop:
        found += n_bits(equal_at(text + at if stop - at >= 64 else tail, letter))
        at += 64
    return found


@numba.njit(**_options)
def split(text, tail, start, stop, mark, n_columns, ends):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write where the cells of some lines end; gives how many there are, and what else was seen.

    It stops where a line has other than `n_columns` cells, or quotes do not enclose one cell, which
    may hold marks, but no quotes; up to 64 ends too many are written then, and none is given.
    `tail` has a copy of the letters behind the last 64, filled up with zeros. `before` has three
    bits for the letter before: whether it is in quotes, ends a cell, and closes quotes.
    """
    n_cells, left, at = 0, n_columns, start
    foreign, returned, quoted, wrong, before = ZERO, ZERO, ZERO, ZERO, TWO
    while at < stop:
        block = text + at if stop - at >= 64 else tail
        lines, returns, quotes = (
            equal_at(block, LINE_END), equal_at(block, RETURN), equal_at(block, QUOTE)
        )  # fmt: skip
        hits = lines | equal_at(block, mark)
        foreign |= foreign_at(block)
        returned |= returns
        quoted |= quotes
        if quotes | (before & OPEN):
            inside = between(quotes) ^ (ZERO - (before & ONE))
            outer, closing = hits & ~inside, quotes & ~inside
            begins, follows = outer << ONE | (before >> ONE & ONE), closing << ONE | before >> TWO
            wrong |= (quotes & inside & ~begins) | (follows & ~(hits | returns))
            before = inside >> LAST | outer >> LAST << ONE | closing >> LAST << TWO
            hits = outer
        else:
            before = hits >> LAST << ONE
        while hits:
            k = first_bit(hits)
            hits &= hits - ONE
            left -= 1
            wrong |= (lines >> U(k) & ONE) ^ U(left == 0)
            left = left if left else n_columns
            put_place(ends + 4 * n_cells, at + k)
            n_cells += 1
        if wrong:
            return 0, 0
        at += 64
    seen = (foreign != ZERO) * IS_FOREIGN + (quoted != ZERO) * HAS_QUOTES
    return n_cells, seen + (returned != ZERO) * HAS_RETURNS


@numba.njit(**_options)
def encode(text, ends, step, cut, row, stop, codes, table, last, first, n_codes, batch):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write codes of the cells of a column, and the first row of each, until a table is half full.

    A cell is behind its place in `ends` and before the next place, of which `cut` bytes do not
    belong to it; the one of the next row is `step` bytes further. The `last` place of a table has
    all bits. `batch` is room for some entries. Gives the row that comes next, and how many codes
    there are.
    """
    while row < stop:
        k, here, next_row, sizes = row, batch, min(row + BATCH, stop), 0
        while k < next_row:
            begin = place_at(ends + k * step) + 1
            size = place_at(ends + k * step + 4) - begin - cut
            begin += text
            sizes |= size
            one, other, j = word_at(begin) & mask(size), word_at(begin + 8) & mask(size - 8), SHORT
            while j < size:
                other = (other ^ (other >> HALF)) * MIX + (word_at(begin + j) & mask(size - j))
                j += 8
            at = table + ENTRY * (spread(one, other) & last)
            ask_for(at)
            put_entry(here, one, other, begin, size)
            put_whole(here + ENTRY, at)
            here += ROOM
            k += 1
        while sizes > SHORT and here > batch:
            here -= ROOM
            ask_for(whole_at(whole_at(here + ENTRY) + 16))
        here = batch
        while row < next_row:
            one, other, at = word_at(here), word_at(here + 8), whole_at(here + ENTRY)
            begin, size = whole_at(here + 16), whole_at(here + 24)
            here += ROOM
            while True:
                code = (whole_at(at + 24) >> CODE) - 1
                if code < 0:
                    if 2 * n_codes > last:
                        return row, n_codes
                    code = n_codes
                    n_codes += 1
                    put_entry(at, one, other, begin, n_codes << CODE | size)
                    put_whole(first + 8 * code, row)
                    break
                if is_entry(at, one, other, size):
                    if size <= SHORT:
                        break
                    known, j = whole_at(at + 16), 8
                    while j < size and not (
                        (word_at(begin + j) ^ word_at(known + j)) & mask(size - j)
                    ):
                        j += 8
                    if j >= size:
                        break
                at = at + ENTRY if at < table + ENTRY * last else table
            put_whole(codes + 8 * row, code)
            row += 1
    return row, n_codes


@numba.njit(**_options)
def gather(text, ends, step, cut, rows, n_rows, places, letters):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the cells of some rows one behind the other, without quotes, and where they begin.

    Eight letters are written at a time, the last of which may be overwritten by the next cell.
    """
    at, k = 0, 0
    while k < n_rows:
        near = ends + whole_at(rows + 8 * k) * step
        begin = place_at(near) + 1
        size = place_at(near + 4) - begin - cut
        if word_at(text + begin) & U(255) == U(QUOTE):
            begin, size = begin + 1, size - 2
        put_place(places + 4 * k, at)
        j = 0
        while j < size:
            put_whole(letters + at + j, whole_at(text + begin + j))
            j += 8
        at += size
        k += 1
    put_place(places + 4 * n_rows, at)


@numba.njit(**_options)
def are_simple(text, ends, step, cut, n_rows):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Whether no cell of a column begins with a blank, or with 0 and a digit or x behind a sign."""
    row, odd = 0, 0
    while row < n_rows:
        begin = place_at(ends) + 1
        odd |= is_odd(word_at(text + begin), place_at(ends + 4) - begin - cut)
        ends += step
        row += 1
    return odd == 0
