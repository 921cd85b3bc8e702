"""Promises of clusterings: labels, masses and partition are one story; order and chance are not."""

import pickle
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.validation import check_is_fitted

from plausible.belief import SparseMasses, contour, to_sparse
from plausible.testing.data import COLUMNS, assert_feature_names, imported
from plausible.testing.promises import assert_refused, promised_by_clusterings
from plausible.testing.samples import assert_close
from plausible.testing.subject import Subject

SIZES = (23, 31, 28, 26, 25)  # of blobs; more are of the last size
NEARLY = 1e-3  # of masses of items that were there, and that are placed again


class Blobs:
    """Points in as many blobs, far from each other, as the estimator looks for; by default two."""

    def __init__(self, subject: Subject) -> None:
        wanted = subject.estimator.get_params().get("n_clusters", 2)
        self.n_clusters = wanted if isinstance(wanted, int) and wanted > 0 else 2

    @cached_property
    def _drawn(self) -> tuple[NDArray[Any], NDArray[Any]]:
        sizes = [SIZES[min(k, len(SIZES) - 1)] for k in range(self.n_clusters)]
        turns = 2 * np.pi * np.arange(self.n_clusters) / self.n_clusters
        far = 10.0 * max(self.n_clusters, 2) * np.column_stack([np.cos(turns), np.sin(turns)])
        X, truth = make_blobs(sizes, centers=far, cluster_std=1.0, random_state=0)
        return X, truth

    @property
    def X(self) -> NDArray[Any]:  # noqa: N802
        """The points, a new array each time."""
        return self._drawn[0].copy()

    @property
    def truth(self) -> NDArray[Any]:
        """Number of the blob of each point."""
        return self._drawn[1]


class Found(NamedTuple):
    """What a clustering found: hard labels, and masses of all sets of clusters if it has any."""

    labels: NDArray[Any]
    masses: NDArray[Any] | None


def found(model: Any) -> Found:
    """What a fitted clustering found."""
    partition = getattr(model, "partition_", None)
    return Found(model.labels_, None if partition is None else partition.masses().to_dense())


def written_out(masses: Any) -> NDArray[Any]:
    """A table of masses; one with few entries, as scipy has them, is filled with zeros."""
    return np.asarray(masses.toarray() if hasattr(masses, "toarray") else masses)


def repeatable(subject: Subject) -> Any:
    """A new estimator whose chance is fixed, where it has some."""
    model = subject.make()
    is_free = "random_state" in model.get_params() and model.random_state is None
    return model.set_params(random_state=0) if is_free else model


def assert_same_partition(model: Any, other: Any, what: str, close: float = 1e-9) -> None:
    """Both found the same clusters with the same numbers."""
    ours, theirs = found(model), found(other)
    counts = len(ours.labels), len(theirs.labels)
    assert counts[0] == counts[1], f"{what}: {counts[0]} labels instead of {counts[1]}"
    changed = int((ours.labels != theirs.labels).sum())
    assert changed == 0, f"{what}: {changed} of {len(ours.labels)} labels change"
    if ours.masses is not None and theirs.masses is not None:
        assert_close(ours.masses, theirs.masses, f"{what}: masses change", rtol=0.0, atol=close)


# -- One story -------------------------------------------------------------------------------------


@promised_by_clusterings
def check_clustering_labels(subject: Subject) -> None:
    """`labels_` are the numbers of clusters that are far apart, -1 for outliers."""
    blobs = Blobs(subject)
    model = subject.train(repeatable(subject), blobs.X)
    labels = np.asarray(model.labels_)
    assert labels.shape == (len(blobs.X),), f"labels_ have shape {labels.shape}"
    assert labels.dtype.kind == "i", f"labels_ should be whole numbers, but are of {labels.dtype}"
    n_clusters = model.partition_.n_clusters if hasattr(model, "partition_") else labels.max() + 1
    low, high = labels.min(), labels.max()
    assert low >= -1, f"labels_ should be -1 for outliers or the number of a cluster, but are {low}"
    assert high < n_clusters, f"labels_ go up to {high} for {n_clusters} clusters"
    inside = labels >= 0
    assert inside.mean() > 0.8, f"{1 - inside.mean():.0%} of the items of blobs are outliers"
    score = adjusted_rand_score(blobs.truth[inside], labels[inside])
    assert score == 1.0, f"blobs that are far apart are mixed: adjusted Rand index {score:.3f}"


