"""How the annotation tools write answers in JSON, each in a function of its records."""

from typing import Any

from plausible.errors import Note
from plausible.experts import names_in
from plausible.io.answer_states import DROP, KEEP, UNKNOWN, is_rejected
from plausible.io.export_answers import (
    ITEM_FIELDS,
    Collected,
    Records,
    a_name,
    plain_fields,
    several,
)
from plausible.io.export_spread import beside_people
from plausible.io.export_studio import is_studio, label_studio
from plausible.tables import TableError

EVERYBODY = ("all", "unknown")  # files of doccano in which nobody is told apart
FLAT = "label-studio, flat"  # JSON-MIN, which has the columns of its CSV
MANIFEST = "manifest"  # of SageMaker Ground Truth
LABELS = ("label", "labels", "cats")  # of texts, in doccano's lines
DECISIONS = ("accept", "reject", "ignore")


def tool_of(record: dict[str, Any]) -> str | None:
    """The tool that wrote a record, by its keys."""
    keys = set(record)
    if {"annotation_id", "annotator", "lead_time"} <= keys:
        return FLAT
    if {"source-ref", "source"} & keys and any(is_job(*field) for field in record.items()):
        return MANIFEST
    if "annotations" in keys and ("data" in keys or is_studio(record["annotations"])):
        return "label-studio"
    if record.get("answer") in DECISIONS and any(
        key in keys for key in ("_input_hash", "_task_hash", "_session_id", "_view_id", "options")
    ):
        return "prodigy"
    if ("fields" in keys and "responses" in keys) or any(k.endswith(".responses") for k in keys):
        return "argilla"
    if any(_are_responses(value) for value in record.values()):
        return "argilla"
    if {"annotation", "annotation_agent", "prediction"} <= keys:
        return "argilla"
    if "id" in keys and ({"text", "data", "img", "filename"} & keys):
        labels = next((record[key] for key in (*LABELS, "annotations") if key in keys), None)
        if isinstance(labels, list) and not beside_people(record):
            return "doccano"
    return None


def is_job(name: str, value: Any) -> bool:
    """Whether a field tells what SageMaker Ground Truth found in a labeling job."""
    return name.endswith("-metadata") and isinstance(value, dict) and "class-name" in value


def of_manifest(records: list[tuple[str, Any]], source: str) -> dict[str, list[Any]]:
    """Items, classes and confidences of a manifest, which should be of one labeling job."""
    jobs = sorted({
        name for _, record in records if isinstance(record, dict)
        for name, value in record.items() if is_job(name, value)
    })  # fmt: skip
    if len(jobs) > 1:
        raise TableError(
            f"A manifest should hold the labels of one job, but {source} holds those of "
            f"{', '.join(repr(job.removesuffix('-metadata')) for job in jobs)}; keep one of them."
        )
    found: dict[str, list[Any]] = {"item": [], "label": [], "confidence": []}
    for _, record in records:
        told = record.get(jobs[0]) or {}
        found["item"].append(record.get("source-ref", record.get("source")))
        found["label"].append(told.get("class-name"))
        found["confidence"].append(told.get("confidence"))
    return found


def _are_responses(value: Any) -> bool:
    """Whether a field holds the responses to a question, as older data sets of Argilla do."""
    return isinstance(value, list) and any(
        isinstance(one, dict) and {"user_id", "value", "status"} <= set(one) for one in value
    )


# -- doccano ---------------------------------------------------------------------------------------


def doccano(found: Collected, records: Records, name: str, who: Any) -> None:
    """Answers of lines that list labels; old exports name users as well."""
    usual = None if who in EVERYBODY else who
    found.find_person(records, ITEM_FIELDS["doccano"])
    for place, entry in records:
        try:
            item = found.item_of(entry, ITEM_FIELDS["doccano"])
            author = found.author_of(entry, usual)
            if isinstance(entry.get("annotations"), list) and "label" not in entry:
                for one in entry["annotations"]:
                    _add_or_reject(found, item, one.get("user", author), {a_name(one["label"])},
                                   {**plain_fields(entry), **plain_fields(one)})  # fmt: skip
                continue
            chosen = next(entry[key] for key in LABELS if key in entry)
            chosen = [chosen] if isinstance(chosen, (str, int)) else chosen
            if any(isinstance(one, (list, dict)) for one in chosen):
                raise TableError(
                    f"Labels of {name} should be classes of whole texts",
                    f"{place.lower()} has spans",
                    "export a project of text classification",
                )
            said = set(map(a_name, chosen)) or None
            _add_or_reject(found, item, author, said, plain_fields(entry))
        except (KeyError, TypeError, AttributeError, StopIteration):
            raise TableError(
                f"{place} of {name} should be an object with id and label, but is not; export it "
                "as JSONL again."
            ) from None


