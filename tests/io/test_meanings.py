"""What files and arrays may not be taken for, sentence by sentence, and where it is tested.

==  ======================================  ========================================================
1   an id column of any name wins           test_messy_features: a_column_that_holds_all_items_wins
..  numbers from 0 or 1 are never shifted   test_messy_features: numbers_from_0_and_from_1
..  row numbers only on request             test_messy_features: numbers_without_an_id_column
..  an id is no feature; agreement is 1     here; test_messy_features: further_ids_are_no_features
..  00001, 1 and "1 " match, or are shown   here; test_messy_features: ids_that_are_written_*
2   capitals, Mechanical Turk, counts       test_messy_answers: CASES; test_messy_exports: OF_MANY
..  unknown tables name the likely columns  test_messy_answers: CASES, "unknown names"
..  columns of people share their values    here; test_messy_workbooks: a_codebook_of_two_rows
..  classes nearly as many as rows          here, in all layouts
3   words of not knowing, either of two     here, in Python, files, and tables of labels
..  rare names, --map, count of classes     test_messy_answers: CASES, the_command_says_the_same
..  classes with a word of doubt, yes and y test_messy_exports: a_class_with_a_word, yes_beside_y
4   numbers, percent, words, 1 - doubt      test_messy_answers: CASES, one_minus_doubt; here
..  what is not used is listed              here, in all layouts
..  a blank doubt is not the surest         test_messy_answers: a_blank_doubt
5   probabilities are learned as such       here, by all classifiers; models/test_probabilities
6   classes in another order                metrics/test_order_of_classes
7   features in another order               test_messy_features: lines_of_the_readme; here
..  rows of data frames in another order    base/test_bases: rows_of_data_frames_in_another_order
8   -1, rows repeated, answers given twice  here, at all doors; test_messy_answers: repeats_*
9   unlabeled rows that wreck a mixture     models/test_unlabeled; here, by the command
10  intervals of annotators                 experts/test_intervals; here, what they say
==  ======================================  ========================================================
"""

import io
import json
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from conformance.register import ESTIMATORS
from plausible.base import SharpenedLabelsWarning
from plausible.cli import main
from plausible.experts import Annotations
from plausible.io import TableError, read_annotations, read_known, read_new, read_training
from plausible.labels import Labels, MinusOneWarning
from plausible.metrics import soft_accuracy
from plausible.models import PartialLogisticRegression
from plausible.report import label_report

RNG = np.random.default_rng(3)
N = 40
Y = np.arange(N) % 3
ORDER = RNG.permutation(N)
SIZE = 10.0 * Y + RNG.normal(size=N)


# -- Point 1: items --------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["ID", "nr", "photo_id"])
def test_numbered_items_agree_with_their_labels(column):
    known = {"item": range(1, N + 1), "label": np.array(["oak", "elm", "ash"])[Y]}
    features = {column: ORDER + 1, "size": SIZE[ORDER], "width": -SIZE[ORDER]}
    training = read_training(known, features)
    model = PartialLogisticRegression(alpha=1e-3).fit(training.X, training.labels)
    assert training.names == ["size", "width"]
    assert soft_accuracy(training.labels, model.predict(training.X)) == 1.0


@pytest.mark.parametrize("written", ["{:05}", "{} ", "{}"])
def test_one_item_that_is_written_otherwise_is_matched_or_both_are_shown(written):
    known = {"item": [written.format(k) for k in (1, 2, 3)], "label": ["a", "b", "b"]}
    features = {"item": [3, 1, 2], "size": [0.5, 1.5, 2.5]}
    training = read_training(known, features)
    assert training.rows.tolist() == [1, 2, 0]
    told = [note for note in training.notes if "matched without" in note]
    assert len(told) == (written != "{}")
    known["item"][1] = known["item"][0].strip().lstrip("0").zfill(7)  # another way to write 1
    with pytest.raises(TableError) as caught:
        read_training(known, features)
    assert known["item"][0].strip() in str(caught.value)
    assert known["item"][1] in str(caught.value)


# -- Point 2: columns ------------------------------------------------------------------------------

WORDS = [f"word {k}" for k in range(60)]


@pytest.mark.parametrize(
    "table",
    [
        {"item": range(60), "annotator": ["ann", "bob"] * 30, "label": WORDS},
        {"item": range(60), "label": WORDS},
        {"item": range(60), "label": np.linspace(0, 1, 60)},
        {"item": range(60), "ann": WORDS, "bob": WORDS},
        {"item": range(60), "ann": WORDS, "bob": WORDS[::-1], "cy": WORDS},
    ],
)
def test_nothing_has_nearly_as_many_classes_as_rows(table):
    with pytest.raises(TableError, match=r"the same few classes|share their values"):
        read_known(table)
    few = {
        name: np.array(["oak", "elm"])[np.arange(60) % 2] if name in ("label", "ann", "bob", "cy")
        else values for name, values in table.items()
    }  # fmt: skip
    assert read_known(few).labels.classes.tolist() == ["elm", "oak"]


