"""A cluster that is lost is told in words of the command, with what to do."""

from pathlib import Path

import dask
import distributed
import pyarrow
import pytest

from plausible.cli.main import main
from plausible.engine import ClusterLostError
from plausible.io.large_answers import mapped
from plausible.io.pieces import Piece
from plausible.io.streamed_predictions import Named, _decided_pieces

SILENT = ClusterLostError("The scheduler at tcp://x should answer, but is silent", "scheduler")
KEPT = ClusterLostError("Workers at tcp://x should compute, but none does", "progress")
KEPT.checkpoint, KEPT.iteration = "m.checkpoint", 12


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (SILENT, "running", "name one that runs with --cluster, and run this command again."),
        (KEPT, "running", "again with --resume, which goes on from iteration 12."),
        (distributed.KilledWorker("task", None, 3), "running", "use larger or more workers"),
        (RuntimeError("comm"), "closed", "should answer, but the connection is lost; name one"),
        (RuntimeError("other"), "running", "fault of plausible"),
    ],
)
def test_what_was_lost_and_what_to_do(tmp_path, capsys, monkeypatch, error, status, words):
    class Client:
        def __init__(self, *_, **__):
            self.status = status

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    def lose(*_, **__):
        raise error

    monkeypatch.setattr("distributed.Client", Client)
    monkeypatch.setattr("plausible.cli.fit.learn", lose)
    (tmp_path / "labels.csv").write_text("item,label\nx,cat\ny,dog\n")
    (tmp_path / "features.csv").write_text("item,a\nx,1.5\ny,2.5\n")
    monkeypatch.chdir(tmp_path)
    command = "fit labels.csv features.csv -o m.skops --model mixture --quiet --cluster tcp://x"
    assert main(command.split()) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert words in told
    assert ("fault of plausible" in told) == (words == "fault of plausible")


def test_a_cluster_that_does_not_answer_is_told_before_anything_is_read(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("plausible.io.stream_training", lambda *_, **__: pytest.fail("was read"))
    for name in ("labels.csv", "features.csv"):
        (tmp_path / name).write_text("item,a\nx,1\n")
    monkeypatch.chdir(tmp_path)
    command = "fit labels.csv features.csv -o m.skops --model mixture --cluster tcp://127.0.0.1:1"
    assert main(command.split()) == 1
    assert "should answer at 'tcp://127.0.0.1:1'" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["fit", "predict"])
def test_a_cluster_without_workers_is_told(tmp_path, capsys, monkeypatch, verb):
    (tmp_path / "labels.csv").write_text("item,label\nx,cat\ny,dog\n")
    (tmp_path / "features.csv").write_text("item,a\nx,1.5\ny,2.5\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("plausible.cli.clusters.TIMEOUT", 1)
    fit = "fit labels.csv features.csv -o m.skops --model discriminant --quiet"
    command = fit
    if verb == "predict":
        assert main(fit.split()) == 0
        command = "predict m.skops features.csv -o decisions.csv --quiet"
    options = {"processes": False, "protocol": "tcp", "dashboard_address": "127.0.0.1:0"}
    capsys.readouterr()
    with distributed.LocalCluster(n_workers=0, **options) as nobody:
        assert main([*command.split(), "--cluster", nobody.scheduler_address]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "should have workers that take work, but has none" in told
    assert "; start workers, larger ones if these ran out of memory, and run this" in told


@pytest.mark.parametrize("verb", ["pool", "predict"])
def test_a_cluster_whose_workers_are_gone_is_not_waited_for(monkeypatch, verb):
    monkeypatch.setattr("plausible.io.streamed_predictions.sent", lambda client, what: what)
    piece = Piece(Named("a.csv"), pyarrow.table({"a": [1.0]}), 0)
    options = {"processes": False, "protocol": "tcp", "dashboard_address": "127.0.0.1:0"}
    with (
        dask.config.set({"plausible.timeout": "1s"}),
        distributed.LocalCluster(n_workers=0, **options) as nobody,
        distributed.Client(nobody) as client,
    ):
        results = {
            "pool": mapped(str, [Path("part")], client),
            "predict": _decided_pieces(str, iter([piece]), client),
        }[verb]
        with pytest.raises(ClusterLostError, match="should have workers, but had none for 1 s"):
            next(results)
