"""What a long experiment has found so far, so that an interrupted run can be taken up."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Scores = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Kept:
    """Scores of splits in files, so that a run can be taken up.

    folder : where they are; None keeps nothing
    settings : of the run; files of others are not used
    """

    folder: Path | None
    settings: dict[str, Any]

    def find(self, name: str) -> Scores | None:
        """Scores of a split, if an earlier run has left them."""
        if self.folder is None or not (path := self.folder / f"{name}.json").exists():
            return None
        found = json.loads(path.read_text())
        return found["scores"] if found["settings"] == self.settings else None

    def keep(self, name: str, scores: Scores) -> None:
        """Leave scores of a split."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"settings": self.settings, "scores": scores})
            (self.folder / f"{name}.json").write_text(text)
