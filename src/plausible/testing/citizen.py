"""Promises of a good citizen of scikit-learn: copies, pipelines, cross-validation, scores."""

import pickle
import re
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

from plausible.base import EmptyClassWarning, takes_labels
from plausible.labels import Labels
from plausible.testing.promises import OWN_Y, assert_refused, promised, promised_by_clusterings
from plausible.testing.samples import NAMES, answers, assert_close, assert_same, draw, soft_score
from plausible.testing.subject import Subject, takes_argument
from plausible.testing.watching import assert_learned_degrees, assert_rows_of, watched

# Reasons that scikit-learn gives when an optional package is missing or not switched on.
OPTIONAL = r"not installed|not importable|SCIPY_ARRAY_API is not set"


def failures_in_scikit_learn(estimator: Any) -> dict[str, str]:
    """Checks of scikit-learn that an estimator does not pass, and why."""
    with warnings.catch_warnings():
        # These checks leave classes without items, and so rightly cause warnings.
        warnings.simplefilter("ignore", EmptyClassWarning)
        # Results are collected: a check that is skipped would be a warning otherwise.
        results = estimator_checks.check_estimator(estimator, on_skip=None, on_fail=None)
    return {
        result["check_name"]: f"{type(result['exception']).__name__}: {result['exception']}"
        for result in results
        if result["status"] != "passed"
        and not (result["status"] == "skipped" and re.search(OPTIONAL, str(result["exception"])))
    }


@promised_by_clusterings
@promised
def check_scikit_learn(subject: Subject) -> str | None:
    """scikit-learn's own `check_estimator` finds nothing."""
    if subject.own_fit is not None:
        return OWN_Y
    failed = failures_in_scikit_learn(subject.make())
    found = "; ".join(f"{name}: {why}" for name, why in failed.items())
    assert not failed, f"{len(failed)} checks of scikit-learn fail: {found}"
    return None


@promised
def check_tag(subject: Subject) -> str | None:
    """The tags say that fit takes Labels, so that others hand on degrees."""
    if subject.own_fit is not None:
        return OWN_Y
    name = type(subject.estimator).__name__
    assert takes_labels(subject.make()), (
        f"the tags of {name} do not say that it takes Labels; see plausible.base.with_labels"
    )
    return None


@promised
def check_pickle(subject: Subject) -> None:
    """A fitted model answers the same after a way through pickle."""
    sample = draw()
    model = subject.fit(sample.X, sample.plausible)
    again = pickle.loads(pickle.dumps(model))
    for one, other in zip(answers(again, sample.fresh), answers(model, sample.fresh), strict=True):
        assert np.array_equal(one, other), "answers change on the way through pickle"


@promised
def check_clone(subject: Subject) -> None:
    """A clone has the parameters, nothing that was learned, and learns the same."""
    sample = draw()
    model = subject.make()
    before = repr(sorted(model.get_params().items()))
    copy = clone(subject.train(model, sample.X, sample.plausible))
    after = [repr(sorted(one.get_params().items())) for one in (model, copy)]
    assert after == [before, before], f"parameters were {before} and became {after}"
    assert_refused(lambda: check_is_fitted(copy), "not fitted", error=NotFittedError)
    subject.train(copy, sample.X, sample.plausible)
    assert_same(copy, model, sample.fresh, "a clone fitted on the same data")


@promised
def check_fit_returns_self_and_leaves_its_input(subject: Subject) -> None:
    """Fit returns the estimator; features, labels and weights stay as they were."""
    sample = draw()
    X, labels, weights = sample.X.copy(), sample.plausible, np.linspace(0.5, 1.0, len(sample.X))
    model = subject.make()
    fitted = subject.train(model, X, labels, weights if subject.weights else None)
    assert fitted is model, "fit should return self"
    model.predict(X)
    model.score(X, labels)
    assert np.array_equal(X, sample.X), "X was modified"
    assert np.array_equal(labels.contour, sample.contour), "the labels were modified"
    assert np.array_equal(weights, np.linspace(0.5, 1.0, len(X))), "the weights were modified"


@promised
def check_second_fit_forgets_the_first(subject: Subject) -> None:
    """A model that was fitted before on other data is as a new one."""
    sample, former = draw(), draw(n=40, seed=5)
    model = subject.fit(np.hstack([former.X, former.X[::-1]]) + 2.0, former.plausible)
    subject.train(model, sample.X, sample.plausible)
    fresh = subject.fit(sample.X, sample.plausible)
    assert_same(model, fresh, sample.fresh, "fitted once before on other data")


# -- Degrees of labels on their way to fit ---------------------------------------------------------


