"""Results as JSON: written in whole or not at all, read from a folder or from the package."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from plausible.experiments.comparison import Results

DIGITS = 6


def rounded(value: Any) -> Any:
    """The same with six significant digits in every float.

    Examples
    --------
    >>> rounded({"rate": 0.123456789, "rows": [1, 2.0]})
    {'rate': 0.123457, 'rows': [1, 2.0]}
    """
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list | tuple) else value


def to_json(value: Any, indent: str = "") -> str:
    """JSON with a line for each key, and lists of plain values on one line.

    Examples
    --------
    >>> print(to_json({"a": [1, 2], "b": {"c": None}}))
    {
     "a": [1, 2],
     "b": {
      "c": null
     }
    }
    """
    inner = indent + " "
    if isinstance(value, dict) and value:
        lines = [f"{json.dumps(str(key))}: {to_json(one, inner)}" for key, one in value.items()]
        opening, closing = "{}"
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        lines = [to_json(one, inner) for one in value]
        opening, closing = "[]"
    else:
        return json.dumps(value, allow_nan=False, ensure_ascii=False)
    return f"{opening}\n{inner}" + f",\n{inner}".join(lines) + f"\n{indent}{closing}"


def write_json(results: Results, path: Path) -> None:
    """Write results so that a reader never sees half a file."""
    from plausible.engine import write_atomically  # numpy comes with the engine

    write_atomically(path, (to_json(results) + "\n").encode())


def read_json(path: Path) -> Results:
    """Results of a file, or an error that says what is wrong with it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "come_2008.json"
    ...     write_json({"experiment": "come_2008", "claims": []}, path)
    ...     read_json(path)["experiment"]
    'come_2008'
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found["claims"], list) and found["experiment"] == path.stem:
            return dict(found)
        problem = f"holds those of {found['experiment']!r}"
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        problem = f"does not ({type(error).__name__}: {error})"
    raise ValueError(
        f"{path} should hold the results of the experiment {path.stem!r}, but {problem}; remove "
        "the file, or run the experiment again."
    )


def read_results(experiment: str, folder: Path | None = None) -> Results | None:
    """Results in a folder, else those that came with the package; None where neither has any.

    Examples
    --------
    >>> read_results("come_2008")["settings"]["training_sets"]
    100
    """
    if folder is not None and (path := folder / f"{experiment}.json").is_file():
        return read_json(path)
    shipped = Path(str(files("plausible.experiments"))) / "results" / f"{experiment}.json"
    return read_json(shipped) if shipped.is_file() else None
