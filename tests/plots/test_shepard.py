"""Shepard diagrams, and partitions on more clusters than sets can be written of."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

from cluster.data import BUTTERFLY
from plausible.cluster import ECM, EVCLUS, EKNNClus
from plausible.plots import CredalPartitionDisplay, ShepardDisplay

mpl.use("Agg")


def test_pairs_are_drawn_where_they_belong():
    model = EVCLUS(2, "singletons", n_init=1, tol=1e-4, random_state=0).fit(BUTTERFLY)
    display = ShepardDisplay.from_estimator(model).plot()
    points, line = display.ax_.lines
    assert len(points.get_xdata()) == 12 * 11 // 2
    by_hand = model.masses_ @ ((model.focal_sets_[:, None] & model.focal_sets_) == 0)
    conflicts = (by_hand @ model.masses_.T)[np.triu_indices(12, 1)]
    np.testing.assert_allclose(np.sort(points.get_ydata()), np.sort(conflicts), atol=1e-9)
    at_scale = np.interp(model.scale_, line.get_xdata(), line.get_ydata())
    assert at_scale == pytest.approx(0.95, abs=0.02)
    assert display.ax_.get_title() == f"stress {model.stress_:.4f}"
    pyplot.close("all")


def test_others_have_no_shepard_diagram():
    with pytest.raises(ValueError, match="fitted EVCLUS or CEVCLUS.*ECM has none"):
        ShepardDisplay.from_estimator(ECM(2))


def test_many_clusters_are_drawn():
    centers = 10.0 * np.argwhere(np.ones((8, 8)))
    X = np.repeat(centers, 5, axis=0) + np.random.default_rng(0).uniform(-0.2, 0.2, (320, 2))
    model = EKNNClus(4, gamma=0.1, random_state=0).fit(X)
    display = CredalPartitionDisplay.from_estimator(model, X).plot(legend=False)
    assert len([line for line in display.ax_.lines if len(line.get_xdata()) == 5]) >= 64
    pyplot.close("all")
