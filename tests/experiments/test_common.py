import functools
import json
import sys

import numpy as np
import pytest

from plausible.experiments import come_2008, common


def test_half_written_results_never_replace_whole_ones(tmp_path):
    path = tmp_path / "results.json"
    common.write_json({"a": 1}, path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        common.write_json({"a": float("nan")}, path)
    assert json.loads(path.read_text()) == {"a": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]


def test_intervals_cover_the_mean_about_as_often_as_they_say():
    random = np.random.default_rng(0)
    found = [common.summary(random.normal(3.0, 1.0, size=8)) for _ in range(2000)]
    share = np.mean([value["low"] < 3.0 < value["high"] for value in found])
    assert share == pytest.approx(0.95, abs=0.015)


def test_intervals_cover_the_mean_of_fixed_strata():
    random = np.random.default_rng(0)
    centres = random.normal(size=(30, 1)) * 5.0  # strata differ much more than draws
    inside = []
    for _ in range(1000):
        found = common.summary_of_strata(centres + random.normal(size=(30, 3)))
        inside.append(found["low"] < centres.mean() < found["high"])
    assert np.mean(inside) == pytest.approx(0.95, abs=0.025)
    alone = common.summary_of_strata(np.ones((3, 1)))
    assert alone == {"mean": 1.0, "low": 1.0, "high": 1.0}


def test_seeds_differ_by_part_and_order():
    seeds = {common.seed_of(*parts) for parts in ((0, 1), (1, 0), (0, 2), (1, 1))}
    assert len(seeds) == 4


def test_tables_are_aligned():
    table = common.format_table(["a", "long head"], [["some cell", "1"], ["b", "2"]])
    assert len({len(line) for line in table.splitlines()}) == 1


def run_tiny(tmp_path):
    run = functools.partial(come_2008.run, sizes=(300,), doubts=(0.2, 0.8), n_draws=2)
    arguments = ["--quick", "--seed", "3", "--output", str(tmp_path / "new" / "folder")]
    parts = run, come_2008.tables, come_2008.draw
    return common.command("come_2008", "", *parts, arguments)


def test_a_program_writes_table_results_and_picture(tmp_path, capsys):
    assert run_tiny(tmp_path) == 0
    shown = capsys.readouterr()
    assert "| claim" in shown.out
    assert "N = 300, doubt 0.8" in shown.err
    results = json.loads((tmp_path / "new/folder/come_2008.json").read_text())
    assert results["seed"] == 3
    assert results["settings"]["sizes"] == [300]
    assert {"plausible", "numpy", "python"} <= set(results["versions"])
    assert (tmp_path / "new/folder/come_2008.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_table_and_results_still_come(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert run_tiny(tmp_path) == 0
    assert "No picture: matplotlib is not installed" in capsys.readouterr().out
    files = [file.name for file in (tmp_path / "new/folder").iterdir()]
    assert files == ["come_2008.json"]


def test_an_impossible_folder_is_refused_before_the_run(tmp_path, capsys):
    (tmp_path / "new").write_text("a file, not a folder")
    assert run_tiny(tmp_path) == 1
    assert "--output should name a folder" in capsys.readouterr().err


@pytest.mark.parametrize("given", [[], ["--all-setups"]])
def test_an_experiment_may_have_flags_of_its_own(tmp_path, given):
    seen = []

    def run(quick, seed, progress, all_setups):
        seen.append(all_setups)
        return {}

    arguments = [*given, "--output", str(tmp_path)]
    parts = run, lambda results: "", lambda results, path: None
    assert common.command("one", "", *parts, arguments, {"all_setups": "all of them"}) == 0
    assert seen == [bool(given)]
