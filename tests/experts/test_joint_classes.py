"""The joint classifier in any order of classes."""

from itertools import permutations

import numpy as np
import pytest

from plausible.experts import Annotations, JointAnnotatorClassifier

NAMES = np.array(["b", "c", "a"])


@pytest.mark.parametrize("order", list(permutations("abc")))
def test_the_order_of_classes_does_not_matter(order):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=60)
    X = rng.normal(size=(60, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    wrong = rng.uniform(size=(60, 3)) < [0.1, 0.3, 0.4]
    said = NAMES[(truth[:, None] + wrong) % 3]  # who errs, errs in one direction
    first, other = (
        JointAnnotatorClassifier(tol=1e-3).fit(X, Annotations.from_answers(said, classes=classes))
        for classes in ("abc", order)
    )
    found = other.reliability_.posterior[:, [order.index(name) for name in "abc"]]
    np.testing.assert_allclose(found, first.reliability_.posterior, atol=1e-4)
    np.testing.assert_allclose(other.predict_proba(X), first.predict_proba(X), atol=1e-4)
    assert (other.predict(X) == NAMES[truth]).mean() > 0.75
