"""Rows that are kept between passes: the same rows, whatever they are and wherever they lie."""

import gc
import os
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

from plausible.engine import ArrayRows, DaskRows, StreamRows, scratch
from plausible.engine.scratch import Scratch
from plausible.models import DiscriminantClassifier

N_ROWS, SIZE = 1000, 130


class Chunks:
    """A source that counts how often it was read to its end."""

    def __init__(self, *columns):
        self.columns, self.n_passes = columns, 0

    def __iter__(self):
        for start in range(0, len(self.columns[0]), SIZE):
            yield tuple(None if c is None else c[start : start + SIZE] for c in self.columns)
        self.n_passes += 1


@pytest.fixture
def columns():
    random = np.random.default_rng(0)
    X = np.asfortranarray(random.normal(size=(N_ROWS, 3)).astype(np.float32))
    return X, random.random((N_ROWS, 4)), None, random.random(N_ROWS) < 0.5


@pytest.fixture
def no_memory(monkeypatch):
    """Every part goes to the file."""
    monkeypatch.setattr(scratch, "IN_MEMORY", 0)


def listed(rows):
    together = zip(*rows.chunks(), strict=True)
    return [None if c[0] is None else np.concatenate(c) for c in together]


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        if other is None:
            assert one is None
        else:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def positive(columns):
    """A code that leaves out about half of the rows, and orders the others."""
    X = columns[0]
    return np.where(X[:, 0] > 0, np.round(X[:, 1] * 3).astype(int) + 20, -1)


def doubled(columns):
    return (columns[0] * 2, *columns[1:])


@pytest.mark.parametrize("most", [0, 10_000, 1 << 20])
def test_kept_rows_are_the_same_rows(columns, tmp_path, monkeypatch, most):
    monkeypatch.setattr(scratch, "IN_MEMORY", most)
    source = Chunks(*columns)
    kept = StreamRows(source, scratch=tmp_path).map(doubled).arrange(positive).kept()
    expected = listed(StreamRows(Chunks(*columns), scratch=False).map(doubled).arrange(positive))
    for _ in range(3):
        same(listed(kept), expected)
        assert kept.reduce(lambda c: c[1].sum()) == pytest.approx(expected[1].sum(), rel=1e-12)
    assert source.n_passes == 1
    assert kept.n_rows == len(expected[0]) == (columns[0][:, 0] > 0).sum()


def test_all_share_the_memory_and_give_it_back(monkeypatch):
    monkeypatch.setattr(scratch, "IN_MEMORY", 20_000)
    monkeypatch.setattr(scratch, "_memory", scratch._Memory())
    one, other = scratch.Scratch(None), scratch.Scratch(None)
    part = (np.zeros(1000),)  # 8,000 bytes
    assert one.put(0, part)
    assert other.put(0, part)
    assert not other.put(1, part)
    del one
    assert other.put(1, part)
    assert not other.put(2, part)


def test_steps_after_it_are_taken_at_each_pass_and_may_be_kept_again(columns, tmp_path, no_memory):
    source = Chunks(*columns)
    first = StreamRows(source, scratch=tmp_path).map(doubled).kept()
    second = first.arrange(positive).kept()
    plain = StreamRows(Chunks(*columns), scratch=False).map(doubled)
    for _ in range(2):
        same(listed(second.map(doubled)), listed(plain.arrange(positive).map(doubled)))
        same(listed(first), listed(plain))
    assert source.n_passes == 1
    random = np.random.RandomState
    same(second.sample(50, random(0)), plain.arrange(positive).sample(50, random(0)))


def survey(rows, code, leaves_out=True):
    """The sum of a survey, and the rows that it gives."""
    return rows.survey(lambda c: c[1].sum(axis=0), code, lambda found: leaves_out)


@pytest.mark.parametrize("most", [0, 10_000, 1 << 20])
def test_a_survey_sums_all_rows_and_keeps_some_in_one_pass(columns, tmp_path, monkeypatch, most):
    monkeypatch.setattr(scratch, "IN_MEMORY", most)
    source = Chunks(*columns)
    found, some = survey(StreamRows(source, scratch=tmp_path).map(doubled), positive)
    np.testing.assert_allclose(found, columns[1].sum(axis=0), rtol=1e-12)
    expected = StreamRows(Chunks(*columns), scratch=False).map(doubled).arrange(positive)
    for _ in range(2):
        same(listed(some), listed(expected))
    assert some.n_rows == (columns[0][:, 0] > 0).sum()
    assert source.n_passes == 1


