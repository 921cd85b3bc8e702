"""What the command finds is what the library finds, to the last bit."""

import csv
import html
import io
import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.belief import decide
from plausible.cli.models import MODELS
from plausible.cli.options import MEANINGS, RULES
from plausible.cluster import ECM, EKNNClus
from plausible.experts import JointAnnotatorClassifier
from plausible.io import (
    inspect_model,
    load,
    read_annotations,
    read_features,
    read_labels,
    read_table,
    read_training,
    write_table,
)
from plausible.metrics import soft_accuracy, soft_brier_score, soft_log_loss
from plausible.models import (
    AutoClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    believe,
)
from plausible.report import summarize
from support.command import environment, fresh
from support.small_files import CLASSES, FEATURES


def ok(done):
    assert done.code == 0, done
    return done


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def same(model, other, X):
    assert model.predict_proba(X).tobytes() == other.predict_proba(X).tobytes()


# -- One verb is one function ----------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    {}, {"doubt": 0.2}, {"doubt": "fit"}, {"rule": "cautious"}, {"rule": "mean", "doubt": 0.1},
])  # fmt: skip
def test_pool_is_pooling(plausible, folder, options):
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    done = ok(plausible("pool", "answers.csv", "-o", "out.csv", "--json", *words))
    answers = read_annotations(folder / "answers.csv")
    labels = answers.pool(**options)
    written = read_labels(folder / "out.csv")
    assert written == labels
    assert np.array_equal(written.conflict, labels.conflict)
    assert read_table(folder / "out.csv").column("item").to_pylist() == answers.items.tolist()
    assert done.json["n_items"] == len(labels)
    assert done.json["classes"] == list(CLASSES)
    assert done.json["worst_item"] == answers.items[labels.conflict.argmax()]
    assert done.json["seed"] is None


def test_fit_is_fitting(plausible, folder):
    training = read_training(folder / "answers.csv", folder / "features.parquet")
    assert len(training.X) > len(training.rows)  # some rows have no label, and are used
    by_hand = {
        "mixture": GaussianMixtureClassifier(random_state=3),
        "logistic": make_pipeline(StandardScaler(), PartialLogisticRegression(random_state=3)),
    }
    for name, model in by_hand.items():
        done = ok(plausible("fit", "answers.csv", "features.parquet", "-o", f"{name}.skops",
                            "--model", name, "--seed", "3", "--json"))  # fmt: skip
        fitted = load(folder / f"{name}.skops")
        same(model.fit(training.X, training.labels), fitted, training.X)
        last = fitted[-1] if name == "logistic" else fitted
        assert done.json["n_iter"] == last.n_iter_
        assert done.json["converged"] is True
        assert done.json["seed"] == 3
        answers = fitted.predict(training.X)
        assert done.json["soft_accuracy"] == soft_accuracy(training.labels, answers)
        assert inspect_model(folder / f"{name}.skops")["features"] == list(FEATURES)
        assert (last.random_state, last.callback) == (3, None)
    assert "checkpoint" not in " ".join(path.name for path in folder.iterdir())


def test_fit_tries_several_models_by_default(plausible, folder):
    done = ok(plausible("fit", "answers.csv", "features.csv", "-o", "out.skops", "--seed", "3",
                        "--set", "cv=2"))  # fmt: skip
    training = read_training(folder / "answers.csv", folder / "features.csv")
    model = AutoClassifier(cv=2, random_state=3).fit(training.X, training.labels)
    fitted = load(folder / "out.skops")
    same(model, fitted, training.X)
    assert model.summary() in done.stdout.decode()
    assert b"auto in out.skops: agrees with" in done.stdout


def test_fit_learns_from_answers(plausible, folder):
    ok(plausible("fit", "answers.csv", "features.csv", "-o", "out.skops", "--model", "joint",
                 "--set", "model=one_coin"))  # fmt: skip
    training = read_training(folder / "answers.csv", folder / "features.csv")
    inner = PartialLogisticRegression(random_state=0)
    model = make_pipeline(StandardScaler(), JointAnnotatorClassifier(inner, "one_coin"))
    model.fit(training.X[training.rows], training.known.annotations)
    same(model, load(folder / "out.skops"), training.X)


def test_settings_reach_the_model(plausible, folder):
    ok(plausible("fit", "labels.csv", "features.csv", "-o", "out.skops", "--model", "mixture",
                 "--set", "covariance_type=tied", "--set", "n_components=[1,2,1]"))  # fmt: skip
    model = load(folder / "out.skops")
    assert (model.covariance_type, model.n_components) == ("tied", [1, 2, 1])
    assert len(model.means_) == 4


@pytest.mark.parametrize("reject", [None, 0.0, 0.2, 0.5])
def test_predict_is_deciding(plausible, folder, reject):
    words = [] if reject is None else ["--reject", str(reject)]
    done = ok(plausible("predict", "model.skops", "new.csv", "-o", "out.csv", "--json", *words))
    X, _, ids = read_features(folder / "new.csv", "item")
    beliefs = believe(load(folder / "model.skops"), X)
    decision = decide(beliefs.probability, kind="probability", reject=reject)
    rows = rows_of((folder / "out.csv").read_text())
    assert [row["item"] for row in rows] == ids.tolist()
    assert [row["answer"] for row in rows] == [
        "" if index < 0 else CLASSES[index] for index in decision.index
    ]
    for row, chosen in zip(rows, beliefs.sets, strict=True):
        assert row["set"].split("|") == [CLASSES[k] for k in np.flatnonzero(chosen)]
    for what, table in (("probability", beliefs.probability), ("plausibility", beliefs.contour)):
        written = [[float(row[f"{what}:{name}"]) for name in CLASSES] for row in rows]
        assert written == table.tolist()
    assert done.json["n_refused"] == decision.refused.sum()
    labels = read_labels(folder / "out.csv", "probability")
    assert np.array_equal(labels.crisp(), np.array(CLASSES)[beliefs.probability.argmax(axis=1)])


def test_partition_is_clustering(plausible, folder):
    words = ["partition", "features.csv", "-o", "out.csv", "--json"]
    done = ok(plausible(*words, "--clusters", "3", "--set", "outlier_distance=1.5", "--seed", "4"))
    X, _, items = read_features(folder / "features.csv", "item")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    partition = ECM(3, outlier_distance=1.5, random_state=4).fit(X).partition_
    rows = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
    assert [row["item"] for row in rows] == list(items)
    assert [int(row["cluster"] or -1) for row in rows] == partition.hard().tolist()
    for name, inside in zip(("sure", "set"), partition.rough(), strict=True):
        told = ["|".join(map(str, np.flatnonzero(row))) for row in inside]
        assert [row[name] for row in rows] == told
    assert len({row["set"] for row in rows}) > 3  # some lie between clusters
    np.testing.assert_allclose([float(row["outlier"]) for row in rows], partition.outlier_mass)
    bets = [[float(row[f"probability:{k}"]) for k in range(3)] for row in rows]
    np.testing.assert_allclose(bets, partition.fuzzy(), rtol=1e-9)
    assert done.json["n_outliers"] == partition.outliers().sum() > 0
    assert done.json["n_between"] == (partition.rough().upper.sum(axis=1) > 1).sum()
    raw = ok(plausible(*words, "--method", "neighbors", "--raw", "--set", "n_neighbors=5")).json
    X = read_features(folder / "features.csv", "item").X
    assert raw["n_clusters"] == EKNNClus(5, random_state=0).fit(X).n_clusters_


@pytest.mark.parametrize(("words", "says"), [
    ([], "should be told how many clusters there are; say --clusters 3"),
    (["--method", "neighbors", "--clusters", "2"], "finds how many clusters there are"),
    (["--clusters", "none"], "should be a whole number of at least 1"),
    (["--clusters", "2", "--set", "fuzziness=2"], "with a parameter of ECM"),
    (["--clusters", "0"], "should be a whole number of at least 1"),
    (["--clusters", "9" * 400], "should be at most 1,000,000,000"),
    (["--set", "n_clusters=900"], "--set 'n_clusters=900': There should be at least"),
])  # fmt: skip
def test_partition_that_cannot_be_made(plausible, folder, words, says):
    done = plausible("partition", "features.csv", "-o", "out.csv", *words)
    assert (done.code, done.out) == (2, "")
    assert says in done.stderr
    assert not (folder / "out.csv").exists()


