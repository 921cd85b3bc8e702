"""What is known of classes before any answer: their shares, and those of some items."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_floats, check_option
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.labels import Labels, as_labels

FloatArray = NDArray[np.float64]


def given_prior(prior: str | ArrayLike, model: str, n_classes: int) -> FloatArray | None:
    """Shares (K,) of the classes, or None where they are to be learned."""
    if isinstance(prior, str):
        check_option(prior, ("auto", "fit", "uniform"), "prior")
        if prior == "fit" or (prior == "auto" and model not in ("one_coin", "difficulty")):
            return None
        return np.full(n_classes, 1 / n_classes)
    shares = as_floats(prior, "prior")
    if shares.shape != (n_classes,) or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise InputError(
            f"prior should be a positive share for each of the {n_classes} classes, and these "
            "sum to one",
            f"is {shares.tolist()}",
            "correct it, or say 'uniform' or 'fit'",
            parameter="prior",
        )
    return shares / shares.sum()


def gold_logs(
    annotations: Annotations, gold: Labels | Mapping[Any, Any] | None
) -> FloatArray | None:
    """Log plausibilities (n, K) of classes that are known."""
    if gold is None:
        return None
    classes = annotations.classes.tolist()
    if isinstance(gold, Mapping):
        place = {name: row for row, name in enumerate(annotations.items.tolist())}
        strange = [name for name in gold if name not in place]
        if strange:
            raise InputError(
                "Gold items should be among the items",
                f"{strange[0]!r} is not",
                "check the names",
            )
        contour = np.ones((len(place), len(classes)))
        rows = [place[name] for name in gold]
        contour[rows] = as_labels(list(gold.values()), classes).contour
    else:
        labels = as_labels(gold, classes)
        if len(labels) != len(annotations.items):
            raise InputError(
                f"gold should have a label for each of the {len(annotations.items)} items",
                f"has {len(labels)}",
                "give a dict for some items only",
                parameter="gold",
            )
        contour = labels.contour
    if (contour == contour[:, :1]).all():
        return None
    with np.errstate(divide="ignore"):
        return np.log(contour)
