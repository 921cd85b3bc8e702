"""Words of people: which mean the same, which say that somebody does not know, which are two.

Names are compared without regard to case, to blanks, and to ``_`` or ``-`` between letters. What a
word means is only settled here where it is certain; everything else is told, or refused.
"""

import ast
import html
import json
import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from plausible.checks import shown
from plausible.errors import InputError

JOINTS = re.compile(r"(?<=[^\W\d_])[\s_-]+(?=[^\W\d_])")
# Blanks without width, soft hyphens, marks of byte order, and marks that vary how a sign is drawn.
INVISIBLE = re.compile("[\u00ad\u200b\u200c\u2060\ufe00-\ufe0f\ufeff]")
QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u201e": "\u201c", "\u2018": "\u2019",
          "\u201a": "\u2018", "\u00ab": "\u00bb", "\u00bb": "\u00ab"}  # fmt: skip
WHOLE_AS_FRACTION = re.compile(r"([+-]?\d+)\.0+")
EITHER = re.compile(r"\s+or\s+|\s*[/|]\s*", re.IGNORECASE)  # one of these
TOGETHER = re.compile(  # one of these, both at once, or one before the other
    r"\s*(?:->|=>|[,;&+#>\\])\s*|\s+(?:and|vs\.?|versus)\s+", re.IGNORECASE
)
# How sure somebody is, beside the name of a class.
HEDGED = re.compile(
    r"(?:(?:probably|maybe|perhaps|possibly|(?:most )?likely|presumably|rather|looks like|i think|"
    r"(?:cf|aff|prob|poss)\.?|(?P<denied>not|no))\s+|\?\s*)(?P<after>.+)|"
    r"(?P<before>.+?)\s*(?:\?+|\(\?+\)|\(?\d+\s*%\)?|"
    r"\((?:probably|maybe|perhaps|possibly|likely|unsure|not sure)\))",
    re.IGNORECASE,
)
NO_WORD = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212._/\u2026")  # strokes and dots

# Letters of Cyrillic and Greek that look like those of Latin.
LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425"
    "\u03bf\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7",
    "aeopcyxiABEKMHOPCTXoABEHIKMNOPTX",
)
CODED = re.compile(  # "2: oak", "2 - oak", "oak (2)"
    r"\d+\s*[:.)=-]\s*(?P<name>[^\W\d].*)|(?P<other>[^\W\d].*?)\s*[(\[]\d+[)\]]"
)
NUMBERED = re.compile(r"(\d+)\s+([^\W\d].*)")
# How often, or how far, a class was chosen: "cat: 3", "cat = 60 %", "3x cat", "3 cat", "cat (3)".
VOTES = re.compile(
    r"[^:=]*[^\W\d][^:=]*[:=]\s*\d+(\.\d+)?\s*%?|\d+\s*[x\u00d7]\s*\S.*|\d+\s+[^\W\d].*|"
    r"[^()]*[^\W\d][^()]*\(\s*\d+(\.\d+)?\s*%?\s*\)"
)

CANNOT_TELL, NONE_OF_THESE = "cannot tell", "none of these"
# Words that say nothing in any list of classes; without apostrophes, as `word_key` writes them.
NOT_KNOWING = frozenset(
    f"{who}{words}".strip()
    for who in ("", "i ", "im ", "i am ", "we ")
    for words in (
        "cannot tell", "cant tell", "can not tell", "could not tell", "couldnt tell",
        "cannot say", "cant say", "can not say", "cannot decide", "cant decide",
        "cannot determine", "cant determine", "cannot be determined", "unable to tell",
        "dont know", "do not know", "did not know", "didnt know", "have no idea",
        "not sure", "unsure", "not certain", "really not sure", "not sure at all",
    )
) | {
    "?", "idk", "no idea", "n/a", "unknown", "not known", "hard to tell", "hard to say",
    "impossible to tell", "impossible to say", "no answer", "not answered", "skipped",
    "weiss nicht", "ich weiss nicht", "ich weiss es nicht", "keine ahnung", "keine angabe",
    "je ne sais pas", "ne sait pas", "no sé", "no lo sé", "no sabe", "non so", "non lo so",
    "não sei", "weet niet", "weet ik niet", "weiss ich nicht", "no se", "nie wiem", "nevím",
    "ved ikke", "vet ikke", "vet inte", "en tiedä", "nem tudom", "bilmiyorum", "не знаю",
    "δεν ξέρω", "不知道", "分からない", "わからない", "모름",
}  # fmt: skip
NOT_AMONG = frozenset({"none of these", "none of the above", "none of them", "none of those"})
# Words that often say nothing, but may be classes as well: they stay classes, and are told.
PERHAPS_NOT_KNOWING = frozenset(
    {
        "uncertain", "unclear", "ambiguous", "undecided", "undetermined", "indeterminate", "skip",
        "none", "other", "others", "neither", "nothing", "not applicable", "no opinion", "na",
        "nan", "null", "missing", "-", "tbd", "todo",
        "unlabeled", "unlabelled", "unassigned", "unclassified", "undefined", "dont care",
        "blank", "empty", "no response", "refused", "prefer not to say", "unklar", "unsicher",
        "incertain", "incierto", "incerto", "k.a", "leer", "nil", "\\n", "<na>", "不明",
        "#ref", "#value", "#name", "#div/0", "#num",
    }
)  # fmt: skip