def test_partition_names_its_option_and_the_table(plausible, folder):
    done = plausible("partition", "features.csv", "-o", "out.csv", "--clusters", "900")
    n_items = len((folder / "features.csv").read_text().splitlines()) - 1
    told = f"as many items as --clusters 900 says, but 'features.csv' has {n_items}; give more"
    assert (done.code, done.out) == (1, "")
    assert told in done.stderr
    done = plausible(
        "partition", "features.csv", "-o", "out.csv", "--set", "x=1", "--clusters", "2"
    )
    assert "fuzzifier" in done.stderr
    assert "n_clusters" not in done.stderr
    (folder / "vast.csv").write_text("item,length\na,1e308\nb,-1e308\nc,1.7e308\n")
    done = plausible("partition", "vast.csv", "-o", "out.csv", "--clusters", "2")
    assert done.code == 1
    assert "'vast.csv' should be of a size whose squares are finite, but some are" in done.stderr
    (folder / "one.csv").write_text("item,length\na,1\n")
    done = plausible("partition", "one.csv", "-o", "out.csv", "--clusters", "1")
    assert done.code == 1
    assert "'one.csv' should have rows for 2 or more items, but has 1; give more" in done.stderr


def test_settings_are_written_as_json_or_as_python_has_them(plausible):
    command = "fit", "answers.csv", "features.csv", "-o", "out.skops", "--model", "mixture"
    for off, nothing in (("false", "null"), ("False", "None")):
        words = ("--set", f"accelerate={off}", "--set", f"prior={nothing}")
        told = ok(plausible(*command, *words)).stderr
        assert "accelerate=False" in told


def test_evaluate_is_scoring(plausible, folder):
    done = ok(plausible("evaluate", "model.skops", "truth.csv", "features.csv", "--json"))
    test = read_training(folder / "truth.csv", folder / "features.csv")
    model = load(folder / "model.skops")
    proba = model.predict_proba(test.X)
    found = {row["score"]: row["estimate"] for row in done.json["scores"]}
    assert found["soft_accuracy"] == soft_accuracy(test.labels, model.predict(test.X))
    assert found["soft_log_loss"] == pytest.approx(soft_log_loss(test.labels, proba), rel=1e-12)
    brier = soft_brier_score(test.labels, proba)
    assert found["soft_brier_score"] == pytest.approx(brier, rel=1e-12)
    assert done.json["seed"] == 0
    other = ok(plausible("evaluate", "model.skops", "truth.csv", "features.csv", "--json",
                         "--seed", "5")).json  # fmt: skip
    same = {row["score"]: row["estimate"] for row in other["scores"]}
    assert same == pytest.approx(found, rel=1e-12)
    assert other["scores"] != done.json["scores"]  # the intervals are drawn


def test_evaluate_scores_labeled_rows_only(plausible, folder):
    lines = (folder / "truth.csv").read_text().splitlines()
    (folder / "truth.csv").write_text("\n".join(lines[:8]) + "\n")
    done = ok(plausible("evaluate", "model.skops", "truth.csv", "features.csv", "--json"))
    test = read_training(folder / "truth.csv", folder / "features.csv")
    expected = soft_accuracy(test.known.labels, load(folder / "model.skops").predict(test.X[:7]))
    assert done.json["scores"][0]["estimate"] == expected


