"""What a long experiment has found so far, so that an interrupted run can be taken up."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Kept:
    """What parts of a run have found, in files, so that it can be taken up.

    folder : where they are; None keeps nothing
    settings : of the run; files of others are not used
    """

    folder: Path | None
    settings: dict[str, Any]

    def find(self, name: str) -> Any:
        """What a part has found, if an earlier run has left it."""
        if self.folder is None or not (path := self.folder / f"{name}.json").exists():
            return None
        found = json.loads(path.read_text())
        return found["scores"] if found["settings"] == self.settings else None

    def keep(self, name: str, scores: Any) -> None:
        """Leave what a part has found, ready for JSON."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"settings": self.settings, "scores": scores})
            whole = self.folder / f"{name}.json"
            half = whole.with_suffix(".new")  # an interrupted run leaves no half of a file
            half.write_text(text)
            half.replace(whole)

    def once(self, name: str, find: Callable[[], Any]) -> Any:
        """What a part has found before, or finds now; the seconds it took are kept with it."""
        kept = self.find(name)
        if kept is None:
            start = perf_counter()
            kept = {"found": find()}
            kept["seconds"] = perf_counter() - start
            self.keep(name, kept)
        return kept["found"]

    def seconds(self) -> float | None:
        """How long all parts took that were kept by `once`; None if nothing is kept."""
        if self.folder is None:
            return None
        parts = (self.find(path.stem) for path in self.folder.glob("*.json"))
        return round(sum(part["seconds"] for part in parts if part is not None), 1)


NOTHING = Kept(None, {})
