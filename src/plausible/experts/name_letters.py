"""What the letters of many names tell at once: that none has blanks around it, or is spelled twice.

Names in ASCII are rows of bytes. Others are looked at one by one, and so are those of which a quick
look cannot tell.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16  # letters that are looked at at a time, so that they stay in the cache
MIX, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
Letters = NDArray[np.uint8]


def letters_of(names: NDArray[Any]) -> Letters | None:
    """Names (n,) in ASCII as rows of bytes, filled up with zeros to a multiple of eight, or None.

    Examples
    --------
    >>> letters_of(np.array(["ab", "c"])).tolist()
    [[97, 98, 0, 0, 0, 0, 0, 0], [99, 0, 0, 0, 0, 0, 0, 0]]
    """
    width = names.dtype.itemsize // 4
    if names.dtype.kind != "U" or not names.size or not width:
        return None
    letters = np.ascontiguousarray(names).view(np.uint32).reshape(len(names), width)
    rows = np.zeros((len(names), -(-width // 8) * 8), np.uint8)
    step = max(BLOCK // width, 1)
    for start in range(0, len(names), step):
        part = letters[start : start + step]
        if part.max() > 127:
            return None
        rows[start : start + step, :width] = part
    return rows


def may_have_blanks(rows: Letters | None) -> bool:
    """Whether some name may begin or end with a blank.

    Examples
    --------
    >>> may_have_blanks(letters_of(np.array(["a b", "c"])))
    False
    >>> may_have_blanks(letters_of(np.array(["a b", "c "])))
    True
    """
    if rows is None:
        return True
    is_blank = rows - np.uint8(1) < 32  # zeros are the largest numbers then
    if not is_blank.any():
        return False
    ends = (is_blank[:, :-1] & (rows[:, 1:] == 0)).any() or is_blank[:, -1].any()
    return bool(ends or is_blank[:, 0].any())


def may_differ_by_case(rows: Letters | None) -> bool:
    """Whether two names may have the same letters but for their case.

    Examples
    --------
    >>> may_differ_by_case(letters_of(np.array(["Ann", "Bob"])))
    False
    >>> may_differ_by_case(letters_of(np.array(["Ann", "Bob", "ANN"])))
    True
    """
    if rows is None:
        return True
    is_capital = rows - np.uint8(ord("A")) < 26
    if not is_capital.any() or not (rows - np.uint8(ord("a")) < 26).any():
        return False
    words = (rows | is_capital * np.uint8(ord("a") - ord("A"))).view(np.uint64)
    numbers = words[:, 0] * MIX
    for k in range(1, words.shape[1]):
        numbers = ((numbers ^ (numbers >> HALF)) + words[:, k]) * MIX
    numbers.sort()
    return bool((numbers[1:] == numbers[:-1]).any())
