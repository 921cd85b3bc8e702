r"""Pooling answers into labels.

Dempster's rule multiplies commonalities; those of single classes are plausibilities, so the contour
of the pool is the product of discounted contours,

.. math:: pl_i(k) \propto \prod_{a \in i} \big( \delta_a + (1 - \delta_a) \, s_a(k) \big),

whatever the number of classes. Masses and conflict follow in closed form for hard answers, and from
the products for all sets of up to 8 classes. Other rules combine masses one by one.

Where confusions of classes were learned, the contour is the evidence of that model, and the
conflict that of the same answers discounted by how often their authors are right in all.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief import (
    MAX_CLASSES,
    RULES,
    SparseMasses,
    TotalConflictError,
    combine,
    concatenate,
    discount,
    membership,
    vacuous,
)
from plausible.checks import as_floats, check_option
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import MODELS, TINY
from plausible.experts.contours import all_masses, pool_contours, raised_contours
from plausible.experts.copies import find_copies, without_copies
from plausible.experts.dependence import (
    Dependence,
    check_dependence,
    count_answers,
    learn_shared,
    temper,
)
from plausible.experts.groups import find_groups, weigh
from plausible.experts.judged_pairs import Truth, judged_pairs, truth_of
from plausible.experts.known_classes import gold_logs
from plausible.experts.known_people import evidence_of, known_people
from plausible.experts.pairs import count_pairs
from plausible.experts.parts import AnnotationParts
from plausible.experts.reliability import Reliability, equivalent_doubt
from plausible.experts.reliability_fit import fit_reliability
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAST_OWN_DOUBT = 0.01  # of answers whose doubt is 0, unless it is meant: doubt=0
MOST_CONFUSIONS = 5_000_000  # that are learned if no model is named
ALL_SETS = 8  # classes up to which masses of all sets are computed


def pool_and_tell(
    annotations: Annotations,
    rule: str,
    doubt: Any,
    gold: Any,
    on_conflict: str,
    dependence: Any,
    options: dict[str, Any],
) -> tuple[Labels, Dependence | None]:
    """Labels of the items, and how far people err together where it is known.

    See `Annotations.pool`.
    """
    check_option(on_conflict, ("raise", "unknown"), "on_conflict")
    check_option(rule, list(RULES), "rule")
    check_dependence(dependence, rule)
    if isinstance(dependence, str) and dependence == "auto":
        is_default = rule == "dempster" and doubt is None and not options
        dependence = "fit" if is_default and learns(annotations, doubt, gold, options) else "none"
    if isinstance(dependence, str) and dependence == "fit":
        return pool_dependent(annotations, doubt, gold, on_conflict, options)
    if isinstance(dependence, Dependence):
        kept = counted_once(annotations, dependence)
        labels = _pool_independent(kept, rule, doubt, gold, on_conflict, options)
        return temper(labels, dependence.exponent(count_answers(kept))), dependence
    labels = _pool_independent(annotations, rule, doubt, gold, on_conflict, options)
    power = 1.0 if dependence == "none" else float(dependence)
    return temper(labels, np.full(len(labels), power)), None


def learns(annotations: Annotations, doubt: Any, gold: Any, options: dict[str, Any]) -> bool:
    """Whether doubts are learned from agreement."""
    if doubt is None:
        return annotations.doubt is None or gold is not None or bool(options)
    return isinstance(doubt, str)


def check_doubt_word(doubt: str) -> None:
    """Refuse a word for doubts other than "fit"; models of reliability are an option of it."""
    if doubt in (*MODELS, "difficulty"):
        raise InputError(
            "doubt should be 'fit'",
            f"{doubt!r}, a model of reliability, was given",
            f"write doubt='fit', model={doubt!r}",
            parameter="doubt",
            value=doubt,
        )
    check_option(doubt, ("fit",), "doubt")


def pool_dependent(
    annotations: Annotations, doubt: Any, gold: Any, on_conflict: str, options: dict[str, Any],
    probabilities: Any = None,
) -> tuple[Labels, Dependence]:  # fmt: skip
    """Labels by Dempster's rule with what people have in common learned, and that."""
    truth = truth_of(annotations, gold, probabilities)
    people = who_err_together(annotations, truth)
    kept = counted_once(annotations, people)
    if doubt is None and not options and learns(annotations, doubt, None, options):
        options = {"model": default_model(annotations)}
    known = gold_logs(annotations, gold)
    if probabilities is not None and truth is not None:
        known = np.where(truth.is_known[:, None], np.log(np.maximum(truth.chances, TINY)), 0.0)
    if not learns(annotations, doubt, None, options):
        gold = None  # which then speaks of the dependence alone
    labels = _pool_independent(kept, "dempster", doubt, gold, on_conflict, options)
    count = count_answers(kept)
    with np.errstate(divide="ignore"):
        shared, low, high, source = learn_shared(np.log(labels.contour), count, known)
    if source == "gold" and probabilities is not None:
        source = "probabilities"
    several = count[count > 0]
    n_answers = float(several.mean()) if len(several) else 0.0
    found = replace(people, shared=shared, low=low, high=high, source=source, n_answers=n_answers)
    worth = several * found.exponent(several)
    found = replace(found, n_independent=float(worth.mean()) if len(worth) else 0.0)
    return temper(labels, found.exponent(count)), found


