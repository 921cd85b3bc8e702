"""Any learner: hard labels give the learner itself, and soft ones what the criteria say."""

import numpy as np
import pytest
from joblib import parallel_config
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from plausible.base import EmptyClassWarning, takes_labels
from plausible.io import load, save
from plausible.labels import Labels
from plausible.models import PartialLogisticRegression, SoftLabelClassifier
from plausible.models.any_learner.candidates import counts_near, drawn

NAMES = np.array(["cow", "ant", "bee"])  # not sorted
RNG = np.random.default_rng(5)
X, CODES = make_blobs(90, centers=[[0, 0], [3, 0], [0, 3]], cluster_std=1.2, random_state=0)
WEIGHT = RNG.uniform(0.2, 2.0, 90)
HARD = NAMES[CODES]


def make_labels():
    """Hard labels, doubts, sets, probabilities and unknown rows."""
    contour = np.eye(3)[CODES]
    contour[1::5] = np.maximum(contour[1::5], np.linspace(0.1, 0.8, 18)[:, None])
    contour[2::5, :2] = np.maximum(contour[2::5, :2], RNG.integers(0, 2, (18, 2)))
    shares = np.zeros(90, dtype=bool)
    shares[3::5] = True
    contour[3::5] = 0.6 * contour[3::5] + 0.4 * RNG.dirichlet(np.ones(3), 18)
    contour[4::10] = 1.0
    return Labels(contour, NAMES, is_probability=shares)


SOFT = make_labels()
LOGISTIC = LogisticRegression(tol=1e-9, max_iter=2000)
LEARNERS = {
    "logistic": LOGISTIC,
    "boosting": HistGradientBoostingClassifier(max_iter=5, random_state=0),
    "forest": RandomForestClassifier(5, random_state=0),
    "bayes": GaussianNB(),
    "scores only": LinearSVC(random_state=0),
    "kernel": SVC(),
    "network": MLPClassifier((4,), max_iter=20, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LOGISTIC),
    "no weights": KNeighborsClassifier(3),
    "says a class": make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
}


