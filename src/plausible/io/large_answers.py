r"""Answers that do not fit into memory, pooled in parts.

The label of an item depends on its own answers and on the doubts in people. Answers are dealt out
by item into parts that fit, on disk; doubts that have to be learned are learned from all parts, as
sums over them; then each part is pooled by itself, here or on a worker of a cluster. Who errs
together is looked for in the first parts, which hold a random choice of the items.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.engine import watched
from plausible.errors import Note
from plausible.experts import (
    AnnotationParts,
    Annotations,
    Dependence,
    Reliability,
    check_doubt_word,
    count_repeats,
    counted_once,
    default_model,
    tell_blanks,
    tell_repeats,
)
from plausible.io.annotation_files import read_annotations
from plausible.io.answer_columns import NUMBERS
from plausible.io.answer_layouts import find_meanings, plan_reading
from plausible.io.answer_plans import Plan
from plausible.io.answer_states import (
    DROP,
    KEEP,
    UNKNOWN,
    check_left,
    check_numbers,
    find_rejected,
    tell_rejected,
)
from plausible.io.known import told_dependence
from plausible.io.label_tables import in_classes
from plausible.io.learned_answers import (
    Gathered,
    LearnedAnswers,
    learn_gaps,
    options_of_parts,
    with_doubts,
    without_doubts,
)
from plausible.io.lookup import hash_names
from plausible.io.pieces import Part, Piece, pieces
from plausible.labels import Labels
from plausible.tables import Source, TableError, arrow, counted

PART_BYTES = 1 << 26  # of answers in memory at a time
NAMES = ("item", "annotator", "label", "doubt", "confidence")  # read as they are written
READ_BY = (
    "names", "classes", "separator", "abstain", "none", "map", "words", "repeats", "ignore",
)  # fmt: skip
SEARCHED_PARTS = 4  # in which people who err together are looked for


class PooledPart(NamedTuple):
    """Items, their labels, and how many answers there were about them."""

    items: Any
    labels: Labels
    n_answers: int


class LargePool(NamedTuple):
    """Labels of items, in parts that are made one after another; of `pool_in_parts`."""

    parts: Iterator[PooledPart]
    classes: list[Any]
    notes: list[str]


def is_long(table: Source, options: Mapping[str, Any]) -> bool:
    """Whether a table has a row for each answer, as parts by item need it."""
    names = options.get("names") or {}
    found = find_meanings(table, names, options.get("ignore", ()), options)
    is_told = options.get("layout") in (None, "long") and options.get("kind") is None
    return is_told and {"item", "annotator", "label"} <= set(found)


@contextmanager
def pool_in_parts(
    table: Source,
    rule: str = "dempster",
    doubt: Any = None,
    on_conflict: str = "raise",
    dependence: Any = "auto",
    gold: Any = None,
    client: Any = None,
    **options: Any,
) -> Iterator[LargePool]:
    """Pool answers of a long table in parts, which are on disk while the block lasts."""
    if gold is not None:
        raise TableError(
            f"Known classes should come with answers that fit into memory, but those of "
            f"{table.name} do not; learn from some of the items, and give the doubts."
        )
    if isinstance(doubt, str):
        check_doubt_word(doubt)
    with _dealt_out(table, options) as (paths, sorting):
        given = {name: value for name, value in options.items() if name != "on_rejected"}
        learned, about = _learn_all(table, paths, sorting, given)
        classes = learned.classes
        read = partial(read_part, table.name, learned=learned, plan=sorting.plan)
        first = read(paths[0])
        trusted, how, searched = None, f"doubt {doubt}", []
        if doubt is None and first.doubt is not None:
            how = "the doubts of the answers themselves (0.01 at least)"
        elif doubt is None or isinstance(doubt, str):
            is_default = dependence == "auto" and doubt is None and rule == "dempster"
            if dependence == "fit" or is_default:
                dependence = _search_pairs(read, paths, doubt)
                searched += _told_search(len(paths))
            model = None if is_default else "one_coin"
            trusted = _learn_people(read, paths, model, dependence)
            how = "doubts learned from the agreement of people"
        pool = partial(_pool_part, read=read, rule=rule, doubt=doubt, learned=trusted,
                       on_conflict=on_conflict, dependence=dependence)  # fmt: skip
        notes = [
            f"{table.name}: answers in {counted(len(paths), 'part')}; "
            f"{in_classes(np.array(classes))}",
            f"pooled by {'Dempster' if rule == 'dempster' else rule}'s rule with {how}"
            if rule == "dempster"
            else f"pooled by the rule {rule!r} with {how}",
            *(told_dependence(dependence) if isinstance(dependence, Dependence) else []),
            *searched,
            *about,
        ]
        yield LargePool(mapped(pool, paths, client), classes, notes)


def items_in_parts(table: Source, options: Mapping[str, Any]) -> Iterator[Any]:
    """Names of items in the order of `pool_in_parts`, those of one part after another."""
    with _dealt_out(table, options) as (paths, sorting):
        given = {name: options[name] for name in READ_BY if name in options}
        learned = without_doubts(sorting.gathered.learned(given))
        for path in paths:
            yield read_part(table.name, path, learned, sorting.plan).items


def _size_of(table: Source) -> int:
    """Bytes that a table takes, by its rows where their number is known, or by its file."""
    if table.n_rows:
        return table.n_rows * len(table.names) * 8
    path = getattr(getattr(table, "content", None), "path", None)
    return PART_BYTES if path is None else path.stat().st_size


@contextmanager
def _dealt_out(table: Source, options: Mapping[str, Any]) -> Iterator[tuple[list[Path], "Sorting"]]:
    """Files of Arrow among which the answers of a table that count are dealt out by item."""
    pa, ipc, n_parts = arrow(), arrow(".ipc"), max(1, -(-_size_of(table) // PART_BYTES))
    sorting = Sorting(table, options)
    schema = table.schema(sorting.names)
    with tempfile.TemporaryDirectory(prefix="plausible-") as folder:
        paths = [Path(folder) / f"{number}.arrow" for number in range(n_parts)]
        used = np.zeros(n_parts, dtype=bool)
        with ExitStack() as stack:
            writers = [stack.enter_context(ipc.new_file(str(path), schema)) for path in paths]
            for piece in pieces(table, table.names):
                answers = sorting.answers_of(piece)
                number = hash_names(sorting.bare_items(answers)) % np.uint64(n_parts)
                for part, writer in enumerate(writers):
                    chosen = answers.filter(pa.array(number == part))
                    if chosen.num_rows:
                        writer.write_table(chosen)
                        used[part] = True
        sorting.check_some_left(bool(used.any()))
        yield [path for path, there in zip(paths, used, strict=True) if there], sorting


class Sorting:
    """What becomes of answers that were rejected, piece by piece, before they are dealt out.

    names : columns that go on, without those that say so
    item : the column of items
    """

    def __init__(self, table: Source, options: Mapping[str, Any]) -> None:
        asked, ignore = options.get("on_rejected"), options.get("ignore", ())
        plan = plan_reading(table, "long", options.get("names"), None, None, ignore, asked)
        self.table, self.plan, self.asked = table, plan, asked
        self.gathered, self.has_blanks = Gathered(table, plan), False
        self.item = plan.found["item"]
        check_numbers(plan.found, self.asked, table.name)
        table.keep_written([plan.found[name] for name in NAMES if name in plan.found])
        aside = {*plan.states, *([] if plan.left_out is None else plan.left_out[:1])}
        self.names = [name for name in table.names if name not in aside]
        self.words: dict[str, Counter[str]] = {}

    def answers_of(self, piece: Piece) -> Any:
        """The answers of a piece, as a table of Arrow."""
        plan, usual = self.plan, self.plan.left_out
        out = np.zeros(piece.table.num_rows, dtype=bool)
        for column, said in find_rejected(piece, plan.states, usual).items():
            self.words[column] = self.words.get(column, Counter()) + said.words
            if self._done(column) != KEEP:
                out |= said.is_out
        self.gathered.add_doubts(piece)
        answers = self._without(piece.table.select(self.names), out)
        self.gathered.add(answers, int(out.sum()) if self.asked == UNKNOWN else 0)
        return answers

    def bare_items(self, answers: Any) -> Any:
        """Items without blanks around them, so that those that are one come to the same part."""
        pc, types, items = arrow(".compute"), arrow().types, answers.column(self.item)
        if not (types.is_string(items.type) or types.is_large_string(items.type)):
            return items
        bare = pc.utf8_trim_whitespace(items)
        self.has_blanks = self.has_blanks or bool(pc.any(pc.not_equal(bare, items)).as_py())
        return bare

    def _without(self, answers: Any, out: NDArray[np.bool_]) -> Any:
        """Answers of which some are left out, or say nothing."""
        plan = self.plan
        if self.asked != UNKNOWN or not out.any():
            return answers.filter(arrow().array(~out)) if out.any() else answers
        for label in plan.choices or [plan.found["label"]]:
            place = answers.schema.get_field_index(label)
            gone = arrow(".compute").if_else(arrow().array(out), None, answers.column(label))
            answers = answers.set_column(place, answers.schema.field(place), gone)
        return answers

    def _done(self, column: str) -> str:
        is_usual = self.plan.left_out is not None and column == self.plan.left_out[0]
        return self.asked or (DROP if is_usual else KEEP)

    def check_some_left(self, any_left: bool) -> None:
        """Refuse a table in which every answer is rejected."""
        found = [column for column, words in self.words.items() if words]
        check_left(int(any_left or not found), self.table.name, found)

    def told(self) -> list[Note]:
        """What was done, in words."""
        found = {column: words for column, words in self.words.items() if words}
        notes = [
            tell_rejected(column, words, self._done(column), self.asked is None)
            for column, words in found.items()
        ]
        if self.asked is not None and not found:
            notes.append(Note(f"no answer of {self.table.name} is said to be rejected or skipped"))
        return notes


def _learn_all(
    table: Source, paths: list[Path], sorting: Sorting, options: dict[str, Any]
) -> tuple[LearnedAnswers, list[str]]:
    """What all answers tell together, with the notes of `read_annotations`."""
    learned = sorting.gathered.learned(options)
    parts = (Part(Named(table.name), load(path), 0) for path in paths)
    filled: list[Note] = []
    if sorting.gathered.may_fill:
        sure, filled = learn_gaps(parts, sorting.plan, learned)
        learned = without_doubts(learned) if sure is None else learned._replace(sure=sure)
    again = _tell_again(table, paths, sorting, learned)
    of_sure = f"{table.name}: column {learned.sure.column!r}" if learned.sure else "\0"
    of_table = [note for note in table.notes if not note.startswith(of_sure)]
    return learned, [*again, *filled, *learned.notes, *of_table, *sorting.told()]


def _tell_again(
    table: Source, paths: list[Path], sorting: Sorting, learned: LearnedAnswers
) -> list[Note]:
    """Notes on items whose names differ by blanks, and on answers that were given again."""
    repeats = learned.options.get("repeats", "all")
    all_count = learned._replace(options=learned.options | {"repeats": "all"})
    n_equal = n_changed = n_merged = 0
    blank = None
    for path in paths:
        answers = read_part(table.name, path, all_count, sorting.plan)
        if sorting.has_blanks:
            names = Part(Named(table.name), load(path), 0).encoded(sorting.item).names.tolist()
            n_merged += len(names) - len({name.strip() for name in names})
            around = (name for name in names if name != name.strip())
            blank = next(around, None) if blank is None else blank
        if any("repeats" in getattr(note, "settings", ()) for note in answers.notes):
            said = answers.item, answers.annotator, answers.statement, answers.doubt
            equal, changed = count_repeats(*said)
            n_equal, n_changed = n_equal + equal, n_changed + changed
    is_each = not any(meaning in sorting.plan.found for meaning in NUMBERS)
    again = tell_repeats(n_equal, n_changed, repeats) if is_each else []
    return [*([tell_blanks("items", n_merged, str(blank))] if n_merged > 0 else []), *again]


def load(path: Path) -> Any:
    """The table of Arrow of one part."""
    with arrow().memory_map(str(path)) as file:
        return arrow(".ipc").open_file(file).read_all()


def read_part(name: str, path: Path, learned: LearnedAnswers, plan: Plan) -> Annotations:
    """The answers of one part."""
    table = load(path)
    if learned.sure is not None:
        table = with_doubts(Part(Named(name), table, 0), table, learned, plan)
    return read_annotations(Part(Named(name), table, 0), **options_of_parts(learned))


class Named(Source):
    """A table of which only the name is known."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.names = name, []


