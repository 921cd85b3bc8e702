"""Masses of several sources, discounted and combined by any rule."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from plausible.belief import (
    SparseMasses,
    combine,
    concatenate,
    conjunctive,
    contextual_discount,
    contour,
    discount,
    full_set,
    mean,
    normalize,
    to_sparse,
)

FloatArray = NDArray[np.float64]
SourceMasses = tuple[NDArray[np.bool_], SparseMasses | None]  # rows that it has, and their masses
MassesT = TypeVar("MassesT", FloatArray, SparseMasses)

PRODUCTS = ("dempster", "conjunctive")  # whose plausibilities are products of those of sources
# Rules that make masses on single classes and on all together of such masses.
ON_SINGLES = ("dempster", "conjunctive", "cautious", "yager", "pcr6", "mean")
OPEN = 1e-6  # mass on the empty set that the bold rule needs


def discounted(masses: SparseMasses, doubts: FloatArray, way: str) -> SparseMasses:
    """Masses of one source with its doubts: a number, or one for each class."""
    if way == "contextual":
        return contextual_discount(masses, doubts)
    if way == "class":
        doubts = doubts[contour(masses).argmax(axis=1)]
    return discount(masses, doubts)


def combined(parts: Sequence[SparseMasses], rule: str) -> SparseMasses:
    """Normalized masses by a rule; those of sources in total conflict say nothing."""
    given = [to_sparse(part) for part in parts]
    n_classes = given[0].n_classes
    if sum(len(part.focal_sets) for part in given) > 1 << n_classes:  # quicker over all sets
        return to_sparse(_by_rule([part.to_dense() for part in given], rule))
    return to_sparse(_by_rule(given, rule))


def _by_rule(given: list[MassesT], rule: str) -> MassesT:
    """The same for masses of one form."""
    if rule == "dempster":
        return combine(given, rule, on_conflict="vacuous")
    if rule == "bold":
        given = [opened(part) for part in given]
    return normalize(combine(given, rule), on_conflict="vacuous")


def opened(masses: MassesT) -> MassesT:
    """Masses of which a little goes to the empty set."""
    n_classes = to_sparse(masses[:1]).n_classes
    nothing: Any = SparseMasses(np.ones((1, 1)), np.array([0]), n_classes)
    return mean(masses, nothing, weights=[1.0 - OPEN, OPEN])


def on_sets(masses: SparseMasses, sets: NDArray[np.int64]) -> SparseMasses:
    """The same masses with a column for each of some sorted sets, which hold all focal ones."""
    values = np.zeros((len(masses), len(sets)))
    values[:, np.searchsorted(sets, masses.focal_sets)] = masses.values
    return SparseMasses(values, sets, masses.n_classes)


def patterns(
    parts: Sequence[SourceMasses],
) -> Iterator[tuple[NDArray[np.int64], list[SparseMasses]]]:
    """Rows for which the same sources are present, with the masses of these."""
    present = np.stack([rows for rows, _ in parts])
    place = np.cumsum(present, axis=1) - 1  # of a row among those that a source has
    kinds, kind = np.unique(present, axis=1, return_inverse=True)
    for number, which in enumerate(kinds.T):
        rows = np.flatnonzero(kind.ravel() == number)
        yield (
            rows,
            [
                masses[place[s, rows]]
                for s, (_, masses) in enumerate(parts)
                if which[s] and masses is not None
            ],
        )


def combine_present(parts: Sequence[SourceMasses], n_classes: int, rule: str) -> SparseMasses:
    """Combined masses of all rows, from the sources that are there; of none, they say nothing."""
    order, found = [], []
    for rows, given in patterns(parts):
        order.append(rows)
        found.append(combined(given, rule) if given else silent(len(rows), n_classes))
    return concatenate(found)[np.argsort(np.concatenate(order))]


def conflict_of_present(parts: Sequence[SourceMasses]) -> FloatArray:
    """Mass (n,) on the empty set when the sources that are there are all right."""
    conflict = np.zeros(len(parts[0][0]))
    for rows, given in patterns(parts):
        if len(given) > 1:
            conflict[rows] = _mass_on_nothing(conjunctive(*given))
    return conflict


def _mass_on_nothing(masses: SparseMasses) -> FloatArray:
    """Mass (n,) on the empty set."""
    return masses.values[:, masses.focal_sets == 0].sum(axis=1)


def silent(n_rows: int, n_classes: int) -> SparseMasses:
    """Masses (n, 1) that say nothing."""
    return SparseMasses(np.ones((n_rows, 1)), np.array([full_set(n_classes)]), n_classes)
