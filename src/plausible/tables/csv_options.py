"""What pyarrow is told about a CSV file."""

from collections.abc import Mapping, Sequence
from typing import Any

from plausible.tables.errors import arrow
from plausible.tables.kinds import MISSING


def parse_options(delimiter: str, has_quotes: bool) -> Any:
    """How cells and lines are cut."""
    return arrow(".csv").ParseOptions(delimiter=delimiter, newlines_in_values=has_quotes)


def convert_options(names: Sequence[str], columns: Sequence[str], direct: Mapping[str, str]) -> Any:
    """Some columns, as text but for `direct` ones, whose types are given."""
    pa = arrow()
    types = dict.fromkeys([*names, *columns], pa.string())
    return arrow(".csv").ConvertOptions(
        column_types=types | {name: getattr(pa, kind)() for name, kind in direct.items()},
        include_columns=list(columns),
        null_values=MISSING,
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        check_utf8=False,  # the text was surveyed
    )
