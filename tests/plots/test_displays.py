"""Pictures of credal partitions: what is drawn is what was found."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

from cluster.data import BUTTERFLY, blobs
from plausible.base import CredalPartition
from plausible.belief import SparseMasses, plausibility
from plausible.cluster import ECM, SECM
from plausible.plots import CredalPartitionDisplay, MassSurfaceDisplay, PartitionImageDisplay
from plausible.plots.partitions import hull

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    return ECM(2, outlier_distance=np.sqrt(10), random_state=0).fit(BUTTERFLY)


def drawn(ax, label):
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return np.column_stack([line.get_xdata(), line.get_ydata()])


def test_points_are_drawn_where_they_belong(model):
    display = CredalPartitionDisplay.from_estimator(model, BUTTERFLY).plot()
    lower, _ = model.partition_.rough()
    for k in (0, 1):
        np.testing.assert_array_equal(drawn(display.ax_, f"cluster {k}"), BUTTERFLY[lower[:, k]])
    np.testing.assert_array_equal(drawn(display.ax_, "outlier"), BUTTERFLY[[11]])
    np.testing.assert_array_equal(drawn(display.ax_, "center"), model.cluster_centers_)
    (between,) = display.ax_.collections
    np.testing.assert_array_equal(between.get_offsets(), BUTTERFLY[[5]])


def test_hulls_go_around_all_points():
    X, _ = blobs(40, seed=3)
    corners = hull(X)
    np.testing.assert_array_equal(corners[0], corners[-1])
    turned = np.diff(corners, axis=0)
    for point in X:
        apart = point - corners[:-1]
        sides = turned[:, 0] * apart[:, 1] - turned[:, 1] * apart[:, 0]
        assert (sides >= -1e-9).all() or (sides <= 1e-9).all()
    assert len(hull(X[:1])) == 3
    assert len(hull(np.array([[0.0, 0], [1, 1], [2, 2], [3, 3]]))) == 3  # on a line


def test_names_and_other_features_are_drawn():
    X, _ = blobs(50, 2, n_features=4, seed=1)
    model = ECM(2, random_state=0).fit(X)
    named = CredalPartition(model.partition_.masses(), ["sick", "well"])
    ax = pyplot.subplots()[1]
    display = CredalPartitionDisplay.from_partition(named, X, features=(3, 1))
    assert display.plot(ax, hulls=False).ax_ is ax
    lower, _ = named.rough()
    np.testing.assert_array_equal(drawn(ax, "cluster well"), X[lower[:, 1]][:, [3, 1]])


@pytest.mark.parametrize(("clusters", "mask"), [([0], 1), ([0, 1], 3), ([], 0)])
def test_surfaces_are_masses_of_places(model, clusters, mask):
    display = MassSurfaceDisplay.from_estimator(model, BUTTERFLY, clusters, grid_resolution=13)
    place = [[display.x[4], display.y[9]]]
    masses = model.predict_mass(place)
    column = masses.focal_sets.tolist().index(mask)
    assert display.values[9, 4] == pytest.approx(masses.values[0, column])
    possible = MassSurfaceDisplay.from_estimator(
        model, BUTTERFLY, clusters, "plausibility", grid_resolution=13
    )
    assert possible.values[9, 4] == pytest.approx(plausibility(masses, [mask])[0, 0])
    display.plot()
    assert display.ax_.get_title().startswith("mass of")
    assert display.x[0] < BUTTERFLY[:, 0].min() < BUTTERFLY[:, 0].max() < display.x[-1]


def test_images_show_clusters_doubt_and_outliers():
    rows = np.array([[0.0, 0.9, 0.1, 0], [0, 0.1, 0.9, 0], [0.8, 0.2, 0, 0], [0, 0.1, 0.1, 0.8]])
    partition = CredalPartition(SparseMasses(np.tile(rows, (3, 1)), [0, 1, 2, 3], 2))
    image = np.arange(12.0).reshape(3, 4)
    display = PartitionImageDisplay.from_partition(partition, (3, 4), image).plot()
    assert display.labels[0].tolist() == [0, 1, -1, 0]
    assert display.sizes[2].tolist() == [1, 1, 0, 2]
    np.testing.assert_array_equal(display.colors[1, 2], 0.0)
    shown = [np.asarray(ax.images[0].get_array()) for ax in display.axes_]
    np.testing.assert_array_equal(shown[0], image)
    np.testing.assert_array_equal(shown[2], display.sizes)
    volume = PartitionImageDisplay.from_partition(partition, (2, 3, 2), depth=1)
    assert volume.sizes.tolist() == [[0, 2], [1, 1], [0, 2]]
    assert len(volume.plot().axes_) == 2


def test_an_image_of_secm():
    rng = np.random.default_rng(0)
    image = np.repeat([[0.0, 1.0]], 8, axis=0).repeat(5, axis=1) + 0.2 * rng.normal(size=(8, 10))
    model = SECM(2, weights=image.shape, random_state=0).fit(image)
    display = PartitionImageDisplay.from_estimator(model, image)
    np.testing.assert_array_equal(display.labels.ravel(), model.labels_)
    np.testing.assert_array_equal(display.image, image)
    colored = np.repeat(image[..., None], 3, axis=2)
    again = SECM(2, weights=image.shape, random_state=0).fit(colored)
    same = PartitionImageDisplay.from_estimator(again, colored)
    assert same.labels.shape == image.shape
    assert same.image.shape == (8, 10, 3)


def test_an_image_on_given_axes(model):
    display = PartitionImageDisplay.from_partition(model.partition_, (3, 4))
    _, panels = pyplot.subplots(1, 2)
    assert display.plot(ax=panels).axes_.tolist() == panels.tolist()
    np.testing.assert_array_equal(panels[1].images[0].get_array(), display.sizes)
    _, single = pyplot.subplots()
    assert display.plot(ax=single).ax_ is single  # the clusters alone
    assert single.get_title() == "clusters"
    np.testing.assert_array_equal(single.images[0].get_array(), np.clip(display.colors, 0, 1))
    with pytest.raises(ValueError, match="2 axes .* 3 were given"):
        display.plot(ax=pyplot.subplots(1, 3)[1])
    with pytest.raises(ValueError, match="axes of matplotlib, but str"):
        display.plot(ax="here")


def test_what_cannot_be_drawn_is_refused(model):
    with pytest.raises(ValueError, match="numbers of two columns"):
        CredalPartitionDisplay.from_estimator(model, BUTTERFLY, features=(0, 2))
    with pytest.raises(ValueError, match="the 12 items of the partition"):
        CredalPartitionDisplay.from_estimator(model, BUTTERFLY[:5])
    with pytest.raises(ValueError, match="fitted clustering with partition_"):
        CredalPartitionDisplay.from_estimator(ECM(2), BUTTERFLY)
    with pytest.raises(ValueError, match="numbers from 0 to 1"):
        MassSurfaceDisplay.from_estimator(model, BUTTERFLY, [2])
    with pytest.raises(ValueError, match="of two features"):
        MassSurfaceDisplay.from_estimator(model, BUTTERFLY[:, :1])
    with pytest.raises(ValueError, match="with 12 pixels"):
        PartitionImageDisplay.from_partition(model.partition_, (3, 3))
    with pytest.raises(ValueError, match="fitted clustering with partition_"):
        PartitionImageDisplay.from_estimator(ECM(2), np.zeros((3, 4)))