def fold(name: str) -> str:
    """What two names have in common that differ by case, blanks, ``_`` or ``-`` alone.

    Quotes around a name, and marks that nobody sees, do not count either.

    Examples
    --------
    >>> fold(" Hip-Hop ") == fold("hip  hop") == fold("HIP_HOP")
    True
    >>> fold("A-"), fold("-1"), fold("2-1"), fold("3.0")  # signs and numbers stay
    ('a-', '-1', '2-1', '3')
    """
    text = INVISIBLE.sub("", unicodedata.normalize("NFKC", name))
    text = " ".join(text.split()).casefold()
    if len(text) > 2 and text[-1] == QUOTES.get(text[0]):
        text = text[1:-1].strip()
    found = WHOLE_AS_FRACTION.fullmatch(text)
    return found.group(1) if found else JOINTS.sub(" ", text)


def word_key(text: str) -> str:
    """A word without case, apostrophes and end marks, as the lists of words have it.

    Examples
    --------
    >>> word_key("I don't know!"), word_key("N/A."), word_key("???"), word_key("\u2014")
    ('i dont know', 'n/a', '?', '-')
    """
    key = fold(text)
    if set(key) == {"?"}:
        return "?"
    if key and set(key) <= NO_WORD:
        return "-"
    key = re.sub("[\u2019'`\u00b4]", "", key)
    bare = key.strip(' .!?…()[]*"')
    return bare or key


def says_nothing(text: str) -> bool:
    """Whether a word certainly says that somebody does not know."""
    return word_key(text) in NOT_KNOWING


def bare_name(name: str) -> str:
    """A name as `fold` has it, without a code before or behind it, end marks, and damage.

    Damage is what programs do to letters: entities of HTML, UTF-8 that was read as Latin-1, and
    letters of other scripts that look the same.

    Examples
    --------
    >>> [bare_name(name) for name in ("2: oak", "oak (2)", "Oak.", "oak&nbsp;", "o\u0430k")]
    ['oak', 'oak', 'oak', 'oak', 'oak']
    """
    text = html.unescape(name)
    with suppress(UnicodeError):
        text = text.encode("latin-1").decode("utf-8")
    text = fold(text.translate(LOOK_ALIKES))
    found = CODED.fullmatch(text)
    text = text if found is None else found["name"] or found["other"]
    return text.rstrip(" .!,;:")


def votes_in(text: str) -> int:
    """How many classes a cell counts votes, or shares, of; 0 if it does not.

    Examples
    --------
    >>> votes_in("cat:3;dog:2"), votes_in("cat=60%, dog=40%"), votes_in("3 cat; 2x dog")
    (2, 2, 2)
    >>> votes_in("cat: 3"), votes_in("10:30"), votes_in("cat; dog"), votes_in("type 1: cat")
    (1, 0, 0, 0)
    """
    parts = [part.strip() for part in re.split(r"[;,|]", text)]
    return len(parts) if all(VOTES.fullmatch(part) for part in parts) else 0


