"""Starts, weights and costs with an entry for each class: by name, and never in a wrong order."""

import numpy as np
import pytest
from scipy.special import softmax

from plausible.errors import InputError
from plausible.experts import Annotations, JointAnnotatorClassifier
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    EvidentialNetworkClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    StochasticSupervisionClassifier,
)

NAMES = ["small", "medium", "large"]  # which is not how they are sorted
RNG = np.random.default_rng(7)
TRUTH = RNG.integers(3, size=90)
CENTERS = {"small": [0.0, 0.0], "medium": [4.0, 1.0], "large": [1.0, 5.0]}
X = np.array([CENTERS[NAMES[k]] for k in TRUTH]) + RNG.normal(size=(90, 2))
LABELS = Labels.from_doubt(np.array(NAMES)[TRUTH], RNG.uniform(0, 0.6, 90), NAMES)
SORTED = LABELS.reorder(sorted(NAMES))
BOTH = pytest.mark.parametrize("labels", [LABELS, SORTED], ids=["unsorted", "sorted"])
ONE_STEP = {"max_iter": 1, "tol": 0.0, "accelerate": False, "unlabeled_weight": 1.0}


def spread(kind):
    scale = {"small": 0.5, "medium": 1.5, "large": 3.0}
    shape = {"full": np.eye(2), "diag": np.ones(2), "spherical": 1.0}[kind]
    return {name: scale[name] * shape for name in NAMES}


