"""Logistic regression for partial labels: reductions, maxima, sources of rows, hard cases."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import approx_fprime, minimize
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.belief import contour, pignistic
from plausible.engine import ArrayRows, DaskRows, StreamRows
from plausible.labels import Labels
from plausible.models import EmptyClassWarning, PartialLogisticRegression
from plausible.models.logistic import solvers
from plausible.models.logistic.criteria import CRITERIA, KERNELS
from plausible.models.logistic.likelihood import PartialLikelihood

SOLVERS = ("lbfgs", "newton", "em")


def hard_problem(n_classes, n=300, seed=0):
    return make_classification(
        n, 8, n_informative=6, n_classes=n_classes, flip_y=0.1, random_state=seed
    )


def subset_problem(seed, n=200, n_classes=4, d=5, keep=0.5, n_test=5000):
    """Classes from a softmax of standard Gaussian features; wrong classes kept at random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n_test, d))
    slopes = rng.normal(scale=1.5, size=(n_classes, d))
    y = (X @ slopes.T + rng.gumbel(size=(n + n_test, n_classes))).argmax(axis=1)
    sets = rng.uniform(size=(n, n_classes)) < keep
    sets[np.arange(n), y[:n]] = True
    return X[:n], sets.astype(float), y[:n], X[n:], y[n:]


def saddle_problem():
    x = np.repeat([-2.0, 0.0, 2.0], 10)[:, None]
    side = np.repeat([True, False, True], 10)
    side ^= np.tile(np.arange(10) < 2, 3)
    return x, Labels.from_sets([{0, 1} if s else {2} for s in side], classes=[0, 1, 2])


# -- Reductions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_hard_labels_give_logistic_regression(n_classes, solver, criterion):
    X, y = hard_problem(n_classes)
    alpha = 0.7
    C = (2 if n_classes == 2 else 1) / alpha
    peer = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y)
    model = PartialLogisticRegression(criterion, alpha, solver=solver).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)


@pytest.mark.long
def test_confident_data_are_fitted_to_the_end():
    X, y = load_digits(return_X_y=True)
    peer = LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=1000).fit(X, y)
    model = PartialLogisticRegression().fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 400
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_minimum_commitment_learns_nothing_from_rows_that_say_nothing(n_classes):
    X, y = hard_problem(n_classes)
    labels = Labels.from_crisp(y, classes=range(n_classes))
    known = np.arange(len(y)) % 3 > 0
    contour = np.where(known[:, None], labels.contour, 0.6)
    alone = PartialLogisticRegression().fit(X[known], y[known])
    semi = PartialLogisticRegression().fit(X, contour)
    np.testing.assert_allclose(semi.predict_proba(X), alone.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(semi.coef_, alone.coef_, atol=1e-8)
    constant = (~known).sum() * np.log(0.6)
    assert semi.log_likelihood_ == pytest.approx(alone.log_likelihood_ + constant)


def test_maximum_entropy_is_logistic_regression_on_repeated_rows():
    X, sets, *_ = subset_problem(0)
    rows, classes = np.nonzero(sets)
    shares = 1 / sets.sum(axis=1)[rows]
    peer = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
    peer.fit(X[rows], classes, sample_weight=shares)
    model = PartialLogisticRegression("maximum_entropy").fit(X, sets)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-5)


# -- The criterion and its maximum ----------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("penalize", [False, True])
def test_the_result_is_a_stationary_point_of_the_penalized_criterion(criterion, penalize):
    X, sets, *_ = subset_problem(1)
    degrees = np.where(sets > 0, 1.0, 0.1)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(X))
    model = PartialLogisticRegression(
        criterion, 2.0, penalize_intercept=penalize, random_state=0, tol=1e-9
    ).fit(X, degrees, weights)

    def objective(flat):
        beta = flat.reshape(4, 6)
        logits = (X @ beta[:, :5].T + beta[:, 5]).T.copy()
        penalized = beta if penalize else beta[:, :5]
        return weights @ KERNELS[criterion](logits, degrees.T)[0] - (penalized**2).sum()

    found = np.column_stack([model.coef_, model.intercept_]).ravel()
    assert model.objective_ == pytest.approx(objective(found), rel=1e-10)
    assert np.abs(approx_fprime(found, objective, 1e-7)).max() < 2e-3
    penalty = (model.coef_**2).sum() + penalize * (model.intercept_**2).sum()
    assert model.log_likelihood_ == pytest.approx(model.objective_ + penalty)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-7)


