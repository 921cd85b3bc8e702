"""Models saved by earlier versions: types that have moved since, and attributes with other names.

A model file names types by the module that defined them when it was written. Before such a file is
looked at, its description is brought up to date; what may be in it is decided afterwards, by the
names of today.
"""

import io
import json
from typing import Any
from zipfile import ZipFile

MODULES = {
    "plausible.models.gaussian": "plausible.models.gaussian.parameters",
    "plausible.models.mixture": "plausible.models.gaussian.mixture",
    "plausible.models.discriminant": "plausible.models.gaussian.discriminant",
    "plausible.models.logistic": "plausible.models.logistic.regression",
    "plausible.models.stochastic": "plausible.models.supervision.classifier",
    "plausible.models.supervision": "plausible.models.supervision.parameters",
    "plausible.models.calibration": "plausible.models.calibration.classifier",
    "plausible.models.predictive": "plausible.models.calibration.predictive",
}
# Attributes that estimators keep under another name now.
ATTRIBUTES = {
    "GaussianMixtureClassifier": {"covariance": "covariance_type"},
    "StochasticSupervisionClassifier": {"covariance": "covariance_type"},
}


def brought_up_to_date(body: bytes, schema_name: str) -> bytes:
    """The archive of a model with the names of today in its description."""
    with ZipFile(io.BytesIO(body)) as archive:
        try:
            schema = json.loads(archive.read(schema_name))
        except ValueError:  # damaged: whoever reads it will say so
            return body
        if not _rename(schema):
            return body
        written = io.BytesIO()
        with ZipFile(written, "w") as renewed:
            for entry in archive.infolist():
                is_schema = entry.filename == schema_name
                content = json.dumps(schema).encode() if is_schema else archive.read(entry)
                renewed.writestr(entry.filename, content)
    return written.getvalue()


def _rename(tree: Any) -> bool:
    """Rename types and attributes in place; whether there were any."""
    changed = False
    stack = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack.extend(part)
        elif isinstance(part, dict):
            changed |= _rename_type(part)
            stack.extend(part.values())
    return changed


def _rename_type(part: dict[str, Any]) -> bool:
    module = part.get("__module__")
    if not isinstance(module, str) or module not in MODULES:
        return False
    part["__module__"] = MODULES[module]
    renamed = ATTRIBUTES.get(str(part.get("__class__")), {})
    state = part.get("content")
    held = state.get("content") if isinstance(state, dict) else None
    if isinstance(held, dict):
        for old, new in renamed.items():
            if old in held:
                held[new] = held.pop(old)
    return True
