"""A report in numbers: everything that will be on the page, as a plain dictionary."""

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import plausible
from plausible.checks import as_list, check_kind, check_number, check_texts, check_whole
from plausible.experts import Annotations
from plausible.labels import Labels, as_labels
from plausible.models import Beliefs, believe
from plausible.report.of_experts import summarize_clash, summarize_questions, summarize_reliability
from plausible.report.of_labels import summarize_labels
from plausible.report.of_models import summarize_beliefs
from plausible.report.of_scores import summarize_scores
from plausible.report.words import name_of, plain, without_folders

FORMAT = 1  # of the dictionary

NEEDED = {
    "labels": "Give labels= or annotations= to see what is known about the items.",
    "clash": "Give annotations=, or labels= that were pooled, to see where experts clash.",
    "reliability": "Give annotations= to see who is reliable.",
    "questions": "Give annotations= to see which items to ask about again.",
    "belief": "Give model= and X= (or X_test=; in the command, features and --model) to see what a "
    "model believes.",
    "scores": "Give model=, X_test= and y_test= (in the command, --model and --test) to see how "
    "good the model is.",
}


@dataclass(frozen=True, eq=False)
class KnownItems:
    """What was given, checked and brought together."""

    labels: Labels | None
    annotations: Annotations | None
    conflict: NDArray[np.float64] | None
    items: Sequence[Any] | None

    def names(self, n_items: int) -> list[str]:
        """Names of the items, or their rows."""
        if self.items is None:
            return [f"row {row}" for row in range(n_items)]
        return [name_of(item) for item in self.items]


