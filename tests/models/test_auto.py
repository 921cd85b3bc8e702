import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models import (
    AutoClassifier,
    DiscriminantClassifier,
    EmptyClassWarning,
    PartialLogisticRegression,
    SoftNearestCentroid,
)
from plausible.models.auto import choice, trials
from plausible.models.auto.ladder import Rung, default_ladder, fit_rung, read_as
from plausible.models.auto.steps import QuantileSteps

CLASSES = ["c", "a", "b"]
LADDER = [
    ("near", SoftNearestCentroid()),
    ("discriminant", DiscriminantClassifier(shrinkage=0.1)),
    ("logistic", PartialLogisticRegression(alpha=3.0, random_state=0)),
]


@pytest.fixture(scope="module")
def data():
    """Items of three unsorted classes: sets, degrees, unknown ones, unequal weights."""
    random = np.random.default_rng(1)
    truth = random.integers(3, size=90)
    X = random.normal(size=(90, 4)) * [1.0, 10.0, 0.1, 1.0] + [5.0, 0.0, 0.0, 0.0]
    X[:, :3] += np.eye(3)[truth] * [2.0, 20.0, 0.2]
    contour = random.uniform(0.0, 0.6, size=(90, 3))
    contour[np.arange(90), truth] = 1.0
    contour[random.random(90) < 0.15] = 1.0
    wrong = random.random(90) < 0.1
    contour[wrong] = contour[wrong][:, [1, 2, 0]]
    labels = Labels.from_plausibility(contour, CLASSES)
    return X, labels, np.array(CLASSES)[truth], random.uniform(0.5, 2.0, size=90)


def loss_of(p, labels, weight):
    """The loss of the guide, term by term, per unit of weight."""
    s = labels.scaled()
    p = np.clip(p, 1e-9, None)
    p = p / p.sum(axis=1, keepdims=True)
    evidence = -np.log((s * p).sum(axis=1))
    sharp = s**4
    entropy = -(sharp / sharp.sum(axis=1, keepdims=True) * np.log(p)).sum(axis=1)
    return weight @ (evidence + 0.5 * (1.0 - s.min(axis=1)) * entropy) / weight.sum()


def test_the_choice_is_that_of_a_loop_over_folds(data):
    X, labels, _, weight = data
    cv = KFold(4, shuffle=True, random_state=3)
    model = AutoClassifier(LADDER, "best", calibrate=False, cv=cv).fit(X, labels, weight)
    ordered = labels.reorder(sorted(CLASSES))
    Z = StandardScaler().fit(X, sample_weight=weight).transform(X)
    losses = {}
    for name, one in LADDER:
        p = np.empty((len(X), 3))
        for train, test in cv.split(Z):
            fitted = clone(one).fit(Z[train], ordered[train], sample_weight=weight[train])
            p[test] = fitted.predict_proba(Z[test])
        losses[name] = loss_of(p, ordered, weight)
    assert {one["name"]: one["loss"] for one in model.results_} == pytest.approx(losses, rel=1e-8)
    assert model.best_name_ == min(losses, key=losses.get)
    alone = clone(dict(LADDER)[model.best_name_]).fit(Z, ordered, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(Z), atol=1e-7)
    assert model.best_estimator_.get_params() == alone.get_params()


def test_the_answer_is_the_tempered_average_by_votes(data):
    X, labels, _, weight = data
    model = AutoClassifier(LADDER, random_state=0).fit(X, labels, weight)
    assert len(model.votes_) > 1
    assert np.ptp(model.votes_) > 0.01
    Z = (X - model.mean_) / model.scale_
    pooled = np.zeros((len(X), 3))
    parts = zip(model.named_estimators_.values(), model.votes_, model.exponents_, strict=True)
    for one, vote, exponent in parts:
        bets = np.clip(one.predict_proba(Z), 1e-9, None) ** exponent
        pooled += vote * bets / bets.sum(axis=1, keepdims=True)
    expected = pooled**model.exponent_
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)


