"""Sets, masses and tables as they come from R and from papers, and files that are no tables."""

import io

import numpy as np
import pytest

from plausible.io import TableError, read_annotations, read_known, read_table, read_training

CLASSES = ("oak", "elm", "ash")
ROWS = [(f"i{k}", CLASSES[k % 3]) for k in range(12)]


def text(head, rows):
    return io.StringIO("".join(",".join(map(str, row)) + "\n" for row in (head, *rows)))


@pytest.mark.parametrize("form", ['"{{{}, {}}}"', "{{{};{}}}", "{{ {}|{} }}"])
def test_sets_in_braces_are_sets(form):
    rows = [(i, form.format("oak", "elm") if k == 4 else c) for k, (i, c) in enumerate(ROWS)]
    found = read_known(text(("item", "label"), rows)).labels
    assert found.classes.tolist() == sorted(CLASSES)
    assert found.contour[4].tolist() == [0, 1, 1]
    (one,) = read_annotations(text(("item", "rater", "label"), [(1, "ann", "{oak}")])).classes
    assert one == "oak"


def test_names_with_nothing_but_blanks_between_them_are_told():
    rows = [(i, "oak elm" if k == 4 else c) for k, (i, c) in enumerate(ROWS)]
    found = read_known(text(("item", "label"), rows))
    (change,) = [note.settings["map"] for note in found.notes if "of their own" in note]
    mended = read_known(text(("item", "label"), rows), map=change).labels
    assert mended.contour[4].tolist() == [0, 1, 1]
    others = [(i, "red oak" if k == 4 else c) for k, (i, c) in enumerate(ROWS)]
    notes = read_known(text(("item", "label"), others)).notes
    assert not any("of their own" in note for note in notes)


@pytest.mark.parametrize("names", [CLASSES, [f"{{{name}}}" for name in CLASSES]])
@pytest.mark.parametrize("frame", ["Omega", "\u03a9"])
def test_the_mass_of_omega_is_that_of_all_classes(names, frame):
    masses = [[0.75 if c == name else 0.0 for name in CLASSES] + [0.25] for _, c in ROWS]
    table = text(("item", *names, frame), [(i, *m) for (i, _), m in zip(ROWS, masses, strict=True)])
    with pytest.raises(TableError, match=f"say kind='mass' if '{frame}' is that of all") as caught:
        read_known(table)
    table.seek(0)
    found = read_known(table, kind=caught.value.settings["kind"]).labels
    assert set(found.classes) == set(CLASSES)
    wanted = [[1.0 if c == name else 0.25 for name in found.classes] for _, c in ROWS]
    np.testing.assert_allclose(found.contour, wanted)


def test_a_column_of_classes_beside_measurements_is_proposed():
    rows = [(k / 7, k / 3, c) for k, (_, c) in enumerate(ROWS)]
    table = text(("length", "width", "species"), rows)
    with pytest.raises(TableError, match="is this a table of features") as caught:
        read_known(table)
    assert caught.value.settings == {"names": {"label": "species"}, "kind": None}
    table.seek(0)
    found = read_known(table, names=caught.value.settings["names"])
    assert found.labels.classes.tolist() == sorted(CLASSES)


def test_commas_separate_thousands_where_numbers_have_points():
    def numbers(other):
        rows = [(f"i{k}", f'"{k + 1},{k}45"', other.format(k + 1)) for k in range(6)]
        return read_table(text(("item", "mass", "size"), rows)).column("mass").to_pylist()

    assert numbers("{}.25") == [1000.0 * (k + 1) + 100 * k + 45 for k in range(6)]
    for other in ("{}", "{}.250", '"{},5"'):  # which tell nothing, may be thousands, or are commas
        assert numbers(other)[0] == "1,045"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"RDX3\nX\n", "a workspace of R"),
        (b"X\n\0\0\0\3\0", "an object of R"),
        (b"$FL2@(#) SPSS DATA FILE", "a file of SPSS"),
        (b"<stata_dta><header>", "a file of Stata"),
        (b"@relation trees\n@data\n1,oak\n", "an ARFF file"),
        (b"PK\3\4" + b"\0" * 26 + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
         "a spreadsheet of LibreOffice; give"),
    ],
)  # fmt: skip
def test_files_of_other_programs_are_called_by_their_names(content, words, tmp_path):
    (tmp_path / "data.bin").write_bytes(content)
    with pytest.raises(TableError, match=f"begins like {words}"):
        read_table(tmp_path / "data.bin")


def test_a_mean_below_features_is_no_item():
    rows = [(i, k, k * k) for k, (i, _) in enumerate(ROWS)]
    features = text(("item", "size", "depth"), [*rows, ("Mittelwert", 5.5, 42.2)])
    with pytest.raises(TableError, match="is called 'Mittelwert'"):
        read_training(text(("item", "label"), ROWS), features)


def test_a_list_of_answers_is_rather_of_several_people():
    frame = {"item": ["a", "b"], "annotator": ["x", "y"], "label": [["oak", "elm"], ["oak"]]}
    with pytest.raises(TableError, match="answers of several people in a row for each"):
        read_annotations(frame)
