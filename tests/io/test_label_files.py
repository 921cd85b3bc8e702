"""Labels in files: the same after a round trip, to the last bit."""

import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible import belief
from plausible.belief import SparseMasses
from plausible.io import TableError, read_labels, read_table, write_labels, write_table
from plausible.io.label_names import read_name, read_names, split_set, write_name, write_set
from plausible.labels import ApproximationWarning, Labels

ENDINGS = ["csv", "tsv", "csv.gz", "jsonl", "parquet", "arrow"]
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
ODD = ["NA", "1", "007", "a|b", '"', "true", " x", "x ", "1e5", "null", "-", "a,b", "a\nb", "mass:"]
FRAMES = st.one_of(
    st.lists(NAMES | st.sampled_from(ODD), min_size=2, max_size=4, unique=True),
    st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=4, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=4, unique=True),
    st.just([False, True]),
)


def text(*lines: str) -> io.StringIO:
    return io.StringIO("\n".join(lines) + "\n")


@st.composite
def any_labels(draw) -> Labels:
    classes = draw(FRAMES)
    n, K = draw(st.integers(1, 5)), len(classes)
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    codes = rng.integers(K, size=n)
    crisp = Labels.from_sets(np.eye(K, dtype=bool)[codes], classes)
    masses = SparseMasses(rng.dirichlet(np.ones(3), n), rng.permutation(np.arange(1, 2**K))[:3], K)
    made = {
        "crisp": lambda: crisp,
        "doubt": lambda: crisp.discount(rng.uniform(size=n)),
        "twice": lambda: crisp.discount(rng.uniform(size=n)).discount(0.3),
        "sets": lambda: Labels.from_sets(
            rng.uniform(size=(n, K)) < 0.5 + np.eye(K)[codes], classes
        ),
        "plausibility": lambda: Labels.from_plausibility(rng.uniform(0.1, 1, (n, K)), classes),
        "probability": lambda: Labels.from_probability(rng.dirichlet(np.ones(K), n), classes),
        "masses": lambda: Labels.from_masses(masses, classes),
        "empty set": lambda: Labels.from_masses(
            belief.consonant(rng.uniform(0.1, 0.9, (n, K))), classes
        ),
        "conflict": lambda: Labels.from_masses(masses, classes, conflict=rng.uniform(size=n)),
        "unknown": lambda: Labels.unknown(n, classes),
        "mixed": lambda: Labels.concatenate(
            [Labels.from_masses(masses, classes), Labels.unknown(2, classes), crisp]
        ),
    }
    return made[draw(st.sampled_from(sorted(made)))]()


def assert_same(read: Labels, labels: Labels) -> None:
    assert read.classes.tolist() == labels.classes.tolist()
    assert read.classes.dtype.kind == labels.classes.dtype.kind
    assert read.contour.tobytes() == labels.contour.tobytes()
    assert read.has_masses == labels.has_masses
    if labels.has_masses:
        assert read.masses().focal_sets.tolist() == labels.masses().focal_sets.tolist()
        assert read.masses().values.tobytes() == labels.masses().values.tobytes()
    assert (read.conflict is None) == (labels.conflict is None)
    if labels.conflict is not None:
        assert read.conflict.tobytes() == labels.conflict.tobytes()
    assert read == labels


@given(any_labels(), st.sampled_from(ENDINGS))
def test_round_trips_keep_every_bit(tmp_path_factory, labels, ending):
    path = tmp_path_factory.mktemp("labels") / f"labels.{ending}"
    write_labels(labels, path)
    assert_same(read_labels(path), labels)


def test_more_classes_than_bits(tmp_path):
    labels = Labels.from_crisp(np.arange(100))
    write_labels(labels, tmp_path / "a.csv")
    assert_same(read_labels(tmp_path / "a.csv"), labels)


@given(FRAMES)
def test_names_are_read_as_they_were_written(names):
    written = [write_name(name) for name in names]
    assert [read_name(name) for name in written] == names
    assert [type(read_name(name)) for name in written] == [type(name) for name in names]
    assert read_names(split_set(write_set(names))) == names


def test_each_kind_of_file():
    rows = {
        "crisp": (text("label,x", "cat,1", ",2", "dog,3"), [[1, 0], [1, 1], [0, 1]]),
        "doubt": (text("label,doubt", "cat,0.5", ",", "dog,0"), [[1, 0.5], [1, 1], [0, 1]]),
        "sets": (text("set", "cat", "dog | cat", "dog"), [[1, 0], [1, 1], [0, 1]]),
        "possible": (
            text("possible:cat,possible:dog", "1,0", ",", "0,1"),
            [[1, 0], [1, 1], [0, 1]],
        ),
        "plausibility": (
            text("plausibility:cat,plausibility:dog", "1,.5", ","),
            [[1, 0.5], [1, 1]],
        ),
        "probability": (
            text("probability:cat,probability:dog", ".2,.8", ","),
            [[0.2, 0.8], [1, 1]],
        ),
        "masses": (text("mass:cat,mass:dog|cat", ".5,.5", ","), [[1, 0.5], [1, 1]]),
    }
    for kind, (source, contour) in rows.items():
        labels = read_labels(source)
        assert labels.classes.tolist() == ["cat", "dog"], kind
        np.testing.assert_array_equal(labels.contour, contour, err_msg=kind)