@promised_by_clusterings
def check_clustering_fit_predict(subject: Subject) -> str | None:
    """`fit_predict` gives the labels of fit, which returns the estimator and leaves X."""
    blobs = Blobs(subject)
    X, model = blobs.X, repeatable(subject)
    assert subject.train(model, X) is model, "fit should return self"
    assert np.array_equal(X, blobs.X), "X was modified"
    if subject.own_fit is not None:
        return "fit_predict takes what its own fit takes"
    again = repeatable(subject).fit_predict(X)
    assert np.array_equal(again, model.labels_), "fit_predict gives other labels than fit"
    return None


@promised_by_clusterings
def check_clustering_masses(subject: Subject) -> str | None:
    """`masses_` are not negative and sum to one in each row, on `focal_sets_`."""
    blobs = Blobs(subject)
    model = subject.train(repeatable(subject), blobs.X)
    if not hasattr(model, "masses_"):
        return "has no masses_"
    values, sets = written_out(model.masses_), np.asarray(model.focal_sets_)
    assert values.shape == (len(blobs.X), len(sets)), (
        f"masses_ have shape {values.shape} for {len(blobs.X)} items and {len(sets)} focal sets"
    )
    assert len(np.unique(sets)) == len(sets), "focal_sets_ name a set twice"
    assert values.min() >= 0.0, f"masses are negative, down to {values.min():.3g}"
    assert_close(values.sum(axis=1), 1.0, "masses do not sum to one")
    return None


@promised_by_clusterings
def check_clustering_partition(subject: Subject) -> str | None:
    """`partition_` says what `masses_` and `labels_` say."""
    model = subject.train(repeatable(subject), Blobs(subject).X)
    if not (hasattr(model, "partition_") and hasattr(model, "masses_")):
        return "has no partition_ with masses_"
    partition = model.partition_
    given = SparseMasses(written_out(model.masses_), model.focal_sets_, partition.n_clusters)
    told = partition.masses().to_dense()
    assert_close(told, given.to_dense(), "masses_ are not of partition_")
    assert_close(partition.contour, contour(given), "its contour is not of masses_")
    assert np.array_equal(partition.hard(), model.labels_), "labels_ are not those of partition_"
    return None


@promised_by_clusterings
def check_clustering_new_items(subject: Subject) -> str | None:
    """Items that were there are placed where they were, by every kind of answer."""
    X = Blobs(subject).X
    model = subject.train(repeatable(subject), X)
    if not hasattr(model, "predict") or subject.own_fit is not None:
        return "does not place new items"
    moved = int((model.predict(X) != model.labels_).sum())
    assert moved == 0, f"predict moves {moved} of {len(X)} items that were there"
    assert np.array_equal(model.predict(X[:3]), model.labels_[:3]), "few items are placed otherwise"
    if hasattr(model, "predict_partition"):
        partition = model.predict_partition(X)
        told = partition.masses().to_dense()
        before = model.partition_.masses().to_dense()
        assert_close(told, before, "masses of items that were there change", atol=NEARLY)
        again = to_sparse(model.predict_mass(X)).to_dense()
        assert_close(again, told, "predict_mass is not of predict_partition")
        for method, table in (
            ("predict_proba", partition.probability),
            ("predict_plausibility", partition.contour),
        ):
            assert_close(getattr(model, method)(X), table, f"{method} is not of predict_partition")
    return None


# -- Chance and order ------------------------------------------------------------------------------


@promised_by_clusterings
def check_clustering_random_state(subject: Subject) -> None:
    """With a fixed random_state two runs are the same, and chance elsewhere is left alone."""
    X = Blobs(subject).X
    before: Any = np.random.get_state()  # noqa: NPY002
    model, other = (subject.train(repeatable(subject), X) for _ in range(2))
    after: Any = np.random.get_state()  # noqa: NPY002
    assert_same_partition(other, model, "the same random_state once more")
    is_same = np.array_equal(before[1], after[1]) and before[2] == after[2]
    assert is_same, "numbers were drawn from numpy's global state"


