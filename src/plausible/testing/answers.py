"""Promises about answers: every kind of them tells the same story."""

import copy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from plausible.belief import SparseMasses, belief, contour, decide, to_sparse
from plausible.labels import Labels
from plausible.testing.promises import assert_refused, promised
from plausible.testing.samples import NAMES, assert_close, draw
from plausible.testing.subject import Subject, takes_argument

TABLES = ("predict_proba", "predict_log_proba", "predict_plausibility", "predict_set")
CLOSE = 1e-9
# What a method may be asked, wherever it is there; a plain predict_proba may do without.
ARGUMENTS = {
    "believe": ("labels",),
    "predict_plausibility": ("labels",),
    "predict_mass": ("labels",),
    "predict_set": ("labels", "rule", "reject", "loss"),
    "decide": ("labels", "rule", "reject", "loss"),
}


def lacking(model: Any, *methods: str) -> str | None:
    """Why a check cannot look: which of the methods the model does not have."""
    missing = [name for name in methods if not hasattr(model, name)]
    return f"has no {' and no '.join(missing)}" if missing else None


def asked(model: Any, method: str, points: Any, **given: Any) -> NDArray[Any]:
    """An answer as an array; masses as those of all sets of classes."""
    answer = getattr(model, method)(points, **given)
    return to_sparse(answer).to_dense() if method == "predict_mass" else np.asarray(answer)


# -- Probabilities ---------------------------------------------------------------------------------


@promised
def check_probabilities(subject: Subject) -> str | None:
    """Rows of predict_proba are probabilities of the classes, in the order of `classes_`."""
    model, fresh = subject.fitted, draw().fresh
    if not hasattr(model, "predict_proba"):
        return "has no predict_proba"
    probability = model.predict_proba(fresh)
    assert probability.shape == (len(fresh), len(NAMES)), "one column for each class"
    assert (probability >= 0.0).all(), "probabilities are negative"
    assert_close(probability.sum(axis=1), 1.0, "rows do not sum to one")
    named = model.classes_[probability.argmax(axis=1)]
    right = accuracy_score(draw().fresh_names, named)
    assert right > 0.7, f"columns do not follow classes_: only {right:.0%} are right"
    return None


@promised
def check_predict_is_the_most_probable(subject: Subject) -> str | None:
    """The class that is predicted is the one with the best bet."""
    model, fresh = subject.fitted, draw().fresh
    if not hasattr(model, "predict_proba"):
        return "has no predict_proba"
    most_probable = model.classes_[model.predict_proba(fresh).argmax(axis=1)]
    assert np.array_equal(model.predict(fresh), most_probable), "predict goes its own way"
    return None


@promised
def check_log_probabilities(subject: Subject) -> str | None:
    """`predict_log_proba` gives the logarithms of predict_proba."""
    model, fresh = subject.fitted, draw().fresh
    if reason := lacking(model, "predict_proba", "predict_log_proba"):
        return reason
    logs, bets = model.predict_log_proba(fresh), model.predict_proba(fresh)
    assert_close(np.exp(logs), bets, "predict_log_proba is not the log of predict_proba")
    return None


@promised
def check_single_rows(subject: Subject) -> None:
    """An item is answered alike alone and among others; no items at all are refused."""
    model, fresh = subject.fitted, draw().fresh
    for method in ("predict", *TABLES, "predict_mass"):
        if not hasattr(model, method):
            continue
        together = asked(model, method, fresh)
        assert len(together) == len(fresh), f"{method} should answer for each row"
        for row in (0, 7, len(fresh) - 1):
            alone, among = asked(model, method, fresh[row : row + 1]), together[row : row + 1]
            is_number = alone.dtype.kind != "U"
            same = np.allclose(alone, among, atol=CLOSE) if is_number else alone == among
            assert same, (
                f"{method} answers otherwise for row {row} alone: {alone}, among others {among}"
            )
        ask = getattr(model, method)
        assert_refused(lambda ask=ask: ask(fresh[:0]), "0 sample")  # type: ignore[misc]


# -- Beliefs ---------------------------------------------------------------------------------------


