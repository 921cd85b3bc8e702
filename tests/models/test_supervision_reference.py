"""Stochastic supervision against a slow reference and against scikit-learn.

The reference is written from the densities of Lu, Qiao, Zhu, Wang, Ma and Xue (2020) and knows no
code of the library: densities are scipy's, regressions are numpy's least squares, and all seven
models are one: components with their own feature densities, and a regression of the assessments
on the features for each class, with slopes that some models hold at zero.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import root
from scipy.special import digamma, expit, logsumexp, softmax
from scipy.stats import beta, multivariate_normal
from sklearn.linear_model import LinearRegression
from sklearn.mixture import GaussianMixture

from plausible.engine import ArrayRows, StreamRows
from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier, StochasticSupervisionClassifier

# Covariances of the features, distribution of the assessments, several components or one.
MODELS = {
    "krishnan_nandy": ("tied", "beta", False),
    "titterington": ("tied", "symmetric", False),
    "g1": ("tied", "gaussian", False),
    "g2": ("full", "gaussian", False),
    "g3": ("full", "linear", False),
    "g4": ("full", "gaussian", True),
    "g34": ("full", "linear", True),
}
MANY_CLASSES = ["g1", "g2", "g3", "g4", "g34"]
CASES = [(name, 2) for name in MODELS] + [(name, 3) for name in MANY_CLASSES]
ONE_COMPONENT = [(name, k) for name, k in CASES if not MODELS[name][2]]
# Starts from given responsibilities, and from the assessments: with several components the latter
# are clusters, which depend on units, on weights and on the order of the classes.
# In three classes mistakes cannot hide; of models that have them, two are tried when there is time.
SOME_LONG = [
    pytest.param(*case, marks=[pytest.mark.long] * (case[1] == 2 and case[0] in MANY_CLASSES))
    for case in CASES
]
STARTS = [(*case, True) for case in CASES] + [(*case, False) for case in ONE_COMPONENT]
VARIANTS = ["plain", "weights", "missing", "labels", "all"]
NESTED = [
    ("titterington", "g1", 2),
    *[(small, large, k) for small, large in [("g1", "g2"), ("g2", "g3")] for k in (2, 3)],
    *[(small, "g34", k) for small in ("g3", "g4") for k in (2, 3)],
    *[("g2", "g4", k) for k in (2, 3)],
]

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::plausible.models.SupervisionWarning"),
]


# The reference.


@dataclass(frozen=True)
class Theta:
    """Parameters: of components (M), and of the assessments of classes (J) or of both (beta)."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    intercepts: np.ndarray | None = None
    slopes: np.ndarray | None = None
    noise: np.ndarray | None = None
    beta: np.ndarray | None = None


@dataclass(frozen=True)
class Problem:
    """Features, assessments as log odds (NaN where there are none), plausibilities, weights."""

    X: np.ndarray
    w: np.ndarray
    plausibility: np.ndarray
    weight: np.ndarray
    y: np.ndarray
    part: np.ndarray

    @property
    def n_classes(self):
        return self.w.shape[1] + 1

    @property
    def z(self):
        """Probabilities of the first class if there are two, and of all if there are more."""
        full = softmax(np.column_stack([self.w, np.zeros(len(self.w))]), axis=1)
        return full[:, 0] if self.n_classes == 2 else full

    def at(self, rows):
        fields = (self.X, self.w, self.plausibility, self.weight, self.y, self.part)
        return Problem(*(field[rows] for field in fields))


def log_assessment(theta, j, X, w):
    """Log density of assessments in class j given the features; nothing where there are none."""
    seen = ~np.isnan(w).any(axis=1)
    found = np.zeros(len(X))
    if theta.beta is not None:
        a, b = theta.beta if j == 0 else theta.beta[::-1]
        found[seen] = beta.logpdf(expit(w[seen, 0]), a, b)
    elif seen.any():
        gap = w[seen] - theta.intercepts[j] - X[seen] @ theta.slopes[j]
        found[seen] = multivariate_normal.logpdf(gap, np.zeros(w.shape[1]), theta.noise[j])
    return found


def log_joint(theta, owner, X, w, plausibility):
    columns = []
    for m, j in enumerate(owner):
        features = multivariate_normal.logpdf(X, theta.means[m], theta.covariances[m])
        with np.errstate(divide="ignore"):
            known = np.log(plausibility[:, j])
        columns.append(np.log(theta.weights[m]) + features + log_assessment(theta, j, X, w) + known)
    return np.array(columns).T


def criterion(theta, owner, problem):
    """Observed log-likelihood, of features and assessments, under the labels."""
    joint = log_joint(theta, owner, problem.X, problem.w, problem.plausibility)
    return problem.weight @ logsumexp(joint, axis=1)


def responsibilities(theta, owner, X, w, plausibility):
    joint = log_joint(theta, owner, X, w, plausibility)
    return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


def class_posterior(theta, owner, X, w=None):
    """The probabilities of the classes given features, and assessments where given."""
    n_classes = owner[-1] + 1
    w = np.full((len(X), 1), np.nan) if w is None else w
    r = responsibilities(theta, owner, X, w, np.ones((len(X), n_classes)))
    return np.column_stack([r[:, owner == j].sum(axis=1) for j in range(n_classes)])


def regress(X, w, share, linear):
    """Weighted least squares of w on X, or on nothing."""
    design = np.column_stack([np.ones(len(X)), X if linear else np.empty((len(X), 0))])
    scale = np.sqrt(share)[:, None]
    coefficients = np.linalg.lstsq(scale * design, scale * w, rcond=None)[0]
    gap = w - design @ coefficients
    noise = sum(s * np.outer(g, g) for s, g in zip(share, gap, strict=True)) / share.sum()
    slopes = coefficients[1:] if linear else np.zeros((X.shape[1], w.shape[1]))
    return coefficients[0], slopes, noise


