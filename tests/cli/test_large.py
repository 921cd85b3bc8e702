"""Features and answers that are read in pieces, here and on a cluster."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from plausible.cli.main import main
from plausible.io import load, read_table, stream_training

N = 3000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Features as one Parquet file, as a folder and as CSV; answers about some of their items."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=N)
    X = rng.normal(size=(N, 3)) + 2.0 * truth[:, None]
    ids = [f"i{k:05d}" for k in rng.permutation(N)]
    table = pa.table(
        {"photo": ids, "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
        | {"color": [("red", "blue", "green")[k % 3] if k % 50 else None for k in range(N)]}
    )
    pq.write_table(table, folder / "features.parquet", row_group_size=500)
    (folder / "parts").mkdir()
    pq.write_table(table.slice(0, 1100), folder / "parts" / "a.parquet")
    pq.write_table(table.slice(1100), folder / "parts" / "b.parquet")
    pa.csv.write_csv(table, folder / "features.csv")
    rows = [
        f"{ids[k]},{who},{'xyz'[truth[k] if rng.random() < 0.9 else rng.integers(3)]}\n"
        for k in rng.choice(N, 400, replace=False)
        for who in ("ann", "bob", "cem")
    ]
    (folder / "answers.csv").write_text("item,annotator,label\n" + "".join(rows))
    return folder


@pytest.fixture
def small_memory(monkeypatch):
    """Everything is too large to be read at once."""
    monkeypatch.setattr("plausible.io.pieces.LARGE", 1000)
    monkeypatch.setattr("plausible.io.streamed.FAST_ROWS", 700)
    monkeypatch.setattr("plausible.io.pieces.PIECE_ROWS", 700)


def parameters(path):
    model = load(path)
    model = model[-1] if hasattr(model, "steps") else model
    if hasattr(model, "prototypes_"):
        return [model.prototypes_, model.memberships_]
    return [model.means_, model.covariances_] if hasattr(model, "means_") else [model.coef_]


@pytest.fixture
def doubtful_answers(files, tmp_path):
    """Answers with doubts, which pooled are masses, in a file that is no large one."""
    rng = np.random.default_rng(1)
    lines = (files / "answers.csv").read_text().split()[1:600]
    doubts = rng.choice([0.1, 0.3, 0.7], len(lines))
    said = "".join(f"{line},{doubt}\n" for line, doubt in zip(lines, doubts, strict=True))
    path = tmp_path / "doubtful.csv"
    path.write_text("item,annotator,label,doubt\n" + said)
    return str(path)


@pytest.mark.parametrize("loss", ["squared", "likelihood"])
def test_a_network_in_pieces_learns_from_the_bets_of_masses(
    files, doubtful_answers, tmp_path, monkeypatch, loss
):
    fit = ["fit", doubtful_answers, str(files / "features.parquet"), "--quiet"]
    fit += ["--model", "network", "--set", f"loss={loss}"]
    assert main([*fit, "-o", str(tmp_path / "whole.skops")]) == 0
    monkeypatch.setattr("plausible.io.pieces.LARGE", 30_000)
    assert main([*fit, "-o", str(tmp_path / "pieces.skops")]) == 0
    found, expected = (parameters(tmp_path / f"{name}.skops") for name in ("pieces", "whole"))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_neighbors_in_pieces_tell_that_masses_are_left_behind(
    files, doubtful_answers, tmp_path, monkeypatch, capsys
):
    fit = ["fit", doubtful_answers, str(files / "features.parquet"), "--model", "neighbors"]
    fit += ["-o", str(tmp_path / "model.skops")]
    for large, is_told in ((1 << 28, False), (30_000, True)):
        monkeypatch.setattr("plausible.io.pieces.LARGE", large)
        assert main(fit) == 0
        assert ("learn from plausibilities alone" in capsys.readouterr().err) == is_told


@pytest.mark.parametrize(
    ("features", "model"),
    [
        ("parts", "mixture"),
        ("features.csv", "logistic"),
        pytest.param("features.parquet", "mixture", marks=pytest.mark.long),
        pytest.param("features.parquet", "logistic", marks=pytest.mark.long),
        pytest.param("features.csv", "mixture", marks=pytest.mark.long),
        pytest.param("parts", "logistic", marks=pytest.mark.long),
    ],
)
def test_a_fit_in_pieces_is_that_in_memory(files, tmp_path, monkeypatch, capsys, features, model):
    command = ["fit", str(files / "answers.csv"), str(files / "features.parquet"), "--model", model]
    assert main([*command, "-o", str(tmp_path / "whole.skops"), "--quiet"]) == 0
    monkeypatch.setattr("plausible.io.pieces.LARGE", 1000)
    monkeypatch.setattr("plausible.io.streamed.FAST_ROWS", 700)
    command[2] = str(files / features)
    assert main([*command, "-o", str(tmp_path / "pieces.skops")]) == 0
    assert "in pieces" in capsys.readouterr().err
    for found, expected in zip(
        parameters(tmp_path / "pieces.skops"), parameters(tmp_path / "whole.skops"), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_without_a_model_pieces_are_learned_from_by_logistic(files, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("plausible.io.pieces.LARGE", 1000)
    command = ["fit", str(files / "answers.csv"), str(files / "features.parquet")]
    assert main([*command, "-o", str(tmp_path / "out.skops")]) == 0
    told = capsys.readouterr()
    assert "since they do not fit into memory: --model logistic, as auto needs all" in told.err
    assert "logistic in" in told.out


def test_answers_in_parts_are_pooled_as_at_once(files, tmp_path, monkeypatch, capsys):
    rows = (files / "answers.csv").read_text().replace(",", ";")
    (tmp_path / "answers.csv").write_text(rows)
    command = ["pool", str(tmp_path / "answers.csv")]
    assert main([*command, "-o", str(tmp_path / "whole.csv")]) == 0
    assert "in parts" not in capsys.readouterr().err
    monkeypatch.setattr("plausible.io.pieces.LARGE", 1000)
    monkeypatch.setattr("plausible.io.large_answers.PART_BYTES", 2000)
    assert main([*command, "-o", str(tmp_path / "parts.csv")]) == 0
    told = capsys.readouterr().err
    assert "answers in 8 parts" in told
    assert "people who err together were looked for on 50 % of the items, at random" in told
    assert "pooled in parts: plausibilities are written" in told
    assert "semicolons separate its cells" in told
    whole, parts = (
        read_table(tmp_path / f"{name}.csv").sort_by("item").to_pydict()
        for name in ("whole", "parts")
    )
    assert [name for name in whole if not name.startswith("mass:")] == list(parts)
    assert whole["item"] == parts["item"]
    for name in ("plausibility:x", "plausibility:y", "plausibility:z", "conflict"):
        np.testing.assert_allclose(whole[name], parts[name], atol=1e-6)  # doubts of all items
    doubted = ["--doubt", "0.2"]
    for name, size in (("whole", 1 << 40), ("parts", 1000)):
        monkeypatch.setattr("plausible.io.pieces.LARGE", size)
        assert main([*command, *doubted, "-o", str(tmp_path / f"{name}.parquet")]) == 0
    tables = [
        read_table(tmp_path / f"{name}.parquet").sort_by("item") for name in ("whole", "parts")
    ]
    assert tables[0].select(tables[1].column_names).to_pydict() == tables[1].to_pydict()


def test_labels_of_very_many_items_are_kept_short(files, tmp_path, monkeypatch):
    items = read_table(files / "features.parquet")["photo"]
    codes = np.arange(N) % 4
    labels = pa.table(
        {"item": items, "label": pa.array(["u", "v", "w", None]).take(pa.array(codes))}
        | {"doubt": np.where(codes == 1, 0.25, 0.0)}
    )
    pq.write_table(labels, tmp_path / "labels.parquet")
    paths = tmp_path / "labels.parquet", files / "features.parquet"
    random = np.random.RandomState(0)
    expected = stream_training(*paths, columns=["a", "b"]).stream().sample(N, random)
    monkeypatch.setattr("plausible.io.pieces.MANY_ITEMS", 100)
    monkeypatch.setattr("plausible.io.large_known.PIECE_ROWS", 501)
    training = stream_training(*paths, columns=["a", "b"])
    found = training.stream().sample(N, random)
    for ours, theirs in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(training.labels.distinct) == 5


def test_decisions_in_pieces_are_those_in_memory(files, tmp_path, monkeypatch, capsys):
    model = str(tmp_path / "model.skops")
    known, new = str(files / "answers.csv"), str(files / "features.parquet")
    assert main(["fit", known, new, "-o", model, "--model", "logistic", "--quiet"]) == 0
    rows = (files / "features.csv").read_text().replace(",", ";").replace(".", ",")
    (tmp_path / "new.csv").write_text(rows)
    written = []
    for size in (1 << 40, 1000):
        monkeypatch.setattr("plausible.io.pieces.LARGE", size)
        for source in (new, str(tmp_path / "new.csv")):
            path = tmp_path / "decisions.csv"
            capsys.readouterr()
            assert main(["predict", model, source, "-o", str(path), "--reject", "0.3"]) == 0
            told = capsys.readouterr().err
            assert ("read in pieces" in told) == (size == 1000)
            # What was assumed about a table is told however it is read.
            assert ("semicolons separate its cells" in told) == source.endswith("csv")
            assert told.count("3 columns ('a', 'b', 'c') have decimal commas") == source.endswith(
                "csv"
            )
            written.append(path.read_bytes())
    assert len(set(written)) == 1


def test_scores_in_pieces_are_those_in_memory(files, tmp_path, monkeypatch, capsys):
    model = str(tmp_path / "model.skops")
    known, new = str(files / "answers.csv"), str(files / "features.parquet")
    assert main(["fit", known, new, "-o", model, "--model", "discriminant", "--quiet"]) == 0
    found = []
    for size in (1 << 40, 1000):
        monkeypatch.setattr("plausible.io.pieces.LARGE", size)
        capsys.readouterr()
        assert main(["evaluate", model, known, new, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert ["read in pieces" in one["notes"] for one in found] == [False, True]
    for whole, pieces in zip(*(one["scores"] for one in found), strict=True):
        assert whole["score"] == pieces["score"]
        assert pieces["estimate"] == pytest.approx(whole["estimate"], abs=1e-9)
        assert pieces["low"] == pytest.approx(whole["low"], abs=0.02)
    assert {one["n_counted"] for one in found} == {400}
    assert {one["n_items"] for one in found} == {400}  # of 3000 rows, the others have no label


def test_a_cell_that_is_no_number_is_named_by_its_row_in_the_whole_table(
    files, tmp_path, capsys, small_memory
):
    table = read_table(files / "features.parquet").to_pydict()
    model = str(tmp_path / "model.skops")
    fit = ["fit", str(files / "answers.csv"), "--model", "logistic"]
    assert main([*fit, str(files / "features.csv"), "-o", model, "--quiet"]) == 0
    table["b"][2345] = float("inf")
    pq.write_table(pa.table(table), tmp_path / "new.parquet")
    capsys.readouterr()
    output = str(tmp_path / "decisions.csv")
    assert main(["predict", model, str(tmp_path / "new.parquet"), "-o", output]) == 1
    assert "row 2346" in capsys.readouterr().err
    assert not os.path.exists(output)


def with_ids(table, ids):
    return table.set_column(0, "photo", pa.array(ids))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, item: with_ids(t, [f"j{k}" for k in range(N)]), "400 items of 400 have none"),
        (
            lambda t, item: pa.concat_tables([t, t.filter(pa.compute.equal(t["photo"], item))]),
            "repeats 1 item",
        ),
        (
            lambda t, item: t.filter(pa.compute.not_equal(t["photo"], item)),
            "1 item of 400 has none",
        ),
        (lambda t, item: t.drop_columns(["photo", "color"]), "none holds text or whole numbers"),
        (lambda t, item: t.append_column("copy", t["photo"]), "2 hold all of them"),
    ],
)
def test_items_that_cannot_be_matched_are_refused(files, tmp_path, change, message):
    path = tmp_path / "features.parquet"
    item = read_table(files / "answers.csv")["item"][0].as_py()
    pq.write_table(change(pq.read_table(files / "features.parquet"), item), path)
    with pytest.raises(ValueError, match=message):
        stream_training(files / "answers.csv", path, kinds="any")


@pytest.mark.parametrize("many", [1 << 40, 100])
def test_labels_without_items_go_with_rows_in_order(files, tmp_path, monkeypatch, many):
    monkeypatch.setattr("plausible.io.pieces.MANY_ITEMS", many)
    monkeypatch.setattr("plausible.io.large_known.PIECE_ROWS", 501)
    features = files / "features.parquet"
    codes = np.arange(N) % 3
    pq.write_table(pa.table({"label": np.array(["u", "v", "w"])[codes]}), tmp_path / "l.parquet")
    options = {"kinds": "any", "form": "labels"}
    training = stream_training(tmp_path / "l.parquet", features, **options)
    assert hasattr(training.labels, "distinct") == (many == 100)
    contours = np.concatenate([labels.contour for _, labels, _ in training.reader])
    assert (contours.argmax(axis=1) == codes).all()
    with pytest.raises(ValueError, match="there are 3000 labels and 1100 rows"):
        stream_training(tmp_path / "l.parquet", files / "parts" / "a.parquet", **options)


KILLED = """
import sys, threading, time, os, signal
from distributed import Client, LocalCluster
if __name__ == "__main__":
    with LocalCluster(2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.readline()
        with Client(cluster) as client:
            pids = list(client.run(os.getpid).values())
        os.kill(pids[0], signal.SIGKILL)
        print("killed", flush=True)
        sys.stdin.readline()
"""


@pytest.mark.long
def test_a_cluster_gives_the_fit_of_one_process_and_survives_a_killed_worker(files, tmp_path):
    command = ["fit", str(files / "answers.csv"), str(files / "parts"), "--model", "mixture"]
    serial, spread = str(tmp_path / "serial.skops"), str(tmp_path / "spread.skops")
    assert main([*command, "-o", serial, "--quiet"]) == 0
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as cluster:
        try:
            address = cluster.stdout.readline().strip()
            for kill in (False, True):
                if kill:
                    cluster.stdin.write("\n")
                    cluster.stdin.flush()
                assert main([*command, "-o", spread, "--quiet", "--cluster", address]) == 0
                if kill:
                    assert cluster.stdout.readline().strip() == "killed"
                for found, expected in zip(parameters(spread), parameters(serial), strict=True):
                    np.testing.assert_allclose(found, expected, atol=1e-9)
            decisions = str(tmp_path / "decisions.csv")
            new = str(files / "features.csv")
            assert main(["predict", spread, new, "-o", decisions, "--cluster", address]) == 0
            assert read_table(decisions).num_rows == N
        finally:
            cluster.send_signal(signal.SIGTERM)
            cluster.stdin.close()


def test_no_cluster_answers_and_models_that_cannot_be_spread(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("plausible.cli.clusters.TIMEOUT", 1)
    command = ["fit", str(files / "answers.csv"), str(files / "parts"), "-o", str(tmp_path / "m")]
    assert main([*command, "--cluster", "tcp://127.0.0.1:1"]) == 1
    assert "A Dask scheduler should answer at 'tcp://127.0.0.1:1'" in capsys.readouterr().err
    assert main([*command, "--model", "centroid", "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "choose logistic, mixture, discriminant" in capsys.readouterr().err


@pytest.fixture(scope="module")
def address():
    """Where the scheduler of two workers answers, in threads of this process."""
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "protocol": "tcp", "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as it:
        yield it.scheduler_address


@pytest.mark.parametrize(
    "model",
    [
        "logistic",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("mixture", "discriminant", "network", "contextual", "neighbors")
        ),
    ],
)
def test_every_verb_gives_on_a_cluster_what_it_gives_here(files, tmp_path, capsys, address, model):
    answers, folder = str(files / "answers.csv"), str(files / "parts")
    found = {}
    for name, there in (("here", []), ("there", ["--cluster", address])):
        labels, fitted, told = (
            str(tmp_path / f"{name}.{kind}") for kind in ("csv", "skops", "parquet")
        )
        assert main(["pool", answers, "-o", labels, "--quiet", *there]) == 0
        command = ["fit", answers, folder, "--model", model, "-o", fitted, "--quiet"]
        assert main([*command, *there]) == 0
        command = ["predict", fitted, folder, "-o", told, "--quiet"]
        assert main([*command, *there]) == 0
        capsys.readouterr()
        assert main(["evaluate", fitted, answers, folder, "--json", "--quiet", *there]) == 0
        scores = json.loads(capsys.readouterr().out)
        pooled = read_table(labels).sort_by("item").to_pydict()
        found[name] = (pooled, read_table(told).sort_by("item").to_pydict(), scores)
    for here, there in zip(found["here"][:2], found["there"][:2], strict=True):
        assert [name for name in here if not name.startswith("mass:")] == list(there)
        for column, values in there.items():
            if isinstance(values[0], float):
                np.testing.assert_allclose(values, here[column], atol=1e-3)  # where climbs end
            else:
                assert values == here[column]
    here, there = found["here"][2], found["there"][2]
    assert there["n_counted"] == here["n_counted"] == 400
    expected = {one["score"]: one["estimate"] for one in here["scores"]}
    for one in there["scores"]:
        assert one["estimate"] == pytest.approx(expected[one["score"]], abs=1e-3), one["score"]
