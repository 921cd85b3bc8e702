"""The state of a loop in a file: arrays and numbers only, written in one piece."""

import io
import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from plausible.checks import check_kind
from plausible.engine.ascent import Ascent
from plausible.engine.files import write_atomically
from plausible.errors import InputError

POINTS = ("proposal", "point", "fallback", "previous")
WHOLE = ("pause", "n_jumps", "n_failures")
NUMBERS = ("gain", "steps_left", "longest", "converged", "ended", "tolerance", *WHOLE)
FORMAT = "plausible checkpoint 1"


def save_ascents(path: str | Path, ascents: list[Ascent], settings: str) -> None:
    """Write where every start stands."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    state = []
    for number, ascent in enumerate(ascents):
        arrays[f"{number}.history"] = np.array(ascent.history)
        state.append({name: float(getattr(ascent, name)) for name in NUMBERS})
        for name in POINTS:
            parameters = getattr(ascent, name)
            if parameters is not None:
                check_kind(
                    parameters, tuple, "Parameters with a checkpoint", "give a tuple of arrays"
                )
                for part, value in enumerate(parameters):
                    arrays[f"{number}.{name}.{part}"] = np.asarray(value)
    arrays["state"] = np.array(
        json.dumps({"format": FORMAT, "settings": settings, "ascents": state})
    )
    with tempfile.SpooledTemporaryFile() as buffer:
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        buffer.seek(0)
        write_atomically(path, buffer.read())


def load_ascents(path: str | Path, ascents: list[Ascent], settings: str) -> None:
    """Put every start where the file says; refuses a file of another problem."""
    try:
        content = io.BytesIO(Path(path).read_bytes())
        with np.load(content, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        state = json.loads(str(arrays["state"]))
        if state["format"] != FORMAT:
            raise ValueError(state["format"])
        states = list(state["ascents"])
    except Exception:  # whatever the readers of arrays, archives and JSON say of other bytes
        raise InputError(
            f"{path} should be a checkpoint of a fit",
            "cannot be read as one",
            "delete it to start again",
        ) from None
    if state.get("settings") != settings:
        raise InputError(
            f"The checkpoint {path} should have the settings {settings}",
            f"has {state.get('settings')}",
            "use those, or delete it to start again",
        )
    if len(states) != len(ascents):
        raise InputError(
            f"The checkpoint {path} should have {len(ascents)} starts",
            f"has {len(states)}",
            "use the settings it was written with, or delete it to start again",
        )
    for number, (ascent, numbers) in enumerate(zip(ascents, states, strict=True)):
        history = arrays.get(f"{number}.history")
        has_point = f"{number}.point.0" in arrays and f"{number}.proposal.0" in arrays
        _check_state(numbers, history, has_point, path)
        place(ascent, number, numbers, arrays, path)


def _check_state(numbers: Any, history: Any, has_point: bool, path: str | Path) -> None:
    """Refuse a start without all its numbers, or with a history that led to no point."""
    is_good = (
        isinstance(numbers, dict)
        and all(isinstance(numbers.get(name), float) for name in NUMBERS)
        and all(math.isfinite(numbers[name]) for name in WHOLE)
        and isinstance(history, np.ndarray)
        and (history.ndim, history.dtype.kind) == (1, "f")
        and (has_point or not len(history))
    )
    if not is_good:
        raise InputError(
            f"{path} should be a checkpoint of a fit",
            "lacks what a start has",
            "delete it to start again",
        )


def place(
    ascent: Ascent, number: int, numbers: dict[str, float], arrays: dict[str, Any], path: str | Path
) -> None:
    """Put one start where the file says."""
    start, tolerance = ascent.proposal, ascent.tolerance
    for name in POINTS:
        setattr(ascent, name, restore(arrays, f"{number}.{name}", start, path))
    ascent.proposal = start if ascent.proposal is None else ascent.proposal
    ascent.history = arrays[f"{number}.history"].tolist()
    for name in NUMBERS:
        setattr(ascent, name, numbers[name])
    for name in WHOLE:
        setattr(ascent, name, int(numbers[name]))
    ascent.converged, ascent.ended = bool(ascent.converged), bool(ascent.ended)
    if tolerance < ascent.tolerance:
        ascent.reopen(tolerance)
    ascent.tolerance = tolerance


def check_folder(path: str | Path) -> None:
    """Refuse a place where no file can be written, before there is something to lose."""
    folder = Path(path).absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(
            f"The checkpoint {path} should be in a folder that can be written",
            f"{folder} cannot",
            "create it, or choose another folder",
        )


def restore(arrays: dict[str, Any], name: str, like: Any, path: str | Path) -> Any:
    """Parameters of the type and shapes of `like`, None if the file has none."""
    if f"{name}.0" not in arrays:
        return None
    parts = [arrays.get(f"{name}.{part}", np.empty(0)) for part in range(len(like))]
    shapes, expected = [np.shape(p) for p in parts], [np.shape(p) for p in like]
    kinds, like_kinds = ([np.asarray(p).dtype.kind for p in group] for group in (parts, like))
    if shapes != expected or kinds != like_kinds:
        raise InputError(
            f"The checkpoint {path} should have parameters of shapes {expected}",
            f"has {shapes}",
            "use the data and settings it was written with, or delete it to start again",
        )
    return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
