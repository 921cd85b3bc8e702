"""Reliabilities learned from agreement, and the classifier that learns with them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from plausible.experts import Annotations, JointAnnotatorClassifier, fit_reliability
from plausible.experts.answer_problem import AnswerProblem
from plausible.labels import Labels
from plausible.models import DiscriminantClassifier, PartialLogisticRegression
from support import reference

RATES = np.array([0.95, 0.8, 0.7, 0.6, 0.55])


def crowd(n=600, n_classes=3, rates=RATES, seed=0, share=1.0):
    """True classes, and answers (n, R) of people who are right at these rates, -1 for none."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    wrong = (y[:, None] + rng.integers(1, n_classes, size=(n, len(rates)))) % n_classes
    said = np.where(rng.uniform(size=(n, len(rates))) < rates, y[:, None], wrong)
    said[rng.uniform(size=said.shape) >= share] = -1
    return y, said


def dawid_skene(said, n_classes, n_iter):
    """Dawid and Skene's EM, answer by answer; classes from shares of votes at the start."""
    n, n_people = said.shape
    posterior = np.array(
        [[(row == k).sum() for k in range(n_classes)] for row in said], dtype=float
    )
    posterior /= posterior.sum(axis=1, keepdims=True)
    for _ in range(n_iter):
        prior = posterior.mean(axis=0)
        table = np.full((n_people, n_classes, n_classes), 0.0)
        for i in range(n):
            for r in range(n_people):
                if said[i, r] >= 0:
                    table[r, :, said[i, r]] += posterior[i]
        table = np.maximum(table, 1e-10)
        table /= table.sum(axis=2, keepdims=True)
        logs = np.tile(np.log(prior), (n, 1))
        for i in range(n):
            for r in range(n_people):
                if said[i, r] >= 0:
                    logs[i] += np.log(table[r, :, said[i, r]])
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_iter", [2, 6])
def test_full_confusions_are_those_of_dawid_and_skene(n_iter):
    _, said = crowd(120, share=0.8)
    answers = Annotations.from_answers(said, missing=-1)
    found = fit_reliability(
        answers, "full", smoothing=0.0, tol=0.0, max_iter=n_iter - 1, accelerate=False
    )
    np.testing.assert_allclose(found.posterior, dawid_skene(said, 3, n_iter), atol=1e-8)


@pytest.mark.parametrize("model", ["one_coin", "class", "full"])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_the_criterion_never_falls_and_reliabilities_are_found(model, smoothing):
    y, said = crowd(2000)
    answers = Annotations.from_answers(said)
    for accelerate in (False, True):
        found = answers.reliability(model, smoothing=smoothing, accelerate=accelerate, tol=1e-8)
        assert np.diff(found.history).min() >= -1e-9 * abs(found.log_likelihood)
        assert found.converged
    right = (said == y[:, None]).mean(axis=0)
    np.testing.assert_allclose(found.accuracy, right, atol=0.03)
    assert ((found.low <= right) & (right <= found.high)).sum() >= 4
    votes = answers.votes().argmax(axis=1)
    assert (found.posterior.argmax(axis=1) == y).mean() > (votes == y).mean() + 0.03


@pytest.mark.parametrize("kind", ["hard", "sets", "plausibilities"])
def test_pooling_with_fitted_doubt_is_the_one_coin_posterior(kind):
    """Shafer's discount and errors that are spread evenly are one model."""
    rng = np.random.default_rng(1)
    _, said = crowd(80)
    contours = np.eye(3)[said.ravel()]
    if kind == "sets":
        contours[rng.uniform(size=contours.shape) < 0.3] = 1.0
        contours[contours.sum(axis=1) == 3, 0] = 0.0
    elif kind == "plausibilities":
        contours = np.maximum(contours, rng.uniform(size=contours.shape) * 0.6)
    items, people = np.repeat(np.arange(80), 5), np.tile(np.arange(5), 80)
    answers = Annotations.from_classes(contours, "plausibility", [0, 1, 2], items, people)
    found = answers.reliability()
    pooled = answers.pool(doubt="fit")
    expected = pooled.contour * found.prior
    np.testing.assert_allclose(
        expected / expected.sum(axis=1, keepdims=True), found.posterior, atol=2e-3
    )