def solve_beta(z, share):
    """Beta(a, b) for the first class and Beta(b, a) for the second, at their highest."""
    to_a = (share[:, 0] @ np.log(z) + share[:, 1] @ np.log(1 - z)) / share.sum()
    to_b = (share[:, 0] @ np.log(1 - z) + share[:, 1] @ np.log(z)) / share.sum()

    def slope(logs):
        a, b = np.exp(logs)
        return [digamma(a) - digamma(a + b) - to_a, digamma(b) - digamma(a + b) - to_b]

    solution = root(slope, [0.0, 0.0], tol=1e-14)
    np.testing.assert_allclose(slope(solution.x), 0, atol=1e-12)
    return np.exp(solution.x)


def m_step(name, r, owner, problem):
    shape, assessment, _ = MODELS[name]
    X, w = problem.X, problem.w
    r = r * problem.weight[:, None]
    counts = r.sum(axis=0)
    means = np.array([share @ X / share.sum() for share in r.T])
    scatters = [
        sum(s * np.outer(x - mean, x - mean) for s, x in zip(share, X, strict=True))
        for share, mean in zip(r.T, means, strict=True)
    ]
    if shape == "tied":
        covariances = np.array([sum(scatters) / counts.sum()] * len(counts))
    else:
        covariances = np.array([s / n for s, n in zip(scatters, counts, strict=True)])
    theta = Theta(counts / counts.sum(), means, covariances)
    seen = ~np.isnan(w).any(axis=1)
    X, w = X[seen], w[seen]
    share = np.array([r[seen][:, owner == j].sum(axis=1) for j in range(problem.n_classes)]).T
    if assessment == "beta":
        return replace(theta, beta=solve_beta(expit(w[:, 0]), share))
    if assessment == "symmetric":
        total = share.sum()
        delta = (share[:, 0] - share[:, 1]) @ w / total
        noise = share[:, 0] @ (w - delta) ** 2 / total + share[:, 1] @ (w + delta) ** 2 / total
        sides = np.array([delta, -delta]), np.zeros((2, X.shape[1], 1)), np.full((2, 1, 1), noise)
    else:
        parts = [regress(X, w, column, assessment == "linear") for column in share.T]
        sides = map(np.array, zip(*parts, strict=True))
    return replace(theta, **dict(zip(("intercepts", "slopes", "noise"), sides, strict=True)))


def em(name, r, owner, problem, n_iter):
    """Parameters and criteria at the start, which the responsibilities give, and after steps."""
    theta = m_step(name, r, owner, problem)
    history = [criterion(theta, owner, problem)]
    for _ in range(n_iter):
        r = responsibilities(theta, owner, problem.X, problem.w, problem.plausibility)
        theta = m_step(name, r, owner, problem)
        history.append(criterion(theta, owner, problem))
    return theta, history


def entry_ways(field, array):
    """Changes of one entry after another."""
    for place in np.ndindex(array.shape):
        way = np.zeros(array.shape)
        way[place] = 1
        yield lambda h, way=way: {field: array + h * way}


def matrix_ways(field, matrices, tied):
    """Symmetric changes of one matrix after another, or of all at once if they are tied."""
    for m in [slice(None)] if tied else range(len(matrices)):
        for i, j in zip(*np.tril_indices(matrices.shape[1]), strict=True):
            way = np.zeros(matrices.shape)
            way[m, i, j] = way[m, j, i] = 1
            yield lambda h, way=way: {field: matrices + h * way}


def ways(name, theta):
    """Functions of a step that change one free parameter."""
    shape, assessment, _ = MODELS[name]
    for way in np.eye(len(theta.weights)):
        yield lambda h, way=way: {"weights": softmax(np.log(theta.weights) + h * way)}
    yield from entry_ways("means", theta.means)
    yield from matrix_ways("covariances", theta.covariances, shape == "tied")
    if assessment == "beta":
        yield from entry_ways("beta", theta.beta)
    elif assessment == "symmetric":
        yield lambda h: {"intercepts": theta.intercepts + h * np.array([[1.0], [-1.0]])}
        yield from matrix_ways("noise", theta.noise, True)
    else:
        yield from entry_ways("intercepts", theta.intercepts)
        yield from matrix_ways("noise", theta.noise, False)
        if assessment == "linear":
            yield from entry_ways("slopes", theta.slopes)


def gradient(name, theta, owner, problem, step=1e-5):
    """Derivatives of the criterion by central differences, one for each free parameter."""
    return np.array(
        [
            (
                criterion(replace(theta, **way(step)), owner, problem)
                - criterion(replace(theta, **way(-step)), owner, problem)
            )
            / (2 * step)
            for way in ways(name, theta)
        ]
    )


# Problems.


