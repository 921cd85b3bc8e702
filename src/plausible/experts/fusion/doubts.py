r"""How far to doubt each of several sources, learned from what they said of labeled items.

A doubt D makes all classes more plausible than source s finds them,

.. math:: pl'_{isk} = pl_{isk} + D_{isk} (1 - pl_{isk}),

where D is one number for each source, for each source and class that it says (the most plausible
one), or for each source and class k that is true: contextual discounting with the single classes as
contexts, which has exactly these plausibilities. Dempster's rule makes probabilities
:math:`P_{ik} \propto \prod_s pl'_{isk}` of them, and the doubts maximize

.. math:: \sum_i w_i \log \sum_k y_{ik} P_{ik} + \frac{c}{2} \sum_D \log D (1 - D)

for plausibilities y of the labels (for labels that are probabilities, the cross-entropy): c
imagined items, half of which a source gets wrong, keep few items from making it certain or
worthless.

References
----------
Z. Elouedi, K. Mellouli, P. Smets, Assessing sensor reliability for multisensor data fusion within
the transferable belief model, IEEE Transactions on Systems, Man and Cybernetics B 34 (2004)
782-787.
D. Mercier, B. Quost, T. Denoeux, Refined modeling of sensor reliability in the belief function
framework using contextual discounting, Information Fusion 9 (2008) 246-258.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from plausible.base import normalized

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

WAYS = ("fit", "class", "contextual")
STARTS = (0.1, 0.5, 0.9)
FARTHEST = 30.0  # log odds beyond which a doubt is 0 or 1
TINY = 1e-300
ROUNDING = 1e-9  # relative gains below tell nothing
ENTRIES_AT_ONCE = 1 << 20


class Said(NamedTuple):
    """What sources said of items, and what is known of these.

    contours : plausibilities (S, n, K), ones where a source says nothing
    known : plausibilities (n, K) of the labels
    is_probability : which of them are probabilities (n,)
    weight : of the items (n,)
    """

    contours: FloatArray
    known: FloatArray
    is_probability: NDArray[np.bool_]
    weight: FloatArray

    def rows(self, part: slice) -> "Said":
        """Some of the items."""
        marks = self.is_probability[part]
        return Said(self.contours[:, part], self.known[part], marks, self.weight[part])

    def source(self, number: int) -> "Said":
        """One of the sources."""
        return self._replace(contours=self.contours[number : number + 1])


def shape_of_doubts(contours: FloatArray, way: str) -> tuple[int, ...]:
    """Shape of the doubts: by source, or by source and class."""
    n_sources, _, n_classes = contours.shape
    return (n_sources,) if way == "fit" else (n_sources, n_classes)


def spread(doubts: FloatArray, contours: FloatArray, way: str) -> FloatArray:
    """Doubts as they apply to plausibilities (S, n, K)."""
    if way == "fit":
        return doubts[:, None, None]
    if way == "contextual":
        return doubts[:, None, :]
    return np.take_along_axis(doubts, contours.argmax(axis=2), axis=1)[:, :, None]


def relaxed(contours: FloatArray, doubts: FloatArray, way: str) -> FloatArray:
    """Plausibilities (S, n, K) after discounting."""
    return np.maximum(contours + spread(doubts, contours, way) * (1.0 - contours), TINY)


def gathered(slopes: FloatArray, contours: FloatArray, way: str) -> FloatArray:
    """Slopes (S, n, K) by plausibilities, added up for each doubt."""
    if way == "contextual":
        return slopes.sum(axis=1)
    by_item = slopes.sum(axis=2)
    if way == "fit":
        return by_item.sum(axis=1)
    n_classes = contours.shape[2]
    said = contours.argmax(axis=2)
    sums = [np.bincount(*pair, n_classes) for pair in zip(said, by_item, strict=True)]
    return np.array(sums)


def log_likelihood(doubts: FloatArray, said: Said, way: str) -> tuple[float, FloatArray]:
    """Log likelihood of the labels, and its slopes by the doubts."""
    value, slopes = 0.0, np.zeros_like(doubts)
    n_sources, n_rows, n_classes = said.contours.shape
    at_once = max(1, ENTRIES_AT_ONCE // (n_sources * n_classes))
    for start in range(0, n_rows, at_once):
        part = said.rows(slice(start, start + at_once))
        own, by_plausibility = _block_likelihood(doubts, part, way)
        value += own
        slopes += gathered(by_plausibility, part.contours, way)
    return value, slopes


def _block_likelihood(doubts: FloatArray, said: Said, way: str) -> tuple[float, FloatArray]:
    """The same for some items, with slopes (S, n, K) of each."""
    plausible = relaxed(said.contours, doubts, way)
    bets = normalized(np.log(plausible).sum(axis=0))
    joint = said.known * bets
    total = np.maximum(joint.sum(axis=1), TINY)
    values = np.log(total)
    target = joint / total[:, None]
    shares = said.is_probability
    if shares.any():
        target[shares] = said.known[shares] / said.known[shares].sum(axis=1, keepdims=True)
        values[shares] = (target[shares] * np.log(np.maximum(bets[shares], TINY))).sum(axis=1)
    pull = said.weight[:, None] * (target - bets)
    return float(said.weight @ values), pull * (1.0 - said.contours) / plausible


def criterion(doubts: FloatArray, said: Said, way: str, smoothing: float) -> float:
    """What the doubts maximize."""
    imagined = 0.5 * smoothing * (np.log(doubts) + np.log1p(-doubts)).sum() if smoothing else 0.0
    return log_likelihood(doubts, said, way)[0] + float(imagined)


def descend(odds: FloatArray, said: Said, way: str, smoothing: float) -> tuple[float, FloatArray]:
    """Minus the criterion for each item, and its slopes, by the log odds of the doubts."""
    doubts = expit(odds).reshape(shape_of_doubts(said.contours, way))
    value, slopes = log_likelihood(doubts, said, way)
    imagined = 0.5 * smoothing * (-np.logaddexp(0.0, -odds) - np.logaddexp(0.0, odds)).sum()
    by_odds = slopes.ravel() * (doubts * (1.0 - doubts)).ravel()
    by_odds += 0.5 * smoothing * (1.0 - 2.0 * doubts.ravel())
    total = said.weight.sum()
    return -(value + imagined) / total, -by_odds / total


def learn_doubts(said: Said, way: str, smoothing: float, jointly: bool) -> FloatArray:
    """Doubts (S,) or (S, K), of all sources together or each for itself."""
    if not jointly:
        sources = [said.source(number) for number in range(len(said.contours))]
        return np.concatenate([learn_doubts(one, way, smoothing, True) for one in sources])
    shape = shape_of_doubts(said.contours, way)
    best = None
    for start in STARTS:
        found = minimize(
            descend,
            np.full(int(np.prod(shape)), logit(start)),
            (said, way, smoothing),
            method="L-BFGS-B",
            jac=True,
            bounds=[(-FARTHEST, FARTHEST)] * int(np.prod(shape)),
            options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-10},
        )
        # An earlier start is kept unless a later one is better by more than rounding.
        if best is None or found.fun < best.fun - ROUNDING * max(1.0, abs(best.fun)):
            best = found
    assert best is not None
    return np.asarray(expit(best.x)).reshape(shape)