@BOTH
@pytest.mark.parametrize("kind", ["full", "diag", "spherical", "tied"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_mixture_starts_where_the_names_say(labels, kind):
    start = {"means": CENTERS, "weights": {"small": 0.5, "medium": 0.3, "large": 0.2}}
    start["covariances"] = 2 * np.eye(2) if kind == "tied" else spread(kind)
    arrays = {
        part: np.array([values[name] for name in sorted(NAMES)])
        if isinstance(values, dict)
        else values
        for part, values in start.items()
    }
    expected = GaussianMixtureClassifier(kind, init=arrays, **ONE_STEP).fit(X, SORTED)
    found = GaussianMixtureClassifier(kind, init=start, **ONE_STEP).fit(X, labels)
    np.testing.assert_allclose(found.means_, expected.means_)
    np.testing.assert_allclose(found.covariances_, expected.covariances_)
    if labels is LABELS:
        with pytest.raises(
            InputError, match=r"init\['\w+'\] should say which entry .* write a dict"
        ):
            GaussianMixtureClassifier(kind, init=arrays).fit(X, labels)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_several_components_of_a_class_and_classes_that_no_item_may_have():
    names = [*NAMES, "huge"]
    labels = Labels(np.column_stack([LABELS.contour, np.zeros(90)]), names)
    means = {"huge": [9.0, 9.0], "small": [[0.0, 0.0], [0.5, 0.0]], "medium": [[4.0, 1.0]],
             "large": [1.0, 5.0]}  # fmt: skip
    counts = {"huge": 1, "small": 2, "medium": 1, "large": 1}
    model = GaussianMixtureClassifier("diag", counts, init={"means": means}, **ONE_STEP)
    with pytest.warns(UserWarning, match="huge"):
        model.fit(X, labels)
    near = {name: model.means_[model.component_classes_ == name] for name in NAMES}
    assert near["small"].shape == (2, 2)
    assert near["small"][0, 0] < near["small"][1, 0]
    for name, center in CENTERS.items():
        assert np.abs(near[name] - center).max() < 1.5
    bad = {"means": {"small": [0, 0], "medium": [4, 1], "large": [1.0, 5.0, 2.0]}}
    with pytest.raises(InputError, match=r"entries of shape \(2,\).*'large' has shape \(3,\)"):
        GaussianMixtureClassifier("diag", init=bad).fit(X, SORTED)
    with pytest.raises(InputError, match="name all of them"):
        GaussianMixtureClassifier(init={"means": {"small": [0, 0]}}).fit(X, SORTED)


@BOTH
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_discriminants_take_names_too(labels):
    sets = Labels.from_sets([{NAMES[k], NAMES[(k + 1) % 3]} for k in TRUTH], NAMES)
    sets = sets if labels is LABELS else sets.reorder(sorted(NAMES))
    model = DiscriminantClassifier(init={"means": CENTERS}, max_iter=50).fit(X, sets)
    assert np.mean(model.predict(X) == np.array(NAMES)[TRUTH]) > 0.9


@BOTH
def test_a_logistic_regression_starts_where_the_names_say(labels):
    rows = {"small": ([0.3, -1.0], 0.1), "medium": ([2.0, 0.0], -0.5), "large": ([-1.0, 1.5], 0.4)}
    coef = np.array([rows[name][0] for name in sorted(NAMES)])
    intercept = np.array([rows[name][1] for name in sorted(NAMES)])
    P = softmax(X @ coef.T + intercept, axis=1)
    expected = np.log((P * SORTED.scaled()).sum(axis=1)).mean()
    histories = []
    PartialLogisticRegression(
        init=rows, alpha=0.0, callback=lambda step: histories.append(step.criterion) or True
    ).fit(X, labels)
    reference = []
    PartialLogisticRegression(
        init=(coef, intercept), alpha=0.0,
        callback=lambda step: reference.append(step.criterion) or True,
    ).fit(X, SORTED)  # fmt: skip
    assert histories[0] == pytest.approx(reference[0])
    assert expected < 0
    if labels is LABELS:
        with pytest.raises(InputError, match=r"init should say which entry .*init=\{class: "):
            PartialLogisticRegression(init=(coef, intercept)).fit(X, labels)
    zero = np.zeros((3, 2)), np.zeros(3)  # all classes alike: no order to mix up
    PartialLogisticRegression(init=zero).fit(X, labels)
    for bad in ({"small": rows["small"]}, dict.fromkeys(NAMES, ([1.0], 0.0)),
                dict.fromkeys(NAMES, 3), dict.fromkeys(NAMES, ([1.0, np.nan], 0.0))):  # fmt: skip
        with pytest.raises(InputError, match="init should have"):
            PartialLogisticRegression(init=bad).fit(X, labels)


def test_two_classes_start_at_the_difference_of_their_rows():
    y = np.where(TRUTH == 0, "yes", "no")
    labels = Labels.from_doubt(y, 0.2, ["yes", "no"])
    slope = PartialLogisticRegression(alpha=0.1).fit(X, labels.reorder(["no", "yes"]))
    half = slope.coef_[0] / 2, slope.intercept_[0] / 2
    init = {"yes": half, "no": (-half[0], -half[1])}
    seen = []
    PartialLogisticRegression(
        alpha=0.1, init=init, callback=lambda step: seen.append(step.criterion)
    ).fit(X, labels)
    assert max(seen) - min(seen) < 1e-6  # at the maximum from the start
    with pytest.raises(InputError, match="init should say"):
        PartialLogisticRegression(init=(slope.coef_, slope.intercept_)).fit(X, labels)


@BOTH
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_network_starts_where_the_names_say(labels):
    prototypes = np.array([CENTERS[name] for name in NAMES])
    shares = {"medium": [0, 1, 0], "large": [0, 0, 1], "small": [1, 0, 0]}
    table = np.column_stack([shares[name] for name in sorted(NAMES)])
    model = EvidentialNetworkClassifier(
        init={"prototypes": prototypes, "memberships": shares}, max_iter=1
    ).fit(X, labels)
    assert np.mean(model.predict(X) == np.array(NAMES)[TRUTH]) > 0.9
    if labels is LABELS:
        with pytest.raises(InputError, match="memberships'] should say which entry"):
            EvidentialNetworkClassifier(init={"prototypes": prototypes, "memberships": table}).fit(
                X, labels
            )


def test_stochastic_supervision_is_told_by_name():
    said = softmax(3 * np.eye(3)[TRUTH] + RNG.normal(size=(90, 3)), axis=1)
    turned = said[:, [NAMES.index(name) for name in sorted(NAMES)]]
    start = {"large": (TRUTH == 2) * 1.0, "small": (TRUTH == 0) * 1.0, "medium": (TRUTH == 1) * 1.0}
    table = np.column_stack([start[name] for name in sorted(NAMES)])
    make = StochasticSupervisionClassifier
    expected = make("g1", init=table).fit(X, turned, classes=sorted(NAMES))
    found = make("g1", init=start).fit(X, said, classes=NAMES)
    assert found.log_likelihood_ == pytest.approx(expected.log_likelihood_, rel=1e-6)
    with pytest.raises(InputError, match="init should say"):
        make("g1", init=table).fit(X, said, classes=NAMES)
    counts = {"small": 2, "medium": 1, "large": 1}
    several = make("g4", n_components=counts, n_init=1).fit(X, said, classes=NAMES)
    assert several.component_classes_.tolist() == ["large", "medium", "small", "small"]
    with pytest.raises(InputError, match="n_components should say"):
        make("g4", n_components=[2, 1, 1]).fit(X, said, classes=NAMES)

    cost = {t: {d: 0.0 if t == d else 1.0 for d in NAMES} for t in NAMES}
    cost["large"] = {"large": 0.0, "small": 50.0, "medium": 50.0}
    vague = X + RNG.normal(scale=2.0, size=X.shape)
    weights = found.learn_class_weights(vague, cost=cost)
    careful = found.predict(vague, class_weight=weights)

    def expected_cost(decided):
        P = dict(zip(found.classes_.tolist(), found.predict_proba(vague).T, strict=True))
        return sum(P[t][i] * cost[t][d] for i, d in enumerate(decided.tolist()) for t in NAMES)

    assert expected_cost(careful) < expected_cost(found.predict(vague))
    same = expected.predict(vague, class_weight=expected.learn_class_weights(vague, cost=cost))
    assert np.mean(careful == same) > 0.98
    with pytest.raises(InputError, match=r"class_weight should say .*write a dict"):
        found.predict(X, class_weight=[weights[name] for name in sorted(NAMES)])
    with pytest.raises(InputError, match=r"cost should say .*true class"):
        found.learn_class_weights(X, cost=np.ones((3, 3)) - np.eye(3))
    with pytest.raises(InputError, match="one for each class"):
        expected.predict(X, class_weight=[1.0, 2.0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "classifier",
    [GaussianMixtureClassifier("tied"), GaussianMixtureClassifier("diag"),
     PartialLogisticRegression()],
    ids=["tied", "diag", "logistic"],
)  # fmt: skip
def test_joint_learning_goes_on_from_the_right_class(classifier):
    rows, people = np.tile(np.arange(90), 3), np.repeat(["ann", "bob", "cy"], 90)
    slips = RNG.random(270) < 0.25
    said = np.where(slips, RNG.integers(3, size=270), TRUTH[rows])
    fits = {}
    for name, order in {"unsorted": NAMES, "sorted": sorted(NAMES)}.items():
        answers = Annotations.from_long(rows, people, np.array(NAMES)[said], classes=order)
        model = JointAnnotatorClassifier(classifier, max_iter=4).fit(X, answers)
        fits[name] = model.predict_proba(X)
    np.testing.assert_allclose(fits["unsorted"], fits["sorted"], atol=1e-5)