@promised
def check_masses(subject: Subject) -> str | None:
    """Masses are not negative and sum to one in each row, none of it on the empty set."""
    model, fresh = subject.fitted, draw().fresh
    if reason := lacking(model, "predict_mass"):
        return reason
    masses = model.predict_mass(fresh)
    assert isinstance(masses, SparseMasses), (
        f"predict_mass should give SparseMasses, but gives {type(masses).__name__}"
    )
    assert masses.n_classes == len(NAMES), f"masses are of {masses.n_classes} classes"
    assert len(masses) == len(fresh), f"masses have {len(masses)} rows for {len(fresh)} items"
    least = masses.values.min()
    assert least >= 0.0, f"masses are negative, down to {least:.3g}"
    assert_close(masses.values.sum(axis=1), 1.0, "masses do not sum to one")
    empty = masses.values[:, masses.focal_sets == 0]
    assert not empty.any(), "mass is on the empty set, where no class is"
    return None


@promised
def check_plausibilities_of_masses(subject: Subject) -> str | None:
    """Plausibilities are those of the masses."""
    model, fresh = subject.fitted, draw().fresh
    if reason := lacking(model, "predict_mass", "predict_plausibility"):
        return reason
    expected = contour(model.predict_mass(fresh))
    assert_close(
        model.predict_plausibility(fresh), expected, "plausibilities are not those of the masses"
    )
    return None


@promised
def check_bets_between_belief_and_plausibility(subject: Subject) -> str | None:
    """No bet is below the belief in a class, nor above its plausibility."""
    model, fresh = subject.fitted, draw().fresh
    if reason := lacking(model, "predict_proba", "predict_plausibility"):
        return reason
    bets = model.predict_proba(fresh)
    above = float((bets - model.predict_plausibility(fresh)).max())
    assert above <= CLOSE, f"bets exceed plausibilities by up to {above:.3g}"
    if hasattr(model, "predict_mass"):
        singles = 1 << np.arange(len(NAMES), dtype=np.int64)
        below = float((belief(model.predict_mass(fresh), singles) - bets).max())
        assert below <= CLOSE, f"bets are below beliefs by up to {below:.3g}"
    return None


@promised
def check_believe(subject: Subject) -> str | None:
    """`believe` gives what each method gives."""
    model, fresh = subject.fitted, draw().fresh
    if reason := lacking(model, "believe"):
        return reason
    found = model.believe(fresh)
    assert np.array_equal(found.predicted, model.predict(fresh)), "predicted is not predict"
    assert np.array_equal(found.classes, model.classes_), "classes are not classes_"
    tables = {
        "predict_proba": found.probability,
        "predict_plausibility": found.contour,
        "predict_mass": found.masses().to_dense(),
        "predict_set": found.sets,
    }
    for method, table in tables.items():
        if hasattr(model, method):
            assert_close(table, asked(model, method, fresh), f"believe does not say {method}")
    return None


@promised
def check_one_pass(subject: Subject) -> str | None:
    """`believe` computes once, and every kind of answer follows without computing again."""
    model, fresh = copy.copy(subject.fitted), draw().fresh
    method = next((name for name in ("_masses", "_log_evidence") if hasattr(model, name)), None)
    if method is None or not hasattr(model, "believe"):
        return "is not of EvidenceClassifier or MassClassifier"
    real, calls = getattr(model, method), []

    def count(*given: Any) -> Any:
        calls.append(1)
        return real(*given)

    setattr(model, method, count)
    found = model.believe(fresh)
    _ = found.predicted, found.probability, found.contour, found.belief, found.masses()
    _ = found.sets, found.decide(reject=0.2)
    assert len(calls) == 1, f"{method} runs {len(calls)} times for one believe, instead of once"
    return None


# -- Decisions -------------------------------------------------------------------------------------


@promised
def check_predict_is_in_its_set(subject: Subject) -> str | None:
    """The class that is predicted is in the set of those that cannot be ruled out."""
    model, fresh = subject.fitted, draw().fresh
    if reason := lacking(model, "predict_set"):
        return reason
    sets = model.predict_set(fresh)
    assert sets.shape == (len(fresh), len(NAMES)), "one column for each class"
    assert sets.dtype == np.bool_, f"sets should be of bool, but are of {sets.dtype}"
    column = np.searchsorted(model.classes_, model.predict(fresh))
    lost = int((~sets[np.arange(len(fresh)), column]).sum())
    assert lost == 0, f"in {lost} of {len(fresh)} rows the class predicted is not in predict_set"
    return None


@promised
def check_sets_by_interval_dominance(subject: Subject) -> str | None:
    """Sets are what the masses leave by interval dominance."""
    model, fresh = subject.fitted, draw().fresh
    if reason := lacking(model, "predict_set", "predict_mass"):
        return reason
    expected = decide(model.predict_mass(fresh), "interval_dominance").chosen
    other = int((model.predict_set(fresh) != expected).any(axis=1).sum())
    assert other == 0, f"{other} of {len(fresh)} sets are not those of interval dominance"
    return None


