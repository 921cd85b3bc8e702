"""Sets of the default that are calibrated on a few items whose truth is known, beside MAPIE's.

Half of the test items, at most 200, are gold and calibrate; the others tell how often sets hold the
truth, and how many classes are in them. MAPIE, if it is installed, calibrates the same fitted model
on the same items by the same score ("lac", one less the probability).
"""

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from plausible.experiments.common import with_interval
from plausible.experiments.comparison import Claim, Table, claim
from plausible.models import ConformalClassifier

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]

MOST_GOLD = 200
COVERAGE = 0.9
CLOSE = 0.02
MAKERS = ("ours", "MAPIE")
KEYS = tuple(f"{maker} {what}" for maker in MAKERS for what in ("coverage", "size"))


def sets_of_mapie(
    model: Any, X_gold: FloatArray, y_gold: NDArray[Any], X: FloatArray
) -> BoolArray | None:
    """Sets (n, K) of MAPIE around a fitted model, if it is installed."""
    if find_spec("mapie") is None:
        return None
    from mapie.classification import SplitConformalClassifier

    sets = SplitConformalClassifier(
        model, confidence_level=COVERAGE, conformity_score="lac", prefit=True
    )
    return np.asarray(sets.conformalize(X_gold, y_gold).predict_set(X)[1][:, :, 0], dtype=bool)


def gold_scores(model: Any, X: FloatArray, y: NDArray[Any]) -> dict[str, float]:
    """Coverage and size of sets around a fitted model, from test items and their true classes."""
    n_gold = min(MOST_GOLD, len(X) // 2)
    gold, rest = slice(n_gold), slice(n_gold, None)
    ours = ConformalClassifier(FrozenEstimator(model), COVERAGE).fit(X[gold], y[gold])
    found = {
        "ours": np.asarray(ours.predict_set(X[rest])),
        "MAPIE": sets_of_mapie(model, X[gold], y[gold], X[rest]),
    }
    place = {name: column for column, name in enumerate(model.classes_.tolist())}
    true = np.array([place[name] for name in y[rest].tolist()])
    scores = {}
    for maker, sets in found.items():
        if sets is not None:
            scores[f"{maker} coverage"] = float(sets[np.arange(len(true)), true].mean())
            scores[f"{maker} size"] = float(sets.sum(axis=1).mean())
    return scores


def judge_sets(rows: list[dict[str, Any]]) -> list[Claim]:
    """Whether sets hold the truth as often as was asked, and are no larger than MAPIE's."""
    verdicts = []
    for row in rows:
        found = row["gold"]["ours coverage"]
        text = f"{row['set']}: coverage of gold-calibrated sets within 2 points of {COVERAGE:g}"
        close = abs(found["mean"] - COVERAGE) <= CLOSE
        verdicts.append(claim(text, close, with_interval(found, 3), asked=True))
    return verdicts


def sets_table(rows: list[dict[str, Any]]) -> Table:
    """Coverage and size of sets, ours and MAPIE's."""
    lines = [
        [row["set"], *(with_interval(row["gold"][key], digits) if key in row["gold"] else ""
                       for key, digits in zip(KEYS, (3, 2, 3, 2), strict=True))]
        for row in rows
    ]  # fmt: skip
    caption = "Sets of the default calibrated on gold items (mean and 95 % interval over splits)."
    return Table(caption, ["set", *KEYS], lines)
