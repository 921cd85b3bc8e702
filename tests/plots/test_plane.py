"""Decision regions, mixtures and paths of criteria: what is drawn is what models say."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.base import believe
from plausible.cluster import ECM
from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    EvidentialNetworkClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
)
from plausible.neighbors import EvidentialNeighborsClassifier
from plausible.plots import CriterionDisplay, DecisionRegionDisplay, MixtureDisplay
from plots.drawn import CLASSES, in_legend, line, three_blobs

X, Y = three_blobs(60)
DOUBTED = Labels.from_doubt(Y, np.arange(60) % 5 / 4, classes=CLASSES)  # some say nothing


@pytest.fixture(scope="module")
def mixture():
    return GaussianMixtureClassifier(random_state=0).fit(X, DOUBTED)


def test_regions_are_decisions_place_by_place(mixture):
    display = DecisionRegionDisplay.from_estimator(
        mixture, X, DOUBTED, reject=0.2, novelty=0.05, grid_resolution=15, margin=0.5
    )
    places = [[x, y] for y in display.y for x in display.x]
    names = mixture.decide(places, reject=0.2).names()
    by_hand = [-1 if name is None else mixture.classes_.tolist().index(name) for name in names]
    np.testing.assert_array_equal(display.decision.ravel(), by_hand)
    assert {-1, 0, 1, 2} == set(by_hand)
    assert display.share_refused == by_hand.count(-1) / len(by_hand)
    novel = mixture.predict_novelty(places, 0.05)
    np.testing.assert_array_equal(display.novel.ravel(), novel)
    assert 0 < novel.sum() < len(places)


def test_regions_are_drawn_with_hatches_and_items(mixture):
    display = DecisionRegionDisplay.from_estimator(
        mixture, X, DOUBTED, reject=0.2, novelty=0.05, grid_resolution=15, margin=0.5
    ).plot()
    image = display.ax_.images[0]
    np.testing.assert_allclose(image.get_array(), display.colors)
    gray = display.colors[display.decision == -1]
    assert (gray == gray[0, 0]).all()
    left, right, low, high = image.get_extent()
    assert (left + right) / 2 == pytest.approx(display.x.mean())
    assert left < display.x[0] < display.x[-1] < right
    assert low < display.y[0] < display.y[-1] < high
    assert in_legend(display.ax_) == ["no label", "kite", "owl", "wren", "refused", "new"]
    dots = [c.get_offsets() for c in display.ax_.collections if len(c.get_offsets()) > 1]
    unknown = DOUBTED.is_unknown
    np.testing.assert_array_equal(np.vstack(dots), np.vstack([X[unknown], X[~unknown]]))


def test_sets_have_the_mixed_colors_of_their_classes():
    model = EvidentialNeighborsClassifier(n_neighbors=3).fit(X, Y)
    display = DecisionRegionDisplay.from_estimator(
        model, X, rule="interval_dominance", grid_resolution=12, margin=1.5
    ).plot()
    places = np.array([[x, y] for y in display.y for x in display.x])
    kept = model.predict_set(places).reshape(12, 12, 3)
    np.testing.assert_array_equal(display.chosen, kept)
    several = kept.sum(axis=-1) > 1
    assert several.any()
    assert (display.decision[several] == -2).all()
    assert "several classes" in in_legend(display.ax_)
    whole = kept.all(axis=-1)
    plain = DecisionRegionDisplay.from_estimator(model, X, grid_resolution=12).colors
    assert len(np.unique(plain.reshape(-1, 3), axis=0)) <= 3
    assert len(np.unique(display.colors[whole].reshape(-1, 3), axis=0)) == 1


def test_any_classifier_has_regions():
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    frame = pd.DataFrame(X, columns=["length", "width"])
    display = DecisionRegionDisplay.from_estimator(pipe, frame, grid_resolution=5).plot()
    places = np.array([[x, y] for y in display.y for x in display.x])
    answered = display.classes[display.decision.ravel()]
    np.testing.assert_array_equal(answered, pipe.predict(places))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")
    network = EvidentialNetworkClassifier(3, random_state=0, tol=1e-3).fit(X, Y)
    new = DecisionRegionDisplay.from_estimator(network, X, novelty=0.5, grid_resolution=5).novel
    np.testing.assert_array_equal(new.ravel(), network.score_novelty(places) > 0.5)


def test_what_may_be_refused_is_refused():
    model = EvidentialNeighborsClassifier(n_neighbors=3).fit(X, Y)
    display = DecisionRegionDisplay.from_estimator(
        model, X, rule="interval_dominance", reject=0.3, grid_resolution=12, margin=1.5
    )
    places = np.array([[x, y] for y in display.y for x in display.x])
    names = model.decide(places, rule="interval_dominance", reject=0.3).names()
    refused = [name is None or (isinstance(name, set) and None in name) for name in names]
    np.testing.assert_array_equal(display.decision.ravel() == -1, refused)
    assert any(isinstance(name, set) and None in name for name in names)


def test_where_all_is_refused_all_is_hatched(mixture):
    display = DecisionRegionDisplay.from_estimator(mixture, X, reject=0.0, grid_resolution=4)
    assert display.share_refused > 0.9
    assert "refused" in in_legend(display.plot().ax_)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_ellipses_are_where_the_distance_is_that_of_the_level(kind):
    wide = np.c_[X, X[:, 0] * 0.5 + np.random.default_rng(0).normal(size=60), X[:, 1] ** 2]
    model = GaussianMixtureClassifier(kind, {"owl": 2, "wren": 1, "kite": 1}, prior="weak")
    model.fit(wide, DOUBTED)
    display = MixtureDisplay.from_estimator(model, wide, DOUBTED, features=(3, 0), level=0.8).plot()
    full = {
        "full": lambda c, m: c[m],
        "tied": lambda c, m: c,
        "diag": lambda c, m: np.diag(c[m]),
        "spherical": lambda c, m: c[m] * np.eye(4),
    }[kind]
    ellipses = display.ax_.patches
    assert len(ellipses) == 4
    for m, ellipse in enumerate(ellipses):
        edge = ellipse.get_transform().transform(ellipse.get_path().vertices)
        edge = display.ax_.transData.inverted().transform(edge)[:-1:3]  # on the curve
        apart = edge - model.means_[m][[3, 0]]
        sigma = full(model.covariances_, m)[np.ix_([3, 0], [3, 0])]
        squared = np.einsum("ni,ij,nj->n", apart, np.linalg.inv(sigma), apart)
        np.testing.assert_allclose(squared, chi2.ppf(0.8, 2), rtol=1e-6)
    owners = model.classes_[display.owner]
    np.testing.assert_array_equal(owners, model.component_classes_)
    assert in_legend(display.ax_) == ["no label", "kite", "owl", "wren"]


def test_a_component_holds_the_share_of_its_items():
    rng = np.random.default_rng(0)
    points = rng.multivariate_normal([1, -2], [[2, 0.8], [0.8, 0.5]], 20_000)
    model = DiscriminantClassifier().fit(points, np.repeat(["a", "b"], 10_000))
    display = MixtureDisplay.from_estimator(model, level=0.9)
    sizes, angles = display.axes_of_ellipses()
    turn = np.radians(angles[0])
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    inside = (((points - display.means[0]) @ axes.T / (sizes[0] / 2)) ** 2).sum(axis=1) <= 1
    assert inside.mean() == pytest.approx(0.9, abs=0.01)


def test_scikit_learns_mixtures_are_drawn_and_empty_classes_are_not():
    theirs = GaussianMixture(3, random_state=0).fit(X)
    display = MixtureDisplay.from_estimator(theirs, X).plot()
    np.testing.assert_array_equal(display.covariances, theirs.covariances_)
    assert in_legend(display.ax_) == ["0", "1", "2"]
    labels = Labels.from_crisp(Y, classes=["wren", "emu", "owl", "kite"])
    with pytest.warns(UserWarning, match="emu"):
        ours = GaussianMixtureClassifier("diag").fit(X, labels)
    display = MixtureDisplay.from_estimator(ours, X, labels).plot()
    assert len(display.ax_.patches) == 3
    assert "emu" not in display.classes[display.owner]


def test_paths_are_those_of_the_fits(mixture):
    display = CriterionDisplay.from_estimator(mixture).plot()
    path = line(display.ax_, "GaussianMixtureClassifier")
    np.testing.assert_array_equal(path[:, 1], mixture.history_)
    np.testing.assert_array_equal(path[:, 0], np.arange(mixture.n_iter_ + 1))
    assert display.ax_.lines[1].get_data()[1] == mixture.history_[-1]
    found = Annotations.from_answers([["a", "a", "b"], ["b", "b", "b"], ["c", "a", "c"]])
    people = CriterionDisplay.from_estimator(found.reliability(), name="people")
    assert list(people.histories) == ["people"]
    clusters = ECM(2, random_state=0).fit(X)
    both = CriterionDisplay.from_histories({"one": mixture.history_, "two": clusters.history_})
    both.plot(gap=True)
    assert in_legend(both.ax_) == ["one", "two"]
    gaps = line(both.ax_, "two")
    np.testing.assert_allclose(
        gaps[:, 1], np.abs(clusters.history_ - clusters.history_[-1])[gaps[:, 0].astype(int)]
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_was_cut_short_says_so():
    model = PartialLogisticRegression(max_iter=1).fit(X, DOUBTED)
    display = CriterionDisplay.from_estimator(model, "short").plot()
    assert in_legend(display.ax_) == ["short (cut short)"]
    assert display.ax_.lines[1].get_markerfacecolor() == "w"


def test_what_cannot_be_drawn_is_refused(mixture):
    of_regions = DecisionRegionDisplay.from_estimator
    with pytest.raises(ValueError, match=r"two features.*has shape \(60, 3\).*two columns"):
        of_regions(mixture, np.c_[X, X[:, 0]])
    with pytest.raises(ValueError, match="finite"):
        of_regions(mixture, [[0.0, np.nan]])
    with pytest.raises(ValueError, match="not fitted"):
        of_regions(GaussianMixtureClassifier(), X)
    with pytest.raises(ValueError, match="PartialLogisticRegression has none"):
        of_regions(PartialLogisticRegression().fit(X, Y), X, novelty=0.1)
    with pytest.raises(ValueError, match="a label for each of the 60 rows"):
        of_regions(mixture, X, DOUBTED[:5])
    with pytest.raises(ValueError, match="grid_resolution"):
        of_regions(mixture, X, grid_resolution=1)
    with pytest.raises(ValueError, match="4 acts and 3 classes"):
        of_regions(mixture, X, loss={
            act: dict.fromkeys(CLASSES, 0.5) for act in ("eat", "keep", "sell", "drop")
        }, grid_resolution=3)  # fmt: skip
    of_mixture = MixtureDisplay.from_estimator
    with pytest.raises(ValueError, match="fitted mixture.*lacks one of them"):
        of_mixture(GaussianMixtureClassifier())
    with pytest.raises(ValueError, match="numbers of two columns"):
        of_mixture(mixture, features=(0, 2))
    with pytest.raises(ValueError, match="level should be"):
        of_mixture(mixture, level=2)
    with pytest.raises(ValueError, match="history_.*GaussianMixtureClassifier has none"):
        CriterionDisplay.from_estimator(GaussianMixtureClassifier())
    with pytest.raises(ValueError, match="one number for each iteration"):
        CriterionDisplay.from_histories({"a": [[1.0]]})
    with pytest.raises(ValueError, match="dict of arrays by name"):
        CriterionDisplay.from_histories([1.0, 2.0])


def test_given_axes_are_drawn_on(mixture):
    figure, ax = pyplot.subplots()
    for display in (
        DecisionRegionDisplay.from_estimator(mixture, X, grid_resolution=5),
        MixtureDisplay.from_estimator(mixture, X),
        CriterionDisplay.from_estimator(mixture),
    ):
        assert display.plot(ax=ax).ax_ is ax
        assert display.figure_ is figure


def test_believing_a_pipeline_gives_what_its_regions_show():
    pipe = make_pipeline(StandardScaler(), GaussianMixtureClassifier("tied")).fit(X, DOUBTED)
    display = DecisionRegionDisplay.from_estimator(
        pipe, X, reject=0.3, novelty=0.1, grid_resolution=6
    )
    places = np.array([[x, y] for y in display.y for x in display.x])
    refused = believe(pipe, places).probability.max(axis=1) < 0.7
    np.testing.assert_array_equal(display.decision.ravel() == -1, refused)
    scaled = pipe[0].transform(places)
    np.testing.assert_array_equal(display.novel.ravel(), pipe[-1].predict_novelty(scaled, 0.1))
