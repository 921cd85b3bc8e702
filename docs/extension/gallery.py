"""How examples of the gallery run: one look for all pictures, and warnings are errors."""

import warnings
from pathlib import Path
from typing import Any

STYLE = Path(__file__).parents[2] / "examples" / "gallery" / "gallery.mplstyle"
FILTERS = list(warnings.filters)


def in_the_house_style(gallery_conf: Any, name: str, when: str) -> None:
    """Set fonts and colors before each example; one that warns is not finished."""
    from matplotlib import style

    if when == "before":
        style.use(str(STYLE))
        warnings.simplefilter("error")
    else:
        warnings.filters[:] = FILTERS  # type: ignore[index]


def forget_removed(app: Any) -> None:
    """Remove what an earlier build made of examples that are no longer there."""
    scripts = {path.stem for path in STYLE.parent.glob("*.py")}
    for made in (Path(app.srcdir) / "gallery").glob("[0-9]*"):
        if made.name.split(".")[0] not in scripts:
            made.unlink()


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx; before sphinx-gallery runs the examples."""
    app.connect("builder-inited", forget_removed, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
