r"""Row after row to the exact minimum: the masses of one item, given those of all others.

With the conflicts :math:`\kappa_{ij} = m_i^T C m_j`, the stress as a function of one row is a
quadratic form on the simplex,

.. math:: m^T G m - 2 h^T m, \qquad G = \sum_j b_j b_j^T, \quad h = \sum_j \delta_{ij} b_j, \quad
          b_j = C m_j,

whose minimum an active-set method finds exactly. With all pairs, G is a sum over all items less one
term, and is kept up to date, so that a visit takes O(n F + F^3). The stress never rises.

References
----------
C. ter Braak, Y. Kourmpetis, H. Kiers, M. Bink, Approximating a similarity matrix by a latent class
model: a reappraisal of additive fuzzy clustering, Computational Statistics and Data Analysis 53
(2009) 3183-3193.
T. Denoeux, S. Sriboonchitta, O. Kanjanatarakul, Evidential clustering of large dissimilarity data,
Knowledge-Based Systems 106 (2016) 179-195.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.cluster.evclus_pairs import Wanted

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MANY_ITEMS = 100  # from which a compiled loop pays for its start
MANY_VISITS = 3_000  # after which it does with fewer items, too
GOOD_FIT = 1e-3  # stress below which it need not fall by shares of itself
RIDGE = 1e-11  # of the trace, where sets of clusters cannot be told apart
SLACK = 1e-11  # of the largest slope, below which a set of clusters gains nothing


class Links(NamedTuple):
    """Terms that are linear in each row: of pairs, ``strength m_i' Q m_j``, each in both rows."""

    starts: IntArray
    others: IntArray
    strengths: FloatArray
    Q: FloatArray


def no_links(n: int, n_sets: int) -> Links:
    """No further terms."""
    empty = np.zeros(0)
    nothing = np.zeros(n + 1, dtype=np.int64)
    return Links(nothing, empty.astype(np.int64), empty, np.zeros((n_sets, n_sets)))


class Fitted(NamedTuple):
    """Masses, the criterion at the start and after each pass, and whether it stopped by itself."""

    masses: FloatArray
    history: FloatArray
    converged: bool


def fit_rows(
    masses: FloatArray,
    C: FloatArray,
    wanted: Wanted,
    links: Links,
    random: np.random.RandomState,
    tol: float,
    max_iter: int,
    compiled: bool | None = None,
) -> Fitted:
    """Passes over all rows, in random order, until the criterion hardly falls."""
    masses = masses.copy()
    visit = visit_all if wanted.counts is None else visit_some
    plain = MANY_VISITS // wanted.n_items if wanted.n_items < MANY_ITEMS else 0
    if compiled is not None:
        plain = 0 if compiled else max_iter
    history = [criterion(masses, C, wanted, links)]
    for number in range(max_iter):
        if number == plain:
            visit = compiled_visits(C, wanted, links)
        order = random.permutation(wanted.n_items)
        gain = visit(masses, C, wanted, links, order) / wanted.total
        history.append(history[-1] - gain)
        if gain <= tol * (abs(history[-1]) + GOOD_FIT):
            return Fitted(masses, np.array(history), True)
    return Fitted(masses, np.array(history), False)


def compiled_visits(C: FloatArray, wanted: Wanted, links: Links) -> Callable[..., float]:
    """The same loops, compiled once for both kinds of pairs."""
    from plausible.cluster import evclus_compiled as compiled

    terms = compiled.terms_of(C, wanted.table, wanted.counts, *links)

    def visit(masses: FloatArray, _C: Any, _w: Any, _l: Any, order: IntArray) -> float:
        return compiled.visit(masses, terms, order, RIDGE, SLACK)

    return visit


# -- The criterion ---------------------------------------------------------------------------------


def stress(masses: FloatArray, C: FloatArray, wanted: Wanted) -> float:
    """Squared differences of conflicts from those that are wanted, relative to these."""
    return float(np.square(misfit(masses, C, wanted)[0]).sum()) / 2.0 / wanted.total


def misfit(masses: FloatArray, C: FloatArray, wanted: Wanted) -> tuple[FloatArray, Any]:
    """Differences of conflicts, times the root of counts: entries, and their table (or places)."""
    table = wanted.table
    if wanted.counts is None:
        apart = masses @ C @ masses.T - table
        np.fill_diagonal(apart, 0.0)
        return apart, apart
    row = np.repeat(np.arange(wanted.n_items), np.diff(table.indptr))
    conflict = np.einsum("ef,ef->e", (masses @ C)[row], masses[table.indices])
    return (conflict - table.data) * np.sqrt(wanted.counts), row


