"""How the annotation tools write answers in JSON, each in a function of its records."""

from collections import Counter
from typing import Any

from plausible.errors import Note
from plausible.experts import names_in
from plausible.io.answer_states import DROP, KEEP, UNKNOWN, is_rejected
from plausible.io.export_answers import Collected, a_name, several
from plausible.io.export_spread import beside_people
from plausible.tables import TableError, listed

Records = list[tuple[str, Any]]
EVERYBODY = ("all", "unknown")  # files of doccano in which nobody is told apart
FLAT = "label-studio, flat"  # JSON-MIN, which has the columns of its CSV
MANIFEST = "manifest"  # of SageMaker Ground Truth
DECISIONS = ("accept", "reject", "ignore")


def tool_of(record: dict[str, Any]) -> str | None:
    """The tool that wrote a record, by its keys."""
    keys = set(record)
    if {"annotation_id", "annotator", "lead_time"} <= keys:
        return FLAT
    if {"source-ref", "source"} & keys and any(is_job(*field) for field in record.items()):
        return MANIFEST
    if "annotations" in keys and ("data" in keys or _is_studio(record["annotations"])):
        return "label-studio"
    if record.get("answer") in DECISIONS and any(
        key in keys for key in ("_input_hash", "_task_hash", "_session_id", "_view_id", "options")
    ):
        return "prodigy"
    if ("fields" in keys and "responses" in keys) or any(k.endswith(".responses") for k in keys):
        return "argilla"
    if any(_are_responses(value) for value in record.values()):
        return "argilla"
    if "id" in keys and ({"text", "data", "img", "filename"} & keys):
        labels = record.get("label", record.get("labels", record.get("annotations")))
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


def _is_studio(annotations: Any) -> bool:
    return isinstance(annotations, list) and any(
        isinstance(one, dict) and ("completed_by" in one or "result" in one) for one in annotations
    )


def _are_responses(value: Any) -> bool:
    """Whether a field holds the responses to a question, as older data sets of Argilla do."""
    return isinstance(value, list) and any(
        isinstance(one, dict) and {"user_id", "value", "status"} <= set(one) for one in value
    )


# -- Label Studio ----------------------------------------------------------------------------------


def label_studio(found: Collected, records: Records, name: str, who: Any) -> None:
    """Answers of tasks."""
    controls: Counter[str] = Counter()
    for place, task in records:
        try:
            item = found.item_of(task, ("id", "inner_id"))
            for one in task["annotations"]:
                chosen = _choices(one, found.names.get("label"), controls)
                author = one["completed_by"]
                author = (
                    author.get("email", author.get("id")) if isinstance(author, dict) else author
                )
                said = set(chosen) or None
                if one.get("was_cancelled") or one.get("was_canceled"):
                    found.reject(item, author, said, "tasks that were skipped", UNKNOWN)
                elif _is_sent_back(one):
                    found.reject(item, author, said, "answers that a reviewer rejected", KEEP)
                else:
                    found.add(item, author, said)
            found.counts["predictions of models, which are not used"] += len(
                task.get("predictions") or ()
            )
        except (KeyError, TypeError, AttributeError, StopIteration):
            raise TableError(
                f"{place} of {name} should have an id and annotations with completed_by and "
                "result, but has not; export it as JSON again."
            ) from None
    found.counts = +found.counts
    asked = found.names.get("label")
    kinds = _kinds_of_results(records)
    if not controls and kinds:
        raise TableError(
            f"Answers of {name} should be choices or ratings of whole tasks",
            f"there are {listed([repr(kind) for kind in kinds])}",
            "export a project of classification",
        )
    if len(controls) > 1 and asked is None:
        raise several(name, "control", list(controls))
    if asked is not None and asked not in controls:
        raise several(name, "control", list(controls) or ["choice"])
    found.leave_out([control for control in controls if asked not in (None, control)])
    if "item" not in found.names and records:
        data = records[0][1].get("data")
        fields = list(data) if isinstance(data, dict) else []
        if fields:
            told = "items are the ids of tasks; {names} takes a field of their data"
            found.notes.append(Note(told, names={"item": f"data.{fields[0]}"}))


def _is_sent_back(annotation: Any) -> bool:
    """Whether the last review of an annotation did not accept it."""
    reviews = annotation.get("reviews")
    last = reviews[-1] if isinstance(reviews, list) and reviews else None
    return isinstance(last, dict) and last.get("accepted") is False


