"""Marks and numbers by class in rows that name a person: never answers to the first of them."""

import io

import pytest

from plausible.io import TableError, read_annotations, read_known

CLASSES = ("oak", "elm", "ash")
PEOPLE = ("ann", "bob", "cy")
SAID = [(f"i{k}", who, CLASSES[(k + (who == "cy")) % 3]) for k in range(9) for who in PEOPLE]


def table(head, cells, beside=""):
    """A row for each answer, with a cell for each class."""
    rows = [",".join([item, who, *cells(said), *([beside] if beside else [])])
            for item, who, said in SAID]  # fmt: skip
    names = ",".join([head, *CLASSES, *(["remark"] if beside else [])])
    return io.StringIO("\n".join([names, *rows, ""]))


def marks(yes, no):
    return lambda said: [yes if name == said else no for name in CLASSES]


def heard(answers):
    names = zip(answers.item, answers.annotator, answers.statement, strict=True)
    return [(str(answers.items[i]), str(answers.annotators[j]),
             *answers.classes[answers.contours[k] == 1].tolist()) for i, j, k in names]  # fmt: skip


def refused(source):
    with pytest.raises(TableError) as caught:
        read_annotations(source)
    return caught.value


@pytest.mark.parametrize("head", ["item,annotator", "instance_code,rater"])
def test_marks_by_class_among_other_columns_are_refused_with_what_reads_them(head):
    source = table(head, marks("1", "0"), "so")
    error = refused(source)
    assert "have a single 1 in most rows" in str(error)
    source.seek(0)
    assert heard(read_annotations(source, **error.settings)) == SAID


@pytest.mark.parametrize("mark", ["x", "X", "\u2713", "yes"])
def test_ticks_by_class_beside_people_are_no_answers(mark):
    error = refused(table("item,annotator", marks(mark, "")))
    assert f"have '{mark}' in some rows, as if it ticked the class" in str(error)


def test_marks_with_gaps_say_to_fill_these():
    error = refused(table("item,annotator", marks("1", "")))
    assert "write 0 into their empty cells, and say kind='set', if so" in str(error)
    mended = read_annotations(table("item,annotator", marks("1", "0")), kind="set")
    assert heard(mended) == SAID


@pytest.mark.parametrize("head", ["item,annotator", None])
def test_numbers_that_sum_to_100_are_percent_and_no_votes(head):
    if head is None:  # a row for each item
        rows = [f"i{k},{','.join(marks('80', '10')(CLASSES[k % 3]))}\n" for k in range(9)]
        source = io.StringIO("".join(["item,oak,elm,ash\n", *rows]))
    else:
        source = table(head, marks("80", "10"))
    error = refused(source)
    assert "sum to 100 in each row, as percent by class do" in str(error)
    shares = io.StringIO(source.getvalue().replace("80", "0.8").replace("10", "0.1"))
    assert len(read_known(shares, **error.settings).labels) == 9


def test_two_flags_of_answers_are_no_classes():
    rows = [f"{item},{who},{said},{int(k % 9 == 0)},{int(k % 7 == 0)}"
            for k, (item, who, said) in enumerate(SAID)]  # fmt: skip
    source = io.StringIO("\n".join(["item,annotator,said,late,odd", *rows, ""]))
    assert refused(source).settings["names"] == {"label": "said"}
