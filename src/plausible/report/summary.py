"""A report in numbers: everything that will be on the page, as a plain dictionary."""

from collections.abc import Mapping, Sequence
from typing import Any

from plausible.checks import check_number, check_whole
from plausible.experts import Annotations
from plausible.labels import Labels, as_labels
from plausible.report.inputs import (
    Asked,
    KnownItems,
    ask_about_items,
    ask_about_tests,
    check_contents,
    check_options,
    check_rows,
    read_input,
)
from plausible.report.of_confusion import summarize_confusion
from plausible.report.of_experts import summarize_clash, summarize_questions, summarize_reliability
from plausible.report.of_features import summarize_features
from plausible.report.of_items import summarize_items
from plausible.report.of_labels import summarize_labels
from plausible.report.of_making import describe, needed
from plausible.report.of_models import summarize_beliefs
from plausible.report.of_pooling import summarize_pooling
from plausible.report.of_scores import summarize_scores
from plausible.report.words import name_of, plain

FORMAT = 2  # of the dictionary


def summarize(
    labels: Any = None,
    annotations: Annotations | None = None,
    model: Any = None,
    X: Any = None,
    y_test: Any = None,
    X_test: Any = None,
    *,
    items: Sequence[Any] | None = None,
    texts: Sequence[Any] | None = None,
    pictures: Sequence[Any] | None = None,
    feature_names: Sequence[str] | None = None,
    title: str = "Label report",
    n_worst: int = 20,
    n_questions: int = 10,
    n_shown: int = 8,
    reject: float = 0.3,
    n_bootstrap: int = 1000,
    seed: int = 0,
    reliability: Mapping[str, Any] | None = None,
    pooling: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    command: str | Sequence[str] | None = None,
    date: str | None = None,
) -> dict[str, Any]:
    """Everything that a report tells, as a dictionary that JSON can hold.

    All inputs are optional: parts whose inputs are missing say what to give.

    Parameters
    ----------
    labels : Labels, or all that `as_labels` takes, optional
        Of the items; by default the annotations are pooled.
    annotations : Annotations, optional
        Who said what about these items.
    model : fitted classifier, optional
        With `predict_proba`; `predict_plausibility` and `predict_set` are used if it has them.
    X : array-like (n, d), optional
        Features of the items, in the order of the labels. Without a model also a mapping from names
        to columns, which may hold text and gaps.
    y_test, X_test : optional
        Labels and features of items that the model has not seen.
    items : sequence (n,), optional
        Names of the items; by default those of the annotations, or row numbers.
    texts, pictures : sequences (n,), optional
        What items look like where they are listed: a text, and the path of a picture, of which a
        small copy becomes part of the page (made by Pillow if it is installed). An address on the
        web is shown as a link; nothing is fetched. None where an item has none.
    feature_names : list of str, optional
        Names of the columns of X; by default those of a data frame, or numbers.
    title : str
    n_worst, n_questions, n_shown : int
        How many items are listed: in conflict and suspicious, to ask again, with their beliefs.
    reject : float
        Loss of refusing to answer, where an error is 1.
    n_bootstrap, seed : int
        Resamples for the intervals of scores, and their seed.
    reliability : mapping, optional
        Options of `plausible.experts.fit_reliability`.
    pooling : mapping, optional
        Options of `Annotations.pool` by which the labels were made, or will be if there are none.
    notes : list of str
        What was assumed when the data were read, such as `plausible.io.read_known` tells.
    command, date : str, optional
        How and when the report was made; folders of files are left out.

    Returns
    -------
    dict
        Of str, int, float, bool, None, list and dict only; None stands for NaN.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> found = summarize(Labels.from_sets([{"cat"}, {"cat", "dog"}, {"dog"}]))
    >>> found["labels"]["kinds"]
    {'one class': 2, 'a set of classes': 0, 'degrees': 0, 'nothing': 1}
    >>> found["clash"]["missing"]
    'Give annotations=, or labels= that were pooled, to see where experts clash.'
    """
    for name, number in (("n_worst", n_worst), ("n_questions", n_questions), ("n_shown", n_shown)):
        check_whole(number, name, 1)
    check_whole(n_bootstrap, "n_bootstrap", 1)
    check_whole(seed, "seed", 0)
    check_number(reject, "reject", 0.0, 1.0)
    options, told = check_options(annotations, reliability, pooling, notes)
    known = read_input(labels, annotations, items, pooling)
    tested = None if model is None or X_test is None else ask_about_tests(model, X_test, y_test)
    asked = tested if model is None or X is None else ask_about_items(known, model, X)
    parts = {
        "labels": _labels(known),
        "clash": _clash(known, n_worst),
        "confusion": _confusion(known, asked, tested),
        "reliability": None if annotations is None else summarize_reliability(annotations, options),
        "questions": _questions(known, n_questions),
        "features": _features(known, X, X_test, y_test, feature_names),
        "belief": _belief(asked, reject, n_shown, n_worst),
        "scores": _scores(tested, n_bootstrap, seed, reject),
    }
    made = describe(model, seed, command, date)
    missing = {name: needed(name, made["by_command"]) for name, p in parts.items() if p is None}
    contents = _contents(known, asked, parts, texts, pictures)
    how = summarize_pooling(annotations, pooling, known.is_pooled_here, told)
    whole = {**parts, **missing, "pooling": how, "contents": contents, "made": made}
    return plain({"format": FORMAT, "title": name_of(title), **whole})


