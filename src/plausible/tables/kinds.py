"""What kind of values a column of text holds, and these values.

A cell of text is missing if it is empty or one of NA, N/A, NaN, null in its usual spellings (not in
quotes). Every cell rules out the kinds that it cannot be; what all cells of a column leave open is
its kind, so that neither the order of the rows nor the way they are cut matters. Whole numbers with
leading zeros (007) or too long for 64 bits are identifiers, and stay text. Where two readings with
different values remain (1,234 or 01/02/2024), the column stays text, with a note.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from plausible.tables.errors import arrow
from plausible.tables.far_numbers import FAR, are_far, furthest
from plausible.tables.letters import are_alike, extent, has_leading_zeros, may_have_blanks

NULL, BOOL, INT, FLOAT, TEXT = "null", "bool", "int", "float", "text"
SPACED, COMMA, GROUPED, PERCENT = "spaced", "decimal comma", "grouped", "percent"
PRINTED = "minus sign"  # which is no hyphen, as in print
DAY_FIRST, MONTH_FIRST = "day first", "month first"
MISSING = ("", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "Null", "#N/A")
WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
STARTS = "tTfFiInN"  # letters with which true, false, infinity and NaN begin
N_SAMPLE = 40


class Rule(NamedTuple):
    """A kind: the form of its cells, and how to bring them to one that Arrow reads."""

    pattern: str
    type: str
    steps: tuple[tuple[str, str], ...] = ()
    said: str = ""  # what a note says that the cells have


class Assumed(NamedTuple):
    """What cells have that can be read in more than one way, and which way was taken."""

    key: str  # the same for columns of which the same was assumed
    said: str


SIGN, HYPHEN = r"[+\-\x{2212}]?", (r"\x{2212}", "-")
WHOLE, POWER = r"0|[1-9]\d{0,18}", r"[eE][+-]?\d+"
CLEAR = rf"(?i)^[+-]?(\d+({POWER})?|inf|infinity)$"  # that have one reading
CODE = r"^\s*\d+([eE]\d+)?\s*$"
DAY, CLOCK = r"\d{4}-\d\d-\d\d", r"[T ]\d\d:\d\d(:\d\d(\.\d{1,%d})?)?"
ZONE = r"(Z|[+-]\d\d(:?\d\d)?)"
TIME = r" \d{1,2}:\d\d(:\d\d)?"
PAD = ((r"-(\d)\b", r"-0\1"), (r" (\d):", r" 0\1:"))
RULES: dict[str, Rule] = {
    BOOL: Rule(f"^({'|'.join(WORDS)})$", "bool"),
    INT: Rule("", "int64"),
    FLOAT: Rule("", "float64"),
    PRINTED: Rule(  # or simply numbers
        rf"(?i)^{SIGN}((({WHOLE})(\.\d*)?|\.\d+)(e{SIGN}\d+)?|inf|infinity)$", "float64",
        (HYPHEN,), "minus signs as in print",
    ),
    SPACED: Rule(
        rf"^{SIGN}(({WHOLE})({POWER})?|[1-9]\d{{0,2}}(['\x{{a0}}\x{{202f}} ]\d{{3}})+)$", "float64",
        (HYPHEN, ("[' \\x{a0}\\x{202f}]", "")), "thousands separators",
    ),
    COMMA: Rule(
        rf"^{SIGN}((({WHOLE})(,\d+)?|,\d+)({POWER})?"
        r"|[1-9]\d{0,2}([.'\x{a0}\x{202f} ]\d{3})+(,\d+)?|(?i:inf|infinity))$", "float64",
        (HYPHEN, ("[.' \\x{a0}\\x{202f}]", ""), (",", ".")), "decimal commas",
    ),
    GROUPED: Rule(  # or simply numbers
        rf"(?i)^{SIGN}((({WHOLE}|[1-9]\d{{0,2}}([,'\x{{a0}}\x{{202f}} ]\d{{3}})+)(\.\d*)?|\.\d+)"
        rf"(e{SIGN}\d+)?|inf|infinity)$", "float64",
        (HYPHEN, ("[,' \\x{a0}\\x{202f}]", "")), "thousands separators",
    ),
    PERCENT: Rule(
        rf"^{SIGN}(0|[1-9]\d*)(\.\d+|,\d{{1,2}}|,\d{{4,}})?[ \x{{a0}}\x{{202f}}]?%$", "float64",
        (HYPHEN, ("[ %\\x{a0}\\x{202f}]", ""), (",", ".")), "percent signs",
    ),
    "date": Rule(rf"^{DAY}$", "date32"),
    "moment": Rule(rf"^{DAY}{CLOCK % 6}$", "us"),
    "fine moment": Rule(rf"^{DAY}{CLOCK % 9}$", "ns"),
    "moment in a zone": Rule(rf"^{DAY}{CLOCK % 6}{ZONE}$", "us, UTC"),
    "fine moment in a zone": Rule(rf"^{DAY}{CLOCK % 9}{ZONE}$", "ns, UTC"),
}  # fmt: skip

# Days in other orders: the form, what is swapped, and what a note says.
ORDERS = {
    "year first": (r"\d{4}/\d{1,2}/\d{1,2}", (r"^(\d+)/(\d+)/(\d+)", r"\1-\2-\3"), "dates"),
    "dotted": (
        r"\d{1,2}\.\d{1,2}\.\d{4}", (r"^(\d+)\.(\d+)\.(\d+)", r"\3-\2-\1"), "dates, day first"
    ),
    DAY_FIRST: (
        r"\d{1,2}[/-]\d{1,2}[/-]\d{4}", (r"^(\d+).(\d+).(\d+)", r"\3-\2-\1"), "dates, day first"
    ),
    MONTH_FIRST: (
        r"\d{1,2}[/-]\d{1,2}[/-]\d{4}", (r"^(\d+).(\d+).(\d+)", r"\3-\1-\2"),
        "dates, month first",
    ),
}  # fmt: skip
for _name, (_form, _swap, _said) in ORDERS.items():
    RULES[_name] = Rule(f"^{_form}$", "date32", (_swap, *PAD), _said)
    RULES[f"{_name}, with time"] = Rule(f"^{_form}{TIME}$", "us", (_swap, *PAD), _said)

EVERY = frozenset(RULES)
WHOLE_KINDS = frozenset({INT, FLOAT, SPACED, COMMA, GROUPED, PRINTED})  # of all whole numbers
FRACTIONS = frozenset({FLOAT, GROUPED, PRINTED})  # that simple fractions suit
DATES = EVERY - {BOOL, PERCENT} - WHOLE_KINDS  # in whose forms any digit may be any other
FINE = "fine "  # begins the kinds of moments to a billionth of a second
# Pairs that leave open what was meant.
RIVALS = {
    (COMMA, GROUPED): "in which the comma may be decimal or separate thousands; write numbers as "
    "1234.5",
    **{
        (f"{DAY_FIRST}{time}", f"{MONTH_FIRST}{time}"): "in which the day may be the first number "
        "or the second; write dates as 2024-12-31"
        for time in ("", ", with time")
    },
}
POINT_OR_GROUP = (
    "in which the point may be decimal or, as other columns have decimal commas, separate "
    "thousands; write numbers alike in all columns"
)
COMMA_IN_CELLS = (
    "which may be a number with a decimal comma, or a list; write 1.5, or separate the cells by "
    "semicolons"
)


class Typing:
    """What the cells of a column leave open.

    Attributes
    ----------
    possible : frozenset of kinds
    n_cells : int
        Cells that are not missing.
    is_tidy : bool
        Whether numbers stand without blanks around them, if it is a column of numbers.
    example : str or None
        A cell that is not simply a number, if there is one.
    is_code : bool
        Whether cells that are no whole numbers look like 12e3: as names they are codes, since no
        program writes numbers so.
    """

    def __init__(self) -> None:
        self.possible = EVERY
        self.n_cells = 0
        self.is_tidy = True
        self.example: str | None = None
        self.is_code = True

    @classmethod
    def of_whole_numbers(cls, n_cells: int) -> "Typing":
        """What cells leave open that are all whole numbers."""
        made = cls()
        made.possible, made.n_cells = WHOLE_KINDS, n_cells
        return made

    def add(self, column: Any) -> Any:
        """Learn from more cells; numbers or dates are returned if that is all they hold."""
        if not self.possible:
            return None
        sample = _sample(column)
        if not len(sample):
            return None
        self.n_cells += len(column) - column.null_count
        first = sample[0].as_py()
        is_word = first[:1].isalpha() and first[0] not in STARTS
        likely = {kind for kind in self.possible if not is_word and _may_be(kind, first)}
        likely = {kind for kind in likely if suits(kind, sample)}
        if likely and likely <= DATES and are_alike(column, first):
            return self._add_dates(column, first, likely)
        numbers = _numbers(column, likely)
        if numbers is None and likely:
            self.is_tidy = False
            column = without_blanks(column)
            numbers = _numbers(trim(column), likely) if likely & {INT, FLOAT} else None
        if numbers is not None and arrow().types.is_integer(numbers.type):
            self.possible &= WHOLE_KINDS
            return numbers
        self.is_code = (
            self.is_code and FLOAT in likely and _are_codes(sample) and _are_codes(column)
        )
        sure = FRACTIONS & likely if numbers is not None else frozenset()
        self.possible &= self._narrowed(column, sure, likely - sure - {INT, FLOAT})
        return numbers

    def _add_dates(self, column: Any, first: str, likely: set[str]) -> Any:
        """Learn from cells that have the form of the first one; dates of the first kind found."""
        found: dict[str, Any] = {}
        for kind in (kind for kind in RULES if kind in likely):
            with suppress(arrow().ArrowInvalid):
                known = found.get(kind.removeprefix(FINE))
                found[kind] = _convert(column, RULES[kind]) if known is None else _as_fine(known)
        self.possible &= found.keys()
        self.is_code = False
        if found and (self.example is None or re.search(CLEAR, self.example)):
            self.example = first
        return next(iter(found.values()), None)

    def _narrowed(self, column: Any, sure: frozenset[str], open_: set[str]) -> frozenset[str]:
        """Kinds that suit all cells, among sure ones and those that suit the first cells."""
        likely: frozenset[str] = sure
        if open_:
            cells = trim(column.drop_null())
            likely = sure | {kind for kind in open_ if suits(kind, cells)}
            if likely - {FLOAT, BOOL} and (self.example is None or re.search(CLEAR, self.example)):
                is_clear = arrow(".compute").match_substring_regex(cells, CLEAR)
                index = is_clear.index(False).as_py()
                self.example = cells[max(index, 0)].as_py()
        return likely

    def resolve(
        self,
        delimiter: str,
        has_commas: Callable[[], bool],
        has_points: Callable[[], bool] = lambda: False,
    ) -> tuple[str, Assumed | None]:
        """The kind, and what was assumed, if anything was.

        `has_commas` and `has_points` tell whether other columns of the file surely have decimal
        commas, or decimal points.
        """
        if not self.n_cells:
            return NULL, None
        kind = next((kind for kind in RULES if kind in self.possible), TEXT)
        if kind == COMMA and GROUPED in self.possible and delimiter == "," and has_points():
            kind = GROUPED  # where numbers have points, commas separate thousands
        doubt = ""
        is_pointed = kind == FLOAT and COMMA in self.possible and SPACED not in self.possible
        if is_pointed and delimiter != "," and has_commas():
            doubt = POINT_OR_GROUP
        for first, second in RIVALS:
            if kind == first and second in self.possible:
                doubt = RIVALS[first, second]
        if kind == COMMA and delimiter == "," and not doubt:
            doubt = COMMA_IN_CELLS
        if doubt:
            return TEXT, Assumed(doubt, f"cells such as {self.example!r}, {doubt}")
        said = RULES[kind].said if kind in RULES else ""
        if not said:
            return kind, None
        value = as_kind(arrow().array([self.example]), kind)[0].as_py()
        value = f"{value:.15g}" if isinstance(value, float) else value
        return kind, Assumed(said, f"{said}: {self.example!r} was read as {value}")

    @property
    def has_decimal_points(self) -> bool:
        """Whether there are fractions with a point, which separates no thousands."""
        return self.n_cells > 0 and FLOAT in self.possible and not {INT, COMMA} & self.possible

    @property
    def has_decimal_commas(self) -> bool:
        """Whether a comma can only be decimal."""
        return self.n_cells > 0 and COMMA in self.possible and not {GROUPED, FLOAT} & self.possible


def _are_codes(column: Any) -> bool:
    """Whether cells are digits, with a letter e among them somewhere."""
    pc = arrow(".compute")
    return bool(pc.all(pc.match_substring_regex(column, CODE)).as_py())


def _sample(column: Any) -> Any:
    """The first cells that are there, without blanks around them."""
    for part in (column.slice(0, 10 * N_SAMPLE), column):
        cells = without_blanks(part).drop_null()
        if len(cells):
            break
    return trim(cells.slice(0, N_SAMPLE))


def _numbers(column: Any, likely: set[str]) -> Any:
    """The cells as whole or other numbers, if all of them are; None otherwise."""
    pa, pc = arrow(), arrow(".compute")
    for kind, type_ in ((INT, pa.int64()), (FLOAT, pa.float64())):
        if kind in likely and column.null_count < len(column):
            try:
                numbers = pc.cast(column, type_)
            except pa.ArrowInvalid:
                continue
            return None if _has_identifiers(column, numbers) else numbers
    return None


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    """What cells of a kind look like, for Python."""
    return re.compile(re.sub(r"\\x\{(\w+)\}", _character, RULES[kind].pattern))


def _character(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _may_be(kind: str, cell: str) -> bool:
    """Whether a cell looks like one of a kind: to rule out most kinds, without a call of Arrow."""
    return _pattern(kind).search(cell) is not None


def suits(kind: str, cells: Any) -> bool:
    """Whether all cells, none of which is missing or has blanks around it, are of a kind."""
    pa, pc = arrow(), arrow(".compute")
    rule = RULES[kind]
    if rule.pattern and not pc.all(pc.match_substring_regex(cells, rule.pattern)).as_py():
        return False
    if kind == BOOL:
        return True
    try:
        _convert(cells, rule)
    except pa.ArrowInvalid:
        return False
    return True


def _convert(cells: Any, rule: Rule) -> Any:
    pa, pc = arrow(), arrow(".compute")
    for pattern, new in rule.steps:
        cells = pc.replace_substring_regex(cells, pattern, new)
    unit, _, zone = rule.type.partition(", ")
    moments = {"us": pa.timestamp("us", zone or None), "ns": pa.timestamp("ns", zone or None)}
    return pc.cast(cells, moments[unit] if unit in moments else getattr(pa, unit)())


def _as_fine(moments: Any) -> Any:
    """The first and the last of some moments to a billionth of a second, if they can be so."""
    pa, pc = arrow(), arrow(".compute")
    ends = pc.min_max(moments)
    both = pa.array([ends["min"].value, ends["max"].value], pa.int64()).cast(moments.type)
    return pc.cast(both, pa.timestamp("ns", moments.type.tz))


def as_kind(column: Any, kind: str) -> Any:
    """A column of text as values of a kind that suits it."""
    pa, pc = arrow(), arrow(".compute")
    if kind == TEXT:
        return column
    if kind == NULL:
        return pa.nulls(len(column))
    if kind == BOOL:
        known = pc.is_in(column, pa.array([word for word, value in WORDS.items() if value]))
        return pc.if_else(pc.is_null(column), pa.scalar(None, pa.bool_()), known)
    values = without_nan(_convert(trim(column), RULES[kind]))
    return pc.divide(values, 100.0) if kind == PERCENT else values


def type_of(kind: str) -> Any:
    """The Arrow type of a kind."""
    pa = arrow()
    simple = {NULL: pa.null, BOOL: pa.bool_, TEXT: pa.string}
    return (
        simple[kind]() if kind in simple else _convert(pa.array([], pa.string()), RULES[kind]).type
    )


def trim(column: Any) -> Any:
    """Text without blanks around it."""
    return arrow(".compute").utf8_trim_whitespace(column)


def without_blanks(column: Any) -> Any:
    """A column of text in which cells that are blank, or a marker among blanks, are missing."""
    pa, pc = arrow(), arrow(".compute")
    if not column.null_count and not may_have_blanks(column):
        return column
    length, n_empty, is_ascii = extent(column)
    trimmed = pc.ascii_trim_whitespace(column) if is_ascii else trim(column)
    if n_empty <= column.null_count and extent(trimmed)[0] == length:
        return column
    blank = pc.and_(
        pc.is_in(trimmed, pa.array(MISSING, pa.string())),
        pc.or_(pc.not_equal(trimmed, column), pc.equal(column, "")),
    )
    if not pc.any(blank).as_py():
        return column
    return pc.if_else(blank, pa.scalar(None, pa.string()), column)


def without_nan(column: Any) -> Any:
    """A column in which numbers that are none are missing."""
    pc = arrow(".compute")
    if not arrow().types.is_floating(column.type) or not np.isnan(furthest(column)):
        return column
    nowhere = pc.is_nan(column)
    if not pc.any(nowhere).as_py():
        return column
    return pc.if_else(nowhere, arrow().scalar(None, column.type), column)


def _has_identifiers(column: Any, numbers: Any) -> bool:
    """Whether text that can be read as numbers has leading zeros, or too many digits."""
    if are_far(numbers):
        pc = arrow(".compute")
        far = column.filter(pc.greater_equal(pc.abs(numbers), FAR))
        if pc.any(pc.match_substring_regex(far, r"^\s*[+-]?[0-9]+\s*$")).as_py():
            return True
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    return any(has_leading_zeros(chunk) for chunk in chunks if len(chunk))
