"""Pairs of items that are known to be in one cluster, or in two."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from plausible.cluster.links import check_links
from plausible.errors import InputError

IntArray = NDArray[np.int64]


class Constraints(NamedTuple):
    """Pairs (m, 2) of items that must be in one cluster, and that cannot be; each pair once."""

    must_link: IntArray
    cannot_link: IntArray


def read_constraints(must_link: Any, cannot_link: Any, n_items: int) -> Constraints:
    """Constraints on n items, or why they cannot be kept."""
    links = check_links(must_link, cannot_link, n_items)
    must, cannot = links.pairs[links.must], links.pairs[~links.must]
    check_consistent(must, cannot, n_items)
    return Constraints(must, cannot)


def check_consistent(must: IntArray, cannot: IntArray, n_items: int) -> None:
    """Refuse a pair that cannot be in one cluster, but must be by a chain of others."""
    if not len(must) or not len(cannot):
        return
    together = sparse.csr_array((np.ones(len(must)), must.T), shape=(n_items, n_items))
    _, group = sparse.csgraph.connected_components(together, directed=False)
    bad = group[cannot[:, 0]] == group[cannot[:, 1]]
    if bad.any():
        first = tuple(cannot[bad][0].tolist())
        raise InputError(
            "Constraints should not contradict each other",
            f"{first} is in cannot_link, and linked by pairs of must_link"
            + (f" (and {int(bad.sum()) - 1} more)" if bad.sum() > 1 else ""),
            "leave some out",
            parameter="cannot_link",
            value=first,
        )


def closed(constraints: Constraints, n_items: int) -> Constraints:
    """All constraints that follow: items linked by a chain are one to all others.

    Groups of linked items make all their pairs; a pair that cannot be together keeps their groups
    apart.
    """
    must, cannot = constraints
    together = sparse.csr_array((np.ones(len(must)), must.T), shape=(n_items, n_items))
    _, group = sparse.csgraph.connected_components(together, directed=False)
    members: dict[int, list[int]] = {}
    for item in np.unique(np.concatenate([must.ravel(), cannot.ravel()])).tolist():
        members.setdefault(int(group[item]), []).append(item)
    linked = [
        (one, other)
        for items in members.values()
        for place, one in enumerate(items)
        for other in items[place + 1 :]
    ]
    apart = {
        (min(one, other), max(one, other))
        for a, b in {tuple(sorted(pair)) for pair in group[cannot].tolist()}
        for one in members[a]
        for other in members[b]
    }
    return Constraints(
        np.array(sorted(linked), dtype=np.int64).reshape(-1, 2),
        np.array(sorted(apart), dtype=np.int64).reshape(-1, 2),
    )
