"""Gaussian mixtures under soft labels: reductions, invariances, monotony, starts, errors."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from plausible.belief import pignistic
from plausible.engine import StreamRows, read_csv
from plausible.labels import Labels
from plausible.models import (
    EmptyClassWarning,
    GaussianMixtureClassifier,
    SingularCovarianceWarning,
)
from plausible.models.gaussian import e_step as passes

KINDS = ("full", "tied", "diag", "spherical")
X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def doubtful(seed=0):
    rng = np.random.default_rng(seed)
    doubt = rng.uniform(size=len(Y))
    said = np.where(rng.uniform(size=len(Y)) < doubt, rng.integers(3, size=len(Y)), Y)
    return Labels.from_doubt(NAMES[said], doubt, classes=NAMES)


SOFT = doubtful()


def start_of(kind, seed=0):
    rng = np.random.default_rng(seed)
    covariances = {
        "full": np.tile(np.eye(4), (3, 1, 1)),
        "tied": np.eye(4),
        "diag": np.ones((3, 4)),
        "spherical": np.ones(3),
    }[kind]
    means = X[rng.choice(len(X), 3, replace=False)]
    return {"weights": np.array([0.5, 0.3, 0.2]), "means": means, "covariances": covariances}


# -- Reductions -----------------------------------------------------------------------------------


def test_hard_labels_give_quadratic_discriminant_analysis_in_one_iteration():
    model = GaussianMixtureClassifier(reg_covar=0.0, max_iter=1).fit(X, NAMES[Y])
    peer = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, NAMES[Y])
    np.testing.assert_allclose(model.means_, peer.means_, atol=1e-8)
    np.testing.assert_allclose(model.covariances_, peer.covariance_, atol=1e-8)
    np.testing.assert_allclose(model.weights_, peer.priors_, atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-8)
    assert model.converged_


def test_hard_labels_and_one_covariance_give_linear_discriminant_analysis():
    model = GaussianMixtureClassifier("tied", reg_covar=0.0).fit(X, NAMES[Y])
    peer = LinearDiscriminantAnalysis(store_covariance=True).fit(X, NAMES[Y])
    np.testing.assert_allclose(model.covariances_, peer.covariance_, atol=1e-8)
    np.testing.assert_allclose(model.means_, peer.means_, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("y", [None, "vacuous"])
def test_labels_that_say_nothing_give_the_mixture_of_scikit_learn(kind, accelerate, y):
    start = start_of(kind)
    options = {"tol": 1e-11, "max_iter": 5000}
    model = GaussianMixtureClassifier(
        kind, init=start, accelerate=accelerate, n_classes=3 if y is None else None, **options
    ).fit(X, None if y is None else Labels.unknown(len(X), NAMES))
    inverse = np.linalg.inv if kind in ("full", "tied") else np.reciprocal
    peer = GaussianMixture(
        3,
        covariance_type=kind,
        weights_init=start["weights"],
        means_init=start["means"],
        precisions_init=inverse(start["covariances"]),
        **options,
    ).fit(X)
    assert model.log_likelihood_ / len(X) == pytest.approx(peer.score(X), abs=1e-8)
    np.testing.assert_allclose(model.means_, peer.means_, atol=2e-4)
    np.testing.assert_allclose(model.covariances_, peer.covariances_, atol=2e-4)
    np.testing.assert_allclose(model.score_samples(X), peer.score_samples(X), atol=1e-3)
    assert model.bic() == pytest.approx(peer.bic(X), abs=1e-4)
    assert model.aic() == pytest.approx(peer.aic(X), abs=1e-4)


def test_several_components_of_one_class_are_a_mixture():
    start = start_of("full")
    model = GaussianMixtureClassifier(n_components=3, init=start, tol=1e-10, max_iter=5000)
    model.fit(X, ["flower"] * len(X))
    peer = GaussianMixtureClassifier(n_classes=3, init=start, tol=1e-10, max_iter=5000).fit(X)
    np.testing.assert_allclose(model.means_, peer.means_, atol=1e-6)
    assert model.component_classes_.tolist() == ["flower"] * 3
    np.testing.assert_allclose(model.predict_proba(X), 1.0)


# -- The criterion --------------------------------------------------------------------------------


def criterion(model, plausibility):
    """(1.9) from the attributes, by scipy's density."""
    from scipy.stats import multivariate_normal

    density = [
        multivariate_normal(m, S).pdf(X)
        for m, S in zip(model.means_, model.covariances_, strict=True)
    ]
    return np.log((plausibility * model.weights_ * np.transpose(density)).sum(axis=1)).sum()


