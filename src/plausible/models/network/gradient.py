"""The gradient of a network's loss: a sum over rows, of some of them after the others.

All that some rows need stays in the cache: two matrix products, for distances to the prototypes and
for the pull on them, with what `network.evidence` or its compiled form does between.
"""

from typing import NamedTuple

import numpy as np

from plausible.engine import Columns
from plausible.models.network import evidence
from plausible.models.network.evidence import FloatArray, Form, Network
from plausible.models.network.losses import BoolArray, evaluate

FEWEST_ROWS = 1024
AT_ONCE = 65536  # distances to prototypes: they fit the cache, and steps are not all begun anew


class Said(NamedTuple):
    """What bets are compared to: targets (n, K), weights, and which rows are probabilities."""

    targets: FloatArray
    weight: FloatArray | None = None
    is_probability: BoolArray | None = None

    def rows(self, part: slice) -> "Said":
        """Some of the rows."""
        weight, marks = self.weight, self.is_probability
        return Said(
            self.targets[part],
            None if weight is None else weight[part],
            None if marks is None else marks[part],
        )


def loss_pass(
    columns: Columns, vector: FloatArray, form: Form, loss: str, compiled: bool = False
) -> tuple[float, FloatArray]:
    """Sum over rows of the losses, and its derivatives by the numbers of `evidence.pack`."""
    X, targets, weight, shares = (*columns, None, None)[:4]
    assert X is not None
    assert targets is not None
    network = evidence.unpack(vector, form)
    center = network.prototypes.mean(axis=0)
    partners = evidence.partners(network.prototypes, center)
    value, by_membership = 0.0, np.zeros_like(network.memberships)
    pulls, by_square = np.zeros_like(partners), np.zeros(len(partners))
    size = max(FEWEST_ROWS, AT_ONCE // len(partners))
    for start in range(0, len(X), size):
        part = slice(start, start + size)
        rows = evidence.around(X[part], center)
        squared = evidence.distances_by(partners, rows)
        said = Said(targets, weight, shares).rows(part)
        found = (_compiled_slopes if compiled else _plain_slopes)(squared, network, said, loss)
        value += found[0]
        by_membership += found[1]
        more, squares = evidence.pull_back(rows, squared, found[2])
        pulls += more
        by_square += squares
    slopes = evidence.slopes_of_parts(network, center, by_membership, pulls, by_square)
    return value, evidence.pack_slopes(slopes, vector, form)


def _plain_slopes(
    squared: FloatArray, network: Network, said: Said, loss: str
) -> tuple[float, FloatArray, FloatArray]:
    """Loss, and its derivatives by memberships (r, K) and by the logs of strengths (r, n)."""
    strength = evidence.activations(squared, network)
    shares, ignorance = evidence.combine(strength, network.memberships)
    bets = evidence.bets(shares, ignorance)
    value, slope = evaluate(loss, bets, said.targets.T, said.is_probability)
    if said.weight is not None:
        value, slope = value * said.weight, slope * said.weight
    found = evidence.slopes_of_strengths(strength, network.memberships, shares, ignorance, slope)
    return float(value.sum()), *found


def _compiled_slopes(
    squared: FloatArray, network: Network, said: Said, loss: str
) -> tuple[float, FloatArray, FloatArray]:
    """The same, compiled."""
    from plausible.models.network.evidence_compiled import CODES, evidence_pass

    n_rows = len(said.targets)
    ones = np.ones(n_rows) if said.weight is None else said.weight
    marks = np.zeros(n_rows, bool) if said.is_probability is None else said.is_probability
    return evidence_pass(
        squared,
        network.memberships,
        np.minimum(network.alpha, evidence.MOST),
        network.gamma,
        np.ascontiguousarray(said.targets, dtype=np.float64),
        np.ascontiguousarray(ones, dtype=np.float64),
        np.ascontiguousarray(marks),
        CODES[loss],
    )
