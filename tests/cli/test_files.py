"""Files as people have them: other orders, names, types, alphabets and tools."""

import csv
import gzip
import io
import json
import os
import sys
import threading

import numpy as np
import pytest

from plausible.cli.main import as_text, main
from plausible.experts import Annotations
from plausible.io import load, read_labels, read_table, read_training, write_table
from support.small_files import CLASSES


def ok(done):
    assert done.code == 0, done
    return done


def pooled(plausible, folder, *words):
    ok(plausible("pool", *words, "-o", "out.parquet"))
    items = read_table(folder / "out.parquet").column("item").to_pylist()
    return read_labels(folder / "out.parquet"), items


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# -- Features --------------------------------------------------------------------------------------


def test_order_of_columns_and_further_ones_do_not_matter(plausible, folder):
    table = read_table(folder / "new.csv").to_pydict()
    ok(plausible("predict", "model.skops", "new.csv", "-o", "plain.csv"))
    mixed = {"width": table["width"], "color": ["red"] * 5, "item": table["item"]}
    mixed |= {"length": table["length"], "depth": [1.5] * 5}
    for name in ("mixed.csv", "mixed.jsonl", "mixed.feather"):
        write_table(mixed, folder / name)
        ok(plausible("predict", "model.skops", name, "-o", "mixed_out.csv", "--keep", "none"))
        assert (folder / "mixed_out.csv").read_bytes() == (folder / "plain.csv").read_bytes()


def test_order_of_rows_does_not_matter(plausible, folder):
    table = read_table(folder / "features.csv")
    shuffled = table.take(np.random.default_rng(0).permutation(len(table)))
    write_table(shuffled, folder / "shuffled.csv")
    for name in ("features", "shuffled"):
        ok(plausible("evaluate", "model.skops", "truth.csv", f"{name}.csv", "--quiet"))
    plain, other = (
        plausible("evaluate", "model.skops", "truth.csv", f"{name}.csv", "--json").json["scores"]
        for name in ("features", "shuffled")
    )
    assert plain == other


@pytest.mark.parametrize("names", [[7, 3, 12], ["7", "3", "12"], [7.0, 3.0, 12.0]])
def test_numbers_that_name_items_match_in_any_type(plausible, folder, names):
    (folder / "few.csv").write_text("item,label\n12,ash\n7,elm\n3,ash\n")
    write_table({"item": names, "length": [1.0, 2.0, 3.0]}, folder / "few.parquet")
    done = ok(
        plausible(
            "fit", "few.csv", "few.parquet", "-o", "out.skops", "--json", "--model", "logistic"
        )
    )
    assert "matched by 'item'" in done.json["notes"][1]
    found = read_training(folder / "few.csv", folder / "few.parquet")
    assert found.labels.crisp().tolist() == ["elm", "ash", "ash"]
    assert found.rows.tolist() == [2, 0, 1]


def test_rows_are_numbered_or_matched_in_order(plausible, folder):
    (folder / "bare.csv").write_text("length\n1.5\n2.5\n3.5\n")
    (folder / "by_number.csv").write_text("item,label\n2,ash\n0,elm\n")
    words = "fit", "by_number.csv", "bare.csv", "-o", "out.skops", "--model", "logistic"
    assert "--id row" in plausible(*words).stderr
    done = ok(plausible(*words, "--id", "row"))
    assert "whose numbers, from 0, are the items" in done.stderr
    (folder / "in_order.csv").write_text("label\nash\nelm\nash\n")
    done = ok(plausible(*words[:1], "in_order.csv", *words[2:]))
    assert "matched in order" in done.stderr
    (folder / "named.csv").write_text("item,length\na,1.5\nb,2.5\nc,3.5\n")
    done = ok(plausible("fit", "in_order.csv", "named.csv", *words[3:], "--json"))
    assert done.json["features"] == ["length"]


def test_the_column_of_items_is_found_or_named(plausible, folder):
    text = (folder / "features.csv").read_text()
    (folder / "tree.csv").write_text(text.replace("item", "tree"))
    words = "fit", "answers.csv", "tree.csv", "-o", "out.skops", "--json", "--model", "logistic"
    for more in ((), ("--id", "tree")):
        done = ok(plausible(*words, *more))
        assert "matched by 'tree'" in done.json["notes"][2]
        assert done.json["features"] == ["length", "width"]
    done = ok(plausible(*words, "--columns", "width"))
    assert done.json["features"] == ["width"]


# -- Answers ---------------------------------------------------------------------------------------


