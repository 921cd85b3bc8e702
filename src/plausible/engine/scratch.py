"""Parts of rows kept for the next pass: what was read and prepared once need not be again.

The first megabytes of a process stay in memory, the others go into one file without a name, as they
lie in memory; a part is mapped when it is used. The file is gone when nothing uses it, also after a
crash.
"""

import math
import mmap
import os
import shutil
import tempfile
import weakref
from io import RawIOBase
from pathlib import Path
from threading import Lock, RLock
from typing import Any, NamedTuple

import numpy as np

from plausible.engine.rows import Array, Columns, is_sparse, n_bytes

IN_MEMORY = 48 << 20  # of all scratches of a process
SHARE_OF_DISK = 0.5  # of what is free when the first part is written
ALIGNED = 64  # bytes: where an array begins
IN_MEMORY_SYSTEMS = "tmpfs", "ramfs"


class _Column(NamedTuple):
    """Where an array begins within its part, and how to read it."""

    start: int
    dtype: "np.dtype[Any]"
    shape: tuple[int, ...]
    is_turned: bool  # the transpose was written: columns lie one after another


class _Place(NamedTuple):
    """Where a part begins in the file, its bytes, and its columns."""

    start: int
    n_bytes: int
    columns: tuple[_Column | None, ...]


def scratch_folder() -> Path | None:
    """Where large temporary files go: TMPDIR, else /var/tmp; None where that is in memory.

    Examples
    --------
    >>> folder = scratch_folder()
    >>> folder is None or folder.is_dir()
    True
    """
    large = Path("/var/tmp")
    is_given = "TMPDIR" in os.environ or not os.access(large, os.W_OK)
    folder = Path(tempfile.gettempdir()) if is_given else large
    return None if _is_in_memory(folder) else folder


def _is_in_memory(folder: Path) -> bool:
    """Whether the files of a folder take memory; where the system does not tell, they do not."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text()
    except OSError:
        return False
    device = folder.stat().st_dev
    name = f"{os.major(device)}:{os.minor(device)}"
    kinds = [
        line.partition(" - ")[2].split()[0]
        for line in mounts.splitlines()
        if line.split()[2] == name
    ]
    return any(kind in IN_MEMORY_SYSTEMS for kind in kinds)


class _Memory:
    """Bytes in memory that scratches share; each gives back what it took when it is gone."""

    def __init__(self) -> None:
        self._lock, self._taken = RLock(), 0  # one may be gone while another takes

    def take(self, size: int) -> bool:
        """Whether there is room for so many more."""
        with self._lock:
            has_room = self._taken + size <= IN_MEMORY
            self._taken += size * has_room
        return has_room

    def give_back(self, sizes: list[int]) -> None:
        """What was taken can be taken again."""
        with self._lock:
            self._taken -= sum(sizes)


_memory = _Memory()


class Scratch:
    """Parts by number: tuples of arrays and None, or None for a part without rows.

    Parameters
    ----------
    folder : path, or None
        Where the file is made; without it, only what fits the memory is taken.

    Examples
    --------
    >>> scratch = Scratch(None)
    >>> scratch.put(0, (np.arange(3.0), None))
    True
    >>> scratch.get(0)
    (array([0., 1., 2.]), None)
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder, self._lock = folder, Lock()
        self._file: RawIOBase | None = None
        self._parts: dict[int, Columns | _Place | None] = {}
        self._held: list[int] = []  # bytes of the parts in memory
        self._end, self._most = 0, 0.0
        weakref.finalize(self, _memory.give_back, self._held)

    def __len__(self) -> int:
        """How many parts there are."""
        return len(self._parts)

    def put(self, number: int, columns: Columns | None) -> bool:
        """Keep a part; False where there is no room, or it cannot be written as it lies."""
        if columns is None:
            self._parts[number] = None
            return True
        if any(is_sparse(c) or np.asarray(c).dtype.hasobject for c in columns if c is not None):
            return False
        size = sum(n_bytes(column) for column in columns if column is not None)
        with self._lock:
            if _memory.take(size):
                self._held.append(size)
                self._parts[number] = columns
                return True
            if self._folder is None:
                return False
            try:
                self._parts[number] = self._write(columns)
            except OSError:  # the disk is full, or not ours to write
                return False
            return self._end <= self._most

    def get(self, number: int) -> Columns | None:
        """A part that was kept."""
        part = self._parts[number]
        if not isinstance(part, _Place):
            return part
        assert self._file is not None
        if not part.n_bytes:
            data: Any = b""
        else:
            data = mmap.mmap(
                self._file.fileno(), part.n_bytes, access=mmap.ACCESS_READ, offset=part.start
            )
        return tuple(None if one is None else _read(data, one) for one in part.columns)

    def _write(self, columns: Columns) -> _Place:
        file = self._opened()
        start, size = self._end, 0
        places: list[_Column | None] = []
        for column in columns:
            if column is None:
                places.append(None)
                continue
            array = np.asarray(column)
            is_turned = array.ndim == 2 and array.strides[0] < array.strides[1]
            array = np.ascontiguousarray(array.T if is_turned else array)
            places.append(_Column(size, array.dtype, array.shape, is_turned))
            file.seek(start + size)
            _write_all(file, array)
            size = _rounded(size + array.nbytes, ALIGNED)
        self._end = _rounded(start + size, mmap.ALLOCATIONGRANULARITY)
        file.truncate(self._end)
        return _Place(start, size, tuple(places))

    def _opened(self) -> RawIOBase:
        if self._file is None:
            assert self._folder is not None
            self._most = SHARE_OF_DISK * shutil.disk_usage(self._folder).free
            file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
            self._file = file
            weakref.finalize(self, file.close)
        return self._file


def _read(data: Any, column: _Column) -> Array:
    if not all(column.shape):
        array = np.empty(column.shape, column.dtype)
    else:
        count = math.prod(column.shape)
        array = np.frombuffer(data, column.dtype, count, column.start).reshape(column.shape)
    return array.T if column.is_turned else array


def _write_all(file: RawIOBase, array: Array) -> None:
    """All bytes of an array; the system may write fewer at a time."""
    left = array.reshape(-1).view(np.uint8)
    while len(left):
        left = left[file.write(left.data) :]


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit
