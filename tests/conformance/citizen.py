"""Promises of a good citizen of scikit-learn: copies, pipelines, cross-validation, answers."""

import pickle

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from conformance.promises import assert_refused, promised
from conformance.samples import NAMES, answers, assert_same, draw, soft_score
from conformance.watching import Watched, assert_learnt_degrees, assert_rows_of
from plausible.labels import Labels


@promised
def check_pickle(entry):
    sample = draw()
    model = entry.make().fit(sample.X, sample.plausible)
    again = pickle.loads(pickle.dumps(model))
    for one, other in zip(answers(again, sample.fresh), answers(model, sample.fresh), strict=True):
        assert np.array_equal(one, other), "answers change on the way through pickle"


@promised
def check_clone(entry):
    sample = draw()
    model = entry.make()
    before = repr(sorted(model.get_params().items()))
    copy = clone(model.fit(sample.X, sample.plausible))
    after = [repr(sorted(one.get_params().items())) for one in (model, copy)]
    assert after == [before, before], f"parameters were {before} and became {after}"
    assert_refused(lambda: check_is_fitted(copy), "not fitted", error=NotFittedError)
    copy.fit(sample.X, sample.plausible)
    assert_same(copy, model, sample.fresh, "a clone fitted on the same data")


@promised
def check_fit_returns_self_and_leaves_its_input(entry):
    sample = draw()
    X, labels, weights = sample.X.copy(), sample.plausible, np.linspace(0.5, 1.0, len(sample.X))
    given = {"sample_weight": weights} if entry.weighted else {}
    model = entry.make()
    assert model.fit(X, labels, **given) is model, "fit should return self"
    model.predict(X)
    model.score(X, labels)
    assert np.array_equal(X, sample.X), "X was modified"
    assert np.array_equal(labels.contour, sample.contour), "the labels were modified"
    assert np.array_equal(weights, np.linspace(0.5, 1.0, len(X))), "the weights were modified"


@promised
def check_second_fit_forgets_the_first(entry):
    sample, former = draw(), draw(n=40, seed=5)
    model = entry.make().fit(np.hstack([former.X, former.X[::-1]]) + 2.0, former.plausible)
    model.fit(sample.X, sample.plausible)
    fresh = entry.make().fit(sample.X, sample.plausible)
    assert_same(model, fresh, sample.fresh, "fitted once before on other data")


@promised
def check_cross_validation_keeps_degrees(entry):
    sample = draw()
    watched = Watched(entry.make(), sample.X, sample.doubted)
    folds = list(StratifiedKFold(3).split(sample.X, sample.hard))
    done = cross_validate(
        watched, sample.X, sample.doubted, cv=folds, return_estimator=True, error_score="raise"
    )
    expected = []
    for model, (train, test) in zip(done["estimator"], folds, strict=True):
        known = sample.doubted[train]
        assert_learnt_degrees(entry, model.estimator_, sample.X[train], known, sample.fresh)
        expected.append(soft_score(sample.doubted[test], model.predict(sample.X[test])))
    scores = cross_val_score(watched, sample.X, sample.doubted, cv=3, error_score="raise")
    np.testing.assert_allclose(scores, expected, err_msg="scores of the folds are not soft")


@promised
def check_grid_search_keeps_degrees(entry):
    sample = draw()
    steps = [
        ("scaler", StandardScaler()),
        ("model", Watched(entry.make(), sample.X, sample.doubted)),
    ]
    search = GridSearchCV(
        Pipeline(steps), {"scaler__with_mean": [True, False]}, cv=3, n_jobs=2, error_score="raise"
    )
    search.fit(sample.X, sample.doubted)
    best = search.best_estimator_
    X, fresh = best[:-1].transform(sample.X), best[:-1].transform(sample.fresh)
    assert_learnt_degrees(entry, best[-1].estimator_, X, sample.doubted, fresh)
    expected = soft_score(sample.doubted, search.predict(sample.X))
    assert np.isclose(search.score(sample.X, sample.doubted), expected), "the score is not soft"


