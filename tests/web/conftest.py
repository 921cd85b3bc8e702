import pytest

from support.postgres import WHY_SKIPPED, find_programs, give_up, new_database, running
from support.studies import open_room


def pytest_terminal_summary(terminalreporter, config):
    """Say once why there were no tests on PostgreSQL."""
    why = config.stash.get(WHY_SKIPPED, None)
    if why is not None:
        terminalreporter.write_line(f"The tests on PostgreSQL were skipped: {why}", yellow=True)


@pytest.fixture
def room(tmp_path):
    """A small study on SQLite."""
    made = open_room(tmp_path / "trees.db")
    yield made
    made.close()


@pytest.fixture(scope="session")
def postgres(pytestconfig):
    """Makes addresses of new databases, on a server that ends with the tests."""
    programs = find_programs()
    if programs is None:
        give_up(pytestconfig, "no initdb was found; install it (apt-get install postgresql).")
    try:
        import psycopg  # noqa: F401
    except ImportError:
        give_up(pytestconfig, "the Python package psycopg is missing; run make .venv/dev.")
    with running(programs) as address:
        yield lambda: new_database(address)
