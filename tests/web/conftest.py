import pytest

from support.studies import open_room


@pytest.fixture
def room(tmp_path):
    """A small study on SQLite."""
    made = open_room(tmp_path / "trees.db")
    yield made
    made.close()
