"""Every family learns the same from rows in memory, in chunks of any size, and on Dask.

Labels are sets, doubts and missing ones at once, of classes that are not sorted.
"""

from itertools import pairwise

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier

from plausible.cluster import ECM
from plausible.engine import ArrayRows, StreamRows
from plausible.experts import AnnotationParts, Annotations
from plausible.labels import Labels
from plausible.models import (
    E2M,
    Bernoulli,
    Categorical,
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    EvidentialNetworkClassifier,
    Exponential,
    Family,
    GaussianMixtureClassifier,
    Normal,
    PartialLogisticRegression,
    Poisson,
    StochasticSupervisionClassifier,
    UncertainValues,
    score_rows,
)
from plausible.models.calibration.panels import calibrate_rows
from plausible.models.calibration.predictive import calibrate
from plausible.models.dealing import RARE, Rarest, deal
from plausible.neighbors import ContextualNeighborsClassifier, EvidentialNeighborsClassifier

pytestmark = pytest.mark.usefixtures("two_threads")

N = 90
RNG = np.random.default_rng(0)
TRUTH = np.sort(RNG.integers(3, size=N))  # so that the first chunks are of one class
X = RNG.normal(size=(N, 2)) + 1.8 * np.eye(3, 2)[TRUTH]
CONTOUR = np.where(RNG.random((N, 3)) < 0.3, RNG.choice([0.2, 0.6, 1.0], (N, 3)), 0.0)
CONTOUR[np.arange(N), TRUTH] = 1.0
CONTOUR[::9] = 1.0
LABELS = Labels.from_plausibility(CONTOUR, ["cow", "ant", "bee"])
WEIGHT = RNG.uniform(0.3, 2.0, N)
CUTS = {
    "unequal chunks": [0, 1, 40, 43, N],
    "an empty chunk": [0, 30, 30, 61, N],
    "a chunk of one class": [0, int((TRUTH == 0).sum()), 60, N],
}


def streamed(stops, *columns):
    return StreamRows(
        [
            tuple(None if column is None else column[a:b] for column in columns)
            for a, b in pairwise(stops)
        ]
    )


def on_dask(stops, column):
    sizes = tuple(int(b - a) for a, b in pairwise(stops))
    return dask.array.from_array(column, chunks=(sizes, *column.shape[1:]))


SOURCES = [*CUTS, "dask, unequal", "dask, empty"]


def fit_from(source, model, X, labels, weight):
    """A model fitted to the same rows, elsewhere."""
    if source in CUTS:
        return model.fit(streamed(CUTS[source], X, labels, weight))
    stops = CUTS["unequal chunks" if source == "dask, unequal" else "an empty chunk"]
    weight = {} if weight is None else {"sample_weight": on_dask(stops, weight)}
    return model.fit(on_dask(stops, X), labels, **weight)


def assert_same(found, expected, names, atol):
    for name in names:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=atol)


def constants(model):
    """Numbers of the calibrations of a model."""
    return [(c.intercept, c.slope, c.center, c.scale) for c in model.calibrations_]