def test_the_same_seed_gives_the_same_model(data):
    X, labels, _, _ = data
    first, second = (AutoClassifier(LADDER, random_state=4).fit(X, labels) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    for one, other in zip(first.results_, second.results_, strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_names_and_order_of_classes_do_not_matter(data):
    X, labels, _, weight = data
    model = AutoClassifier(LADDER, random_state=0).fit(X, labels, weight)
    turned = Labels.from_plausibility(labels.contour[:, [2, 0, 1]], ["x", "y", "z"])  # b, c, a
    other = AutoClassifier(LADDER, random_state=0).fit(X, turned, weight)
    np.testing.assert_allclose(
        other.predict_proba(X), model.predict_proba(X)[:, [1, 2, 0]], atol=1e-6
    )
    np.testing.assert_allclose(other.votes_, model.votes_, atol=1e-3)


def test_weights_count_rows(data):
    X, labels, _, _ = data
    times = np.arange(len(X)) % 3
    rows = np.repeat(np.arange(len(X)), times)
    counted = AutoClassifier(LADDER[:2], random_state=0).fit(X, labels, times)
    repeated = AutoClassifier(LADDER[:2], random_state=0).fit(X[rows], labels[rows])
    np.testing.assert_allclose(counted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_votes_have_the_lowest_loss_with_half_a_row_for_each_candidate(seed):
    random = np.random.default_rng(seed)
    labels = Labels.from_plausibility(random.uniform(0.01, 1.0, size=(40, 3)), CLASSES)
    bets = random.dirichlet(np.ones(3), size=(4, 40))
    weight = random.uniform(0.2, 1.0, size=40)
    known = choice.what_is_known(labels.scaled(), weight)
    votes = choice.fit_votes(np.log(bets), known, weight, 40)
    assert votes.sum() == pytest.approx(1.0)
    entropy = 0.5 * (weight @ (1.0 - labels.scaled().min(axis=1)))
    half_a_row = 0.5 * (weight.sum() + entropy) / 40

    def loss(v):
        with np.errstate(divide="ignore"):
            own = -half_a_row * np.log(v).sum() / weight.sum()
        return loss_of(np.tensordot(v, bets, 1), labels, weight) + own

    found = minimize(
        lambda v: loss(np.abs(v) / np.abs(v).sum()), np.full(4, 0.25), method="Nelder-Mead",
        options={"maxiter": 500, "xatol": 1e-6, "fatol": 1e-8},
    )  # fmt: skip
    assert loss(votes) <= found.fun + 2e-4
    assert np.ptp(votes) > 0.05


def test_votes_are_near_even_for_few_rows_and_go_to_the_best_for_many():
    """The more rows say the same, the less those of the candidates count."""
    bets = np.array([[[0.8, 0.1, 0.1]], [[0.4, 0.3, 0.3]], [[0.1, 0.8, 0.1]]])
    shares = []
    for n in (2, 20, 200, 2000):
        known = choice.what_is_known(np.tile([1.0, 0.2, 0.2], (n, 1)), np.ones(n))
        votes = choice.fit_votes(np.log(np.tile(bets, (1, n, 1))), known, np.ones(n), n)
        assert votes[0] > votes[1] > votes[2] > 0.0
        shares.append(votes[0])
        again = choice.fit_votes(np.log(np.tile(bets, (1, n, 1))), known, np.full(n, 0.3), n)
        np.testing.assert_allclose(again, votes, atol=1e-9)  # weights have no unit
    assert shares == sorted(shares)
    assert shares[0] < 0.65
    assert shares[-1] > 0.99


def test_bets_that_are_too_sure_are_tempered_to_what_labels_bear():
    random = np.random.default_rng(0)
    p = random.dirichlet([1.0, 2.0, 3.0], size=4000)
    y = (random.random((4000, 1)) > np.cumsum(p, axis=1)).sum(axis=1)
    known = choice.what_is_known(np.eye(3)[y], np.ones(4000))
    for sharpness in (0.5, 3.0):
        logs = choice.tempered(np.log(p), sharpness)
        found = choice.fit_exponent(logs, known, np.ones(4000))
        assert found * sharpness == pytest.approx(1.0, abs=0.08)


def test_labels_that_leave_much_open_do_not_make_bets_sure():
    """Any bet inside a flat label has the same evidence; what is open must not be closed."""
    random = np.random.default_rng(0)
    p = random.dirichlet([2.0, 2.0, 2.0], size=500)
    flat = 0.8 + 0.2 * p / p.max(axis=1, keepdims=True)
    known = choice.what_is_known(flat, np.ones(500))
    assert choice.fit_exponent(np.log(p), known, np.ones(500)) < 2.0


def test_hard_labels_read_alike_in_all_ways(data):
    X, _, truth, weight = data
    labels = Labels.from_crisp(truth, sorted(CLASSES))
    answers = []
    for reading in ("candidates", "shares", "sharpened", "hard"):
        rung = Rung("one", DiscriminantClassifier(), reading)
        answers.append(fit_rung(rung, X, labels, weight).predict_proba(X))
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], atol=1e-8)


def test_sharpened_labels_are_those_of_four_who_say_the_same():
    labels = Labels.from_plausibility([[1, 1, 1], [0.3, 0.6, 0.15], [0.2, 1, 0.5]], CLASSES)
    sharp, weight = read_as(labels, np.ones(3), "sharpened")
    assert weight.tolist() == [0.0, 1.0, 1.0]
    four = labels.contour**4  # the product of four contours, by Dempster's rule
    np.testing.assert_allclose(sharp.contour, four / four.sum(axis=1, keepdims=True))
    assert sharp.is_probability.all()


def test_readings_leave_out_rows_that_say_nothing_to_them():
    labels = Labels.from_plausibility([[1, 1, 1], [1, 1, 0.2], [0.2, 1, 0.5]], CLASSES)
    shares, weight = read_as(labels, np.ones(3), "shares")
    assert weight.tolist() == [0.0, 1.0, 1.0]
    assert shares.is_probability.all()
    np.testing.assert_allclose(shares.contour[1], [1 / 2.2, 1 / 2.2, 0.2 / 2.2])
    hard, weight = read_as(labels, np.ones(3), "hard")
    assert weight.tolist() == [0.0, 0.0, 1.0]
    assert hard.scaled()[2].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.long
def test_the_default_ladder_learns_from_hard_and_missing_labels():
    X, y = load_iris(return_X_y=True)
    model = AutoClassifier(random_state=0).fit(X, y)
    assert [one["name"] for one in model.results_] == [rung.name for rung in default_ladder()]
    assert not any(one["note"] for one in model.results_)
    assert model.score(X, y) > 0.95
    assert model.soft_accuracy_ > 0.95
    missing = np.where(np.arange(150) % 2, y, -1)
    half = AutoClassifier(random_state=0).fit(X, missing)
    assert half.score(X, y) > 0.93
    assert half.votes_.sum() == pytest.approx(1.0)


class Fails(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise ValueError("These rows are too many, but many came; give fewer.")

    def predict_proba(self, X):
        raise NotImplementedError


def test_a_candidate_that_fails_is_told_and_not_taken(data):
    X, labels, _, _ = data
    ladder = [("fails", Fails()), ("bayes", GaussianNB())]
    model = AutoClassifier(ladder, cv=2).fit(X, labels)
    first, second = model.results_
    assert first["note"].startswith("failed: These rows are too many")
    assert (first["vote"], second["vote"]) == (0.0, 1.0)
    assert "failed: These rows" in model.summary()
    assert "it alone answers" in model.summary()
    with pytest.raises(InputError, match="none is, the first of which failed: These rows"):
        AutoClassifier(ladder[:1], cv=2).fit(X, labels)


def test_a_class_that_nobody_named_is_told_once(data):
    X, labels, _, _ = data
    contour = np.c_[
        np.where(labels.is_unknown[:, None], [0.0, 1.0, 1.0], labels.contour), np.zeros(90)
    ]
    with pytest.warns(EmptyClassWarning, match=r"\['z'\] never are") as told:
        model = AutoClassifier(LADDER, cv=2).fit(
            X, Labels.from_plausibility(contour, [*CLASSES, "z"])
        )
    assert len(told) == 1
    assert model.predict_proba(X)[:, 3].max() < 1e-3


def test_time_and_callbacks_end_the_trials(data):
    X, labels, _, _ = data
    short = AutoClassifier(LADDER, cv=2, max_seconds=0.0).fit(X, labels)
    assert [bool(one["note"]) for one in short.results_] == [False, True, True]
    assert short.results_[1]["note"] == "not tried: no time was left"
    seen = []

    def stop(progress):
        seen.append((progress.iteration, progress.n_starts))
        return progress.iteration == 2

    stopped = AutoClassifier(LADDER, cv=2, callback=stop).fit(X, labels)
    assert seen == [(1, 2), (2, 1)]
    assert [bool(one["note"]) for one in stopped.results_] == [False, False, True]
    assert set(stopped.named_estimators_) <= {"near", "discriminant"}


def test_the_table_says_what_was_tried_and_how_sure_the_choice_is(data):
    X, labels, _, _ = data
    model = AutoClassifier(LADDER, cv=2, random_state=0).fit(X, labels)
    told = model.summary().splitlines()
    assert told[0] == "3 candidates bet on 90 rows that they had not seen (2 folds):"
    order = sorted(model.results_, key=lambda one: one["loss"])
    assert [line.split("  ")[0] for line in told[2:5]] == [one["name"] for one in order]
    assert sum(one["chance"] for one in model.results_) == pytest.approx(1.0)
    assert f"also in {100 * order[0]['chance']:.0f} % of resamples" in told[-1]
    assert order[0]["behind"] == 0.0
    assert all(one["behind"] > 0.0 for one in order[1:])


def test_rows_are_compared_on_a_part_and_learned_from_all(data):
    X, labels, _, _ = data
    model = AutoClassifier(LADDER[:1], cv=2, max_rows=30).fit(X, labels)
    assert model.n_compared_ == 30
    whole = SoftNearestCentroid().fit((X - model.mean_) / model.scale_, labels)
    np.testing.assert_array_equal(model.predict(X), whole.predict((X - X.mean(0)) / X.std(0)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"combination": "all"}, "combination"),
        ({"max_seconds": -1.0}, "max_seconds"),
        ({"max_rows": 3}, "max_rows"),
        ({"calibrate": "yes"}, "calibrate"),
        ({"estimators": [("a", StandardScaler())]}, "classifiers"),
        ({"cv": 1}, "cv"),
    ],
)
def test_odd_options_are_refused(data, options, said):
    X, labels, _, _ = data
    with pytest.raises(InputError, match=said):
        AutoClassifier(**{"estimators": LADDER[:1], **options}).fit(X, labels)