def summarize(
    labels: Any = None,
    annotations: Annotations | None = None,
    model: Any = None,
    X: Any = None,
    y_test: Any = None,
    X_test: Any = None,
    *,
    items: Sequence[Any] | None = None,
    title: str = "Label report",
    n_worst: int = 20,
    n_questions: int = 10,
    n_shown: int = 8,
    reject: float = 0.3,
    n_bootstrap: int = 1000,
    seed: int = 0,
    reliability: Mapping[str, Any] | None = None,
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
        Features of the items, in the order of the labels.
    y_test, X_test : optional
        Labels and features of items that the model has not seen.
    items : sequence (n,), optional
        Names of the items; by default those of the annotations, or row numbers.
    title : str
    n_worst, n_questions, n_shown : int
        How many items are listed: in conflict and suspicious, to ask again, with their beliefs.
    reject : float
        Loss of refusing to answer, where an error is 1.
    n_bootstrap, seed : int
        Resamples for the intervals of scores, and their seed.
    reliability : mapping, optional
        Options of `plausible.experts.fit_reliability`.
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
    if annotations is not None:
        check_kind(annotations, Annotations, "annotations", "make them with Annotations.from_long")
    if reliability is not None:
        check_kind(reliability, Mapping, "reliability", "write {'model': 'full'}")
        check_texts(reliability, "reliability", "options by name")
    known = read_input(labels, annotations, items)
    tested = None if model is None or X_test is None else believe(model, X_test)
    options = dict(reliability or {})
    parts = {
        "labels": None if known.labels is None else summarize_labels(known.labels),
        "clash": _clash(known, n_worst),
        "reliability": None if annotations is None else summarize_reliability(annotations, options),
        "questions": _questions(known, n_questions),
        "belief": _belief(known, model, X, tested, y_test, reject, n_shown, n_worst),
        "scores": _scores(tested, y_test, n_bootstrap, seed),
    }
    missing = {name: {"missing": NEEDED[name]} for name, part in parts.items() if part is None}
    made = describe(model, seed, command, date)
    return plain({"format": FORMAT, "title": name_of(title), **parts, **missing, "made": made})


def read_input(
    labels: Any, annotations: Annotations | None, items: Sequence[Any] | None
) -> KnownItems:
    """Labels, conflict and names of the items from what was given."""
    given = None if labels is None else as_labels(labels)
    if given is not None and annotations is not None and len(given) != len(annotations.items):
        raise ValueError(
            f"labels should be those of the {len(annotations.items)} items of the annotations, but "
            f"there are {len(given)}; give both for the same items in the same order."
        )
    conflict = None if given is None else given.conflict
    known = given
    if annotations is not None and conflict is None:
        pooled = annotations.pool(on_conflict="vacuous")
        conflict, known = pooled.conflict, pooled if given is None else given
    items = items if items is None else as_list(items, "items", "names")
    if items is not None and known is not None and len(items) != len(known):
        raise ValueError(
            f"items should be one name for each of the {len(known)} labels, but there are "
            f"{len(items)}; give one for each."
        )
    if items is None and annotations is not None:
        items = annotations.items.tolist()
    return KnownItems(known, annotations, conflict, items)


def _clash(known: KnownItems, n_worst: int) -> dict[str, Any] | None:
    if known.conflict is None:
        return None
    names = known.names(len(known.conflict))
    return summarize_clash(known.annotations, known.conflict, names, n_worst)


def _questions(known: KnownItems, n: int) -> dict[str, Any] | None:
    if known.annotations is None or known.labels is None:
        return None
    return summarize_questions(known.annotations, known.labels, known.names(len(known.labels)), n)


def _belief(
    known: KnownItems,
    model: Any,
    X: Any,
    tested: Beliefs | None,
    y_test: Any,
    reject: float,
    n_shown: int,
    n_worst: int,
) -> dict[str, Any] | None:
    """Beliefs about the labeled items, or else about the test items."""
    if model is None or (X is None and tested is None):
        return None
    if X is not None:
        beliefs, labels = believe(model, X), known.labels
        _check_rows(beliefs, labels, "X", "labels")
        if known.items is not None and len(known.items) != len(beliefs):
            raise ValueError(
                f"items should be one name for each of the {len(beliefs)} rows of X, but there are "
                f"{len(known.items)}; give one for each."
            )
        names = known.names(len(beliefs))
    else:
        assert tested is not None
        beliefs, labels = tested, None if y_test is None else as_labels(y_test)
        _check_rows(beliefs, labels, "X_test", "y_test")
        names = [f"test row {row}" for row in range(len(beliefs))]
    found = summarize_beliefs(beliefs, labels, names, reject, n_shown, n_worst)
    return {"about": "items" if X is not None else "test items"} | found


def _scores(
    tested: Beliefs | None, y_test: Any, n_bootstrap: int, seed: int
) -> dict[str, Any] | None:
    if tested is None or y_test is None:
        return None
    truth = as_labels(y_test)
    _check_rows(tested, truth, "X_test", "y_test")
    if not (truth.informativeness > 0).any():
        return {"missing": "No test label says anything; label some test items to have scores."}
    return summarize_scores(truth, tested, n_bootstrap, seed)


def _check_rows(beliefs: Beliefs, labels: Labels | None, features: str, name: str) -> None:
    if labels is not None and len(labels) != len(beliefs):
        raise ValueError(
            f"{name} should have one row for each of the {len(beliefs)} rows of {features}, but "
            f"have {len(labels)}; give both for the same items in the same order."
        )


def describe(
    model: Any, seed: int, command: str | Sequence[str] | None, date: str | None
) -> dict[str, Any]:
    """How a report was made: versions, seed, model, command and date."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    versions = {name: importlib.metadata.version(name) for name in packages}
    python = {"python": platform.python_version()}
    return {
        "versions": {"plausible": plausible.__version__, **python, **versions},
        "seed": seed,
        "model": None if model is None else type(model).__name__,
        "parameters": {} if model is None else parameters(model),
        "command": None if command is None else name_of(without_folders(command), 1000),
        "date": None if date is None else name_of(date),
    }


def parameters(model: Any) -> dict[str, str]:
    """Parameters of a model that are numbers or words."""
    if not hasattr(model, "get_params"):
        return {}
    told = (str, int, float, bool, np.generic)
    found = {name: v for name, v in model.get_params().items() if isinstance(v, told)}
    return {name_of(name): name_of(without_folders([str(v)])) for name, v in found.items()}
