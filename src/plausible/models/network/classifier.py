r"""The evidential neural network: prototypes that speak for classes, the more the nearer.

.. math:: \min_{p, u, \alpha, \gamma} \frac{1}{W} \sum_j w_j L(P(x_j), y_j)
          + \frac{\mu}{r} \sum_i \alpha_i

over r prototypes, where P are the bets of their combined evidence (see `network.evidence`) and L is
one of the losses of `network.losses`. The gradient is exact, a sum over rows, and takes two matrix
products; L-BFGS climbs from several starts.

References
----------
T. Denoeux, A neural network classifier based on Dempster-Shafer theory, IEEE Transactions on
Systems, Man and Cybernetics A 30 (2000) 131-150.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import MassClassifier, TrainingRows, bets_of_masses, by_class, training_rows
from plausible.belief import MAX_CLASSES, SparseMasses, pignistic_of
from plausible.checks import (
    as_floats,
    check_number,
    check_option,
    check_verbose,
    check_whole,
    random_from,
)
from plausible.engine import Callback, Columns, Moments, Result, Rows, climb, reporter
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.network import evidence
from plausible.models.network.evidence import FloatArray, Form, Network, Slopes
from plausible.models.network.gradient import loss_pass
from plausible.models.network.losses import LOSSES, BoolArray
from plausible.models.network.starts import WAYS, given_start, start
from plausible.short_rows import row_max, row_min, row_sum

FAST_WORK = 2e9  # rows times prototypes times classes times passes from which compiling pays
USUAL_PASSES = 200
PER_CLASS = 5  # prototypes, if their number is not given
MOST_ROWS = 10_000  # to look for starts among
LEAST_SQUARE = 1e-200  # a sum of squares that still leaves room for products
ADVICE = "raise max_iter or tol, or scale the features"


def _with_targets(columns: Columns, loss: str) -> Columns:
    """Rows with what a loss compares bets to, instead of plausibilities."""
    X, plausibility, weight, shares = (*columns, None, None)[:4]
    assert plausibility is not None
    return X, _targets_of(plausibility, shares, loss), weight, *columns[3:]


def _targets_of(plausibility: FloatArray, shares: BoolArray | None, loss: str) -> FloatArray:
    """Targets (n, K) of labels: bets, or for "likelihood" the degrees; probabilities as they are.

    The bets are those of the least committed masses with these plausibilities, of any scale.
    """
    bets: FloatArray = plausibility
    if loss != "likelihood":
        bets = pignistic_of(plausibility / row_max(plausibility)[:, None])
    if shares is None or not shares.any():
        return bets
    known = plausibility / row_sum(plausibility)[:, None]
    return np.where(shares[:, None], known, bets)


def says_something(columns: Columns) -> NDArray[np.int8]:
    """0 for rows that favor a class, or are probabilities, and count; -1 for the others."""
    _, degrees, weight, shares = (*columns, None, None)[:4]
    assert degrees is not None
    matter = row_max(degrees) > row_min(degrees)
    if shares is not None:
        matter |= shares
    if weight is not None:
        matter &= weight > 0
    return np.where(matter, 0, -1).astype(np.int8)


def _weight_pass(columns: Columns) -> float:
    """Weight of some rows."""
    _, degrees, weight = (*columns, None)[:3]
    assert degrees is not None
    return float(len(degrees) if weight is None else weight.sum())


def _moment_pass(columns: Columns) -> Moments:
    """Moments of the features of some rows; exact where all rows are the same."""
    X, _, weight = (*columns, None)[:3]
    assert X is not None
    data = X.astype(np.float64, copy=False)
    ones = np.ones(len(data)) if weight is None else weight
    total = float(ones.sum())
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = data - data[0]  # far from zero, squares would lose the digits of a small spread
        mean = ones @ gaps / total if total else np.zeros(data.shape[1])
        return Moments(total, data[0] + mean, ones @ (gaps - mean) ** 2)


def spread_of(rows: Rows, weight: float) -> float:
    """Root of the total variance of the features; one where rows are all the same."""
    with np.errstate(over="ignore", invalid="ignore"):
        found: Moments = rows.reduce(_moment_pass)
        variance = float((found.squares / weight).sum())
        second = found.squares + weight * found.mean**2
    if not LEAST_SQUARE <= float(second.sum()) <= 1.0 / LEAST_SQUARE and second.any():
        raise InputError(
            "Features should be of a size whose squares are ordinary numbers",
            f"the sum of their squares is {float(second.sum()):g}",
            "scale them",
        )
    # A unit of length, of which chunks of rows must not change a digit.
    return float(np.float32(np.sqrt(variance))) if variance > 0 else 1.0


class EvidentialNetworkClassifier(MassClassifier):
    """Evidential neural network: masses from the distances to prototypes, all of it learned.

    What is far from every prototype gets its mass on all classes together, so that the network
    knows what it has not seen (`score_novelty`). Distances are Euclidean: scale the features.

    Parameters
    ----------
    n_prototypes : int, optional
        Five for each class by default; fewer where there are fewer different rows.
    regularization : float
        Weight of the mean of alpha, the strengths of the prototypes: the larger, the more
        ignorance.
    init : {"classes", "kmeans"} or dict
        Prototypes start amid the rows of each class, or of all; or where a dictionary says:
        "prototypes" (r, d) and, if you like, "memberships" (a dict with (r,) shares for each
        class, or (r, K) in the order of `classes_`), "alpha" (r,), "gamma" (r,).
    n_init : int
        Number of starts, of which the best end is kept.
    max_iter : int
    tol : float
        Norm of the gradient at which a fit ends.
    random_state : int, RandomState or None
    loss : {"squared", "c1", "likelihood"}
        What is minimized: the squared error of the bets against those of the labels (Denoeux 2000);
        one minus the bets on what labels say; or minus the log likelihood of the plausibilities.
        Labels that are probabilities are compared to the bets as they are, under the likelihood by
        the cross-entropy. Rows whose labels say nothing do not count.
    widest : float
        The widest that a prototype may be, in units of the spread of all rows (the root of their
        total variance). A large number sets no limit, as in the paper; where classes are easy to
        tell apart, prototypes then grow so wide that nothing is new to them.
    verbose : int
        1 prints now and then, 2 at each iteration.
    callback : function of Progress, optional
        Called after each iteration; a true answer stops the fit.

    Attributes
    ----------
    classes_ : array (K,)
    focal_sets_ : int array (K + 1,)
        Each class, and all of them.
    prototypes_ : array (r, d)
    memberships_ : array (r, K)
        How far each prototype speaks for each class; rows sum to one.
    alpha_, gamma_ : arrays (r,)
        How much a prototype says at distance zero, and how fast this falls.
    objective_ : float
        Mean loss and penalty, which are minimized.
    history_ : array (n_iter_ + 1,)
        The objective at the start and after each iteration of the best start, never rising.
    objectives_ : array (n_init,)
        Where each start ended.
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = EvidentialNetworkClassifier(6, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.score_novelty([[5.0, 3.4, 1.5, 0.2], [50.0, 3.4, 1.5, 0.2]]).round(1)
    array([0., 1.])
    """

    _learns_from_rows = True  # of any number, wherever they lie

    def __init__(
        self,
        n_prototypes: int | None = None,
        regularization: float = 0.0,
        init: str | Mapping[str, Any] = "classes",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-5,
        random_state: Any = None,
        loss: str = "squared",
        widest: float = 1.0,
        verbose: int = 0,
        *,
        callback: Callback | None = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.regularization = regularization
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.loss = loss
        self.widest = widest
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn prototypes and what they say.

        Parameters
        ----------
        X : array-like (n, d), Dask array or dataframe, or Rows of `plausible.engine`
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional

        Returns
        -------
        self
        """
        self._check_options()
        if isinstance(y, Labels) and self.loss != "likelihood":
            y = bets_of_masses(y)
        training = training_rows(self, X, y, sample_weight, with_shares=True, once=True)
        rows, weight = self._rows_that_count(training)
        scale = spread_of(rows, weight)
        best, ends = None, []
        for network in self._starts(rows, training.classes):
            form = self._form(network, scale)
            result = self._descend(rows, network, form, weight)
            ends.append(-float(result.history[-1]))
            if best is None or ends[-1] < -best[0].history[-1]:
                best = result, form
            if result.interrupted:
                break
        assert best is not None
        self._keep(*best, training.classes, np.array(ends))
        return self

    def _check_options(self) -> None:
        check_option(self.loss, tuple(LOSSES), "loss")
        check_number(self.regularization, "regularization", low=0.0)
        check_number(self.widest, "widest", low=1e-6)
        check_number(self.tol, "tol", low=0.0)
        check_whole(self.n_init, "n_init", low=1)
        check_whole(self.max_iter, "max_iter", low=1)
        check_verbose(self.verbose)
        if self.n_prototypes is not None:
            check_whole(self.n_prototypes, "n_prototypes", low=1)
        if not isinstance(self.init, Mapping):
            check_option(self.init, tuple(WAYS), "init")

    def _rows_that_count(self, training: TrainingRows) -> tuple[Rows, float]:
        """Rows that favor a class, with what the loss compares bets to, and their weight."""
        if len(training.classes) > MAX_CLASSES:
            raise ValueError(
                f"Masses should be on at most {MAX_CLASSES} classes, but labels have "
                f"{len(training.classes)}; merge rare ones, or choose another model."
            )
        rows = training.rows.map(partial(_with_targets, loss=self.loss))
        if len(training.classes) > 1:  # of one class, rows without a label say enough
            rows = rows.arrange(says_something)
        rows = rows.kept()
        if not rows.n_rows:
            raise ValueError(
                "At least one row should favor a class, but all labels are unknown or have "
                "zero sample weight; label some items."
            )
        return rows, float(rows.reduce(_weight_pass))

    def _form(self, network: Network, scale: float) -> Form:
        """The form of a start, with the gamma of a prototype as wide as `widest` allows."""
        count, n_features = network.prototypes.shape
        least = 1.0 / (2.0 * (scale * self.widest) ** 2)
        return Form(count, n_features, network.memberships.shape[1], least, scale)

    def _named(self, classes: NDArray[Any]) -> Mapping[str, Any]:
        """The start that was given, with memberships in the order of the classes."""
        assert isinstance(self.init, Mapping)
        if "memberships" not in self.init:
            return self.init
        shares: Any = self.init["memberships"]
        if not isinstance(shares, Mapping):
            shares = np.transpose(as_floats(shares, "init['memberships']"))
        columns = by_class(self, shares, "init['memberships']", classes)
        return {**self.init, "memberships": np.transpose(as_floats(columns, "init"))}

    def _starts(self, rows: Rows, classes: NDArray[Any]) -> Iterator[Network]:
        """Where to begin, each time elsewhere; a given start is the only one."""
        n_classes = len(classes)
        if isinstance(self.init, Mapping):
            yield given_start(self._named(classes), self.n_features_in_, n_classes)
            return
        random = random_from(self.random_state)
        X, degrees, weight, shares = (*rows.sample(MOST_ROWS, random), None, None)[:4]
        assert X is not None
        assert degrees is not None
        targets = degrees if self.loss != "likelihood" else _targets_of(degrees, shares, "squared")
        ones = np.ones(len(X)) if weight is None else weight
        count = PER_CLASS * n_classes if self.n_prototypes is None else int(self.n_prototypes)
        data = X.astype(np.float64)
        for seed in random.randint(2**31 - 1, size=int(self.n_init)):
            yield start(self.init, data, targets, ones, count, int(seed))

    def _descend(self, rows: Rows, network: Network, form: Form, weight: float) -> Result:
        """L-BFGS from one start, on the sign-turned objective."""
        count = form.n_prototypes
        penalty = float(self.regularization) / count
        work = float(rows.n_rows) * count * form.n_classes * min(self.max_iter, USUAL_PASSES)
        compiled = work > FAST_WORK
        nothing = np.zeros((count, form.n_features)), np.zeros((count, form.n_classes))
        by_penalty = Slopes(*nothing, np.full(count, penalty), np.zeros(count))

        def criterion(vector: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = rows.reduce(loss_pass, vector, form, self.loss, compiled)
            alpha = evidence.unpack(vector, form).alpha
            gradient = gradient / weight + evidence.pack_slopes(by_penalty, vector, form)
            return -(value / weight + penalty * float(alpha.sum())), -gradient

        return climb(
            criterion,
            evidence.pack(network, form),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            steady=True,
            callback=reporter(self.verbose, type(self).__name__, self.callback),
            advice=ADVICE,
        )

    def _keep(self, result: Result, form: Form, classes: NDArray[Any], ends: FloatArray) -> None:
        network = evidence.unpack(result.parameters, form)
        self.classes_ = classes
        self.focal_sets_ = np.append(1 << np.arange(len(classes)), (1 << len(classes)) - 1)
        self.prototypes_, self.memberships_ = network.prototypes, network.memberships
        self.alpha_, self.gamma_ = network.alpha, network.gamma
        self.history_ = -result.history
        self.objective_, self.objectives_ = float(self.history_[-1]), ends
        self.n_iter_, self.converged_ = result.n_iter, result.converged

    def _masses(self, X: Any) -> SparseMasses:
        network = Network(self.prototypes_, self.memberships_, self.alpha_, self.gamma_)
        strength = evidence.activations(evidence.squared_distances(X, network.prototypes), network)
        values = evidence.masses(*evidence.combine(strength, network.memberships))
        if len(self.classes_) == 1:  # where one class and all of them are the same set
            return SparseMasses(np.ones((len(values), 1)), self.focal_sets_[:1], 1)
        return SparseMasses(values, self.focal_sets_, len(self.classes_))

    def score_novelty(self, X: ArrayLike) -> FloatArray:
        """How little an item resembles any prototype, in [0, 1]: the mass on all classes."""
        return np.asarray(self.predict_mass(X).values[:, -1] * (len(self.classes_) > 1))
