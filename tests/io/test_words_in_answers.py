"""Words in answers that are no classes: strokes, words of doubt, and votes in one cell."""

import io

import pytest

from plausible.io import TableError, read_annotations, read_known

CLASSES = ("oak", "elm", "ash")
SAID = [(f"i{k}", who, CLASSES[(k + (who == "cy")) % 3]) for k in range(6)
        for who in ("ann", "bob", "cy")]  # fmt: skip


def table(change):
    """A table of answers, each in another spelling."""
    rows = [f"{item},{who},{change(k, said)}\n" for k, (item, who, said) in enumerate(SAID)]
    return io.StringIO("".join(["item,annotator,label\n", *rows]))


def changes_told(answers):
    """What the notes say that answers may mean."""
    return {name: meant for note in answers.notes
            for name, meant in note.settings.get("map", {}).items()}  # fmt: skip


@pytest.mark.parametrize(
    "stroke", ["-", "--", "---", "\u2013", "\u2014", "\u2212", "...", "\u2026", "_", "."]
)
def test_strokes_and_dots_are_told_with_what_makes_nothing_of_them(stroke):
    answers = read_annotations(table(lambda k, said: said if k % 5 else stroke))
    assert changes_told(answers) == {stroke: "cannot tell"}
    mended = read_annotations(
        table(lambda k, said: said if k % 5 else stroke), map=changes_told(answers)
    )
    assert sorted(mended.classes) == sorted(CLASSES)


@pytest.mark.parametrize("doubt", ["cf. {}", "aff. {}", "prob. {}", "poss {}", "?{}", "? {}"])
def test_words_of_doubt_before_a_class_are_told(doubt):
    answers = read_annotations(table(lambda k, said: said if k % 4 else doubt.format(said)))
    assert changes_told(answers) == {doubt.format(name): name for name in CLASSES}


def test_shares_behind_a_class_that_is_never_alone_are_told():
    answers = read_annotations(table(lambda k, said: f"{said} ({(60, 80)[k % 2]} %)"))
    told = changes_told(answers)
    assert len(told) == 5
    assert all(name.startswith(meant + " (") for name, meant in told.items())


def test_one_name_with_a_share_is_a_class():
    names = {"oak": "oak", "elm": "at least 50 %", "ash": "ash"}
    assert changes_told(read_annotations(table(lambda k, said: names[said]))) == {}


@pytest.mark.parametrize("votes", [
    ("3 oak, 1 elm", "4 elm", "2 ash, 2 elm"), ("oak:3; elm:1", "elm:4", "ash:2; elm:2"),
    ("oak (3), elm (1)", "elm (4)", "ash (2), elm (2)"),
])  # fmt: skip
def test_votes_in_one_cell_are_refused_also_where_all_agree(votes):
    rows = "".join(f'i{k},"{votes[k % 3]}"\n' for k in range(9))
    with pytest.raises(TableError, match="looks like votes or shares of several classes"):
        read_known(io.StringIO("item,label\n" + rows))


@pytest.mark.parametrize(
    "word", ["nie wiem", "Vet inte", "no se", "weiß ich nicht", "не знаю", "不知道", "모름"]
)
def test_words_of_not_knowing_in_more_languages_are_no_classes(word):
    answers = read_annotations(table(lambda k, said: said if k % 5 else word))
    assert sorted(answers.classes) == sorted(CLASSES)
    assert changes_told(answers) == {word: word}


@pytest.mark.parametrize(
    "gap", ["#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "\\N", "<NA>", "(leer)", "nil"]
)
def test_gaps_as_programs_write_them_are_told(gap):
    answers = read_annotations(table(lambda k, said: said if k % 5 else gap))
    assert changes_told(answers) == {gap: "cannot tell"}


@pytest.mark.parametrize("both", ["1 star|2 stars", "2 stars|3 stars", "10 mm|12 mm"])
def test_classes_that_begin_with_a_number_are_no_votes(both):
    names = {"oak": both, "elm": both.split("|")[0], "ash": both.split("|")[1]}
    answers = read_annotations(table(lambda k, said: names[said]))
    assert sorted(answers.classes) == sorted(both.split("|"))


@pytest.mark.parametrize("word", ["?", "unknown", "not sure", "Cannot tell"])
@pytest.mark.parametrize("cell", ["oak|{}", "{}|oak", '"[""oak"", ""{}""]"'])
def test_a_class_or_not_knowing_leaves_all_classes_open(cell, word):
    answers = read_annotations(table(lambda k, said: said if k else cell.format(word)))
    assert sorted(answers.classes) == sorted(CLASSES)
    assert any("cannot tell" in note and word in note for note in answers.notes)
    labels = answers.pool(doubt=0.1, dependence="none")
    without = read_annotations(table(lambda k, said: said if k else "cannot tell"))
    assert (labels.contour == without.pool(doubt=0.1, dependence="none").contour).all()


def test_a_word_of_not_knowing_that_is_given_as_a_class_is_one():
    classes = [*CLASSES, "unknown"]
    answers = read_annotations(table(lambda k, said: said if k else "oak|unknown"), classes=classes)
    assert sorted(answers.classes) == sorted(classes)
