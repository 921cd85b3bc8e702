"""Answers in Label Studio's JSON: choices, ratings and taxonomies of whole tasks."""

from collections import Counter
from typing import Any

from plausible.errors import Note
from plausible.experts import STEP, names_in
from plausible.io.answer_states import KEEP, UNKNOWN
from plausible.io.export_answers import ITEM_FIELDS, Collected, Records, a_name, several
from plausible.io.export_nested import PARTS
from plausible.tables import TableError, listed

ANSWERS = ("choices", "rating", "taxonomy", "number", "selected")  # in what results hold


def is_studio(annotations: Any) -> bool:
    """Whether a list holds annotations of Label Studio."""
    return isinstance(annotations, list) and any(
        isinstance(one, dict) and ("completed_by" in one or "result" in one) for one in annotations
    )


def label_studio(found: Collected, records: Records, name: str, who: Any) -> None:
    """Answers of tasks."""
    controls: Counter[str] = Counter()
    for place, task in records:
        try:
            item = found.item_of(task, ITEM_FIELDS["label-studio"])
            for one in task["annotations"]:
                _add_annotation(found, item, one, controls)
            found.counts["predictions of models, which are not used"] += len(
                task.get("predictions") or ()
            )
        except (KeyError, TypeError, AttributeError, StopIteration):
            raise TableError(
                f"{place} of {name} should have an id and annotations with completed_by and "
                "result, but has not; export it as JSON again."
            ) from None
    found.counts = +found.counts
    results = [
        one for _, task in records for said in task["annotations"]
        for one in said.get("result") or ()
    ]  # fmt: skip
    _check_controls(found, results, name, controls)
    if any("taxonomy" in one.get("value", ()) for one in results):
        _spread_groups(found)
    if "item" not in found.names and records:
        data = records[0][1].get("data")
        fields = list(data) if isinstance(data, dict) else []
        if fields:
            told = "items are the ids of tasks; {names} takes a field of their data"
            found.notes.append(Note(told, names={"item": f"data.{fields[0]}"}))


def _add_annotation(found: Collected, item: Any, one: Any, controls: Counter[str]) -> None:
    """What one annotation says of an item."""
    sure = found.names.get("confidence")
    chosen = _choices(one, controls)
    told = (chosen.pop(sure, None) or [None])[0] if sure is not None else None
    author = found.author_of(one, one.get("completed_by", ""))
    if author == "":
        raise KeyError("completed_by")
    author = author.get("email", author.get("id")) if isinstance(author, dict) else author
    asked = found.names.get("label")
    names = [n for control in chosen if asked in (None, control) for n in chosen[control]]
    said = set(names) or None
    if one.get("was_cancelled") or one.get("was_canceled"):
        found.reject(item, author, said, "tasks that were skipped", UNKNOWN, told)
    elif _is_sent_back(one):
        found.reject(item, author, said, "answers that a reviewer rejected", KEEP, told)
    else:
        found.add(item, author, said, told)


def _is_sent_back(annotation: Any) -> bool:
    """Whether the last review of an annotation did not accept it."""
    reviews = annotation.get("reviews")
    last = reviews[-1] if isinstance(reviews, list) and reviews else None
    return isinstance(last, dict) and last.get("accepted") is False


def _choices(annotation: Any, controls: Counter[str]) -> dict[str, list[Any]]:
    """What somebody chose in a task, by each control."""
    chosen: dict[str, list[Any]] = {}
    for one in annotation.get("result") or ():
        value = one.get("value", {})
        kept = {key: value[key] for key in ANSWERS if key in value}
        if not kept or _is_part(one):
            continue
        control = _control_of(one)
        controls[control] += 1
        for key, given in kept.items():
            names = names_in({key: given} if key == "taxonomy" else given)
            if names is None:
                raise TypeError("a choice should be text or a number")
            chosen.setdefault(control, []).extend(map(a_name, names))
    return chosen


def _control_of(result: Any) -> str:
    return str(result.get("from_name", "choice"))


def _is_part(result: Any) -> bool:
    """Whether a result is about a part of a picture or text, as those of regions are."""
    return any(marks <= set(result.get("value", ())) for marks in PARTS)


def _check_controls(
    found: Collected, results: list[Any], name: str, controls: Counter[str]
) -> None:
    """Tell of controls that are not used; refuse if none of them, or several, could be meant."""
    asked, sure = found.names.get("label"), found.names.get("confidence")
    if not controls and results:
        kinds = [f"{str(one.get('type'))!r}{' of parts' * _is_part(one)}" for one in results]
        raise TableError(
            f"Answers of {name} should be choices or ratings of whole tasks",
            f"there are {listed(list(dict.fromkeys(kinds)))}",
            "export a project of classification",
        )
    if sure is not None and sure not in controls:
        raise several(name, "control", list(controls) or ["rating"], "confidence")
    could = [control for control in controls if control != sure]
    if (len(could) > 1 and asked is None) or (asked is not None and asked not in could):
        raise several(name, "control", could or ["choice"])
    used = next(iter(could), None) if asked is None else asked
    every = dict.fromkeys(map(_control_of, results))
    found.leave_out([control for control in every if control not in (used, sure)], used)


def _spread_groups(found: Collected) -> None:
    """Read answers that stop above classes of a taxonomy as one of those below that came."""
    names = {name for said in found.said if isinstance(said, set) for name in said}
    below = {
        group: {name for name in names if str(name).startswith(f"{group}{STEP}")} for group in names
    }
    ends = {name for name in names if not below[name]}
    for place, said in enumerate(found.said):
        if isinstance(said, set) and not said <= ends:
            found.said[place] = set().union(*(below[n] & ends or {n} for n in said))
            found.counts["answers above classes of the taxonomy, read as one of those below"] += 1