def default_model(annotations: Annotations | AnnotationParts) -> str:
    """What is learned of people if no model is named."""
    n_confusions = len(annotations.annotators) * annotations.n_classes**2
    return "shrunk" if n_confusions <= MOST_CONFUSIONS else "one_coin"


def who_err_together(annotations: Annotations, truth: Truth | None = None) -> Dependence:
    """People who copy, and groups who err together; what all people share is not looked for.

    Classes that are known, if they are enough, tell a group that is most of the people.
    """
    names = annotations.annotators.tolist()

    def named(groups: list[IntArray]) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(names[member] for member in group) for group in groups)

    pairs = count_pairs(annotations)
    copies = find_copies(annotations, pairs)
    others = without_copies(annotations, copies)
    if copies:
        pairs = count_pairs(others)
    if pairs is None:
        return Dependence(0.0, is_searched=False)
    judged = None if truth is None else judged_pairs(others, truth, pairs)
    pairs, expected = (pairs, None) if judged is None else judged
    found = find_groups(pairs, len(names), expected=expected)
    return Dependence(
        0.0,
        copies=named(copies),
        groups=named(found.members),
        group_shared=tuple(found.worth.tolist()),
    )


def counted_once(annotations: Annotations, dependence: Dependence) -> Annotations:
    """Answers of which those of people who copy each other count once, those of groups less."""
    place = {name: number for number, name in enumerate(annotations.annotators.tolist())}

    def numbers(groups: tuple[tuple[Any, ...], ...]) -> list[IntArray]:
        return [np.array([place[name] for name in group if name in place]) for group in groups]

    kept = without_copies(annotations, [one for one in numbers(dependence.copies) if len(one) > 1])
    groups, worth = numbers(dependence.groups), np.array(dependence.group_shared)
    there = [number for number, group in enumerate(groups) if len(group) > 1]
    return weigh(kept, [groups[number] for number in there], worth[there])


def _pool_independent(
    annotations: Annotations,
    rule: str,
    doubt: Any,
    gold: Any,
    on_conflict: str,
    options: dict[str, Any],
) -> Labels:
    """Labels by a rule."""
    doubts, evidence = _resolve_doubt(annotations, doubt, gold, options)
    if evidence is not None:
        if rule != "dempster":
            raise InputError(
                "Confusions of classes can be pooled by 'dempster' only",
                f"{rule!r} was asked for",
                "use {model}",
                value=rule,
                settings={"model": "one_coin"},
            )
        conflict = pool_dempster(annotations, doubts, "unknown").conflict
        return Labels(evidence, annotations.classes.tolist(), conflict=conflict)
    if rule != "dempster":
        labels = _pool_masses(annotations, rule, doubts)
        labels.conflict = pool_dempster(annotations, doubts, "unknown").conflict
        return labels
    return pool_dempster(annotations, doubts, on_conflict)