def test_the_default_fit_leaves_the_saddle():
    x, labels = saddle_problem()
    at_zero = PartialLogisticRegression(
        alpha=1e-3, solver="lbfgs", init=(np.zeros((3, 1)), np.zeros(3))
    ).fit(x, labels)
    assert at_zero.objective_ == pytest.approx(-20.19, abs=0.005)
    for seed in range(10):
        model = PartialLogisticRegression(alpha=1e-3, random_state=seed).fit(x, labels)
        assert model.objective_ == pytest.approx(-15.015, abs=0.005)
        assert model.converged_


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_leaves_the_saddle(solver):
    x, labels = saddle_problem()
    model = PartialLogisticRegression(alpha=1e-3, solver=solver, random_state=0).fit(x, labels)
    assert model.objective_ == pytest.approx(-15.015, abs=0.005)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_agree_where_the_criterion_is_concave(solver):
    X, y = hard_problem(3)
    contour = Labels.from_crisp(y).contour.copy()
    contour[::4] = 1.0
    reference = PartialLogisticRegression(solver="newton", tol=1e-10).fit(X, contour)
    model = PartialLogisticRegression(solver=solver).fit(X, contour)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-6)


def test_em_over_all_rows_climbs_to_the_same_maximum_where_the_criterion_is_concave():
    # Rows that say nothing are left out by the estimator, and one M step is then enough; here they
    # take part, so that EM has to iterate.
    X, y = hard_problem(3)
    contour = Labels.from_crisp(y).contour.copy()
    contour[::2] = 1.0
    model = PartialLogisticRegression().fit(X, contour)
    problem = pose(X, contour)
    problem = PartialLikelihood(
        ArrayRows(X, contour, None),
        "minimum_commitment",
        None,
        problem.penalty,
        float(len(X)),
        0.0,
        problem.coordinates,
    )
    result = solvers.Solver("em", 1e-7, 1000).run(problem, np.zeros((3, 9)))
    assert result.n_iter > 3
    assert (np.diff(result.history) >= 0).all()
    np.testing.assert_allclose(result.parameters[:, :8], model.coef_, atol=1e-5)