def test_columns_of_people_share_their_values():
    table = {"photo": range(12), "color": ["red", "blue"] * 6, "shape": ["round", "long"] * 6}
    with pytest.raises(TableError, match="which do not share their values"):
        read_annotations(table)
    said = {"photo": range(12), "ann": ["red", "blue"] * 6, "bob": ["blue", "blue"] * 6}
    assert read_annotations(said).annotators.tolist() == ["ann", "bob"]


# -- Point 3: words --------------------------------------------------------------------------------

SAID = ["A", "B", "blues", "BLUES", "not sure", "Cannot tell", "n/a", "I don't know", "A/B",
        "A or B", '{"choices": ["A", "B"]}', "blues ", "A", "B"]  # fmt: skip
MEANT = [*["A", "B", "C", "C"], *["ABC"] * 4, *["AB"] * 3, "C", "A", "B"]
ITEMS = list(range(len(SAID)))


def of_items(answers):
    order = np.argsort(answers.items[answers.item].astype(int))
    return answers.contours[answers.statement[order]]


def as_csv(columns):
    rows = zip(*columns.values(), strict=True)
    lines = ['"' + '","'.join(str(cell).replace('"', '""') for cell in row) + '"' for row in rows]
    return io.StringIO("\n".join([",".join(columns), *lines]) + "\n")


@pytest.mark.parametrize(
    "read",
    [
        lambda: of_items(Annotations.from_long(ITEMS, ["ann"] * len(ITEMS), SAID)),
        lambda: of_items(Annotations.from_answers(np.array(SAID, dtype=object)[:, None])),
        lambda: of_items(
            read_annotations(as_csv({"item": ITEMS, "annotator": ["ann"] * 14, "label": SAID}))
        ),
        lambda: read_known(as_csv({"item": ITEMS, "label": SAID})).labels.contour,
    ],
    ids=["from_long", "from_answers", "answers", "labels"],
)
def test_words_mean_the_same_at_every_door(read):
    expected = [[float(name in meant) for name in "ABC"] for meant in MEANT]
    assert read().tolist() == expected


# -- Point 4: confidence, and what is not used -----------------------------------------------------


def test_words_of_confidence_by_the_command(tmp_path, capsys):
    path = tmp_path / "said.csv"
    path.write_text(
        "item,annotator,label,confidence\nx,ann,cat,high\ny,ann,dog,low\nx,bob,cat,low\n"
    )
    assert main(["pool", str(path), "-o", str(tmp_path / "out.csv")]) == 1
    assert "--words" in capsys.readouterr().err
    words = ["--words", "high=0.05,low=0.5", "--layout", "long"]
    assert main(["pool", str(path), "-o", str(tmp_path / "out.csv"), *words]) == 0
    read = read_annotations(path, words={"high": 0.05, "low": 0.5})
    assert read.doubt.tolist() == [0.05, 0.5, 0.5]


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ({"item": "xyz", "annotator": "aab", "label": ["cat", "dog", "cat"]}, {}),
        ({"item": "xyz", "label": ["cat", "dog", "cat"]}, {}),
        ({"item": "xyz", "cat": [2, 0, 3], "dog": [1, 3, 0]},
         {"kind": "count", "columns": ["cat", "dog"]}),
        ({"item": "xyz", "ann": ["cat", "dog", "cat"], "bob": ["cat", "cat", "dog"]},
         {"columns": ["ann", "bob"]}),
        ({"item": "xyz", "probability:cat": [0.5, 0.2, 1.0], "probability:dog": [0.5, 0.8, 0.0]},
         {}),
    ],
)  # fmt: skip
def test_what_is_not_used_is_listed_in_every_layout(table, options):
    given = {name: list(cells) for name, cells in table.items()} | {"minutes": [3.5, 4.25, 7.75]}
    notes = [str(note) for note in read_known(given, **options).notes]
    assert any(note.startswith("not used: ") and "'minutes'" in note for note in notes)


def test_a_measurement_beside_the_people_is_refused_with_what_leaves_it_out():
    table = {"photo": list("wxyz"), "ann": ["cat", "dog", "cat", "dog"],
             "bob": ["cat", "cat", "dog", "dog"], "minutes": [1.5, 2.0, 0.5, 4.0]}  # fmt: skip
    with pytest.raises(TableError, match="'minutes' holds fractions") as caught:
        read_annotations(table)
    assert caught.value.settings["ignore"] == ["minutes"]
    assert read_annotations(table, ignore=["minutes"]).annotators.tolist() == ["ann", "bob"]


# -- Point 5: probabilities ------------------------------------------------------------------------

CAREFUL = {  # whose beliefs grow with evidence, and so are surer than each piece of it
    "EvidentialNeighborsClassifier", "RelabellingClassifier",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in CAREFUL])