def pool_dempster(annotations: Annotations, doubts: FloatArray, on_conflict: str) -> Labels:
    """Dempster's rule, by the shortest way; answers may be raised to powers."""
    if annotations._power is not None:
        conflict = pool_dempster(annotations._with(_power=None), doubts, on_conflict).conflict
        contour = raised_contours(annotations, doubts)
        return Labels(contour, annotations.classes.tolist(), conflict=conflict)
    n_classes, is_simple = annotations.n_classes, annotations.facts.is_simple.all()
    if n_classes > (MAX_CLASSES if is_simple else ALL_SETS) or (n_classes == 1 and is_simple):
        return _pool_many(annotations, doubts, on_conflict)
    if is_simple:
        return _pool_hard(annotations, doubts, on_conflict)
    return _pool_products(annotations, doubts, on_conflict)


def _resolve_doubt(
    annotations: Annotations, doubt: Any, gold: Any, options: dict[str, Any]
) -> tuple[FloatArray, FloatArray | None]:
    """Doubts (A,) of the answers, and contours (n, K) of items where confusions were learned."""
    own = annotations.doubt
    if doubt is None:
        if own is not None and gold is None and not options:
            return np.maximum(own, LEAST_OWN_DOUBT), None
        doubt = "fit"
    if isinstance(doubt, str):
        check_doubt_word(doubt)
        found = fit_reliability(annotations, gold=gold, **options)
        has_confusions = options.get("model", "one_coin") != "one_coin"
        doubts = doubts_at(annotations, found.accuracy)
        return doubts, found.evidence if has_confusions else None
    if gold is not None or options:
        raise InputError(
            "gold and options of reliability should come with doubt='fit'",
            "the doubt is given",
            "leave them out",
        )
    if isinstance(doubt, Reliability):
        rates, confusion = known_people(doubt, annotations)
        doubts = doubts_at(annotations, rates)
        return doubts, None if confusion is None else evidence_of(annotations, confusion)
    return _with_own(_given_doubt(annotations, doubt), own), None


def doubts_at(annotations: Annotations, rates: FloatArray) -> FloatArray:
    """Doubts (A,) that equal these rates (R,) of being right."""
    size = np.maximum(annotations.facts.size, 1.0)[annotations.statement]
    own = 0.0 if annotations.doubt is None else annotations.doubt
    error = 1 - rates[annotations.annotator]
    return equivalent_doubt(error, annotations.n_classes, size, own)


def _with_own(doubt: FloatArray, own: FloatArray | None) -> FloatArray:
    """Doubts after a second discount."""
    return doubt if own is None else 1 - (1 - doubt) * (1 - own)


def _given_doubt(annotations: Annotations, doubt: ArrayLike | Mapping[Any, float]) -> FloatArray:
    """Doubts (A,) from one number, one for each annotator, or one for each answer."""
    n_annotators, names = len(annotations.annotators), annotations.annotators.tolist()
    index: Any = getattr(doubt, "index", None)
    is_by_name = hasattr(index, "equals") and len(index) == n_annotators
    if is_by_name and set(names) == set(index):  # a series of pandas
        doubt = dict(zip(list(index), np.asarray(doubt).tolist(), strict=True))
    if isinstance(doubt, Mapping):
        missing = [name for name in names if name not in doubt]
        if missing:
            raise InputError(
                "doubt should have an entry for each annotator",
                f"has none for {missing[0]!r}",
                "add it",
                parameter="doubt",
            )
        doubt = [doubt[name] for name in names]
    values = as_floats(doubt, "doubt")
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError(
            "doubt should be in [0, 1]",
            "some values are not",
            "0 means sure, 1 that the answer says nothing",
            parameter="doubt",
        )
    if values.ndim == 0:
        return np.full(len(annotations), float(values))
    if values.shape == (n_annotators,):
        return values[annotations.annotator]
    if values.shape == (len(annotations),):
        return values
    raise InputError(
        f"doubt should be one number, one for each of the {n_annotators} annotators, or one for "
        f"each of the {len(annotations)} answers",
        f"has shape {values.shape}",
        parameter="doubt",
        value=values.shape,
    )


def _sum_by_item(annotations: Annotations, values: FloatArray, n_items: int) -> FloatArray:
    """Sums (n,) over the answers of each item."""
    return np.bincount(annotations.item, values, minlength=n_items).astype(np.float64)


def _pool_many(annotations: Annotations, doubt: FloatArray, on_conflict: str) -> Labels:
    """Dempster's rule where there are too many classes for masses."""
    contour, conflict, clash = pool_contours(annotations, doubt)
    check_clash(annotations, clash, on_conflict)
    return Labels(contour, annotations.classes.tolist(), conflict=conflict)