def test_sets_that_hold_the_answer_say_less():
    y, said = crowd(800)
    hard = Annotations.from_answers(said)
    contours = np.eye(3)[said.ravel()]
    second = (said.ravel() + np.random.default_rng(2).integers(1, 3, size=said.size)) % 3
    contours[np.arange(len(second)), second] = 1.0
    items, people = np.repeat(np.arange(800), 5), np.tile(np.arange(5), 800)
    vague = Annotations.from_classes(contours, "plausibility", [0, 1, 2], items, people)
    sure, unsure = hard.reliability(), vague.reliability()
    assert sure.posterior.max(axis=1).mean() > unsure.posterior.max(axis=1).mean()
    assert (unsure.posterior.argmax(axis=1) == y).mean() > 0.7


def test_gold_items_tell_liars_from_honest_people():
    y, said = crowd(300, n_classes=2, rates=np.array([0.1, 0.15, 0.2, 0.8]))
    answers = Annotations.from_answers(said)
    alone = answers.reliability()
    taught = answers.reliability(gold={i: int(y[i]) for i in range(30)})
    assert alone.accuracy[0] > 0.5
    assert taught.accuracy[0] < 0.3
    assert (taught.posterior.argmax(axis=1) == y).mean() > 0.85
    labels = Labels.concatenate([Labels.from_crisp(y[:30]), Labels.unknown(270, [0, 1])])
    same = answers.reliability(gold=labels)
    np.testing.assert_allclose(same.posterior, taught.posterior, atol=1e-9)


def test_doubts_of_their_own_weaken_answers():
    _, said = crowd(200)
    doubt = np.full(said.shape, 0.0)
    doubt[:, 0] = 1.0
    answers = Annotations.from_answers(said, doubt=doubt)
    without = Annotations.from_answers(said[:, 1:])
    np.testing.assert_allclose(
        answers.reliability().posterior, without.reliability().posterior, atol=1e-9
    )


def features(y, seed=0):
    return np.random.default_rng(seed).normal(size=(len(y), 2)) + 1.5 * np.eye(3, 2)[y]


@pytest.mark.parametrize("model", ["one_coin", "full"])
@pytest.mark.parametrize(
    "inner", [PartialLogisticRegression(random_state=0), DiscriminantClassifier()]
)
def test_features_and_answers_together_beat_either(inner, model):
    y, said = crowd(500, rates=np.array([0.7, 0.6, 0.5]))
    X, answers = features(y), Annotations.from_answers(said)
    joint = JointAnnotatorClassifier(inner, model).fit(X, answers)
    assert np.diff(joint.history_).min() >= -1e-6 * abs(joint.history_[-1])
    found = joint.reliability_.posterior.argmax(axis=1)
    assert (found == y).mean() > (answers.reliability(model).posterior.argmax(axis=1) == y).mean()
    new = crowd(2000, seed=5)[0]
    majority = inner.fit(X, answers.votes().argmax(axis=1))
    assert joint.score(features(new, 6), new) >= majority.score(features(new, 6), new) - 0.005


