import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import NearestCentroid

from plausible.labels import Labels
from plausible.models import SoftNearestCentroid

X, Y = load_iris(return_X_y=True)


def test_hard_labels_give_scikit_learns_nearest_centroid():
    theirs = NearestCentroid().fit(X, Y)
    ours = SoftNearestCentroid().fit(X, Y)
    np.testing.assert_allclose(ours.means_, theirs.centroids_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_doubt_is_a_weight():
    doubt = np.random.default_rng(0).random(len(Y))
    soft = SoftNearestCentroid().fit(X, Labels.from_doubt(Y, doubt))
    weighted = SoftNearestCentroid().fit(X, Y, sample_weight=1 - doubt)
    np.testing.assert_allclose(soft.means_, weighted.means_)


def test_a_class_without_rows_is_never_predicted():
    labels = Labels.from_crisp(["a", "b", "a"], classes=["a", "b", "z"])
    model = SoftNearestCentroid().fit([[0.0], [1.0], [0.1]], labels)
    assert np.isnan(model.means_[2]).all()
    assert set(model.predict([[0.0], [1.0], [99.0]])) == {"a", "b"}
    np.testing.assert_allclose(model.predict_proba([[5.0]])[0, 2], 0)


def test_labels_that_say_nothing_are_refused():
    with pytest.raises(ValueError, match="all labels are unknown or have zero sample weight"):
        SoftNearestCentroid().fit(X, Labels.unknown(len(X), [0, 1]))
