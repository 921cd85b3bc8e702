"""Data at the edge of what can be learned from, and what an estimator owes a user there.

On each of these sets an estimator answers with finite probabilities that sum to one, at the items
it has seen, at a single one and at points far away; or it refuses with a `ValueError` that says
what was expected, what came and what to do. It warns only by categories of our own, or of
scikit-learn's `ConvergenceWarning`.
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from plausible.labels import Labels, as_labels
from plausible.testing.subject import takes_argument

NAMES = ["cow", "ant", "bee"]
N = 18
SHORTER = 20  # by which the one long set is shorter than one against ten thousand


@dataclass(frozen=True)
class Case:
    """A data set: features, labels of any kind, and sample weights if there are any."""

    name: str
    X: np.ndarray
    y: Any
    weight: np.ndarray | None = None

    @property
    def labels(self) -> Labels:
        return as_labels(self.y)

    @property
    def points(self) -> list[np.ndarray]:
        """Where answers are asked for: items, one item, and points far from all."""
        X = np.asarray(self.X, dtype=np.float64)
        d = X.shape[1]
        far = np.vstack([np.ones(d), -np.ones(d), np.arange(d) - 0.5 * d, np.eye(1, d)[0]])
        near = np.vstack([X[:6], X[-1:] + 3.0, 0.0 * far[:1], 1e3 * far])
        return [near, X[:1], np.vstack([1e200 * far, 1e15 * far])]


def base(n: int = N, d: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points in three overlapping groups, and the numbers of the groups."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    return rng.normal(size=(n, d)) + 2.0 * np.eye(3, d)[codes], codes


def hard(codes: np.ndarray) -> Labels:
    return Labels.from_crisp(np.array(NAMES)[codes], NAMES)


def feature_cases() -> list[Case]:
    """Features without variance, of extreme scales, of other types, in other numbers."""
    X, codes = base()
    y, rng = hard(codes), np.random.default_rng(1)
    one, step = np.ones(N), np.linspace(0.0, 1.0, N)
    shapes = {
        "all features constant": np.full((N, 2), 3.0),
        "one feature constant": np.column_stack([X[:, 0], 7.0 * one]),
        "all zero": np.zeros((N, 2)),
        "a column of zeros": np.column_stack([X[:, 0], 0.0 * one]),
        "negative zeros": np.column_stack([X[:, 0], -0.0 * one]),
        "constant within classes": 2.0 * np.eye(3, 2)[codes],
        "one feature": X[:, :1],
        "as many features as items": rng.normal(size=(N, N)),
        "one feature more than items": rng.normal(size=(N, N + 1)),
        "many features": rng.normal(size=(N, 60)),
        "a column twice": X[:, [0, 0]],
        "collinear columns": np.column_stack([X, X @ [1.0, -2.0]]),
        "nearly collinear columns": np.column_stack([X, X[:, 0] + 1e-9 * X[:, 1]]),
        "all rows twice": np.repeat(X[::2], 2, axis=0),
        "coincident points that contradict": np.repeat(X[:6], 3, axis=0),
        "two values only": (X > 0.5).astype(float),
        "truth values": X > 0.5,
        "whole numbers": np.rint(X).astype(int),
        "small whole numbers": np.where(X > 0, 127, -128).astype(np.int8),
        "single precision": X.astype(np.float32),
        "largest of single precision": (X * 1e37).astype(np.float32),
        "separable": X + 100.0 * np.eye(3, 2)[codes],
        "concentric classes": (X - X.mean(axis=0)) * (1.0 + codes[:, None]),
        "one item far away": np.vstack([X[:-1], [[1e8, -1e8]]]),
        "one item beyond squares": np.vstack([X[:-1], [[1e160, 0.0]]]),
        "far from zero": X + 1e6,
        "so far from zero that digits are lost": X + 1e15,
        "mixed scales": X * [1e-8, 1e8],
        "very mixed scales": X * [1e-100, 1e100],
        "a feature in steps of rounding": np.column_stack([X[:, 0], 1.0 + 1e-16 * step]),
        "subnormal numbers": X * 1e-310,
        "smallest number there is": np.where(X > 0.5, 5e-324, 0.0),
    }
    cases = [Case(name, values, y) for name, values in shapes.items()]
    scales = (1e-300, 1e-160, 1e-100, 1e-20, 1e-8, 1e8, 1e20, 1e100, 1e150, 1e153, 1e160, 1e300)
    cases += [Case(f"scale {scale:g}", X * scale, y) for scale in scales]
    return [
        *cases,
        Case("one item", X[:1], hard(codes[:1])),
        Case("one item of one class", X[:1], ["cow"]),
        Case("two items", X[:2], hard(codes[:2])),
        Case("one item of each class", X[:3], hard(codes[:3])),
        Case("two items of each class", X[:6], hard(codes[:6])),
    ]


def label_cases() -> list[Case]:
    """Labels that say nothing, hardly anything, too much, or too often the same."""
    X, codes = base()
    rng = np.random.default_rng(2)
    sure = np.eye(3)[codes]
    one_known = np.where(np.arange(N)[:, None] == 4, sure, 1.0)
    pairs = np.maximum(sure, np.eye(3)[(codes + 1) % 3])
    with_bee = np.maximum(sure, np.eye(3)[2])
    contours = {
        "nothing is known": np.ones((N, 3)),
        "one item is known": one_known,
        "one item of each class is known": np.where(np.arange(N)[:, None] < 3, sure, 1.0),
        "sets only": pairs,
        "the same set everywhere": np.tile([1.0, 1.0, 0.0], (N, 1)),
        "a class that is never alone": np.where(codes[:, None] == 2, pairs, sure),
        "a class that is always possible": with_bee,
        "a class without support": np.eye(3)[codes % 2],
        "one class of three": np.tile([0.0, 1.0, 0.0], (N, 1)),
        "plausibilities of next to nothing": np.where(sure > 0, 1.0, 1e-300),
        "rows of next to nothing": 1e-300 * np.maximum(sure, 0.3),
        "rows of subnormal numbers": 5e-324 * sure,
        "nearly unknown": np.where(sure > 0, 1.0, 1.0 - 1e-15),
        "hardly more plausible": np.where(sure > 0, 1.0, 0.999),
        "rows of equal low degrees": np.where(codes[:, None] == 0, 0.25, sure),
        "any degrees": rng.uniform(1e-3, 1.0, (N, 3)),
    }
    cases = [Case(name, X, Labels.from_plausibility(c, NAMES)) for name, c in contours.items()]
    crisp = np.array(NAMES)[codes]
    long = np.repeat(rng.normal(size=(100, 1)), 100, axis=0)[: 10_000 // SHORTER + 1]
    rare = np.append(np.zeros(len(long) - 1, dtype=int), 1)
    return [
        *cases,
        Case("doubt of one everywhere", X, Labels.from_doubt(crisp, 1.0, NAMES)),
        Case("doubt of nearly one", X, Labels.from_doubt(crisp, 1.0 - 1e-12, NAMES)),
        Case("doubt of nearly nothing", X, Labels.from_doubt(crisp, 1e-300, NAMES)),
        Case("one class", X, ["cow"] * N),
        Case("two classes", X, np.array(NAMES)[codes % 2]),
        Case("two classes that coincide", X[[0] * N], np.array(NAMES)[codes % 2]),
        Case("a class for each item", X[:8], np.arange(8)),
        Case("seventy classes", base(140)[0], np.arange(140) % 70),
        Case("numbers as classes", X, np.array([30, -2, 7])[codes]),
        Case("labels by chance", X, rng.choice(NAMES, N)),
        Case("gaps", X, [None if i % 3 else name for i, name in enumerate(crisp.tolist())]),
        Case("one against very many", long, np.array(["many", "one"])[rare]),
    ]


def weight_cases() -> list[Case]:
    """Weights of nothing, of next to nothing and of nearly everything."""
    X, codes = base()
    y, one = hard(codes), np.ones(N)
    soft = Labels.from_plausibility(np.maximum(np.eye(3)[codes], 0.2), NAMES)
    weights = {
        "a class of no weight": np.where(codes == 1, 0.0, 1.0),
        "one item of weight": np.where(np.arange(N) == 4, 1.0, 0.0),
        "one item of each class of weight": np.where(np.arange(N) < 3, 1.0, 0.0),
        "no weight at all": 0.0 * one,
        "weights of next to nothing": 1e-300 * one,
        "subnormal weights": 5e-324 * one,
        "huge weights": 1e300 * one,
        "one item outweighs all": np.where(np.arange(N) == 4, 1e12, 1.0),
        "ten thousand to one": np.where(codes == 0, 1e4, 1.0),
        "a class of next to no weight": np.where(codes == 0, 1e-300, 1.0),
    }
    return [
        Case(f"{name}, {kind} labels", X, labels, weight)
        for name, weight in weights.items()
        for kind, labels in (("hard", y), ("soft", soft))
    ]


CASES = {case.name: case for case in [*feature_cases(), *label_cases(), *weight_cases()]}

Fit = Callable[[Any, Case], Any]


def fit_labels(model: Any, case: Case) -> Any:
    weighted = takes_argument(model.fit, "sample_weight")
    return model.fit(case.X, case.y, **({"sample_weight": case.weight} if weighted else {}))


def check_case(model: Any, fit: Fit, case: Case, foreign: tuple[type[Warning], ...] = ()) -> None:
    """Raise an AssertionError if the model neither answers properly nor refuses clearly."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit(model, case)
            for points in case.points:
                check_answers(model, points)
        except ValueError as error:
            check_refusal(error)
    for warning in caught:
        ours = warning.category.__module__.startswith("plausible.")
        allowed = ours or issubclass(warning.category, (ConvergenceWarning, *foreign))
        assert allowed, f"{warning.category.__name__} was raised: {warning.message}"


