"""Tables that can be read but do not say what they should: which cell, and what to do."""

import pytest

from support.refusals import BAD_DATA, refused, swapped


def rewrite(folder, name, old, new, target="bad.csv"):
    """A copy of a file in which one thing is different."""
    text = (folder / name).read_text()
    assert old in text
    (folder / target).write_text(text.replace(old, new, 1))
    return target


def third_cell(folder, name):
    """A number of the third row, which stands on line 4."""
    return (folder / name).read_text().splitlines()[3].split(",")[1]


FEATURES = [
    ("fit", "features"),
    ("predict", "new"),
    ("evaluate", "features"),
    ("report", "features"),
]


@pytest.mark.parametrize(("verb", "place"), FEATURES)
@pytest.mark.parametrize(
    ("cell", "says"),
    [("NaN", "is empty"), ("", "is empty"), ("-inf", "is infinite"),
     ("tall", "is not (")],
)  # fmt: skip
def test_cells_that_are_no_numbers(plausible, folder, verb, place, cell, says):
    name = f"{place}.csv"
    bad = rewrite(folder, name, third_cell(folder, name), cell)
    if verb == "fit" and cell in ("NaN", ""):  # which are filled
        done = plausible(*swapped(verb, features=bad), "--json")
        assert done.code == 0
        assert any("length: 1 empty cell filled" in note for note in done.json["notes"])
        words = [*swapped(verb, features=bad), "--prepare", "never"]
        told = ["'bad.csv'", says, "say --prepare auto to have them prepared"]
        refused(plausible, folder, words, BAD_DATA, told)
        return
    if verb == "fit" and cell == "tall":
        says = "--missing tall"
    told = refused(plausible, folder, swapped(verb, **{place: bad}), BAD_DATA,
                   ["'bad.csv'", says, "row 3 on line 4, column 'length'"])  # fmt: skip
    assert "columns=" not in told


@pytest.mark.parametrize(("verb", "place"), FEATURES)
def test_repeated_and_missing_names_of_rows(plausible, folder, verb, place):
    lines = (folder / f"{place}.csv").read_text().splitlines()
    (folder / "bad.csv").write_text("\n".join([*lines, lines[1]]) + "\n")
    last = len(lines)
    says = ["'item' of 'bad.csv'", "row 1 on line 2", f"row {last} on line {last + 1}"]
    refused(plausible, folder, swapped(verb, **{place: "bad.csv"}), BAD_DATA, says)
    lines[2] = "," + lines[2].partition(",")[2]
    (folder / "bad.csv").write_text("\n".join(lines) + "\n")
    refused(plausible, folder, swapped(verb, **{place: "bad.csv"}), BAD_DATA, ["row 2 on line 3"])


@pytest.mark.parametrize("verb", ["predict", "evaluate", "report"])
def test_features_that_the_model_has_not_learned(plausible, folder, verb):
    place = "new" if verb == "predict" else "features"
    bad = rewrite(folder, f"{place}.csv", "width", "height")
    refused(plausible, folder, swapped(verb, **{place: bad}), BAD_DATA,
            ["'bad.csv'", "'width'", "'height'"])  # fmt: skip


def test_another_number_of_features(plausible, folder):
    for columns, says in (("item,a\nv,1\n", "has 1 (a)"), ("a,b,c\n1,2,3\n", "has 3 (a, b, c)")):
        (folder / "bad.csv").write_text(columns)
        refused(plausible, folder, swapped("predict", model="nameless.skops", new="bad.csv"),
                BAD_DATA, ["'bad.csv' should have the 2 features", says])  # fmt: skip


@pytest.mark.parametrize("verb", ["fit", "evaluate", "report"])
def test_items_without_features(plausible, folder, verb):
    lines = (folder / "features.csv").read_text().splitlines()
    (folder / "few.csv").write_text("\n".join(lines[:-10]) + "\n")
    n_lost = 10 if verb == "evaluate" else 4
    refused(plausible, folder, swapped(verb, features="few.csv"), BAD_DATA,
            ["'few.csv'", f"{n_lost} items of", "t14", "add the rows"])  # fmt: skip
    lines[0] = lines[0].replace("item", "tree")
    (folder / "few.csv").write_text("\n".join(lines[:-10]) + "\n")
    refused(plausible, folder, swapped(verb, features="few.csv"), BAD_DATA,
            ["'few.csv'", "matched by 'tree'", "--on-unmatched drop"])  # fmt: skip


@pytest.mark.parametrize("verb", ["fit", "evaluate", "report"])
def test_wrong_columns(plausible, folder, verb):
    words = swapped(verb)
    refused(plausible, folder, [*words, "--id", "tree"], BAD_DATA, ["'features.csv'", "'tree'"])
    if verb == "fit":
        words += ["--columns", "length,hight"]
        refused(plausible, folder, words, BAD_DATA, ["'features.csv'", "'hight'", "'width'"])


