r"""What the features look like, in numbers.

How far a feature x tells the classes apart is the share of its variance that lies between their
means, :math:`\eta^2 = \sum_k W_k (\bar x_k - \bar x)^2 / \sum_{ik} t_{ik} (x_i - \bar x)^2`, where
:math:`t_{ik}` is the part of item i that its label gives to class k, as in `of_confusion`, and
:math:`W_k = \sum_i t_{ik}`.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from plausible.checks import as_array, check_texts
from plausible.labels import Labels
from plausible.metrics import divided, read_truth
from plausible.report.words import name_of, names_of

FloatArray = NDArray[np.float64]

N_BINS = 16  # of the small histograms
MOST_FEATURES = 40  # that are listed
MOST_LOOKED_AT = 1000  # of which the most telling are listed
MOST_CLASSES = 6  # with means of their own
MOST_VALUES = 3  # of a feature of text
NAMELESS = ("NAType", "NaTType")  # of pandas


def summarize_features(
    X: Any, labels: Labels | None, names: Sequence[str] | None, about: str
) -> dict[str, Any]:
    """Kind, gaps, range and histogram of features, and how far they tell the classes apart."""
    columns = list(columns_of(X, names))
    shares = None if labels is None or not len(labels) else _shares_of_classes(labels)
    means = [] if labels is None or shares is None else _largest(labels, shares)
    found = [
        _describe_column(name, column, shares, [k for k, _ in means])
        for name, column in columns[:MOST_LOOKED_AT]
    ]
    telling = sorted(range(len(found)), key=lambda j: -(found[j]["separation"] or 0.0))
    listed = sorted(telling[:MOST_FEATURES])
    return {
        "about": about,
        "n_items": len(columns[0][1]) if columns else 0,
        "n_features": len(columns),
        "n_missing": sum(row["n_missing"] for row in found),
        "n_with_gaps": sum(row["n_missing"] > 0 for row in found),
        "classes": [name for _, name in means],
        "features": [found[j] for j in listed],
    }


def _largest(labels: Labels, shares: FloatArray) -> list[tuple[int, str]]:
    """The classes with the largest parts of the items, with their places."""
    weight = shares.sum(axis=0)
    order = np.argsort(-weight, kind="stable")[:MOST_CLASSES]
    names = names_of(labels.classes)
    return [(int(k), names[k]) for k in np.sort(order) if weight[k] > 0]


def _shares_of_classes(labels: Labels) -> FloatArray:
    """The parts (n, K) of the items that their labels give to the classes."""
    told = read_truth(labels)
    return divided(told.credit, told.weight)


def columns_of(X: Any, names: Sequence[str] | None) -> Iterator[tuple[str, NDArray[Any]]]:
    """The columns of a table of any kind, with their names."""
    if isinstance(X, Mapping):
        found, held = [str(name) for name in X], [np.asarray(column) for column in X.values()]
    elif hasattr(X, "columns"):
        found = [str(name) for name in X.columns] if names is None else list(names)
        held = [np.asarray(X[name]) for name in X.columns]
    elif issparse(X):
        by_column = X.tocsc()
        held = [by_column[:, [j]].toarray().ravel() for j in range(X.shape[1])]
        found = named(names, len(held))
    else:
        names = getattr(X, "names", None) or None if names is None else names
        table = as_array(X, "X")
        held = [] if table.ndim != 2 else [*table.T]
        found = named(names, len(held))
    if len(found) != len(held):
        raise ValueError(
            f"feature_names should be one name for each of the {len(held)} columns of X, but there "
            f"are {len(found)}; give one for each."
        )
    return zip(map(name_of, found), held, strict=True)


def named(names: Sequence[str] | None, n_columns: int) -> list[str]:
    """Names that were given, or numbers."""
    if names is None:
        return [f"feature {j}" for j in range(n_columns)]
    return list(check_texts(names, "feature_names", "names of columns"))


def _describe_column(
    name: str, column: NDArray[Any], shares: FloatArray | None, classes: list[int]
) -> dict[str, Any]:
    """One feature in numbers."""
    values = as_numbers(column)
    if values is None:
        return _describe_text(name, column)
    known = np.isfinite(values)
    kept = values[known]
    if not len(kept):
        return _gaps(name, "empty", len(values)) | {"separation": None}
    low, first, middle, third, high = np.quantile(kept, [0, 0.25, 0.5, 0.75, 1])
    usable = None if shares is None or len(shares) != len(values) else shares[known]
    separation, means = (None, None) if usable is None else _tell_apart(kept, usable)
    return _gaps(name, kind_of(kept), int((~known).sum())) | {
        "missing": 1 - len(kept) / len(values),
        "low": low,
        "first_quartile": first,
        "median": middle,
        "third_quartile": third,
        "high": high,
        "histogram": _small_histogram(kept),
        "separation": separation,
        "means": None if means is None else [means[k] for k in classes],
    }


def _gaps(name: str, kind: str, n_missing: int) -> dict[str, Any]:
    return {"feature": name, "kind": kind, "n_missing": n_missing, "missing": 1.0}


def as_numbers(column: NDArray[Any]) -> FloatArray | None:
    """Numbers with NaN for gaps; None where there is text."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    if column.dtype.kind != "O":
        return None
    try:
        return np.array([math.nan if is_gap(v) else float(v) for v in column.tolist()])
    except (TypeError, ValueError):
        return None


