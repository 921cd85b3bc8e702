r"""Rules that combine what several sources say about the same items.

Every rule takes two or more sources, ``rule(m1, m2, m3)``; their rows broadcast. With the sets A_1,
..., A_S that the sources hold to with masses m_1(A_1), ..., m_S(A_S), the product of these masses
goes to

=============  ===================================================================================
conjunctive    the intersection (all sources are right); conflict stays on the empty set
dempster       the intersection, and what fell on the empty set is normalized away
disjunctive    the union (at least one source is right)
yager          the intersection; conflict goes to the whole frame
dubois_prade   the intersection, or the union where the intersection is empty
pcr6           the intersection, or back to A_1, ..., A_S in proportion to their masses
=============  ===================================================================================

Sources that may repeat each other are combined by `cautious` (conjunctive) or `bold`
(disjunctive), which take the minimum of the canonical weights, or by `mean`. Yager, Dubois-Prade,
PCR6 and the mean are not associative: all sources must be given at once.

References
----------
P. Smets, Analyzing the combination of conflicting belief functions, Information Fusion 8 (2007)
387-412.
T. Denoeux, Artificial Intelligence 172 (2008) 234-264 (cautious and bold).
A. Martin, C. Osswald, A new generalization of the proportional conflict redistribution rule,
Advances and Applications of DSmT for Information Fusion 2 (2006) 69-88 (PCR6).
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief.forms import (
    MassesT,
    SparseMasses,
    add_up,
    are_degrees,
    check_masses,
    check_values,
    columns,
    concatenate,
    dense_width,
    repack,
    sparse_form,
)
from plausible.belief.masses import FALLBACK_REMEDY, normalize_columns
from plausible.belief.products import each_tuple, intersect_dense, most_held, sum_pairs
from plausible.belief.sets import FloatArray, IntArray, full_set
from plausible.belief.weights import (
    check_not_dogmatic,
    check_subnormal,
    closure,
    log_weights,
    masses_after_change,
)
from plausible.checks import as_floats, as_list, check_option, counted, name_options, shown
from plausible.errors import InputError

MAX_TUPLES = 1e9

_TUPLE_COST = 4  # a tuple of a row's own focal sets costs as much as so many pairs of columns
_ROWS_AT_ONCE = 4096
_SAME_WEIGHT = 1e-12  # logarithms of weights that differ by less are equal


def conjunctive(*sources: MassesT) -> MassesT:
    """Combine sources that are all right and independent; conflict stays on the empty set.

    Parameters
    ----------
    *sources : dense arrays (..., 2^K) or SparseMasses
        Rows broadcast; if one source is dense, the answer is.

    Examples
    --------
    >>> conjunctive([0.0, 0.6, 0.0, 0.4], [0.0, 0.0, 0.5, 0.5])
    array([0.3, 0.3, 0.2, 0.2])
    """
    return _intersect_all(conform(sources))


def dempster(*sources: MassesT, on_conflict: str = "raise") -> MassesT:
    """Combine sources that are all right and independent, and normalize conflict away.

    Parameters
    ----------
    *sources : dense arrays (..., 2^K) or SparseMasses
    on_conflict : {"raise", "vacuous", "empty"}
        What to do with rows in which the sources contradict each other completely: raise
        `TotalConflictError`, answer "anything is possible", or put all mass on the empty set.

    Examples
    --------
    Zadeh's example: two doctors are nearly sure of different diseases and agree only that a third
    one is very unlikely, and the third is what remains.

    >>> from plausible.belief import bayesian
    >>> dempster(bayesian([0.99, 0.0, 0.01]), bayesian([0.0, 0.99, 0.01])).to_dense()[4]
    np.float64(1.0)
    """
    parts = conform(sources)
    combined = parts[0]
    for other in parts[1:-1]:
        # Normalizing at every step keeps many sources from underflowing. Rows in total conflict
        # stay on the empty set until the end, where all are reported together.
        combined = _normalize(_intersect(combined, other), "empty")
    if len(parts) > 1:
        combined = _intersect(combined, parts[-1])
    return _normalize(combined, on_conflict)


def disjunctive(*sources: MassesT) -> MassesT:
    """Combine independent sources of which at least one is right.

    Examples
    --------
    >>> disjunctive([0.0, 0.6, 0.0, 0.4], [0.0, 0.0, 0.5, 0.5])
    array([0., 0., 0., 1.])
    """
    return _negate(_intersect_all([_negate(part) for part in conform(sources)]))


def cautious(*sources: MassesT) -> MassesT:
    """Combine sources that are all right but may share evidence: saying it twice changes nothing.

    Takes for each set the smallest of the conjunctive weights. Every source needs some mass on
    the whole frame. Conflict stays on the empty set; see `normalize`.

    Examples
    --------
    >>> m = [0.0, 0.6, 0.0, 0.4]
    >>> cautious(m, m)
    array([0. , 0.6, 0. , 0.4])
    """
    return _cautious(conform(sources))


def bold(*sources: MassesT) -> MassesT:
    """Combine sources of which at least one is right and that may share evidence.

    The dual of `cautious`: takes the smallest of the disjunctive weights. Every source needs some
    mass on the empty set.

    Examples
    --------
    >>> m = [0.4, 0.6, 0.0, 0.0]
    >>> bold(m, m)
    array([0.4, 0.6, 0. , 0. ])
    """
    parts = conform(sources)
    for part in parts:
        check_subnormal(*columns(part)[:2])
    return _negate(_cautious([_negate(part) for part in parts]))


def yager(*sources: MassesT) -> MassesT:
    """Combine conjunctively; what the sources disagree about becomes ignorance.

    Examples
    --------
    >>> yager([0.0, 0.6, 0.0, 0.4], [0.0, 0.0, 0.5, 0.5])
    array([0. , 0.3, 0.2, 0.5])
    """
    combined = conjunctive(*sources)
    values, sets, n_classes = columns(combined)
    return repack(values, np.where(sets == 0, full_set(n_classes), sets), n_classes, like=combined)


def dubois_prade(*sources: MassesT) -> MassesT:
    """Combine by intersection where sources agree, by union where they do not.

    The union is that of all sources, whichever of them disagree. Only a combination of empty sets
    stays on the empty set.

    Examples
    --------
    >>> dubois_prade([0.0, 0.6, 0.0, 0.4], [0.0, 0.0, 0.5, 0.5])
    array([0. , 0.3, 0.2, 0.5])
    """
    parts = conform(sources)
    sparse = [sparse_form(part) for part in parts]
    n_classes = sparse[0].n_classes
    tuples = prod(most_held(part.values) for part in sparse)
    if tuples * _TUPLE_COST < prod(part.shape[-1] for part in sparse):
        return _add_up_tuples(parts, _intersection_or_union)
    values, sets, _ = columns(sparse[0])
    common = union = sets
    for part in sparse[1:]:
        pairs = np.stack([common[:, None] & part.focal_sets, union[:, None] | part.focal_sets], -1)
        unique, position = np.unique(pairs.reshape(-1, 2), axis=0, return_inverse=True)
        values = sum_pairs(values, part.values, position.reshape(pairs.shape[:2]), len(unique))
        common, union = unique.T
    return repack(values, np.where(common == 0, union, common), n_classes, like=parts[0])


def pcr6(*sources: MassesT) -> MassesT:
    """Combine conjunctively; each partial conflict returns to the sets that caused it.

    Sources that hold A_1, ..., A_S with an empty intersection get the product of their masses
    back in proportion to these masses (the empty set, if a source holds it, as any other set).
    The work grows as the product over sources of the focal sets in a row.

    Examples
    --------
    >>> pcr6([0.0, 0.6, 0.0, 0.4], [0.0, 0.0, 0.5, 0.5]).round(4)
    array([0.    , 0.4636, 0.3364, 0.2   ])
    """
    parts = conform(sources)
    n_tuples = prod(most_held(columns(part)[0]) for part in parts)
    n_rows = prod(np.broadcast_shapes(*(part.shape[:-1] for part in parts)))
    if n_tuples * n_rows > MAX_TUPLES:
        raise InputError(
            f"PCR6 should meet at most {MAX_TUPLES:.0e} tuples of focal sets",
            f"{len(parts)} sources on {n_rows} rows make {n_tuples * n_rows:.1e}",
            "combine fewer sources or rows at a time, keep fewer focal sets, or use "
            "'dubois_prade' or 'mean'",
        )
    return _add_up_tuples(parts, _intersection_or_back)


def mean(*sources: MassesT, weights: ArrayLike | None = None) -> MassesT:
    """Average the masses: every source counts, and none is contradicted.

    Parameters
    ----------
    *sources : dense arrays (..., 2^K) or SparseMasses
    weights : array-like, one non-negative number for each source, optional

    Examples
    --------
    >>> mean([0.0, 0.6, 0.0, 0.4], [0.0, 0.0, 0.5, 0.5])
    array([0.  , 0.3 , 0.25, 0.45])
    """
    parts = conform(sources)
    share = np.ones(len(parts)) if weights is None else as_floats(weights, "weights")
    if share.shape != (len(parts),) or not (share >= 0.0).all() or not 0.0 < share.sum() < np.inf:
        raise InputError(
            f"weights should be one non-negative number for each of the {len(parts)} sources, "
            "not all zero",
            f"{shown(weights)} was given",
            parameter="weights",
            value=weights,
        )
    share = share / share.sum()
    lead: tuple[int, ...] = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    values = [
        np.broadcast_to(factor * columns(part)[0], (*lead, part.shape[-1]))
        for factor, part in zip(share, parts, strict=True)
    ]
    sets = [columns(part)[1] for part in parts]
    n_classes = columns(parts[0])[2]
    return repack(np.concatenate(values, -1), np.concatenate(sets), n_classes, like=parts[0])


RULES: dict[str, Callable[..., Any]] = {
    rule.__name__: rule
    for rule in (
        conjunctive,
        dempster,
        disjunctive,
        cautious,
        bold,
        yager,
        dubois_prade,
        pcr6,
        mean,
    )
}
"""The rules by name."""


def combine(sources: Iterable[MassesT], rule: str = "dempster", **options: Any) -> MassesT:
    """Combine sources by a rule that is given by name.

    Parameters
    ----------
    sources : iterable of masses
        A list of sources, or an array (S, ..., 2^K) whose first axis runs over them.
    rule : str
        A key of `RULES`.
    **options
        Passed to the rule (`on_conflict` of "dempster", `weights` of "mean").

    Examples
    --------
    >>> combine([[0.0, 0.6, 0.0, 0.4], [0.0, 0.0, 0.5, 0.5]], rule="yager")
    array([0. , 0.3, 0.2, 0.5])
    """
    check_option(rule, list(RULES), "rule")
    parts = as_list(sources, "sources", "masses")
    allowed = {"dempster": {"on_conflict"}, "mean": {"weights"}}.get(rule, set())
    for option in options:
        if option not in allowed:
            raise InputError(
                f"The rule {rule!r} takes {name_options(sorted(allowed)) or 'no option'}",
                f"{option!r} was given",
                "leave it out",
                value=option,
            )
    combined: MassesT = RULES[rule](*parts, **options)
    return combined


def conform(sources: tuple[MassesT, ...]) -> list[MassesT]:
    """Check the sources, and bring them to one form on one frame."""
    if not sources:
        raise InputError(
            "A rule needs at least one source",
            "none was given",
            "pass m1, m2, ...",
        )
    parts = [check_masses(source, f"source {s}") for s, source in enumerate(sources)]
    sizes = [columns(part)[2] for part in parts]
    for s, size in enumerate(sizes):
        if size != sizes[0]:
            first, other = (dense_width(part) for part in (parts[0], parts[s]))
            degrees = are_degrees(first, size) or are_degrees(other, sizes[0])
            raise InputError(
                "Sources should speak of one frame",
                f"source 0 has {counted(sizes[0], 'class', 'classes')} and source {s} has {size}",
                degrees or "bring them to a common frame with refine or coarsen",
            )
    try:
        np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    except ValueError:
        shapes = ", ".join(str(part.shape[:-1]) for part in parts)
        raise InputError(
            "Sources should have the same rows (or one row)",
            f"have {shapes}",
            "give every source one mass function for each item",
        ) from None
    if not all(isinstance(part, SparseMasses) for part in parts):
        parts = [part.to_dense() if isinstance(part, SparseMasses) else part for part in parts]
    return parts  # type: ignore[return-value]


def _intersect_all(parts: list[MassesT]) -> MassesT:
    return reduce(_intersect, parts) if len(parts) > 1 else deepcopy(parts[0])


def _intersect(first: MassesT, second: MassesT) -> MassesT:
    if not isinstance(first, SparseMasses):
        return intersect_dense(first, second)
    pairs = first.shape[-1] * second.shape[-1]
    if most_held(first.values) * most_held(second.values) * _TUPLE_COST < pairs:
        return _add_up_tuples([first, second], _intersection)
    common = first.focal_sets[:, None] & second.focal_sets
    sets, position = np.unique(common, return_inverse=True)
    values = sum_pairs(first.values, second.values, position.reshape(common.shape), len(sets))
    return add_up(values, sets, first.n_classes)


def _add_up_tuples(
    parts: list[MassesT], target: Callable[[FloatArray, IntArray], tuple[FloatArray, IntArray]]
) -> MassesT:
    """Add up what `target` makes of every tuple of focal sets, one from each source."""
    n_classes = columns(parts[0])[2]
    lead: tuple[int, ...] = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    flat = []
    for part in parts:
        values, sets, _ = columns(part)
        flat.append((np.broadcast_to(values, (*lead, len(sets))).reshape(-1, len(sets)), sets))
    blocks = []
    for start in range(0, max(1, prod(lead)), _ROWS_AT_ONCE):
        rows = [(values[start : start + _ROWS_AT_ONCE], sets) for values, sets in flat]
        found = [add_up(*target(*block), n_classes) for block in each_tuple(rows)]
        values = np.concatenate([part.values for part in found], axis=-1)
        sets = np.concatenate([part.focal_sets for part in found])
        blocks.append(repack(values, sets, n_classes, like=parts[0]))
    if isinstance(parts[0], SparseMasses):
        together = concatenate(blocks)
        return SparseMasses(
            together.values.reshape(*lead, together.shape[-1]), together.focal_sets, n_classes
        )
    return np.concatenate(blocks).reshape(*lead, 1 << n_classes)


def _intersection(masses: FloatArray, sets: IntArray) -> tuple[FloatArray, IntArray]:
    common: IntArray = np.bitwise_and.reduce(sets, axis=0)
    return masses.prod(axis=0), common


def _intersection_or_union(masses: FloatArray, sets: IntArray) -> tuple[FloatArray, IntArray]:
    joint, common = _intersection(masses, sets)
    return joint, np.where(common == 0, np.bitwise_or.reduce(sets, axis=0), common)


def _intersection_or_back(masses: FloatArray, sets: IntArray) -> tuple[FloatArray, IntArray]:
    joint, common = _intersection(masses, sets)
    agreed, in_conflict = np.where(common == 0, 0.0, joint), np.where(common == 0, joint, 0.0)
    total = masses.sum(axis=0)
    shares = masses * (in_conflict / np.where(total == 0.0, 1.0, total))
    return (
        np.concatenate([agreed, *shares], axis=-1),
        np.concatenate([common, *sets], axis=-1),
    )


def _negate(masses: MassesT) -> MassesT:
    if isinstance(masses, SparseMasses):
        frame = full_set(masses.n_classes)
        return SparseMasses(masses.values, frame ^ masses.focal_sets, masses.n_classes)
    return masses[..., ::-1].copy()


def _normalize(masses: MassesT, on_conflict: str) -> MassesT:
    values, sets, n_classes = columns(masses)
    values, sets = normalize_columns(
        values,
        sets,
        n_classes,
        on_conflict,
        need="Dempster's rule needs mass on which the sources agree",
        remedy=("discount the sources by a small doubt first", FALLBACK_REMEDY),
    )
    return repack(values, sets, n_classes, like=masses)


def _cautious(parts: list[MassesT]) -> MassesT:
    n_classes = columns(parts[0])[2]
    lattice = closure(np.unique(np.concatenate([columns(part)[1] for part in parts])), n_classes)
    logs: list[FloatArray] = []
    for part in parts:
        values, sets, _ = columns(part)
        check_not_dogmatic(values, sets, n_classes)
        logs.append(log_weights(values, sets, lattice))
    change = reduce(np.minimum, logs) - logs[0]
    change[np.abs(change) < _SAME_WEIGHT] = 0.0
    values, sets, _ = columns(parts[0])
    combined = check_values(
        masses_after_change(values, sets, lattice, change), "cautious masses", "discount them first"
    )
    return repack(combined, lattice, n_classes, like=parts[0])