def pose(X, contour, alpha=1.0):
    """The problem that an estimator hands to its solver."""
    kept = []

    class Catching(solvers.Solver):
        def run(self, problem, start):
            kept.append(problem)
            return super().run(problem, start)

    model = PartialLogisticRegression(alpha=alpha, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plausible.models.logistic.regression.Solver", Catching)
        model.fit(X, contour)
    return kept[-1]


@pytest.mark.parametrize("criterion", ["minimum_commitment", "self_consistent"])
def test_second_derivatives_over_rows_are_those_of_finite_differences(criterion):
    X, sets, *_ = subset_problem(2, n=60)
    problem = pose(X, sets)
    problem = PartialLikelihood(
        problem.rows, criterion, None, problem.penalty, 60.0, 0.0, problem.coordinates
    )
    point = np.random.default_rng(0).normal(size=problem.coordinates.size)
    hessian = problem.hessian(point)
    step = 1e-6
    for direction in np.eye(len(point))[::3]:
        up, down = (problem.at(point + sign * step * direction)[1] for sign in (1, -1))
        np.testing.assert_allclose(hessian @ direction, (up - down) / (2 * step), atol=1e-7)
        product = problem.hessian_product(point, direction)
        np.testing.assert_allclose(product, hessian @ direction, atol=1e-12)


def test_em_never_falls_and_ends_where_its_gradient_is_zero():
    X, sets, *_ = subset_problem(3)
    model = PartialLogisticRegression(solver="em", random_state=0).fit(X, sets)
    assert (np.diff(model.history_) >= 0).all()
    again = PartialLogisticRegression(solver="newton", init=(model.coef_, model.intercept_))
    again.fit(X, sets)
    assert again.objective_ == pytest.approx(model.objective_, abs=1e-6)


def test_several_starts_find_what_many_starts_of_a_plain_optimizer_find():
    X, sets, *_ = subset_problem(4, n=60, n_classes=3, d=2, keep=0.7)
    model = PartialLogisticRegression(alpha=0.05, random_state=0).fit(X, sets)

    def loss(flat):
        beta = flat.reshape(3, 3)
        logits = (X @ beta[:, :2].T + beta[:, 2]).T.copy()
        value, slope = KERNELS["minimum_commitment"](logits, sets.T)
        gradient = np.column_stack([slope @ X, slope.sum(axis=1)])
        gradient[:, :2] -= 0.05 * beta[:, :2]
        return 0.025 * (beta[:, :2] ** 2).sum() - value.sum(), -gradient.ravel()

    rng = np.random.default_rng(0)
    best = min(minimize(loss, rng.normal(size=9), jac=True).fun for _ in range(30))
    assert model.objective_ == pytest.approx(-best, abs=1e-5)


@pytest.mark.long
def test_minimum_commitment_has_the_lowest_log_loss_with_subset_labels():
    losses = []
    for seed in range(10):
        X, sets, _, X_test, y_test = subset_problem(seed)
        losses.append(
            [
                log_loss(
                    y_test,
                    PartialLogisticRegression(criterion, random_state=0)
                    .fit(X, sets)
                    .predict_proba(X_test),
                    labels=range(4),
                )
                for criterion in ("minimum_commitment", "maximum_entropy", "self_consistent")
            ]
        )
    cautious, even, betting = np.mean(losses, axis=0)
    assert cautious < min(even, betting) - 0.01


def test_unlabeled_rows_help_the_criteria_that_bet_where_clusters_are_apart():
    # Two clusters in many dimensions, with few labels: most directions are noise.
    rng = np.random.default_rng(0)
    y = np.arange(500) % 2
    X = rng.normal(size=(500, 20)) + np.where(y, 0.45, -0.45)[:, None]
    contour = np.ones((500, 2))
    contour[:8] = np.eye(2)[y[:8]]
    cautious = PartialLogisticRegression(alpha=0.1).fit(X, contour)
    for criterion in ("self_consistent", "minimum_entropy"):
        betting = PartialLogisticRegression(criterion, alpha=0.1).fit(X, contour)
        assert (betting.predict(X) == y).mean() > (cautious.predict(X) == y).mean() + 0.02


# -- Where rows come from -------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["lbfgs", "newton"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_streams_and_clusters_give_the_same_answer(criterion, solver):
    import dask.array

    X, sets, *_ = subset_problem(5, n=1500)
    sets[::7] = 1.0
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))

    def source():
        for start in range(0, len(X), 400):
            part = slice(start, start + 400)
            yield X[part], sets[part], weights[part]

    model = PartialLogisticRegression(criterion, solver=solver, random_state=0)
    expected = model.fit(X, sets, weights).coef_
    columns = (dask.array.from_array(a, chunks=(400, -1)[: a.ndim]) for a in (X, sets, weights))
    clustered = DaskRows(*columns)
    for rows in (StreamRows(source), clustered):
        found = PartialLogisticRegression(criterion, solver=solver, random_state=0).fit(rows)
        np.testing.assert_allclose(found.coef_, expected, atol=1e-6)
        np.testing.assert_allclose(found.intercept_, model.intercept_, atol=1e-6)
        assert found.objective_ == pytest.approx(model.objective_)


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "em"])
@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "coo_array"])
def test_sparse_features_give_the_answer_of_dense_ones(kind, solver):
    X, sets, *_ = subset_problem(6)
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    dense = PartialLogisticRegression(solver=solver, random_state=0).fit(X, sets, weights)
    given = getattr(scipy.sparse, kind)(X)
    model = PartialLogisticRegression(solver=solver, random_state=0).fit(given, sets, weights)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=2e-5)
    np.testing.assert_allclose(model.predict_proba(given), dense.predict_proba(X), atol=1e-5)
    assert (model.predict(given) == dense.predict(X)).mean() > 0.99


