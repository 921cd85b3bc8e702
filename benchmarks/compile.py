"""What compiling costs the first large fit of each family on a machine.

Run with ``python benchmarks/compile.py [names]``; about a minute for each family. Every first fit
is in a process of its own, with an empty cache of numba; the second fit in that process tells what
the fit itself takes. Seconds are of the processor, which others on the machine disturb little.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from timing import show

WANTED = 2.0
K = 4


def draw(n: int, d: int, dtype: type = np.float64) -> tuple[Any, Any]:
    """Rows around four centers, and plausibilities that leave doubts."""
    rng = np.random.default_rng(0)
    truth = rng.integers(K, size=n)
    X: Any = (rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(K, d))[truth]).astype(dtype)
    contour = np.where(np.arange(K) == truth[:, None], 1.0, rng.uniform(0.1, 0.6, (n, 1)))
    return X, contour


def labels_of(contour: Any) -> Any:
    """Labels of these plausibilities."""
    from plausible.labels import Labels

    return Labels.from_plausibility(contour)


def mixture(covariance: str, dtype: type = np.float64) -> Callable[[], Any]:
    """Fits of a mixture with one kind of covariances."""
    from plausible.models import GaussianMixtureClassifier

    X, contour = draw(200_000, 20, dtype)
    y = labels_of(contour)
    model = GaussianMixtureClassifier(covariance, max_iter=3, tol=0.0)  # type: ignore[arg-type]
    return lambda: model.fit(X, y)


def discriminant() -> Callable[[], Any]:
    """Fits of a discriminant."""
    from plausible.models import DiscriminantClassifier

    X, contour = draw(400_000, 20)
    y = labels_of(contour)
    model = DiscriminantClassifier(max_iter=3, tol=0.0)
    return lambda: model.fit(X, y)


def tree() -> Callable[[], Any]:
    """Fits of a tree and decisions by it."""
    from plausible.models import BeliefTreeClassifier

    X, contour = draw(20_000, 10)
    y = labels_of(contour)
    model = BeliefTreeClassifier(max_depth=6)
    return lambda: model.fit(X, y).predict(X)


def network() -> Callable[[], Any]:
    """Fits of a network."""
    from plausible.models import EvidentialNetworkClassifier

    X, contour = draw(60_000, 10)
    y = labels_of(contour)
    model = EvidentialNetworkClassifier(n_prototypes=200, max_iter=60, random_state=0)
    return lambda: model.set_params(max_iter=60).fit(X, y)


def calibration() -> Callable[[], Any]:
    """Fits of a calibration."""
    from sklearn.linear_model import LogisticRegression

    from plausible.models import EvidentialCalibratedClassifier

    X, contour = draw(20_000, 5)
    model = EvidentialCalibratedClassifier(LogisticRegression(), cv=2)
    return lambda: model.fit(X, contour.argmax(axis=1)).predict_proba(X[:200])


def answers() -> Callable[[], Any]:
    """Reliabilities of annotators."""
    from plausible.experts import Annotations, fit_reliability

    rng = np.random.default_rng(0)
    truth = rng.integers(K, size=200_000)
    item, who = np.repeat(np.arange(len(truth)), 5), rng.integers(300, size=5 * len(truth))
    said = np.where(rng.random(len(item)) < 0.7, truth[item], rng.integers(K, size=len(item)))
    given = Annotations.from_long(item, who, said)
    return lambda: fit_reliability(given, max_iter=5)


def eknnclus() -> Callable[[], Any]:
    """Clusterings by EK-NNclus."""
    from plausible.cluster import EKNNClus

    X, _ = draw(20_000, 5)
    return lambda: EKNNClus(n_neighbors=20, random_state=0).fit(X)


def evclus() -> Callable[[], Any]:
    """Clusterings by EVCLUS."""
    from plausible.cluster import EVCLUS

    X, _ = draw(3000, 3)
    model = EVCLUS(3, n_dissimilarities=100, max_iter=3, n_init=1, random_state=0)
    return lambda: model.fit(X)


def neighbors() -> Callable[[], Any]:
    """Evidential neighbors of sets."""
    from plausible.neighbors import EvidentialNeighborsClassifier

    X, contour = draw(30_000, 5)
    y = labels_of(contour)
    model = EvidentialNeighborsClassifier(n_neighbors=20)
    return lambda: model.fit(X, y).predict_proba(X)


FAMILIES: dict[str, Callable[[], Callable[[], Any]]] = {
    **{f"mixture {kind}": partial(mixture, kind) for kind in ("full", "tied", "diag", "spherical")},
    "mixture float32": partial(mixture, "full", np.float32),
    "discriminant": discriminant,
    "tree": tree,
    "network": network,
    "calibration": calibration,
    "answers": answers,
    "eknnclus": eknnclus,
    "evclus": evclus,
    "neighbors": neighbors,
}


class Recorder:
    """Seconds in numba's compiler, without counting a kernel within another twice."""

    def __init__(self) -> None:
        from numba.core import event as events

        event: Any = events
        self.depth, self.seconds, self.began = 0, 0.0, 0.0
        self.parts: dict[str, float] = {}
        recorder: Any = self

        class Listener(event.Listener):
            def on_start(self, event: Any) -> None:
                if recorder.depth == 0:
                    recorder.began = time.process_time()
                recorder.depth += 1

            def on_end(self, event: Any) -> None:
                recorder.depth -= 1
                if recorder.depth == 0:
                    spent = time.process_time() - recorder.began
                    recorder.seconds += spent
                    name = event.data["dispatcher"].py_func.__name__
                    recorder.parts[name] = round(recorder.parts.get(name, 0.0) + spent, 2)

        event.register("numba:compile", Listener())


def report(name: str) -> None:
    """Fit twice in this process, and print what compiling took as JSON."""
    warnings.simplefilter("ignore")
    fit, recorder = FAMILIES[name](), Recorder()
    spent = []
    for _ in range(2):
        start = time.process_time()
        fit()
        spent.append(time.process_time() - start)
    extra = spent[0] - spent[1]
    found = {"compiled": recorder.seconds, "parts": recorder.parts, "extra": extra}
    print(json.dumps(found | {"fit": spent[1]}))


def measure(name: str) -> bool:
    """The first fit of one family on a machine."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, "--report", name],
            env=os.environ | {"NUMBA_CACHE_DIR": folder},
            check=True,
            capture_output=True,
            text=True,
        )
    found = json.loads(done.stdout)
    said = f"{name}: s to compile (fit {found['fit']:.1f} s; first {found['extra']:.1f} s more)"
    holds = show(said, found["compiled"], f"<= {WANTED:g}", found["compiled"] <= WANTED)
    print(f"        {found['parts']}")
    return holds


if __name__ == "__main__":
    if sys.argv[1:2] == ["--report"]:
        report(sys.argv[2])
        sys.exit()
    results = [measure(name) for name in sys.argv[1:] or FAMILIES]
    sys.exit(not all(results))