def _kinds_of_results(records: Records) -> list[str]:
    """What kinds of results tasks have, by their names."""
    results = [
        one for _, task in records for said in task.get("annotations") or ()
        for one in said.get("result") or ()
    ]  # fmt: skip
    return list(dict.fromkeys(str(one.get("type")) for one in results))


def _choices(annotation: Any, asked: str | None, controls: Counter[str]) -> list[Any]:
    """What somebody chose in a task, by one control or by the only one."""
    chosen: list[Any] = []
    for one in annotation.get("result") or ():
        value = one.get("value", {})
        kept = {
            key: value[key] for key in ("choices", "rating", "taxonomy", "number") if key in value
        }
        control = str(one.get("from_name", "choice"))
        if not kept:
            continue
        controls[control] += 1
        if asked is not None and control != asked:
            continue
        names = names_in(list(kept.values()))
        if names is None:
            raise TypeError("a choice should be text or a number")
        chosen += [a_name(entry) for entry in names]
    return chosen


# -- doccano ---------------------------------------------------------------------------------------


def doccano(found: Collected, records: Records, name: str, who: Any) -> None:
    """Answers of lines that list labels; old exports name users as well."""
    author = None if who in EVERYBODY else who
    for place, entry in records:
        try:
            item = found.item_of(entry, ("id",))
            if isinstance(entry.get("annotations"), list) and "label" not in entry:
                for one in entry["annotations"]:
                    _add_or_reject(found, item, one.get("user", author), {a_name(one["label"])},
                                   {**_plain_fields(entry), **_plain_fields(one)})  # fmt: skip
                continue
            chosen = entry["label"] if "label" in entry else entry["labels"]
            chosen = [chosen] if isinstance(chosen, (str, int)) else chosen
            if any(isinstance(one, (list, dict)) for one in chosen):
                raise TableError(
                    f"Labels of {name} should be classes of whole texts",
                    f"{place.lower()} has spans",
                    "export a project of text classification",
                )
            said = set(map(a_name, chosen)) or None
            _add_or_reject(found, item, author, said, _plain_fields(entry))
        except (KeyError, TypeError, AttributeError, StopIteration):
            raise TableError(
                f"{place} of {name} should be an object with id and label, but is not; export it "
                "as JSONL again."
            ) from None


def _plain_fields(record: Any) -> dict[str, Any]:
    """Fields of a record, and of what is kept beside it, that hold one value each."""
    inner = record.get("meta", record.get("metadata"))
    fields = {**(inner if isinstance(inner, dict) else {}), **record}
    return {key: v for key, v in fields.items() if isinstance(v, str | int | float)}


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
    asked = list(dict.fromkeys(t["label"] for t in tasks if isinstance(t.get("label"), str)))
    for place, task in records:
        try:
            item = found.item_of(task, ("_input_hash", "id", "text", "image"))
            author = task.get("_annotator_id", task.get("_session_id", task.get("annotator")))
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
    questions: Counter[str] = Counter()
    for place, record in records:
        try:
            item = found.item_of(record, ("external_id", "id", "_server_id"))
            for question, author, value, status in _responses(record):
                questions.update([] if question is None else [question])
                if question is not None and found.names.get("label") not in (None, question):
                    continue
                names = None if value is None else names_in(value)
                if names is None and value is not None:
                    raise TypeError("a value should be a class, or a list of them")
                said = set(names or ()) or None
                if status == "draft":
                    found.reject(item, author, said, "drafts of answers", DROP)
                elif status == "discarded" or value is None:
                    found.reject(item, author, said, "answers that were discarded", UNKNOWN)
                else:
                    found.add(item, author, said)
            suggested = record.get("suggestions") or ()
            found.counts["suggestions of models, which are not used"] += len(suggested)
        except (KeyError, TypeError, AttributeError, StopIteration):
            raise TableError(
                f"{place} of {name} should have an id and responses with a value and a user, but "
                "has not; export the records again."
            ) from None
    found.counts = +found.counts
    asked = found.names.get("label")
    if (len(questions) > 1 and asked is None) or (asked is not None and asked not in questions):
        raise several(name, "question", list(questions) or ["label"])
    found.leave_out([question for question in questions if asked not in (None, question)])


def _responses(record: Any) -> list[tuple[str | None, Any, Any, str]]:
    """Question, author, value and status of the responses of a record; None for all questions."""
    responses = record.get("responses")
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