def test_the_classifier_of_sure_people_is_that_of_the_truth():
    y, said = crowd(300, rates=np.array([1.0, 1.0, 1.0]))
    X = features(y)
    joint = JointAnnotatorClassifier(model="one_coin", smoothing=0.0).fit(
        X, Annotations.from_answers(said)
    )
    plain = LogisticRegression(C=1.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(joint.predict_proba(X), plain.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("family", [PartialLogisticRegression, DiscriminantClassifier])
def test_each_classifier_starts_where_the_one_before_ended(family):
    starts, ends = [], []

    class Watched(family):
        def fit(self, X, y):
            starts.append(self.init)
            super().fit(X, y)
            ends.append(self.intercept_ if family is PartialLogisticRegression else self.means_)
            return self

    class Forgetful(family):
        def fit(self, X, y):
            return clone(self).set_params(init=family().init).super_fit(X, y)

        def super_fit(self, X, y):
            return super().fit(X, y)

    y, said = crowd(200)
    X, answers = features(y), Annotations.from_answers(said)
    joint = JointAnnotatorClassifier(Watched(random_state=0)).fit(X, answers)
    assert joint.n_iter_ == len(starts) > 2
    assert starts[0] == family().init == joint.classifier_.init
    for start, end in zip(starts[1:], ends, strict=False):
        logistic = family is PartialLogisticRegression
        given = [start[k][1] for k in range(3)] if logistic else list(start["means"].values())
        np.testing.assert_array_equal(np.reshape(given, np.shape(end)), end)
    afresh = JointAnnotatorClassifier(Forgetful(random_state=0)).fit(X, answers)
    np.testing.assert_allclose(joint.predict_proba(X), afresh.predict_proba(X), atol=1e-3)
    np.testing.assert_allclose(joint.history_[-1], afresh.history_[-1], rtol=1e-5)


def test_joint_fits_check_their_input():
    y, said = crowd(30)
    answers = Annotations.from_answers(said)
    with pytest.raises(ValueError, match="row for each of the 30 items"):
        JointAnnotatorClassifier().fit(features(y)[:20], answers)
    with pytest.raises(ValueError, match="should be Annotations"):
        JointAnnotatorClassifier().fit(features(y), y)
    with pytest.raises(ValueError, match="'one_coin', 'class', 'full' or 'shrunk'"):
        JointAnnotatorClassifier(model="half").fit(features(y), answers)


@pytest.mark.parametrize("seed", [3, 22])
def test_extrapolation_stays_within_one_coin(seed):
    rng = np.random.default_rng(seed)
    said = rng.dirichlet(np.ones(5), 400)
    items, people = rng.integers(100, size=400), rng.integers(5, size=400)
    answers = Annotations.from_classes(said, "probability", None, items, people)
    quick, plain = answers.reliability(), answers.reliability(accelerate=False)
    rates = np.diagonal(quick.confusion, axis1=1, axis2=2)
    np.testing.assert_allclose(rates, rates[:, :1] + np.zeros((5, 5)))
    assert quick.converged
    assert quick.history[-1] >= plain.history[-1] - 1e-3


def test_pooling_with_fitted_and_own_doubts_is_the_evidence_of_the_model():
    _, said = crowd(80)
    doubt = np.random.default_rng(0).choice([0.0, 0.2, 0.5], size=said.shape)
    answers = Annotations.from_answers(said, doubt=doubt)
    found = answers.reliability()
    np.testing.assert_allclose(answers.pool(doubt="fit").scaled(), found.evidence, atol=1e-3)


@pytest.mark.parametrize("model", ["class", "full"])
def test_pooled_confusions_have_the_conflict_of_discounted_answers(model):
    _, said = crowd(60, share=0.8)
    cells = said.astype(object)
    cells[0] = [{0, 1}, 2, 1, 0, 0]
    own = np.where(np.arange(60) % 2, 0.0, 0.3)[:, None] + np.zeros(said.shape)
    answers = Annotations.from_answers(cells, doubt=own, missing=-1)
    labels = answers.pool(doubt="fit", model=model)
    found = answers.reliability(model)
    np.testing.assert_array_equal(labels.contour, found.evidence)
    each = (1 - found.accuracy) / 2  # chance of one given error out of two
    for row in range(60):
        sources = []
        for who in range(5):
            answer = cells[row, who]
            if answer == -1:
                continue
            told = frozenset(answer) if isinstance(answer, set) else frozenset([answer])
            outside = own[row, 0] + (1 - own[row, 0]) * each[who] * len(told)
            inside = outside + (1 - own[row, 0]) * (found.accuracy[who] - each[who])
            doubt = min(outside / inside, 1.0)
            sources.append({told: 1 - doubt, frozenset(range(3)): doubt})
        pooled = reference.combine(sources, lambda sets, _: {frozenset.intersection(*sets): 1.0})
        assert labels.conflict[row] == pytest.approx(pooled.get(frozenset(), 0.0), abs=2e-3)
    assert labels.conflict.max() > 0.5


@pytest.mark.parametrize("model", ["one_coin", "class", "full"])
def test_conflict_of_any_model_is_where_answers_differ(model):
    _, said = crowd(200, rates=np.array([0.9, 0.8, 0.7]))
    differ = (said != said[:, :1]).any(axis=1)
    labels = Annotations.from_answers(said).pool(doubt="fit", model=model)
    np.testing.assert_allclose(labels.conflict[~differ], 0.0, atol=1e-12)
    assert labels.conflict[differ].min() > 0.05


def test_none_of_these_is_no_surer_than_its_author():
    y, said = crowd(200, rates=np.array([0.9, 0.9, 0.9, 0.35]))
    cells = said.astype(object)
    cells[0] = [y[0], y[0], y[0], "none of these"]
    answers = Annotations.from_answers(cells)
    found = answers.reliability()
    assert answers.pool().conflict[0] == pytest.approx(1 - found.doubt[3], abs=0.1)


def test_empty_gold_is_no_gold():
    _, said = crowd(30)
    answers = Annotations.from_answers(said)
    same = answers.reliability(gold={}).posterior
    np.testing.assert_array_equal(same, answers.reliability().posterior)


@pytest.mark.parametrize("model", ["one_coin", "class", "full"])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_intervals_hold_the_estimate(model, smoothing):
    _, said = crowd(40, n_classes=6, rates=np.array([1.0, 1.0, 0.9]))
    found = Annotations.from_answers(said).reliability(model, smoothing=smoothing)
    assert (found.low <= found.accuracy).all()
    assert (found.accuracy <= found.high).all()


def test_joint_fits_with_answers_that_never_occur_are_finite():
    y, said = crowd(60, rates=np.array([0.9, 0.9]))
    said[:, 1] = np.where(said[:, 1] == 2, 0, said[:, 1])  # never says 2
    joint = JointAnnotatorClassifier(model="full", smoothing=0.0)
    joint.fit(features(y), Annotations.from_answers(said))
    assert np.isfinite(joint.history_).all()
    with pytest.raises(ValueError, match="soft labels"):
        JointAnnotatorClassifier(LogisticRegression()).fit(
            features(y), Annotations.from_answers(said)
        )


def random_answers(seed=0, n=80):
    random = np.random.default_rng(seed)
    y = random.choice(3, size=n, p=[0.6, 0.3, 0.1])
    right = random.random((n, 6)) < [0.9, 0.8, 0.7, 0.7, 0.6, 0.5]
    return Annotations.from_answers(np.where(right, y[:, None], random.integers(3, size=(n, 6))))


def test_one_coin_without_a_prior_is_what_dempsters_rule_makes_of_the_answers():
    answers = random_answers()
    found = fit_reliability(answers)
    np.testing.assert_array_equal(found.prior, np.full(3, 1 / 3))
    pooled = answers.pool(doubt="fit").contour
    np.testing.assert_allclose(
        pooled / pooled.sum(axis=1, keepdims=True), found.posterior, atol=2e-3
    )


@pytest.mark.parametrize("model", ["one_coin", "class", "full", "shrunk"])
def test_a_class_that_dies_out_has_a_logarithm(model):
    answers = Annotations.from_long(
        ["t5", "t4", "t1", "t0"], list("acbc"), [{"ash", "elm"}, "oak", {"ash", "elm"}, "ash"]
    )
    found = fit_reliability(answers, model=model)  # warnings are errors
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1.0)


@pytest.mark.parametrize("model", ["one_coin", "class", "full"])
def test_a_fitted_prior_is_the_mean_of_the_posterior_and_a_given_one_stays(model):
    answers = random_answers(1)
    fitted = fit_reliability(answers, model, prior="fit", tol=1e-12)
    np.testing.assert_allclose(fitted.prior, fitted.posterior.mean(axis=0), atol=1e-5)
    given = fit_reliability(answers, model, prior=[0.2, 0.3, 0.5])
    np.testing.assert_array_equal(given.prior, [0.2, 0.3, 0.5])
    # The maximum over the prior is above that with any other.
    assert fitted.log_likelihood > given.log_likelihood
    expected = given.evidence * given.prior
    np.testing.assert_allclose(
        given.posterior, expected / expected.sum(axis=1, keepdims=True), atol=1e-12
    )


@pytest.mark.parametrize("prior", ["flat", [0.5, 0.5], [0.5, 0.6, 0.1], [1.0, 0.0, 0.0]])
def test_a_prior_that_is_none_is_refused(prior):
    with pytest.raises(ValueError, match="prior should be"):
        fit_reliability(random_answers(), prior=prior)


@pytest.mark.parametrize(
    ("options", "problem"), [({"model": "shrunk"}, 1), ({"model": "one_coin", "n_bootstrap": 3}, 2)]
)
def test_ctrl_c_in_a_fit_that_is_a_part_of_another_ends_both(monkeypatch, options, problem):
    """Rates that are a center, or of resampled items: nobody would see that they are rough."""
    _, said = crowd(n=60)
    answers = Annotations.from_answers(said, missing=-1)
    real, calls = AnswerProblem.summarize, []

    def summarize(self, points):
        calls.append(self)
        # Not in its first pass, before which there is nothing to keep.
        if len({id(one) for one in calls}) == problem and calls.count(self) == 3:
            raise KeyboardInterrupt
        return real(self, points)

    monkeypatch.setattr(AnswerProblem, "summarize", summarize)
    with pytest.raises(KeyboardInterrupt):
        fit_reliability(answers, **options)
