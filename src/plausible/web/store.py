"""The database, and the one thread that writes into it.

Jobs wait in a line; what waits together is committed together, so that one flush to the disk serves
many answers, and nobody is told that an answer is kept before it is.
"""

import asyncio
import contextlib
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import sqlalchemy as sa

from plausible.errors import InputError
from plausible.web import schema

MOST_TOGETHER = 256  # jobs in one commit
PATIENCE = 5.0  # seconds for those who read while a database is closed
TRUSTED = 5.0  # seconds without writing, after which a connection is tried before it is used
LOCK = 7106128405  # number of the lock in PostgreSQL by which one server holds a database
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000")


_opening = threading.Lock()
_opened: "weakref.WeakSet[Store]" = weakref.WeakSet()


class AwayError(Exception):
    """The database cannot be written to at present; what was said should be sent again."""


class Together(Protocol):
    """How jobs of one kind are done at once, where they stand next to each other in the line."""

    def work(self, connection: sa.Connection, tasks: Sequence[Any]) -> list[Any]:
        """Write them; their results."""

    def after(self, tasks: Sequence[Any], results: Sequence[Any]) -> None:
        """What is to be done once they are kept; may be called again with some of them."""


class Alone:
    """A job that is done by itself."""

    def __init__(
        self, function: Callable[[sa.Connection], Any], then: Callable[[Any], None] | None
    ) -> None:
        self.function, self.then = function, then

    def work(self, connection: sa.Connection, tasks: Sequence[Any]) -> list[Any]:
        """Write it."""
        return [self.function(connection)]

    def after(self, tasks: Sequence[Any], results: Sequence[Any]) -> None:
        """What is to be done once it is kept."""
        if self.then is not None:
            self.then(results[0])


class Job(NamedTuple):
    """Something to write, and who waits for it."""

    together: Together
    task: Any
    future: Any  # of a thread, or of an event loop
    loop: asyncio.AbstractEventLoop | None = None


def make_engine(url: str) -> sa.Engine:
    """An engine for SQLite or PostgreSQL; a plain path is a file of SQLite."""
    if "://" not in url:
        url = f"sqlite:///{Path(url).absolute()}"
    found = sa.make_url(url)
    if found.get_backend_name() == "postgresql":
        engine = sa.create_engine(found, pool_pre_ping=True)
        sa.event.listen(engine, "do_connect", _explain)
        return engine
    if found.get_backend_name() != "sqlite":
        raise InputError(
            "The database should be a file, or postgresql+psycopg://...",
            f"{found.get_backend_name()!r} was asked for",
            parameter="db",
        )
    engine = sa.create_engine(found, connect_args={"timeout": 5, "check_same_thread": False})
    sa.event.listen(engine, "connect", _set_up)
    sa.event.listen(engine, "begin", _begin)
    return engine


def _explain(dialect: Any, record: Any, words: Any, options: Any) -> None:
    options.setdefault("connect_timeout", 10)