def numbered_in(text: str) -> list[tuple[str, str]]:
    """Numbers and what follows them in each part of a cell; nothing if some part is otherwise.

    Examples
    --------
    >>> numbered_in("2 oak, 1 elm"), numbered_in("2x oak")
    ([('2', 'oak'), ('1', 'elm')], [])
    """
    found = [NUMBERED.fullmatch(part.strip()) for part in re.split(r"[;,|]", text)]
    return [(one[1], one[2]) for one in found if one] if all(found) else []


def parts_of(text: str, pattern: re.Pattern[str]) -> list[str]:
    """The pieces of a text between what a pattern finds; none if there is but one piece."""
    pieces = [piece.strip() for piece in pattern.split(text)]
    return pieces if len(pieces) > 1 and all(pieces) else []


def split_quoted(text: str, separator: str) -> list[tuple[str, bool]]:
    """The parts of a set, and whether each stood in JSON's quotes, which make it a name as it is.

    Examples
    --------
    >>> split_quoted('cat | "a|b"', "|")
    [('cat', False), ('a|b', True)]
    """
    parts, at = [], 0
    while at < len(text):
        start = len(text) - len(text[at:].lstrip())
        quoted = _unquoted(text, start, separator)
        if quoted is None:
            end = text.find(separator, at)
            end = len(text) if end < 0 else end
            parts.append((text[at:end].strip(), False))
        else:
            name, end = quoted
            parts.append((name, True))
        at = end + len(separator)
    return [(part, is_quoted) for part, is_quoted in parts if part or is_quoted]


def _unquoted(text: str, at: int, separator: str) -> tuple[str, int] | None:
    """The name in quotes that begins at a place, and where what follows it begins."""
    if not text.startswith('"', at):
        return None
    try:
        name, end = json.JSONDecoder().raw_decode(text, at)
    except ValueError:
        return None
    rest = text[end:].lstrip()
    if rest and not rest.startswith(separator):
        return None
    return name, len(text) - len(rest)


def from_json(text: str) -> list[Any] | None:
    """Classes in a cell of JSON, as annotation tools write several; None if it is no JSON.

    Examples
    --------
    >>> from_json('["cat", "dog"]'), from_json('{"choices": ["cat"]}'), from_json('[{"rating": 4}]')
    (['cat', 'dog'], ['cat'], [4])
    >>> from_json('[{"animal": {"cat": true, "dog": false}}]')
    ['cat']
    >>> from_json('{"classifications": [{"title": "animal", "answer": {"title": "cat"}}]}')
    ['cat']
    >>> from_json("['cat', 'dog']"), from_json("{'dog', 'cat'}"), from_json("('cat',)")
    (['cat', 'dog'], ['cat', 'dog'], ['cat'])
    >>> from_json('[{"task": "T0", "value": "cat"}]'), from_json('[{"task": "T0", "value": null}]')
    (['cat'], [])
    >>> from_json("[sic]"), from_json("(cat)")
    (None, None)
    """
    if text[:1] not in ("[", "{", "("):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = _from_python(text)
        if found is None:
            return None
    _check_one_answer(found, text)
    names = names_in(found)
    if names is None:
        raise InputError(
            "Answers should be classes, or lists of them",
            f"{shown(text, 80)} was found, which does not say which classes are meant",
            "write the classes into a column of their own, as in 'cat|dog'",
            value=text,
        )
    return names


# What may name the people, or the questions, in a cell of JSON with several answers.
PERSON = re.compile(
    r"(annotator|worker|user|rater|coder|labell?er|expert|reviewer|person)[_ ]?(id|name)?|who|by",
    re.IGNORECASE,
)
QUESTION = re.compile(r"(task|question)[_ ]?(id|name)?", re.IGNORECASE)


def _check_one_answer(found: Any, text: str) -> None:
    """Refuse a list of the answers of several people, or to several questions: it is no set."""
    entries = found if isinstance(found, list) else []
    if len(entries) < 2 or not all(isinstance(entry, dict) for entry in entries):
        return
    for pattern, several, remedy in (
        (PERSON, "of several people", "a row for each of them, with item, annotator and label"),
        (QUESTION, "to several questions", "the answer to one of them into a column of its own"),
    ):
        keys = [key for key in entries[0] if pattern.fullmatch(str(key))]
        if any(len({str(entry.get(key)) for entry in entries}) > 1 for key in keys):
            raise InputError(
                "A cell should hold one answer",
                f"{shown(text, 80)} was found, which has answers {several}",
                f"write {remedy}",
                value=text,
            )


