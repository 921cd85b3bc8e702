"""Reports on generated data, for tests that open them."""

import numpy as np

from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.models import SoftNearestCentroid
from plausible.report import summarize

HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "</style></title><b>",
    "\u202egnorw\u202c קרוב עברית",
    "long " * 5000,
    "&amp; already",
    "nul\x00 and \ud800 half",
    "Donaudampfschifffahrtsgesellschaft" * 3,
]
LONG = [f"a class with a rather long name, number {k}" for k in range(12)]


def ask(n_items, names, people, *, often=1.0, seed=0):
    """Answers with sets, doubts and gaps about items whose features tell the class."""
    rng = np.random.default_rng(seed)
    n_classes, n_people = len(names), len(people)
    truth = rng.integers(n_classes, size=n_items)
    X = rng.normal(size=(n_items, 3)) + 2 * rng.normal(size=(n_classes, 3))[truth]
    skill = rng.uniform(0.3, 0.95, size=n_people)
    guess = rng.integers(n_classes, size=(n_items, n_people))
    said = np.where(rng.uniform(size=guess.shape) < skill, truth[:, None], guess)
    spoken = rng.uniform(size=guess.shape) < often
    spoken[np.arange(n_items), np.arange(n_items) % n_people] = True
    item, who = np.nonzero(spoken)
    second = (said[item, who] + (rng.uniform(size=len(item)) < 0.2)) % n_classes
    statements = [{names[a], names[b]} for a, b in zip(said[item, who], second, strict=True)]
    doubt = rng.uniform(0, 0.6, size=len(item))
    items = [f"{names[i % n_classes][:50]} {i}" for i in range(n_items)]
    answers = Annotations.from_long(
        [items[i] for i in item], [people[k] for k in who], statements, classes=names, doubt=doubt
    )
    order = [items.index(name) for name in answers.items.tolist()]
    return answers, X[order], np.array(names, dtype=object)[truth[order]]


def whole(n_items, names, people, **options):
    """A report with all of its parts."""
    answers, X, truth = ask(n_items, names, people, **options)
    labels = answers.pool(on_conflict="unknown")
    model = SoftNearestCentroid().fit(X, labels)
    rng = np.random.default_rng(1)
    tested = Labels.from_doubt(truth, rng.uniform(0, 0.5, size=n_items), classes=names)
    return summarize(
        labels, answers, model, X, tested, X + rng.normal(scale=0.3, size=X.shape),
        title=names[0], date=names[1], command=names[2],
    )  # fmt: skip


def all_reports():
    """Reports of every shape by name."""
    few = ask(40, ["burr", "crack", "healthy"], ["ann", "bob"])[0]
    return {
        "hostile": whole(80, HOSTILE, [f"{name[:60]}{k}" for k, name in enumerate(HOSTILE)]),
        "crowd": whole(150, LONG, [f"person {k}" for k in range(200)], often=0.05),
        "no model": summarize(annotations=few),
        "no people": summarize(Labels.from_doubt(list("aabbc"), [0, 0.2, 0.4, 1, 0])),
        "nothing": summarize(),
    }


def large(n_items=100_000):
    """A report on many items, with all of its parts."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=n_items)
    guess = rng.integers(3, size=(n_items, 3))
    said = np.where(rng.uniform(size=guess.shape) < 0.8, truth[:, None], guess)
    answers = Annotations.from_answers(np.array(["ash", "elm", "oak"])[said])
    labels = answers.pool(doubt=0.1)
    X = rng.normal(size=(n_items, 2)) + 2 * np.eye(3, 2)[truth]
    model = SoftNearestCentroid().fit(X, labels)
    return summarize(labels, answers, model, X, labels, X)
