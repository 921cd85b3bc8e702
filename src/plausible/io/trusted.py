"""Which types a model file may name.

A model file names the types of its parts. Only these are ever made: arrays, numbers, text and
containers, estimators of scikit-learn, and the classes listed here. None of them runs code that a
file could bring along; functions, methods, partial functions and getters are not among them.
"""

import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from plausible.checks import as_list
from plausible.io.errors import ModelFileError
from plausible.tables import first_line, listed

# Rooms whose public estimators may be in a file; rooms that do not exist yet are passed over.
ROOMS = ("plausible.models", "plausible.neighbors", "plausible.cluster", "plausible.experts")
# What estimators are made of, beside arrays and numbers.
PARTS = (
    "numpy.dtype",  # of an empty array, which a file holds for it
    "plausible.base.partition.CredalPartition",
    "plausible.belief.forms.SparseMasses",
    "plausible.cluster.evclus_pairs.Proximity",
    "plausible.cluster.sparse_partition.SingleMasses",
    "plausible.cluster.sparse_partition.SparsePartition",
    "plausible.experts.feature_difficulty.FeatureDifficulty",
    "plausible.experts.reliability.Reliability",
    "plausible.labels.container.Labels",
    "plausible.neighbors.search.Search",
    "plausible.models.auto.steps.QuantileSteps",
    "plausible.models.gaussian.parameters.Gaussians",
    "plausible.models.gaussian.parameters.Prior",
    "plausible.models.calibration.predictive.Calibration",
    "plausible.models.supervision.parameters.Supervision",
    "plausible.models.tree.structure.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",  # see `sound_parts`
    # Of fitted networks: numbers, and arithmetic in Python.
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)
# Ways in which skops puts a part together. Others call what a file names: partial functions,
# methods, getters, and constructors with arguments of the file's choice.
LOADERS = frozenset(
    f"{name}Node"
    for name in (
        "Bytes", "Bytearray", "Cached", "DType", "DefaultDict", "Dict", "Function", "Json", "List",
        "Loss", "MaskedArray", "NdArray", "Object", "RandomGenerator", "RandomState", "Set",
        "Slice", "SparseMatrix", "Tree", "Tuple", "Type",
    )
)  # fmt: skip


def _type_name(given: type) -> str:
    """Where a type is defined, and its name."""
    return f"{given.__module__}.{given.__qualname__}"


def trusted_types() -> list[str]:
    """Names of the classes of this library that a file may hold."""
    from sklearn import model_selection
    from sklearn.base import BaseEstimator

    splitters = [item for item in vars(model_selection).values() if hasattr(item, "get_n_splits")]
    names = [*PARTS, *map(_type_name, splitters)]
    for room in ROOMS:
        try:
            module = import_module(room)
        except ModuleNotFoundError as error:
            if error.name != room:
                raise
            continue
        public = (getattr(module, name) for name in module.__all__)
        names += [
            _type_name(item)
            for item in public
            if isinstance(item, type) and issubclass(item, BaseEstimator)
        ]
    return names


def given_types(trusted: Any) -> list[str]:
    """Names of further classes that the caller vouches for."""
    types = [trusted] if isinstance(trusted, type) else as_list(trusted, "trusted", "classes")
    for given in types:
        if not isinstance(given, type):
            raise TypeError(
                f"trusted should be classes, but {given!r} came; import the class and give it "
                "itself: names and functions are never trusted."
            )
    return [_type_name(given) for given in types]


def check_schema(schema: bytes, name: str) -> None:
    """Refuse a file whose parts are put together in ways that are not foreseen."""
    try:
        nodes = list(_nodes(json.loads(schema)))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{name} should describe a model in JSON, but does not ({first_line(error)}); get a "
            "fresh copy."
        ) from None
    strange = sorted(
        {
            f"{node.get('__module__')}.{node.get('__class__')}"
            for node in nodes
            if node.get("__loader__") not in LOADERS
        }
    )
    if strange:
        raise_untrusted(name, strange)


def raise_untrusted(name: str, strange: list[str]) -> None:
    """Refuse types by their names."""
    raise ModelFileError(
        f"{name} should hold estimators of plausible and scikit-learn and what they are made of",
        f"names {listed(strange)}",
        (
            "leave it out of the model",
            "if it is a class that you trust in a file whose origin you know, name it with "
            "{trusted}",
        ),
        value=strange[0],
        settings={"trusted": None},
    )


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """All parts that a description names."""
    stack = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            if "__loader__" in part:
                yield part
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)
