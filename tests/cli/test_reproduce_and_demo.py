"""``plausible reproduce`` and ``plausible demo``."""

import json
import os
from functools import partial
from types import SimpleNamespace

import pytest

from plausible import experiments
from plausible.cli import main
from plausible.experiments import catalogue, come_2008, reproduction
from support.refusals import BAD_DATA, USAGE, refused, the_message


@pytest.fixture
def tiny_come(monkeypatch):
    def run(quick=False, seed=0, progress=print):
        tiny = partial(come_2008.run, sizes=(300,), doubts=(0.2, 0.8), n_draws=2)
        return tiny(seed=seed, progress=progress)

    stand_in = SimpleNamespace(run=run, tables=come_2008.tables, draw=come_2008.draw)
    modules = {"plausible.experiments.come_2008": stand_in}
    monkeypatch.setattr(reproduction, "import_module", modules.__getitem__)


def test_reproduce_prints_tables_and_paper_beside_ours(tmp_path, capsys, tiny_come):
    assert main(["reproduce", "come_2008", "--seed", "3", "-o", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "| quantity | paper " in shown.out
    assert "| difference | verdict " in shown.out
    assert "| N   | doubt | supervised" in shown.out
    assert str(tmp_path / "come_2008.png") in shown.out
    assert "N = 300, doubt 0.8" in shown.err
    assert "seed 3" in shown.err
    assert json.loads((tmp_path / "come_2008.json").read_text())["seed"] == 3


def test_reproduce_gives_the_same_as_json(tmp_path, capsys, tiny_come):
    words = ["reproduce", "come_2008", "-o", str(tmp_path), "--json", "--quiet"]
    assert main(words) == 0
    shown = capsys.readouterr()
    (found,) = json.loads(shown.out)["experiments"]
    wanted = experiments.listing("come_2008", tmp_path)
    assert [one["ours"] for one in found["comparisons"]] == [row.ours for row in wanted]
    assert not shown.err


def test_list_has_every_figure_with_paper_ours_and_verdict(plausible):
    done = plausible("reproduce", "--list")
    assert done.code == 0
    assert all(f"| {figure} " in done.stdout.decode() for figure in catalogue.TITLES)
    head = done.stdout.decode().splitlines()[0]
    assert [cell.strip() for cell in head.split("|")[1:5]] == [
        "figure or table", "paper", "ours", "verdict",
    ]  # fmt: skip
    assert "not run yet" not in done.stdout.decode()
    one = plausible("reproduce", "--list", "lu-2020-table-1", "--json").json
    assert [line["figure"] for line in one["figures"]] == ["lu-2020-table-1"]


def test_without_a_name_nothing_is_run(plausible, folder):
    before = sorted(folder.iterdir())
    done = plausible("reproduce")
    assert done.code == 0
    assert done.stdout == plausible("reproduce", "--list").stdout
    assert "Nothing was run" in done.stderr
    assert "plausible reproduce all" in done.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(("words", "code", "says"), [
    (["nonsense"], USAGE, ["nonsense", "the experiments are come_2008, "]),
    (["come_2007"], USAGE, ["come_2007", "did you mean come_2008"]),
    (["--list", "nonsense"], USAGE, ["nonsense"]),
    (["--list", "-o", "no folder"], BAD_DATA, ["'no folder'", "name another"]),
    (["come_2008", "--quick", "-o", "answers.csv"], BAD_DATA, ["answers.csv", "name another"]),
    (["--seed", "-1"], USAGE, ["--seed"]),
])  # fmt: skip
def test_bad_words_of_reproduce(plausible, folder, words, code, says):
    refused(plausible, folder, ["reproduce", *words], code, says)


def test_missing_data_are_named_and_fail_only_what_was_asked_for(
    tmp_path, capsys, monkeypatch, tiny_come
):
    monkeypatch.delenv("PLAUSIBLE_DATA", raising=False)
    assert main(["reproduce", "crowds", "-o", str(tmp_path)]) == 1
    assert "crowds: skipped. crowds needs 8 sets" in capsys.readouterr().out
    chosen = [one for one in catalogue.CATALOGUE if one.name in ("come_2008", "crowds")]
    monkeypatch.setattr(reproduction, "select", lambda names: chosen)
    assert main(["reproduce", "all", "-o", str(tmp_path)]) == 0
    assert "PLAUSIBLE_DATA is not set" in capsys.readouterr().out


@pytest.mark.long
def test_the_demo_ends_with_a_report(plausible, folder):
    done = plausible("demo", "shown")
    assert done.code == 0, done
    report = folder / "shown" / "report.html"
    lines = done.stdout.decode().splitlines()
    assert str(report) in lines[0]
    assert str(report) in lines[-1]
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    made = {"answers.csv", "features.parquet", "new.parquet", "model.skops", "decisions.csv"}
    assert {path.name for path in report.parent.iterdir()} == made | {"report.html"}


def test_the_demo_needs_a_folder(plausible, folder):
    done = plausible("demo", os.fspath(folder / "answers.csv"))
    assert "answers.csv" in the_message(done, "demo", BAD_DATA)
