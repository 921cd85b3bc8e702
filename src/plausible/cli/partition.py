"""Find clusters of items, with doubt: which are sure, which lie between, which are outliers.

Example: plausible partition features.csv -o partition.csv --clusters 3

The table has, for each item, its cluster with the best bet (none for outliers), that in which it
surely is, those that are possible, the mass on no cluster, and the bet on each cluster.
"""

import argparse
from typing import Any

from plausible.cli.models import Choice, make_choice
from plausible.cli.options import (
    add_missing,
    add_output,
    add_seed,
    check_output,
    check_table,
    names,
)
from plausible.cli.talk import Talk, UsageError
from plausible.errors import InputError

METHODS = {
    "ecm": Choice("cluster", "ECM", "evidential c-means, around centers"),
    "evclus": Choice("cluster", "EVCLUS", "conflicts that follow distances"),
    "neighbors": Choice("cluster", "EKNNClus", "evidence of near items; finds how many clusters"),
}
FINDS = "neighbors"  # how many clusters there are
COUNT = "n_clusters"  # what methods call --clusters
MOST_CLUSTERS = 1_000_000_000
MOST_BETS = 62  # columns: beyond, nobody reads them


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("features", help="table of features, a row for each item")
    add_output(parser, "table of items with their clusters")
    told = "; ".join(f"{name}: {choice.about}" for name, choice in METHODS.items())
    parser.add_argument(
        "--method", choices=tuple(METHODS), metavar="METHOD", default="ecm",
        help=f"{told} (default: ecm)",
    )  # fmt: skip
    parser.add_argument(
        "--clusters", type=_count, metavar="NUMBER", help=f"how many (all methods but {FINDS})"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="a parameter of the method, such as outlier_distance=3; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--raw", action="store_true",
        help="take numbers in their units (default: all get mean 0 and deviation 1)",
    )  # fmt: skip
    add_seed(parser)
    parser.add_argument("--id", metavar="COLUMN", help="column that names the items")
    parser.add_argument(
        "--columns", type=names, metavar="NAME,...", help="the features (default: all)"
    )
    add_missing(parser)


