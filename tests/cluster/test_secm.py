"""Spatial evidential c-means: neighbors have a say."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array

from cluster.data import blobs
from plausible.cluster import ECM, SECM, image_weights


def noisy(shape=(40, 40), noise=0.5, seed=0):
    """A disk on a dark ground, with noise."""
    rng = np.random.default_rng(seed)
    places = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    apart = ((places - np.array(shape) / 2.2) ** 2).sum(axis=-1)
    truth = (apart < np.quantile(apart, 0.25)).astype(int)
    return truth, truth + noise * rng.normal(size=shape)


def error(model, truth):
    """Part of the pixels that are wrong: the brighter cluster is the disk."""
    bright = int(np.argmax(model.cluster_centers_.mean(axis=1)))
    found = model.partition_.fuzzy().argmax(axis=1) == bright
    return float((found != truth.ravel()).mean())


def test_items_without_neighbors_give_ecm():
    X, _ = blobs(60, 3, seed=2)
    plain = ECM(3, 1.2, 1.7, random_state=0).fit(X)
    for weights, average in product(
        (None, eye_array(60), 3.0 * np.eye(60)), ("features", "distances")
    ):
        model = SECM(3, weights, average, 1.2, 1.7, random_state=0).fit(X)
        np.testing.assert_allclose(model.masses_, plain.masses_, atol=1e-10)
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-12)
        np.testing.assert_allclose(model.predict_mass(X).values, plain.masses_, atol=1e-10)


@pytest.mark.parametrize("average", ["features", "distances"])
@pytest.mark.parametrize("fuzzifier", [2.0, 1.4])
def test_the_objective_is_the_criterion_and_never_rises(fuzzifier, average):
    """Against the sum over neighbors, as it is written, with weights of any kind."""
    X, _ = blobs(50, 3, seed=4)
    rng = np.random.default_rng(0)
    weights = rng.uniform(size=(50, 50)) * (rng.uniform(size=(50, 50)) < 0.1) + np.eye(50)
    model = SECM(3, csr_array(weights), average, 1.3, fuzzifier, 6.0, random_state=0).fit(X)
    share = weights / weights.sum(axis=1, keepdims=True)
    total = 0.0
    for column, mask in zip(model.masses_.T, model.focal_sets_.tolist(), strict=True):
        members = [k for k in range(3) if mask >> k & 1]
        distances = np.full(50, 36.0)
        if members:
            middle = model.cluster_centers_[members].mean(axis=0)
            apart = ((share @ X - middle) ** 2).sum(axis=1)
            if average == "distances":
                apart = share @ ((X - middle) ** 2).sum(axis=1)
            distances = len(members) ** 1.3 * apart
        total += (column**fuzzifier * distances).sum()
    assert model.objective_ == pytest.approx(total, rel=1e-9)
    assert (np.diff(model.history_) <= 0).all()
    np.testing.assert_allclose(model.masses_.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 40), (10, 14, 12)])
@pytest.mark.parametrize("seed", [0, 1])
def test_neighbors_halve_the_errors_of_pixels(shape, seed):
    truth, image = noisy(shape, seed=seed)
    plain = ECM(2, random_state=0).fit(image.reshape(-1, 1))
    model = SECM(2, weights=shape, random_state=0).fit(image)
    assert error(plain, truth) > 0.05
    assert error(model, truth) <= 0.5 * error(plain, truth)


def test_an_image_may_come_as_a_table_and_with_channels():
    _, image = noisy((12, 9))
    table = SECM(2, weights=(12, 9), random_state=0).fit(image.reshape(-1, 1))
    by_hand = SECM(2, weights=image_weights((12, 9)), random_state=0).fit(image.reshape(-1, 1))
    for model in (SECM(2, weights=(12, 9), random_state=0).fit(image), by_hand):
        np.testing.assert_array_equal(model.masses_, table.masses_)
    colors = np.stack([image, image[::-1]], axis=-1)
    model = SECM(2, weights=(12, 9), random_state=0).fit(colors)
    assert model.cluster_centers_.shape == (2, 2)
    np.testing.assert_allclose(model.predict_mass(colors).values, model.masses_, atol=1e-10)


def test_weights_of_images_fall_with_distance_and_stay_inside():
    weights = image_weights((5, 7), radius=2, sigma=1.5).toarray().reshape(5, 7, 5, 7)
    places = np.stack(np.meshgrid(np.arange(5), np.arange(7), indexing="ij"), axis=-1)
    apart = places[:, :, None, None] - places
    near = (np.abs(apart).max(axis=-1) <= 2) * np.exp(-(apart**2).sum(axis=-1) / (2 * 1.5**2))
    expected = near / near.sum(axis=(2, 3), keepdims=True)
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert image_weights((2, 3, 4)).shape == (24, 24)
    np.testing.assert_array_equal(image_weights((3, 2), radius=0).toarray(), np.eye(6))


def test_weights_that_are_none_are_refused():
    X, _ = blobs(20)
    with pytest.raises(ValueError, match=r"a table \(20, 20\), or the shape of an image with 20"):
        SECM(2, weights=(4, 4)).fit(X)
    with pytest.raises(ValueError, match="should not be negative"):
        SECM(2, weights=-np.eye(20)).fit(X)
    lonely = np.eye(20)
    lonely[4, 4] = 0.0
    with pytest.raises(ValueError, match=r"1 row \(row 4\) have none.*add the identity"):
        SECM(2, weights=lonely).fit(X)
    with pytest.raises(ValueError, match="one to three axes"):
        image_weights((2, 2, 2, 2))
    model = SECM(2, weights=(4, 5), random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"\(3, 3\), or the shape of an image with 3 pixels"):
        model.predict(X[:3])
