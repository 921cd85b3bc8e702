import importlib
import importlib.resources
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from plausible import datasets, experiments
from plausible.datasets import crowds, real
from plausible.experiments import catalogue, come_2008, reproduction, stored
from plausible.experiments.common import silent
from plausible.experiments.comparison import Row, claim, count_verdicts, printed
from plausible.experiments.partial_labels import WANTED

NAMES = experiments.EXPERIMENTS
BY_NAME = {one.name: one for one in experiments.CATALOGUE}


# The catalogue.


def test_a_name_means_one_thing():
    papers = {one.paper for one in experiments.CATALOGUE}
    assert papers == set(experiments.PAPERS)
    assert len(set(NAMES)) == len(NAMES)
    assert len(catalogue.TITLES) == sum(len(one.figures) for one in experiments.CATALOGUE)
    assert len(set(catalogue.TITLES.values())) == len(catalogue.TITLES)
    assert not set(map(catalogue.plain, catalogue.TITLES)) & set(map(catalogue.plain, papers))
    for name in papers & set(NAMES):  # then the paper is all there is
        assert [one.name for one in experiments.select(name)] == [name]


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ("all", list(NAMES)),
        ("lu_2020", ["lu_2020_simulated", "lu_2020_real"]),
        ("lu-2020-table-1", ["lu_2020_real"]),
        ("LU-2020-Figure-2", ["lu_2020_simulated"]),
        ("crowds", ["crowds"]),
        (["denoeux-2015-faces", "come_2008", "come_2008"], ["come_2008", "denoeux_2015_lda"]),
        ([], []),
    ],
)
def test_selection(names, chosen):
    assert [one.name for one in experiments.select(names)] == chosen


def test_a_figure_is_listed_without_its_neighbors():
    assert catalogue.select_figures("lu-2020-figure-4") == ["lu-2020-figure-4"]
    rows = experiments.listing("lu-2020-figure-4")
    assert {row.figure for row in rows} == {"lu-2020-figure-4"}
    assert len(catalogue.select_figures("lu_2020")) == 7


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("come2008", "come_2008"),
        ("lu-2020-figure-7", "lu-2020-figure-6"),
        ("ecm", "denoeux_2015_ecm[?]"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(name, near):
    with pytest.raises(ValueError, match=f"Expected a paper.*but '{name}' is none.*{near}"):
        experiments.reproduce(["crowds", name])


def test_names_like_no_other_are_answered_with_the_experiments():
    with pytest.raises(ValueError, match="experiments are come_2008, denoeux_2015_lda, "):
        experiments.select("%%%")


def test_the_catalogue_knows_the_files_of_the_loaders():
    files = {name: set(one.files) for name, one in BY_NAME.items()}
    assert files["real_soft_labels"] == set(real.FILES.values())
    assert files["crowds"] == set(crowds.FILES.values())
    assert files["partial_labels"] == {f"partial_labels/{name}.npz" for name in WANTED}
    sets = {name: set(one.files.values()) for name, one in BY_NAME.items()}
    assert sets["lu_2020_real"] == set(datasets.IMAGE_NAMES)
    assert sets["real_assessments"] == set(datasets.GRADED_NAMES)
    assert sets["real_soft_labels"] == set(datasets.NAMES)
    assert sets["crowds"] == set(datasets.CROWD_NAMES)


# Results that come with the package.


@pytest.mark.parametrize("name", NAMES)
def test_full_results_are_part_of_the_package(name):
    file = importlib.resources.files("plausible.experiments") / "results" / f"{name}.json"
    text = file.read_text(encoding="utf-8")
    assert len(text) < 200_000
    results = json.loads(text, parse_constant=pytest.fail)  # neither NaN nor infinity
    assert results["experiment"] == name
    assert (results["quick"], results["seed"]) == (False, 0)
    assert stored.to_json(stored.rounded(results)) + "\n" == text


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_rows_and_every_row_a_figure(name):
    rows = experiments.listing(name)
    assert {row.figure for row in rows} == set(BY_NAME[name].figures)
    assert all(row.paper and row.ours for row in rows)
    assert len(rows) == len(stored.read_results(name)["claims"])


@pytest.mark.parametrize("name", NAMES)
def test_tables_can_be_made_from_what_is_stored(name):
    module = importlib.import_module(f"plausible.experiments.{name}")
    for table in module.tables(stored.read_results(name)).values():
        assert table.caption
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.head)}