def test_a_survey_of_rows_that_are_kept_nowhere_reads_them_again(columns):
    source = Chunks(*columns)
    rows = StreamRows(source, scratch=False)
    _, some = survey(rows, positive)
    same(listed(some), listed(rows.arrange(positive)))
    assert source.n_passes == 3
    assert survey(rows, positive, leaves_out=False)[1] is rows


def test_a_survey_that_finds_no_room_costs_time_only(columns, tmp_path, no_memory, monkeypatch):
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda folder: SimpleNamespace(free=9000))
    source = Chunks(*columns)
    rows = StreamRows(source, scratch=tmp_path)
    found, some = survey(rows, positive)
    np.testing.assert_allclose(found, columns[1].sum(axis=0), rtol=1e-12)
    same(listed(some), listed(StreamRows(Chunks(*columns), scratch=False).arrange(positive)))
    assert source.n_passes == 2


def test_a_survey_of_rows_in_memory_and_on_workers(columns):
    import dask.array

    X, table, *_ = columns
    on_workers = [dask.array.from_array(np.ascontiguousarray(c), (250, -1)) for c in (X, table)]
    for rows in (ArrayRows(X, table), DaskRows(*on_workers)):
        found, some = survey(rows, positive)
        np.testing.assert_allclose(found, table.sum(axis=0), rtol=1e-12)
        chosen = X[:, 0] > 0
        assert some.n_rows == chosen.sum()
        sums = some.reduce(lambda c: c[1].sum(axis=0))
        np.testing.assert_allclose(sums, table[chosen].sum(axis=0), rtol=1e-12)
        assert survey(rows, positive, leaves_out=False)[1] is rows


def test_columns_keep_their_layout_type_and_alignment(columns, tmp_path, no_memory):
    rows = StreamRows(Chunks(*columns), scratch=tmp_path).kept()
    rows.reduce(lambda c: 0)
    X, table, _, mark = rows.peek()
    assert X.flags.f_contiguous
    assert not X.flags.c_contiguous
    assert table.flags.c_contiguous
    assert mark.dtype == bool
    assert all(c.ctypes.data % 64 == 0 for c in (X, table, mark))


def test_parts_without_rows_and_wide_and_empty_columns(tmp_path, no_memory):
    kept = Scratch(tmp_path)
    parts = [
        None,
        (np.zeros((0, 3)), None),
        (np.arange(6, dtype=np.int16).reshape(3, 2)[:, ::-1], np.array(["2020-01-01"], "M8[D]")),
        (np.zeros((4, 0)), np.arange(5000.0)[::2]),
    ]
    for number in (3, 0, 2, 1):  # threads end in any order
        assert kept.put(number, parts[number])
    for number, part in enumerate(parts):
        found = kept.get(number)
        if part is None:
            assert found is None
        else:
            same(found, part)


@pytest.mark.parametrize("column", [np.array(["a", None], dtype=object), "sparse"])
def test_what_cannot_be_written_as_it_lies_is_read_again(column, tmp_path):
    from scipy.sparse import csr_array

    made = csr_array(np.eye(2)) if isinstance(column, str) else column
    reads = []

    def source():
        reads.append(1)
        yield made, np.arange(2.0)

    rows = StreamRows(source, scratch=tmp_path).kept()
    assert [rows.reduce(lambda c: c[1].sum()) for _ in range(3)] == [1.0] * 3
    assert len(reads) == 3


def test_a_full_disk_costs_time_only(columns, tmp_path, no_memory, monkeypatch):
    written = []

    def full(file, array):
        written.append(array.nbytes)
        if len(written) > 5:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(scratch, "_write_all", full)
    source = Chunks(*columns)
    rows = StreamRows(source, scratch=tmp_path).kept()
    sums = [rows.reduce(lambda c: c[1].sum()) for _ in range(3)]
    assert sums == pytest.approx([columns[1].sum()] * 3)
    assert source.n_passes == 3


