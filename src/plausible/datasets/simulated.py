r"""Simulated experts: their labels, and how sure they are.

A doubtful expert (section 1.5 of Côme, Oukhellou, Denoeux and Aknin, Mixture model estimation with
soft labels, 2008) says of item i the true class with probability :math:`1 - p_i`, and else a class
drawn from all K, so that a share :math:`E[p] (K - 1) / K` of the labels is wrong.

Annotators of faces (Denoeux, Classification and clustering, 2015: five people gave degrees of
plausibility to six expressions) look at item i with noise of their own and call class k as
plausible as their impression makes it:

.. math:: pl_{aik} = \exp(-|z_{ai} - c_k|^2 / 2 t_a^2) / \max_l \ldots

Nobody at all says anything about most items of the semi-supervised benchmark of Grandvalet,
Logistic regression for partial labels, 2002.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from plausible.checks import as_floats, check_number, is_whole, random_from, shown
from plausible.datasets.pooling import majority_vote, pool_plausibilities
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAST_STD = 1e-100  # below, doubts are all the same
MAX_COUNT = 1 << 40  # beyond the memory of any machine


@dataclass(frozen=True)
class DoubtfulExpert:
    """What `make_doubtful_expert` returns.

    Attributes
    ----------
    X : array (n, d)
    y : array (n,)
        True classes.
    expert : array (n,)
        The expert's labels.
    doubt : array (n,)
        How much the expert doubts each of them.
    labels : Labels
        Both together.
    means : array (K, d)
        Centers from which X was drawn, with identity covariance.

    Examples
    --------
    >>> from plausible.datasets import make_doubtful_expert
    >>> made = make_doubtful_expert(100, random_state=0)
    >>> len(made.labels) == len(made.X) == 100
    True
    """

    X: FloatArray
    y: IntArray
    expert: IntArray
    doubt: FloatArray
    labels: Labels
    means: FloatArray


def make_doubtful_expert(
    n: int = 2000,
    doubt: float = 0.5,
    *,
    n_classes: int = 2,
    n_features: int = 10,
    distance: float = 2.0,
    doubt_std: float = 0.2,
    random_state: Any = None,
) -> DoubtfulExpert:
    """Draw Gaussian classes and the labels of an expert who says how much he doubts them.

    Parameters
    ----------
    n : int
        Number of items.
    doubt : float in [0, 1]
        Mean of the Beta distribution of doubts.
    n_classes, n_features : int
        There are at least as many features as classes.
    distance : float
        Distance between any two class centers; the covariance is the identity.
    doubt_std : float
        Standard deviation of the doubts, below sqrt(doubt * (1 - doubt)); 0 for equal doubts.
    random_state : int, RandomState or None

    Returns
    -------
    DoubtfulExpert

    Examples
    --------
    >>> data = make_doubtful_expert(n=4, doubt=0.3, random_state=1)
    >>> data.y, data.expert, data.doubt.round(2)
    (array([1, 1, 0, 0]), array([1, 1, 1, 0]), array([0.06, 0.13, 0.37, 0.17]))
    >>> data.labels.contour.round(2)[2]
    array([0.37, 1.  ])
    """
    n = _check_count(n, "n", 1)
    n_classes = _check_count(n_classes, "n_classes", 2)
    n_features = _check_count(n_features, "n_features", n_classes)
    check_number(distance, "distance", 0.0)
    random = random_from(random_state)
    means = np.eye(n_classes, n_features) * (distance / np.sqrt(2.0))
    y = random.randint(n_classes, size=n)
    X = means[y] + random.normal(size=(n, n_features))
    doubts = _draw_doubts(n, doubt, doubt_std, random)
    guesses = random.randint(n_classes, size=n)
    expert = np.where(random.uniform(size=n) < doubts, guesses, y)
    labels = Labels.from_doubt(expert, doubts, classes=range(n_classes))
    return DoubtfulExpert(X, y, expert, doubts, labels, means)


def _draw_doubts(n: int, mean: float, std: float, random: np.random.RandomState) -> FloatArray:
    """Doubts (n,) from the Beta distribution with given mean and standard deviation."""
    check_number(mean, "doubt", 0.0, 1.0)
    check_number(std, "doubt_std", 0.0, 0.5)
    if std < LEAST_STD:
        return np.full(n, float(mean))
    limit = mean * (1.0 - mean)
    if std * std >= limit:
        raise ValueError(
            f"doubt_std should be below {np.sqrt(limit):.3g}, the most that a Beta distribution "
            f"with mean {mean:g} can have, but {std:g} was given; take a smaller one."
        )
    size = limit / (std * std) - 1.0  # sum of the two parameters
    return random.beta(mean * size, (1.0 - mean) * size, size=n)


@dataclass(frozen=True)
class Annotators:
    """What `make_annotators` returns.

    Attributes
    ----------
    X : array (n, d)
    y : array (n,)
        True classes, equally many of each.
    plausibilities : array (A, n, K)
        Degrees that each of A annotators gave.
    answers : array (A, n)
        The class that each annotator would name.
    doubt : array (A,)
        Doubt with which each annotator was discounted.
    labels : Labels
        The plausibilities, discounted and pooled by Dempster's rule.
    majority : array (n,)
        Majority vote of the answers, ties broken at random.

    Examples
    --------
    >>> from plausible.datasets import make_annotators
    >>> made = make_annotators(random_state=0)
    >>> made.answers.shape == made.plausibilities.shape[:2]
    True
    """

    X: FloatArray
    y: IntArray
    plausibilities: FloatArray
    answers: IntArray
    doubt: FloatArray
    labels: Labels
    majority: IntArray


def make_annotators(
    n: int = 216,
    noise: Sequence[float] = (0.4, 0.5, 0.6, 0.8, 1.0),
    *,
    n_classes: int = 6,
    n_features: int = 100,
    n_factors: int = 10,
    separation: float = 3.0,
    ambiguity: float = 0.5,
    confidence: float = 1.5,
    doubt: ArrayLike = 0.1,
    random_state: Any = None,
) -> Annotators:
    """Draw items of look-alike classes, and annotators who give degrees of plausibility.

    The class centers lie on a circle, so that each class resembles its two neighbors. An item lies
    at its center plus a deviation that features show in full and annotators in part; features are
    `n_features` noisy mixtures of `n_factors` factors, the circle and nuisances. An annotator sees
    the item through noise of his own, rates each class by how well it fits, and rounds to tenths.

    Parameters
    ----------
    n : int
        Number of items, at least one for each class.
    noise : sequence of float
        Noise of each annotator, in units of the distance between neighboring classes.
    n_classes, n_features, n_factors : int
    separation : float
        Distance of neighboring classes, in standard deviations of the items of a class.
    ambiguity : float in [0, 1]
        Part of an item's deviation that the annotators see, too.
    confidence : float
        How many times less noise the annotators assume than they have; 1 is well calibrated.
    doubt : float or array-like (A,)
        Discount of each annotator before pooling.
    random_state : int, RandomState or None

    Returns
    -------
    Annotators

    Examples
    --------
    >>> data = make_annotators(random_state=0)
    >>> data.plausibilities[:2, 0]          # two annotators on the first item
    array([[0.8, 1. , 0. , 0. , 0. , 0. ],
           [0.1, 1. , 0. , 0. , 0. , 0. ]])
    >>> (data.answers != data.y).mean(axis=1).round(2)      # from the sharpest to the dullest
    array([0.25, 0.35, 0.42, 0.6 , 0.6 ])
    """
    n_classes = _check_count(n_classes, "n_classes", 2)
    n = _check_count(n, "n", n_classes)
    n_factors = _check_count(n_factors, "n_factors", 2)
    n_features = _check_count(n_features, "n_features", n_factors)
    check_number(ambiguity, "ambiguity", 0.0, 1.0)
    separation = check_number(separation, "separation")
    spread = _check_positive(noise, "noise") * float(_check_positive([separation], "separation")[0])
    belief = spread / _check_positive([confidence], "confidence")
    random = random_from(random_state)
    y = random.permutation(np.arange(n) % n_classes)
    centers = circle(n_classes, separation)
    deviations = random.normal(size=(n, n_factors))
    X = _mix_factors(centers[y], deviations, n_features, random)
    items = centers[y] + ambiguity * deviations[:, :2]
    seen = items + spread[:, None, None] * random.normal(size=(len(spread), n, 2))
    exact = _impressions(seen, centers, belief)
    plausibilities = exact.round(1)
    answers = exact.argmax(axis=2)
    labels = pool_plausibilities(plausibilities, doubt, range(n_classes))
    votes = (answers[:, :, None] == np.arange(n_classes)).sum(axis=0)
    majority = majority_vote(votes, random)
    doubts = np.broadcast_to(as_floats(doubt, "doubt"), len(spread)).copy()
    return Annotators(X, y, plausibilities, answers, doubts, labels, majority)


def circle(n_classes: int, separation: float) -> FloatArray:
    """Points (K, 2) on a circle, neighbors at the given distance."""
    angle = 2.0 * np.pi * np.arange(n_classes) / n_classes
    radius = separation / (2.0 * np.sin(np.pi / n_classes))
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _mix_factors(
    centers: FloatArray, deviations: FloatArray, n_features: int, random: np.random.RandomState
) -> FloatArray:
    """Features (n, d): orthogonal mixtures of the factors, and a little noise of their own."""
    factors = deviations.copy()
    factors[:, :2] += centers
    directions, _ = np.linalg.qr(random.normal(size=(n_features, factors.shape[1])))
    return factors @ directions.T + 0.1 * random.normal(size=(len(factors), n_features))


def _impressions(seen: FloatArray, centers: FloatArray, belief: FloatArray) -> FloatArray:
    """Plausibilities (A, n, K): how well what was seen fits each class, the best one at 1."""
    squares = ((seen[:, :, None, :] - centers) ** 2).sum(axis=-1)
    logs = -squares / (2.0 * belief[:, None, None] ** 2)
    return np.exp(logs - logs.max(axis=2, keepdims=True))


def _check_count(value: int, name: str, low: int) -> int:
    """Refuse what is not a whole number from `low`."""
    if not is_whole(value) or not low <= value <= MAX_COUNT:
        raise ValueError(
            f"{name} should be a whole number from {low}, but {shown(value)} was given; correct it."
        )
    return int(value)


def _check_positive(values: ArrayLike, name: str) -> FloatArray:
    """One or more positive numbers as an array."""
    numbers = as_floats(values, name)
    if numbers.ndim != 1 or not len(numbers) or not (np.isfinite(numbers) & (numbers > 0.0)).all():
        raise ValueError(
            f"{name} should be positive, one number for each annotator where there are several, "
            f"but {shown(values)} was given; correct it."
        )
    return numbers


@dataclass(frozen=True)
class MissingLabels:
    """What `make_missing_labels` returns.

    Attributes
    ----------
    X : array (n, d)
    y : array (n,)
        True classes.
    labels : Labels
        Hard labels of some rows, unknown for the others.
    means : array (2, d)
        Centers from which X was drawn, with identity covariance.

    Examples
    --------
    >>> from plausible.datasets import make_missing_labels
    >>> made = make_missing_labels(random_state=0)
    >>> bool(made.labels.is_unknown.any())
    True
    """

    X: FloatArray
    y: IntArray
    labels: Labels
    means: FloatArray


def make_missing_labels(
    n: int = 500,
    n_features: int = 10,
    *,
    bayes_error: float = 0.1,
    missing: float = 0.9,
    random_state: Any = None,
) -> MissingLabels:
    """Draw two Gaussian classes, of which only some rows have labels.

    The benchmark of Grandvalet, Logistic regression for partial labels, 2002: equally probable
    classes with identity covariance and means 0 and (a, ..., a).

    Parameters
    ----------
    n, n_features : int
        Numbers of items and of features.
    bayes_error : float in [0.001, 0.5]
        Error of the best possible rule, which fixes a.
    missing : float in [0, 1]
        Share of labels that are missing: n (1 - missing) rows, rounded, at least two, have one.
        Should they be all of one class, classes and rows with labels are drawn again.
    random_state : int, RandomState or None

    Returns
    -------
    MissingLabels

    Examples
    --------
    >>> data = make_missing_labels(200, missing=0.95, random_state=0)
    >>> int((~data.labels.is_unknown).sum())
    10
    """
    n = _check_count(n, "n", 2)
    n_features = _check_count(n_features, "n_features", 1)
    check_number(bayes_error, "bayes_error", 0.001, 0.5)
    check_number(missing, "missing", 0.0, 1.0)
    random = random_from(random_state)
    n_known = max(round(n * (1.0 - missing)), 2)
    y = known = np.zeros(n, dtype=np.int64)
    while len(set(y[known].tolist())) < 2:
        y = random.randint(2, size=n)
        known = random.permutation(n)[:n_known]
    distance = -2.0 * norm.ppf(bayes_error)
    means = np.array([[0.0], [distance / np.sqrt(n_features)]]) * np.ones(n_features)
    X = means[y] + random.normal(size=(n, n_features))
    given = np.full(n, -1)
    given[known] = y[known]
    return MissingLabels(X, y, Labels.from_crisp(given, [0, 1], missing=-1), means)