def test_probabilities_are_judged_by_cross_entropy():
    rng = np.random.default_rng(4)
    p = rng.dirichlet([1.0, 2.0, 3.0], size=60)
    logs = np.log(rng.dirichlet([2.0, 1.0, 1.0], size=60))
    is_share = np.arange(60) % 3 > 0
    scaled = p / p.max(axis=1, keepdims=True)
    known = choice.what_is_known(scaled, np.ones(60), is_share)
    losses, evidence = (choice.held_out_losses(logs, one) for one in (
        known, choice.what_is_known(scaled, np.ones(60))
    ))  # fmt: skip
    np.testing.assert_allclose(losses[is_share], -1.5 * (p * logs).sum(axis=1)[is_share])
    np.testing.assert_allclose(losses[~is_share], evidence[~is_share])
    nearly = np.array([[1.0, 1e-9, 1e-9]])  # in the limit, both are of one hard class
    sure = [choice.what_is_known(nearly, np.ones(1), given) for given in (None, np.array([True]))]
    found = [choice.held_out_losses(logs[:1], one)[0] for one in sure]
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_bets_are_as_sure_as_probabilities_and_no_surer(data):
    X, _, _, weight = data
    p = np.random.default_rng(5).dirichlet([3.0, 6.0, 1.0], size=90)
    model = AutoClassifier(LADDER, cv=3).fit(X, Labels.from_probability(p, CLASSES), weight)
    order = [CLASSES.index(name) for name in model.classes_]
    expected = (weight @ p / weight.sum())[order]
    np.testing.assert_allclose(model.predict_proba(X).mean(axis=0), expected, atol=0.05)