CLASSIFIERS = {
    "mixture": (
        lambda: GaussianMixtureClassifier(random_state=0), ["means_", "covariances_"], 1e-9),
    "discriminant": (DiscriminantClassifier, ["means_", "covariances_"], 1e-9),
    "logistic": (PartialLogisticRegression, ["coef_", "intercept_"], 1e-6),
    "network": (
        lambda: EvidentialNetworkClassifier(max_iter=80, random_state=0),
        ["prototypes_", "gamma_"], 1e-9),
    "neighbors": (EvidentialNeighborsClassifier, ["gamma_"], 1e-9),
    "contextual": (
        lambda: ContextualNeighborsClassifier(max_mass=0.9, gamma=0.5), ["gamma_"], 1e-9),
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("family", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_classifiers(family, source):
    make, names, atol = CLASSIFIERS[family]
    weight = None if family in ("neighbors", "contextual") else WEIGHT
    given = {} if weight is None else {"sample_weight": weight}
    expected = make().fit(X, LABELS, **given)
    found = fit_from(source, make(), X, LABELS, weight)
    assert found.classes_.tolist() == ["ant", "bee", "cow"]
    assert_same(found, expected, names, atol)
    np.testing.assert_allclose(
        found.predict_plausibility(streamed(CUTS["an empty chunk"], X)),
        expected.predict_plausibility(X), atol=max(atol, 1e-8),
    )  # fmt: skip
    lazy = found.predict_proba(on_dask(CUTS["an empty chunk"], X))
    assert isinstance(lazy, dask.array.Array)
    np.testing.assert_allclose(lazy.compute(), expected.predict_proba(X), atol=max(atol, 1e-8))


@pytest.mark.parametrize("source", SOURCES)
def test_stochastic_supervision(source):
    p = 0.2 + 3.0 * np.eye(3)[TRUTH] + RNG.random((N, 3))
    shares = Labels.from_probability(p / p.sum(axis=1, keepdims=True), ["cow", "ant", "bee"])
    make = lambda: StochasticSupervisionClassifier(random_state=0)  # noqa: E731
    expected = make().fit(X, shares, sample_weight=WEIGHT)
    found = fit_from(source, make(), X, shares, WEIGHT)
    np.testing.assert_allclose(found.means_, expected.means_, atol=1e-6)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("source", SOURCES)
def test_clusters(source):
    make = lambda: ECM(3, random_state=0, n_init=2)  # noqa: E731
    expected = make().fit(X)
    stops = CUTS.get(source) or CUTS["unequal chunks" if "unequal" in source else "an empty chunk"]
    found = make().fit(streamed(stops, X) if source in CUTS else on_dask(stops, X))
    np.testing.assert_allclose(found.cluster_centers_, expected.cluster_centers_, atol=1e-6)


CALIBRATED = {
    "pairs": {},
    "classes": {"scores": "classes", "smoothing": False},
    "fitted": {"estimator": FrozenEstimator(DiscriminantClassifier().fit(X[::2], LABELS[::2]))},
}


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("classes", "a chunk of one class"),
        pytest.param("pairs", "dask, empty", marks=LONG),
        pytest.param("pairs", "unequal chunks", marks=LONG),
    ],
)
def test_few_rows_are_calibrated_as_in_memory(kind, source):
    expected = EvidentialCalibratedClassifier(**CALIBRATED[kind]).fit(X, LABELS, WEIGHT)
    found = fit_from(source, EvidentialCalibratedClassifier(**CALIBRATED[kind]), X, LABELS, WEIGHT)
    np.testing.assert_allclose(constants(found), constants(expected), atol=1e-9)


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("classes", "unequal chunks"),
        ("fitted", "dask, empty"),
        *(pytest.param("pairs", source, marks=LONG) for source in SOURCES),
        pytest.param("classes", "dask, unequal", marks=LONG),
    ],
)
def test_many_rows_are_calibrated_by_sums(kind, source, monkeypatch):
    monkeypatch.setattr("plausible.models.calibration.classifier.MANY_ROWS", 10)
    monkeypatch.setattr("plausible.models.calibration.streams.MANY_ROWS", 10)
    expected = EvidentialCalibratedClassifier(**CALIBRATED[kind]).fit(X, LABELS, WEIGHT)
    found = fit_from(source, EvidentialCalibratedClassifier(**CALIBRATED[kind]), X, LABELS, WEIGHT)
    assert found.classes_.tolist() == ["ant", "bee", "cow"]
    np.testing.assert_allclose(constants(found), constants(expected), atol=1e-6)
    np.testing.assert_allclose(
        found.predict_plausibility(X), expected.predict_plausibility(X), atol=1e-6
    )


def test_rows_of_little_weight_are_calibrated_as_in_memory(monkeypatch):
    monkeypatch.setattr("plausible.models.calibration.classifier.MANY_ROWS", 10)
    monkeypatch.setattr("plausible.models.calibration.streams.MANY_ROWS", 10)
    make = lambda: EvidentialCalibratedClassifier(**CALIBRATED["fitted"], smoothing=False)  # noqa: E731
    expected = make().fit(X, LABELS, WEIGHT)
    light = make().fit(X, LABELS, 1e-12 * WEIGHT)
    np.testing.assert_allclose(constants(light), constants(expected), atol=1e-6)
    found = fit_from("unequal chunks", make(), X, LABELS, 1e-12 * WEIGHT)
    np.testing.assert_allclose(constants(found), constants(light), atol=1e-6)


