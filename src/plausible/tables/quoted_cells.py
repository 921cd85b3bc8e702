"""Cells that are written as ``="001"``, by which Excel is made to keep zeros in front.

They stand for the text between the quotes.
"""

from typing import Any

from plausible.tables.errors import arrow

BEGINS = '="'
FORM = r'^="([^"]*)"$'


def has_quoted(column: Any) -> bool:
    """Whether some cells of a column of text are written so."""
    pc = arrow(".compute")
    return bool(pc.any(pc.starts_with(column, BEGINS)).as_py()) and bool(
        pc.any(pc.match_substring_regex(column, FORM)).as_py()
    )


def unquoted(column: Any) -> Any:
    """The same column with the text of such cells; empty text is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> unquoted(pa.array(['="001"', "2", '=""', None])).to_pylist()
    ['001', '2', None, None]
    """
    pa, pc = arrow(), arrow(".compute")
    text = pc.replace_substring_regex(column, FORM, r"\1")
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def first_quoted(column: Any) -> str:
    """The first cell that is written so."""
    pc = arrow(".compute")
    return str(column.filter(pc.match_substring_regex(column, FORM))[0].as_py())
