"""Pictures and sounds, by the number of their item; what they are, their first bytes tell."""

from pathlib import Path

MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
)
RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


def type_of(head: bytes) -> str | None:
    """The type of a file by its first bytes; None if it is not among those that are served.

    Examples
    --------
    >>> type_of(b"GIF89a..."), type_of(b"<svg>")
    ('image/gif', None)
    """
    if head[:4] == b"RIFF":
        return RIFF.get(head[8:12])
    return next((kind for magic, kind in MAGIC if head.startswith(magic)), None)


def find_media(folder: Path | None, name: str | None) -> tuple[Path, str] | None:
    """A file inside a folder and its type; None for everything else."""
    if folder is None or not name or "\0" in name:
        return None
    root = folder.resolve()
    try:
        path = (root / name).resolve(strict=True)
        if not path.is_relative_to(root) or not path.is_file():
            return None
        with path.open("rb") as file:
            kind = type_of(file.read(16))
    except OSError:
        return None
    return None if kind is None else (path, kind)
