"""Random mass functions for hypothesis."""

import numpy as np
from hypothesis import strategies as st

ROWS = 3


@st.composite
def mass_functions(draw, n_classes, empty=True, whole=False):
    """Dense masses (ROWS, 2^K): some rows with few focal sets, some with all.

    `empty` allows mass on the empty set; `whole` gives some to the whole frame in every row;
    ``empty="always"`` gives some to the empty set.
    """
    n_sets = 1 << n_classes
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    masses = np.zeros((ROWS, n_sets))
    for row in masses:
        lowest = 0 if empty else 1
        count = draw(st.integers(1, n_sets - lowest))
        row[rng.permutation(np.arange(lowest, n_sets))[:count]] = rng.dirichlet(np.ones(count))
        if whole:
            row[-1] += 0.1 + rng.random()
        if empty == "always":
            row[0] += 0.1 + rng.random()
    return masses / masses.sum(axis=1, keepdims=True)


frames = st.integers(1, 8)


def sources(count, max_classes=8, **options):
    """Several mass functions on one random frame."""
    return st.integers(1, max_classes).flatmap(
        lambda k: st.tuples(*(mass_functions(k, **options) for _ in range(count)))
    )
