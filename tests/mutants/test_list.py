"""The list of mistakes fits the tree; whether tests catch them, ``make mutants`` says."""

import pytest

from mutants.run import HERE, TREE, VERDICTS, Mutant, mutate, read_mutants

MUTANTS = read_mutants()


@pytest.mark.parametrize("file", sorted({mutant.file for mutant in MUTANTS}))
def test_every_mistake_can_be_made(file):
    text = (TREE / "src" / "plausible" / file).read_text()
    for mutant in MUTANTS:
        if mutant.file == file:
            compile(mutate(text, mutant), file, "exec")


@pytest.mark.parametrize("test", sorted({test for mutant in MUTANTS for test in mutant.tests}))
def test_every_test_that_should_fail_is_there(test):
    file, _, name = test.partition("::")
    text = (HERE.parent / file).read_text()
    assert not name or f"def {name.partition('[')[0]}(" in text


def test_every_room_has_mistakes_and_none_is_made_twice():
    rooms = {mutant.room for mutant in MUTANTS}
    assert rooms >= {
        "base", "belief", "engine", "experts", "io", "labels", "metrics", "models", "report",
    }  # fmt: skip
    assert len({(m.file, m.old, m.new) for m in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("text", ["", "x = 1\nx = 1\n"])
def test_a_mistake_that_fits_nowhere_or_twice_is_refused(text):
    with pytest.raises(ValueError, match=r"occur once in a\.py and change, but occurs [02] times"):
        mutate(text, Mutant("a.py", "x = 1", "x = 2", "", ()))
    with pytest.raises(ValueError, match="and change, but occurs 1 times"):
        mutate("x = 1\n", Mutant("a.py", "x = 1", "x = 1", "", ()))
    assert mutate("x = 1\n", Mutant("a.py", "x = 1", "x = 2", "", ())) == "x = 2\n"


def test_only_a_failed_test_catches_a_mistake():
    # Not tests that cannot be found or collected, nor those that never end.
    assert [VERDICTS.get(code, "BROKEN") for code in (0, 1, 2, 4, 5, -1)] == [
        "SURVIVED", "caught", "BROKEN", "BROKEN", "BROKEN", "BROKEN",
    ]  # fmt: skip
