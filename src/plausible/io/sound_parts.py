"""Whether the parts of a model from a file can be followed without harm.

Compiled code of other libraries checks nothing: a number in a forged file could send it anywhere in
memory, to read there or to write. So whatever counts places in an array must stay inside it:

- nodes of trees, those of scikit-learn's histogram boosting and our own, lead down to nodes that
  are there, ask for features that are there, and hold masses of focal sets that are there;
- sparse tables have columns that are there, and rows that begin and end within their values;
- neighbors have classes that are there, and support vectors a coefficient for every pair;
- centers of k-means have all features;
- a generator of random numbers stands at a place of its own state.

Categories come encoded: boosting with categories of its own holds functions, which are not saved.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from plausible.io.errors import ModelFileError

STATE = 624  # numbers that numpy's Mersenne twister holds


def check_parts(model: Any, name: str) -> None:
    """Refuse a model that holds numbers that lead nowhere."""
    for part in _parts(model):
        kind = type(part).__name__
        if kind.startswith("HistGradientBoosting") and not _boosts_soundly(part):
            raise ModelFileError(
                f"{name} should hold trees whose nodes lead to each other, but those of its "
                f"{kind} do not; get a fresh copy of the file, or fit the model again."
            )
        if not _is_within(part):
            raise ModelFileError(
                f"{name} should hold numbers of places that are there, but those of its {kind} "
                "lead beyond its arrays; get a fresh copy of the file, or fit the model again."
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


def _boosts_soundly(boosting: Any) -> bool:
    """Whether all trees of a boosting can be followed."""
    trees = [tree for stage in vars(boosting).get("_predictors", []) for tree in stage]
    return all(_is_sound(tree, boosting) for tree in trees)


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


def _is_within(part: Any) -> bool:
    """Whether the numbers of a part count places that are there; True of most parts."""
    try:
        if hasattr(part, "check_format"):  # of sparse tables; others check it when they are made
            part.check_format(full_check=True)
        elif type(part).__name__ == "SingleMasses":
            part.singles.check_format(full_check=True)
        elif type(part).__name__ == "BeliefTreeClassifier" and "tree_" in vars(part):
            part.tree_.check(int(part.n_features_in_))
            part.tree_.check_masses(len(part.focal_sets_))
        elif isinstance(part, np.random.RandomState):
            return bool(0 <= part.get_state(legacy=False)["state"]["pos"] <= STATE)
        elif type(part).__name__ == "KNeighborsClassifier" and "_y" in vars(part):
            return _has_classes(part)
        elif type(part).__name__ in ("SVC", "NuSVC") and "_n_support" in vars(part):
            return _has_coefficients(part)
        elif type(part).__name__.endswith("KMeans") and "cluster_centers_" in vars(part):
            # It reads as many columns of centers as rows have.
            return np.shape(part.cluster_centers_)[-1] == part.n_features_in_
    except (ValueError, TypeError, AttributeError, LookupError):
        return False
    return True


def _has_classes(neighbors: Any) -> bool:
    """Whether the items of a classifier by neighbors have classes that are there."""
    several = isinstance(neighbors.classes_, list)  # one array for each output
    classes = neighbors.classes_ if several else [neighbors.classes_]
    columns = np.asarray(neighbors._y).reshape(neighbors.n_samples_fit_, len(classes)).T
    return all(
        column.dtype.kind == "i" and ((column >= 0) & (column < len(names))).all()
        for column, names in zip(columns, classes, strict=True)
    )


def _has_coefficients(machine: Any) -> bool:
    """Whether a support vector classifier has as many numbers as libsvm reads."""
    counts = np.asarray(machine._n_support)
    n_pairs, n_vectors = len(counts) * (len(counts) - 1) // 2, int(counts.sum())
    by_pair = [machine._intercept_, *(p for p in (machine._probA, machine._probB) if len(p))]
    return (
        machine._dual_coef_.shape == (len(counts) - 1, n_vectors)
        and machine.support_vectors_.shape == (n_vectors, machine.n_features_in_)
        and all(np.shape(numbers) == (n_pairs,) for numbers in by_pair)
    )