def _labels(known: KnownItems) -> dict[str, Any] | None:
    if known.labels is None:
        return None
    return summarize_labels(known.labels, known.names(len(known.labels)))


def _clash(known: KnownItems, n_worst: int) -> dict[str, Any] | None:
    if known.conflict is None:
        return None
    names = known.names(len(known.conflict))
    return summarize_clash(known.annotations, known.conflict, names, n_worst)


def _confusion(
    known: KnownItems, asked: Asked | None, tested: Asked | None
) -> dict[str, Any] | None:
    """Of the model on test items if these have labels, else on those that are labeled."""
    chosen = asked if tested is None or tested.labels is None else tested
    if chosen is None:
        return summarize_confusion(known.annotations, "items", None, None)
    return summarize_confusion(known.annotations, chosen.about, chosen.labels, chosen.beliefs)


def _questions(known: KnownItems, n: int) -> dict[str, Any] | None:
    if known.annotations is None or known.labels is None:
        return None
    return summarize_questions(known.annotations, known.labels, known.names(len(known.labels)), n)


def _features(
    known: KnownItems, X: Any, X_test: Any, y_test: Any, names: Sequence[str] | None
) -> dict[str, Any] | None:
    """Of the items, or else of the test items."""
    if X is None and X_test is None:
        return None
    about, table, labels = "items", X, known.labels
    if X is None:
        about, table = "test items", X_test
        labels = None if y_test is None else as_labels(y_test)
    found = summarize_features(table, labels, names, about)
    given = ("X", "labels") if X is not None else ("X_test", "y_test")
    check_rows(found["n_items"], labels, *given)
    return found


def _belief(
    asked: Asked | None, reject: float, n_shown: int, n_worst: int
) -> dict[str, Any] | None:
    """Beliefs about the labeled items, or else about the test items."""
    if asked is None:
        return None
    found = summarize_beliefs(asked.beliefs, asked.labels, asked.names, reject, n_shown, n_worst)
    return {"about": asked.about} | found


def _scores(
    tested: Asked | None, n_bootstrap: int, seed: int, reject: float
) -> dict[str, Any] | None:
    truth: Labels | None = None if tested is None else tested.labels
    if tested is None or truth is None:
        return None
    if not (truth.informativeness > 0).any():
        return {"missing": "No test label says anything; label some test items to have scores."}
    return summarize_scores(truth, tested.beliefs, n_bootstrap, seed, reject)


def _contents(
    known: KnownItems, asked: Asked | None, parts: Mapping[str, Any], texts: Any, pictures: Any
) -> dict[str, Any]:
    """Texts and pictures of the items that are listed."""
    is_of_items = asked is not None and asked.about == "items"
    n_items = 0 if known.labels is None else len(known.labels)
    n_items = len(asked.names) if asked is not None and is_of_items else n_items
    given = (
        check_contents(texts, "texts", n_items),
        check_contents(pictures, "pictures", n_items),
    )
    if given == (None, None):
        return {}
    clash, questions, belief = (parts[key] or {} for key in ("clash", "questions", "belief"))
    rows = [*clash.get("worst", []), *questions.get("items", [])]
    if is_of_items:
        rows += belief["shown"] + ((belief["suspicious"] or {}).get("worst", []))
    return summarize_items((row["item"] for row in rows), known.names(n_items), *given)