def _pool_hard(annotations: Annotations, doubt: FloatArray, on_conflict: str) -> Labels:
    """Dempster's rule for answers that name one class, all or none."""
    n_classes = annotations.n_classes
    values, conflict, clash = all_masses(annotations, doubt)
    check_clash(annotations, clash, on_conflict)
    sets = np.append(1 << np.arange(n_classes, dtype=np.int64), (1 << n_classes) - 1)
    masses = SparseMasses(values, sets, n_classes)
    return Labels.from_masses(masses, annotations.classes.tolist(), conflict)


def check_clash(annotations: Annotations, clash: NDArray[np.bool_], on_conflict: str) -> None:
    """Refuse items about which sure answers contradict each other, unless told not to."""
    if clash.any() and on_conflict == "raise":
        names = annotations.items[clash].tolist()
        shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
        raise TotalConflictError(
            "Sure answers should not contradict each other",
            f"do about {len(names)} {'item' if len(names) == 1 else 'items'} ({shown})",
            ("give them some doubt", "say {on_conflict}"),
            rows=np.argwhere(clash),
            settings={"on_conflict": "unknown"},
        )


def _pool_products(annotations: Annotations, doubt: FloatArray, on_conflict: str) -> Labels:
    """Dempster's rule by products of the commonalities of all sets."""
    n_items, n_classes = len(annotations.items), annotations.n_classes
    sets = membership(np.arange(1 << n_classes), n_classes)
    logs = np.full((n_items, len(sets)), -np.inf)
    with np.errstate(divide="ignore"):
        for column in range(1, len(sets)):  # without the empty set
            values = annotations.commonality(sets[column])
            said = np.log(doubt + (1 - doubt) * values[annotations.statement])
            logs[:, column] = _sum_by_item(annotations, said, n_items)
    top = logs[:, 1 << np.arange(n_classes)].max(axis=1)
    clash = top == -np.inf
    check_clash(annotations, clash, on_conflict)
    scaled = np.exp(logs - np.where(clash, 0.0, top)[:, None])
    scaled[clash] = 1.0
    masses = moebius(scaled, n_classes)
    masses[clash] = np.eye(1, masses.shape[1], masses.shape[1] - 1)
    total = masses.sum(axis=1)
    agreed = np.where(clash, 0.0, np.minimum(np.exp(top) * total, 1.0))
    names = annotations.classes.tolist()
    return Labels.from_masses(masses / total[:, None], names, 1 - agreed)


def moebius(products: FloatArray, n_classes: int) -> FloatArray:
    """Masses (n, 2^K) of sets that are not empty from commonalities, up to a factor."""
    masses = products.copy()
    masses[:, 0] = 0.0
    grid = masses.reshape(len(masses), *(2,) * n_classes)
    for axis in range(1, n_classes + 1):
        without, having = (
            tuple(slice(None) if a != axis else value for a in range(n_classes + 1))
            for value in (0, 1)
        )
        grid[without] -= grid[having]
    masses[:, 0] = 0.0
    return np.maximum(masses, 0.0)


def _pool_masses(annotations: Annotations, rule: str, doubt: FloatArray) -> Labels:
    """Any other rule: items with as many answers as each other together."""
    statement = annotations.masses()
    n_items, n_classes = len(annotations.items), annotations.n_classes
    order = np.argsort(annotations.item, kind="stable")
    count = np.bincount(annotations.item, minlength=n_items)
    first = np.concatenate([[0], np.cumsum(count)])[:-1]
    parts, rows = [], []
    for size in np.unique(count):
        mine = np.flatnonzero(count == size)
        rows.append(mine)
        if not size:
            everything = vacuous(n_classes)
            parts.append(SparseMasses(np.ones((len(mine), 1)), everything.focal_sets, n_classes))
            continue
        sources = []
        for step in range(size):
            answers = order[first[mine] + step]
            values = statement.values[annotations.statement[answers]]
            source = SparseMasses(values, statement.focal_sets, n_classes)
            sources.append(discount(source, doubt[answers]))
        parts.append(combine(sources, rule))
    back = np.argsort(np.concatenate(rows))
    together = concatenate(parts)
    pooled = SparseMasses(together.values[back], together.focal_sets, n_classes)
    return Labels.from_masses(pooled, annotations.classes.tolist())