ANSWERS = [("pool", "answers"), ("fit", "answers"), ("report", "answers")]
FAULTS = {
    "doubt too large": (("0.", "1.5"), ["Doubt should lie in [0, 1]", "row 1 on line 2"]),
    "no item": (('"t1"', ""), ["'item'", "row 2 on line 3"]),
    "no annotator": (('"ann"', ""), ["'annotator'", "row 1 on line 2"]),
    "header twice": (("doubt", "label"), ["'label'", "line 1"]),
    "lost column": (('"annotator"', '"city"'), ["'label'", "'city'"]),
}


@pytest.mark.parametrize(("verb", "place"), ANSWERS)
@pytest.mark.parametrize("fault", FAULTS)
def test_answers_that_are_none(plausible, folder, verb, place, fault):
    (old, new), says = FAULTS[fault]
    if fault == "doubt too large":
        old = (folder / "answers.csv").read_text().splitlines()[1].split(",")[3]
    bad = rewrite(folder, "answers.csv", old, new)
    if fault == "lost column":
        says = ["'city' looks like one", "--names annotator=city", "--ignore city"]
    refused(plausible, folder, swapped(verb, answers=bad), BAD_DATA, ["'bad.csv'", *says])


@pytest.mark.parametrize("verb", ["pool", "fit", "report"])
def test_features_are_no_answers(plausible, folder, verb):
    for name in ("features.parquet", "new.csv"):
        told = refused(plausible, folder, swapped(verb, answers=name), BAD_DATA,
                       [f"{name!r}", "'length', 'width' hold fractions"])  # fmt: skip
        assert "say --kind if these are degrees" in told
        assert "--kind" in told
        assert "--names" in told


@pytest.mark.parametrize("verb", ["pool", "fit", "report"])
def test_labels_that_are_not_among_the_classes(plausible, folder, verb):
    words = [*swapped(verb), "--classes", "ash,elm"]
    refused(plausible, folder, words, BAD_DATA, ["'answers.csv'", "but 'oak'", "row 3 on line 4"])


def test_truth_that_the_model_does_not_know(plausible, folder):
    text = (folder / "truth.csv").read_text()
    (folder / "truth.csv").write_text(text.replace("oak", "yew"))
    says = ["'truth.csv'", "'yew'", "row 3 on line 4", "['ash', 'elm', 'oak']"]
    refused(plausible, folder, swapped("evaluate"), BAD_DATA, says)
    words = [*swapped("report"), "--test", "truth.csv", "features.csv"]
    refused(plausible, folder, words, BAD_DATA, says)


def test_sure_answers_that_contradict_each_other(plausible, folder):
    (folder / "sure.csv").write_text("item,annotator,label\nt1,a,ash\nt1,b,elm\nt2,a,elm\n")
    words = [*swapped("pool", answers="sure.csv"), "--doubt", "0"]
    refused(plausible, folder, words, BAD_DATA, ["'sure.csv'", "'t1'", "--on-conflict unknown"])
    done = plausible(*words, "--on-conflict", "unknown", "--json")
    assert (done.code, done.json["n_unknown"], done.json["worst_item"]) == (0, 1, "t1")


def test_labels_cannot_be_pooled_nor_people_learned(plausible, folder):
    words = [*swapped("pool", answers="labels.csv"), "--doubt", "0.2"]
    refused(plausible, folder, words, BAD_DATA, ["'labels.csv' holds labels"])
    words = [*swapped("fit", answers="labels.csv"), "--model", "joint"]
    refused(plausible, folder, words, BAD_DATA, ["answers of several people", "--model"])


@pytest.mark.parametrize("setting", ["tol=abc", "max_iter=0", "alpha=-1", "criterion=best"])
def test_parameters_that_a_model_refuses(plausible, folder, setting):
    words = [*swapped("fit"), "--set", setting]
    name, _, value = setting.partition("=")
    refused(plausible, folder, words, 2, [f"--set '{setting}'", f"{name} should be", value])


@pytest.mark.parametrize(("form", "content"), [
    ("label-studio", "item,label\n"), ("label-studio", '[{"id": 1}]'), ("label-studio", "[]"),
    ("doccano", '{"id": 1}\n'), ("doccano", "\n"), ("doccano", "\x89PNG"),
])  # fmt: skip
def test_exports_that_are_none(plausible, folder, form, content):
    (folder / "export.json").write_text(content)
    words = [*swapped("pool", answers="export.json"), "--form", form]
    told = refused(plausible, folder, words, BAD_DATA, ["export"])
    assert "fault of plausible" not in told
    refused(plausible, folder, [*words, "--kind", "count"], BAD_DATA, ["leave it out"])
