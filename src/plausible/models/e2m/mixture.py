r"""Gaussian classes learned from uncertain labels and uncertain features, in one likelihood.

.. math:: L(\theta) = \sum_i w_i \log \sum_k pl_{ik} \, \pi_k
          \int pl_i(x) \, N(x; \mu_k, \Sigma_k) \, dx

with :math:`pl_{ik}` what is known of the class and :math:`pl_i(x)` what is known of the features:
the product of contours of `UncertainValues`. T. Denoeux, Maximum likelihood estimation from
uncertain data in the belief function framework, IEEE TKDE 25 (2013) 119-130.
"""

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from plausible.base import TrainingRows, by_class, check_weights
from plausible.checks import check_number, check_option, check_whole, random_from
from plausible.engine import ArrayRows, Callback, Rows, passed_on
from plausible.errors import InputError
from plausible.labels import as_labels
from plausible.models.e2m.coordinates import listed, shaped
from plausible.models.e2m.information import inverse_of, resampled_limits, wald_limits
from plausible.models.e2m.mixture_errors import errors_of, limits_of, mixture_information
from plausible.models.e2m.uncertain_rows import (
    Imputed,
    UncertainPart,
    check_intervals,
    parts_of_values,
)
from plausible.models.e2m.values import UncertainValues
from plausible.models.gaussian import (
    KINDS,
    FloatArray,
    GaussianClassifier,
    Prior,
    SoftMixture,
    component_counts,
    filled_rows,
    make_prior,
)

Method = Literal["information", "bootstrap"]
NAMES = ("weights", "means", "covariances")


class ValuesRows(ArrayRows):
    """Rows with numbers to start from, and the uncertain values for which they stand."""

    values: UncertainValues


