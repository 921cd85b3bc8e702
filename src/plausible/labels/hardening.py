"""The moment at which scikit-learn takes the hard classes of labels, and their degrees are lost.

scikit-learn asks labels for an array in many places. Splitters, scorers and selections of features
only look at the classes, and hand the labels on. A classifier of scikit-learn that does so while it
is being fitted learns from the classes alone, whatever it is made of: voting, stacking, bagging,
boosting, calibration, one-versus-rest, or a plain learner. So do recursive elimination of
features, and `cross_val_predict` unless it predicts classes. Which of them asks is seen on the
stack of calls; only public names are looked for.
"""

import inspect
import warnings
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from plausible.checks import name_rows
from plausible.errors import InputError
from plausible.labels.warnings import HardenedLabelsWarning

if TYPE_CHECKING:
    from plausible.labels.container import Labels

MOST_FRAMES = 200  # of the stack that are looked at, from the innermost
FITS = frozenset(("fit", "partial_fit"))
ALSO_HARDENS = frozenset(("RFE", "RFECV"))  # which are no classifiers, but fit one
HANDS_ON = frozenset(("FixedThresholdClassifier",))
TAKES_MISSING = frozenset(("LabelPropagation", "LabelSpreading", "SelfTrainingClassifier"))
NOT_LABELED = -1  # what the classifiers above take for "not labeled"
NOTED = "_plausible_noted"  # is set in a call that was warned of
# What keeps the degrees in the place of a tool; for others, any estimator of this library.
KEEPERS = {
    "BaggingClassifier": "SoftBaggingClassifier",
    "CalibratedClassifierCV": "EvidentialCalibratedClassifier",
    "StackingClassifier": "SoftStackingClassifier",
    "VotingClassifier": "SoftVotingClassifier",
    "cross_val_predict": "cross_val_beliefs",
}


def note_hardening(labels: "Labels") -> None:
    """Warn if labels are being hardened, once for each call of the tool that does it.

    Rows that say nothing would become a class, and so are refused.
    """
    found = _find_tool(inspect.currentframe())
    if found is None or NOTED in found[0].f_locals:
        return
    call, tool = found
    hard = labels.is_hard
    if hard.all():
        return
    unknown, marker = labels.is_unknown, labels.marker_of_unknown
    if unknown.any() and not (tool in TAKES_MISSING and marker == NOT_LABELED):
        _refuse_unknown(unknown, marker, tool)
    if tool not in TAKES_MISSING:
        _warn_at(
            _users_frame(call),
            f"Labels should keep their degrees, but {tool} of scikit-learn takes their hard "
            f"classes, and what {name_rows(~hard)} say beyond them is lost; use "
            f"{_keeper_of(tool)}, or give y.crisp() if hard classes are meant.",
        )
    call.f_locals[NOTED] = True  # names that a function does not have stay as long as its call


def _refuse_unknown(unknown: NDArray[np.bool_], marker: str | int, tool: str) -> None:
    """Refuse labels of which some rows would become a class that does not exist."""
    raise InputError(
        f"{tool} of scikit-learn takes hard classes from labels, so each row should favor one",
        f"nothing is known in {name_rows(unknown)}, which would become a class {marker!r}",
        f"use {_keeper_of(tool)}, which keeps what labels say, or drop these rows: "
        "known = ~y.is_unknown, then X[known], y[known]",
        parameter="y",
        rows=unknown,
    )


def _find_tool(frame: FrameType | None) -> tuple[FrameType, str] | None:
    """The outermost call that hardens labels, and the name of what was called."""
    found = None
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        tool = _tool_of(frame)
        found = (frame, tool) if tool else found
        frame = frame.f_back
    return found


def _tool_of(frame: FrameType) -> str | None:
    """Name of the classifier or function of scikit-learn that a call belongs to, if it hardens."""
    name = frame.f_code.co_name
    if name not in FITS and name != "cross_val_predict":
        return None
    if not frame.f_globals.get("__name__", "").startswith("sklearn."):
        return None
    if name == "cross_val_predict":
        return None if frame.f_locals.get("method") == "predict" else name
    from sklearn.base import ClassifierMixin

    fitted = frame.f_locals.get("self")
    public = [kind.__name__ for kind in type(fitted).__mro__]
    is_tool = isinstance(fitted, ClassifierMixin) or not ALSO_HARDENS.isdisjoint(public)
    if not is_tool or not HANDS_ON.isdisjoint(public):
        return None
    known = (kind for kind in public if kind in KEEPERS or kind in TAKES_MISSING)
    return next(known, public[0])


def _keeper_of(tool: str) -> str:
    """What keeps the degrees in the place of a tool."""
    ours = KEEPERS.get(tool)
    return f"plausible.models.{ours}" if ours else "an estimator of plausible.models"


def _users_frame(call: FrameType) -> FrameType:
    """The line outside of scikit-learn from which a call came."""
    frame: FrameType | None = call
    while frame is not None:
        if frame.f_globals.get("__name__", "").split(".")[0] not in ("sklearn", "joblib"):
            return frame
        frame = frame.f_back
    return call


def _warn_at(frame: FrameType, message: str) -> None:
    """Warn on behalf of a line."""
    warnings.warn_explicit(
        message,
        HardenedLabelsWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__"),
        frame.f_globals.setdefault("__warningregistry__", {}),
    )