def is_gap(value: Any) -> bool:
    """Whether a cell is empty."""
    if value is None or type(value).__name__ in NAMELESS:
        return True
    return value == "" or (isinstance(value, float) and math.isnan(value))


def kind_of(values: FloatArray) -> str:
    """What numbers are like."""
    if values.min() == values.max():
        return "constant"
    if np.isin(values, (0, 1)).all():
        return "0 or 1"
    return "whole number" if (values == np.floor(values)).all() else "number"


def _small_histogram(values: FloatArray) -> NDArray[np.int64]:
    """Counts in equal bins from the least to the largest value."""
    scaled = standard(values)
    place = np.clip((scaled * N_BINS).astype(np.int64), 0, N_BINS - 1)
    return np.bincount(place, minlength=N_BINS)


def standard(values: FloatArray) -> FloatArray:
    """Values from 0 to 1, however large; 0 if all are the same."""
    low, high = values.min(), values.max()
    half = values / 2 - low / 2  # a difference of very large numbers may be no number
    return half / (high / 2 - low / 2) if high > low else np.zeros(len(values))


def _tell_apart(values: FloatArray, shares: FloatArray) -> tuple[float | None, FloatArray]:
    """Share of the variance between classes, and their means (K,); None without variance."""
    low, span = values.min(), values.max() / 2 - values.min() / 2
    x = standard(values)
    weight, total = shares.sum(axis=0), shares.sum()
    means = np.divide(
        shares.T @ x, weight, out=np.full(shares.shape[1], np.nan), where=weight > 1e-9
    )
    if total <= 0:
        return None, means
    center = float(shares.sum(axis=1) @ x) / total
    whole = float(shares.sum(axis=1) @ (x - center) ** 2)
    between = float(np.nansum(weight * (means - center) ** 2))
    back = 2 * (low / 2 + span * means)
    return (min(between / whole, 1.0) if whole > 1e-12 * total else None), back


def _describe_text(name: str, column: NDArray[Any]) -> dict[str, Any]:
    """A feature of names, categories or dates."""
    cells = column.tolist() if column.dtype.kind in "OU" else column.astype(str).tolist()
    kept = [str(value) for value in cells if not is_gap(value) and str(value) != "NaT"]
    counts = Counter(kept)
    return _gaps(name, "text", len(cells) - len(kept)) | {
        "missing": 1 - len(kept) / len(cells) if cells else 1.0,
        "n_values": len(counts),
        "common": [
            {"value": name_of(value), "count": n} for value, n in counts.most_common(MOST_VALUES)
        ],
        "separation": None,
    }