def criterion(masses: FloatArray, C: FloatArray, wanted: Wanted, links: Links) -> float:
    """Stress and linear terms; a constant is left out."""
    pull = np.einsum("nf,nf->", masses, pulls(masses, links)) / 2.0
    return stress(masses, C, wanted) + float(pull) / wanted.total


def pulls(masses: FloatArray, links: Links) -> FloatArray:
    """Slopes (n, F) of the linear terms in each row."""
    row = np.repeat(np.arange(len(masses)), np.diff(links.starts))
    slopes = np.zeros_like(masses)
    np.add.at(slopes, row, links.strengths[:, None] * masses[links.others])
    return slopes @ links.Q


# -- Visits ----------------------------------------------------------------------------------------


def visit_all(
    masses: FloatArray, C: FloatArray, wanted: Wanted, links: Links, order: IntArray
) -> float:
    """Visit rows in an order, with all pairs; masses change in place, the fall is returned."""
    against = masses @ C
    everything = against.T @ against
    fall = 0.0
    for i in order:
        G = everything - np.outer(against[i], against[i])
        h = wanted.table[i] @ against - 0.5 * pull_on(i, masses, links)
        fall += improve(masses, i, G, h)
        against[i] = masses[i] @ C
        everything = G + np.outer(against[i], against[i])
    return fall


def visit_some(
    masses: FloatArray, C: FloatArray, wanted: Wanted, links: Links, order: IntArray
) -> float:
    """The same with the pairs that are used."""
    assert wanted.counts is not None
    table = wanted.table
    against = masses @ C
    fall = 0.0
    for i in order:
        place = slice(table.indptr[i], table.indptr[i + 1])
        near = against[table.indices[place]]
        weighted = near.T * wanted.counts[place]
        h = weighted @ table.data[place] - 0.5 * pull_on(i, masses, links)
        fall += improve(masses, i, weighted @ near, h)
        against[i] = masses[i] @ C
    return fall


def pull_on(i: int, masses: FloatArray, links: Links) -> FloatArray:
    """Slope (F,) of the linear terms in one row."""
    place = slice(links.starts[i], links.starts[i + 1])
    return links.Q @ (links.strengths[place] @ masses[links.others[place]])


def improve(masses: FloatArray, i: int, G: FloatArray, h: FloatArray) -> float:
    """Put a row at its minimum if that is lower; says by how much."""
    row = masses[i]
    before = row @ (G @ row - 2.0 * h)
    better = simplex_minimum(G, h, row)
    after = better @ (G @ better - 2.0 * h)
    if not after < before:
        return 0.0
    masses[i] = better
    return float(before - after)


def simplex_minimum(G: FloatArray, h: FloatArray, start: FloatArray) -> FloatArray:
    """Minimum of m'Gm - 2h'm over m >= 0 with sum one, by an active-set method."""
    m = start / start.sum()
    firm = G.copy()
    firm.flat[:: len(m) + 1] += RIDGE * G.trace() + 1e-300
    sides = np.ones((len(m), 2))
    sides[:, 0] = h
    is_free = m > 0.0
    for _ in range(10 * len(m)):
        free = is_free.nonzero()[0]
        plain, ones = np.linalg.solve(firm[free[:, None], free], sides[free]).T
        price = (1.0 - plain.sum()) / ones.sum()
        goal = plain + price * ones
        if goal.min() > 0.0:
            m[free] = goal
            slope = h - G @ m
            slope[free] = -np.inf
            best = int(slope.argmax())
            if slope[best] + price <= SLACK * np.abs(h).max():
                break
            is_free[best] = True
            continue
        here = m[free]
        falls = goal <= 0.0
        steps = np.full(len(free), np.inf)
        steps[falls] = here[falls] / (here[falls] - goal[falls])
        step = steps.min()
        m[free] = np.maximum(here + step * (goal - here), 0.0)
        gone = free[steps <= step]
        m[gone] = 0.0
        is_free[gone] = False
        if step == 0.0:  # the set that came last cannot gain after all
            break
    return m / m.sum()