def test_files_of_others():
    table = {"item": [1, 2], "oak": [0.25, 1], "elm": [0.75, 0]}
    labels = read_labels(table, "probability", ["oak", "elm"])
    assert_same(labels, Labels.from_probability([[0.25, 0.75], [1, 0]], ["oak", "elm"]))
    labels = read_labels(table, "plausibility", ["oak", "elm"], classes=["elm", "oak"])
    assert labels.contour.tolist() == [[0.75, 0.25], [0, 1]]
    labels = read_labels({"said": ["a", None], "d": [0.5, 0.1]}, "doubt", "said", doubt="d",
                         classes=["b", "a"])  # fmt: skip
    assert labels.contour.tolist() == [[0.5, 1], [1, 1]]
    assert read_labels({"y": [3, 1, 3]}, "crisp", "y").classes.tolist() == [1, 3]
    assert read_labels(text("y", "01", "x"), "crisp", "y").classes.tolist() == ["01", "x"]
    masses = read_labels({"a|b": [0.4], "b": [0.6]}, "masses", classes=["b", "a"])
    assert masses.masses().to_dicts(["b", "a"]) == [{("b",): 0.6, ("b", "a"): 0.4}]


def test_what_masses_are_lost_is_known(tmp_path):
    labels = Labels.from_doubt(["a", "b"], 0.5)
    write_labels(labels, tmp_path / "a.csv", kind="plausibility")
    read = read_labels(tmp_path / "a.csv")
    assert not read.has_masses
    with pytest.warns(ApproximationWarning):
        read.masses()
    assert read_table(tmp_path / "a.csv").column_names == ["plausibility:a", "plausibility:b"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["set", "a", "a||b"], "'a||b' in 1 row (row 2 on line 3)"),
        (["set", "a", '"""a""b"'], "bar should follow"),
        (["label,x", "a,1", ",2"], "at least two classes"),
        (["label,doubt", "a,", "b,0"], "is empty in 1 row (row 1 on line 2)"),
        (["label,doubt", "a,2", "b,0"], "[0, 1], but does not in 1 row (row 1 on line 2)"),
        (["plausibility:a,plausibility:b", "1,1", "1,"], "empty in 1 row (row 2 on line 3)"),
        (["plausibility:a,plausibility:b", "0,0"], "possible class, but none is in 1 row (row 1"),
        (["mass:,mass:a", "1,0"], "possible class, but none is in 1 row (row 1"),
        (["plausibility:a,plausibility:b", "1,x"], "1 cell is not (row 1 on line 2, column"),
        (["probability:a,probability:b", "1,1"], "sum to one, but does not in 1 row (row 1"),
        (["possible:a,possible:b", "1,0.5"], "1 and others 0, but other numbers are in 1 row"),
        (["mass:a,mass:b", "0.5,0.2"], "sum to one"),
        (["plausibility:a,plausibility:b,mass:a", "1,1,1"], "masses beside them"),
        (["label,conflict", "a,x"], "Conflict"),
        (["mass:a||b", "1"], "hold labels, but"),
        (["plausibility:a,probability:b", "1,1"], "say kind='probability' to take"),
        (["x,y", "1,1"], "should say what kind"),
        (["label"], "at least one row"),
    ],
)
def test_errors_name_rows(rows, words):
    with pytest.raises(TableError, match=re.escape(words)) as caught:
        read_labels(text(*rows))
    assert "the file object" in str(caught.value)


def test_strange_classes_and_kinds(tmp_path):
    with pytest.raises(TableError, match=r"holds 'c' in 1 row \(row 2 on line 3\)"):
        read_labels(text("label", "a", "c"), classes=["a", "b"])
    with pytest.raises(ValueError, match="did you mean 'masses'"):
        read_labels(text("label", "a"), "mases")
    with pytest.raises(ValueError, match="say kind='doubt'"):
        read_labels({"y": ["a"], "d": [0.5]}, "crisp", "y", doubt="d")
    with pytest.raises(ValueError, match="should be sets"):
        write_labels(Labels.from_doubt(["a", "b"], 0.5), tmp_path / "a.csv", kind="sets")
    with pytest.raises(ValueError, match="should be probabilities"):
        write_labels(Labels.from_doubt(["a", "b"], 0.5), tmp_path / "a.csv", kind="probability")
    with pytest.raises(TypeError, match="should be Labels"):
        write_labels(["a"], tmp_path / "a.csv")
    write_table({"label": ["a|b", "c"]}, tmp_path / "a.csv")
    assert read_labels(tmp_path / "a.csv").classes.tolist() == ["a|b", "c"]


def test_labels_in_many_batches_with_gaps():
    """Cells of later batches are those of earlier ones; missing cells come in some only."""
    rng = np.random.default_rng(3)
    said = np.array(["wren", "finch", None, "robin"], dtype=object)[rng.integers(4, size=50_000)]
    said[:20_000] = "robin"
    doubt = rng.choice([0.0, 0.2, 1.0], len(said)).astype(object)
    doubt[said == None] = None  # noqa: E711
    labels = read_labels({"label": said.tolist(), "doubt": doubt.tolist()})
    classes = ["finch", "robin", "wren"]
    assert labels.classes.tolist() == classes
    expected = np.ones((len(said), 3))
    known = np.flatnonzero([one is not None for one in said])
    expected[known] = doubt[known].astype(float)[:, None]
    expected[known, [classes.index(one) for one in said[known]]] = 1.0
    np.testing.assert_allclose(labels.contour, expected, rtol=1e-15)
