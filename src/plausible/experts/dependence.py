r"""People who err together: how many independent people n answers are worth.

Dempster's rule takes people for independent, and what fools one of them does not fool another. It
does: with a share :math:`\rho` of what moves people in common, n answers are worth

.. math:: n / (1 + (n - 1) \rho)

independent ones (as in a sample of clusters; L. Kish, Survey Sampling, Wiley, 1965). So the pooled
evidence about an item with n answers is raised to the power of that over n:

.. math:: \log pl(k) = \gamma_n \sum_j \log pl_j(k), \qquad \gamma_n = \frac{1}{1 + (n - 1) \rho}.

The most plausible class stays; how sure one may be of it does not. Items whose class is known show
:math:`\rho`: it maximizes their likelihood. Answers alone cannot, as an error that everybody makes
looks like agreement. Without such items 0.5 is assumed, with which pooled labels were about as well
calibrated as with the best :math:`\rho` on eight real crowds (see the guide on experts).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import as_floats, check_number, shown
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ASSUMED = 0.5  # share of what moves people that is common to all
STEPS = 401  # of the share, where it is learned
DROP = 1.92  # of the log likelihood, to the ends of a 95 % interval


@dataclass(frozen=True)
class Dependence:
    """How far people err together; made by `Annotations.dependence`, and taken by `pool`.

    Attributes
    ----------
    shared : float in [0, 1]
        Share of what moves people that is common to all: 0 if they err independently, 1 if many
        answers are worth no more than one.
    low, high : float
        95 % interval of it; NaN where it was assumed.
    source : {"gold", "probabilities", "assumed", "given"}
        Whether it was learned from items of known class, from probabilities of their classes, or
        not learned.
    copies : list of tuples of annotators
        Groups that give the same answers even where they are wrong. Each counts as one person.
    n_answers, n_independent : float
        Answers about an item on average (those who copy count as one, groups count less), and how
        many independent ones they are worth.
    groups : tuple of tuples of annotators
        Who agree with each other more often than people who err on their own, see
        `find_shared_errors`, short of copying.
    group_shared : tuple of float
        Share of what moves each group that its members have in common: m of them about one item
        count as m / (1 + (m - 1) group_shared).
    is_searched : bool
        Whether copies and groups were looked for; there may be too many pairs of people.

    Examples
    --------
    >>> Dependence(0.5).exponent([1, 2, 3, 10]).round(2)
    array([1.  , 0.67, 0.5 , 0.18])
    >>> print(Dependence(0.5, n_answers=5.0, n_independent=5 / 3))
    5.0 answers about an item are worth 1.7 independent ones (shared 0.50, assumed)
    """

    shared: float
    low: float = np.nan
    high: float = np.nan
    source: str = "assumed"
    copies: tuple[tuple[Any, ...], ...] = ()
    n_answers: float = np.nan
    n_independent: float = np.nan
    groups: tuple[tuple[Any, ...], ...] = ()
    group_shared: tuple[float, ...] = ()
    is_searched: bool = True

    def __post_init__(self) -> None:
        check_number(self.shared, "shared", 0.0, 1.0)

    def exponent(self, n_answers: Any) -> FloatArray:
        """What the pooled evidence of items with so many answers is raised to."""
        more = np.maximum(as_floats(n_answers, "n_answers") - 1, 0.0)
        return np.asarray(1 / (1 + more * self.shared))

    def __str__(self) -> str:
        found = f"shared {self.shared:.2f}, "
        if self.source == "gold":
            found += f"95 % interval {self.low:.2f} to {self.high:.2f}, from items with known class"
        elif self.source == "probabilities":
            found += f"95 % interval {self.low:.2f} to {self.high:.2f}, from given probabilities"
        else:
            found += self.source
        lines = [
            f"{self.n_answers:.1f} answers about an item are worth {self.n_independent:.1f} "
            f"independent ones ({found})"
        ]
        for group in self.copies:
            lines.append(f"count as one person: {', '.join(map(str, group))}")
        for group, shared in zip(self.groups, self.group_shared, strict=True):
            worth = len(group) / (1 + (len(group) - 1) * shared)
            lines.append(
                f"err together, and count as {worth:.1f} people: {', '.join(map(str, group))}"
            )
        if not self.is_searched:
            lines.append(
                "people who copy or err together in groups were not looked for: there are too many "
                "pairs of answers about the same items"
            )
        return "\n".join(lines)


def check_dependence(dependence: Any, rule: str) -> None:
    """Refuse what is no kind of dependence, or does not go with the rule."""
    if isinstance(dependence, str):
        is_known = dependence in ("auto", "fit", "none")
    else:
        is_known = isinstance(dependence, Dependence) or _is_exponent(dependence)
    if not is_known:
        raise InputError(
            "dependence should be 'auto', 'fit', 'none', or a positive exponent of the pooled "
            "evidence",
            f"is {shown(dependence)}",
            "write 1 for people who err independently, 0.5 for pairs that count as one",
            parameter="dependence",
            value=dependence,
        )
    if rule != "dempster" and dependence not in ("auto", "none") and dependence != 1:
        raise InputError(
            "dependence should come with Dempster's rule, which takes people for independent",
            f"the rule is {rule!r}",
            "leave one of them out",
            parameter="dependence",
            value=dependence,
        )


def count_answers(annotations: Annotations) -> FloatArray:
    """How many answers (n,) say something about each item; those of groups count less."""
    says = annotations.facts.says_something[annotations.statement]
    if annotations.doubt is not None:
        says &= annotations.doubt < 1
    power = None if annotations._power is None else annotations._power[says]
    return np.bincount(annotations.item[says], power, len(annotations.items)).astype(np.float64)


def _is_exponent(value: Any) -> bool:
    """Whether something is a positive number."""
    try:
        return not isinstance(value, bool) and check_number(value, "dependence", 0.0) > 0.0
    except InputError:
        return False


def exponents(dependence: Any, answers: Annotations) -> FloatArray:
    """Powers (n,) to which what answers say of the items is raised."""
    if dependence == "auto":
        dependence = Dependence(ASSUMED)
    if isinstance(dependence, Dependence):
        return dependence.exponent(count_answers(answers))
    return np.full(len(answers.items), 1.0 if dependence == "none" else float(dependence))


def learn_shared(
    logs: FloatArray, n_answers: FloatArray, known: FloatArray | None
) -> tuple[float, float, float, str]:
    """The share, its interval and its source.

    Parameters
    ----------
    logs : array (n, K)
        Log plausibilities pooled by Dempster's rule.
    n_answers : array (n,)
    known : array (n, K) or None
        Log plausibilities of classes that are known. Items with one answer show nothing.
    """
    rows = np.zeros(len(logs), dtype=bool)
    if known is not None:
        speaks = (known < known.max(axis=1, keepdims=True)).any(axis=1)
        rows = speaks & (n_answers > 1) & np.isfinite(logs.max(axis=1))
    if known is None or not rows.any():
        return ASSUMED, np.nan, np.nan, "assumed"
    shares = np.linspace(0.0, 1.0, STEPS)
    gaps = logs[rows] - logs[rows].max(axis=1, keepdims=True)
    more, truth = n_answers[rows] - 1, known[rows]
    gains = np.array([_log_score(gaps, 1 / (1 + more * share), truth) for share in shares])
    with np.errstate(divide="ignore"):
        prior = np.log(4 * shares * (1 - shares))  # as of one item each way
    top = int(np.argmax(gains + prior))
    within = np.flatnonzero(gains >= gains.max() - DROP)
    return float(shares[top]), float(shares[within[0]]), float(shares[within[-1]]), "gold"


def _log_score(gaps: FloatArray, exponent: FloatArray, truth: FloatArray) -> float:
    """Log probability of what is known, of bets in proportion to the plausibilities."""
    scores = gaps * exponent[:, None]
    np.nan_to_num(scores, copy=False, neginf=-700.0)  # sure errors stay finite
    whole = np.log(np.exp(scores).sum(axis=1))
    return float((np.log(np.exp(scores + truth).sum(axis=1)) - whole).sum())


def temper(labels: Labels, exponent: FloatArray) -> Labels:
    """Labels with contours (n, K) to the power (n,); conflict stays that of the answers."""
    if (exponent == 1.0).all():
        return labels
    contour = labels.scaled() ** exponent[:, None]
    return Labels(contour, labels.classes.tolist(), conflict=labels.conflict)