class UncertainGaussianMixture(OneToOneFeatureMixin, TransformerMixin, GaussianClassifier):
    """Gaussian classes from features that are precise, fuzzy, intervals or missing.

    Labels of any kind and features of any kind count in one likelihood; nothing is filled in.
    Intervals are exact for independent features (`covariance_type` "diag" or "spherical"), and for
    up to two in one row of correlated ones; rows with more are refused, unless `n_lattice` allows
    an approximation.

    Parameters
    ----------
    covariance_type : {"full", "tied", "diag", "spherical"}
    n_components : int, dict of classes, or sequence of int
        Components for each class, as in `GaussianMixtureClassifier`.
    init : {"labels", "kmeans", "random"} or dict
        As in `GaussianMixtureClassifier`, of midpoints, with means for what is missing.
    n_init : int
    tol : float
        Stop when an EM step gains less than this for each row.
    max_iter : int
    reg_covar : float
        Added to the variances.
    accelerate : bool
    random_state : int, RandomState or None
    verbose : int
    prior : None, "weak" or dict
    n_classes : int, optional
        Number of classes of a clustering, fitted with y=None.
    n_lattice : int
        Points by which rows with more than two intervals of correlated features are integrated, to
        about three digits with 1000; 0 refuses such rows.
    callback : function of Progress, optional

    Attributes
    ----------
    classes_, component_classes_, weights_, means_, covariances_ : arrays
        As in `GaussianMixtureClassifier`.
    log_likelihood_ : float
    history_ : array (n_iter_ + 1,)
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int

    See Also
    --------
    GaussianMixtureClassifier : with ``missing="integrate"``, for features that are only missing.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> from plausible.models import UncertainValues
    >>> x = UncertainValues.concatenate([
    ...     [[0.1, 1.0], [0.4, np.nan], [0.3, 0.6], [2.2, 3.1], [2.6, 2.4]],         # NaN: missing
    ...     UncertainValues.from_intervals([[0.0, 0.0], [2.0, 2.0]], [[0.5, 1.0], [3.0, np.inf]]),
    ...     UncertainValues.from_fuzzy([[2.5, 3.0]], sd=[[0.5, 0.2]]),
    ... ])
    >>> y = Labels.from_doubt(list("aaabbaba"), doubt=[0, 0, 0.2, 0, 0, 0.1, 0, 0.9])
    >>> model = UncertainGaussianMixture("diag", reg_covar=0.01).fit(x, y)
    >>> low, high = [[0.0, -np.inf], [1.0, 1.0]], [[1.0, np.inf], [4.0, 4.0]]
    >>> model.predict(UncertainValues.from_intervals(low, high))
    array(['a', 'b'], dtype='<U1')
    >>> model.transform([[0.3, np.nan]]).round(2)                    # expected, given the first
    array([[0.3 , 0.77]])
    """

    unlabeled_weight: float | str = 1.0
    missing: str = "integrate"

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
        n_lattice: int = 0,
        callback: Callback | None = None,
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
        self.n_lattice = n_lattice
        self.callback = callback

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

    def _training(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> TrainingRows:
        if not isinstance(X, UncertainValues):
            return super()._training(X, y, sample_weight)
        check_table(X)
        check_intervals(X, self._kind, self.n_lattice)
        training = super()._training(filled(X), y, sample_weight)
        assert isinstance(training.rows, ArrayRows)
        rows = ValuesRows(*training.rows.columns)
        rows.values = X
        return training._replace(rows=rows)

    def _complete(self, rows: Rows) -> Rows:
        if not isinstance(rows, ValuesRows):
            return super()._complete(rows)
        return ArrayRows(*rows.columns)

    def _parts(self, rows: Any, owner: NDArray[np.int64]) -> Any:
        if not isinstance(rows, ValuesRows):
            return super()._parts(rows, owner)
        return parts_of_values(rows.values, rows.columns, self._kind, owner, self.n_lattice)

    def _read(self, X: Any) -> Any:
        if not isinstance(X, UncertainValues):
            return super()._read(X)
        check_is_fitted(self)
        check_table(X, self.n_features_in_)
        check_intervals(X, self._kind, self.n_lattice)
        return X

    def _log_joint(self, X: Any, up_to_constant: bool = False) -> FloatArray:
        if not isinstance(X, UncertainValues):
            return super()._log_joint(X, up_to_constant)
        return self._part(X).log_joint(self._parameters)

    def _part(self, X: UncertainValues, table: FloatArray | None = None) -> UncertainPart:
        owner = self._owner[self._present]
        return UncertainPart(X, table, None, self._kind, owner, self.n_lattice)

    def impute(self, X: Any, labels: Any = None) -> Imputed:
        """Expected features of items, and their variances, given all that is known.

        Parameters
        ----------
        X : UncertainValues or array-like (n, d), with NaN for missing features
        labels : Labels, or all that `as_labels` takes, optional
            What is known about the class of each row.

        Returns
        -------
        Imputed
            With `mean` and `variance`, both (n, d): zero variance where a feature is precise.
        """
        data = self._read(X)
        known = self._known(labels, data.shape[0])
        values = data if isinstance(data, UncertainValues) else UncertainValues.from_precise(data)
        table = None if known is None else known.contour
        return self._part(values, table).impute(self._parameters)

    def transform(self, X: Any) -> FloatArray:
        """Features (n, d) in which expected values take the place of uncertain ones.

        `impute` gives their variances, too.
        """
        return self.impute(X).mean

    def standard_errors(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        method: Method = "information",
        n_bootstrap: int = 200,
    ) -> dict[str, FloatArray]:
        """Standard errors of the parameters, from the rows that the model was fitted to.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        method : {"information", "bootstrap"}
            From the observed information of the likelihood (whatever the prior), which takes four
            passes over the rows for each parameter; or from fits to resampled rows.
        n_bootstrap : int
            How many such fits.

        Returns
        -------
        dict of arrays
            ``weights``, ``means`` and ``covariances``, shaped as `weights_`, `means_` and
            `covariances_`; NaN where the rows do not say.
        """
        check_option(method, ("information", "bootstrap"), "method")
        if method == "bootstrap":
            draws = self._resampled(X, y, sample_weight, n_bootstrap)
            return {name: values.std(axis=0, ddof=1) for name, values in draws.items()}
        check_is_fitted(self)
        self._check_present()
        problem = self._pose(self._training(X, y, sample_weight))
        information = mixture_information(problem, self._parameters)
        return errors_of(inverse_of(information), self._parameters, self._kind)

    def intervals(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        level: float = 0.95,
        method: Method = "information",
        n_bootstrap: int = 200,
    ) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Confidence intervals of the parameters: pairs of arrays (low, high) by name.

        Parameters as for `standard_errors`. By information, intervals are symmetric in the log odds
        of weights and in the logs of variances; by bootstrap, they lie between quantiles.
        """
        check_number(level, "level", 1e-6, 1 - 1e-6)
        check_option(method, ("information", "bootstrap"), "method")
        if method == "bootstrap":
            draws = self._resampled(X, y, sample_weight, n_bootstrap)
            return {name: resampled_limits(values, level) for name, values in draws.items()}
        errors = listed(self.standard_errors(X, y, sample_weight))
        like = dict(zip(NAMES, self._parameters, strict=True))
        ends = wald_limits(listed(like), errors, limits_of(self._parameters, self._kind), level)
        low, high = (shaped(end, like) for end in ends)
        return {name: (low[name], high[name]) for name in NAMES}

    def _resampled(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, n_bootstrap: int
    ) -> dict[str, FloatArray]:
        """Parameters of fits to resampled rows, each from the estimate."""
        check_is_fitted(self)
        self._check_present()
        check_whole(n_bootstrap, "n_bootstrap", 2)
        random, n_rows = random_from(self.random_state), len(self._read(X))
        weight = check_weights(sample_weight, n_rows)
        if y is not None:  # in the order of the parameters, from which copies start
            labels = as_labels(y)
            y = labels.reorder(sorted(labels.classes.tolist()))
        init = dict(zip(NAMES, self._parameters, strict=True))
        copy = clone(self).set_params(init=init, n_init=1, verbose=0, callback=None)
        draws = []
        for _ in range(n_bootstrap):
            picked = random.multinomial(n_rows, np.full(n_rows, 1 / n_rows))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is odd about some of the rows
                with passed_on():
                    copy.fit(X, y, sample_weight=weight * picked)
            if copy._present.all():  # else a class was not drawn at all
                draws.append((copy.weights_, copy.means_, copy.covariances_))
        if len(draws) < 2:
            raise InputError(
                "Resampled rows should hold every class",
                f"only {len(draws)} of {n_bootstrap} draws did",
                "use method='information', or more rows",
            )
        return {name: np.array([draw[k] for draw in draws]) for k, name in enumerate(NAMES)}

    def _check_present(self) -> None:
        """Refuse to say how sure the parameters of classes are that were not learned."""
        if not self._present.all():
            raise InputError(
                "Every class should have been learned",
                f"{self.component_classes_[~self._present].tolist()} were not",
                "leave them out of the labels",
            )

    def _check_options(self) -> None:
        check_option(self.covariance_type, KINDS, "covariance_type")
        check_whole(self.n_lattice, "n_lattice", 0)
        super()._check_options()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.n_classes is None
        tags.input_tags.allow_nan = True
        return tags


def check_table(values: UncertainValues, n_features: int | None = None) -> None:
    """Refuse values that are no rows of features, or not those of a model."""
    if values.ndim != 2 or 0 in values.shape or n_features not in (None, values.shape[1]):
        wanted = "(n, d)" if n_features is None else f"(n, {n_features})"
        raise InputError(
            f"X should hold rows of features {wanted}",
            f"has the shape {values.shape}",
            "give a table, or use E2M for one number in each row",
            parameter="X",
            value=values.shape,
        )


def filled(values: UncertainValues) -> FloatArray:
    """Numbers to start from: midpoints, with means for what is missing."""
    return np.asarray(filled_rows(ArrayRows(values.midpoints())).columns[0])