def test_wide_sparse_features_are_never_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((400, 5000), density=0.004, format="csr", rng=rng)
    y = (X @ rng.normal(size=5000) > 0).astype(int)

    def refuse(*_, **__):
        raise AssertionError("made dense")

    monkeypatch.setattr(type(X), "toarray", refuse)
    monkeypatch.setattr(type(X), "todense", refuse)
    contour = np.eye(2)[y]
    contour[::5] = [0.7, 1.0]
    model = PartialLogisticRegression(alpha=0.1, random_state=0).fit(X, contour)
    assert model.converged_
    assert model.score(X, y) > 0.85


def test_single_precision_is_kept():
    X, sets, *_ = subset_problem(7)
    double = PartialLogisticRegression(random_state=0).fit(X, sets)
    single = PartialLogisticRegression(random_state=0).fit(X.astype(np.float32), sets)
    assert single.coef_.dtype == single.intercept_.dtype == np.float32
    assert single.predict_proba(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-5)


# -- Answers --------------------------------------------------------------------------------------


def test_answers_agree_with_each_other():
    X, y = load_iris(return_X_y=True)
    model = PartialLogisticRegression().fit(X, y)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(pignistic(model.predict_mass(X)), probability, atol=1e-12)
    np.testing.assert_allclose(model.predict_plausibility(X), contour(model.predict_mass(X)))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probability, atol=1e-12)
    chosen = model.predict_set(X)
    assert chosen[np.arange(len(y)), model.predict(X)].all()
    assert 1 < chosen.sum(axis=1).mean() < 3
    told = model.predict_proba(X, labels=Labels.from_crisp(y))
    np.testing.assert_allclose(told, np.eye(3)[y], atol=1e-12)
    assert model.score(X, y) == (model.predict(X) == y).mean()


def test_warm_start_and_init_go_on_where_a_fit_ended():
    X, sets, *_ = subset_problem(8)
    model = PartialLogisticRegression(random_state=0, warm_start=True).fit(X, sets)
    objective = model.objective_
    assert model.fit(X, sets).n_iter_ <= 1
    assert model.objective_ == pytest.approx(objective)
    given = PartialLogisticRegression(init=(model.coef_, model.intercept_)).fit(X, sets)
    assert given.n_iter_ <= 1


def test_a_grid_of_penalties_in_a_pipeline():
    X, sets, *_ = subset_problem(9)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PartialLogisticRegression(random_state=0)),
        {"partiallogisticregression__alpha": [0.1, 1e4]},
    ).fit(X, Labels.from_plausibility(sets))
    assert search.best_params_["partiallogisticregression__alpha"] == 0.1


def test_progress_is_told(capsys):
    X, sets, *_ = subset_problem(0)
    PartialLogisticRegression(verbose=2).fit(X, sets.argmax(axis=1))
    assert "PartialLogisticRegression: iteration 1, criterion" in capsys.readouterr().out


# -- Hard cases -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_features_is_no_matter(scale):
    X, y = hard_problem(3)
    plain = PartialLogisticRegression(alpha=1.0).fit(X, y)
    model = PartialLogisticRegression(alpha=scale**2).fit(X * scale, y)
    np.testing.assert_allclose(model.predict_proba(X * scale), plain.predict_proba(X), atol=1e-6)


