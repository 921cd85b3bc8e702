"""Text that others wrote, on screens: control characters are shown, never obeyed.

A name may hold letters that a terminal takes for commands (colors, the title of its window), or
that turn the order of the letters after them.
"""

import json
import re
from collections.abc import Sequence
from unicodedata import category

HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # control, format, surrogate, line, paragraph
JOINERS = "\u200c\u200d"  # which scripts and emoji need
_UNUSUAL = re.compile(r"[^ -~]")


def is_hidden(letter: str) -> bool:
    """Whether a letter has no shape of its own, but may do something."""
    is_no_letter = ord(letter) & 0xFFFE == 0xFFFE
    return is_no_letter or (category(letter) in HIDDEN and letter not in JOINERS)


def visible(text: str, keep: str = "") -> str:
    r"""Text in which hidden letters are written out, but for those to keep.

    Examples
    --------
    >>> print(visible("\x1b[31mred, é"))
    \x1b[31mred, é
    >>> print(visible("two\nlines"))
    two\nlines
    """

    def shown(found: re.Match[str]) -> str:
        letter = found[0]
        if letter in keep or not is_hidden(letter):
            return letter
        return letter.encode("unicode_escape").decode("ascii")

    return _UNUSUAL.sub(shown, text)


def name_of(value: object, longest: int) -> str:
    r"""A name as text: one line, not too long, with hidden letters written out.

    Examples
    --------
    >>> print(name_of("two\nlines", 80), len(name_of("x" * 1000, 80)))
    two\nlines 80
    """
    text = visible(str(value)[: longest + 1])
    return text if len(text) <= longest else text[: longest - 1] + "…"


def set_in_words(names: Sequence[str], most: int = 8) -> str:
    """Classes as "a", "a or b", "a, b or c"; of many, the first.

    Examples
    --------
    >>> set_in_words(["a", "b", "c"]), set_in_words("abcd", most=3)
    ('a, b or c', 'a, b or 2 others')
    """
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} or {names[-1]}"


def visible_json(text: str) -> str:
    r"""JSON in which hidden letters within strings are written out, so that it means the same.

    Examples
    --------
    >>> print(visible_json('["\x9b31m"]'))
    ["\u009b31m"]
    """

    def shown(found: re.Match[str]) -> str:
        letter = found[0]
        return json.dumps(letter)[1:-1] if letter != "\n" and is_hidden(letter) else letter

    return _UNUSUAL.sub(shown, text)
