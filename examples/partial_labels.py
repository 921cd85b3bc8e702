"""The criteria of partial labels in models that are not linear: splines, and a small network.

Three classes lie in rings around the origin, so no linear model can tell them apart. Of half of the
items only two candidate classes are known, and a tenth have no label at all. Each model learns from
the same candidates.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from plausible.labels import Labels
from plausible.models import PartialLogisticRegression, partial_label_loss

FloatArray = NDArray[np.float64]

N_TRAIN, N_TEST, N_HIDDEN = 400, 2000, 20


def rings(n: int, seed: int) -> tuple[FloatArray, NDArray[np.int64]]:
    """Points of a plane, whose class depends on how far they are from the origin."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, size=(n, 2))
    radius = np.linalg.norm(X, axis=1) + rng.normal(scale=0.25, size=n)
    return X, np.digitize(radius, [1.5, 2.7])


def candidates(y: NDArray[np.int64], seed: int) -> Labels:
    """The true class, with a second one for half of the items and with all for a tenth."""
    rng = np.random.default_rng(seed)
    sets = np.eye(3, dtype=bool)[y]
    unsure = rng.uniform(size=len(y)) < 0.5
    sets[unsure, (y + rng.integers(1, 3, size=len(y)))[unsure] % 3] = True
    sets[rng.uniform(size=len(y)) < 0.1] = True
    return Labels.from_plausibility(sets.astype(float))


class Network:
    """Two layers, tanh and softmax, fitted to any criterion of partial labels by L-BFGS."""

    def __init__(self, criterion: str = "minimum_commitment", alpha: float = 0.3) -> None:
        self.loss = partial_label_loss(criterion)
        self.alpha = alpha

    def unpack(self, flat: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
        """Weights of the two layers, with those of the constant in the last row."""
        cut = (d + 1) * N_HIDDEN
        return flat[:cut].reshape(d + 1, N_HIDDEN), flat[cut:].reshape(N_HIDDEN + 1, -1)

    def forward(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Hidden values, and logits."""
        hidden = np.tanh(X @ self.first[:-1] + self.first[-1])
        return hidden, hidden @ self.second[:-1] + self.second[-1]

    def step(self, flat: FloatArray, X: FloatArray, y: Labels) -> tuple[float, FloatArray]:
        """Penalized loss and its gradient: only the last layer sees the labels."""
        self.first, self.second = self.unpack(flat, X.shape[1])
        hidden, logits = self.forward(X)
        value, slope = self.loss(logits, y)
        back = (slope @ self.second[:-1].T) * (1.0 - hidden**2)
        gradients = [X.T @ back, back.sum(0), hidden.T @ slope, slope.sum(0)]
        flat_gradient = np.concatenate([part.ravel() for part in gradients])
        return value + self.alpha / 2 * float(flat @ flat), flat_gradient + self.alpha * flat

    def fit(self, X: FloatArray, y: Labels, seed: int = 0) -> "Network":
        """Minimize the loss from a small random start."""
        size = (X.shape[1] + 1) * N_HIDDEN + (N_HIDDEN + 1) * y.n_classes
        start = np.random.default_rng(seed).normal(scale=0.5, size=size)
        best = minimize(self.step, start, args=(X, y), jac=True, method="L-BFGS-B")
        self.first, self.second = self.unpack(best.x, X.shape[1])
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Probabilities of the classes."""
        return softmax(self.forward(X)[1], axis=1)


def main() -> dict[str, float]:
    """Accuracy of each model on fresh items."""
    X, y = rings(N_TRAIN, seed=0)
    labels = candidates(y, seed=1)
    X_test, y_test = rings(N_TEST, seed=2)
    splines = SplineTransformer(n_knots=7)
    models = {
        "linear": PartialLogisticRegression(random_state=0),
        "additive (splines)": make_pipeline(
            splines, PartialLogisticRegression(alpha=0.1, random_state=0)
        ),
        "additive, maximum entropy": make_pipeline(
            splines, PartialLogisticRegression("maximum_entropy", alpha=0.1)
        ),
        "two-layer network": Network(),
        "two-layer network, maximum entropy": Network("maximum_entropy"),
    }
    print(f"{N_TRAIN} items, {np.mean(labels.contour.sum(1)):.1f} candidate classes each\n")
    found = {}
    for name, model in models.items():
        probability = model.fit(X, labels).predict_proba(X_test)
        found[name] = float((probability.argmax(axis=1) == y_test).mean())
        sure = float(np.log(probability[np.arange(N_TEST), y_test]).mean())
        print(f"{name:<36} accuracy {found[name]:.3f}   mean log-likelihood {sure:.3f}")
    return found


if __name__ == "__main__":
    main()
