"""Speed of a gradient of the evidential network, against its two matrix products.

Run with ``make bench``. A full-batch gradient needs the distances of n rows to r prototypes, and
the pull of the rows on the prototypes: two products of (r, d) and (d, n) matrices. What is between
them (exponentials, products and quotients of r K numbers for each row) is ours to make fast. Both
take turns in one process on one core, and the fastest of nine turns counts.
"""

import sys
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits
from timing import interleave, show

from plausible.engine import ArrayRows
from plausible.models.network import evidence
from plausible.models.network.evidence import Form, Network
from plausible.models.network.gradient import loss_pass

N_CLASSES, N_PROTOTYPES = 10, 50
SIZES = ((20_000, 100), (20_000, 200), (10_000, 500))
WANTED = 3.0


def products(X: np.ndarray, points: np.ndarray, pull: np.ndarray) -> None:
    """The two matrix products of a gradient."""
    points @ X.T
    pull @ X


def ratio(n: int, d: int) -> float:
    """Time of a gradient by that of its products."""
    rng = np.random.default_rng(0)
    X, targets = rng.normal(size=(n, d)), np.eye(N_CLASSES)[rng.integers(N_CLASSES, size=n)]
    network = Network(
        rng.normal(size=(N_PROTOTYPES, d)),
        rng.dirichlet(np.ones(N_CLASSES), N_PROTOTYPES),
        np.full(N_PROTOTYPES, 0.5),
        np.full(N_PROTOTYPES, 0.5 / d),
    )
    form = Form(N_PROTOTYPES, d, N_CLASSES)
    vector, pull = evidence.pack(network, form), rng.normal(size=(N_PROTOTYPES, n))
    rows = ArrayRows(X, targets, None)
    gradient = partial(rows.reduce, loss_pass, vector, form, "squared", True)
    gradient()  # compiled
    times = interleave(
        {"gradient": gradient, "products": partial(products, X, network.prototypes, pull)}, 9
    )
    return times["gradient"] / times["products"]


def main() -> int:
    """Print the ratios; 1 if one is too large."""
    with threadpool_limits(1):
        held = [
            show(
                f"gradient by its products: {n} rows, {d} features, {N_PROTOTYPES} prototypes",
                found := ratio(n, d),
                f"at most {WANTED:g}",
                found <= WANTED,
            )
            for n, d in SIZES
        ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