@promised
def check_pipeline_keeps_degrees(entry):
    sample = draw()
    noise = np.random.default_rng(4).normal(size=(len(sample.X), 1))
    X = np.hstack([sample.X, noise])
    watched = Watched(entry.make(), X, sample.doubted)
    pipeline = Pipeline([("scale", StandardScaler()), ("best", SelectKBest(k=2)), ("m", watched)])
    pipeline.fit(X, sample.doubted)
    chosen = pipeline[:-1].transform(X)
    assert_learnt_degrees(entry, pipeline[-1].estimator_, chosen, sample.doubted, chosen)
    expected = soft_score(sample.doubted, pipeline.predict(X))
    assert np.isclose(pipeline.score(X, sample.doubted), expected), "the score is not soft"


@promised
def check_train_test_split_keeps_degrees(entry):
    sample = draw()
    train, test, known, held_out = train_test_split(
        sample.X, sample.doubted, stratify=sample.doubted, test_size=0.4, random_state=0
    )
    assert_rows_of(test, held_out, sample.X, sample.doubted)
    model = Watched(entry.make(), sample.X, sample.doubted).fit(train, known)
    assert_learnt_degrees(entry, model.estimator_, train, known, sample.fresh)
    expected = soft_score(held_out, model.predict(test))
    assert np.isclose(model.score(test, held_out), expected), "the score is not soft"


# -- Answers ---------------------------------------------------------------------------------------


@promised
def check_probabilities(entry):
    if not hasattr(entry.make(), "predict_proba"):
        return "has no predict_proba"
    sample = draw()
    shuffled = sample.doubted.reorder(NAMES[[1, 2, 0]])
    model = entry.make().fit(sample.X, shuffled)
    probability = model.predict_proba(sample.fresh)
    assert probability.shape == (len(sample.fresh), len(NAMES)), "one column for each class"
    assert (probability >= 0.0).all(), "probabilities are negative"
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, err_msg="rows do not sum to one")
    named = model.classes_[probability.argmax(axis=1)]
    right = accuracy_score(sample.fresh_names, named)
    assert right > 0.7, f"columns do not follow classes_: only {right:.0%} are right"
    return None


@promised
def check_predict_is_the_most_probable(entry):
    if not hasattr(entry.make(), "predict_proba"):
        return "has no predict_proba"
    sample = draw()
    model = entry.make().fit(sample.X, sample.doubted)
    most_probable = model.classes_[model.predict_proba(sample.fresh).argmax(axis=1)]
    assert np.array_equal(model.predict(sample.fresh), most_probable), "predict goes its own way"
    return None


@promised
def check_score_on_hard_labels(entry):
    sample = draw()
    model = entry.make().fit(sample.X, sample.doubted)
    right = model.predict(sample.X) == sample.hard
    truth = Labels.from_crisp(sample.hard)
    assert np.isclose(model.score(sample.X, sample.hard), right.mean()), "score is not accuracy"
    assert np.isclose(model.score(sample.X, truth), right.mean()), "score is not accuracy"
    if entry.weighted:
        weight = np.linspace(0.0, 2.0, len(right))
        given = model.score(sample.X, truth, sample_weight=weight)
        assert np.isclose(given, np.average(right, weights=weight)), "score ignores weights"


@promised
def check_score_on_doubtful_labels(entry):
    sample = draw()
    model = entry.make().fit(sample.X, sample.doubted)
    predicted = model.predict(sample.X)
    trust = 1.0 - sample.doubt
    expected = float(np.average(predicted == sample.hard, weights=trust))
    assert np.isclose(model.score(sample.X, sample.doubted), expected), "score is not soft"
    more = np.vstack([sample.X, sample.fresh[:50]])
    unknown = Labels.unknown(50, NAMES)
    with_unknown = model.score(more, Labels.concatenate([sample.doubted, unknown]))
    assert np.isclose(with_unknown, expected), "rows that say nothing move the score"
