from pathlib import Path

import pytest

from plausible.experiments import document, stored

ROOT = Path(__file__).parents[2]
TEMPLATE = (ROOT / document.TEMPLATE).read_text(encoding="utf-8")


def test_the_document_is_what_the_stored_results_give():
    """If not, `make reproduction`."""
    assert (ROOT / document.DOCUMENT).read_text(encoding="utf-8") == document.fill(TEMPLATE)


def test_every_table_has_its_place_and_none_is_written_by_hand():
    assert not [line for line in TEMPLATE.splitlines() if line.startswith("|")]
    places = document.PLACE.findall(TEMPLATE)
    assert places[0] == "summary"
    assert len(set(places)) == len(places)
    assert "{{" not in document.fill(TEMPLATE)


def test_numbers_in_the_document_follow_the_results(monkeypatch):
    results = stored.read_results("come_2008")
    results["errors"][0]["error"]["soft"] = {"mean": 0.98765, "low": 0.98765, "high": 0.98765}
    results["claims"][0] |= {"ours": "never seen", "holds": False}
    monkeypatch.setattr(document, "read_results", lambda name: results)
    assert "| 98.77 ± 0.00 |" in document.fill("{{ come_2008.errors }}")
    results["settings"]["training_sets"] = 4321
    assert "mean of 4321 training sets" in document.fill("{{ come_2008.errors.caption }}")
    assert "| never seen | DOES NOT HOLD (required) |" in document.fill("{{ come_2008.claims }}")


@pytest.mark.parametrize("place", ["nonsense", "nonsense.errors", "come_2008.nonsense"])
def test_places_for_nothing_are_refused(place):
    with pytest.raises(ValueError, match="template"):
        document.fill(f"{{{{ {place} }}}}")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    for folder in (document.RESULTS, document.PICTURES):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / document.TEMPLATE).write_text("{{ come_2008.errors }}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put_results(folder, **changes):
    folder.mkdir()
    stored.write_json(stored.read_results("come_2008") | changes, folder / "come_2008.json")
    (folder / "come_2008.png").write_bytes(b"picture")


def test_full_runs_are_taken_into_the_checkout(checkout, capsys):
    put_results(checkout / "runs")
    assert document.main(["--results", "runs"]) == 0
    assert capsys.readouterr().out == "Taken: come_2008\n"
    taken = (checkout / document.RESULTS / "come_2008.json").read_text()
    assert taken == (checkout / "runs" / "come_2008.json").read_text()
    assert (checkout / document.PICTURES / "come_2008.png").read_bytes() == b"picture"
    assert "| N | doubt |" in (checkout / document.DOCUMENT).read_text()


@pytest.mark.parametrize("changes", [{"quick": True}, {"seed": 1}])
def test_other_runs_are_not_taken(checkout, changes):
    put_results(checkout / "runs", **changes)
    with pytest.raises(ValueError, match="should be a full run with seed 0"):
        document.main(["--results", "runs"])
    assert not list((checkout / document.RESULTS).iterdir())
