"""What a model file says about itself, and whether its model can answer.

A file may have been forged: it says only what it should say, in values of the right kind, and a
classifier from it is asked once before it is used.
"""

import json
import math
import warnings
from typing import Any

import numpy as np

from plausible.io.errors import ModelFileError
from plausible.models import believe
from plausible.tables import first_line

# Rows about which a classifier is asked on trial: of two numbers, so that no array of another shape
# fits by chance.
TRIALS = (7, 11)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_class(value: Any) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _are_classes(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_class, value))


def _are_names(value: Any) -> bool:
    is_list = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return is_list and len(set(value)) == len(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# What a file may say, and of which kind it is; all but the type may be missing.
SAID = {
    "type": _is_text,
    "estimator": _is_text,
    "classes": _are_classes,
    "features": _are_names,
    "n_features": _is_count,
    "id": _is_text,
}


def read_about(line: bytes, name: str) -> dict[str, Any]:
    """What a file says about its model, from a line of JSON."""
    try:
        given = json.loads(line, parse_constant=_refuse)
        written = {str(package): str(version) for package, version in given["versions"].items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFileError(
            f"{name} should say in JSON what it holds, but does not ({first_line(error)}); get a "
            "fresh copy."
        ) from None
    about = {key: given.get(key) for key in SAID}
    for key, is_right in SAID.items():
        if about[key] is not None and not is_right(about[key]):
            shown = json.dumps(about[key])
            raise ModelFileError(
                f"{name} should say in JSON what it holds, but its {key!r} cannot be "
                f"{shown if len(shown) <= 40 else f'{shown[:36]} ...'}; get a fresh copy."
            )
    return about | {"versions": written}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def check_classifier(model: Any, about: dict[str, Any], name: str) -> None:
    """Refuse what cannot answer as a classifier with the classes and features that the file names.

    It is asked about some rows: where its parts do not fit each other, that shows here.
    """
    if not hasattr(model, "predict_proba") or about["classes"] is None:
        raise ModelFileError(
            f"{name} should hold a fitted classifier, but holds a {type(model).__name__} that is "
            "none; give a file that plausible fit wrote."
        )
    try:
        is_good = _answers(model, about)
    except (Exception, SystemExit) as error:
        raise _unfit(name) from error
    if not is_good:
        raise _unfit(name)


def _answers(model: Any, about: dict[str, Any]) -> bool:
    """Whether a model gives answers of the right shapes for its classes and features."""
    classes, n_features = np.asarray(model.classes_), int(model.n_features_in_)
    said = (about["classes"], about["n_features"])
    if classes.ndim != 1 or (classes.tolist(), n_features) != said:
        return False
    if about["features"] is not None and len(about["features"]) != n_features:
        return False
    if len(set(classes.tolist())) < len(classes):
        return False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model.get_params()  # which reports tell
        return all(_answers_about(model, n_rows, n_features, len(classes)) for n_rows in TRIALS)


def _answers_about(model: Any, n_rows: int, n_features: int, n_classes: int) -> bool:
    """Whether answers about some rows have the right shapes."""
    beliefs = believe(model, np.linspace(-1.0, 1.0, n_rows)[:, None] * np.ones(n_features))
    parts = (beliefs.probability, beliefs.contour, beliefs.sets)
    return all(part.shape == (n_rows, n_classes) for part in parts)


def _unfit(name: str) -> ModelFileError:
    return ModelFileError(
        f"{name} should hold a classifier that answers for its classes and features, but its parts "
        "do not fit each other; get a fresh copy of the file, or fit the model again."
    )
