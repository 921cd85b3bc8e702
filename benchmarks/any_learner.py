"""What learning from soft labels costs beside the learner itself, and beside torch.

Run with ``make bench``. One maximization step of `SoftLabelClassifier` is a fit of the wrapped
learner to repeated rows, and what is around it (weights, repeating, routing) should be small beside
that fit. Losses of soft and partial labels, forward and backward, should take at most twice the
time of torch's own cross-entropy with soft targets, where torch is installed. Contestants take
turns in one process on one core, and the fastest of their turns counts.

Sizes of conformal sets stand beside those of MAPIE where it is installed: the same classifier, the
same items for calibration, the same coverage.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from timing import interleave, show

from plausible.models import ConformalClassifier, soft_label_loss
from plausible.models.any_learner.learning import Task

N_CLASSES = 4
STEP, LOSS, SIZE = 1.1, 2.0, 1.05
LEARNERS = {
    "logistic regression": LogisticRegression(max_iter=50, tol=0.0),
    "boosted trees": HistGradientBoostingClassifier(max_iter=15, random_state=0),
    "forest": RandomForestClassifier(10, random_state=0),
    "scaled, logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=50, tol=0.0)),
}


def make_rows(n: int, d: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Features, classes, and plausibilities that leave one to three classes."""
    X, y = make_classification(n, d, n_informative=d // 2, n_classes=N_CLASSES, random_state=0)
    rng = np.random.default_rng(0)
    contour = np.maximum(np.eye(N_CLASSES)[y], rng.random((n, N_CLASSES)) < 0.3).astype(float)
    return X, y, contour * rng.uniform(0.5, 1.0, (n, 1))


def step_ratio(learner: Any, n: int = 6000, d: int = 20) -> float:
    """Time of a maximization step by that of the learner's fit to the same repeated rows."""
    X, _, contour = make_rows(n, d)
    shares = contour / contour.sum(axis=1, keepdims=True)
    task = Task(
        learner, X, np.arange(N_CLASSES), contour, np.zeros(n, dtype=bool), np.ones(n), None, 0
    )
    items, codes = np.nonzero(shares)
    weights, repeated = shares[items, codes], X[items]
    given = {"sample_weight": weights}
    if hasattr(learner, "steps"):
        given = {f"{name}__sample_weight": weights for name, _ in learner.steps}
    times = interleave(
        {
            "step": partial(task.fit, shares),
            "alone": lambda: clone(learner).fit(repeated, codes, **given),
        },
        5,
        time.process_time,
    )
    return times["step"] / times["alone"]


def loss_ratio(criterion: str, n: int = 4096, k: int = 100) -> float:
    """Time of our loss, forward and backward, by that of torch's cross-entropy."""
    import torch

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    logits = torch.tensor(rng.normal(size=(n, k)), dtype=torch.float32, requires_grad=True)
    contour = torch.tensor(rng.random((n, k)) < 0.2, dtype=torch.float32)
    contour[:, 0] = 1.0
    shares = contour / contour.sum(dim=1, keepdim=True)

    def run(loss: Callable[[], Any]) -> None:
        logits.grad = None
        loss().backward()

    ours = partial(soft_label_loss, logits, contour, criterion)
    theirs = partial(torch.nn.functional.cross_entropy, logits, shares)
    times = interleave({"ours": partial(run, ours), "theirs": partial(run, theirs)}, 30)
    return times["ours"] / times["theirs"]


def set_sizes(score: str, coverage: float = 0.9) -> dict[str, tuple[float, float]]:
    """Mean coverage and size of our sets and of MAPIE's."""
    from mapie.classification import SplitConformalClassifier

    X, y, _ = make_rows(9000, 20)
    model = LogisticRegression().fit(X[:1000], y[:1000])
    X_gold, y_gold, X_new, y_new = X[1000:1200], y[1000:1200], X[1200:], y[1200:]
    ours = ConformalClassifier(FrozenEstimator(model), coverage, nonconformity=score)
    sets = {"ours": ours.fit(X_gold, y_gold).predict_set(X_new)}
    name = {"probability": "lac", "cumulative": "aps"}[score]
    theirs = SplitConformalClassifier(
        model, confidence_level=coverage, conformity_score=name, prefit=True, random_state=0
    )
    sets["MAPIE"] = theirs.conformalize(X_gold, y_gold).predict_set(X_new)[1][:, :, 0]
    places = np.arange(len(y_new)), y_new
    return {
        name: (float(found[places].mean()), float(found.sum(axis=1).mean()))
        for name, found in sets.items()
    }


def check_steps() -> list[bool]:
    """Steps beside fits."""
    held = []
    for name, learner in LEARNERS.items():
        found = step_ratio(learner)
        claim = f"one step by the fit of the learner: {name}"
        held.append(show(claim, found, f"at most {STEP:g}", found <= STEP))
    return held


def check_losses() -> list[bool]:
    """Losses beside torch's."""
    if find_spec("torch") is None:
        print("torch is not installed: losses are not compared")
        return []
    held = []
    for criterion in ("minimum_commitment", "maximum_entropy"):
        found = loss_ratio(criterion)
        claim = f"loss and gradient by torch's cross-entropy: {criterion}"
        held.append(show(claim, found, f"at most {LOSS:g}", found <= LOSS))
    return held


def check_sizes() -> list[bool]:
    """Sets beside MAPIE's."""
    if find_spec("mapie") is None:
        print("MAPIE is not installed: sizes of sets are not compared")
        return []
    held = []
    for score in ("probability", "cumulative"):
        found = set_sizes(score)
        for name, (covered, size) in found.items():
            print(f"      sets by {score}, {name}: coverage {covered:.3f}, {size:.2f} classes")
        ratio = found["ours"][1] / found["MAPIE"][1]
        claim = f"classes in a set by those of MAPIE: {score}"
        held.append(show(claim, ratio, f"at most {SIZE:g}", ratio <= SIZE))
    return held


def main() -> int:
    """Print the ratios; 1 if one is too large."""
    with threadpool_limits(1):
        held = [*check_steps(), *check_losses(), *check_sizes()]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