def _add_or_reject(found: Collected, item: Any, who: Any, said: Any, fields: Any) -> None:
    """An answer, of which some field may say that it was rejected."""
    against = [name for name, value in fields.items() if is_rejected(name, value)]
    if against:
        what = f"answers of which {against[0]!r} says that they were rejected or skipped"
        found.reject(item, who, said, what, KEEP)
    else:
        found.add(item, who, said)


# -- Prodigy ---------------------------------------------------------------------------------------


def prodigy(found: Collected, records: Records, name: str, who: Any) -> None:
    """Answers to choices between options, or to questions about one label at a time."""
    tasks = [task for _, task in records if isinstance(task, dict)]
    is_asked = found.person is not None
    if not any({"_annotator_id", "_session_id"} & set(task) for task in tasks):
        found.find_person(records, ITEM_FIELDS["prodigy"])
    asked = list(dict.fromkeys(t["label"] for t in tasks if isinstance(t.get("label"), str)))
    for place, task in records:
        try:
            item = found.item_of(task, ITEM_FIELDS["prodigy"])
            author = task.get("_annotator_id", task.get("_session_id"))
            author = found.author_of(task) if author is None or is_asked else author
            answer = task["answer"]
            if answer not in DECISIONS:
                raise TypeError("an answer should be accept, reject or ignore")
            if "spans" in task and "options" not in task and "label" not in task:
                raise TableError(
                    f"Answers of {name} should be classes of whole texts or images",
                    f"{place.lower()} has spans",
                    "give a data set of classifications",
                )
            found.frame |= dict.fromkeys(_offered(task, asked))
            said = _decided(task, answer, asked)
            if answer == "ignore" or (answer == "reject" and said is None):
                found.reject(item, author, said, f"answers {answer!r}", UNKNOWN)
            else:
                found.add(item, author, said)
                if answer == "reject" and len(asked) > 1:
                    found.counts["answers 'reject' to a label, read as one of the others"] += 1
        except (KeyError, TypeError, AttributeError, StopIteration):
            raise TableError(
                f"{place} of {name} should have an answer, and options with accept or a label, but "
                "has not; export it with db-out again."
            ) from None
    found.counts = +found.counts
    if "item" not in found.names and any("_input_hash" in r for _, r in records):
        text = next((key for key in ("text", "image") if key in records[0][1]), "text")
        told = "items are the hashes of inputs; {names} takes another field"
        found.notes.append(Note(told, names={"item": text}))
    called = {
        str(one["id"]): one["text"] for task in tasks for one in task.get("options", ())
        if isinstance(one["id"], int) or (str(one["id"]).isdigit() and one.get("text"))
    }  # fmt: skip
    if called:
        told = "classes are the ids of options; {map} calls them by their text"
        found.notes.append(Note(told, map=called))


def _offered(task: Any, asked: list[str]) -> list[Any]:
    """The classes that people could choose."""
    if "options" in task or "accept" in task:
        return [a_name(option["id"]) for option in task.get("options", ())]
    if not asked:
        raise TypeError("labels should be text")
    return asked if len(asked) > 1 else [*asked, f"not {asked[0]}"]


def _decided(task: Any, answer: str, asked: list[str]) -> Any:
    """The classes that an answer leaves possible; None if it says nothing."""
    if "options" in task or "accept" in task:
        chosen = task.get("accept", ())
        chosen = [chosen] if isinstance(chosen, (str, int)) else chosen
        return set(map(a_name, chosen)) or None if answer == "accept" else None
    label = a_name(task["label"])
    if answer == "ignore":
        return None
    if answer == "accept":
        return {label}
    others = {one for one in asked if one != label}
    return others or {f"not {label}"}


# -- Argilla ---------------------------------------------------------------------------------------


