"""Every clustering has masses that sum to one, or refuses clearly, at the edge of the possible."""

import os
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from conformance.degenerate import base, check_refusal, feature_cases, label_cases
from conformance.register import CLUSTERINGS, VARIANTS
from plausible.testing.clusterings import written_out


def shapes() -> dict[str, np.ndarray]:
    """Features as classifiers meet them, and places where clusters are no clusters."""
    X, codes = base()
    rng = np.random.default_rng(3)
    line, angle = np.arange(18.0), np.linspace(0.0, 2 * np.pi, 19)[:-1]
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    further = {
        "two points, many times": np.repeat([[0.0, 0.0], [1.0, 1.0]], 9, axis=0),
        "three points, many times": np.repeat(np.eye(3, 2), 6, axis=0),
        "one point and one other": np.vstack([np.zeros((17, 2)), [[1.0, 0.0]]]),
        "one point and one next to it": np.vstack([np.ones((17, 2)), [[1.0, 1.0 + 2e-16]]]),
        "a square": np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
        "three items": X[:3],
        "four items": X[:4],
        "five items, two of them equal": X[[0, 1, 2, 3, 3]],
        "equal steps on a line": line[:, None],
        "steps that grow without end": np.exp2(line * 50)[:, None],
        "a grid": np.array([(a, b) for a in range(5) for b in range(4)], dtype=float),
        "a circle": circle,
        "a cloud within a ring": np.vstack([0.1 * X, 9 * circle]),
        "corners of a simplex": np.eye(18),
        "two blobs very far apart": X[:, :2] + 1e12 * (codes[:, None] == 0),
        "clusters of very unequal size": np.vstack([rng.normal(size=(40, 2)), [[50.0, 50.0]]]),
        "clusters of very unequal scale": X * np.array([1e-6, 1.0, 1e6])[codes][:, None],
    }  # fmt: skip
    plain = {case.name: case.X for case in [*feature_cases(), *label_cases()] if case.X is not X}
    found: dict[str, np.ndarray] = {}
    for name, values in (plain | further).items():
        same = [k for k, other in found.items() if other.dtype == values.dtype
                and np.array_equal(other, values)]  # fmt: skip
        if not same:
            found[name] = values
    return found


SHAPES = shapes()
# Each clustering takes another fourth of them, unless there is time.
STEP = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 4
TRIED = [
    pytest.param(name, shape, marks=[pytest.mark.long] * (name in VARIANTS))
    for turn, name in enumerate(CLUSTERINGS)
    for place, shape in enumerate(SHAPES)
    if (place + turn) % STEP == 0
]


@pytest.mark.parametrize(("name", "shape"), TRIED)
def test_clusters_or_refuses(name, shape):
    subject = CLUSTERINGS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = subject.train(subject.make(), SHAPES[shape])
            check_partition(model, len(SHAPES[shape]))
        except ValueError as error:
            if "minimum of 2 is required" not in str(error):  # scikit-learn's words for one item
                check_refusal(error)
    for warning in caught:
        ours = warning.category.__module__.startswith("plausible.")
        allowed = ours or issubclass(warning.category, ConvergenceWarning)
        assert allowed, f"{warning.category.__name__} was raised: {warning.message}"


def check_partition(model, n_items):
    contour = model.partition_.contour
    assert contour.shape[0] == n_items
    assert ((contour >= 0) & (contour <= 1 + 1e-9)).all(), "degrees are no numbers in [0, 1]"
    values = written_out(model.masses_)
    assert np.isfinite(values).all(), "masses are no numbers"
    assert values.min() >= 0
    np.testing.assert_allclose(values.sum(axis=1), 1.0, atol=1e-9)
    n_clusters = model.partition_.n_clusters
    assert ((model.labels_ >= -1) & (model.labels_ < n_clusters)).all()


def test_there_are_enough_shapes():
    assert len(SHAPES) >= 60
