"""Text that others wrote, on screens: control characters are shown, never obeyed.

A name may hold letters that a terminal takes for commands (colors, the title of its window), or
that turn the order of the letters after them.
"""

import json
import re
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