def draw(n_classes, variant="plain", seed=0, n=120, d=2):
    """Classes of two parts, of which the first of class 0 is elsewhere, and a fair supervisor."""
    rng = np.random.default_rng([seed, n_classes])
    y, part = rng.integers(n_classes, size=n), rng.integers(2, size=n)
    angle = 2 * np.pi * y / n_classes
    X = np.zeros((n, d))
    X[:, :2] = 1.7 * np.column_stack([np.cos(angle), np.sin(angle)])
    around = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    around[:, -1] += 3.5 * (part - 0.5) * (1 + y)
    slopes = 0.2 * rng.normal(size=(n_classes, d, n_classes - 1))
    centers = 1.6 * (np.eye(n_classes)[:, :-1] - np.eye(n_classes)[:, -1:])
    w = centers[y] + np.einsum("nd,ndq->nq", around, slopes[y])
    w += rng.normal(size=w.shape) * rng.uniform(0.8, 1.4, size=n_classes)[y][:, None]
    X += around
    plausibility, weight = np.ones((n, n_classes)), np.ones(n)
    if variant in ("weights", "all"):
        weight = rng.choice([0.0, 0.5, 1.0, 2.5], size=n)
    if variant in ("missing", "all"):
        w[rng.random(n) < 0.25] = np.nan
    if variant in ("labels", "all"):
        soft, hard = rng.random(n) < 0.3, rng.random(n) < 0.2
        plausibility[soft] = rng.uniform(0.1, 1, size=(n, n_classes))[soft]
        plausibility[hard] = np.eye(n_classes)[y[hard]]
    return Problem(X, w, plausibility, weight, y, part)


def sizes_of(name, n_classes):
    """Components of each class; unequal numbers where there are three classes."""
    if not MODELS[name][2]:
        return [1] * n_classes
    return [2, 2] if n_classes == 2 else [1, 2, 2]


def owner_of(name, n_classes):
    return np.repeat(np.arange(n_classes), sizes_of(name, n_classes))


def draw_start(name, problem, seed=0):
    """Responsibilities, half true."""
    rng = np.random.default_rng(seed)
    sizes = sizes_of(name, problem.n_classes)
    first = np.cumsum(sizes) - sizes
    place = first[problem.y] + problem.part % np.array(sizes)[problem.y]
    noise = rng.dirichlet(np.ones(sum(sizes)), size=len(problem.y))
    return 0.6 * np.eye(sum(sizes))[place] + 0.4 * noise


def labels_of(problem):
    if (problem.plausibility == 1).all():
        return None
    return Labels(problem.plausibility, range(problem.n_classes))


def fitted(name, problem, z=None, **options):
    options = {"n_components": sizes_of(name, problem.n_classes), **options}
    options = {"tol": 0, "random_state": 0, **options}
    weight = None if (problem.weight == 1).all() else problem.weight
    return StochasticSupervisionClassifier(name, **options).fit(
        problem.X, problem.z if z is None else z, labels_of(problem), weight
    )


def theta_of(model):
    """Parameters of an estimator, as the reference holds them."""
    n_components, d = model.means_.shape
    covariances = np.broadcast_to(model.covariances_, (n_components, d, d)).copy()
    theta = Theta(model.weights_, model.means_, covariances)
    assessment = MODELS[model.model][1]
    if assessment == "beta":
        np.testing.assert_array_equal(model.beta_parameters_[0], model.beta_parameters_[1, ::-1])
        return replace(theta, beta=model.beta_parameters_[0])
    noise = model.assessment_covariances_
    if assessment == "linear":
        slopes, intercepts = model.assessment_slopes_, model.assessment_intercepts_
    else:
        intercepts = model.assessment_means_
        slopes = np.zeros((len(intercepts), d, intercepts.shape[1]))
    return replace(theta, intercepts=intercepts, slopes=slopes, noise=noise)


def assert_same_theta(found, expected, rtol=1e-8, atol=1e-8):
    for field in Theta.__dataclass_fields__:
        one, other = getattr(found, field), getattr(expected, field)
        assert (one is None) == (other is None), field
        if one is not None:
            assert one.shape == other.shape, field
            np.testing.assert_allclose(one, other, rtol=rtol, atol=atol, err_msg=field)


def posteriors(model, X, z):
    """Probabilities of the classes without assessments, and with them, (2, n, J)."""
    return np.array([model.predict_proba(X), model.predict_proba(X, assessments=z)])


# The reference alone.


@pytest.mark.long  # a test of the reference itself
@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_the_reference_climbs_to_where_its_slopes_vanish(name, n_classes):
    problem, owner = draw(n_classes, "all"), owner_of(name, n_classes)
    start = draw_start(name, problem)
    theta, history = em(name, start, owner, problem, 60)
    assert (np.diff(history) > -1e-10).all()
    assert np.abs(gradient(name, m_step(name, start, owner, problem), owner, problem)).max() > 1
    assert np.abs(gradient(name, theta, owner, problem)).max() < 0.05