@promised
def check_cross_validation_keeps_degrees(subject: Subject) -> None:
    """In cross-validation every fold learns from degrees, and is scored by them."""
    sample = draw()
    watch = watched(subject, sample.X, sample.doubted)
    folds = list(StratifiedKFold(3).split(sample.X, sample.hard))
    done = cross_validate(
        watch, sample.X, sample.doubted, cv=folds, return_estimator=True, error_score="raise"
    )
    expected = []
    for model, (train, test) in zip(done["estimator"], folds, strict=True):
        known = sample.doubted[train]
        assert_learned_degrees(subject, model.estimator_, sample.X[train], known, sample.fresh)
        expected.append(soft_score(sample.doubted[test], model.predict(sample.X[test])))
    scores = cross_val_score(watch, sample.X, sample.doubted, cv=3, error_score="raise")
    assert_close(scores, expected, "scores of the folds are not soft")


@promised
def check_grid_search_keeps_degrees(subject: Subject) -> None:
    """In a grid search over a pipeline, in several processes, degrees reach fit."""
    sample = draw()
    steps = [("scaler", StandardScaler()), ("model", watched(subject, sample.X, sample.doubted))]
    search = GridSearchCV(
        Pipeline(steps), {"scaler__with_mean": [True, False]}, cv=3, n_jobs=2, error_score="raise"
    )
    search.fit(sample.X, sample.doubted)
    best = search.best_estimator_
    X, fresh = best[:-1].transform(sample.X), best[:-1].transform(sample.fresh)
    assert_learned_degrees(subject, best[-1].estimator_, X, sample.doubted, fresh)
    expected = soft_score(sample.doubted, search.predict(sample.X))
    assert np.isclose(search.score(sample.X, sample.doubted), expected), "the score is not soft"


@promised
def check_pipeline_keeps_degrees(subject: Subject) -> None:
    """In a pipeline with scaling and selection of features, degrees reach fit."""
    sample = draw()
    noise = np.random.default_rng(4).normal(size=(len(sample.X), 1))
    X = np.hstack([sample.X, noise])
    last = watched(subject, X, sample.doubted)
    pipeline = Pipeline([("scale", StandardScaler()), ("best", SelectKBest(k=2)), ("m", last)])
    pipeline.fit(X, sample.doubted)
    chosen = pipeline[:-1].transform(X)
    assert_learned_degrees(subject, pipeline[-1].estimator_, chosen, sample.doubted, chosen)
    expected = soft_score(sample.doubted, pipeline.predict(X))
    assert np.isclose(pipeline.score(X, sample.doubted), expected), "the score is not soft"


@promised
def check_train_test_split_keeps_degrees(subject: Subject) -> None:
    """Rows that scikit-learn splits keep their degrees, for fit and for score."""
    sample = draw()
    train, test, known, held_out = train_test_split(
        sample.X, sample.doubted, stratify=sample.doubted, test_size=0.4, random_state=0
    )
    assert_rows_of(test, held_out, sample.X, sample.doubted)
    model = watched(subject, sample.X, sample.doubted).fit(train, known)
    assert_learned_degrees(subject, model.estimator_, train, known, sample.fresh)
    expected = soft_score(held_out, model.predict(test))
    assert np.isclose(model.score(test, held_out), expected), "the score is not soft"


# -- Scores ----------------------------------------------------------------------------------------


@promised
def check_score_on_hard_labels(subject: Subject) -> None:
    """Against hard labels score is accuracy, weighted where it takes weights."""
    sample = draw()
    model = subject.fit(sample.X, sample.doubted)
    right = model.predict(sample.X) == sample.hard
    truth = Labels.from_crisp(sample.hard)
    assert np.isclose(model.score(sample.X, sample.hard), right.mean()), "score is not accuracy"
    assert np.isclose(model.score(sample.X, truth), right.mean()), "score is not accuracy"
    if takes_argument(model.score, "sample_weight"):
        weight = np.linspace(0.0, 2.0, len(right))
        given = model.score(sample.X, truth, sample_weight=weight)
        assert np.isclose(given, np.average(right, weights=weight)), "score ignores weights"


@promised
def check_score_on_doubtful_labels(subject: Subject) -> None:
    """Against doubted labels score is the soft accuracy; rows that say nothing do not count."""
    sample = draw()
    model = subject.fit(sample.X, sample.doubted)
    predicted = model.predict(sample.X)
    trust = 1.0 - sample.doubt
    expected = float(np.average(predicted == sample.hard, weights=trust))
    assert np.isclose(model.score(sample.X, sample.doubted), expected), "score is not soft"
    more = np.vstack([sample.X, sample.fresh[:50]])
    unknown = Labels.unknown(50, NAMES)
    with_unknown = model.score(more, Labels.concatenate([sample.doubted, unknown]))
    assert np.isclose(with_unknown, expected), "rows that say nothing move the score"