def test_no_more_than_a_share_of_the_disk_is_taken(columns, tmp_path, no_memory, monkeypatch):
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda folder: SimpleNamespace(free=40_000))
    source = Chunks(*columns)
    rows = StreamRows(source, scratch=tmp_path).kept()
    assert [rows.reduce(lambda c: len(c[1])) for _ in range(3)] == [N_ROWS] * 3
    assert source.n_passes == 3
    assert not os.listdir(tmp_path)


def test_a_pass_that_stops_early_or_fails_leaves_nothing_behind(columns, tmp_path, no_memory):
    source = Chunks(*columns)
    rows = StreamRows(source, scratch=tmp_path).kept()
    rows.peek()

    def fails(c):
        raise RuntimeError("in the midst")

    with pytest.raises(RuntimeError, match="in the midst"):
        rows.reduce(fails)
    same(listed(rows), columns)
    same(listed(rows), columns)
    assert source.n_passes == 1


def test_a_pass_within_a_pass_sees_the_same_rows(columns, tmp_path, no_memory):
    rows = StreamRows(Chunks(*columns), scratch=tmp_path).kept()
    outer = rows.chunks()
    next(outer)
    same(listed(rows), columns)  # while the first pass is writing
    outer.close()
    same(listed(rows), columns)


def test_several_threads_may_pass_over_the_same_rows(columns, tmp_path, no_memory):
    rows = StreamRows(Chunks(*columns), scratch=tmp_path).kept()
    sums = []

    def add():
        sums.append(rows.reduce(lambda c: c[1].sum()))

    threads = [Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == pytest.approx([columns[1].sum()] * 4)


def test_the_file_has_no_name_and_is_gone_with_the_rows(columns, tmp_path, no_memory):
    rows = StreamRows(Chunks(*columns), scratch=tmp_path).kept()
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    rows.reduce(lambda c: 0)
    assert not os.listdir(tmp_path)
    del rows
    gc.collect()
    assert not before or len(os.listdir("/proc/self/fd")) == before


def test_rows_in_memory_and_on_workers_are_kept_as_they_are(columns):
    import dask.array

    X = columns[0]
    in_memory, chunks = ArrayRows(X), StreamRows([X[:500], X[500:]])
    on_workers = DaskRows(dask.array.from_array(np.ascontiguousarray(X), chunks=(250, 3)))
    for rows in (in_memory, chunks, on_workers):
        assert rows.kept() is rows


def test_where_scratch_files_go(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "_is_in_memory", lambda folder: False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(scratch.tempfile, "tempdir", None)
    assert scratch.scratch_folder() == tmp_path
    monkeypatch.setattr(scratch, "_is_in_memory", lambda folder: True)
    assert scratch.scratch_folder() is None


def test_files_in_memory_are_told_from_files_on_disk(tmp_path):
    assert not scratch._is_in_memory(tmp_path) or os.path.ismount("/tmp")
    shared = scratch.Path("/dev/shm")
    if shared.is_dir() and os.path.ismount(shared):
        assert scratch._is_in_memory(shared)


def test_the_folder_is_checked(tmp_path):
    with pytest.raises(NotADirectoryError, match="should be a folder, but is not there; make it"):
        StreamRows(Chunks(np.zeros(3)), scratch=tmp_path / "none")
    with pytest.raises(ValueError, match="scratch should be True or False"):
        StreamRows(Chunks(np.zeros(3)), scratch=0.5)


def test_models_are_the_same_with_and_without_scratch(columns, tmp_path, no_memory):
    X, table, *_ = columns
    table = table / table.max(axis=1, keepdims=True)
    fits = []
    for where in (tmp_path, False):
        rows = StreamRows(Chunks(X, table), scratch=where)
        rows.classes = list("dacb")
        fits.append(DiscriminantClassifier(max_iter=20, random_state=0).fit(rows))
    np.testing.assert_array_equal(fits[0].means_, fits[1].means_)
    np.testing.assert_array_equal(fits[0].covariances_, fits[1].covariances_)
