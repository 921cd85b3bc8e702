"""Small seeded data with doubtful labels, and comparisons of models by what they answer."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from plausible.labels import Labels

NAMES: Any = np.array(["ant", "bee", "cow"])
CENTERS = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])


@dataclass(frozen=True, eq=False)
class Sample:
    """Points, hard labels of which a quarter is wrong, the doubt in each, and fresh points.

    All doubts are different, so that a row can be recognized by its contour, and wrong labels are
    doubted more, so that a model that hears the doubt differs from one that does not.
    """

    X: NDArray[Any]
    codes: NDArray[Any]
    doubt: NDArray[Any]
    fresh: NDArray[Any]
    fresh_names: NDArray[Any]

    @property
    def hard(self) -> NDArray[Any]:
        """Names that were given to the points."""
        return NAMES[self.codes]

    @cached_property
    def doubted(self) -> Labels:
        """The names, with the doubt in each."""
        return Labels.from_doubt(self.hard, self.doubt, classes=NAMES)

    @cached_property
    def sets(self) -> NDArray[Any]:
        """Possible classes, bool (n, K): the label, and every second time the next class, too."""
        inside = np.eye(len(NAMES), dtype=bool)[self.codes]
        inside[::2] |= np.roll(inside[::2], 1, axis=1)
        return inside

    @cached_property
    def contour(self) -> NDArray[Any]:
        """Plausibilities of no special form, (n, K), with maximum one in each row."""
        rng = np.random.default_rng(1)
        values = rng.uniform(0.05, 0.9, (len(self.X), len(NAMES)))
        values[np.arange(len(values)), self.codes] = 1.0
        return values

    @property
    def plausible(self) -> Labels:
        """The plausibilities of no special form as labels."""
        return Labels.from_plausibility(self.contour, classes=NAMES)


def draw(n: int = 60, seed: int = 0) -> Sample:
    """Three classes that overlap a little, n points of which a quarter has a wrong label.

    Examples
    --------
    >>> draw(5).hard
    array(['bee', 'cow', 'ant', 'cow', 'bee'], dtype='<U3')
    """
    X, truth = make_blobs(n + 200, centers=CENTERS, cluster_std=1.0, random_state=seed)
    rng = np.random.default_rng(seed)
    wrong = np.arange(n) % 4 == 0
    codes = np.where(wrong, (truth[:n] + 1) % len(NAMES), truth[:n])
    doubt = np.where(wrong, rng.uniform(0.7, 0.95, n), rng.uniform(0.05, 0.5, n))
    return Sample(X[:n], codes, doubt, X[n:], NAMES[truth[n:]])


def answers(model: Any, points: Any) -> tuple[NDArray[Any], Any]:
    """Predicted names, and probabilities (if the model has any) with columns in sorted order.

    Bare arrays carry no class names: the classes are then the numbers of the columns.
    """
    named = model.classes_.dtype.kind == "U"
    columns = model.classes_ if named else NAMES[model.classes_]
    predicted = model.predict(points)
    predicted = predicted if named else NAMES[predicted]
    if not hasattr(model, "predict_proba"):
        return predicted, None
    return predicted, model.predict_proba(points)[:, np.argsort(columns)]


def assert_close(
    found: Any, expected: Any, what: str, rtol: float = 1e-7, atol: float = 1e-9
) -> None:
    """Numbers agree but for rounding; `what` says what is wrong if they do not.

    Examples
    --------
    >>> assert_close([0.5, 0.5], [0.5, 0.6], "bets change")
    Traceback (most recent call last):
        ...
    AssertionError: bets change, by up to 0.1
    """
    ours, theirs = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    fits = theirs.ndim == 0 or ours.shape == theirs.shape
    assert fits, f"{what}: shape {ours.shape} instead of {theirs.shape}"
    if not np.allclose(ours, theirs, rtol=rtol, atol=atol):
        raise AssertionError(f"{what}, by up to {np.abs(ours - theirs).max():.3g}")


def assert_same(model: Any, other: Any, points: Any, what: str, others_points: Any = None) -> None:
    """Both models answer alike; `what` says why they should."""
    predicted, probability = answers(model, points)
    expected = answers(other, points if others_points is None else others_points)
    changed = int((predicted != expected[0]).sum())
    assert changed == 0, f"{what}: {changed} of {len(predicted)} predictions change"
    if probability is not None:
        changes = f"{what}: probabilities change"
        assert_close(probability, expected[1], changes, rtol=1e-6, atol=1e-12)


def differ(model: Any, other: Any, points: Any) -> bool:
    """Whether two models answer clearly differently on some points."""
    (predicted, probability), (before, probability_before) = (
        answers(model, points),
        answers(other, points),
    )
    if (predicted != before).any():
        return True
    return probability is not None and bool(np.abs(probability - probability_before).max() > 1e-3)


def soft_score(labels: Labels, predicted: NDArray[Any]) -> float:
    """Soft accuracy, written out: what the labels favor the answers by, as a share of the most."""
    favor = labels.contour / labels.contour.max(axis=1, keepdims=True)
    favor = favor - favor.min(axis=1, keepdims=True)
    column = [labels.classes.tolist().index(name) for name in predicted.tolist()]
    return float(favor[np.arange(len(labels)), column].sum() / favor.max(axis=1).sum())