def test_listing_needs_nothing_but_the_standard_library():
    code = """
import sys
from plausible.experiments import listing, overview
assert overview() and listing()
print([name for name in ("numpy", "sklearn", "matplotlib", "pandas") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_overview_has_what_is_required_first_and_counts_all():
    for line in experiments.overview():
        rows = experiments.listing(line.figure)
        first = sorted(rows, key=lambda row: not row.required)[0]
        assert line.ours == first.ours
        assert line.paper.endswith(first.paper.removeprefix("asked: "))
        word, _, count = line.verdict.partition("; ")
        assert first.verdict.startswith(word)
        held = sum(row.holds is True for row in rows)
        assert count.startswith(f"{held} of {len(rows)} hold" if len(rows) > 1 else "")
        assert ("open" in count) == (len(rows) > 1 and any(row.holds is None for row in rows))


# Rows.


def test_a_printed_number_holds_within_its_tolerance():
    assert printed("rate", 81.2, 80.8, 0.5, 1)["holds"]
    far = printed("rate", 81.2, 79.1, 0.5, 1)
    assert (far["paper"], far["ours"], far["difference"]) == ("81.2", "79.1", "-2.1")
    assert far["holds"] is False
    assert printed("rate", 0.5, 0.49999, 0.1, 2)["difference"] == "+0.00"


def test_claims_say_where_and_whether_anyone_said_so():
    assert claim("here: soft wins", None, "")["quantity"] == "here"
    assert claim("soft wins", None, "")["quantity"] == ""
    assert claim("here: soft wins", None, "", asked=True)["paper"] == "asked: soft wins"


def test_verdicts_are_counted():
    rows = [Row("f", "", "", "", "", holds) for holds in (True, True, False)]
    assert count_verdicts(rows) == "2 of 3 hold, 1 does not"
    assert count_verdicts(rows[:2]) == "2 of 2 hold"
    assert rows[2].verdict == "DOES NOT HOLD"
    assert Row("f", "", "", "", "", None, True).verdict == "open: intervals reach 0 (required)"


# Running.


def tiny(quick=False, seed=0, progress=silent):
    return come_2008.run(seed=seed, progress=progress, sizes=(300,), doubts=(0.2, 0.8), n_draws=2)


@pytest.fixture
def tiny_come(monkeypatch):
    stand_in = SimpleNamespace(run=tiny, tables=come_2008.tables, draw=come_2008.draw)
    modules = {"plausible.experiments.come_2008": stand_in}
    monkeypatch.setattr(reproduction, "import_module", modules.__getitem__)
    return stand_in


def test_a_run_leaves_results_and_a_picture(tmp_path, tiny_come):
    said, seen = [], []
    folder = tmp_path / "new" / "folder"
    (outcome,) = experiments.reproduce(
        "come_2008", seed=3, output=folder, progress=said.append, finished=seen.append
    )
    assert seen == [outcome]
    assert outcome.state == "run"
    assert "N = 300, doubt 0.8" in said[-1]
    assert sorted(file.name for file in folder.iterdir()) == ["come_2008.json", "come_2008.png"]
    results = json.loads(outcome.json.read_text())
    assert results["seed"] == 3
    assert results["settings"]["sizes"] == [300]
    assert {"plausible", "numpy", "python"} <= set(results["versions"])
    assert outcome.picture.read_bytes().startswith(b"\x89PNG")
    assert [row.ours for row in outcome.rows] == [one["ours"] for one in results["claims"]]
    error = results["errors"][0]["error"]["soft"]["mean"]
    assert outcome.tables["errors"].rows[0][-1].startswith(f"{100 * error:.2f} ±")
    assert experiments.listing("come_2008", folder) == outcome.rows
    assert experiments.listing("denoeux_2015", folder) == experiments.listing("denoeux_2015")
    mine, shipped = experiments.overview(["come_2008", "denoeux_2015_lda"], folder)
    assert (mine.run, shipped.run) == ("full run, seed 3", "full run, seed 0")
    assert mine.ours == outcome.rows[0].ours


def test_a_quick_run_may_leave_figures_out_and_says_so(tmp_path):
    results = stored.read_results("grandvalet_2002")
    few = [one for one in results["claims"] if one["figure"] != "grandvalet-2002-figure-2"]
    quick = results | {"claims": few, "quick": True, "seed": 5}
    stored.write_json(quick, tmp_path / "grandvalet_2002.json")
    lines = experiments.overview("grandvalet_2002", tmp_path)
    assert [line.run for line in lines] == ["quick run, seed 5"] * 3
    assert lines[2].ours == "nothing to compare"
    assert lines[0].ours != "nothing to compare"


def test_what_was_never_run_says_so(monkeypatch):
    monkeypatch.setattr(reproduction, "read_results", lambda name, folder: None)
    assert experiments.listing() == []
    assert {line.run for line in experiments.overview()} == {"not run yet"}


def test_without_matplotlib_results_still_come(tmp_path, monkeypatch, tiny_come):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    (outcome,) = experiments.reproduce("come_2008", output=tmp_path)
    assert outcome.state == "run"
    assert outcome.picture is None
    assert "matplotlib is not installed" in outcome.message
    assert [file.name for file in tmp_path.iterdir()] == ["come_2008.json"]


def test_a_failure_leaves_old_results_and_goes_on(tmp_path, monkeypatch, tiny_come):
    (tmp_path / "come_2008.json").write_text("old")
    said = []
    bad = tiny() | {"settings": {"share": float("nan")}}
    tiny_come.run = lambda **options: bad
    other = tiny_come.__class__(run=lambda **options: 1 / 0, tables=None, draw=None)
    modules = {
        "plausible.experiments.come_2008": tiny_come,
        "plausible.experiments.denoeux_2015_lda": other,
    }
    monkeypatch.setattr(reproduction, "import_module", modules.__getitem__)
    names = ["come_2008", "denoeux_2015_lda"]
    first, second = experiments.reproduce(names, output=tmp_path, progress=said.append)
    assert (first.state, second.state) == ("failed", "failed")
    assert "not JSON compliant" in first.message
    assert second.message == "ZeroDivisionError: division by zero"
    assert "Traceback" in said[-1]
    assert [file.name for file in tmp_path.iterdir()] == ["come_2008.json"]
    assert (tmp_path / "come_2008.json").read_text() == "old"


@pytest.mark.parametrize("folder", [None, "empty"])
def test_missing_sets_are_all_named_and_the_rest_is_run(tmp_path, monkeypatch, tiny_come, folder):
    monkeypatch.delenv("PLAUSIBLE_DATA", raising=False)
    if folder:
        monkeypatch.setenv("PLAUSIBLE_DATA", str(tmp_path / folder))
    found = experiments.reproduce(["real_soft_labels", "come_2008"], output=tmp_path / "out")
    assert [(one.experiment, one.state) for one in found] == [
        ("come_2008", "run"),
        ("real_soft_labels", "skipped"),
    ]
    message = found[1].message
    for name, file in real.FILES.items():
        assert f"'{name}' in the file {file}" in message
    assert "PLAUSIBLE_DATA" in message
    assert ("PLAUSIBLE_DATA is not set" in message) == (folder is None)
    assert ("there is no such file" in message.lower()) == (folder is not None)


def test_an_impossible_folder_is_refused_before_the_run(tmp_path, tiny_come):
    (tmp_path / "new").write_text("a file, not a folder")
    tiny_come.run = lambda **options: pytest.fail("it was run")
    with pytest.raises(ValueError, match="should be a folder that can be made.*name another"):
        experiments.reproduce("come_2008", output=tmp_path / "new" / "folder")


# Files.


def test_half_written_results_never_replace_whole_ones(tmp_path):
    path = tmp_path / "results.json"
    stored.write_json({"a": 1}, path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        stored.write_json({"a": float("nan")}, path)
    assert json.loads(path.read_text()) == {"a": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"a": []},
        {"ä": 'quo"te', "b": [{"c": [1, 2.5, None, True]}, []]},
        {"a": [[1, 2], [3]], "b": {"c": {}}, "d": [{}]},
    ],
)
def test_json_reads_back(value):
    assert json.loads(stored.to_json(value)) == value


@pytest.mark.parametrize("text", ["{", "[]", '{"experiment": "crowds", "claims": []}', "{}"])
def test_files_that_hold_something_else_are_refused(tmp_path, text):
    (tmp_path / "come_2008.json").write_text(text)
    with pytest.raises(ValueError, match=r"come_2008.json should hold the results.*run the exper"):
        experiments.listing("come_2008", tmp_path)
