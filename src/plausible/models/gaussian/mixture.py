r"""Gaussian mixtures under soft labels: a class, or part of a class, for each component.

.. math:: L(\theta) = \sum_i \log \sum_k pl_{ik} \, \pi_k \, N(x_i; \mu_k, \Sigma_k)

(1.9) of Côme, Oukhellou, Denoeux and Aknin, Mixture model estimation with soft labels, 2008. With
hard labels the maximum is that of quadratic (or, tied, linear) discriminant analysis; with labels
that say nothing it is that of a Gaussian mixture; all that lies between is allowed. Labels that are
probabilities are shares, with responsibilities that stay as they are: they add
:math:`\sum_k p_{ik} \log \pi_k N(x_i; \mu_k, \Sigma_k)`. The reading of the paper, in which a
probability acts as a likelihood that the class weights multiply, is `Labels.from_plausibility`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import by_class
from plausible.checks import as_array, check_option, shown
from plausible.engine import Callback
from plausible.errors import InputError
from plausible.models.gaussian.estimator import GaussianClassifier
from plausible.models.gaussian.parameters import KINDS, Prior
from plausible.models.gaussian.priors import make_prior
from plausible.models.gaussian.soft_mixture import SoftMixture


class GaussianMixtureClassifier(GaussianClassifier):
    """Gaussian mixture learned from features and labels of any kind.

    Parameters
    ----------
    covariance_type : {"full", "tied", "diag", "spherical"}
        Shape of the covariances, as in scikit-learn's `GaussianMixture`.
    n_components : int, dict of classes, or sequence of int
        Components for each class: one number for all, or one for each by name. A sequence is in the
        order of `classes_`, sorted, and refused where labels have their classes in another one.
    init : {"labels", "kmeans", "random"} or dict
        "labels" starts component k at the rows that favor class k (k-means where labels say
        nothing); "kmeans" gives clusters to the classes that they agree with; "random" starts at
        random rows. A dict gives `means`, and if known `weights` and `covariances`, each as a dict
        by class (``{"means": {"cat": [0.1, 2.0], "dog": [1.5, 0.3]}}``), or as an array in the
        order of `component_classes_`: components of the first of the sorted classes first. Where
        labels have their classes in another order, arrays are refused.
    n_init : int
        Number of starts; the best result is kept. Starts after the first are random.
    tol : float
        Stop when an EM step gains less than this for each row.
    max_iter : int
    reg_covar : float
        Added to the variances.
    accelerate : bool
        Extrapolate where EM is slow (SQUAREM): fewer passes, mostly to the same maximum.
        Where labels say little, EM and its extrapolation may find different ones.
    random_state : int, RandomState or None
    verbose : int
        1 reports about once a second, 2 every iteration.
    prior : None, "weak" or dict
        Conjugate prior for small classes or more features than items: "weak" is that of Fraley and
        Raftery (2007); see `models.priors.make_prior` for the entries of a dict.
    n_classes : int, optional
        Number of classes of a clustering, fitted with y=None.
    store_responsibilities : bool
        Whether to keep `responsibilities_`.
    unlabeled_weight : "auto" or float
        Weight of rows without a label, on top of `sample_weight` (EM-lambda of Nigam et al., 2000):
        1 counts them like the others, 0 leaves them out. "auto" is 1, unless the model then agrees
        with its labels much less than labeled rows alone foretell: then it is as large as can be
        without such harm, and an `UnlabeledRowsWarning` says so.
    missing : {"error", "integrate"}
        What to do about NaN in X, also in that of new items: refuse it, or integrate over the
        features that are missing (at random), which fills in nothing. Rows in memory only; with
        missing features, `unlabeled_weight` "auto" is 1.
    callback : function of Progress, optional
        Called after each iteration; a true answer stops the fit.
    checkpoint : path, optional
        File in which a long fit keeps its state, and from which it goes on after an interruption.

    Attributes
    ----------
    classes_ : array (K,)
    component_classes_ : array (M,)
        Class of each component.
    weights_, means_, covariances_ : arrays
        Of the components, shaped as in scikit-learn's `GaussianMixture`; the weight is zero and the
        rest NaN for a class that no row finds plausible.
    log_likelihood_ : float
        The criterion (1.9), summed over rows.
    history_ : array (n_iter_ + 1,)
        Criterion (with the prior, if any) at the start and after each pass over the rows.
    n_iter_ : int
    converged_ : bool
    responsibilities_ : array (n, M)
        Probability of each component given features and label, on request.
    unlabeled_weight_ : float
        The one that was used.
    n_features_in_ : int

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> X = [[0.0], [0.2], [0.3], [0.5], [1.9], [2.1], [2.3], [1.0]]
    >>> y = Labels.from_doubt(list("aaaabbba"), doubt=[0, 0, 0, 0.3, 0, 0.2, 0, 1])
    >>> model = GaussianMixtureClassifier(covariance_type="tied").fit(X, y)
    >>> model.predict([[0.1], [2.0]])
    array(['a', 'b'], dtype='<U1')
    >>> model.predict_plausibility([[1.1]]).round(2)
    array([[1.  , 0.05]])
    """

    def __init__(
        self,
        covariance_type: Literal["full", "tied", "diag", "spherical"] = "full",
        n_components: int | ArrayLike | Mapping[Any, int] = 1,
        init: str | Mapping[str, Any] = "labels",
        n_init: int = 1,
        tol: float = 1e-6,
        max_iter: int = 1000,
        reg_covar: float = 1e-6,
        accelerate: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        *,
        prior: str | Mapping[str, Any] | None = None,
        n_classes: int | None = None,
        store_responsibilities: bool = False,
        unlabeled_weight: float | str = "auto",
        missing: Literal["error", "integrate"] = "error",
        callback: Callback | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.covariance_type = covariance_type
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.reg_covar = reg_covar
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose
        self.prior = prior
        self.n_classes = n_classes
        self.store_responsibilities = store_responsibilities
        self.unlabeled_weight = unlabeled_weight
        self.missing = missing
        self.callback = callback
        self.checkpoint = checkpoint

    @property
    def _kind(self) -> str:
        return self.covariance_type

    def _sizes(self, classes: NDArray[Any]) -> NDArray[np.int64]:
        counts = by_class(self, self.n_components, "n_components", classes)
        return component_counts(counts, len(classes))

    @property
    def _has_prior(self) -> bool:
        return self.prior is not None

    def _make_prior(self, problem: SoftMixture) -> Prior | None:
        return make_prior(self.prior, problem.census, problem.kind, len(problem.owner))

    def _check_options(self) -> None:
        check_option(self.covariance_type, KINDS, "covariance_type")
        check_option(self.missing, ("error", "integrate"), "missing")
        super()._check_options()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.n_classes is None
        tags.input_tags.allow_nan = self.missing == "integrate"
        return tags


def component_counts(n_components: Any, n_classes: int) -> NDArray[np.int64]:
    """Number of components of each class."""
    counts = as_array(n_components, "n_components")
    wrong = counts.dtype.kind not in "iu" or counts.shape not in ((), (n_classes,))
    if wrong or not (counts >= 1).all():
        raise InputError(
            f"n_components should be a whole number from 1, or one for each of the {n_classes} "
            "classes",
            f"{shown(n_components)} was found",
            parameter="n_components",
            value=n_components,
        )
    return np.broadcast_to(counts, n_classes).astype(np.int64)
