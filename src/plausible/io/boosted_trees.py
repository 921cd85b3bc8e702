"""Whether the trees of scikit-learn's histogram boosting in a file can be walked without harm.

Their nodes say by numbers where to go, and the compiled code that follows them checks nothing: a
forged file could send it anywhere. So each node must lead down to nodes that are there, and ask for
features that are there. Categories come encoded: boosting with categories of its own holds
functions, which are not saved.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from plausible.io.errors import ModelFileError


def check_boosted_trees(model: Any, name: str) -> None:
    """Refuse a model that holds boosted trees that lead nowhere."""
    for part in _parts(model):
        if type(part).__name__.startswith("HistGradientBoosting"):
            trees = [tree for stage in vars(part).get("_predictors", []) for tree in stage]
            if not all(_is_sound(tree, part) for tree in trees):
                raise ModelFileError(
                    f"{name} should hold trees whose nodes lead to each other, but those of its "
                    f"{type(part).__name__} do not; get a fresh copy of the file, or fit the model "
                    "again."
                )


def _parts(model: Any) -> Iterator[Any]:
    """All objects that a model is made of, but for numbers, text and arrays."""
    stack, seen = [model], set()
    while stack:
        part = stack.pop()
        if id(part) in seen or part is None or isinstance(part, str | bytes | int | float | type):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            stack.extend(part.values())
        elif isinstance(part, list | tuple | set):
            stack.extend(part)
        elif isinstance(part, np.ndarray):
            stack.extend(part.ravel().tolist() if part.dtype == object else [])
        elif hasattr(part, "__dict__"):
            stack.extend(vars(part).values())


def _is_sound(tree: Any, boosting: Any) -> bool:
    """Whether a tree can be followed from its root to a leaf, whatever the features are."""
    nodes, n_features = vars(tree).get("nodes"), int(boosting.n_features_in_)
    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or not len(nodes):
        return False
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    below = np.concatenate([nodes["left"][inner], nodes["right"][inner]]).astype(np.int64)
    asked = nodes["feature_idx"][inner].astype(np.int64)
    leads_down = (below > np.tile(inner, 2)).all() and (below < len(nodes)).all()
    asks_rightly = (asked >= 0).all() and (asked < n_features).all()
    no_categories = not nodes["is_categorical"].any()
    return bool(leads_down and asks_rightly and no_categories)