# The estimator is the reference.


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("name", "n_classes"), SOME_LONG)
def test_the_fit_is_the_em_of_the_reference(name, n_classes, variant):
    problem, owner = draw(n_classes, variant), owner_of(name, n_classes)
    start = draw_start(name, problem)
    model = fitted(name, problem, init=start, max_iter=6, accelerate=False, reg_covar=0)
    theta, history = em(name, start, owner, problem, 6)
    np.testing.assert_array_equal(model.classes_, range(n_classes))
    np.testing.assert_array_equal(model.component_classes_, owner)
    assert model.n_iter_ == 6
    np.testing.assert_allclose(model.history_, history, rtol=1e-8)
    assert model.log_likelihood_ == pytest.approx(history[-1], rel=1e-8)
    assert_same_theta(theta_of(model), theta)
    new = draw(n_classes, variant, seed=1)
    for X, z, w in ((problem.X, problem.z, problem.w), (new.X, new.z, new.w)):
        expected = class_posterior(theta, owner, X), class_posterior(theta, owner, X, w)
        np.testing.assert_allclose(posteriors(model, X, z), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_covariances_are_those_of_their_kind(kind, n_classes):
    problem = draw(n_classes, "all", d=3)
    start = draw_start("g2", problem)
    model = StochasticSupervisionClassifier(
        covariance_type=kind, init=start, max_iter=1, tol=0, reg_covar=0, accelerate=False
    ).fit(problem.X, problem.z, labels_of(problem), problem.weight)

    def by_kind(theta):
        if kind == "tied":
            pooled = np.einsum("m,mij->ij", theta.weights, theta.covariances)
            return replace(theta, covariances=np.array([pooled] * n_classes)), pooled
        if kind == "full":
            return theta, theta.covariances
        variances = np.einsum("mii->mi", theta.covariances)
        shown = variances if kind == "diag" else variances.mean(axis=1)
        spread = [v * np.eye(3) for v in shown]
        return replace(theta, covariances=np.array(spread)), shown

    owner = np.arange(n_classes)
    first, _ = by_kind(m_step("g2", start, owner, problem))
    r = responsibilities(first, owner, problem.X, problem.w, problem.plausibility)
    second, covariances = by_kind(m_step("g2", r, owner, problem))
    values = [criterion(theta, owner, problem) for theta in (first, second)]
    np.testing.assert_allclose(model.history_, values, rtol=1e-10)
    np.testing.assert_allclose(model.covariances_, covariances, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize(("name", "n_classes"), SOME_LONG)
def test_the_criterion_never_falls(name, n_classes, accelerate):
    problem = draw(n_classes, "all")
    for start in ("assessments", draw_start(name, problem)):
        model = fitted(name, problem, init=start, accelerate=accelerate, tol=1e-9)
        assert model.converged_
        assert len(model.history_) == model.n_iter_ + 1
        assert (np.diff(model.history_) >= -1e-10 * np.abs(model.history_[1:])).all()
        assert model.history_[-1] > model.history_[0]
        owner = owner_of(name, n_classes)
        value = criterion(theta_of(model), owner, problem)
        assert model.log_likelihood_ == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("name", "n_classes"), SOME_LONG)
def test_slopes_vanish_at_the_end(name, n_classes):
    problem, owner = draw(n_classes, "all"), owner_of(name, n_classes)
    model = fitted(name, problem, init=draw_start(name, problem), max_iter=5000)
    assert model.converged_
    theta = theta_of(model)
    for way in ways(name, theta):
        near = [criterion(replace(theta, **way(h)), owner, problem) for h in (-1e-5, 1e-5)]
        assert abs(near[1] - near[0]) / 2e-5 < 1e-3
    shifted = replace(theta, means=theta.means + 1e-3)
    assert np.abs(gradient(name, shifted, owner, problem)).max() > 1e-2


# Models within models.


@pytest.mark.parametrize(("small", "large", "n_classes"), NESTED)
def test_a_larger_model_starts_where_the_smaller_ended(small, large, n_classes):
    problem = draw(n_classes, "all")
    before = fitted(small, problem, init=draw_start(small, problem), tol=1e-9)
    value = criterion(theta_of(before), owner_of(small, n_classes), problem)
    assert before.log_likelihood_ == pytest.approx(value, rel=1e-8)
    after = fitted(large, problem, init=before, tol=1e-9)
    assert after.history_[0] == pytest.approx(before.log_likelihood_, rel=1e-8)
    assert after.log_likelihood_ >= before.log_likelihood_ * (1 + 1e-12)
    value = criterion(theta_of(after), owner_of(large, n_classes), problem)
    assert after.log_likelihood_ == pytest.approx(value, rel=1e-8)
    assert after.n_parameters_ > before.n_parameters_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_chain_of_models_only_climbs(n_classes):
    problem = draw(n_classes)
    chain = ["titterington"] * (n_classes == 2) + ["g1", "g2", "g3", "g34"]
    model, reached = "assessments", []
    for name in chain:
        model = fitted(name, problem, init=model, tol=1e-9)
        reached.append(model.log_likelihood_)
    assert (np.diff(reached) >= -1e-9 * np.abs(reached[1:])).all()
    assert reached[-1] > reached[0] + 1


@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_free_parameters_are_counted(name, n_classes):
    problem, owner = draw(n_classes), owner_of(name, n_classes)
    model = fitted(name, problem, init=draw_start(name, problem), max_iter=2)
    count = len(list(ways(name, m_step(name, draw_start(name, problem), owner, problem)))) - 1
    assert model.n_parameters_ == count  # one weight follows from the others
    n, value = len(problem.X), model.log_likelihood_
    if name == "krishnan_nandy":  # criteria compare densities of log odds
        value += np.log(problem.z * (1 - problem.z)).sum()
    assert model.bic_ == pytest.approx(count * np.log(n) - 2 * value)
    assert model.aic_ == pytest.approx(2 * count - 2 * value)


# Other people's code.


@pytest.mark.parametrize("max_iter", [3, pytest.param(300, marks=pytest.mark.long)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_assessments_that_follow_the_features_are_a_gaussian_mixture_of_both(n_classes, max_iter):
    problem, owner = draw(n_classes), np.arange(n_classes)
    r = draw_start("g3", problem)
    both, d = np.column_stack([problem.X, problem.w]), problem.X.shape[1]
    covariances = [np.cov(both.T, ddof=0, aweights=share) for share in r.T]
    theirs = GaussianMixture(
        n_classes,
        tol=0,
        max_iter=max_iter,
        reg_covar=0,
        weights_init=r.mean(axis=0),
        means_init=r.T @ both / r.sum(axis=0)[:, None],
        precisions_init=np.linalg.inv(covariances),
    ).fit(both)
    ours = fitted("g3", problem, init=r, max_iter=max_iter, accelerate=False, reg_covar=0)
    value = len(both) * theirs.score(both)
    assert ours.log_likelihood_ == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(ours.weights_, theirs.weights_, rtol=1e-6)
    np.testing.assert_allclose(ours.means_, theirs.means_[:, :d], rtol=1e-6, atol=1e-8)
    for j in owner:
        Sigma, cross = theirs.covariances_[j][:d, :d], theirs.covariances_[j][:d, d:]
        slopes = np.linalg.solve(Sigma, cross)
        intercept = theirs.means_[j, d:] - slopes.T @ theirs.means_[j, :d]
        noise = theirs.covariances_[j][d:, d:] - slopes.T @ cross
        np.testing.assert_allclose(ours.covariances_[j], Sigma, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(ours.assessment_slopes_[j], slopes, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ours.assessment_intercepts_[j], intercept, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ours.assessment_covariances_[j], noise, rtol=1e-5, atol=1e-6)
    found = ours.predict_proba(problem.X, assessments=problem.z)
    np.testing.assert_allclose(found, theirs.predict_proba(both), atol=1e-6)


@pytest.mark.parametrize(("name", "n_classes"), [c for c in ONE_COMPONENT if c[0] != "g3"])
def test_assessments_are_soft_labels_whose_plausibilities_are_their_densities(name, n_classes):
    problem = draw(n_classes, "missing")
    model = fitted(name, problem, init=draw_start(name, problem), max_iter=5000, reg_covar=0)
    theta = theta_of(model)
    logs = [log_assessment(theta, j, problem.X, problem.w) for j in range(n_classes)]
    logs = np.array(logs).T
    highest = logs.max(axis=1, keepdims=True)
    labels = Labels(np.exp(logs - highest), range(n_classes))
    start = {"weights": model.weights_, "means": model.means_, "covariances": model.covariances_}
    soft = GaussianMixtureClassifier(MODELS[name][0], init=start, reg_covar=0, max_iter=1)
    soft.fit(problem.X, labels)
    assert soft.log_likelihood_ + highest.sum() == pytest.approx(model.log_likelihood_, rel=1e-9)
    np.testing.assert_allclose(soft.weights_, model.weights_, atol=1e-6)
    np.testing.assert_allclose(soft.means_, model.means_, atol=1e-5)
    expected = soft.predict_proba(problem.X), soft.predict_proba(problem.X, labels)
    np.testing.assert_allclose(posteriors(model, problem.X, problem.z), expected, atol=1e-6)


@pytest.mark.parametrize("name", ["g3", "g34"])
def test_adjusted_r2_is_that_of_a_regression_in_each_class(name):
    problem = draw(2)
    problem = replace(problem, plausibility=np.eye(2)[problem.y])
    model = fitted(name, problem, init=draw_start(name, problem), tol=1e-6)
    for j in range(2):
        X, w = problem.X[problem.y == j], problem.w[problem.y == j, 0]
        left = 1 - LinearRegression().fit(X, w).score(X, w)
        expected = 1 - left * (len(X) - 1) / (len(X) - X.shape[1] - 1)
        assert model.adjusted_r2_[j] == pytest.approx(expected, abs=1e-8)


# What must not matter.


@pytest.mark.parametrize(("name", "given"), [(s[0], s[2]) for s in STARTS if s[1] == 2])
def test_the_probability_of_the_other_class_swaps_the_classes(name, given):
    problem = draw(2, "all")
    r = draw_start(name, problem)
    owner = owner_of(name, 2)
    turn = np.argsort(1 - owner, kind="stable")
    other = replace(problem, w=-problem.w, plausibility=problem.plausibility[:, ::-1])
    z = 1 - problem.z
    options = {"max_iter": 4, "reg_covar": 0, "accelerate": False}
    one = fitted(name, problem, init=r if given else "assessments", **options)
    two = fitted(name, other, z=z, init=r[:, turn] if given else "assessments", **options)
    np.testing.assert_allclose(two.history_, one.history_, rtol=1e-8)
    found, was = theta_of(two), theta_of(one)
    flip = {
        "weights": was.weights[turn],
        "means": was.means[turn],
        "covariances": was.covariances[turn],
        "intercepts": None if was.intercepts is None else -was.intercepts[::-1],
        "slopes": None if was.slopes is None else -was.slopes[::-1],
        "noise": None if was.noise is None else was.noise[::-1],
    }
    assert_same_theta(found, replace(was, **flip))
    found, expected = posteriors(two, problem.X, z), posteriors(one, problem.X, problem.z)
    np.testing.assert_allclose(found, expected[:, :, ::-1], atol=1e-8)


@pytest.mark.parametrize(("name", "n_classes"), SOME_LONG)
def test_the_order_of_rows_is_nothing(name, n_classes):
    problem = draw(n_classes, "all")
    order = np.random.default_rng(0).permutation(len(problem.X))
    r = draw_start(name, problem)
    one = fitted(name, problem, init=r, max_iter=6)
    two = fitted(name, problem.at(order), init=r[order], max_iter=6)
    assert_same_theta(theta_of(two), theta_of(one), rtol=1e-6, atol=1e-6)
    assert two.log_likelihood_ == pytest.approx(one.log_likelihood_, rel=1e-9)


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 0, 1), (0, 2, 1)])
@pytest.mark.parametrize("name", MANY_CLASSES)
def test_the_class_of_reference_is_nothing(name, order):
    """Log odds against another class are a linear map of determinant one, up to its sign."""
    problem, order = draw(3, "all"), np.array(order)
    owner, r = owner_of(name, 3), draw_start(name, problem)
    turn = np.concatenate([np.flatnonzero(owner == j) for j in order])
    sizes = np.array(sizes_of(name, 3))
    log_z = np.column_stack([problem.w, np.zeros(len(problem.w))])[:, order]
    other = replace(
        problem, w=log_z[:, :-1] - log_z[:, -1:], plausibility=problem.plausibility[:, order]
    )
    seen = ~np.isnan(problem.w[:, 0])
    change = np.linalg.lstsq(problem.w[seen], other.w[seen], rcond=None)[0]
    assert abs(np.linalg.det(change)) == pytest.approx(1)
    options = {"max_iter": 4, "reg_covar": 0, "accelerate": False}
    one = fitted(name, problem, init=r, **options)
    z = problem.z[:, order]
    two = fitted(name, other, z=z, init=r[:, turn], n_components=sizes[order], **options)
    np.testing.assert_allclose(two.history_, one.history_, rtol=1e-8)
    was = theta_of(one)
    expected = Theta(
        was.weights[turn],
        was.means[turn],
        was.covariances[turn],
        was.intercepts[order] @ change,
        was.slopes[order] @ change,
        change.T @ was.noise[order] @ change,
    )
    assert_same_theta(theta_of(two), expected, rtol=1e-7, atol=1e-7)
    found, expected = posteriors(two, problem.X, z), posteriors(one, problem.X, problem.z)
    np.testing.assert_allclose(found, expected[:, :, order], atol=1e-8)


@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_names_of_classes_are_in_the_order_of_the_assessments(name, n_classes):
    problem = draw(n_classes, "all")
    names = np.array(["z", "a"] if n_classes == 2 else ["m", "z", "a"])
    order = np.argsort(names)
    sizes, start = sizes_of(name, n_classes), draw_start(name, problem)
    options = {"max_iter": 4, "tol": 0, "accelerate": False}
    one = fitted(name, problem, n_components=sizes, init=start, **options)
    parts = np.split(start, np.cumsum(sizes)[:-1], axis=1)
    named = {
        "n_components": dict(zip(names.tolist(), sizes, strict=True)),
        "init": dict(zip(names.tolist(), parts, strict=True)),
    }
    two = StochasticSupervisionClassifier(name, **named, **options).fit(
        problem.X, problem.z, Labels(problem.plausibility, names), problem.weight, classes=names
    )
    np.testing.assert_array_equal(two.classes_, names[order])
    np.testing.assert_allclose(two.history_, one.history_, rtol=1e-8)
    found, expected = (posteriors(model, problem.X, problem.z) for model in (two, one))
    np.testing.assert_allclose(found, expected[:, :, order], atol=1e-8)
    for component, place in enumerate(np.argsort(names[owner_of(name, n_classes)], kind="stable")):
        np.testing.assert_allclose(two.means_[component], one.means_[place], atol=1e-8)


@pytest.mark.parametrize(("name", "n_classes", "given"), STARTS)
def test_linear_maps_of_the_features_are_nothing(name, n_classes, given):
    problem = draw(n_classes, "all")
    change, offset = np.array([[30.0, 4.0], [-0.02, 0.05]]), np.array([100.0, -7.0])
    if not given:  # starts of our own are round enough along the axes
        change = np.diag([30.0, 0.05])
    other = replace(problem, X=problem.X @ change + offset)
    start = draw_start(name, problem) if given else "assessments"
    options = {"max_iter": 4, "reg_covar": 0, "accelerate": False, "init": start}
    one, two = fitted(name, problem, **options), fitted(name, other, **options)
    shift = problem.weight.sum() * np.log(abs(np.linalg.det(change)))
    np.testing.assert_allclose(two.history_, one.history_ - shift, rtol=1e-8)
    np.testing.assert_allclose(two.means_, one.means_ @ change + offset, rtol=1e-7, atol=1e-7)
    found, expected = posteriors(two, other.X, problem.z), posteriors(one, problem.X, problem.z)
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize(("name", "n_classes", "given"), STARTS)
def test_whole_weights_are_repeated_rows(name, n_classes, given):
    problem = draw(n_classes, "all")
    times = np.random.default_rng(0).integers(0, 4, size=len(problem.X))
    repeated = np.repeat(np.arange(len(times)), times)
    r = draw_start(name, problem)
    one = replace(problem, weight=times.astype(float))
    two = replace(problem.at(repeated), weight=np.ones(len(repeated)))
    options = {"max_iter": 4, "accelerate": False}
    weighted = fitted(name, one, init=r if given else "assessments", **options)
    plain = fitted(name, two, init=r[repeated] if given else "assessments", **options)
    np.testing.assert_allclose(weighted.history_, plain.history_, rtol=1e-8)
    assert_same_theta(theta_of(weighted), theta_of(plain), rtol=1e-7, atol=1e-7)
    assert weighted.bic_ == pytest.approx(plain.bic_)


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_and_log_odds_say_the_same(name):
    problem = draw(2, "missing")
    options = {"init": draw_start(name, problem), "max_iter": 5, "accelerate": False}
    one = fitted(name, problem, **options)
    table = np.column_stack([problem.z, 1 - problem.z])
    ways_to_say = [(table, "probability"), (problem.w, "log_odds"), (problem.w[:, 0], "log_odds")]
    for z, scale in ways_to_say:
        two = fitted(name, problem, z=z, scale=scale, **options)
        np.testing.assert_allclose(two.history_, one.history_, rtol=1e-9)
        assert_same_theta(theta_of(two), theta_of(one), rtol=1e-7)
        found, expected = posteriors(two, problem.X, z), posteriors(one, problem.X, problem.z)
        np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("name", ["g2", "g34"])
def test_log_odds_of_three_classes_are_those_against_the_last(name):
    problem = draw(3, "missing")
    options = {"init": draw_start(name, problem), "max_iter": 5, "accelerate": False}
    one = fitted(name, problem, **options)
    two = fitted(name, problem, z=problem.w, scale="log_odds", **options)
    np.testing.assert_allclose(two.history_, one.history_, rtol=1e-9)
    assert_same_theta(theta_of(two), theta_of(one), rtol=1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_hard_labels_and_their_names_are_plausibilities(name):
    problem = draw(2)
    rng = np.random.default_rng(0)
    known = rng.random(len(problem.y)) < 0.3
    soft = replace(problem, plausibility=np.where(known[:, None], np.eye(2)[problem.y], 1.0))
    options = {"n_components": sizes_of(name, 2), "init": draw_start(name, problem)}
    options |= {"max_iter": 5, "tol": 0, "accelerate": False}
    one = fitted(name, soft, **options)
    names = np.array(["no", "yes"])
    hard = [str(names[y]) if k else None for y, k in zip(problem.y, known, strict=True)]
    two = StochasticSupervisionClassifier(name, **options)
    two.fit(problem.X, problem.z, labels=hard, classes=["no", "yes"])
    np.testing.assert_array_equal(two.classes_, names)
    np.testing.assert_array_equal(two.component_classes_, names[owner_of(name, 2)])
    np.testing.assert_allclose(two.history_, one.history_, rtol=1e-10)
    np.testing.assert_array_equal(two.predict(problem.X), names[one.predict(problem.X)])
    nothing = StochasticSupervisionClassifier(name, **options)
    nothing.fit(problem.X, problem.z, labels=Labels.unknown(len(problem.y), range(2)))
    np.testing.assert_allclose(nothing.history_, fitted(name, problem, **options).history_)


def clamp(matrices, scale, least):
    """Eigenvalues in units of a scale, at least so high."""
    units = np.outer(scale, scale)
    values, vectors = np.linalg.eigh(matrices / units)
    raised = [v @ np.diag(np.maximum(e, least)) @ v.T for e, v in zip(values, vectors, strict=True)]
    return np.array(raised) * units


@pytest.mark.parametrize("variant", ["plain", "all"])
@pytest.mark.parametrize(("name", "n_classes"), SOME_LONG)
def test_floors_raise_what_lies_below_and_nothing_else(name, n_classes, variant):
    problem, owner = draw(n_classes, variant), owner_of(name, n_classes)
    seen = ~np.isnan(problem.w).any(axis=1)
    x, w = (
        np.sqrt(np.diag(np.cov(data.T, ddof=0, aweights=weight).reshape(data.shape[1], -1)))
        for data, weight in (
            (problem.X, problem.weight),
            (problem.w[seen], problem.weight[seen]),
        )
    )
    theta = m_step(name, draw_start(name, problem), owner, problem)
    history = []
    for _ in range(3):
        theta = replace(theta, covariances=clamp(theta.covariances, x, 0.5))
        if theta.noise is not None:
            theta = replace(theta, noise=clamp(theta.noise, w, 0.5))
        history.append(criterion(theta, owner, problem))
        expected = theta
        r = responsibilities(theta, owner, problem.X, problem.w, problem.plausibility)
        theta = m_step(name, r, owner, problem)
    options = {"init": draw_start(name, problem), "max_iter": 2, "accelerate": False}
    model = fitted(name, problem, reg_covar=0.5, **options)
    np.testing.assert_allclose(model.history_, history, rtol=1e-8)
    assert_same_theta(theta_of(model), expected)


@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_floors_that_nothing_reaches_change_nothing(name, n_classes):
    problem = draw(n_classes, "all")
    options = {"init": draw_start(name, problem), "max_iter": 4, "accelerate": False}
    one, two = (fitted(name, problem, reg_covar=value, **options) for value in (0, 1e-3))
    np.testing.assert_allclose(two.history_, one.history_, rtol=1e-10)
    assert_same_theta(theta_of(two), theta_of(one))


@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_rows_without_assessments_add_what_their_features_say(name, n_classes):
    problem = draw(n_classes, "labels")
    seen = np.arange(len(problem.X)) < len(problem.X) // 2
    half = replace(problem, w=np.where(seen[:, None], problem.w, np.nan))
    r, owner = draw_start(name, problem), owner_of(name, n_classes)
    model = fitted(name, half, init=r, max_iter=3, accelerate=False, reg_covar=0)
    theta = theta_of(model)
    alone = criterion(theta, owner, half.at(seen)), criterion(theta, owner, half.at(~seen))
    assert model.log_likelihood_ == pytest.approx(sum(alone), rel=1e-9)
    found = model.predict_proba(half.X, assessments=half.z)
    np.testing.assert_allclose(found[~seen], model.predict_proba(half.X)[~seen], atol=1e-12)
    assert np.abs(found[seen] - model.predict_proba(half.X)[seen]).max() > 0.01


@pytest.mark.parametrize("where", ["chunks", "stream"])
@pytest.mark.parametrize(("name", "n_classes"), SOME_LONG)
def test_rows_anywhere_give_what_arrays_give(name, n_classes, where):
    problem = replace(draw(n_classes, "all", n=300), plausibility=np.ones((300, n_classes)))
    columns = problem.X, problem.z, problem.weight
    if where == "chunks":
        rows = ArrayRows(*columns, chunk_rows=64)
    else:
        parts = [slice(start, start + 70) for start in range(0, 300, 70)]
        rows = StreamRows([tuple(column[part] for column in columns) for part in parts])
    memory = fitted(name, problem, tol=1e-9)
    options = {"n_components": sizes_of(name, n_classes), "tol": 1e-9, "random_state": 0}
    there = StochasticSupervisionClassifier(name, **options).fit(rows)
    assert there.log_likelihood_ == pytest.approx(memory.log_likelihood_, rel=1e-8)
    assert_same_theta(theta_of(there), theta_of(memory), rtol=1e-6, atol=1e-6)
    found, expected = (posteriors(model, problem.X, problem.z) for model in (there, memory))
    np.testing.assert_allclose(found, expected, atol=1e-6)


# At the edge.


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["g3", "g34"])
def test_a_supervisor_who_is_a_linear_model_of_the_features_is_held_at_the_floor(name, n_classes):
    problem = draw(n_classes)
    slopes = np.random.default_rng(0).normal(size=(2, n_classes - 1))
    exact = replace(problem, w=problem.X @ slopes + 0.3)
    model = StochasticSupervisionClassifier(name, n_components=sizes_of(name, n_classes))
    model.fit(exact.X, exact.z)
    assert np.isfinite(model.history_).all()
    assert (np.diff(model.history_) >= -1e-9 * np.abs(model.history_[1:])).all()
    answers = posteriors(model, exact.X, exact.z)
    assert np.isfinite(answers).all()
    np.testing.assert_allclose(answers.sum(axis=2), 1)
    np.testing.assert_allclose(model.assessment_slopes_, [slopes] * n_classes, atol=1e-4)
    scale = exact.w.std(axis=0)
    noise = model.assessment_covariances_ / np.outer(scale, scale)
    np.testing.assert_allclose(
        noise, [1e-6 * np.eye(n_classes - 1)] * n_classes, rtol=0.02, atol=1e-9
    )
    assert (model.adjusted_r2_ > 0.99).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["g2", "g3", "g4", "g34"])