def _set_up(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


class Store:
    """A database with one writer.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/answers.db")
    ...     kept = store.write(lambda connection: 42)
    ...     kept.result()
    ...     store.close()
    42
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.writer: sa.Connection | None = None
        self.used = 0.0
        self.trouble: str | None = None
        self.gate, self.is_closed, self.n_reading = threading.Condition(), False, 0
        self.closing = threading.Lock()
        self.jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, name="writer", daemon=True)
        with _opening:  # a signal that comes now waits, and then finds all that there is to close
            self._open()
            _opened.add(self)

    def _open(self) -> None:
        self.lock = _Lock(self.url)
        try:
            self.engine = make_engine(self.url)
            writer = self._connect()
            with writer.begin():
                schema.prepare(writer)
        except BaseException:
            self._disconnect()
            if hasattr(self, "engine"):
                self.engine.dispose()
            self.lock.release()
            raise
        self.thread.start()

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A connection that sees one state."""
        with self.gate:
            self._check_open()
            self.n_reading += 1
        try:
            with self.engine.connect() as connection:
                yield connection
        finally:
            with self.gate:
                self.n_reading -= 1
                self.gate.notify_all()

    def _check_open(self) -> None:
        if self.is_closed:  # a new connection would leave files behind
            raise AwayError("it was closed")

    def _put(self, job: Job) -> None:
        with self.gate:
            self._check_open()
            self.jobs.put(job)

    def ask(self, words: str) -> list[tuple[Any, ...]]:
        """The rows of a query of plain SQL."""
        with self.read() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(words)]

    def write(
        self, work: Callable[[sa.Connection], Any], after: Callable[[Any], None] | None = None
    ) -> Future[Any]:
        """Have something written; `after` is called with its result once it is kept, in order."""
        future: Future[Any] = Future()
        self._put(Job(Alone(work, after), None, future))
        return future

    def keep(
        self, work: Callable[[sa.Connection], Any], after: Callable[[Any], None] | None = None
    ) -> asyncio.Future[Any]:
        """The same for a coroutine to wait for; a loop is woken once for all that is kept."""
        return self.keep_with(Alone(work, after), None)

    def keep_with(self, together: Together, task: Any) -> asyncio.Future[Any]:
        """Have a task written at once with others of its kind, for a coroutine to wait for."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._put(Job(together, task, future, loop))
        return future

    def close(self, patience: float | None = None) -> None:
        """Write what waits, and end, with one file left; some seconds of patience, or all."""
        with self.gate:
            self.is_closed = True  # nothing more comes in
        if not self.closing.acquire(timeout=-1 if patience is None else patience):
            return  # what is kept is kept, in more files than one
        try:
            if self.thread.is_alive():
                self.jobs.put(None)
                self.thread.join(patience)
                if self.thread.is_alive():
                    return
            with self.gate:
                self.gate.wait_for(lambda: not self.n_reading, patience or PATIENCE)
            self.engine.dispose()
            self._disconnect()
            self.lock.release()
        finally:
            self.closing.release()

    def _connect(self) -> sa.Connection:
        """The connection that writes; a new one if need be, which nobody else may have."""
        if self.writer is not None and time.monotonic() - self.used > TRUSTED:
            try:
                self.writer.exec_driver_sql("SELECT 1")
                self.writer.rollback()
            except sa.exc.DBAPIError:  # it was closed while nobody wrote
                self._disconnect()
        if self.writer is None:
            self.writer = self.engine.connect().execution_options(writes=True)
            if self.engine.dialect.name == "postgresql":
                found = self.writer.exec_driver_sql(f"SELECT pg_try_advisory_lock({LOCK})")
                if not found.scalar():
                    raise _taken("this database")
                self.writer.commit()
        self.used = time.monotonic()
        return self.writer

    def _disconnect(self) -> None:
        """Close the connection that writes, and with it the lock of PostgreSQL."""
        if self.writer is not None:
            self.writer.invalidate()
            self.writer.close()
            self.writer = None

    def _run(self) -> None:
        going = True
        while going:
            batch = [self.jobs.get()]
            with contextlib.suppress(queue.Empty):
                while len(batch) < MOST_TOGETHER:
                    batch.append(self.jobs.get_nowait())
            going = None not in batch
            jobs = [job for job in batch if job is not None]
            if jobs:
                self._keep(jobs)

    def _keep(self, jobs: list[Job]) -> None:
        """Commit jobs together; one by one if something is wrong with any of them."""
        runs = [(kind, list(run)) for kind, run in groupby(jobs, lambda job: job.together)]
        try:
            writer = self._connect()
            with writer.begin():
                results = [kind.work(writer, [job.task for job in run]) for kind, run in runs]
        except BaseException as error:
            if isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError):
                self._disconnect()
            if len(jobs) > 1:
                for job in jobs:
                    self._keep([job])
                return
            _tell([(jobs[0], None, self._worded(error))])
            return
        self.trouble = None
        done: list[tuple[Job, Any, BaseException | None]] = []
        for (kind, run), found in zip(runs, results, strict=True):
            done += _finish(kind, run, found)
        _tell(done)

    def _worded(self, error: BaseException) -> BaseException:
        """Errors of the database that may pass, such as a full disk, as such."""
        if not isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError | OSError):
            return error
        self.trouble = " ".join(str(getattr(error, "orig", error)).split())
        return AwayError(self.trouble)


def end_all(patience: float) -> None:
    """Close all databases, and let none be opened any more: the process is about to end."""
    _opening.acquire(timeout=patience)
    for store in list(_opened):
        store.close(patience)


def _finish(
    kind: Together, jobs: list[Job], results: list[Any]
) -> list[tuple[Job, Any, BaseException | None]]:
    """Do what follows once jobs are kept; one by one if that fails for any of them."""
    try:
        kind.after([job.task for job in jobs], results)
    except Exception as error:
        if len(jobs) == 1:
            return [(jobs[0], None, error)]
        pairs = zip(jobs, results, strict=True)
        return [one for job, result in pairs for one in _finish(kind, [job], [result])]
    return [(job, result, None) for job, result in zip(jobs, results, strict=True)]


def _tell(done: list[tuple[Job, Any, BaseException | None]]) -> None:
    """Tell those who wait what became of their jobs, each event loop in one call."""
    loops = dict.fromkeys(job.loop for job, _, _ in done)
    for loop in loops:
        mine = [one for one in done if one[0].loop is loop]
        if loop is None:
            _resolve(mine)
            continue
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits
            loop.call_soon_threadsafe(_resolve, mine)


def _resolve(done: list[tuple[Job, Any, BaseException | None]]) -> None:
    for job, result, error in done:
        if job.future.cancelled():
            continue
        if error is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(error)


def _taken(name: str) -> InputError:
    return InputError(
        f"One server should hold {name} at a time",
        "another one is running",
        "stop it, or go on in its page",
    )


class _Lock:
    """Keeps a second server from a file of SQLite, whose state the first one holds in memory."""

    def __init__(self, url: str) -> None:
        self.file: Any = None
        if "://" in url and not url.startswith("sqlite"):
            return
        path = Path(sa.make_url(url).database or "") if "://" in url else Path(url)
        try:
            import fcntl
        except ImportError:  # not on this system
            return
        self.path = path.with_name(f"{path.name}.lock")
        self.file = open(self.path, "a")  # noqa: SIM115
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.file.close()
            self.file = None
            raise _taken(path.name) from None

    def release(self) -> None:
        if self.file is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            self.file.close()
            self.file = None


def is_database(path: str) -> bool:
    """Whether a file begins as SQLite's do, or an address names a database."""
    if "://" in path:
        return True
    try:
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False