def test_report_is_summarizing(plausible, folder):
    words = ["report", "answers.csv", "features.csv", "--model", "model.skops", "-o", "out.html",
             "--test", "truth.csv", "features.csv", "--title", "Trees & <leaves>"]  # fmt: skip
    done = ok(plausible(*words, "--json"))
    training = read_training(folder / "answers.csv", folder / "features.csv")
    test = read_training(folder / "truth.csv", folder / "features.csv")
    expected = summarize(
        labels=training.known.labels, annotations=training.known.annotations,
        model=load(folder / "model.skops"), X=training.X[training.rows], y_test=test.labels,
        X_test=test.X, items=training.known.items.tolist(), title="Trees & <leaves>", reject=0.3,
        seed=0,
    )  # fmt: skip
    found = done.json["summary"]
    for part in ("labels", "clash", "reliability", "belief", "scores"):
        assert found[part] == json.loads(json.dumps(expected[part]))
    page = (folder / "out.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "Trees &amp; &lt;leaves&gt;" in page
    shown = re.search(r"<code><bdi>(plausible report .*?)</bdi>", page)[1]
    assert shlex.split(html.unescape(shown)) == ["plausible", *words, "--json"]


def test_info_tells_what_a_file_holds(plausible):
    model = ok(plausible("info", "model.skops", "--json")).json
    assert (model["kind"], model["classes"]) == ("model", list(CLASSES))
    table = ok(plausible("info", "features.parquet", "--json")).json
    assert (table["rows"], table["columns"]["length"]) == (24, "double")
    assert "plausible: " in ok(plausible("info")).out


# -- Streams ---------------------------------------------------------------------------------------


def test_every_verb_reads_and_writes_streams(plausible, folder, small_files):
    ok(plausible("pool", "answers.csv", "-o", "named.csv"))
    piped = ok(plausible("pool", "-", "-o", "-", stdin=small_files["answers.csv"]))
    assert piped.stdout == (folder / "named.csv").read_bytes()
    words = "--model", "mixture"
    X = read_features(folder / "features.csv", "item").X
    ok(plausible("fit", "answers.csv", "features.parquet", "-o", "named.skops", *words))
    for known, features in (("-", "features.parquet"), ("answers.csv", "-")):
        given = small_files["answers.csv" if known == "-" else "features.parquet"]
        piped = ok(plausible("fit", known, features, "-o", "-", *words, stdin=given))
        (folder / "piped.skops").write_bytes(piped.stdout)
        same(load(folder / "named.skops"), load(folder / "piped.skops"), X)
    ok(plausible("predict", "model.skops", "new.csv", "-o", "named.csv"))
    for model, new in (("-", "new.csv"), ("model.skops", "-")):
        given = small_files["model.skops" if model == "-" else "new.csv"]
        piped = ok(plausible("predict", model, new, "-o", "-", stdin=given))
        assert piped.stdout == (folder / "named.csv").read_bytes()
    named = ok(plausible("evaluate", "model.skops", "truth.csv", "features.csv"))
    for place, name in enumerate(("model.skops", "truth.csv", "features.csv")):
        files = ["model.skops", "truth.csv", "features.csv"]
        files[place] = "-"
        assert ok(plausible("evaluate", *files, stdin=small_files[name])).out == named.out
    page = ok(plausible("report", "-", "-o", "-", stdin=small_files["answers.csv"])).stdout
    assert page.startswith(b"<!doctype html>")
    told = plausible("info", "-", stdin=small_files["model.skops"]).out
    assert "type: PartialLogisticRegression" in told
    assert "rows: 24" in plausible("info", "-", stdin=small_files["features.parquet"]).out


def test_a_reader_that_has_had_enough(folder):
    command = f'"{sys.executable}" -m plausible.cli pool answers.csv -o - | head -c 5'
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder,
                          env=environment(), capture_output=True, text=True)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, '"item')
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


FRESH = {
    "pool": "pool answers.csv -o out.csv",
    "fit": "fit answers.csv features.parquet -o out.skops --model mixture",
    "predict": "predict model.skops new.csv -o out.csv --reject 0.3",
    "evaluate": "evaluate model.skops truth.csv features.csv",
    "partition": "partition features.csv -o out.csv --clusters 3",
    "report": "report answers.csv features.csv --model model.skops -o out.html",
    "info": "info",
}


@pytest.mark.parametrize(
    "verb",
    [
        pytest.param(verb, marks=[pytest.mark.long] * (verb not in ("fit", "info")))
        for verb in FRESH
    ],
)
def test_a_fresh_interpreter_does_the_same(plausible, folder, verb):
    words = FRESH[verb].split()
    here = ok(plausible(*words))
    written = {path.name: path.read_bytes() for path in folder.glob("out.*")}
    if verb == "fit":
        (folder / "here.skops").write_bytes(written["out.skops"])
    there = fresh(*words, folder=folder)
    assert (there.code, there.out, there.stderr) == (0, here.out, here.stderr)
    again = {path.name: path.read_bytes() for path in folder.glob("out.*")}
    if verb == "fit":  # a zip file knows when it was written
        X = read_features(folder / "features.csv", "item").X
        same(load(folder / "here.skops"), load(folder / "out.skops"), X)
    else:
        assert again == written