def test_what_cannot_be_calibrated_in_a_stream_is_refused(monkeypatch):
    monkeypatch.setattr("plausible.models.calibration.streams.MANY_ROWS", 10)
    rows = streamed(CUTS["unequal chunks"], X, LABELS)
    with pytest.raises(ValueError, match="KNeighborsClassifier does not; fit it to a sample"):
        EvidentialCalibratedClassifier(KNeighborsClassifier()).fit(rows)
    with pytest.raises(ValueError, match="number of folds"):
        EvidentialCalibratedClassifier(cv=None).fit(rows)
    known = FrozenEstimator(DiscriminantClassifier().fit(X, np.array(["ant", "bee", "x"])[TRUTH]))
    with pytest.raises(ValueError, match=r"\['cow'\] are possible in \d+ rows"):
        EvidentialCalibratedClassifier(known).fit(rows)


@pytest.mark.parametrize(
    "n_doubts", [0, pytest.param(3, marks=LONG), pytest.param(500, marks=LONG)]
)
def test_sums_at_nodes_have_the_likelihood_of_all_scores(n_doubts):
    rng = np.random.default_rng(n_doubts)
    y = rng.integers(2, size=400)
    score = 40.0 + 3.0 * rng.normal(size=400) + 4.0 * y
    contour = np.zeros((400, 2))
    contour[np.arange(400), y] = 1.0
    if n_doubts:
        contour[np.arange(400), 1 - y] = rng.choice(rng.uniform(0.2, 0.9, n_doubts), 400)
    weight = rng.uniform(0.0, 2.0, 400)
    weight[::50] = 0.0
    expected = calibrate(score, contour, weight)
    # The first rows, from which the width of panels is guessed, tell nothing of the slope.
    order = np.argsort(score)
    (found,) = calibrate_rows([ArrayRows(score, contour, weight, order=order, chunk_rows=37)])
    points = np.linspace(0.0, 90.0, 50)
    np.testing.assert_allclose(found.masses(points), expected.masses(points), atol=3e-5)
    assert found.slope == pytest.approx(expected.slope, abs=1e-6)


def test_folds_by_hashes_keep_equal_rows_together_and_share_out_rare_classes():
    rng = np.random.default_rng(0)
    data = np.repeat(rng.normal(size=(300, 3)), 2, axis=0)
    contour = np.eye(2)[(np.arange(600) < 10).astype(int)]
    dealt = deal(ArrayRows(data, contour, None, chunk_rows=7), 5)
    folds = dealt(data)
    assert (folds[::2] == folds[1::2]).all()
    assert np.bincount(folds[:10]).tolist() == [2] * 5  # five different rows of the rare class
    assert np.bincount(folds).min() > 60
    order = rng.permutation(600)
    again = deal(ArrayRows(data[order], contour[order], None), 5)
    np.testing.assert_array_equal(again(data), folds)


@pytest.mark.parametrize("n_different", [1500, 9000])
def test_the_least_hashes_of_many_rows_are_found_without_sorting_all(n_different):
    rng = np.random.default_rng(0)
    hashes = rng.integers(2**64, size=n_different, dtype=np.uint64)[
        rng.integers(n_different, size=20_000)
    ]
    parts = [Rarest([hashes[start::3], hashes[:5]]) for start in range(3)]
    found = parts[0] + parts[1] + parts[2]
    np.testing.assert_array_equal(found.least[0], np.unique(hashes)[: RARE + 1])
    np.testing.assert_array_equal(found.least[1], np.unique(hashes[:5]))


LOW = np.floor(np.abs(X[:, 0]) * 3)
VALUES = UncertainValues.from_intervals(LOW, LOW + 1.0).where(
    np.arange(N) % 3 > 0, np.where(np.arange(N) % 6 > 0, np.abs(X[:, 0]) * 3, np.nan)
)
COUNTS = UncertainValues.from_intervals(LOW, LOW + 2.0).where(np.arange(N) % 2 > 0, LOW)
TWO = Labels.from_plausibility(np.maximum(CONTOUR[:, :2], 0.1), ["yes", "no"])