def test_names_of_other_tools(plausible, folder):
    text = (folder / "answers.csv").read_text()
    plain, items = pooled(plausible, folder, "answers.csv")
    (folder / "crowd.csv").write_text(
        text.replace('"item"', '"task"').replace('"annotator"', '"worker"')
    )
    assert pooled(plausible, folder, "crowd.csv") == (plain, items)
    (folder / "own.csv").write_text(
        text.replace('"item"', '"photo"').replace('"annotator"', '"who"')
    )
    names = "item=photo,annotator=who"
    assert pooled(plausible, folder, "own.csv", "--names", names) == (plain, items)


def test_labels_with_names_of_their_own(plausible, folder):
    (folder / "own.csv").write_text("photo,species,unsure\np1,oak,0.2\np2,elm,0\n")
    names = "item=photo,label=species,doubt=unsure"
    labels, items = pooled(plausible, folder, "own.csv", "--names", names)
    assert items == ["p1", "p2"]
    assert labels.contour.tolist() == [[0.2, 1.0], [1.0, 0.0]]
    (folder / "class.csv").write_text("id,class\n1,oak\n2,elm\n")
    labels, items = pooled(plausible, folder, "class.csv")
    assert (labels.crisp().tolist(), items) == (["oak", "elm"], [1, 2])


@pytest.mark.parametrize("kind", ["plausibility", "probability", "mass"])
def test_degrees_by_class_are_labels(plausible, folder, kind):
    (folder / "degrees.csv").write_text("item,oak,elm\na,0.25,0.75\nb,1,0\n")
    labels, items = pooled(plausible, folder, "degrees.csv", "--kind", kind)
    assert items == ["a", "b"]
    assert labels.reorder(["oak", "elm"]).contour.tolist() == [[0.25, 0.75], [1.0, 0.0]]


def test_counts_by_class_are_answers(plausible, folder):
    (folder / "votes.csv").write_text("item,oak,elm\na,3,1\nb,0,4\n")
    labels, _ = pooled(plausible, folder, "votes.csv", "--kind", "count", "--doubt", "0.3")
    expected = Annotations.from_classes([[3, 1], [0, 4]], "count", ["oak", "elm"]).pool(doubt=0.3)
    assert np.allclose(labels.contour, expected.contour, atol=1e-15)


def test_labels_go_where_answers_go(plausible, folder):
    words = "features.csv", "-o"
    ok(plausible("fit", "answers.csv", *words, "a.skops", "--model", "mixture"))
    ok(plausible("fit", "labels.csv", *words, "b.skops", "--model", "mixture"))
    a, b = load(folder / "a.skops"), load(folder / "b.skops")
    assert np.allclose(a.means_, b.means_, atol=1e-9)


def studio(item, who, *choices):
    result = [{"type": "choices", "value": {"choices": list(choices)}}]
    return {"id": item, "annotations": [{"completed_by": who, "result": result}]}


def test_exports_of_annotation_tools(plausible, folder):
    tasks = [studio("t1", 1, "ash"), studio("t2", 2, "elm", "oak"), studio("t3", 1, "oak")]
    (folder / "export.json").write_text(json.dumps(tasks))
    expected = Annotations.from_long(
        ["t1", "t2", "t3"], ["1", "2", "1"], ["ash", {"elm", "oak"}, "oak"]
    ).pool(doubt=0.1)
    words = "--form", "label-studio", "--doubt", "0.1"
    labels, items = pooled(plausible, folder, "export.json", *words)
    assert (labels, items) == (expected, ["t1", "t2", "t3"])
    piped = ok(plausible("pool", "-", "-o", "-", *words, stdin=json.dumps(tasks).encode()))
    assert piped.out.splitlines()[1].startswith('"t1"')
    done = ok(plausible("fit", "export.json", "features.csv", "-o", "out.skops", *words, "--json",
                        "--model", "logistic"))  # fmt: skip
    assert done.json["n_labeled"] == 3