def argilla(found: Collected, records: Records, name: str, who: Any) -> None:
    """Answers to one question about records."""
    if found.person not in (None, "user_id"):
        raise TableError(
            f"Who answered in {name} should be told by 'user_id', as Argilla writes it",
            f"{found.person!r} was asked for",
            "leave it out of names",
        )
    asked, sure = _asked_question(found, records, name)
    for place, record in records:
        try:
            item = found.item_of(record, ITEM_FIELDS["argilla"])
            responses = _responses(record)
            told = {by: value for question, by, value, _ in responses if question == sure}
            for question, author, value, status in responses:
                if question not in (None, asked):
                    continue
                said = _names_of(value, place, name)
                if status == "draft":
                    found.reject(item, author, said, "drafts of answers", DROP, told.get(author))
                elif status == "discarded" or value is None:
                    found.reject(item, author, said, "answers that were discarded", UNKNOWN)
                else:
                    found.add(item, author, said, told.get(author) if sure else None)
            found.counts["suggestions of models, which are not used"] += _n_suggested(record)
        except (KeyError, TypeError, AttributeError, StopIteration):
            raise TableError(
                f"{place} of {name} should have an id and responses with a value and a user, but "
                "has not; export the records again."
            ) from None
    found.counts = +found.counts


def _asked_question(found: Collected, records: Records, name: str) -> tuple[str | None, str | None]:
    """The question whose answers are meant, and the one that tells how sure people are."""
    questions: dict[str, None] = {}
    for _, record in records:
        try:
            questions |= {q: None for q, *_ in _responses(record) if q is not None}
        except (KeyError, TypeError, AttributeError):
            continue  # told when it is read
    asked, sure = found.names.get("label"), found.names.get("confidence")
    if sure is not None and sure not in questions:
        raise several(name, "question", list(questions) or ["rating"], "confidence")
    could = [question for question in questions if question != sure]
    if (len(could) > 1 and asked is None) or (asked is not None and asked not in could):
        raise several(name, "question", could or ["label"])
    asked = next(iter(could), None) if asked is None else asked
    found.leave_out([question for question in could if question != asked], asked)
    return asked, sure


def _names_of(value: Any, place: str, name: str) -> set[Any] | None:
    """The classes that a value names; None if it names none."""
    entries = value if isinstance(value, list) else []
    marks = {key for one in entries if isinstance(one, dict) for key in one}
    if marks & {"rank", "start"}:
        raise TableError(
            f"Answers of {name} should be classes of whole records",
            f"{place.lower()} has {'ranks' if 'rank' in marks else 'spans'}",
            "export a question of labels or ratings",
        )
    names = None if value is None else names_in(value)
    if names is None and value is not None:
        raise TypeError("a value should be a class, or a list of them")
    return set(names or ()) or None


def _n_suggested(record: Any) -> int:
    """How many suggestions of models a record has."""
    flat = [key for key in record if key.endswith(".suggestion") and record[key] is not None]
    old = record.get("prediction") if "annotation_agent" in record else None
    return len(record.get("suggestions") or flat or (old or ())[:1])


def _responses(record: Any) -> list[tuple[str | None, Any, Any, str]]:
    """Question, author, value and status of the responses of a record; None for all questions."""
    responses = record.get("responses")
    if "annotation_agent" in record:  # of version 1, and Rubrix, which kept one answer
        said, state = record.get("annotation"), str(record.get("status", "")).casefold()
        author = record["annotation_agent"]
        return [] if said is None and state != "discarded" else [(None, author, said, state)]
    if isinstance(responses, dict):
        return [
            (question, one.get("user_id"), one["value"], one.get("status", "submitted"))
            for question, several_of in responses.items()
            for one in several_of or ()
        ]
    if isinstance(responses, list):
        return [
            (
                question,
                one.get("user_id"),
                (value or {}).get("value"),
                one.get("status", "submitted"),
            )
            for one in responses
            for question, value in (one.get("values") or {None: None}).items()
        ]
    flat: list[tuple[str | None, Any, Any, str]] = []
    for key in record:
        if key.endswith(".responses") and record[key]:
            values = record[key]
            users = record.get(f"{key}.users") or [None] * len(values)
            states = record.get(f"{key}.status") or ["submitted"] * len(values)
            question = key.removesuffix(".responses")
            flat += [(question, u, v, s) for u, v, s in zip(users, values, states, strict=True)]
        elif _are_responses(record[key]):
            flat += [(key, one["user_id"], one["value"], one["status"]) for one in record[key]]
    return flat


TOOLS = {
    "label-studio": label_studio,
    "doccano": doccano,
    "prodigy": prodigy,
    "argilla": argilla,
}
