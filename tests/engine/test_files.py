"""A file is there in whole or not at all."""

import os

import pytest

from plausible.engine.files import atomic_file, write_atomically


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_was_there_stays_when_writing_fails(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")

    def write_half():
        with atomic_file(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_nothing_is_left_when_the_last_step_fails(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        write_atomically(tmp_path / "a.txt", b"content")
    assert os.listdir(tmp_path) == []


def test_nobody_sees_a_part(tmp_path):
    path = tmp_path / "a.txt"
    with atomic_file(path) as file:
        file.write(b"x" * 100_000)
        assert not path.exists()
    assert path.stat().st_size == 100_000


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    write_atomically(path, b"1")
    fresh = tmp_path / "fresh.txt"
    fresh.touch()
    assert path.stat().st_mode == fresh.stat().st_mode
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomically(link, b"2")
    assert link.is_symlink()
    assert path.read_bytes() == b"2"
    assert path.stat().st_mode & 0o777 == 0o640


def test_long_names(tmp_path):
    path = tmp_path / ("n" * 250)
    write_atomically(path, b"1")
    assert path.read_bytes() == b"1"


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    handle = os.open(tmp_path / "pipe", os.O_RDWR)
    with atomic_file(tmp_path / "pipe") as file:
        file.write(b"through")
    assert os.read(handle, 100) == b"through"
    os.close(handle)
    assert (tmp_path / "pipe").is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]