# -- What it says ----------------------------------------------------------------------------------


def test_fit_says_what_it_assumed(plausible):
    done = ok(plausible("fit", "answers.csv", "features.parquet", "-o", "out.skops",
                        "--model", "mixture"))  # fmt: skip
    notes = "\n".join(done.lines)
    for part in ("54 answers of 3 people about 18 items", "classes ash, elm, oak", "Dempster",
                 "doubts of the answers themselves", "24 rows of 2 features (length, width)",
                 "matched by 'item'", "6 rows have no label", "mixture", "seed 0"):  # fmt: skip
        assert part in notes
    assert done.out.startswith("mixture in out.skops: ")
    quiet = ok(plausible("fit", "answers.csv", "features.csv", "-o", "out.skops", "--quiet",
                         "--model", "logistic"))  # fmt: skip
    assert quiet.stderr == ""


def test_warnings_are_one_line_each(plausible):
    done = ok(plausible("fit", "answers.csv", "features.csv", "-o", "out.skops",
                        "--model", "logistic", "--set", "max_iter=1"))  # fmt: skip
    (warning,) = [line for line in done.lines if line.startswith("Warning: ")]
    assert "max_iter=1" in warning


def test_columns_read_as_people_are_named(plausible, folder):
    (folder / "wide.csv").write_text("item,ann,bob\nt1,ash,elm\nt2,elm,\n")
    done = ok(plausible("pool", "wide.csv", "-o", "out.csv"))
    assert "each of these columns was read as a person: ann, bob" in done.lines


def test_options_that_are_named_here_are_those_of_the_library():
    from plausible.belief.rules import RULES as LIBRARY
    from plausible.io.annotation_files import ALIASES, NUMBERS

    assert sorted(RULES) == sorted(LIBRARY)
    assert set(MEANINGS) == {*ALIASES, "doubt", "count", *NUMBERS}
    named = {"logistic", "mixture", "discriminant", "centroid", "tree", "forest", "joint"}
    assert set(MODELS) >= named


# -- What the model's file remembers ---------------------------------------------------------------


def test_predict_knows_the_column_that_named_the_items(plausible, folder):
    columns = read_table(folder / "features.csv").to_pydict()
    renamed = {"Bild" if name == "item" else name: values for name, values in columns.items()}
    write_table(renamed, folder / "photos.csv")
    ok(plausible("fit", "answers.csv", "photos.csv", "-o", "m.skops", "--model", "logistic"))
    assert inspect_model(folder / "m.skops")["id"] == "Bild"
    ok(plausible("predict", "m.skops", "photos.csv", "-o", "out.csv"))
    found = [row["item"] for row in rows_of((folder / "out.csv").read_text())]
    assert found == [str(item) for item in columns["item"]]
    del renamed["Bild"]
    write_table(renamed, folder / "bare.csv")
    done = ok(plausible("predict", "m.skops", "bare.csv", "-o", "out.csv"))
    assert "rows are numbered from 0" in done.stderr


def test_supervision_says_what_it_learns_from(plausible, folder):
    done = plausible(
        "fit", "answers.csv", "features.csv", "-o", "m.skops", "--model", "supervision"
    )
    assert done.code == 1
    assert "probability:CLASS" in done.lines[-1]
    assert not (folder / "m.skops").exists()


def test_resuming_another_fit_is_refused(plausible, folder):
    words = ["fit", "answers.csv", "features.csv", "-o", "m.skops", "--model", "logistic"]
    ok(plausible(*words))
    feature = next(iter(FEATURES))
    done = plausible(*words, "--columns", feature, "--resume")
    assert done.code == 1
    assert "an interrupted fit to these classes and features" in done.lines[-1]
