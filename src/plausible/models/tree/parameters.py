"""Parameters of trees and forests, checked and turned into numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_number, check_option, check_whole, is_whole
from plausible.errors import InputError
from plausible.models.tree.growth import Settings

FloatArray = NDArray[np.float64]

NO_LIMIT = 1 << 62
EXTREME = 1e100  # total weight beyond which sums are scaled
SHARES = ("sqrt", "log2")


def _count_or_share(value: Any, name: str, least: int, n: int) -> int:
    """A number of rows, at least `least`, or a share of them in (0, 1], rounded up."""
    if is_whole(value):
        return check_whole(value, name, least)
    if not check_number(value, name, 0.0, 1.0) > 0.0:
        raise InputError(
            f"{name} should be a number of rows of at least {least}, or a share in (0, 1]",
            f"it is {value!r}",
            "give a whole number, or a larger share",
            parameter=name,
            value=value,
        )
    return max(least, int(np.ceil(value * n)))


def _features_to_try(value: Any, d: int) -> int:
    """Number of features that are looked at in each node."""
    if value is None:
        return d
    if isinstance(value, str):
        check_option(value, SHARES, "max_features")
        return max(1, int(np.sqrt(d) if value == "sqrt" else np.log2(d)))
    if is_whole(value):
        return min(check_whole(value, "max_features", 1), d)
    return max(1, int(check_number(value, "max_features", 0.0, 1.0) * d))


def settings_of(model: Any, n_rows: int, d: int, total: float) -> Settings:
    """How far the trees of an estimator grow on n rows with d features and some total weight."""
    depth = model.max_depth
    fraction = check_number(model.min_weight_fraction_leaf, "min_weight_fraction_leaf", 0.0, 0.5)
    if model.max_leaf_nodes is not None:
        check_whole(model.max_leaf_nodes, "max_leaf_nodes", 2)
    check_number(model.ccp_alpha, "ccp_alpha", 0.0)
    return Settings(
        discord_weight=check_number(model.discord_weight, "discord_weight", 0.0, 1.0),
        vacuous_weight=check_number(model.vacuous_weight, "vacuous_weight", 0.0),
        max_depth=NO_LIMIT if depth is None else check_whole(depth, "max_depth", 1),
        min_samples_split=_count_or_share(model.min_samples_split, "min_samples_split", 2, n_rows),
        min_samples_leaf=_count_or_share(model.min_samples_leaf, "min_samples_leaf", 1, n_rows),
        # A little less, so that rounding of sums does not count.
        min_weight_leaf=fraction * total * (1.0 - 1e-12),
        min_impurity_decrease=check_number(model.min_impurity_decrease, "min_impurity_decrease"),
        total=total,
        max_features=_features_to_try(model.max_features, d),
    )


def within_numbers(weight: FloatArray, settings: Settings) -> tuple[FloatArray, Settings, float]:
    """Weights, settings for them, and a factor by which they were divided, so that sums exist."""
    total = settings.total
    if 1.0 / EXTREME < total < EXTREME:
        return weight, settings, 1.0
    scaled = settings._replace(
        vacuous_weight=settings.vacuous_weight / total,
        min_weight_leaf=settings.min_weight_leaf / total,
        total=1.0,
    )
    return weight / total, scaled, total