class Erlang(Family):
    """A family of one's own that states a density alone."""

    bounds = {"rate": (0.0, np.inf)}  # noqa: RUF012
    support = (0.0, np.inf)

    def log_density(self, x, params):
        rate = params["rate"]
        with np.errstate(divide="ignore"):
            return 2 * np.log(rate) + np.log(x) - rate * x

    def start(self, x):
        return {"rate": 2.0 / float(x.mean())}


FAMILIES = {
    "normal": (Normal(), VALUES), "exponential": (Exponential(), VALUES),
    "poisson": (Poisson(), COUNTS), "categorical": (Categorical(), LABELS),
    "bernoulli": (Bernoulli(), TWO), "a density": (Erlang(), VALUES),
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("family", FAMILIES)
def test_laws(family, source):
    law, known = FAMILIES[family]
    expected = E2M(law).fit(known, sample_weight=WEIGHT)
    if source in CUTS:
        found = E2M(law).fit(streamed(CUTS[source], known, None, WEIGHT))
    else:
        stops = CUTS["unequal chunks" if source == "dask, unequal" else "an empty chunk"]
        is_labels = isinstance(known, Labels)
        table = known.reorder(sorted(known.classes)).contour if is_labels else known.as_rows()
        found = E2M(law).fit(on_dask(stops, table), sample_weight=on_dask(stops, WEIGHT))
    for name, value in expected.params_.items():
        np.testing.assert_allclose(found.params_[name], value, atol=1e-9)
        np.testing.assert_allclose(
            found.standard_errors_[name], expected.standard_errors_[name], atol=1e-9
        )
    if source in CUTS:
        rows = streamed(CUTS[source], known)
        np.testing.assert_allclose(
            found.score_samples(rows), expected.score_samples(known), atol=1e-12
        )


def test_what_laws_cannot_learn_of_rows_is_refused():
    rows = streamed(CUTS["unequal chunks"], VALUES)
    with pytest.raises(ValueError, match="n_bootstrap should be 0"):
        E2M(Normal(), n_bootstrap=5).fit(rows)
    with pytest.raises(ValueError, match="third column"):
        E2M(Normal()).fit(rows, sample_weight=WEIGHT)
    with pytest.raises(ValueError, match="one for each row"):
        E2M(Normal()).fit(streamed(CUTS["unequal chunks"], X))
    shared = UncertainValues.from_intervals(np.zeros(N), np.arange(N) + 1.0)
    with pytest.raises(ValueError, match="Intervals should not all share a value"):
        E2M(Normal()).fit(streamed(CUTS["unequal chunks"], shared))
    with pytest.raises(ValueError, match="features"):  # an array with fields is no features
        DiscriminantClassifier().fit(streamed(CUTS["unequal chunks"], VALUES, LABELS))


def answers():
    """Items, people, what they said (sets and "cannot tell" among it), and doubts."""
    rng = np.random.default_rng(1)
    names = np.array(["cow", "ant", "bee"])
    rows = []
    for item in range(60):
        for who in rng.choice(7, rng.integers(1, 5), replace=False):
            said = TRUTH[item] if rng.random() < 0.5 + 0.06 * who else rng.integers(3)
            words = names[said] if rng.random() < 0.8 else f"{names[said]}|{names[said - 1]}"
            words = words if rng.random() < 0.95 else "cannot tell"
            rows.append((f"i{item:02d}", f"p{who}", words, rng.choice([0.0, 0.1, 0.3])))
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("place", ["parts", "dask"])
@pytest.mark.parametrize(
    ("model", "doubted", "gold"),
    [
        ("one_coin", True, None),
        ("class", False, {"i03": "bee", "i57": "cow"}),
        ("full", True, None),
        ("shrunk", False, {"i03": "bee"}),
    ],
)
def test_reliability_of_answers(model, doubted, gold, place, monkeypatch):
    items, people, said, doubt = answers()
    given = {"doubt": doubt} if doubted else {}
    whole = Annotations.from_long(items, people, said, **given)
    if place == "parts":
        monkeypatch.setattr("plausible.experts.parts.MANY_ANSWERS", 10)  # kept on disk
        code = np.array([int(name[1:]) for name in items])
        chosen = [(code >= a) & (code < b) for a, b in pairwise([0, 1, 30, 33, 60])]
        parts = AnnotationParts(
            lambda: (
                Annotations.from_long(
                    items[rows], people[rows], said[rows], **{k: v[rows] for k, v in given.items()}
                )
                for rows in chosen
            )
        )
    else:
        frame = pd.DataFrame({"item": items, "annotator": people, "label": said} | given)
        lazy = dask.dataframe.from_pandas(frame.sample(frac=1.0, random_state=0), npartitions=4)
        parts = AnnotationParts.from_dask(lazy, doubt="doubt" if doubted else None)
    assert (parts.n_items, parts.n_answers) == (len(whole.items), len(whole))
    expected = whole.reliability(model, gold=gold)
    found = parts.reliability(model, gold=gold)
    order = [found.annotators.tolist().index(name) for name in expected.annotators]
    for name in ("learned", "doubt", "accuracy", "low", "high", "n_answers"):
        np.testing.assert_allclose(
            getattr(found, name)[order], getattr(expected, name), atol=1e-9, err_msg=name
        )
    np.testing.assert_allclose(found.prior, expected.prior, atol=1e-9)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-9)
    labels = whole.pool(doubt=expected)
    pooled = {
        name: contour
        for part in parts.pool(doubt=found)
        for name, contour in zip(part.items.tolist(), part.labels.contour, strict=True)
    }
    for name, contour in zip(whole.items.tolist(), labels.contour, strict=True):
        np.testing.assert_allclose(pooled[name], contour, atol=1e-9)


