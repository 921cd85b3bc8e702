"""Compile the loops of large fits now, so that the first large fit need not.

Once after an installation, or while an image for many machines is built: about a minute of one
core. Each family is fitted to data just large enough that its loops are compiled; what is compiled
is kept beside the package, or, where that cannot be written to, in the folder of NUMBA_CACHE_DIR or
of the user.

Example: plausible compile mixture tree
"""

import argparse
import warnings
from collections.abc import Callable
from typing import Any

from plausible.cli.talk import Talk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument(
        "family",
        nargs="*",
        choices=("all", *FAMILIES),
        default="all",
        metavar="FAMILY",
        help=f"{', '.join(FAMILIES)} (default: all)",
    )


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Fit each family, and tell how long its loops took to compile."""
    found = {}
    for name in FAMILIES if "all" in given.family else given.family:
        with warnings.catch_warnings(action="ignore"):  # that a few iterations are too few
            found[name] = round(seconds_to_compile(FAMILIES[name]), 2)
        talk.say(f"{name}: " + (f"{found[name]:.1f} s" if found[name] else "is there already"))
    return {"seconds": found}


def seconds_to_compile(fit: Callable[[], None]) -> float:
    """Seconds that numba compiles during a fit; kernels within others are not counted twice."""
    from numba.core import event as events

    library: Any = events
    with library.install_recorder("numba:compile") as recorder:
        fit()
    depth, began, seconds = 0, 0.0, 0.0
    for moment, event in recorder.buffer:
        depth += 1 if event.is_start else -1
        if event.is_start and depth == 1:
            began = moment
        elif event.is_end and depth == 0:
            seconds += moment - began
    return seconds


def draw(n: int, d: int, n_classes: int) -> tuple[Any, Any]:
    """Features (n, d) around centers, and labels that leave doubts."""
    import numpy as np

    from plausible.labels import Labels

    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(n_classes, d))[truth]
    doubt = rng.uniform(0.1, 0.6, (n, 1))
    contour = np.where(np.arange(n_classes) == truth[:, None], 1.0, doubt)
    return X, Labels.from_plausibility(contour)


def mixture() -> None:
    """Gaussian mixtures, discriminant and supervision: rows or columns first, both precisions."""
    import numpy as np

    from plausible.models import GaussianMixtureClassifier

    X, y = draw(9000, 50, 10)
    for dtype in (np.float64, np.float32):
        for order in ("C", "F"):
            model = GaussianMixtureClassifier(max_iter=2, accelerate=False)
            model.fit(np.asarray(X, dtype, order), y)


def tree() -> None:
    """Trees, and forests."""
    from plausible.models import BeliefForestClassifier, BeliefTreeClassifier

    X, y = draw(20_000, 10, 4)
    BeliefTreeClassifier(max_depth=3).fit(X, y)
    few = slice(500)
    forest = BeliefForestClassifier(100, max_depth=1, random_state=0).fit(X[few], y[few])
    forest.predict(X)


def network() -> None:
    """The evidential network."""
    from plausible.models import EvidentialNetworkClassifier

    X, y = draw(5000, 5, 8)
    model = EvidentialNetworkClassifier(n_prototypes=300, max_iter=200, tol=1e9, random_state=0)
    model.fit(X, y)


def calibration() -> None:
    """Evidential calibration."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    from plausible.models import EvidentialCalibratedClassifier

    X, y = draw(300, 3, 3)
    EvidentialCalibratedClassifier(LogisticRegression(), cv=2).fit(X, np.asarray(y))


def answers() -> None:
    """Reliability of many answers, with doubts and without."""
    import numpy as np

    from plausible.experts import Annotations, fit_reliability

    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=150_000)
    item, who = np.repeat(np.arange(len(truth)), 4), rng.integers(300, size=4 * len(truth))
    said = np.where(rng.random(len(item)) < 0.7, truth[item], rng.integers(4, size=len(item)))
    for doubt in (None, rng.uniform(0.0, 0.5, len(item))):
        fit_reliability(Annotations.from_long(item, who, said, doubt=doubt), "full", max_iter=2)


def eknnclus() -> None:
    """EK-NNclus."""
    from plausible.cluster import EKNNClus

    EKNNClus(n_neighbors=10, random_state=0).fit(draw(10_000, 2, 4)[0])


def evclus() -> None:
    """EVCLUS, with all dissimilarities and with some."""
    from plausible.cluster import EVCLUS

    X, _ = draw(150, 3, 4)
    for some in ("all", 20):
        EVCLUS(3, n_dissimilarities=some, max_iter=2, n_init=1, random_state=0).fit(X)


def neighbors() -> None:
    """Evidential neighbors with sets of classes."""
    import numpy as np

    from plausible.labels import Labels
    from plausible.neighbors import EvidentialNeighborsClassifier

    X, y = draw(6000, 3, 8)
    truth = np.asarray(y)
    sets = [{k, (k + i) % 8} for i, k in enumerate(truth.tolist())]
    model = EvidentialNeighborsClassifier(n_neighbors=20).fit(X, Labels.from_sets(sets))
    model.predict_proba(X)
    model.predict_mass(X)


def tables() -> None:
    """Long CSV files."""
    import io

    from plausible.tables import open_table

    rows = "".join(f"photo_{k % 5000},worker{k % 7},{k % 3},{k / 7}\n" for k in range(60_000))
    open_table(io.BytesIO(f"item,annotator,label,seconds\n{rows}".encode()))


FAMILIES: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (mixture, tree, network, calibration, answers, eknnclus, evclus, neighbors, tables)
}