def _from_python(text: str) -> list[Any] | None:
    """A list, tuple or set of classes as Python prints it; None if it is none."""
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    if isinstance(found, set):
        found = sorted(found, key=str)
    is_group = isinstance(found, list | tuple)
    return list(found) if is_group and all(isinstance(one, str | int) for one in found) else None


KEYS = ("choices", "rating", "label", "labels", "taxonomy", "category", "value", "text")
STEP = " > "  # between the names on the way to a class of a taxonomy


def names_in(found: Any) -> list[Any] | None:
    """Names in what JSON holds: names, lists of them, or objects that hold these by a known key."""
    if isinstance(found, dict):
        if found and all(isinstance(value, bool) for value in found.values()):
            return [name for name, value in found.items() if value]
        if "classifications" in found or "answer" in found or "answers" in found:
            return _names_of_labelbox(found)
        if set(found) == {"taxonomy"}:
            return _names_of_taxonomy(found["taxonomy"])
        inner = [found[key] for key in KEYS if key in found]
        if not inner and len(found) == 1 and isinstance(next(iter(found.values())), dict):
            inner = list(found.values())
        if inner == [None]:  # nothing was chosen
            return []
        return names_in(inner[0]) if len(inner) == 1 else None
    if not isinstance(found, list):
        is_name = isinstance(found, (str, int, float)) and found == found and found != ""
        return [found] if is_name else None
    names: list[Any] = []
    for entry in found:
        inner_names = names_in(entry)
        if inner_names is None:
            return None
        names += inner_names
    return names


def _names_of_taxonomy(found: Any) -> list[Any] | None:
    """Names in an answer of Label Studio's taxonomies: each is the way to one class."""
    ways = [way if isinstance(way, list) else [way] for way in found or ()]
    if not all(way and all(isinstance(step, str) for step in way) for way in ways):
        return None
    return [STEP.join(way) for way in ways]


def _names_of_labelbox(found: dict[str, Any]) -> list[Any] | None:
    """Names in an answer of Labelbox: to one question, by one or several titles."""
    if "classifications" in found:
        questions = found["classifications"]
        if not isinstance(questions, list) or len(questions) != 1 or found.get("objects"):
            return None
        return names_in(questions[0]) if isinstance(questions[0], dict) else None
    given = found.get("answer", found.get("answers"))
    chosen = given if isinstance(given, list) else [given]
    names = [one.get("title", one.get("value")) if isinstance(one, dict) else one for one in chosen]
    return names if all(isinstance(name, str) and name for name in names) else None


def hedged_in(name: str) -> tuple[str, bool] | None:
    """The class in a name that also says how sure somebody is, and whether it is denied.

    Examples
    --------
    >>> hedged_in("probably cat"), hedged_in("cat (80 %)"), hedged_in("not cat"), hedged_in("cat")
    (('cat', False), ('cat', False), ('cat', True), None)
    """
    found = HEDGED.fullmatch(name)
    if found is None:
        return None
    return found["after"] or found["before"], found["denied"] is not None


def is_typo_of(name: str, other: str) -> bool:
    """Whether one letter was left out, added, changed, or swapped with the next; two in long names.

    Examples
    --------
    >>> is_typo_of("bleus", "blues"), is_typo_of("classcal", "classical"), is_typo_of("cat", "dog")
    (True, True, False)
    """
    one, two = fold(name), fold(other)
    if min(len(one), len(two)) < 4 or any(map(str.isdigit, one + two)):
        return False  # a1 and a2 are two classes
    return _edits(one, two) <= (2 if min(len(one), len(two)) >= 9 else 1)


def _edits(one: Sequence[Any], two: Sequence[Any]) -> int:
    """How many letters were left out, added, changed, or swapped with their neighbors."""
    before: list[int] = []
    last = list(range(len(two) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, other in enumerate(two, 1):
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == two[j - 2] and one[i - 2] == other:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before, last = last, row
    return last[-1]
