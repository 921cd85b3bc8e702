"""What pyarrow is told about a CSV file."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from plausible.tables.errors import arrow
from plausible.tables.kinds import MISSING


def parse_options(delimiter: str, has_quotes: bool) -> Any:
    """How cells and lines are cut."""
    return arrow(".csv").ParseOptions(delimiter=delimiter, newlines_in_values=has_quotes)


def convert_options(names: Sequence[str], columns: Sequence[str], direct: Mapping[str, str]) -> Any:
    """Some columns, as text but for `direct` ones, whose types are given."""
    pa = arrow()
    types = dict.fromkeys(names, pa.string())
    return arrow(".csv").ConvertOptions(
        column_types=types | {name: getattr(pa, kind)() for name, kind in direct.items()},
        include_columns=list(columns),
        null_values=MISSING,
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        check_utf8=False,  # the text was surveyed
    )


def parse_piece(names: Sequence[str], delimiter: str, counts: Collection[str], piece: Any) -> Any:
    """A part of plain text that has no header, in one chunk; `counts` are whole numbers."""
    options = arrow(".csv").ReadOptions(
        use_threads=False, column_names=list(names), block_size=len(piece) + 1
    )
    return arrow(".csv").read_csv(
        arrow().BufferReader(piece),
        options,
        parse_options(delimiter, has_quotes=False),
        convert_options(names, names, dict.fromkeys(counts, "int64")),
    )
