"""Messy files of features, no two alike: the right meaning, or a refusal with what mends it."""

import datetime
import io
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.base import FeatureTable, NamedArray
from plausible.io import (
    Features,
    TableError,
    load,
    read_features,
    read_new,
    read_table,
    read_training,
    save,
    stream_predictions,
    stream_training,
    write_predictions,
)
from plausible.models import (
    FeaturePreparation,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    SoftNearestCentroid,
)

N = 24
Y = np.arange(N) % 3
CLASSES = np.array(["ash", "elm", "oak"])
ORDER = np.random.default_rng(5).permutation(N)  # of the rows of features
SIZE = 10.0 * Y + np.random.default_rng(6).normal(size=N)


def labels_of(names, column="item"):
    """Labels of all items, in the order of the items."""
    return {column: list(names), "label": CLASSES[Y].tolist()}


def features_of(names, column="item", **more):
    """A row for each item, in another order: its size tells its class."""
    names = np.array(names, dtype=object)
    return {
        "size": SIZE[ORDER].tolist(),
        column: names[ORDER].tolist(),
        **{name: np.array(values, dtype=object)[ORDER].tolist() for name, values in more.items()},
    }


def text_of(columns):
    """A table as a CSV file, without quotes."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    return io.StringIO("\n".join([",".join(columns), *lines]) + "\n")


def check_meaning(found, names=("size",)):
    """Every row has the label of its item, and the id is no feature."""
    assert found.names == list(names)
    assert found.labels.crisp().tolist() == CLASSES[Y[ORDER]].tolist()
    size = found.X["size"] if isinstance(found.X, FeatureTable) else found.X[:, 0]
    assert np.asarray(size, dtype=float) == pytest.approx(SIZE[ORDER])


# -- Point 1: which column names the items ---------------------------------------------------------


@pytest.mark.parametrize("column", ["ID", "nr", "photo_id", "Photo", "whatever"])
@pytest.mark.parametrize("start", [0, 1, 1000])
def test_a_column_that_holds_all_items_wins_whatever_its_name(column, start):
    names = list(range(start, start + N))
    found = read_training(labels_of(names), text_of(features_of(names, column)))
    check_meaning(found)
    assert found.id == column


def test_numbers_without_an_id_column_are_refused_until_asked_for():
    bare = {"size": SIZE.tolist()}
    for start, word, wrong in ((0, "row0", "row1"), (1, "row1", "row0")):
        labels = labels_of(range(start, start + N))
        with pytest.raises(TableError, match="none does; say id='row' if") as refusal:
            read_training(labels, bare)
        assert refusal.value.settings == {"id": "row"}
        for said in ("row", word):
            found = read_training(labels, bare, id=said)
            assert found.labels.crisp().tolist() == CLASSES[Y].tolist()
            assert f"from {start}, are the items" in found.notes[1]
        with pytest.raises(TableError, match="1 item of 24 has none"):
            read_training(labels, bare, id=wrong)


def test_numbers_of_rows_that_do_not_tell_where_they_start():
    few = {"item": [3, 5], "label": ["ash", "elm"]}
    bare = {"size": SIZE.tolist()}
    with pytest.raises(TableError, match="both would do.*id='row1'.*row0"):
        read_training(few, bare, id="row")
    assert read_training(few, bare, id="row0").rows.tolist() == [3, 5]
    assert read_training(few, bare, id="row1").rows.tolist() == [2, 4]
    with pytest.raises(TableError, match="neither counts all items"):
        read_training({"item": [3, 99], "label": ["ash", "elm"]}, bare, id="row")
    with pytest.raises(TableError, match="whole numbers.*'a' is none"):
        read_training({"item": ["a", "b"], "label": ["ash", "elm"]}, bare, id="row")


def test_a_column_that_is_called_row_is_a_column():
    names = [f"p{k}" for k in range(N)]
    check_meaning(read_training(labels_of(names), features_of(names, "row"), id="row"))


def test_several_columns_hold_all_items():
    names = list(range(N))
    other = [*range(1, N), 0]
    said = features_of(names, "photo_id", rank=other)
    check_meaning(read_training(labels_of(names), said, columns=["size"]))
    same_name = features_of(names, "Bild", photo_id=other)
    with pytest.raises(TableError, match="2 hold all of them, in different rows") as refusal:
        read_training(labels_of(names), features_of(names, "left", right=other))
    assert refusal.value.settings == {"id": "left"}
    found = read_training(labels_of(names, "Bild"), same_name, names={"item": "Bild"})
    check_meaning(found)
    twins = features_of(names, "left", right=names)  # then it does not matter
    check_meaning(read_training(labels_of(names), twins, columns=["size"]))


def test_a_column_that_repeats_names_does_not_name_items():
    table = features_of(range(N), "left", group=[k % 3 for k in range(N)])
    few = {"item": [0, 1, 2], "label": ["ash", "elm", "oak"]}
    found = read_training(few, table)
    assert (found.id, found.names) == ("left", ["size", "group"])
    assert ORDER[found.rows].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("said", "written", "word"),
    [
        ("{}", "{:05d}", "leading zeros"),
        ("{:05d}", "{}", "leading zeros"),
        ("{}", "{} ", None),  # which a file of text loses, and a table does not
        ("IMG{}", "img{}", "capital letters"),
    ],
)
def test_ids_that_are_written_differently_match_with_a_note(said, written, word):
    names = [said.format(k) for k in range(N)]
    found = read_training(labels_of(names), features_of([written.format(k) for k in range(N)]))
    check_meaning(found)
    (note,) = [note for note in found.notes if "matched without" in note]
    assert (word or "blanks") in note
    assert repr(found.items.tolist()[0]) in note or repr(names[0]) in note


def test_floats_are_whole_numbers():
    names = [float(k) for k in range(1, N + 1)]
    found = read_training(labels_of([str(k) for k in range(1, N + 1)]), features_of(names, "Nr"))
    check_meaning(found)


def test_ids_that_would_become_one_are_refused_with_both():
    labels = {"item": ["1", "01"], "label": ["ash", "elm"]}
    features = {"item": ["001", "0002", "3"], "size": [1.0, 2.0, 3.0]}
    with pytest.raises(TableError, match="the items '1' and '01' would be one; write them alike"):
        read_training(labels, features)
    labels = {"item": ["7", "x"], "label": ["ash", "elm"]}
    features = {"item": ["07", "007", "x"], "size": [1.0, 2.0, 3.0]}
    with pytest.raises(TableError, match="names of rows '07' and '007' would be one"):
        read_training(labels, features)
    features["item"][0] = "7"  # then one of them is the item as it is written
    assert read_training(labels, features).rows.tolist() == [0, 2]


def test_repeated_and_empty_ids_are_refused_with_rows():
    names = [f"p{k}" for k in range(N)]
    features = features_of(names)
    features["item"][7] = features["item"][2]
    lost = np.array(names, dtype=object)[ORDER][7]
    with pytest.raises(TableError, match=r"repeats 'p\d+'.*row 3.*row 8"):
        read_training(labels_of(names), features)
    features["item"][7] = None
    with pytest.raises(TableError, match="is empty in 1 row .row 8"):
        read_training(labels_of(names), features)
    features["item"][7] = "something else"
    with pytest.raises(TableError, match=rf"1 item of 24 has none \({lost}\)") as refusal:
        read_training(labels_of(names), features)
    assert refusal.value.settings == {"on_unmatched": "drop"}


def test_items_without_features_are_left_out_on_request():
    rows = [(item, who) for item in range(N) for who in ("x", "y")]
    answers = {
        "item": [item for item, _ in rows], "annotator": [who for _, who in rows],
        "label": [str(CLASSES[Y[item]]) for item, _ in rows], "doubt": [0.1] * len(rows),
    }  # fmt: skip
    known = read_training(answers, features_of(range(N), "Nr")).known
    part = {name: values[: N - 5] for name, values in features_of(range(N), "Nr").items()}
    lost = sorted(ORDER[N - 5 :].tolist())
    with pytest.raises(TableError, match="5 items of 24 have none.*on_unmatched='drop'"):
        read_training(answers, part)
    found = read_training(answers, part, on_unmatched="drop")
    kept = [k for k in range(N) if k not in lost]
    assert found.known.items.tolist() == kept
    assert found.known.labels == known.labels[kept]
    assert found.known.annotations.pool() == known.labels[kept]
    assert np.asarray(found.X)[found.rows, 0].tolist() == SIZE[kept].tolist()
    assert f"5 items left out without a row of features ({lost[0]}" in found.notes[-1]
    nothing = {"Nr": [101, 102], "size": [1.0, 2.0]}
    with pytest.raises(TableError, match=r"24 items of 24|none does"):
        read_training(answers, nothing, on_unmatched="drop")


def test_rows_without_items_are_counted_and_named():
    names = [f"p{k}" for k in range(N)]
    labels = {"item": names[:20], "label": CLASSES[Y[:20]].tolist()}
    found = read_training(labels, features_of(names))
    rest = [name for name in np.array(names)[ORDER].tolist() if name not in names[:20]]
    assert found.notes[-1] == (f"4 rows have no label: they count as unknown ({', '.join(rest)})")


def test_an_id_that_is_not_there_is_named_with_the_columns():
    names = list(range(N))
    with pytest.raises(
        TableError, match=r"column 'photo', but does not \(its columns are 'size', "
    ):
        read_training(labels_of(names), features_of(names, "photo_id"), id="photo")


def test_further_ids_are_no_features():
    names = [f"p{k}.jpg" for k in range(N)]
    table = features_of(
        names, "file", photo_id=range(500, 500 + N), UUID=[f"u{k}" for k in range(N)]
    )
    found = read_training(labels_of(names), table, kinds="any")
    check_meaning(found)
    assert "photo_id (it names the rows)" in " ".join(found.notes)
    numbers = {name: table[name] for name in ("size", "file", "photo_id")}
    found = read_training(labels_of(names), numbers)
    check_meaning(found)
    assert read_training(labels_of(names), numbers, columns=["photo_id"]).names == ["photo_id"]
    assert read_features(table, kinds="any").ids.tolist() == table["photo_id"]


def test_a_number_that_both_files_call_nr_matches_them():
    names = list(range(101, 101 + N))
    found = read_training(labels_of(names, "Nr"), features_of(names, "Nr"))
    check_meaning(found)


# -- Columns of any kind ---------------------------------------------------------------------------

NAMES = [f"p{k}" for k in range(N)]
COLORS = np.array(["red", "green", "blue"])[(Y + np.arange(N) // 12) % 3].tolist()
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=7 * k) for k in range(N)]


def gaps(values, *places):
    return [None if k in places else value for k, value in enumerate(values)]


MIXED = {
    "empty cells": ({"width": gaps(range(N), 1, 5)}, {"width": "number"}, "width: 2 empty cells"),
    "NA and NaN": ({"width": ["NA", "NaN", *range(2, N)]}, {"width": "number"}, "2 empty cells"),
    "categories": ({"color": COLORS}, {"color": "category"}, "color: 3 categories"),
    "categories with gaps": (
        {"color": gaps(COLORS, 0, 7)}, {"color": "category"}, "4 categories, .*empty cells are one",
    ),
    "a rare category": (
        {"color": ["mauve", "pink", *COLORS[2:]]}, {"color": "category"}, "the 2 rarest share one",
    ),
    "ISO dates": ({"day": DAYS}, {"day": "date"}, "day: dates"),
    "times": (
        {"at": [f"2024-03-0{1 + k % 9}T10:3{k % 10}:00" for k in range(N)]}, {"at": "date"},
        "at: dates",
    ),
    "German dates": (
        {"day": [f"{d:%d.%m.%Y}" for d in DAYS]}, {"day": "date"}, "dates|2024",
    ),
    "American dates": (
        {"day": [f"{d:%m/%d/%Y}" for d in DAYS]}, {"day": "date"}, "month first",
    ),
    "truth values": (
        {"wild": [["true", "false"][k % 2] for k in range(N)]}, {"wild": "number"}, None,
    ),
    "yes and no": (
        {"wild": [["yes", "no"][k % 2] for k in range(N)]}, {"wild": "category"}, "2 categories",
    ),
    "codes with zeros": (
        {"zip": ["01067", "04109", "10115"] * (N // 3)}, {"zip": "category"}, "3 categories",
    ),
    "free text": (
        {"comment": [f"I saw {k} birds" for k in range(N)]}, {}, r"comment \(text that differs",
    ),
    "a constant": ({"source": ["lab"] * N}, {}, r"source \(always 'lab'\)"),
    "a constant number": ({"version": [3] * N}, {}, r"version \(always 3\)"),
    "nothing at all": ({"later": [None] * N}, {}, r"later \(empty\)"),
    "days or months": (
        {"day": [f"0{1 + k % 3}/0{1 + k % 4}/2024" for k in range(N)]}, {},
        "day .dates whose day or month may be first; write them as 2024-12-31",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MIXED)
@pytest.mark.parametrize("make", [text_of, dict], ids=["text", "table"])
def test_columns_of_any_kind_are_prepared_and_told(case, make):
    more, kinds, words = MIXED[case]
    if make is dict and case == "NA and NaN":
        more = {"width": [None, float("nan"), *range(2, N)]}
    if make is dict and case == "truth values":
        more = {"wild": [k % 2 == 0 for k in range(N)]}
    table = make(features_of(NAMES, **more))
    found = read_training(labels_of(NAMES), table, kinds="any")
    check_meaning(found, ["size", *kinds])
    assert found.kinds == {"size": "number", **kinds}
    model = make_pipeline(FeaturePreparation(found.kinds), PartialLogisticRegression())
    model.fit(found.X, found.labels)
    told = [*found.notes, *model[0].explain()]
    if words is not None:
        assert pd.Series(told).str.contains(words, regex=True).any(), told
    assert (model.predict(found.X) == CLASSES[Y[ORDER]]).mean() > 0.9
    assert model[0].feature_names_in_.tolist() == found.names


REFUSED = {
    "a word among numbers": (
        {"width": [*range(N - 1), "n.d."]}, "holds 'n.d.'", r"missing=\['n.d.'\]",
    ),
    "numbers among words": (
        {"grade": ["1", "2", "3"] * 7 + ["A", "B", "B"]}, "holds 'A'",
        "kinds={'grade': 'category'}",
    ),
    "infinite": ({"width": [float("inf"), *range(1, N)]}, "infinite", "correct them"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_may_be_a_fault_is_refused_with_the_option_that_mends_it(case):
    more, what, remedy = REFUSED[case]
    table = features_of(NAMES, **more)
    with pytest.raises(TableError, match=f"{what}.*{remedy}"):
        read_training(labels_of(NAMES), text_of(table), kinds="any")


def test_the_options_of_the_refusals_mend_them():
    table = text_of(features_of(NAMES, width=[*range(N - 2), "n.d.", "?"]))
    found = read_training(labels_of(NAMES), table, kinds="any", missing=["n.d.", "?"])
    assert found.kinds == {"size": "number", "width": "number"}
    assert np.isnan(found.X["width"]).sum() == 2
    table = features_of(NAMES, width=[*range(N - 1), -999])
    found = read_training(labels_of(NAMES), table, kinds="any", missing=["-999"])
    assert np.isnan(found.X["width"]).sum() == 1
    table = text_of(features_of(NAMES, grade=["1", "2", "3"] * 7 + ["A", "B", "B"]))
    found = read_training(labels_of(NAMES), table, kinds={"grade": "category"})
    assert found.kinds == {"size": "number", "grade": "category"}
    table = features_of(NAMES, region=[k % 4 for k in range(N)], junk=range(N))
    found = read_training(labels_of(NAMES), table, kinds={"region": "category", "junk": "left out"})
    assert found.kinds == {"size": "number", "region": "category"}


def test_every_column_with_a_problem_is_named():
    table = features_of(NAMES, a=["x"] * N, b=["y"] * N, c=[*range(N - 1), None])
    with pytest.raises(TableError) as refusal:
        read_training(labels_of(NAMES), table)
    assert "'a' (24), 'b' (24)" in str(refusal.value)
    assert refusal.value.settings["kinds"] == "any"


# -- Point 7: columns in another order -------------------------------------------------------------


@pytest.fixture(scope="module")
def three():
    """Labels, features, and new items whose columns stand in reverse."""
    random = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = random.normal(size=(150, 3)) + 4.0 * np.eye(3)[y]
    names = [f"f{k}" for k in range(150)]
    labels = {"item": names[:100], "label": CLASSES[y[:100]].tolist()}
    features = {"item": names[:100]} | {f"x{j}": X[:100, j].tolist() for j in range(3)}
    new = {f"x{j}": X[100:, j].tolist() for j in (2, 1, 0)} | {"item": names[100:]}
    return labels, features, new, CLASSES[y[100:]]


def test_lines_of_the_readme_give_the_same_in_any_order(tmp_path, three):
    labels, features, new, truth = three
    training = read_training(labels, features)
    model = GaussianMixtureClassifier().fit(training.X, training.labels)
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x2"]
    save(model, tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        write_predictions(one, read_features(new, id="item"), tmp_path / "p.csv")
        answers = read_table(tmp_path / "p.csv").column("answer").to_pylist()
        assert np.mean(np.array(answers) == truth) > 0.9
    with pytest.raises(
        ValueError, match="in their order .* has them in another order; write X.sel"
    ):
        model.predict(read_features(new).X)
    right = model.predict(read_features(new).X.select(model.feature_names_in_))
    assert right.tolist() == answers


def test_models_that_do_not_know_names_are_not_asked_by_name(tmp_path, three):
    labels, features, new, truth = three
    training = read_training(labels, features)
    plain = make_pipeline(StandardScaler(), PartialLogisticRegression())
    plain.fit(training.X, training.labels)
    with pytest.raises(ValueError, match="StandardScaler was fitted to an array without; give nam"):
        write_predictions(plain, read_features(new), tmp_path / "p.csv")
    write_predictions(plain, read_features(new), tmp_path / "p.csv", names=training.names)
    by_name = read_table(tmp_path / "p.csv").column("answer").to_pylist()
    assert np.mean(np.array(by_name) == truth) > 0.9
    knows = make_pipeline(FeaturePreparation(), PartialLogisticRegression())
    knows.fit(training.X, training.labels)
    write_predictions(knows, read_features(new), tmp_path / "p.csv")
    assert read_table(tmp_path / "p.csv").column("answer").to_pylist() == by_name


def test_features_that_are_lost_or_added_are_refused_or_passed_over(tmp_path, three):
    labels, features, new, _ = three
    training = read_training(labels, features)
    model = GaussianMixtureClassifier().fit(training.X, training.labels)
    less = {name: column for name, column in new.items() if name != "x1"}
    with pytest.raises(ValueError, match="lack 'x1'"):
        write_predictions(model, read_features(less), tmp_path / "p.csv")
    with pytest.raises(ValueError, match="GaussianMixtureClassifier has learned.* lacks 'x1'"):
        model.predict(read_features(less).X)
    more = new | {"x9": [1.0] * 50}
    write_predictions(model, read_features(more), tmp_path / "p.csv")
    with pytest.raises(ValueError, match="has also 'x9'"):
        model.predict(read_features(more).X)


def test_frames_keep_their_names_as_scikit_learn_has_it(three):
    labels, features, new, _ = three
    training = read_training(labels, features)
    frame = pd.DataFrame(np.asarray(training.X), columns=training.names)
    model = GaussianMixtureClassifier().fit(frame, training.labels)
    assert model.predict(training.X).tolist() == model.predict(frame).tolist()
    with pytest.raises(ValueError, match="in another order"):
        model.predict(read_features(new).X)


def test_rows_keep_names_and_all_else_is_a_plain_array():
    X = NamedArray(np.arange(12.0).reshape(4, 3), ["a", "b", "c"])
    some = (X[1:3], X[[0, 2]], X[np.array([True, False, True, False])], X[[1, 2], ...], X[:, :])
    for part in (*some, X.copy()):
        assert part.names == ["a", "b", "c"]
    assert X[:, ::-1].tolist() == np.asarray(X)[:, ::-1].tolist()
    lost = (X[:, ::-1], X[:, [2, 0, 1]], X[..., ::-1], X[0], X[:, 1], X[0, 0], X + 1, X @ X.T)
    for part in (*lost, np.exp(X), X.sum(axis=0)):
        assert not getattr(part, "names", None)
    assert not getattr(X.T, "names", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = np.array(["u", "v"])[[0, 1, 0, 1]]
        score = cross_val_score(SoftNearestCentroid(), X, labels, cv=2)
    assert score.shape == (2,)


# -- Decisions -------------------------------------------------------------------------------------


def test_decisions_have_what_came_with_the_items_and_degrees_of_the_answer(tmp_path, three):
    labels, features, new, _ = three
    training = read_training(labels, features)
    model = GaussianMixtureClassifier().fit(training.X, training.labels)
    table = new | {"place": ["pond", "wood"] * 25, "answer": ["?"] * 50, "day": [3] * 50}
    read = read_new(table, training.names)
    decision = write_predictions(model, read, tmp_path / "p.parquet", reject=0.02)
    told = read_table(tmp_path / "p.parquet")
    head = ["item", "place", "given:answer", "day", "answer", "probability", "plausibility", "set"]
    assert told.column_names[:8] == head
    assert told.column("place").to_pylist() == table["place"]
    rows = told.to_pylist()
    assert any(row["answer"] is None for row in rows)
    for row, index in zip(rows, decision.index, strict=True):
        if index < 0:
            assert row["answer"] is row["probability"] is row["plausibility"] is None
        else:
            assert row["probability"] == row[f"probability:{row['answer']}"]
            assert row["plausibility"] == row[f"plausibility:{row['answer']}"]
    for keep, names in (("none", None), (["place"], ["place"])):
        others = read_new(table, training.names, keep=keep).others
        assert (others if names is None else others.column_names) == names
    with pytest.raises(TableError, match="keep should be .* 'pond' is not there"):
        read_new(table, training.names, keep=["pond"])


def test_new_items_are_prepared_as_the_old_ones(tmp_path):
    old = features_of(NAMES, color=COLORS, day=DAYS, width=gaps(range(N), 3, 4))
    found = read_training(labels_of(NAMES), old, kinds="any")
    model = make_pipeline(FeaturePreparation(found.kinds), PartialLogisticRegression())
    model.fit(found.X, found.labels)
    save(model, tmp_path / "m")
    model = load(tmp_path / "m")
    kinds = dict(zip(found.names, model[0].kinds_, strict=True))
    again = read_new({name: old[name] for name in reversed(old)}, found.names, kinds=kinds)
    assert model.predict_proba(again.X).tolist() == model.predict_proba(found.X).tolist()
    odd = {"day": ["2024-02-30"], "color": ["violet"], "size": [1.0], "width": [None]}
    with pytest.raises(ValueError, match="'day' should hold dates.*'2024-02-30'"):
        model.predict(read_new(odd, found.names, kinds=kinds).X)
    odd["day"] = ["2024-02-28"]
    new = read_new(odd, found.names, kinds=kinds)
    assert model[0].explain(new.X) == [
        "width: 1 empty cell filled with the median 12.5, and marked",
        "color: 1 cell with names that the model has not seen ('violet')",
    ]
    odd["width"] = ["wide"]
    with pytest.raises(TableError, match="column 'width' holds 'wide'"):
        read_new(odd, found.names, kinds=kinds)


def test_features_unpack_as_they_did():
    read = read_features({"item": ["a", "b"], "x": [1.0, 2.0]}, "item")
    X, names, ids = read
    assert (X.tolist(), names, ids.tolist()) == ([[1.0], [2.0]], ["x"], ["a", "b"])
    assert Features(np.ones((1, 1)), ["x"], None).ids is None


@pytest.mark.parametrize(
    ("said", "written"),
    [("images/a{}.jpg", "a{}.jpg"), ("a{}", "A{}.png"), ("C:\\pics\\a{}.jpg", "/data/a{}.jpg")],
)
def test_names_of_files_that_differ_by_folder_or_ending_are_shown(said, written):
    answers = {
        "item": [said.format(k) for k in range(5)], "annotator": ["ann"] * 5, "label": list("ababb")
    }  # fmt: skip
    features = {"image": [written.format(k) for k in range(5)], "size": np.arange(5.0)}
    with pytest.raises(TableError) as caught:
        read_training(answers, features)
    for shown in (said, written):
        assert repr(shown.format(0)) in str(caught.value)
    assert "write them alike" in str(caught.value)


@pytest.mark.parametrize(("items", "ids"), [(range(6), range(1, 7)), (range(1, 6), range(5))])
def test_numbers_from_0_and_from_1_are_never_shifted(items, ids):
    answers = {"item": list(items), "annotator": ["ann"] * len(items),
               "label": ["a", "b", "a", "b", "b", "a"][: len(items)]}  # fmt: skip
    features = {"id": list(ids), "size": np.arange(float(len(ids))) + 0.5}
    for more in ({}, {"on_unmatched": "drop"}):
        if more and len(set(items) - set(ids)) == 0:
            continue
        with pytest.raises(TableError, match="counted from 0 and the other from 1") as caught:
            read_training(answers, features, **more)
        assert caught.value.settings == {"id": "row"}
    training = read_training(answers, features, id="row")
    assert training.rows.tolist() == list(range(len(items)))


def test_a_last_row_of_sums_among_features_is_no_item(tmp_path):
    known = {"item": ["p", "q", "r"], "label": ["cat", "dog", "dog"]}
    above = "item,a,b\np,1.5,0\nq,2,3\nr,0.25,-1\n"
    path = tmp_path / "features.csv"
    path.write_text(f"{above}Total:,3.75,2\n")
    with pytest.raises(TableError, match=r"row 4 on line 5\) is called 'Total:'.*; delete it"):
        read_training(known, path)
    path.write_text(f"{above}total eclipse,3.75,2\n")
    assert len(read_training(known, path).X) == 4


@pytest.mark.parametrize(
    ("last", "words"),
    [("Total,3.75,2", "is called 'Total'"), ("Source: own survey,,", "says only 'Source: own")],
)
@pytest.mark.parametrize("read", ["at once", "in pieces", "new", "new in pieces"])
def test_a_last_row_that_is_no_item_is_refused_however_features_are_read(
    tmp_path, last, words, read
):
    known = {"item": ["p", "q", "r"], "label": ["cat", "dog", "dog"]}
    features = "item,a,b\np,1.5,0\nq,2,3\nr,0.25,-1\n"
    model = SoftNearestCentroid().fit(read_training(known, io.StringIO(features)).X, [0, 1, 1])
    path = tmp_path / "features.csv"

    def refused():
        if read == "at once":
            read_training(known, path, kinds="any")
        elif read == "in pieces":
            stream_training(known, path, kinds="any")
        elif read == "new":
            read_new(path, ["a", "b"], kinds="any")
        else:
            stream_predictions(model, path, tmp_path / "out.csv", piece_rows=3, names=["a", "b"])

    path.write_text(f"{features}s,2,2\nt,1,0\n")
    refused()  # which is all right
    (tmp_path / "out.csv").unlink(missing_ok=True)
    path.write_text(f"{features}s,2,2\nt,1,0\n{last}\n")
    with pytest.raises(TableError) as caught:
        refused()
    assert "the last one (row 6 on line 7)" in str(caught.value)
    assert words in str(caught.value)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pa.table])
def test_tables_in_memory_follow_the_same_rules(make):
    known = make({"item": ["p", "q", "r"], "label": ["cat", "dog", "dog"]})
    with pytest.raises(TableError, match="is called 'Total'"):
        read_training(known, make({"item": ["p", "q", "r", "Total"], "a": [1.0, 2.0, 4.0, 7.0]}))
    with pytest.raises(TableError, match="says only 'Source: own survey'"):
        read_features(make({"item": ["p", "q", "Source: own survey"], "a": [1.0, 2.0, None]}),
                      kinds="any")  # fmt: skip
    with pytest.raises(TableError, match="'gold' holds the classes themselves"):
        read_training(known, make({"item": ["q", "p", "r"], "a": [1.0, 2.0, 4.0],
                                   "gold": ["dog", "cat", "dog"]}), kinds="any")  # fmt: skip
    with pytest.raises(TableError, match="counted from 0 and the other from 1"):
        read_training(make({"item": [0, 1, 2], "label": ["cat", "dog", "dog"]}),
                      make({"id": [1, 2, 3], "a": [1.0, 2.0, 4.0]}))  # fmt: skip


@pytest.mark.parametrize("kinds", [None, "any", {"length": "number"}])
def test_plain_numbers_are_not_looked_at_again_in_every_piece(tmp_path, monkeypatch, kinds):
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = np.array([[0.1, 3.0], [2.5, -1.0], [7.25, 4.0]], dtype=np.float32)
    pq.write_table(
        pa.table({"length": values[:, 0], "width": values[:, 1]}), tmp_path / "x.parquet"
    )
    known = {"label": ["elm", "oak", "ash"]}
    training = stream_training(known, tmp_path / "x.parquet", kinds=kinds)

    def look_again(*given, **options):
        raise AssertionError("each piece is looked at as if it were unknown")

    monkeypatch.setattr("plausible.io.streamed.read_with_id", look_again)
    ((X, labels),) = training.reader.raw_chunks(0, 3)
    np.testing.assert_array_equal(np.asarray(X), values)
    assert np.asarray(X).dtype == (np.float32 if kinds is None else np.float64)
    assert labels.crisp().tolist() == known["label"]


@pytest.mark.parametrize("read", [read_training, stream_training])
@pytest.mark.parametrize(("classes", "more"), [(["cat", "dog"], ["cat", ""]), ([0, 1], [0, 1])])
def test_labels_among_the_features_are_refused_with_what_leaves_them_out(
    tmp_path, classes, more, read
):
    known = {"item": ["p", "q", "r", "s"], "label": [*classes, *classes]}
    path = tmp_path / "features.csv"
    cells = [*classes, *more]
    path.write_text("item,a,Label\n" + "".join(
        f"{item},{n},{cell}\n" for n, (item, cell) in enumerate(zip("pqrs", cells, strict=True))
    ))  # fmt: skip
    with pytest.raises(TableError, match="'Label' holds the classes themselves") as caught:
        read(known, path, kinds="any")
    found = read(known, path, kinds=caught.value.settings["kinds"])
    assert "Label" not in found.names or found.kinds["Label"] == "left out"
    path.write_text(path.read_text().replace("Label", "seen before"))
    assert "seen before" in read(known, path, kinds="any").names