@promised_by_clusterings
def check_clustering_sample_order(subject: Subject) -> None:
    """The order of items does not matter for clusters that are far apart, but for their names."""
    blobs = Blobs(subject)
    order = np.random.default_rng(3).permutation(len(blobs.X))
    model = subject.train(repeatable(subject), blobs.X)
    other = subject.train(repeatable(subject), blobs.X[order])
    score = adjusted_rand_score(model.labels_[order], other.labels_)
    assert score == 1.0, f"items in another order: adjusted Rand index {score:.3f} instead of 1"


# -- Copies ----------------------------------------------------------------------------------------


@promised_by_clusterings
def check_clustering_copies(subject: Subject) -> None:
    """What was found goes through pickle; a clone has the parameters alone."""
    X = Blobs(subject).X
    model = repeatable(subject)
    before = repr(sorted(model.get_params().items()))
    subject.train(model, X)
    assert_same_partition(pickle.loads(pickle.dumps(model)), model, "through pickle", close=0.0)
    copy = clone(model)
    after = [repr(sorted(one.get_params().items())) for one in (model, copy)]
    assert after == [before, before], f"parameters were {before} and became {after}"
    assert_refused(lambda: check_is_fitted(copy), "not fitted", error=NotFittedError)
    assert_same_partition(subject.train(copy, X), model, "a clone fitted on the same items")


@promised_by_clusterings
def check_clustering_second_fit(subject: Subject) -> None:
    """A clustering that was fitted before on other items is as a new one."""
    X = Blobs(subject).X
    model = subject.train(repeatable(subject), np.hstack([X[::-1], X])[:-5] + 2.0)
    subject.train(model, X)
    fresh = subject.train(repeatable(subject), X)
    assert_same_partition(model, fresh, "fitted once before on other items")


# -- Data as they come, and clear errors -----------------------------------------------------------


@promised_by_clusterings
def check_clustering_float32(subject: Subject) -> None:
    """In single precision the clusters are the same, and masses nearly."""
    X = Blobs(subject).X
    model = subject.train(repeatable(subject), X)
    other = subject.train(repeatable(subject), X.astype(np.float32))
    assert_same_partition(other, model, "single precision", close=1e-3)


@promised_by_clusterings
def check_clustering_lists(subject: Subject) -> None:
    """Lists and arrays that cannot be written to are as good as others."""
    X = Blobs(subject).X
    model = subject.train(repeatable(subject), X)
    other = subject.train(repeatable(subject), X.tolist())
    assert_same_partition(other, model, "lists instead of arrays")
    X.flags.writeable = False
    assert_same_partition(subject.train(repeatable(subject), X), model, "read-only arrays")


@promised_by_clusterings
def check_clustering_frames(subject: Subject) -> str | None:
    """Data frames of pandas and polars are as good as arrays, and their columns are known."""
    packages = [frames for name in ("pandas", "polars") if (frames := imported(name)) is not None]
    if not packages:
        return "neither pandas nor polars is installed"
    blobs = Blobs(subject)
    expected = subject.train(repeatable(subject), blobs.X)
    for frames in packages:
        X = frames.DataFrame(dict(zip(COLUMNS, blobs.X.T, strict=True)))
        model = subject.train(repeatable(subject), X)
        assert_same_partition(model, expected, f"a frame of {frames.__name__}")
        if subject.own_fit is None:
            assert_feature_names(model, frames, blobs)
    return None


@promised_by_clusterings
def check_clustering_errors(subject: Subject) -> str | None:
    """NaN, another number of features, and questions before fit are refused."""
    X = Blobs(subject).X
    holes = X.copy()
    holes[7, 1] = np.nan
    assert_refused(lambda: subject.train(repeatable(subject), holes), "NaN")
    if not hasattr(subject.make(), "predict") or subject.own_fit is not None:
        return None
    name = type(subject.estimator).__name__
    assert_refused(lambda: subject.make().predict(X), name, "fit", error=NotFittedError)
    model = subject.train(repeatable(subject), X)
    assert model.n_features_in_ == 2, f"n_features_in_ should be 2, but is {model.n_features_in_}"
    assert_refused(lambda: model.predict(holes), "NaN")
    wide = np.hstack([X, X[:, :1]])
    assert_refused(lambda: model.predict(wide), "3 features", "2 features")
    return None
