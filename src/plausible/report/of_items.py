"""What items look like: their texts, or small pictures that the page carries itself.

Nothing is fetched: a picture is a file on this computer, and the address of one elsewhere is shown
as a link that only opens when it is clicked.
"""

import base64
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from plausible.report.words import name_of

LONGEST_TEXT = 240  # letters of an item's text
SIDE = 160  # pixels of a small picture
LARGEST_FILE = 50_000_000  # bytes of a picture that is opened
LARGEST_AS_IT_IS = 30_000  # bytes of a picture that is taken as it is
ROOM = 280_000  # letters that all pictures together may take
STARTS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif"}
_ADDRESS = re.compile(r"^https?://[^\s\"'<>\\]+$", re.IGNORECASE)


def summarize_items(
    shown: Iterable[str],
    names: Sequence[str],
    texts: Sequence[Any] | None,
    pictures: Sequence[Any] | None,
) -> dict[str, Any]:
    """Texts and pictures of the items on the page, by name.

    Parameters
    ----------
    shown : names of items, once for each place where they stand
    names : names (n,) of all items; those that look the same are left out
    texts, pictures : sequences (n,), optional
    """
    often = Counter(names)
    row_of = {name: row for row, name in enumerate(names) if often[name] == 1}
    found: dict[str, Any] = {}
    room = ROOM
    for name, places in Counter(shown).items():
        row = row_of.get(name)
        if row is None:
            continue
        told: dict[str, Any] = {}
        if texts is not None and not _is_empty(texts[row]):
            told["text"] = name_of(" ".join(str(texts[row]).split()), LONGEST_TEXT)
        if pictures is not None and not _is_empty(pictures[row]):
            told |= picture(pictures[row], room // places)
            room -= places * len(told.get("picture", ""))
        if told:
            found[name] = told
    return found


def _is_empty(value: Any) -> bool:
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or str(value).strip() == ""


def picture(source: Any, room: int) -> dict[str, Any]:
    """A small picture as an address that holds it, a link, or why there is none."""
    text = str(source)
    if _ADDRESS.match(text):
        return {"address": name_of(text, 1000)}
    short = name_of(Path(text).name)
    try:
        path = Path(text)
        if not path.is_file():
            return {"note": f"no picture: there is no file {short}"}
        if path.stat().st_size > LARGEST_FILE:
            return {"note": f"no picture: {short} is too large"}
        kind, content = smaller(path)
    except (OSError, ValueError) as error:
        return {"note": f"no picture: {short} could not be read ({type(error).__name__})"}
    if kind is None:
        return {"note": f"no picture: {short} is no PNG, JPEG or GIF, or too large as it is"}
    address = f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"
    if len(address) > room:
        return {"note": f"no picture: the page has no room left for {short}"}
    return {"picture": address}


def smaller(path: Path) -> tuple[str | None, bytes]:
    """Kind and bytes of a small copy, by Pillow if it is installed; else a small file as it is."""
    content = path.read_bytes()
    try:
        from PIL import Image, ImageOps
    except ImportError:
        kind = next((kind for start, kind in STARTS.items() if content.startswith(start)), None)
        return (kind, content) if len(content) <= LARGEST_AS_IT_IS else (None, b"")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of pictures that unfold to very many pixels
        try:
            with Image.open(io.BytesIO(content), formats=["PNG", "JPEG", "GIF", "WEBP"]) as opened:
                opened.draft("RGB", (2 * SIDE, 2 * SIDE))
                image = ImageOps.exif_transpose(opened)
                image.thumbnail((SIDE, SIDE))
                flat = Image.new("RGB", image.size, "white")
                rich = image.convert("RGBA")
                flat.paste(rich, mask=rich.getchannel("A"))
        except (Warning, Image.DecompressionBombError, SyntaxError, EOFError) as error:
            raise ValueError(str(error)) from None
    file = io.BytesIO()
    flat.save(file, "JPEG", quality=72, optimize=True)
    return "jpeg", file.getvalue()