def test_what_parts_cannot_tell_is_refused():
    items, people, said, _ = answers()
    part = Annotations.from_long(items, people, said)
    parts = AnnotationParts([part])
    for options, message in [
        ({"model": "difficulty"}, "Difficulties are learned for each item"),
        ({"n_bootstrap": 3}, "n_bootstrap should be 0"),
        ({"gold": LABELS[:60]}, "gold should be a dict"),
    ]:
        with pytest.raises(ValueError, match=message):
            parts.reliability(**options)
    with pytest.raises(ValueError, match="read again at each pass"):
        AnnotationParts(iter([part]))
    doubted = Annotations.from_long(items, people, said, doubt=0.1)
    with pytest.raises(ValueError, match="Either all parts should have doubts"):
        AnnotationParts([part, doubted])
    with pytest.raises(ValueError, match="given to pool"):
        parts.pool(gold={"i03": "bee"})


@pytest.mark.parametrize("source", SOURCES)
def test_scores(source):
    model = DiscriminantClassifier().fit(X, LABELS)
    expected = score_rows(model, X, LABELS, WEIGHT)
    if source in CUTS:
        found = score_rows(model, streamed(CUTS[source], X, LABELS, WEIGHT))
    else:
        stops = CUTS["unequal chunks" if source == "dask, unequal" else "an empty chunk"]
        found = score_rows(model, on_dask(stops, X), LABELS, on_dask(stops, WEIGHT))
    for name, score in expected.scores.items():
        assert found.scores[name].estimate == pytest.approx(score.estimate, abs=1e-9)


def test_neighbors_keep_single_precision_and_refuse_what_no_memory_holds(monkeypatch):
    single = X.astype(np.float32)
    found = EvidentialNeighborsClassifier().fit(streamed(CUTS["an empty chunk"], single, LABELS))
    assert found._search.items.dtype == np.float32
    expected = EvidentialNeighborsClassifier().fit(single.astype(np.float64), LABELS)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-5)
    rows = streamed(CUTS["an empty chunk"], X, LABELS, WEIGHT)
    with pytest.raises(ValueError, match="takes no weights of rows"):
        EvidentialNeighborsClassifier().fit(rows)
    with pytest.raises(ValueError, match="should be in memory where metric='precomputed'"):
        EvidentialNeighborsClassifier(metric="precomputed").fit(rows)
    monkeypatch.setattr("plausible.base.gathering.memory", lambda: 1000)
    with pytest.raises(ValueError, match="90 rows take .* half of the memory|half of the memory"):
        EvidentialNeighborsClassifier().fit(rows)
