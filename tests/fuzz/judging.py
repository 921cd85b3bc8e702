"""What may leave a public call besides its result: an error in words of ours, nothing raw."""

import dis
import re
from pathlib import Path
from types import CodeType, TracebackType

import sklearn

import plausible

OURS = str(Path(plausible.__file__).parent)
CALLERS = str(Path(__file__).parent)
# Where scikit-learn checks what it is given, and says clearly what is wrong with it.
CHECKS_OF_SCIKIT_LEARN = tuple(
    str(Path(sklearn.__file__).parent / "utils" / name)
    for name in ("validation.py", "_param_validation.py", "multiclass.py")
)
KINDS = (ValueError, TypeError, OSError, ImportError)
SIGNATURE = re.compile(
    r"unexpected keyword argument|missing \d+ required|takes .* argument"
    r"|multiple values for"
)
CRYPTIC = re.compile(
    r"could not convert|not supported between|unhashable|has no attribute|unsupported operand"
    r"|object is not|must be real number|cannot be interpreted|setting an array element"
)
SHORTEST, LONGEST = 25, 3000  # characters of a message


def complaint(error: BaseException) -> str | None:
    """Why an error should not have left a public call; None if it may."""
    if came_from_the_caller(error):
        return None
    if not isinstance(error, KINDS):
        return f"{type(error).__name__} is no error of ours"
    code, instruction = raised_at(error)
    message = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return None  # the operating system names the file
    if type(error) is TypeError and SIGNATURE.search(message):
        return None
    if instruction != "RAISE_VARARGS":
        return f"raw {type(error).__name__}"
    if code.co_filename in CHECKS_OF_SCIKIT_LEARN:
        return f"cryptic words of scikit-learn: {message}" if CRYPTIC.search(message) else None
    if not code.co_filename.startswith(OURS):
        return f"{type(error).__name__} of {code.co_filename}"
    if not SHORTEST <= len(message) <= LONGEST:
        return f"message of {len(message)} characters"
    return None


def steps_of(error: BaseException) -> list[TracebackType]:
    """The way of an error, from the call to where it was raised."""
    steps, step = [], error.__traceback__
    while step is not None:
        steps.append(step)
        step = step.tb_next
    return steps


def file_of(step: TracebackType) -> str:
    return step.tb_frame.f_code.co_filename


def came_from_the_caller(error: BaseException) -> bool:
    """Whether the library called code of the caller, a function or a method, which failed."""
    files = [file_of(step) for step in steps_of(error)]
    ours = [k for k, name in enumerate(files) if name.startswith(OURS)]
    return bool(ours) and any(name.startswith(CALLERS) for name in files[ours[-1] :])


def raised_at(error: BaseException) -> tuple[CodeType, str]:
    """The innermost code that an error passed, and the instruction that failed there.

    A raise statement fails with RAISE_VARARGS; anything else was no intention.
    """
    innermost = steps_of(error)[-1]
    code, at = innermost.tb_frame.f_code, innermost.tb_lasti
    names = {step.offset: step.opname for step in dis.get_instructions(code)}
    return code, names.get(at, "")


def last_line_of_ours(error: BaseException) -> str:
    """Where in the library an error passed last: file and line."""
    ours = [step for step in steps_of(error) if file_of(step).startswith(OURS)]
    if not ours:
        return "outside"
    return f"{Path(file_of(ours[-1])).relative_to(OURS)}:{ours[-1].tb_lineno}"