def test_log_likelihood_is_the_criterion():
    model = GaussianMixtureClassifier().fit(X, SOFT)
    assert model.log_likelihood_ == pytest.approx(criterion(model, SOFT.contour), rel=1e-10)
    assert model.history_[-1] == model.log_likelihood_


@pytest.mark.filterwarnings("ignore::plausible.models.SingularCovarianceWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("options", [{}, {"n_components": [1, 2, 3]}, {"prior": "weak"}])
def test_the_criterion_never_falls(kind, accelerate, options):
    model = GaussianMixtureClassifier(
        kind, accelerate=accelerate, tol=1e-9, random_state=0, **options
    ).fit(X, SOFT)
    assert (np.diff(model.history_) >= 0).all()
    assert len(model.history_) == model.n_iter_ + 1
    assert model.converged_


@pytest.mark.parametrize("kind", KINDS)
def test_acceleration_ends_as_high_in_fewer_passes(kind):
    rng, shift = np.random.default_rng(0), np.array([1.7, 0.0, 0.0])
    blobs = np.concatenate([rng.normal(size=(300, 3)), rng.normal(size=(300, 3)) + shift])
    start = {"means": np.array([[-2.0, 0.5, 0.0], [1.0, 0.0, 0.5]])}
    plain, quick = (
        GaussianMixtureClassifier(
            kind, init=start, n_classes=2, accelerate=accelerate, tol=1e-8, max_iter=20000
        ).fit(blobs)
        for accelerate in (False, True)
    )
    assert plain.n_iter_ > 100
    assert quick.n_iter_ <= plain.n_iter_ / 2
    assert quick.log_likelihood_ >= plain.log_likelihood_ - 1e-8 * len(blobs)


@pytest.mark.parametrize("kind", KINDS)
def test_no_small_change_of_the_parameters_is_better(kind):
    model = GaussianMixtureClassifier(kind, reg_covar=0.0, tol=1e-13, max_iter=9999).fit(X, SOFT)
    best = model.log_likelihood_
    rng = np.random.default_rng(0)
    for _ in range(20):
        size = 1e-3
        covariances = model.covariances_ * (1 + size * rng.normal())
        means = model.means_ + size * rng.normal(size=model.means_.shape)
        weights = model.weights_ * np.exp(size * rng.normal(size=3))
        init = {"weights": weights, "means": means, "covariances": covariances}
        with pytest.warns(ConvergenceWarning):
            other = GaussianMixtureClassifier(kind, init=init, max_iter=1, tol=0.0).fit(X, SOFT)
        assert other.history_[0] <= best + 1e-9


def test_scaling_rows_of_plausibilities_adds_their_logs():
    factors = np.random.default_rng(1).uniform(0.01, 1.0, len(X))
    scaled = Labels.from_plausibility(SOFT.contour * factors[:, None], classes=NAMES)
    one, other = (GaussianMixtureClassifier().fit(X, labels) for labels in (SOFT, scaled))
    np.testing.assert_allclose(other.means_, one.means_, rtol=1e-9)
    np.testing.assert_allclose(other.history_ - one.history_, np.log(factors).sum(), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_hard_rows_count_as_they_do_in_the_dense_computation(kind):
    contour = SOFT.contour.copy()
    contour[:100] = np.eye(3)[Y[:100]]
    nearly = np.maximum(contour, 1e-14)
    one, other = (
        GaussianMixtureClassifier(kind, init=start_of(kind), tol=1e-10, max_iter=5000).fit(
            X, Labels.from_plausibility(values, classes=NAMES)
        )
        for values in (contour, nearly)
    )
    np.testing.assert_allclose(other.means_, one.means_, atol=1e-8)
    np.testing.assert_allclose(other.covariances_, one.covariances_, atol=1e-8)
    assert other.log_likelihood_ == pytest.approx(one.log_likelihood_, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_and_units_do_not_matter(kind):
    shift, scale = 1e6, np.array([1.0, 1.0, 1.0, 1.0]) * 1e3
    one = GaussianMixtureClassifier(kind, reg_covar=0.0).fit(X, SOFT)
    other = GaussianMixtureClassifier(kind, reg_covar=0.0).fit(X * scale + shift, SOFT)
    np.testing.assert_allclose((other.means_ - shift) / scale, one.means_, rtol=1e-6)
    np.testing.assert_allclose(other.covariances_, one.covariances_ * 1e6, rtol=1e-4, atol=1)
    assert other.n_iter_ == one.n_iter_


def test_components_a_million_spreads_apart():
    rng = np.random.default_rng(0)
    far = rng.normal(size=(90, 2)) + np.repeat([[0.0, 0.0], [1e7, 0.0], [0.0, -1e7]], 30, axis=0)
    y = Labels.from_doubt(np.repeat([0, 1, 2], 30), 0.1)
    model = GaussianMixtureClassifier(reg_covar=0.0).fit(far, y)
    for k in range(3):
        expected = np.cov(far[30 * k : 30 * k + 30].T, bias=True)
        np.testing.assert_allclose(model.covariances_[k], expected, rtol=1e-6)


# -- Starts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("d", [2, 5])
def test_few_soft_labels_name_the_blobs(seed, d):
    centers = 8.0 * np.eye(4, d) if d > 3 else 4.0 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    blobs, truth = make_blobs(400, centers=centers, random_state=seed)
    rng = np.random.default_rng(seed)
    said = np.where(rng.uniform(size=400) < 0.1, rng.integers(4, size=400), truth)
    doubt = np.where(rng.uniform(size=400) < 0.3, 0.3, 1.0)
    model = GaussianMixtureClassifier().fit(blobs, Labels.from_doubt(said, doubt))
    assert (model.predict(blobs) == truth).mean() > 0.95


@pytest.mark.parametrize("init", ["labels", "kmeans", "random"])
def test_every_start_can_find_the_classes(init):
    blobs, truth = make_blobs(300, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    labels = Labels.from_doubt(truth, 0.3)
    model = GaussianMixtureClassifier(init=init, n_init=5, random_state=0).fit(blobs, labels)
    assert (model.predict(blobs) == truth).mean() > 0.98


def test_a_class_that_no_label_favors_is_still_found():
    blobs, truth = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    contour = np.ones((300, 3))
    contour[truth == 0] = [1.0, 0.1, 0.1]
    contour[truth == 1] = [0.1, 1.0, 0.1]
    model = GaussianMixtureClassifier(random_state=0).fit(blobs, contour)
    assert (model.predict(blobs) == truth).mean() > 0.98


def test_two_classes_that_always_come_together_still_part():
    blobs, truth = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    sets = [{0} if t == 0 else {1, 2} for t in truth]
    model = GaussianMixtureClassifier(random_state=0).fit(blobs, Labels.from_sets(sets))
    found = model.predict(blobs)
    assert (found[truth == 0] == 0).all()
    pair = found[truth == 1], found[truth == 2]
    assert {np.bincount(part).argmax() for part in pair} == {1, 2}


def test_several_components_follow_a_class_with_two_parts():
    blobs, part = make_blobs(400, centers=[[0, 0], [6, 0], [3, 6]], random_state=1)
    truth = np.where(part == 2, "top", "bottom")
    labels = Labels.from_doubt(truth, 0.2)
    model = GaussianMixtureClassifier(n_components=[2, 1], random_state=0).fit(blobs, labels)
    assert model.component_classes_.tolist() == ["bottom", "bottom", "top"]
    found = model.means_[:2][np.argsort(model.means_[:2, 0])]
    np.testing.assert_allclose(found, [[0, 0], [6, 0]], atol=0.5)


# -- The same answer, wherever the rows are -------------------------------------------------------


def assert_same_model(one, other, tolerance=1e-9):
    np.testing.assert_allclose(other.means_, one.means_, rtol=tolerance)
    np.testing.assert_allclose(other.covariances_, one.covariances_, rtol=tolerance, atol=1e-9)
    np.testing.assert_allclose(other.log_likelihood_, one.log_likelihood_, rtol=tolerance)
    assert other.classes_.tolist() == one.classes_.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fast", [True, False])
def test_streams_give_the_model_of_arrays(kind, fast, monkeypatch):
    monkeypatch.setattr(passes, "FAST_WORK", 0 if fast else np.inf)
    contour = SOFT.contour.copy()
    contour[::4] = np.eye(3)[Y[::4]]
    contour[1::4, 0] = 0.0
    weight = np.linspace(0.5, 2.0, len(X))
    labels = Labels.from_plausibility(contour, classes=NAMES)
    inside = GaussianMixtureClassifier(kind).fit(X, labels, weight)
    pieces = [(X[i : i + 41], contour[i : i + 41], weight[i : i + 41]) for i in range(0, 150, 41)]
    rows = StreamRows(pieces)
    rows.classes = NAMES.tolist()
    assert_same_model(inside, GaussianMixtureClassifier(kind).fit(rows))


def test_a_csv_file_with_class_names_gives_the_model_of_arrays(tmp_path):
    path = tmp_path / "iris.csv"
    lines = ["a,b,c,d,species"]
    for row, name, known in zip(X, NAMES[Y], np.arange(150) % 3 > 0, strict=True):
        lines.append(",".join([*map(repr, row.tolist()), name if known else ""]))
    path.write_text("\n".join(lines))
    hard = [name if i % 3 > 0 else None for i, name in enumerate(NAMES[Y])]
    inside = GaussianMixtureClassifier().fit(X, hard)
    streamed = GaussianMixtureClassifier().fit(StreamRows(read_csv(path, labels="species")))
    assert_same_model(inside, streamed)


@pytest.mark.parametrize("labeled", ["plausibilities", "names", "nothing"])
def test_dask_arrays_give_the_model_of_arrays(labeled):
    da = pytest.importorskip("dask.array")
    y = {"plausibilities": SOFT.contour, "names": NAMES[Y], "nothing": None}[labeled]
    options = {"n_classes": 3, "init": start_of("full")} if labeled == "nothing" else {}
    lazy = None if y is None else da.from_array(y, chunks=40)
    inside = GaussianMixtureClassifier(**options).fit(X, y)
    spread = GaussianMixtureClassifier(**options).fit(da.from_array(X, chunks=(50, 2)), lazy)
    assert_same_model(inside, spread)


def test_single_precision_and_order_in_memory_change_nothing():
    one = GaussianMixtureClassifier().fit(X.astype(np.float32).astype(float), SOFT)
    for form in (X.astype(np.float32), np.asfortranarray(X.astype(np.float32).astype(float))):
        assert_same_model(one, GaussianMixtureClassifier().fit(form, SOFT))


# -- Answers --------------------------------------------------------------------------------------


def test_labels_of_new_items_multiply_what_features_say():
    model = GaussianMixtureClassifier().fit(X, SOFT)
    expected = model.predict_proba(X) * SOFT.contour
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X, labels=SOFT), expected, rtol=1e-9)
    assert (model.predict(X, labels=NAMES[Y]) == NAMES[Y]).all()


def test_plausibilities_masses_and_sets_tell_one_story():
    model = GaussianMixtureClassifier("spherical").fit(X, SOFT)
    probability, contour = model.predict_proba(X), model.predict_plausibility(X)
    np.testing.assert_allclose(contour.max(axis=1), 1.0)
    masses = model.predict_mass(X)
    np.testing.assert_allclose(masses.values.sum(axis=1), 1.0)
    np.testing.assert_allclose(pignistic(masses), probability, atol=1e-12)
    for k in range(3):
        inside = (masses.focal_sets >> k) & 1
        np.testing.assert_allclose(masses.values @ inside, contour[:, k], atol=1e-12)
    chosen = model.predict_set(X)
    assert chosen[np.arange(len(X)), probability.argmax(axis=1)].all()
    second = np.sort(contour, axis=1)[:, 1]
    np.testing.assert_array_equal(chosen.sum(axis=1) == 1, second < 0.5)


def test_responsibilities_are_kept_on_request():
    model = GaussianMixtureClassifier(store_responsibilities=True, n_components=[1, 2, 1])
    model.set_params(random_state=0).fit(X, SOFT)
    r = model.responsibilities_
    by_class = np.column_stack([r[:, 0], r[:, 1] + r[:, 2], r[:, 3]])
    np.testing.assert_allclose(by_class, model.predict_proba(X, labels=SOFT), atol=1e-9)
    np.testing.assert_allclose(r.mean(axis=0), model.weights_, atol=1e-3)
    assert not hasattr(GaussianMixtureClassifier().fit(X, SOFT), "responsibilities_")


@pytest.mark.parametrize("kind", KINDS)
def test_samples_have_the_moments_of_the_model(kind):
    model = GaussianMixtureClassifier(kind, random_state=0).fit(X, NAMES[Y])
    drawn, classes = model.sample(60_000)
    for k, name in enumerate(model.classes_):
        mine = drawn[classes == name]
        np.testing.assert_allclose(mine.mean(axis=0), model.means_[k], atol=0.03)
        peer = {
            "full": lambda k=k: model.covariances_[k],
            "tied": lambda: model.covariances_,
            "diag": lambda k=k: np.diag(model.covariances_[k]),
            "spherical": lambda k=k: np.eye(4) * model.covariances_[k],
        }[kind]()
        np.testing.assert_allclose(np.cov(mine.T), peer, atol=0.02)


def test_novelty_has_its_level():
    model = GaussianMixtureClassifier(random_state=0).fit(X, SOFT)
    own = model.set_params(random_state=1).sample(20_000)[0]
    assert model.predict_novelty(own, level=0.05).mean() == pytest.approx(0.05, abs=0.01)
    assert model.predict_novelty([[100.0, 0.0, 0.0, 0.0]]).all()
    assert not model.predict_novelty(model.means_).any()


# -- Priors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mean_precision", [0.0, 3.0])
def test_the_prior_is_maximized_together_with_the_criterion(kind, mean_precision):
    prior = {"weights": 2.0, "mean_precision": mean_precision, "scale": 0.3}
    model = GaussianMixtureClassifier(kind, prior=prior, reg_covar=0.0, tol=1e-13, max_iter=9999)
    model.fit(X, SOFT)
    best = model.history_[-1]
    rng = np.random.default_rng(0)
    for _ in range(20):
        init = {
            "weights": model.weights_ * np.exp(1e-3 * rng.normal(size=3)),
            "means": model.means_ + 1e-3 * rng.normal(size=model.means_.shape),
            "covariances": model.covariances_ * (1 + 1e-3 * rng.normal()),
        }
        other = GaussianMixtureClassifier(kind, prior=prior, reg_covar=0.0, init=init, max_iter=1)
        with pytest.warns(ConvergenceWarning):
            assert other.set_params(tol=0.0).fit(X, SOFT).history_[0] <= best + 1e-9


def test_a_weak_prior_makes_more_features_than_items_possible():
    rng = np.random.default_rng(0)
    wide = np.concatenate([rng.normal(size=(8, 30)), rng.normal(size=(8, 30)) + 3.0])
    y = np.repeat(["a", "b"], 8)
    model = GaussianMixtureClassifier(prior="weak").fit(wide, Labels.from_doubt(y, 0.2))
    assert (model.predict(wide) == y).all()
    with pytest.warns(SingularCovarianceWarning, match="class 'a'.*8 effective items for 30"):
        GaussianMixtureClassifier().fit(wide, y)


# -- What can go wrong ----------------------------------------------------------------------------


def test_a_singular_covariance_says_which_class_and_what_to_do():
    y = np.repeat([0, 1], [148, 2])
    with pytest.raises(ValueError, match=r"class 1 .* rests on 2 effective items for 4.*prior"):
        GaussianMixtureClassifier(reg_covar=0.0).fit(X, y)
    twice = np.hstack([X, X])
    with pytest.raises(ValueError, match="all classes share.* singular"):
        GaussianMixtureClassifier("tied", reg_covar=0.0).fit(twice, Y)


def test_a_class_without_plausible_items_is_not_learned():
    labels = Labels.from_doubt(NAMES[Y], 0.0, classes=[*NAMES, "unicorn"])
    with pytest.warns(EmptyClassWarning, match=r"\['unicorn'\] never are"):
        model = GaussianMixtureClassifier().fit(X, labels)
    assert model.classes_.tolist() == sorted([*NAMES, "unicorn"])
    assert model.weights_[1 - 1 + model.classes_.tolist().index("unicorn")] == 0
    assert np.isnan(model.means_[model.classes_.tolist().index("unicorn")]).all()
    assert "unicorn" not in model.predict(X)
    with pytest.raises(ValueError, match="contradict it in 1 row"):
        model.predict(X[:1], labels=Labels.from_crisp(["unicorn"], classes=model.classes_))


def test_no_improvement_is_said():
    overall = np.cov(X.T, bias=True)
    start = {"means": np.tile(X.mean(axis=0), (2, 1)), "covariances": np.stack([overall] * 2)}
    with pytest.warns(ConvergenceWarning, match="none did"):
        GaussianMixtureClassifier(n_classes=2, init=start, reg_covar=0.0).fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariance_type": "round"}, "covariance_type"),
        ({"init": "magic"}, "init"),
        ({"n_components": 0}, "n_components should be a whole number from 1"),
        ({"n_components": [1, 2]}, "one for each of the 3 classes"),
        ({"n_init": 0}, "n_init"),
        ({"tol": -1.0}, "tol"),
        ({"reg_covar": -1.0}, "reg_covar"),
        ({"prior": {"strength": 3}}, r"\['strength'\]"),
        ({"prior": {"scale": -1.0}}, "positive definite"),
        ({"prior": {"weights": 0.5}}, "weights should be a finite number of at least 1"),
        ({"init": {"weights": [1, 1, 1]}}, "should be a dict with means"),
        ({"init": {"means": [[0.0] * 4] * 2}}, r"shape \(3, 4\), but have shape \(2, 4\)"),
        ({"n_classes": 2}, "n_classes=2"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixtureClassifier(**options).fit(X, NAMES[Y])


def test_rows_of_the_engine_bring_their_own_labels():
    with pytest.raises(ValueError, match="put them into the rows"):
        GaussianMixtureClassifier().fit(StreamRows([(X, Y)]), Y)
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinity was found in 1 row \(row 3\)"):
        GaussianMixtureClassifier().fit(StreamRows([(bad, Y)]))
    with pytest.raises(ValueError, match="at most three columns"):
        GaussianMixtureClassifier().fit(StreamRows([(X, Y, None, None)]))
    with_labels = GaussianMixtureClassifier(random_state=0).fit(StreamRows([(X, SOFT)]))
    whole = GaussianMixtureClassifier(random_state=0).fit(X, SOFT)
    assert with_labels.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(with_labels.means_, whole.means_, atol=1e-6)


def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    path = tmp_path / "fit.npz"
    options = {"tol": 1e-10, "n_init": 2, "random_state": 0}
    whole = GaussianMixtureClassifier(**options).fit(X, SOFT)

    def interrupt(progress):
        if progress.iteration == 15:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        GaussianMixtureClassifier(checkpoint=path, callback=interrupt, **options).fit(X, SOFT)
    resumed = GaussianMixtureClassifier(checkpoint=path, **options).fit(X, SOFT)
    np.testing.assert_array_equal(resumed.means_, whole.means_)
    np.testing.assert_array_equal(resumed.history_, whole.history_)
