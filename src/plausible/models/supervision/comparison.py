"""Which model of stochastic supervision fits: the nested family side by side.

From separate starts a larger model may end lower than a smaller one that it contains. Here every
model also starts from the fits of those that it contains, so that likelihoods never fall along

    titterington < g1 < g2 < g3 < g34,  g2 < g4 < g34.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

from plausible.base import check_weights, count_rows
from plausible.checks import as_array, as_list, check_option, check_whole, shown
from plausible.models.supervision.assessments import jacobian, read_assessments
from plausible.models.supervision.classifier import (
    MODELS,
    MULTIMODAL,
    StochasticSupervisionClassifier,
)

FloatArray = NDArray[np.float64]

CONTAINS = {
    "krishnan_nandy": (),
    "titterington": (),
    "g1": ("titterington",),
    "g2": ("g1",),
    "g3": ("g2",),
    "g4": ("g2",),
    "g34": ("g3", "g4"),
}
ONLY_TWO = ("krishnan_nandy", "titterington")


class ComparedModel(NamedTuple):
    """One model of a comparison.

    Attributes
    ----------
    model : its name
    log_likelihood : of features and log odds, on all items
    n_parameters, bic : lower BIC is better
    held_out, held_out_error : mean log-likelihood of an item that the fit has not seen, and the
        standard error of its difference from the best model's
    warnings : what the fit on all items warned of
    classifier : fitted on all items

    Examples
    --------
    >>> ComparedModel("g2", -10.0, 3, 24.0, -1.1, 0.0, (), None).model
    'g2'
    """

    model: str
    log_likelihood: float
    n_parameters: int
    bic: float
    held_out: float
    held_out_error: float
    warnings: tuple[str, ...]
    classifier: Any


@dataclass(frozen=True)
class Comparison:
    """Models side by side; printed as a table.

    Examples
    --------
    >>> row = ComparedModel("g2", -10.0, 3, 24.0, -1.1, 0.0, (), None)
    >>> print(Comparison((row,)))
    model             log-likelihood  parameters         BIC  held out         +-
    g2                        -10.00           3       24.00   -1.1000     0.0000
    """

    rows: tuple[ComparedModel, ...]

    def __iter__(self) -> Iterator[ComparedModel]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> ComparedModel:
        for row in self.rows:
            if row.model == name:
                return row
        raise KeyError(name)

    @property
    def best(self) -> ComparedModel:
        """The model with the highest held-out likelihood."""
        return max(self.rows, key=lambda row: row.held_out)

    def __str__(self) -> str:
        head = f"{'model':<16}{'log-likelihood':>16}{'parameters':>12}{'BIC':>12}"
        lines = [head + f"{'held out':>10}{'+-':>11}"]
        for row in self.rows:
            lines.append(
                f"{row.model:<16}{row.log_likelihood:>16.2f}{row.n_parameters:>12}{row.bic:>12.2f}"
                f"{row.held_out:>10.4f}{row.held_out_error:>11.4f}"
            )
            lines += [f"  {message}" for message in row.warnings]
        return "\n".join(lines)


def log_density(estimator: Any, X: Any, y: Any) -> float:
    """Mean log density of items and their assessments: a scorer for searches of scikit-learn.

    Parameters
    ----------
    estimator : fitted StochasticSupervisionClassifier, or Pipeline that ends in one
    X, y : as in its `fit`

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> X = rng.normal(size=(200, 1)) + 2 * y[:, None]
    >>> z = 1 / (1 + np.exp(-rng.normal(np.where(y == 0, 3.0, -1.0))))
    >>> grid = {"model": ["titterington", "g1"]}
    >>> search = GridSearchCV(StochasticSupervisionClassifier(), grid, scoring=log_density)
    >>> search.fit(X, z).best_params_
    {'model': 'g1'}
    """
    if isinstance(estimator, Pipeline):
        X, estimator = estimator[:-1].transform(X), estimator[-1]
    if not hasattr(estimator, "score_samples") or isinstance(estimator, type):
        raise TypeError(
            "estimator should be a fitted StochasticSupervisionClassifier, or a pipeline that ends "
            f"in one, but {shown(estimator)} was given; fit one."
        )
    return float(estimator.score_samples(X, y).mean())


def compare_models(
    X: ArrayLike,
    y: Any,
    models: Sequence[str] | None = None,
    n_components: int | ArrayLike = 2,
    labels: Any = None,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
    cv: int = 5,
    random_state: int | None = 0,
    **options: Any,
) -> Comparison:
    """Fit the models of stochastic supervision, each also from those that it contains.

    Parameters
    ----------
    X, y, labels, sample_weight, classes : as in `StochasticSupervisionClassifier.fit`
    models : sequence of str, optional
        By default all that fit the number of classes.
    n_components : int or sequence of int
        Components for each class in g4 and g34.
    cv : int
        Parts of the cross-validation.
    random_state : int or None
    **options : of `StochasticSupervisionClassifier`

    Returns
    -------
    Comparison
        Likelihoods are those of features and log odds for all models, Beta assessments included.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.uniform(size=400) < 0.5
    >>> X = rng.normal(size=(400, 1)) + 2 * y[:, None]
    >>> z = 1 / (1 + np.exp(-rng.normal(np.where(y, 3.0, -1.0), np.where(y, 2.0, 0.5))))
    >>> table = compare_models(X, z, models=["titterington", "g1", "g2"])
    >>> table["g1"].held_out > table["titterington"].held_out
    True
    """
    n_rows = count_rows(X)
    check_whole(cv, "cv", 2, max(n_rows, 2))
    X = as_array(X, "X")
    reading = options.get("scale", "probability"), options.get("saturated", "clip")
    log_odds = read_assessments(y, *reading).log_odds
    n_classes = log_odds.shape[1] + 1
    if models is None:
        models = [name for name in CONTAINS if n_classes == 2 or name not in ONLY_TWO]
    models = [models] if isinstance(models, str) else as_list(models, "models", "names")
    for name in models or [None]:
        check_option(name, tuple(MODELS), "models")
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, len(X))
    family = Family(list(models), n_components, options | {"random_state": random_state})
    given = {"labels": labels, "sample_weight": sample_weight}
    fitted, messages = family.fit(X, y, given, classes)
    weight = np.ones(len(X)) if sample_weight is None else sample_weight
    held_out = np.empty((len(fitted), len(X)))
    for train, test in KFold(cv, shuffle=True, random_state=random_state).split(X):
        part = {name: None if v is None else take(v, train) for name, v in given.items()}
        found, _ = family.fit(X[train], take(y, train), part, classes)
        for place, classifier in enumerate(found.values()):
            held_out[place, test] = classifier.score_samples(X[test], take(y, test))
    return tabulate(fitted, messages, held_out, jacobian(log_odds), weight)


class Family(NamedTuple):
    """Models to fit, with their options."""

    names: list[str]
    n_components: Any
    options: dict[str, Any]

    def fit(
        self, X: FloatArray, y: Any, given: dict[str, Any], classes: Sequence[Any] | None
    ) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
        """Classifiers by name, and what they warned of."""
        fitted: dict[str, Any] = {}
        messages = {}
        for name in (name for name in CONTAINS if name in self.names):
            size = self.n_components if name in MULTIMODAL else 1
            starts = ["assessments", *(fitted[part] for part in contained(name, fitted))]
            best = None
            for start in starts:
                options = self.options | {"n_components": size, "init": start}
                classifier = StochasticSupervisionClassifier(name, **options)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    classifier.fit(X, y, classes=classes, **given)
                if best is None or classifier.log_likelihood_ > best.log_likelihood_:
                    best = classifier
                    messages[name] = tuple(dict.fromkeys(str(w.message) for w in caught))
            fitted[name] = best
        return fitted, messages


def contained(name: str, fitted: dict[str, Any]) -> list[str]:
    """The largest fitted models that a model contains."""
    found: list[str] = []
    for part in CONTAINS[name]:
        found += [part] if part in fitted else contained(part, fitted)
    return list(dict.fromkeys(found))


def take(values: Any, rows: NDArray[np.int64]) -> Any:
    """Some of the rows of Labels, arrays or lists."""
    return values[rows] if hasattr(values, "contour") else np.asarray(values)[rows]


def tabulate(
    fitted: dict[str, Any],
    messages: dict[str, tuple[str, ...]],
    held_out: FloatArray,
    change: FloatArray,
    weight: FloatArray,
) -> Comparison:
    """The table, with all likelihoods on the scale of log odds."""
    share = weight / weight.sum()
    means = held_out @ share
    behind = held_out[means.argmax()] - held_out
    errors = np.sqrt(((behind - (behind @ share)[:, None]) ** 2) @ share / (weight > 0).sum())
    rows = []
    for place, (name, classifier) in enumerate(fitted.items()):
        more = float(change @ weight) if MODELS[name][1] == "beta" else 0.0
        rows.append(
            ComparedModel(
                name,
                classifier.log_likelihood_ + more,
                classifier.n_parameters_,
                classifier.bic_,
                float(means[place]),
                float(errors[place]),
                messages[name],
                classifier,
            )
        )
    return Comparison(tuple(rows))
