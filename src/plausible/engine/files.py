"""Files that are there in whole or not at all.

What is written goes to a new file in the same folder, is brought to the disk, and only then takes
the name that was asked for. An exception or an interruption on the way leaves what was there.
"""

import contextlib
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_parts: set[Path] = set()  # files that are being written
_changing = threading.RLock()


@contextmanager
def atomic_file(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file to write, which takes its name when the block ends without an exception.

    A link is followed, and the permissions of a file that is replaced are kept. What is no file (a
    device or a pipe) is not replaced, but written to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "notes.txt"
    ...     with atomic_file(path) as file:
    ...         _ = file.write(b"all or nothing")
    ...     path.read_bytes()
    b'all or nothing'
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        with _begin(temporary) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, path.stat().st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        _parts.discard(temporary)
    _sync_folder(path.parent)


def _begin(part: Path) -> BinaryIO:
    with _changing:
        _parts.add(part)
        return open(part, "xb")


def remove_parts() -> None:
    """Remove what has not been written to its end; for a process that ends at once.

    No more can be begun afterwards: whoever tries waits for the end.
    """
    _changing.acquire(timeout=1.0)
    for part in list(_parts):
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a file so that it is there in whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "notes.txt", b"all or nothing")
    ...     os.listdir(folder)
    ['notes.txt']
    """
    with atomic_file(path) as file:
        file.write(content)


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