def test_features_as_numbers_of_quantiles_leave_trees_the_same_cuts():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=900), rng.integers(4, size=900), rng.exponential(size=900)]
    )
    X[::50, 2] = np.nan
    codes = QuantileSteps().fit(X).transform(X)
    for column, code in zip(X.T, codes.T, strict=True):
        there = ~np.isnan(column)
        assert (np.isnan(code) == ~there).all()
        order = np.argsort(column[there], kind="stable")
        assert (np.diff(code[there][order]) >= 0).all()
        assert len(np.unique(code[there])) == min(255, len(np.unique(column[there])))
        assert np.unique(code[there], return_counts=True)[1].max() <= max(
            4, np.unique(column[there], return_counts=True)[1].max()
        )
    y = rng.integers(3, size=900)
    y[X[:, 0] > 0] = 2
    trees = HistGradientBoostingClassifier(max_iter=5, early_stopping=False)
    plain, coded = (clone(trees).fit(part, y).predict_proba(part) for part in (X, codes))
    np.testing.assert_allclose(plain, coded, atol=1e-12)


@pytest.mark.parametrize(("n", "n_threads"), [(40, 1), (80, 2)])
def test_candidates_share_few_rows_among_no_threads(n, n_threads, monkeypatch):
    monkeypatch.setattr(trials, "FEW_BYTES", 40 * 3 * 8)
    with threadpool_limits(2), trials.threads_for(np.zeros((n, 3))):
        assert {pool["num_threads"] for pool in threadpool_info()} == {n_threads}