def check_refusal(error: ValueError) -> None:
    own = type(error) is ValueError or type(error).__module__.startswith("plausible.")
    message = str(error)
    assert own, f"{type(error).__name__} was raised: {message}"
    clear = re.search(r"should|need|require", message) and ";" in message and " but " in message
    assert clear, f"a refusal should say what was expected, what came and what to do: {message}"


def check_answers(model: Any, points: np.ndarray) -> None:
    K = len(model.classes_)
    p = model.predict_proba(points)
    assert p.shape == (len(points), K)
    assert np.isfinite(p).all(), f"probabilities are {p}"
    assert (p >= 0).all(), f"probabilities are {p}"
    assert np.abs(p.sum(axis=1) - 1.0).max() < 1e-9, f"probabilities sum to {p.sum(axis=1)}"
    best = np.searchsorted(model.classes_, model.predict(points))
    gap = p.max(axis=1) - p[np.arange(len(p)), best]
    assert gap.max() < 1e-9, f"the class predicted is not the most probable one of {p}"
    if hasattr(model, "predict_log_proba"):
        logs = model.predict_log_proba(points)
        assert np.allclose(np.exp(logs), p, atol=1e-12), "logs are of other probabilities"
    if len(points) == 1:  # what follows would take most of the time
        return
    if hasattr(model, "predict_plausibility"):
        contour = model.predict_plausibility(points)
        inside = np.isfinite(contour).all() and (contour >= 0).all() and (contour <= 1 + 1e-9).all()
        assert inside, f"plausibilities are {contour}"
        assert (contour.max(axis=1) > 0).all(), "no class is plausible"
    if hasattr(model, "predict_set") and not hasattr(model, "calibration_"):  # conformal: empty
        assert model.predict_set(points).any(axis=1).all(), "no class is left"
    if hasattr(model, "predict_mass") and K <= 20:
        masses = model.predict_mass(points).values
        assert np.abs(masses.sum(axis=1) - 1.0).max() < 1e-9, "masses do not sum to one"