def answers(model, X):
    """Whatever numbers a classifier gives."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            return getattr(model, method)(X)
    return model.predict(X) == NAMES[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("criterion", ["minimum_commitment", "maximum_entropy"])
@pytest.mark.parametrize("name", LEARNERS)
def test_hard_labels_give_the_learner_itself(name, criterion):
    model = SoftLabelClassifier(LEARNERS[name], criterion, random_state=1)
    alone = clone(LEARNERS[name]).fit(X, HARD)
    ones = Labels.from_sets([{one} for one in HARD], classes=NAMES)
    for y in (HARD, Labels.from_crisp(HARD, classes=NAMES), ones):
        model.fit(X, y)
        assert model.classes_.tolist() == alone.classes_.tolist() == ["ant", "bee", "cow"]
        np.testing.assert_allclose(answers(model, X), answers(alone, X), atol=1e-10)
        if hasattr(alone, "predict_proba"):
            np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-10)
        assert (model.predict(X) == alone.predict(X)).mean() > 0.98  # SVC: equal votes of pairs


def test_weights_reach_the_last_step_and_transformers_count_each_item_once():
    pipe = make_pipeline(StandardScaler(), LOGISTIC)
    alone = clone(pipe).fit(X, HARD, logisticregression__sample_weight=WEIGHT)
    model = SoftLabelClassifier(pipe).fit(X, HARD, WEIGHT)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-10)
    soft = SoftLabelClassifier(pipe, "maximum_entropy").fit(X, SOFT, WEIGHT)
    scaler = StandardScaler().fit(X)
    np.testing.assert_allclose(soft.estimator_[0].mean_, scaler.mean_)
    np.testing.assert_allclose(soft.estimator_[0].scale_, scaler.scale_)


def test_maximum_entropy_is_one_fit_to_repeated_rows():
    shares = SOFT.contour / SOFT.contour.sum(axis=1, keepdims=True)
    rows, codes = np.nonzero(shares)
    weight = (WEIGHT[:, None] * shares)[rows, codes]
    alone = clone(LOGISTIC).fit(X[rows], NAMES[codes], weight)
    model = SoftLabelClassifier(LOGISTIC, "maximum_entropy").fit(X, SOFT, WEIGHT)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-7)
    assert model.n_iter_ == 1


@pytest.mark.parametrize("criterion", ["minimum_commitment", "maximum_entropy"])
def test_around_logistic_regression_it_is_partial_logistic_regression(criterion):
    # A ridge of 1/C on the slopes of three classes is alpha.
    model = SoftLabelClassifier(
        LogisticRegression(C=2.0, tol=1e-10, max_iter=5000),
        criterion, cv="in_sample", max_iter=1000, tol=1e-7,
    ).fit(X, SOFT, WEIGHT)  # fmt: skip
    ours = PartialLogisticRegression(criterion, alpha=0.5, random_state=0).fit(X, SOFT, WEIGHT)
    order = np.argsort(NAMES)
    np.testing.assert_allclose(model.predict_proba(X), ours.predict_proba(X), atol=1e-3)
    np.testing.assert_allclose(model.estimator_.coef_, ours.coef_, atol=1e-3)
    assert model.classes_.tolist() == NAMES[order].tolist()


def in_sample_criterion(model, labels, weight):
    """Mean log probability of labels, row by row."""
    contour = labels.reorder(model.classes_.tolist()).scaled()
    bets, total = model.predict_proba(X), 0.0
    for i in range(len(X)):
        if weight[i] == 0 or labels.is_unknown[i]:
            continue
        if labels.is_probability[i]:
            p = contour[i] / contour[i].sum()
            total += weight[i] * sum(p[k] * np.log(bets[i, k]) for k in range(3) if p[k] > 0)
        else:
            total += weight[i] * np.log((contour[i] * bets[i]).sum())
    return total / weight[~labels.is_unknown].sum()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_criterion_never_falls_in_sample():
    # Without a penalty, each fit is a maximization step of the EM algorithm.
    free = LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000)
    model = SoftLabelClassifier(free, cv="in_sample", max_iter=15, tol=0.0).fit(X, SOFT, WEIGHT)
    assert (np.diff(model.history_) >= -1e-10).all()
    assert model.history_[-1] > model.history_[0] + 1e-3
    found = in_sample_criterion(model, SOFT, WEIGHT)
    assert model.history_[-1] - 1e-10 <= found < model.history_[-1] + 1e-3


def test_one_round_out_of_fold_is_what_it_says():
    folds = KFold(3, shuffle=True, random_state=0)
    model = SoftLabelClassifier(GaussianNB(), cv=folds, max_iter=1).fit(X, SOFT, WEIGHT)
    says = ~SOFT.is_unknown
    even = SOFT.contour / SOFT.contour.sum(axis=1, keepdims=True)
    shares = even.copy()
    for train, test in folds.split(X, SOFT.crisp()):
        train = train[says[train]]
        rows, codes = np.nonzero(even[train])
        weight = (WEIGHT[train][:, None] * even[train])[rows, codes]
        part = GaussianNB().fit(X[train][rows], NAMES[codes], weight)
        bets = part.predict_proba(X[test])[:, np.argsort(np.argsort(NAMES))]
        joint = SOFT.contour[test] * bets
        shares[test] = joint / joint.sum(axis=1, keepdims=True)
    shares[SOFT.is_probability] = even[SOFT.is_probability]
    shares[~says] = 0.0
    rows, codes = np.nonzero(shares)
    alone = GaussianNB().fit(X[rows], NAMES[codes], (WEIGHT[:, None] * shares)[rows, codes])
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-10)


def test_scale_of_rows_does_not_matter_and_unknown_rows_change_nothing():
    contour = np.where(SOFT.is_probability[:, None], np.eye(3)[CODES], SOFT.contour)
    scale = RNG.uniform(0.1, 1.0, (90, 1))
    model = SoftLabelClassifier(GaussianNB(), cv=3)
    first = model.fit(X, Labels.from_plausibility(contour, NAMES), WEIGHT).predict_proba(X)
    second = model.fit(X, Labels.from_plausibility(contour * scale, NAMES), WEIGHT)
    np.testing.assert_allclose(second.predict_proba(X), first, atol=1e-10)
    known = contour.min(axis=1) < contour.max(axis=1)
    fewer = Labels.from_plausibility(contour[known], NAMES)
    third = model.fit(X[known], fewer, WEIGHT[known])
    np.testing.assert_allclose(third.predict_proba(X), first, atol=1e-10)


def test_a_learner_that_believes_itself_is_kept_from_it():
    # A full tree repeats in sample what it was told; out of fold it finds the classes.
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(0, 3, n)
    Z = np.column_stack([np.eye(3)[y] @ [0.0, 4.0, 8.0] + rng.normal(size=n), rng.normal(size=n)])
    contour = np.eye(3)[y]
    contour[np.arange(n), (y + rng.integers(0, 3, n)) % 3] = 1.0
    labels = Labels.from_plausibility(contour)
    tree = DecisionTreeClassifier(random_state=0, min_samples_leaf=2)
    honest = SoftLabelClassifier(tree).fit(Z, labels).predict(Z)
    vain = SoftLabelClassifier(tree, cv="in_sample", max_iter=100).fit(Z, labels).predict(Z)
    assert (honest == y).mean() > 0.93 > 0.88 > (vain == y).mean()


@pytest.mark.long
def test_class_weights_are_those_of_the_learner():
    given = {"ant": 3.0, "bee": 0.5, "cow": 1.0}
    inside = SoftLabelClassifier(clone(LOGISTIC).set_params(class_weight=given))
    outside = SoftLabelClassifier(LOGISTIC, class_weight=given)
    np.testing.assert_allclose(
        outside.fit(X, SOFT, WEIGHT).predict_proba(X),
        inside.fit(X, SOFT, WEIGHT).predict_proba(X),
        atol=1e-6,
    )
    rows = np.r_[0:90, np.flatnonzero(CODES == 1)]  # one class twice as often
    balanced = SoftLabelClassifier(LOGISTIC, class_weight="balanced").fit(X[rows], HARD[rows])
    alone = clone(LOGISTIC).set_params(class_weight="balanced").fit(X[rows], HARD[rows])
    np.testing.assert_allclose(balanced.predict_proba(X), alone.predict_proba(X), atol=1e-6)


def test_warm_starts_save_iterations_and_change_nothing():
    model = SoftLabelClassifier(LOGISTIC, cv="in_sample", max_iter=100, tol=1e-6)
    model.fit(X, SOFT, WEIGHT)

    class Cold(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            self.warm_start = False
            return super().fit(X, y, sample_weight)

    cold = SoftLabelClassifier(
        Cold(tol=1e-9, max_iter=2000), cv="in_sample", max_iter=100, tol=1e-6
    ).fit(X, SOFT, WEIGHT)
    np.testing.assert_allclose(model.predict_proba(X), cold.predict_proba(X), atol=1e-6)
    assert model.estimator_.n_iter_.sum() < cold.estimator_.n_iter_.sum()
    assert model.estimator_.warm_start is False  # as it was given


def test_draws_follow_shares_and_weights():
    rng = np.random.RandomState(0)
    shares = np.array([[1.0, 0.0, 0.0], [0.2, 0.8, 0.0], [0.0, 0.5, 0.5]])
    weight = np.array([1.0, 2.5, 0.5])
    count = np.zeros((3, 3))
    for _ in range(3000):
        found = drawn(shares, weight, None, rng)
        np.add.at(count, (found.items, found.codes), 1)
    expected = 3 * weight[:, None] * shares / weight.sum()
    np.testing.assert_allclose(count / 3000, expected, atol=0.03)
    assert (count[shares == 0] == 0).all()
    assert counts_near(np.full(7, 0.1), rng).tolist() == [1] * 7  # each once, by no chance


def test_learners_without_weights_or_bets_learn_from_sets():
    for name in ("scores only", "kernel", "no weights", "says a class"):
        model = SoftLabelClassifier(LEARNERS[name], cv=3, random_state=0).fit(X, SOFT)
        bets = model.predict_proba(X)
        np.testing.assert_allclose(bets.sum(axis=1), 1.0)
        assert (model.predict(X) == HARD).mean() > 0.75
        assert model.predict_plausibility(X).max() <= 1.0
    ridge = SoftLabelClassifier(RidgeClassifier(), random_state=0).fit(X, SOFT)
    scores = ridge.decision_function(X)
    np.testing.assert_allclose(ridge.predict_proba(X), softmax(ridge.temperature_ * scores, axis=1))


def test_random_states_and_jobs_do_not_change_the_answer():
    forest = RandomForestClassifier(3)
    one = SoftLabelClassifier(forest, cv=2, max_iter=2, random_state=3).fit(X, SOFT)
    with parallel_config(backend="threading"):
        two = SoftLabelClassifier(forest, cv=2, max_iter=2, random_state=3, n_jobs=2).fit(X, SOFT)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert forest.random_state is None


def test_folds_that_miss_a_class_and_absent_classes():
    y = np.array(["a", "a", "b", "a", "a", "a"])
    Z = np.arange(6.0)[:, None]
    contour = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 0, 0]])
    labels = Labels.from_plausibility(contour, ["a", "b", "c"])
    with pytest.warns(EmptyClassWarning, match="'c'"):
        model = SoftLabelClassifier(LOGISTIC, cv=2).fit(Z, labels)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert (model.predict_proba(Z)[:, 2] == 0.0).all()
    assert len(y) == 6


def test_what_cannot_be_learned_is_refused():
    for wrong, words in [
        ({"estimator": 3}, "classifier"),
        ({"estimator": StandardScaler()}, "classifier"),
        ({"criterion": "em"}, "minimum_commitment"),
        ({"cv": "none"}, "in_sample"),
        ({"cv": 1}, "at least 2"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"class_weight": "even"}, "balanced"),
        ({"class_weight": {"ant": 1.0}}, "bee"),
        ({"class_weight": {"ant": 1.0, "bee": 0.0, "cow": 1.0}}, "positive"),
    ]:
        with pytest.raises(ValueError, match=words):
            SoftLabelClassifier(**({"estimator": GaussianNB()} | wrong)).fit(X, SOFT)
    with pytest.raises(ValueError, match="favor a class"):
        SoftLabelClassifier(GaussianNB()).fit(X, Labels.unknown(90, NAMES))
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        SoftLabelClassifier(GaussianNB(), cv="in_sample", max_iter=1).fit(X, SOFT)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_searches_go_outside_and_the_model_is_saved(tmp_path):
    search = GridSearchCV(
        SoftLabelClassifier(DecisionTreeClassifier(random_state=0), cv=2, max_iter=2),
        {"estimator__max_depth": [1, 3]}, cv=2,
    ).fit(X, SOFT)  # fmt: skip
    assert search.best_params_ == {"estimator__max_depth": 3}
    assert takes_labels(search.best_estimator_)
    for name in ("kernel", "logistic", "network", "pipeline"):
        model = SoftLabelClassifier(LEARNERS[name], cv=2, max_iter=2).fit(X, SOFT)
        save(model, tmp_path / "model.skops")
        again = load(tmp_path / "model.skops")
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
