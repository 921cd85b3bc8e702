"""Models in files: what was learned, in a form that cannot run code.

A file has a line with a checksum of all that follows, a line of JSON about the model (versions,
class names, features), and the model as skops writes it: arrays, numbers, and the names of types.

The checksum finds accidents. Against intent, which could give a new checksum, stands the list of
types that may be named; see `plausible.io.trusted`.
"""

import hashlib
import io
import json
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

import plausible
from plausible.checks import check_path, check_text, check_texts, existing_file
from plausible.errors import InputError
from plausible.io.errors import ModelFileError
from plausible.io.model_checks import check_classifier, read_about
from plausible.io.moved import brought_up_to_date
from plausible.io.sound_parts import check_parts
from plausible.io.trusted import check_schema, given_types, raise_untrusted, trusted_types
from plausible.io.writing import new_file
from plausible.tables import first_line, needed

OTHER_ENDINGS = (
    dict.fromkeys((".pkl", ".pickle", ".joblib", ".dill"), "a pickle")
    | dict.fromkeys((".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".arrow", ".feather"), "a table")
    | dict.fromkeys((".json", ".jsonl", ".yaml", ".yml", ".html", ".md"), "text")
    | dict.fromkeys((".onnx", ".pt", ".pth", ".h5", ".hdf5", ".keras", ".pmml", ".rds", ".rdata",
                     ".npy", ".npz"), "a file of another library")
)  # fmt: skip
MAGIC = b"plausible model 1 sha256:"
DIGEST = 64  # hexadecimal digits
SCHEMA = "schema.json"
LEAST_SKOPS = (0, 15)  # earlier ones call names of numpy.random that a file gives, and trust trees


class VersionWarning(UserWarning):
    """A model was saved with other versions, under which it may have answered differently.

    Examples
    --------
    >>> import warnings
    >>> from plausible.io import VersionWarning
    >>> warnings.simplefilter("ignore", VersionWarning)
    """


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    features: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002
    trusted: Iterable[type] = (),
) -> None:
    """Save a model, so that `load` gives one with the same answers.

    The file is there in whole or not at all, and is only written once it was read back.

    Parameters
    ----------
    model : estimator
        Of this library, of scikit-learn, or a pipeline of both.
    path : path
        "-" is standard output.
    features : sequence of names, optional
        Of the columns that the model was fitted on, if it does not know them.
    id : str, optional
        Name of the column that named the items.
    trusted : classes, optional
        Classes of your own that are part of the model; `load` has to be given them, too.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from plausible.io import load, save
    >>> from plausible.models import SoftNearestCentroid
    >>> model = SoftNearestCentroid().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.plausible"
    ...     save(model, path)
    ...     load(path).predict([[0.7], [4.0]])
    array(['a', 'b'], dtype='<U1')
    """
    skops = _skops_io()
    check_model_name(path)
    name = f"The {type(model).__name__}"
    try:
        body = skops.dumps(model)
    except Exception as error:
        raise ModelFileError(
            f"{name} should consist of arrays, numbers, text and estimators, but a part cannot be "
            f"saved ({first_line(error)}); set the parameter that holds it to None."
        ) from error
    _read_body(body, name, given_types(trusted))
    about = json.dumps(describe(model, features, id)).encode() + b"\n"
    digest = hashlib.sha256(about + body).hexdigest().encode()
    with new_file(path) as file:
        file.write(MAGIC + digest + b"\n" + about + body)


def check_model_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name whose ending says that a file holds something else than a model of ours."""
    ending = Path(path).suffix.lower() if isinstance(path, str | os.PathLike) else ""
    if ending in OTHER_ENDINGS:
        raise InputError(
            "A model should be saved under a name such as 'model.skops'",
            f"{Path(path).name!r} came, as if it were {OTHER_ENDINGS[ending]}",
            f"write {Path(path).with_suffix('.skops').name!r}",
            parameter="path",
            value=path,
        )


def load(path: str | os.PathLike[str], *, trusted: Iterable[type] = ()) -> Any:
    """Load a model that `save` wrote.

    No code from the file is run, and only types that are known to be harmless are made: estimators
    of this library and of scikit-learn, arrays, numbers, text and containers.

    Parameters
    ----------
    path : path
        "-" is standard input.
    trusted : classes, optional
        Further classes that the file may hold. Trees and forests of scikit-learn need
        ``sklearn.tree._tree.Tree``, which a forged file could use to crash the process.

    Returns
    -------
    model

    Warns
    -----
    VersionWarning
        If the model was saved with another version of plausible or scikit-learn, apart from the
        last number, or with another first number of the version of numpy.

    Examples
    --------
    See `save`:

    >>> from plausible.io import load, save
    """
    return _load_described(path, trusted)[0]


def load_classifier(
    path: str | os.PathLike[str], trusted: Iterable[type] = ()
) -> tuple[Any, dict[str, Any]]:
    """A classifier that can answer, and what its file says about it."""
    model, about = _load_described(path, trusted)
    check_classifier(model, about, "standard input" if path == "-" else repr(Path(path).name))
    return model, about


def _load_described(
    path: str | os.PathLike[str], trusted: Iterable[type] = ()
) -> tuple[Any, dict[str, Any]]:
    """A model, and what its file says about it, from one reading."""
    further = given_types(trusted)
    _skops_io()
    about, body, name = _open(path)
    model = _read_body(body, name, further)
    if about.get("type") != type(model).__name__:
        raise ModelFileError(
            f"{name} should hold a {about.get('type')}, as it says, but holds a "
            f"{type(model).__name__}; get a fresh copy."
        )
    _compare_versions(about["versions"], name)
    return model, about


def inspect_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says about itself; nothing of the model is made.

    Returns
    -------
    about : dict
        With "type", "estimator" (the last step of a pipeline), "classes", "features", "n_features",
        "id" and "versions" by package.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from plausible.io import inspect_model, save
    >>> from plausible.models import SoftNearestCentroid
    >>> model = SoftNearestCentroid().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.plausible"
    ...     save(model, path)
    ...     about = inspect_model(path)
    >>> about["type"], about["classes"], about["n_features"]
    ('SoftNearestCentroid', ['a', 'b'], 1)
    """
    return _open(path)[0]


def describe(
    model: Any,
    names: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002
) -> dict[str, Any]:
    """What a file says about a model: its type, frame, features, and versions."""
    classes = getattr(model, "classes_", None)
    features = getattr(model, "feature_names_in_", None)
    n_features = getattr(model, "n_features_in_", None)
    if names is not None:
        features = np.array(check_texts(names, "features", "names"), dtype=object)
        if n_features is not None and len(features) != n_features:
            raise ValueError(
                f"features should name the {n_features} features of the model, but there are "
                f"{len(features)} names; give one for each column."
            )
    return {
        "type": type(model).__name__,
        "estimator": type(model[-1] if hasattr(model, "steps") else model).__name__,
        "classes": classes.tolist() if isinstance(classes, np.ndarray) else None,
        "features": features.tolist() if isinstance(features, np.ndarray) else None,
        "n_features": None if n_features is None else int(n_features),
        "id": id if id is None else check_text(id, "id"),
        "versions": versions(),
    }


def _skops_io() -> Any:
    """The module of skops that reads and writes, if it is recent enough to be safe."""
    module = needed("skops.io", "Saving and loading models")
    version = needed("skops", "Saving and loading models").__version__
    if tuple(map(int, _first(version, 2))) < LEAST_SKOPS:
        raise ImportError(
            f"Saving and loading models needs skops {'.'.join(map(str, LEAST_SKOPS))} or later, "
            f"which refuses more forged files, but {version} is installed; run "
            'pip install "plausible[io]".'
        )
    return module


def versions() -> dict[str, str]:
    """Versions of the packages on which the answers of a model depend."""
    import sklearn

    return {
        "plausible": plausible.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
    }


def _open(path: str | os.PathLike[str]) -> tuple[dict[str, Any], bytes, str]:
    """What a file says about itself, the bytes of the model, and the name of the file."""
    if isinstance(path, str) and path == "-":
        content, name = sys.stdin.buffer.read(), "standard input"
    else:
        given = check_path(path)
        file = given if given.is_fifo() else existing_file(given)
        content, name = file.read_bytes(), repr(file.name)
    start = len(MAGIC) + DIGEST + 1
    if not content.startswith(MAGIC) or content[start - 1 : start] != b"\n":
        raise ModelFileError(
            f"{name} should be a model file of plausible, but does not begin like one; give a file "
            "that plausible fit or plausible.io.save wrote."
        )
    if hashlib.sha256(content[start:]).hexdigest().encode() != content[len(MAGIC) : start - 1]:
        raise ModelFileError(
            f"{name} should have the checksum that it was saved with, but has another: it was cut "
            "off or altered; get a fresh copy, or save the model again."
        )
    line, _, body = content[start:].partition(b"\n")
    return read_about(line, name), body, name


def _read_body(body: bytes, name: str, further: list[str]) -> Any:
    """The model that skops wrote, if it names only trusted types."""
    skops = _skops_io()
    try:
        _check_archive(body, name)
        body = brought_up_to_date(body, SCHEMA)
        allowed = [*trusted_types(), *further]
        strange = sorted(set(skops.get_untrusted_types(data=body)) - set(allowed))
        if strange:
            raise_untrusted(name, strange)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions are compared here, and for the whole file
            model = skops.loads(body, trusted=allowed)
        check_parts(model, name)
        return model
    except (ModelFileError, ImportError):
        raise
    except Exception as error:
        raise ModelFileError(
            f"{name} should hold a model, but its parts cannot be put together; save it again with "
            "these versions of plausible, scikit-learn and skops."
        ) from error


def _check_archive(body: bytes, name: str) -> None:
    """Refuse an archive that is compressed (it might grow without end), or of strange parts."""
    with ZipFile(io.BytesIO(body)) as archive:
        entries = archive.infolist()
        names = [entry.filename for entry in entries]
        plain = all(
            entry.compress_type == ZIP_STORED and entry.file_size == entry.compress_size
            for entry in entries
        )
        if (
            not plain
            or len(set(names)) < len(names)
            or sum(e.file_size for e in entries) > len(body)
        ):
            raise ModelFileError(
                f"{name} should hold each part once and not compressed, but does not; save it with "
                "plausible.io.save."
            )
        check_schema(archive.read(SCHEMA), name)


def _compare_versions(written: dict[str, str], name: str) -> None:
    """Warn if a package has changed in a way that may change answers."""
    numbers = {"plausible": 2, "scikit-learn": 2, "numpy": 1}
    changed = [
        f"{package} {written.get(package)} (here {version})"
        for package, version in versions().items()
        if _first(written.get(package, ""), numbers[package]) != _first(version, numbers[package])
    ]
    if changed:
        warnings.warn(
            f"{name} was saved with {', '.join(changed)}, so that its answers may differ; check "
            "them, or fit the model again.",
            VersionWarning,
            stacklevel=4,
        )


def _first(version: str, count: int) -> list[str]:
    """The first numbers of a version."""
    return version.split(".")[:count]