def test_no_classifier_hardens_probabilities_in_silence(name):
    Z = np.random.default_rng(0).normal(size=(60, 2))
    model = clone(ESTIMATORS[name].estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = model.fit(Z, [[0.3, 0.6, 0.1]] * 60).predict_proba(Z).mean(axis=0)
    said_so = any(issubclass(one.category, SharpenedLabelsWarning) for one in caught)
    assert said_so or found.max() < 0.65


# -- Point 7: features in another order ------------------------------------------------------------


def test_new_features_go_to_the_model_by_their_names():
    known = {"item": range(N), "label": np.array(["oak", "elm", "ash"])[Y]}
    features = {"item": ORDER, "size": SIZE[ORDER], "noise": RNG.normal(size=N)}
    training = read_training(known, features)
    model = PartialLogisticRegression(alpha=1e-3).fit(training.X, training.labels)
    turned = read_new(dict(reversed(features.items())), training.names)
    np.testing.assert_array_equal(model.predict(turned.X), model.predict(training.X))
    with pytest.raises(ValueError, match="has them in another order"):
        model.predict(read_new(features, ["noise", "size"]).X)


# -- Point 8: -1, and what comes twice -------------------------------------------------------------


def test_minus_one_is_told_at_every_door():
    said, items = [0, -1, 2, 1, 2], list("vwxyz")
    doors = [
        Annotations.from_long(items, ["ann"] * 5, said),
        Annotations.from_answers(np.array(said)[:, None]),
        read_annotations({"item": items, "annotator": ["ann"] * 5, "label": said}),
        read_known({"item": items, "label": said}),
        read_known(as_csv({"item": items, "label": said})),
    ]
    for found in doors:
        assert any("-1 was answered once" in note for note in found.notes)
    with pytest.warns(MinusOneWarning, match="missing=-1"):
        Labels.from_crisp(said)
    with pytest.warns(MinusOneWarning, match="missing=-1"):
        PartialLogisticRegression().fit(np.arange(5.0)[:, None], said)


def test_rows_that_are_repeated_are_told():
    table = {"item": list("xxyx"), "annotator": list("abaa"), "label": ["cat", "dog", "dog", "cat"]}
    for found in (read_annotations(table), Annotations.from_long(*table.values())):
        assert any("1 answer repeats an earlier one" in note for note in found.notes)
    table["label"][3] = "dog"
    for found in (read_annotations(table), Annotations.from_long(*table.values())):
        assert any(note.startswith("Once, a person") for note in found.notes)
    with pytest.raises(TableError, match="repeats 'x'"):
        read_training({"item": ["x", "y"], "label": ["cat", "dog"]},
                      {"item": list("xyx"), "size": [1.0, 2.0, 1.0]})  # fmt: skip


# -- Point 9: rows without labels ------------------------------------------------------------------


def test_the_command_warns_of_unlabeled_rows_with_the_remedy(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=700)
    cluster = np.where(rng.uniform(size=700) < 0.3, (y + 1) % 3, rng.integers(3, size=700))
    X = np.column_stack([5 * np.eye(3)[cluster], y]) + rng.normal(size=(700, 4)) * [1, 1, 1, 0.5]
    rows = [",".join([f"i{k}", *map(str, row)]) for k, row in enumerate(X.round(3).tolist())]
    (tmp_path / "x.csv").write_text("\n".join(["item,a,b,c,d", *rows]) + "\n")
    said = [f"i{k},{('small', 'medium', 'large')[y[k]]}" for k in range(150)]
    (tmp_path / "y.csv").write_text("\n".join(["item,label", *said]) + "\n")
    words = ["fit", "y.csv", "x.csv", "-o", "m.skops", "--model", "mixture", "--json"]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(words) == 0
    told = capsys.readouterr()
    assert "labeled rows alone foretell" in told.err
    assert "unlabeled_weight=1 counts them in full" in told.err
    assert json.loads(told.out)["soft_accuracy"] > 0.7


# -- Point 10: intervals ---------------------------------------------------------------------------


def test_an_interval_says_what_it_allows_for(tmp_path):
    said = RNG.integers(3, size=(60, 1)) * np.ones((1, 4), dtype=int)
    said[::5] = RNG.integers(3, size=(12, 4))
    answers = Annotations.from_answers(said)
    found = answers.reliability()
    assert "Intervals allow for errors that people share on up to" in str(found)
    assert 0 < found.consensus_error < 1
    label_report(tmp_path / "page.html", annotations=answers)
    page = " ".join((tmp_path / "page.html").read_text().split())
    assert "errors that all annotators make together, which agreement cannot show" in page


@pytest.mark.parametrize("joined", ["{}|elm", "{}/elm", "{} or elm"])
def test_names_made_of_others_that_are_never_alone_are_told(joined):
    cells = ["elm", joined.format("oak"), joined.format("ash"), "elm", joined.format("oak")]
    table = {"item": list("abcde"), "label": cells}
    known = read_known(table)
    (note,) = [note for note in known.notes if "never answered alone" in note]
    assert "'oak', 'ash' are never" in note
    assert note.settings["classes"] == ["elm", "oak", "ash"]
    sets = read_known(table, classes=note.settings["classes"]).labels
    assert sets.contour.tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 1, 0]]
    alone = read_known({"item": list("ab"), "label": ["black/white", "gray"]}).notes
    assert not any("never answered alone" in note for note in alone)
