"""How many clusters: the number of which the partition is least imprecise.

References
----------
M.-H. Masson, T. Denoeux, ECM: an evidential version of the fuzzy c-means algorithm, Pattern
Recognition 41 (2008) 1384-1397, section 4.2.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from plausible.checks import as_list, check_whole
from plausible.cluster.ecm import ECM
from plausible.errors import InputError


@dataclass(frozen=True)
class ClusterCounts:
    """Partitions into different numbers of clusters, compared; printed, a table.

    Attributes
    ----------
    n_clusters : list of int
    nonspecificity : list of float
        Of each partition, between 0 and 1; see `CredalPartition.nonspecificity`.
    objective : list of float
    models : list of fitted estimators

    Examples
    --------
    >>> counts = ClusterCounts([2, 3], [0.2, 0.1], [9.0, 4.0], [None, None])
    >>> counts.best
    3
    """

    n_clusters: list[int]
    nonspecificity: list[float]
    objective: list[float]
    models: list[Any]

    @property
    def best(self) -> int:
        """The number of clusters with the lowest nonspecificity, the smaller of equals."""
        return self.n_clusters[self.nonspecificity.index(min(self.nonspecificity))]

    @property
    def best_model(self) -> Any:
        """The estimator with that number."""
        return self.models[self.n_clusters.index(self.best)]

    def __str__(self) -> str:
        lines = ["clusters  nonspecificity  objective"]
        for number, value, cost in zip(
            self.n_clusters, self.nonspecificity, self.objective, strict=True
        ):
            mark = "  <- lowest" if number == self.best else ""
            lines.append(f"{number:>8}  {value:>14.4f}  {cost:>9.4g}{mark}")
        return "\n".join(lines)


def select_n_clusters(
    X: ArrayLike, candidates: Iterable[int] = range(2, 8), estimator: Any = None
) -> ClusterCounts:
    """Cluster with each number of clusters, and compare how imprecise the partitions are.

    Too few clusters leave items between centers or far from all, too many divide clusters whose
    items then lie between centers: the nonspecificity of the masses is lowest in between.

    Parameters
    ----------
    X : array-like (n, d), or dissimilarities for an estimator that takes them
    candidates : numbers of clusters, from 2
    estimator : clustering with a parameter `n_clusters`, optional
        By default ``ECM(random_state=0)``.

    Returns
    -------
    ClusterCounts
        `best` is the number, `best_model` its estimator, fitted.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> middles = np.array([[0.0, 0], [9, 0], [0, 9], [9, 9]])
    >>> X = np.repeat(middles, 20, axis=0) + rng.normal(size=(80, 2))
    >>> select_n_clusters(X, [2, 3, 4, 5], ECM(n_init=3, random_state=0)).best
    4
    """
    base = ECM(random_state=0) if estimator is None else estimator
    numbers = as_list(candidates, "candidates", "numbers of clusters")
    if not numbers or not hasattr(base, "fit") or "n_clusters" not in base.get_params():
        raise InputError(
            "candidates should be one or more numbers, and estimator a clustering with n_clusters",
            f"{len(numbers)} numbers and {type(base).__name__} came",
            "give range(2, 8) and ECM()",
            parameter="candidates",
            value=candidates,
        )
    models = []
    for number in numbers:
        check_whole(number, "candidates", 2)
        models.append(clone(base).set_params(n_clusters=int(number)).fit(X))
    return ClusterCounts(
        [int(number) for number in numbers],
        [model.partition_.nonspecificity() for model in models],
        [float(model.objective_) for model in models],
        models,
    )
