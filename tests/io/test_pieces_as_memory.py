"""What is understood of tables read in pieces is what is understood of them in memory."""

import io

import pytest

from plausible.io import (
    read_new,
    read_training,
    stream_predictions,
    stream_training,
    write_predictions,
)
from plausible.io.different_names import check_different
from plausible.models import SoftNearestCentroid
from plausible.tables import TableError, open_table

N = 24
LATE = {  # what the first rows hold, what the last ones do
    "codes": (["12e3", "130e2"], ["12e3"]),
    "numbers before a word": (["1", "2"], ["other"]),
    "truth values before a word": (["TRUE", "FALSE"], ["maybe"]),
    "zeros before a number": (["01", "02"], ["3"]),
    "another capital": (["oak", "elm"], ["Oak"]),
    "words of not knowing": (["oak", "elm"], ["not sure"]),
    "one of two": (["oak", "elm"], ["oak/elm"]),
    "nothing": (["oak", "elm"], [""]),
    "classes one after the other": (["oak"], ["elm"]),
}


@pytest.fixture
def in_pieces(monkeypatch):
    for name, value in {
        "tables.text.KEPT": 0, "io.pieces.MANY_ITEMS": 0, "io.pieces.LARGE": 0,
        "io.large_known.PIECE_ROWS": 5,
    }.items():  # fmt: skip
        monkeypatch.setattr(f"plausible.{name}", value)


def outcome(read, *given, **options):
    """Classes, what is known of each row, and notes on words; or the error."""
    try:
        found = read(*given, **options)
    except TableError as error:
        return str(error)
    labels = found.labels if read is read_training else found.labels[:]
    return found.labels.classes.tolist(), labels.contour.tolist(), [
        str(note) for note in found.known.notes
    ]  # fmt: skip


@pytest.mark.parametrize("status", [None, "review_status"])
@pytest.mark.parametrize("case", LATE.values(), ids=list(LATE))
def test_labels_are_understood_from_all_rows(tmp_path, request, case, status):
    first, last = case
    words = [first[k % len(first)] if k < 16 else last[0] for k in range(N)]
    states = ["rejected" if k == 3 else "ok" for k in range(N)]
    lines = [f"i{k},{words[k]},{states[k]}\n" for k in range(N)]
    (tmp_path / "labels.csv").write_text(f"item,label,{status or 'remark'}\n" + "".join(lines))
    rows = [f"i{k},{k / 2}\n" for k in range(N)]
    (tmp_path / "features.csv").write_text("item,size\n" + "".join(rows))
    given = tmp_path / "labels.csv", tmp_path / "features.csv"
    here = outcome(read_training, *given)
    request.getfixturevalue("in_pieces")
    assert outcome(stream_training, *given) == here
    assert "another capital" in request.node.name or any(
        (status or "remark") in note for note in here[2]
    )


SURE = {  # how sure labels are: most, some
    "percent": (["80", "95"], ["0.5"]),
    "two scales": (["80", "95"], ["0.5", "0.7", "0.9"]),
    "from 0 to 1": (["0.5", "0.25"], ["1"]),
    "ratings": (["4", "5"], ["1"]),
    "words": (["high"], ["low"]),
    "signs": (["80 %", "70%"], ["0.5"]),
    "decimal commas": (["80,5", "70,5"], ["1"]),
    "too much": (["80", "70"], ["170"]),
}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("case", SURE.values(), ids=list(SURE))
def test_the_scale_of_confidence_is_judged_from_all_rows(tmp_path, request, case, turned):
    most, some = case
    sure = [*(most[k % len(most)] for k in range(N - 6)), *(some[k % len(some)] for k in range(6))]
    if "percent" in request.node.name:  # of which a few may lie below 1
        sure[: N - 6] = [str(60 + k) for k in range(N - 6)]
        sure += [str(30 + k) for k in range(20)]
    sure = sure[::-1] if turned else sure
    lines = [f'i{k},{"oak" if k % 2 else "elm"},"{cell}"\n' for k, cell in enumerate(sure)]
    (tmp_path / "labels.csv").write_text("item,label,confidence\n" + "".join(lines))
    rows = [f"i{k},{k / 2}\n" for k in range(len(sure))]
    (tmp_path / "features.csv").write_text("item,size\n" + "".join(rows))
    given = tmp_path / "labels.csv", tmp_path / "features.csv"
    here = outcome(read_training, *given)
    request.getfixturevalue("in_pieces")
    there = outcome(stream_training, *given)
    if "too much" in request.node.name:  # of which a piece names its own rows
        here, there = here[:28], there[:28]
    assert there == here


@pytest.mark.parametrize("read", [read_training, stream_training])
@pytest.mark.parametrize("order", [False, True])
def test_a_feature_that_repeats_labels_is_refused(tmp_path, read, order):
    known = {"label": ["oak", "elm", "oak"] * 8} | ({} if order else {"item": list(range(N))})
    rows = [f"{k + 40},{k},{('oak', 'elm', 'oak')[k % 3]}\n" for k in range(N)]
    path = tmp_path / "features.csv"
    path.write_text("size,item,tree\n" + "".join(rows) + ("" if order else "7,99,oak\n"))
    with pytest.raises(TableError, match="'tree' holds the classes themselves") as caught:
        read(known, path, kinds="any", form="labels")
    assert read(known, path, kinds=caught.value.settings["kinds"], form="labels").names == ["size"]
    path.write_text(path.read_text().replace("oak", "x").replace("x", "oak", 4))
    assert "tree" in read(known, path, kinds="any", form="labels").names


@pytest.mark.parametrize("most", [1 << 24, 3])
@pytest.mark.parametrize("names", ["kmpa", "3 1 7 9"])
def test_rows_called_alike_are_found_a_share_at_a_time(tmp_path, monkeypatch, most, names):
    monkeypatch.setattr("plausible.io.different_names.MOST_KEYS", most)
    given = names.split() if " " in names else list(names)
    text = "name\n" + "".join(f"{name}{k}\n" for k in range(5) for name in given)
    check_different(open_table(io.StringIO(text)), "name")
    with pytest.raises(TableError, match=rf"repeats '?{given[1]}4'? .* 2 rows \(row 18 .*, row 21"):
        check_different(open_table(io.StringIO(f"{text}{given[1]}4\n")), "name")


@pytest.mark.parametrize("column", ["item", "photo_id"])
def test_names_of_new_items_have_to_differ_in_all_pieces(tmp_path, monkeypatch, column):
    """A column that is called item is refused if it repeats names, and photo_id is none then."""
    monkeypatch.setattr("os.fsync", lambda file: None)
    monkeypatch.setattr("plausible.tables.text.KEPT", 0)
    model = SoftNearestCentroid().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    path = tmp_path / "new.csv"
    path.write_text(f"size,{column}\n0,p1\n1,p2\n4,p3\n6,p1\n5,p5\n")
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"

    def in_memory():
        write_predictions(model, read_new(path, ["size"]), here, names=["size"])

    def in_parts():
        stream_predictions(model, path, there, piece_rows=2, names=["size"])

    if column == "item":
        for decide in (in_memory, in_parts):
            with pytest.raises(TableError, match=r"repeats 'p1' .* 2 rows \(row 1 .*, row 4 "):
                decide()
        return
    in_memory()
    in_parts()
    assert there.read_text().split() == here.read_text().split()