def test_doccano_has_a_file_for_each_person(plausible, folder):
    (folder / "people").mkdir()
    for name, said in (("ann", ["ash", "elm"]), ("bob", ["ash", "ash"])):
        lines = [json.dumps({"id": 1 + k, "label": [label]}) for k, label in enumerate(said)]
        (folder / "people" / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    words = "--form", "doccano", "--doubt", "0.2"
    labels, items = pooled(plausible, folder, "people", *words)
    expected = Annotations.from_answers([["ash", "ash"], ["elm", "ash"]]).pool(doubt=0.2)
    assert (labels, items) == (expected, [1, 2])
    labels, _ = pooled(plausible, folder, "people/ann.jsonl", *words)
    assert labels.crisp().tolist() == ["ash", "elm"]


# -- Names -----------------------------------------------------------------------------------------


def fit_and_predict(plausible, folder, classes, *words):
    """Classes of two groups of items, after they went through files twice."""
    said = [classes[k % 2] for k in range(12)]
    X = np.arange(12) % 2 + np.linspace(0, 0.1, 12)
    write_table({"item": [f"i{k}" for k in range(12)], "size": X}, folder / "f.csv")
    with open(folder / "l.jsonl", "w", encoding="utf-8") as file:
        for k, name in enumerate(said):
            cell = json.dumps(name) if isinstance(name, str) and not name.isalpha() else name
            print(json.dumps({"item": f"i{k}", "label": cell}), file=file)
    ok(plausible("fit", "l.jsonl", "f.csv", "-o", "m.skops", "--model", "logistic", *words))
    ok(plausible("predict", "m.skops", "f.csv", "-o", "p.csv"))
    assert load(folder / "m.skops").classes_.tolist() == sorted(classes)
    answers = {row["item"]: row["answer"] for row in rows_of(folder / "p.csv")}
    plain = read_labels(io.StringIO("label\n" + "\n".join(
        '"' + answers[f"i{k}"].replace('"', '""') + '"' for k in range(12)) + "\n"))  # fmt: skip
    assert plain.crisp().tolist() == said
    scores = ok(plausible("evaluate", "m.skops", "l.jsonl", "f.csv", "--json")).json["scores"]
    assert scores[0]["estimate"] == 1.0


@pytest.mark.parametrize("classes", [
    (3, 11), ("a|b", 'say "c"'), ("3", "x"), ("Eiche", "Ölbaum"), ("槭", "樫"), (" a", "b, c"),
])  # fmt: skip
def test_names_of_classes_survive(plausible, folder, classes):
    fit_and_predict(plausible, folder, classes, "--model", "centroid")


def test_classes_on_the_command_line(plausible, folder):
    labels, _ = pooled(plausible, folder, "answers.csv", "--classes", "yew,oak,elm,ash")
    assert labels.classes.tolist() == ["yew", "oak", "elm", "ash"]
    labels, _ = pooled(plausible, folder, "answers.csv", "--classes", '["ash","elm","oak","a,b"]')
    assert labels.classes.tolist() == [*CLASSES, "a,b"]
    (folder / "digits.csv").write_text("item,annotator,label\na,x,3\na,y,5\nb,x,5\n")
    labels, _ = pooled(plausible, folder, "digits.csv", "--classes", "5,3")
    assert labels.classes.tolist() == [5, 3]


def test_names_of_files(plausible, folder, small_files):
    names = ["my answers.csv", "antworten für Bäume.csv", "'quoted'.csv", "-dash.csv"]
    expected = ok(plausible("pool", "answers.csv", "-o", "-")).stdout
    for name in names:
        (folder / name).write_bytes(small_files["answers.csv"])
        done = ok(plausible("pool", "-o", f"out of {name}", "--", name))
        assert (folder / f"out of {name}").read_bytes() == expected
        assert name in done.stderr or repr(name) in done.stderr


def test_bytes_that_editors_and_tools_add(plausible, folder, small_files):
    expected = ok(plausible("pool", "answers.csv", "-o", "-")).stdout
    text = small_files["answers.csv"]
    (folder / "bom.csv").write_bytes(b"\xef\xbb\xbf" + text)
    (folder / "windows.csv").write_bytes(text.replace(b"\n", b"\r\n"))
    (folder / "packed.csv.gz").write_bytes(gzip.compress(text))
    (folder / "semicolons.csv").write_bytes(text.replace(b",", b";"))
    for name in ("bom.csv", "windows.csv", "packed.csv.gz", "semicolons.csv"):
        assert ok(plausible("pool", name, "-o", "-")).stdout == expected
    ok(plausible("pool", "answers.csv", "-o", "out.csv.gz"))
    assert gzip.decompress((folder / "out.csv.gz").read_bytes()) == expected


def test_letters_that_a_terminal_does_not_have(folder, monkeypatch):
    (folder / "trees.csv").write_text("item,annotator,label\n槭,ann,oak\n樫,ann,elm\n")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "ascii"))
    words = ["pool", str(folder / "trees.csv"), "-o", str(folder / "out.csv"), "--quiet"]
    assert main(words) == 0
    assert b"\\u" in written.getvalue()
    told = as_text({"item": "槭"})
    assert told.isascii()
    assert json.loads(told) == {"item": "槭"}


def test_pipes_of_a_shell(server, folder, small_files):
    expected = server.run("predict", "model.skops", "new.csv", "-o", "-", folder=folder).stdout
    os.mkfifo(folder / "a pipe")
    os.mkfifo(folder / "model pipe")
    writers = [
        threading.Thread(target=(folder / pipe).write_bytes, args=(small_files[name],))
        for pipe, name in (("a pipe", "new.csv"), ("model pipe", "model.skops"))
    ]
    for writer in writers:
        writer.start()
    piped = server.run("predict", "model pipe", "a pipe", "-o", "-", folder=folder)
    for writer in writers:
        writer.join()
    assert (piped.code, piped.stdout) == (0, expected)