def _search_pairs(read: Any, paths: list[Path], doubt: Any) -> Dependence:
    """Who errs together, on the items of some parts."""
    sample = [read(path) for path in paths[:SEARCHED_PARTS]]
    together = sample[0] if len(sample) == 1 else Annotations.concatenate(sample)
    found: Dependence = together.dependence(doubt)
    return found


def _told_search(n_parts: int) -> list[str]:
    """On how many items people who err together were looked for, unless on all."""
    if n_parts <= SEARCHED_PARTS:
        return []
    share = 100 * SEARCHED_PARTS / n_parts
    return [f"people who err together were looked for on {share:.2g} % of the items, at random"]


def _learn_people(read: Any, paths: list[Path], model: str | None, dependence: Any) -> Reliability:
    """How far people can be trusted, learned from their agreement on the items of all parts."""

    def parts() -> Iterator[Annotations]:
        for path in paths:
            answers = read(path)
            is_known = isinstance(dependence, Dependence)
            yield counted_once(answers, dependence) if is_known else answers

    answers = AnnotationParts(parts)
    found: Reliability = answers.reliability(default_model(answers) if model is None else model)
    return found


def _pool_part(
    path: Path,
    read: Any,
    rule: str,
    doubt: Any,
    learned: Reliability | None,
    on_conflict: str,
    dependence: Any,
) -> PooledPart:
    """The labels of the items of one part."""
    answers = read(path)
    doubt = doubt if learned is None else learned
    labels = answers.pool(rule, doubt, on_conflict=on_conflict, dependence=dependence)
    return PooledPart(answers.items, labels, len(answers))


def mapped(function: Any, paths: list[Path], client: Any) -> Iterator[Any]:
    """What a function makes of parts, in their order; on a cluster that sees the folder."""
    if client is None:
        yield from map(function, paths)
        return
    watch = watched(client, counted(len(paths), "part") + " of answers")
    for future in client.map(function, paths, pure=False):
        yield watch.gather([future])[0]