def _count(text: str) -> int:
    """A number of clusters."""
    if not text.isascii() or not text.isdigit() or not float(text):
        raise argparse.ArgumentTypeError("should be a whole number of at least 1")
    if float(text) > MOST_CLUSTERS:
        raise argparse.ArgumentTypeError(f"should be at most {MOST_CLUSTERS:,}")
    return int(text)


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Read, cluster and write; gives what was found."""
    check_output(given.output, given.features)
    check_table(given.output)
    settings = _settings(given)
    model = make_choice(METHODS[given.method], settings, given.seed, hidden={COUNT})
    given.parameters = tuple(model.get_params(deep=False))
    from plausible.io import read_features, write_table
    from plausible.models import FeaturePreparation

    features = read_features(
        given.features, given.id, given.columns, kinds="any", missing=given.missing
    )
    _check_several(given, len(features.X))
    preparation = FeaturePreparation(features.kinds, scale=not given.raw)
    X = _prepared(preparation, features.X, given.features)
    units = "in their units" if given.raw else "with mean 0 and deviation 1 each"
    notes = [
        *features.notes,
        *preparation.explain(),
        f"numbers are taken {units}",
        f"method: {given.method}, {type(model).__name__}; seed {given.seed}",
    ]
    talk.note(*notes)
    with talk.progress("clustering") as step:
        if step is not None and "callback" in model.get_params(deep=False):
            model.set_params(callback=step)
        try:
            model.fit(X)
        except InputError as error:
            raise _blamed(error, given) from error
    partition = model.partition_
    write_table(_columns(partition, features), given.output)
    return _conclude(given, talk, partition, notes)


def _settings(given: argparse.Namespace) -> list[str]:
    """Settings of the method, the number of clusters among them."""
    asked = [one for one in given.settings if one.partition("=")[0].strip() == COUNT]
    if given.method == FINDS:
        if given.clusters is not None:
            raise UsageError(
                f"--method {FINDS} finds how many clusters there are, but --clusters "
                f"{given.clusters} came; leave it out, or choose another method."
            )
        return list(given.settings)
    if given.clusters is None and not asked:
        raise UsageError(
            f"--method {given.method} should be told how many clusters there are; say --clusters "
            f"3, or choose --method {FINDS}, which finds it."
        )
    mine = [] if given.clusters is None else [f"{COUNT}={given.clusters}"]
    return [*given.settings, *mine]


def _check_several(given: argparse.Namespace, n_items: int) -> None:
    """Refuse a single item, which has nothing to be near to, and more clusters than items."""
    if n_items < 2:
        raise InputError(
            f"{given.features!r} should have rows for 2 or more items",
            f"has {n_items}",
            "give more items",
        )
    if given.clusters is not None and given.clusters > n_items:
        raise InputError(
            f"There should be at least as many items as --clusters {given.clusters} says",
            f"{given.features!r} has {n_items}",
            "give more items, or ask for fewer clusters",
        )


def _prepared(preparation: Any, X: Any, name: str) -> Any:
    """Features as numbers; refuses those that are too large to have a mean and a deviation."""
    import numpy as np

    with np.errstate(all="ignore"):
        found = preparation.fit_transform(X)
    if not np.isfinite(found).all():
        raise InputError(
            f"Numbers of {name!r} should be of a size whose squares are finite",
            "some are not",
            "write them in larger units, or name other --columns",
        )
    return found


def _blamed(error: InputError, given: argparse.Namespace) -> Exception:
    """The error in words of the command, as one of usage if it is about a setting."""
    for setting in given.settings:
        if setting.partition("=")[0].strip() == error.parameter:
            return UsageError(f"--set {setting!r}: {error}")
    if error.parameter == COUNT:
        from plausible.belief import MAX_CLASSES

        return UsageError(
            f"--method {given.method} should be told of fewer clusters, but --clusters "
            f"{given.clusters} came; ask for at most {MAX_CLASSES}, or choose --method {FINDS}."
        )
    return error


def _columns(partition: Any, features: Any) -> dict[str, Any]:
    """The table, by the names of columns."""
    import numpy as np

    hard, rough, bets = partition.hard(), partition.rough(), partition.fuzzy()
    found = {
        "item": np.arange(len(hard)) if features.ids is None else features.ids,
        "cluster": [None if cluster < 0 else int(cluster) for cluster in hard],
        "sure": [_joined(row) for row in rough.lower],
        "set": [_joined(row) for row in rough.upper],
        "outlier": partition.outlier_mass,
    }
    if bets.shape[1] <= MOST_BETS:
        found |= {f"probability:{k}": column for k, column in enumerate(bets.T)}
    return found


def _joined(inside: Any) -> str | None:
    """Clusters of a set in one cell, as classes are in tables of decisions."""
    return "|".join(map(str, inside.nonzero()[0].tolist())) or None


def _conclude(
    given: argparse.Namespace, talk: Talk, partition: Any, notes: list[str]
) -> dict[str, Any]:
    """What was found."""
    from plausible.checks import counted

    n_outliers = int(partition.outliers().sum())
    n_between = int((~partition.rough().lower.any(axis=1)).sum()) - n_outliers
    nonspecificity = float(partition.nonspecificity())
    talk.say(
        f"{counted(len(partition), 'item')} in {counted(partition.n_clusters, 'cluster')} in "
        f"{given.output}: {n_between} between clusters, {counted(n_outliers, 'outlier')}, "
        f"nonspecificity {nonspecificity:.3f}"
    )
    return {
        "output": given.output, "n_items": len(partition), "n_clusters": partition.n_clusters,
        "n_between": n_between, "n_outliers": n_outliers, "nonspecificity": nonspecificity,
        "seed": given.seed, "notes": notes,
    }  # fmt: skip