@promised
def check_refusals(subject: Subject) -> str | None:
    """The less a refusal costs, the more is refused; what is answered is what is predicted."""
    model, fresh = subject.fitted, draw().fresh
    if reason := lacking(model, "decide", "predict_set"):
        return reason
    costs = (0.6, 0.4, 0.2, 0.05, 0.0)
    decisions = [model.decide(fresh, reject=cost) for cost in costs]
    for (dear, fewer), (cheap, more) in pairwise(zip(costs, decisions, strict=True)):
        lost = int((fewer.refused & ~more.refused).sum())
        assert lost == 0, f"{lost} rows are refused at a cost of {dear} and not at {cheap}"
    assert decisions[-1].refused.sum() > decisions[0].refused.sum(), "reject refuses nothing"
    middle = decisions[2]
    names = middle.names()
    assert set(names) <= {*NAMES.tolist(), None}, f"names of decisions are {set(names)}"
    answered = [name for name in names if name is not None]
    assert answered == model.predict(fresh)[~middle.refused].tolist(), (
        "decisions that are not refusals are not what is predicted"
    )
    kept = model.predict_set(fresh, rule="pignistic", reject=0.2).any(axis=1)
    assert np.array_equal(kept, ~middle.refused), "predict_set refuses other rows than decide"
    return None


@promised
def check_losses(subject: Subject) -> str | None:
    """Decisions by bets have the least expected loss, told by the names of the classes."""
    model, fresh = subject.fitted, draw().fresh
    if reason := lacking(model, "decide", "predict_proba"):
        return reason
    loss = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 9.0], [1.0, 2.0, 0.0], [0.7, 0.6, 0.5]])
    expected = model.predict_proba(fresh) @ loss.T
    by_name = {
        f"act {a}": dict(zip(NAMES.tolist(), row, strict=True)) for a, row in enumerate(loss)
    }
    index = model.decide(fresh, loss=by_name).index
    assert (index >= 0).all(), "a decision by bets should be one act"
    regret = float((expected[np.arange(len(fresh)), index] - expected.min(axis=1)).max())
    assert regret <= CLOSE, f"decisions cost up to {regret:.3g} more than others would"
    return None


@promised
def check_signatures(subject: Subject) -> str | None:
    """Methods beyond scikit-learn's take labels=, rule=, reject= and loss=, as all do."""
    model = subject.make()
    present = {name: words for name, words in ARGUMENTS.items() if hasattr(model, name)}
    if not present:
        return "has no answers beyond scikit-learn's"
    missing = [
        f"{name}({word}=)"
        for name, words in present.items()
        for word in words
        if not takes_argument(getattr(model, name), word)
    ]
    assert not missing, f"arguments are missing: {', '.join(missing)}"
    return None


# -- What is known of new items --------------------------------------------------------------------


@promised
def check_labels_of_new_items(subject: Subject) -> str | None:
    """What is known of a new item counts: unknown not at all, doubted somewhat, hard fully."""
    model, fresh = subject.fitted, draw().fresh
    methods = [name for name in TABLES if takes_argument(getattr(model, name, None), "labels")]
    if "predict_proba" not in methods or not takes_argument(model.predict, "labels"):
        return "takes no labels of new items"
    unknown = Labels.unknown(len(fresh), NAMES)
    for method in methods:
        told = asked(model, method, fresh, labels=unknown)
        assert_close(told, asked(model, method, fresh), f"unknown labels change {method}")
    for k, name in enumerate(model.classes_.tolist()):
        bets = model.predict_proba(fresh)[:, k]
        doubted = Labels.from_doubt([name] * len(fresh), 0.4, classes=NAMES)
        lost = float((bets - model.predict_proba(fresh, labels=doubted)[:, k]).max())
        assert lost <= CLOSE, f"a label {name!r} lowers the bet on it by up to {lost:.3g}"
        possible = fresh[bets > 1e-6]
        sure = Labels.from_crisp([name] * len(possible), classes=NAMES)
        other = int((model.predict(possible, labels=sure) != name).sum())
        assert other == 0, f"{other} items labeled {name!r} for sure are predicted otherwise"
    assert_refused(lambda: model.predict(fresh, labels=unknown[:3]), "labels", len(fresh), 3)
    return None