def test_features_far_from_zero():
    X, y = hard_problem(3)
    plain = PartialLogisticRegression().fit(X, y)
    model = PartialLogisticRegression().fit(X + 1e6, y)
    np.testing.assert_allclose(model.predict_proba(X + 1e6), plain.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_constant_and_repeated_columns(alpha):
    X, y = hard_problem(3)
    plain = PartialLogisticRegression(alpha=alpha).fit(X, y)
    more = np.column_stack([X, np.full(len(X), 7.0)])
    model = PartialLogisticRegression(alpha=alpha).fit(more, y)
    np.testing.assert_allclose(model.predict_proba(more), plain.predict_proba(X), atol=1e-5)
    twice = np.column_stack([X, X])
    model = PartialLogisticRegression(alpha=2 * alpha).fit(twice, y)
    np.testing.assert_allclose(model.predict_proba(twice), plain.predict_proba(X), atol=1e-5)


def test_more_features_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 300))
    y = np.arange(20) % 2
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(X, y)
    model = PartialLogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_class_that_no_label_allows_gets_no_chance(criterion):
    X, sets, *_ = subset_problem(1)
    wider = np.column_stack([sets, np.zeros(len(sets))])
    with pytest.warns(EmptyClassWarning, match=r"\[4\] never are; they get probability 0"):
        model = PartialLogisticRegression(criterion, random_state=0).fit(X, wider)
    plain = PartialLogisticRegression(criterion, random_state=0).fit(X, sets)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability[:, :4], plain.predict_proba(X), atol=1e-5)
    assert (probability[:, 4] == 0).all()
    assert np.isfinite(model.objective_)


def test_labels_of_one_class_beside_rows_that_say_nothing():
    X = np.arange(6.0)[:, None]
    labels = Labels.from_crisp(["a", "a", "", "", "a", ""], classes=["a", "b"], missing="")
    with pytest.warns(EmptyClassWarning, match="'b'"):
        model = PartialLogisticRegression().fit(X, labels)
    assert model.predict(X).tolist() == ["a"] * 6


def test_one_class_only():
    model = PartialLogisticRegression().fit(np.arange(4.0)[:, None], ["a"] * 4)
    assert model.predict([[9.0]]).tolist() == ["a"]
    assert model.predict_proba([[9.0]]).tolist() == [[1.0]]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_labels_that_say_nothing_at_all_are_refused(criterion):
    with pytest.raises(ValueError, match="all labels are unknown"):
        PartialLogisticRegression(criterion).fit(np.eye(5), Labels.unknown(5, ["a", "b"]))


def test_separable_data_without_a_penalty_end_with_finite_coefficients():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    model = PartialLogisticRegression(alpha=0.0).fit(X, [0, 0, 1, 1])
    assert np.isfinite(model.coef_).all()
    assert model.predict(X).tolist() == [0, 0, 1, 1]


def test_a_fit_that_is_cut_short_says_so():
    X, sets, *_ = subset_problem(0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = PartialLogisticRegression(max_iter=2, random_state=0).fit(X, sets)
    assert not model.converged_
    assert model.n_iter_ == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "minimum"}, "criterion should be"),
        ({"solver": "sgd"}, "solver should be 'auto', 'lbfgs', 'newton' or 'em'"),
        ({"alpha": -1.0}, "alpha should be a finite number of at least 0"),
        ({"tol": -1.0}, "tol should be"),
        ({"max_iter": 0}, "max_iter should be a whole number of at least 1"),
        ({"n_init": 0}, "n_init should be a whole number of at least 1"),
        ({"n_init": "many"}, "n_init should be"),
        ({"init": np.zeros((4, 5))}, r"should be a tuple \(coef, intercept\) of numbers of shapes"),
        ({"init": (np.zeros((3, 5)), np.zeros(4))}, r"shapes \(4, 5\) and \(4,\)"),
    ],
)
def test_wrong_options_are_refused(options, message):
    X, sets, *_ = subset_problem(0, n=20)
    with pytest.raises(ValueError, match=message):
        PartialLogisticRegression(**options).fit(X, sets)


def test_features_that_are_no_numbers_are_refused_in_streams_too():
    X, sets, *_ = subset_problem(0, n=20)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PartialLogisticRegression().fit(X, sets)
    with pytest.raises(ValueError, match="Features should be finite"):
        PartialLogisticRegression().fit(StreamRows([(X, sets, None)]))
