"""A PostgreSQL of our own for some tests: Debian's, in a temporary folder, on a socket alone.

Without it these tests are skipped, with one note at the end. With PLAUSIBLE_POSTGRES=required they
fail instead. PostgreSQL refuses to run as root, so that it runs as the user postgres then.
"""

import getpass
import os
import shutil
import subprocess
import tempfile
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest

WHY_SKIPPED = pytest.StashKey[str]()
SETTINGS = ("fsync=off", "synchronous_commit=on", "listen_addresses=", "max_connections=40")


def find_programs():
    """The folder of initdb and pg_ctl; None where there is no PostgreSQL."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    folders += [Path(found).parent] if found else []
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def give_up(config, why):
    """Skip, or fail where PostgreSQL is required."""
    if os.environ.get("PLAUSIBLE_POSTGRES") == "required":
        pytest.fail(f"PLAUSIBLE_POSTGRES=required, but {why}", pytrace=False)
    config.stash[WHY_SKIPPED] = why
    pytest.skip(why)


@contextmanager
def running(programs, more=()):
    """A cluster that lives as long as the block; gives the address of its database."""
    as_root = os.geteuid() == 0
    user = "postgres" if as_root else None
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as name:
        folder = Path(name)
        if as_root:
            shutil.chown(folder, user="postgres")
        owner = user or getpass.getuser()

        def run(program, *words):
            subprocess.run(
                [str(programs / program), *words], user=user, cwd=folder, check=True,
                capture_output=True, env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            )  # fmt: skip

        data = str(folder / "data")
        run("initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--no-sync")
        options = " ".join(f"-c {one}" for one in (*SETTINGS, *more)) + f" -k {folder}"
        run("pg_ctl", "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql+psycopg://{owner}@/{{}}?host={folder}"
        finally:
            run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")


def new_database(address):
    """The address of a new, empty database."""
    import sqlalchemy as sa

    name = f"t{uuid.uuid4().hex[:12]}"
    engine = sa.create_engine(address.format("postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return address.format(name)
