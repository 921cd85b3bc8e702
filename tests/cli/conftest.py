"""One server of commands for all tests, and small files in a folder for each."""

import pickle

import pytest

from support.command import Server
from support.small_files import make_small_files


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("streams"))
    yield server
    server.close()


@pytest.fixture(scope="session")
def small_files(tmp_path_factory):
    """Bytes by name: answers, features, labels, models."""
    folder = tmp_path_factory.mktemp("small files")
    make_small_files(folder)
    (folder / "model.pickle").write_bytes(pickle.dumps({"coef": [1.0]}))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path, small_files):
    """A folder with all small files, in which commands run."""
    for name, content in small_files.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.fixture
def plausible(server, folder):
    """Run a command in the folder."""

    def run(*words, **streams):
        return server.run(*words, folder=folder, **streams)

    return run
