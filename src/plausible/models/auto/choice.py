r"""Which candidates to trust, from what they bet on rows that they have not seen.

Candidate m bets :math:`p_{mik}` on row i out of fold. Labels say plausibilities :math:`s_{ik}`,
scaled to a highest one of 1. Bets are tempered one by one, averaged, and tempered again,

.. math:: p_{mik}^{(t)} \propto p_{mik}^{t}, \quad
          p_{ik} \propto \Big( \sum_m v_m p_{mik}^{(t_m)} \Big)^t, \quad \sum_m v_m = 1

with exponents t and votes v that minimize a loss of held-out labels,

.. math:: \sum_i w_i \Big( -\log \sum_k s_{ik} p_{ik}
          - \lambda (1 - \min_k s_{ik}) \sum_k q_{ik} \log p_{ik} \Big), \quad
          q_{ik} = s_{ik}^4 / \sum_l s_{il}^4.

The first part is the soft log-loss: right where a label is evidence about one true class, and
content with any bet inside a set. The second asks for bets like the label, sharpened as if it had
been given four times; half as much of it as of the first (:math:`\lambda` = 0.5) keeps bets from
becoming sure of what labels never said, and prefers those that rank classes as labels do. Rows that
are probabilities :math:`s_{ik}` have the cross-entropy :math:`-(1 + \lambda) \sum_k s_{ik} \log
p_{ik}` instead, so that bets become as sure as they are, and no surer.

Few rows cannot tell candidates apart, and votes that follow every chance of them are worse than
equal ones. So each candidate is given half a row of its own, which no other explains: votes
maximize

.. math:: -\frac{\text{loss}}{w} + \frac{1}{2} \sum_m \log v_m

where w is the mean weight of distinct rows. Votes are nearly equal for a handful of rows, and those
of the lowest loss for many. The criterion is concave: they are found by EM, as the weights of a
mixture whose components are known. Candidates that are right about different rows share the votes.

References
----------
L. Breiman, Stacked regressions, Machine Learning 24 (1996) 49-64.
Y. Yao, A. Vehtari, D. Simpson, A. Gelman, Using stacking to average Bayesian predictive
distributions, Bayesian Analysis 13 (2018) 917-1007.
D. B. Rubin, The Bayesian bootstrap, Annals of Statistics 9 (1981) 130-134.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

LEAST_BET = 1e-9  # nobody knows more from some hundred rows
EXPONENTS = (0.05, 20.0)  # between which bets are tempered
LEAST_VOTE = 0.02  # below, a candidate is left out
MOST_STEPS, ENOUGH = 1000, 1e-4  # of EM for the votes
N_RESAMPLES = 400
SPREAD = 0.5  # of the second part of the loss; 0.25 to 1 serve alike on real crowds
OWN_ROWS = 0.5  # of each candidate, when votes are counted; 0.5 and 1 serve alike
SHARPNESS = 4  # of labels in it, as if they had been given so often; 2 to 8 serve alike


class Known(NamedTuple):
    """What labels say about rows.

    scaled : plausibilities (n, K), at most 1; 1 in rows of probabilities
    credit, weight : of each answer (n, K) and row (n,), as in `plausible.metrics.truth`
    spread : weights (n, K) of the log bets in the second part of the loss
    """

    scaled: FloatArray
    credit: FloatArray
    weight: FloatArray
    spread: FloatArray


def what_is_known(
    scaled: FloatArray, sample_weight: FloatArray, is_probability: BoolArray | None = None
) -> Known:
    """Credits and weights of rows with scaled plausibilities (n, K), or probabilities."""
    least = scaled.min(axis=1) if scaled.shape[1] > 1 else np.zeros(len(scaled))
    said = 1.0 - least
    credit = (scaled - least[:, None]) / np.where(said > 0.0, said, 1.0)[:, None]
    sharpened = scaled**SHARPNESS
    spread = SPREAD * said[:, None] * sharpened / sharpened.sum(axis=1, keepdims=True)
    if is_probability is not None and is_probability.any():
        shares = scaled[is_probability] / scaled[is_probability].sum(axis=1, keepdims=True)
        spread[is_probability] = (1.0 + SPREAD) * shares
        scaled = np.where(is_probability[:, None], 1.0, scaled)  # of which the first part is none
    return Known(scaled, credit, said * sample_weight, spread)


def log_bets(bets: FloatArray) -> FloatArray:
    """Logs of bets, none of which is certain."""
    return np.log(np.clip(bets, LEAST_BET, None))


def tempered(logs: FloatArray, exponent: float) -> FloatArray:
    """Logs of bets raised to a power, which sum to one again."""
    raised = exponent * logs
    return raised - logsumexp(raised, axis=-1, keepdims=True)


def held_out_losses(logs: FloatArray, known: Known) -> FloatArray:
    """Loss (n,) of log bets (n, K), row by row and without sample weights."""
    with np.errstate(divide="ignore"):
        said = np.log(known.scaled)
    evidence = -np.minimum(logsumexp(logs + said, axis=1), 0.0)
    return np.asarray(evidence - (known.spread * logs).sum(axis=1))


def fit_exponent(logs: FloatArray, known: Known, share: FloatArray) -> float:
    """Exponent with the lowest loss; below 1 where bets are too sure."""

    def loss(log_exponent: float) -> float:
        return float(share @ held_out_losses(tempered(logs, np.exp(log_exponent)), known))

    low, high = np.log(EXPONENTS)
    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x))


def earned(logs: FloatArray, known: Known) -> FloatArray:
    """Credit (n,) of the best bets; those that share the best, share the credit."""
    best = logs >= logs.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((known.credit * best).sum(axis=1) / best.sum(axis=1))


def fit_votes(logs: FloatArray, known: Known, share: FloatArray, n_kinds: int) -> FloatArray:
    """Votes (m,) of the candidates, from their tempered log bets (m, n, K).

    `n_kinds` is the number of distinct rows; each candidate has half a row more to itself.
    """
    bets = np.exp(logs)
    likelihood = np.einsum("mnk,nk->mn", bets, known.scaled)
    spread = share[:, None] * known.spread
    told = share.sum() + spread.sum()
    own = OWN_ROWS * told / n_kinds
    total = told + own * len(logs)
    votes = np.full(len(logs), 1.0 / len(logs))
    for _ in range(MOST_STEPS):
        evidence = likelihood @ (share / (votes @ likelihood))
        pull = evidence + np.einsum("mnk,nk->m", bets, spread / np.tensordot(votes, bets, 1))
        pull += own / votes
        votes = votes * pull / total
        if pull.max() / total - 1.0 < ENOUGH:  # at the optimum, no vote pulls more than one
            break
    return votes / votes.sum()


def kept_votes(votes: FloatArray) -> FloatArray:
    """Votes (m,) without those that hardly count."""
    kept = np.where(votes < min(LEAST_VOTE, votes.max()), 0.0, votes)
    return np.asarray(kept / kept.sum())


def chances(
    losses: FloatArray, weight: FloatArray, kind: IntArray, rng: np.random.RandomState
) -> FloatArray:
    """How often each candidate has the lowest loss (m,), when rows are resampled.

    `kind` (n,) numbers what rows hold, so that rows written twice are drawn like one of twice the
    weight. Candidates that are alike share.
    """
    n_kinds = int(kind.max()) + 1
    sums = np.array([np.bincount(kind, weight * one, n_kinds) for one in losses])
    totals = rng.standard_exponential((N_RESAMPLES, n_kinds)) @ sums.T
    best = totals <= totals.min(axis=1, keepdims=True) * (1.0 + 1e-9)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def average(logs: list[FloatArray], votes: FloatArray) -> FloatArray:
    """Logs (n, K) of the average of bets, from those of each candidate."""
    return np.asarray(logsumexp(np.array(logs), axis=0, b=votes[:, None, None]))
