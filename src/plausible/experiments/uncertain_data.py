"""Data that are known in part, drawn so that the truth is known: for `denoeux_2015_e2m`.

What is known of a value is always the likelihood of what was observed, so that a model that takes
it as such is right: a label is said wrongly at a rate that its plausibilities state, a number is
rounded to a cell, cut off at a limit, measured with normal errors of a known deviation, or lost.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer

from plausible.labels import Labels
from plausible.models import (
    E2M,
    Bernoulli,
    Categorical,
    Exponential,
    GaussianMixtureClassifier,
    Normal,
    Poisson,
    UncertainValues,
)

Random = np.random.Generator
N_VALUES = 150  # of one fit whose intervals are tried


class Law(NamedTuple):
    """A family, its true parameters, and how data are drawn from it."""

    family: Any
    truth: dict[str, Any]
    draw: Callable[[Random, int], Any]


def said_labels(random: Random, codes: NDArray[Any], n_classes: int) -> Labels:
    """What people say of items who err at rates of 0 to 0.6, which the plausibilities state."""
    n = len(codes)
    error = random.uniform(0.0, 0.6, size=n) * (random.uniform(size=n) < 0.7)
    wrong = (codes + random.integers(1, n_classes, size=n)) % n_classes
    said = np.where(random.uniform(size=n) < error, wrong, codes)
    table = np.repeat(error[:, None] / (n_classes - 1), n_classes, axis=1)
    table[np.arange(n), said] = 1 - error
    return Labels.from_plausibility(table, classes=range(n_classes))


def seen_in_part(
    random: Random, x: NDArray[Any], cell: float, limit: float, noise: float, width: float = 0.0
) -> UncertainValues:
    """A third precise, a third rounded, a fifth fuzzy, the others missing; cut off at a limit.

    A cell reaches from its lower end to the next, or by `width`: "2 or 3" of counts.
    """
    kind = random.choice(4, size=len(x), p=[0.3, 0.35, 0.2, 0.15])
    low = cell * np.floor(x / cell)
    values = UncertainValues.from_precise(x)
    values = values.where(kind != 1, UncertainValues.from_intervals(low, low + (width or cell)))
    beyond = UncertainValues.from_intervals(np.full(len(x), limit), np.inf)
    values = values.where((x < limit) | (kind > 1), beyond)
    fuzzy = UncertainValues.from_fuzzy(x + noise * random.normal(size=len(x)), noise)
    return values.where(kind != 2, fuzzy).where(kind != 3, UncertainValues.missing(len(x)))


LAWS = {
    "Bernoulli": Law(
        Bernoulli(),
        {"theta": 0.3},
        lambda random, n: said_labels(random, random.binomial(1, 0.3, n), 2),
    ),
    "Categorical": Law(
        Categorical(),
        {"probabilities": np.array([0.5, 0.3, 0.2])},
        lambda random, n: said_labels(random, random.choice(3, size=n, p=[0.5, 0.3, 0.2]), 3),
    ),
    "Poisson": Law(
        Poisson(),
        {"rate": 3.0},
        lambda random, n: seen_in_part(random, random.poisson(3.0, n) + 0.0, 2.0, 6.0, 1.0, 1.0),
    ),
    "Exponential": Law(
        Exponential(),
        {"rate": 0.5},
        lambda random, n: seen_in_part(random, random.exponential(2.0, n), 1.0, 4.0, 0.5),
    ),
    "Normal": Law(
        Normal(),
        {"mean": 5.0, "variance": 4.0},
        lambda random, n: seen_in_part(random, random.normal(5.0, 2.0, n), 2.0, 8.0, 1.0),
    ),
}


def covered(law: Law, n_fits: int, random: Random, level: float = 0.95) -> dict[str, float]:
    """Share of fits whose intervals hold the true parameters, by parameter."""
    hits: dict[str, list[Any]] = {name: [] for name in law.truth}
    for _ in range(n_fits):
        model = E2M(law.family, tol=1e-9).fit(law.draw(random, N_VALUES))
        for name, (low, high) in model.intervals(level).items():
            hits[name].append((low <= law.truth[name]) & (law.truth[name] <= high))
    shares: dict[str, float] = {}
    for name, found in hits.items():
        for k, share in enumerate(np.atleast_1d(np.mean(found, axis=0)).tolist()):
            shares[f"{name} {k + 1}" if np.ndim(law.truth[name]) else name] = share
    return shares


def deviations_of_rounded(random: Random, n: int, width: float) -> dict[str, float]:
    """Deviation that is estimated of normal values in cells of some width; the true one is 1."""
    x = random.normal(random.uniform(-5, 5), 1.0, size=n)
    low = width * np.floor(x / width)
    cells = UncertainValues.from_intervals(low, low + width)
    found = E2M(Normal(), tol=1e-10).fit(cells).params_["variance"]
    return {
        "E2M": float(np.sqrt(found)),
        "midpoints": float(cells.midpoints().std()),
        "precise": float(x.std()),
    }


def gaussian_classes(random: Random, n: int, n_features: int = 6) -> tuple[Any, Any, Any, Any]:
    """Three correlated Gaussian classes: rows and classes to learn from, and as many to test."""
    loadings = random.normal(size=(3, n_features, 2))
    means = 0.8 * random.normal(size=(3, n_features))
    y = random.choice(3, size=2 * n, p=[0.5, 0.3, 0.2])
    factors = random.normal(size=(2 * n, 2))
    X = means[y] + np.einsum("nij,nj->ni", loadings[y], factors)
    X = X + 0.5 * random.normal(size=X.shape)
    return X[:n], y[:n], X[n:], y[n:]


def errors_with_missing(
    random: Random,
    data: tuple[Any, Any, Any, Any],
    kind: Any,
    prior: str | None = None,
    share: float = 0.2,
) -> dict[str, float]:
    """Test errors where features are missing at random, in training and in test rows.

    All methods end in the same mixture; `prior` "weak" suits features that are nearly collinear.
    """
    X, y, X_test, y_test = data
    gone, gone_test = (random.uniform(size=part.shape) < share for part in (X, X_test))
    holes, holes_test = np.where(gone, np.nan, X), np.where(gone_test, np.nan, X_test)
    fits = {"complete": (X, X_test), "integrated": (holes, holes_test)}
    for name, imputer in {
        "IterativeImputer": IterativeImputer(random_state=0),
        "mean": SimpleImputer(),
    }.items():
        with warnings.catch_warnings():  # ten rounds, its default, are seldom enough for it
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits[name] = imputer.fit_transform(holes), imputer.transform(holes_test)
    errors = {}
    for name, (train, test) in fits.items():
        model = GaussianMixtureClassifier(kind, missing="integrate", tol=1e-5, prior=prior)
        errors[name] = float((model.fit(train, y).predict(test) != y_test).mean())
    return errors