def test_features_that_repeat_each_other_are_held_at_the_floor(name):
    problem = draw(2)
    double = replace(problem, X=np.column_stack([problem.X, problem.X[:, 0]]))
    model = fitted(name, double, tol=1e-6)
    scale = double.X.std(axis=0)
    least = np.linalg.eigvalsh(model.covariances_ / np.outer(scale, scale)).min(axis=1)
    np.testing.assert_allclose(least, 1e-6, rtol=0.02)
    assert np.isfinite(model.history_).all()
    assert np.isfinite(model.predict_proba(double.X, assessments=double.z)).all()


@pytest.mark.parametrize("seed", [38, 48, 84, 87])
def test_a_feature_that_a_class_never_shows_gets_no_steep_slope(seed):
    """Within the class it varies by rounding, or by rows of which the class has next to nothing."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    y = rng.integers(2, size=n)
    w = np.where(y == 0, 1.5, -1.5) + rng.normal(size=n)
    flag = ((y == 1) & (rng.random(n) < 0.3)).astype(float)
    X = np.column_stack([rng.normal(size=n) + 3 * y, flag + rng.choice([0, 0.3])])
    w[rng.random(n) < rng.choice([0, 0.4])] = np.nan
    reg_covar = rng.choice([1e-6, 1e-2])
    model = StochasticSupervisionClassifier(
        "g3", scale="log_odds", accelerate=False, reg_covar=reg_covar
    ).fit(X, w)
    assert model.converged_
    assert np.abs(model.assessment_slopes_).max() < 1e3


@pytest.mark.parametrize(("small", "large"), [("g1", "g2"), ("g2", "g3"), ("titterington", "g3")])
def test_a_start_that_is_too_general_is_refused_or_simplified(small, large):
    problem = draw(2)
    before = fitted(large, problem, tol=1e-6)
    try:
        after = fitted(small, problem, init=before, tol=1e-6)
    except ValueError:
        return
    value = criterion(theta_of(after), owner_of(small, 2), problem)
    assert after.log_likelihood_ == pytest.approx(value, rel=1e-8)


@pytest.mark.filterwarnings("ignore::plausible.models.EmptyClassWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_class_that_labels_exclude_everywhere_has_no_items(name):
    problem = draw(2)
    problem = replace(problem, plausibility=np.tile([1.0, 0.0], (len(problem.y), 1)))
    model = fitted(name, problem, tol=1e-6)
    assert model.weights_[model.component_classes_ == 0].sum() == pytest.approx(1)
    assert np.isfinite(model.predict_proba(problem.X)).all()


@pytest.mark.filterwarnings("ignore::plausible.models.EmptyClassWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_assessments_that_say_nothing_are_refused_in_words(n_classes):
    problem = draw(n_classes)
    z = np.full((len(problem.X), n_classes), 1 / n_classes)
    with pytest.raises(ValueError, match="[Aa]ssess"):
        StochasticSupervisionClassifier("g2").fit(problem.X, z)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_rows_hold_no_impossible_weights(weight):
    problem = draw(2)
    weights = np.ones(len(problem.X))
    weights[0] = weight
    with pytest.raises(ValueError, match="weight"):
        StochasticSupervisionClassifier("g2").fit(ArrayRows(problem.X, problem.z, weights))


@pytest.mark.parametrize("name", MODELS)
def test_log_odds_without_variance_have_no_r2(name):
    problem = draw(2)
    model = fitted(name, problem, z=(problem.y == 0).astype(float), tol=1e-6)
    assert not (model.adjusted_r2_ > 0.5).any()
