"""Labels whose items no name tells go to the rows that hold the same names, and never elsewhere."""

import csv

import numpy as np
import pytest

from plausible.errors import InputError
from plausible.io import read_training, stream_training

CLASSES = np.array(["oak", "ash", "elm"])
N_ROWS = 12
NUMBERS = np.random.default_rng(0).permutation(N_ROWS) * 7 + 3  # of the trees, in no order
COUNT = np.arange(1, N_ROWS + 1)
SHUFFLED = np.random.default_rng(1).permutation(N_ROWS)  # rows of features as labels come
TEXTS = np.array([f"t{number}" for number in NUMBERS])
TRUTH = CLASSES[np.arange(N_ROWS) % 3]


def written(path, columns):
    with path.open("w", newline="") as file:
        rows = zip(*columns.values(), strict=True)
        csv.writer(file).writerows([list(columns), *rows])
    return path


@pytest.fixture(params=["memory", "pieces"])
def read(request, tmp_path, monkeypatch):
    """Reads two tables; gives the class of each row, the features, and the notes."""

    def both(labels, features, **options):
        paths = written(tmp_path / "l.csv", labels), written(tmp_path / "f.csv", features)
        if request.param == "memory":
            found = read_training(*paths, kinds="any", **options)
            return found.labels, found.names, found.notes
        monkeypatch.setattr("plausible.io.pieces.LARGE", 0)
        monkeypatch.setattr("plausible.io.pieces.MANY_ITEMS", 0)
        found = stream_training(*paths, kinds="any", **options)
        (labels,) = [labels for _, labels, _ in found.reader]
        return labels, found.names, found.notes

    return both


def labels_of(name, numbers, rows=SHUFFLED):
    return {name: np.asarray(numbers)[rows], "label": TRUTH[rows]}


def features_of(name, numbers):
    return {name: numbers, "width": np.arange(N_ROWS) * 0.5, "height": np.arange(N_ROWS) % 5 + 0.25}


@pytest.mark.parametrize(
    ("own", "other", "numbers"),
    [
        ("tree", "tree", NUMBERS),
        ("tree", "tree", COUNT),
        ("Tree ", "tree", NUMBERS),
        ("tree", "tree", TEXTS),
        ("tree", "stem", TEXTS),
    ],
)
def test_labels_go_to_the_rows_with_their_names(read, own, other, numbers):
    labels, names, notes = read(labels_of(own, numbers), features_of(other, numbers))
    assert names == ["width", "height"]
    assert labels.classes[labels.contour.argmax(axis=1)].tolist() == TRUTH.tolist()
    assert labels.is_hard.all()
    assert any(f"matched by '{other}'" in note for note in notes)


def test_some_items_may_have_no_label(read):
    rows = SHUFFLED[:8]
    labels, _, _ = read(labels_of("tree", NUMBERS, rows), features_of("tree", NUMBERS))
    assert np.flatnonzero(labels.is_hard).tolist() == sorted(rows)
    assert labels.classes[labels.contour.argmax(axis=1)][rows].tolist() == TRUTH[rows].tolist()


def test_numbers_that_count_the_rows_of_both_tables_are_no_feature(read):
    beside = labels_of("tree", COUNT, np.arange(N_ROWS))
    assert read(beside, features_of("tree", COUNT))[1] == ["width", "height"]


def test_numbers_that_are_measured_stay_features(read):
    beside = labels_of("price", NUMBERS, np.arange(N_ROWS))
    _, names, notes = read(beside, features_of("price", NUMBERS))
    assert names == ["price", "width", "height"]
    assert any("matched in order" in note for note in notes)
    beside = labels_of("age", COUNT % 4, np.arange(N_ROWS))
    assert read(beside, features_of("age", COUNT % 4))[1] == ["age", "width", "height"]


def test_numbers_called_otherwise_may_or_may_not_be_those_of_rows(read):
    tables = labels_of("tree", NUMBERS), features_of("stem", NUMBERS)
    with pytest.raises(InputError) as caught:
        read(*tables)
    assert "'stem' there holds the same numbers in another order" in str(caught.value)
    assert caught.value.settings == {"names": {"item": "tree"}, "id": "row"}
    labels, names, _ = read(*tables, names={"item": "tree"})
    assert names == ["width", "height"]
    assert labels.classes[labels.contour.argmax(axis=1)].tolist() == TRUTH.tolist()
    labels, names, _ = read(*tables, id="row")
    assert names == ["stem", "width", "height"]
    assert labels.classes[labels.contour.argmax(axis=1)].tolist() == TRUTH[SHUFFLED].tolist()


def test_columns_that_tell_different_rows_are_refused(read):
    labels = labels_of("tree", NUMBERS) | {"plot": np.roll(COUNT, 3)[SHUFFLED]}
    features = features_of("tree", NUMBERS) | {"plot": COUNT}
    with pytest.raises(InputError, match=r"2 may, and tell different rows \('tree', 'plot'\)"):
        read(labels, features)
    assert read(labels, features, names={"item": "plot"})[0].is_hard.all()


PATIENT, VISIT = COUNT // 2, COUNT % 2
ONLY_TOLD = {  # which name no items by themselves, or are written in two ways
    "two columns together": ({"patient": PATIENT, "visit": VISIT},) * 2,
    "with zeros": ({"tree": [f"{n:05}" for n in NUMBERS]}, {"tree": NUMBERS}),
    "with a fraction": ({"tree": NUMBERS + 0.0}, {"tree": NUMBERS}),
    "fractions": ({"length": NUMBERS / 4},) * 2,
    "days": ({"day": [f"2024-01-{n % 28 + 1:02}" for n in range(N_ROWS)]},) * 2,
}


@pytest.mark.parametrize("called", ONLY_TOLD)
def test_rows_in_another_order_are_refused(read, called):
    beside, own = ONLY_TOLD[called]
    labels = {name: np.asarray(held)[SHUFFLED] for name, held in beside.items()}
    labels["label"] = TRUTH[SHUFFLED]
    features = features_of(*next(iter(own.items()))) | own
    with pytest.raises(InputError, match="holds the same values there in another order") as caught:
        read(labels, features)
    name = next(iter(beside))
    if "tree" in beside:
        assert caught.value.settings["names"] == {"item": "tree"}
        found = read(labels, features, names={"item": name})[0]
        assert found.classes[found.contour.argmax(axis=1)].tolist() == TRUTH.tolist()
    in_order = {one: np.asarray(held) for one, held in beside.items()} | {"label": TRUTH}
    found = read(in_order, features)[0]
    assert found.classes[found.contour.argmax(axis=1)].tolist() == TRUTH.tolist()
    other = in_order | {name: np.asarray(beside[name])[:1].repeat(N_ROWS)}
    assert read(other, features)[0].is_hard.all()  # of another meaning
