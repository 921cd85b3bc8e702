"""A study from tables, and the server that asks about it."""

import contextlib
import importlib
import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from plausible.errors import InputError
from plausible.io import read_known, read_table
from plausible.web.app import make_app
from plausible.web.guard import LOCAL
from plausible.web.people import find_or_add
from plausible.web.protocol import joined_protocol
from plausible.web.room import Room
from plausible.web.store import Store, is_database
from plausible.web.study import (
    Study,
    items_of_folder,
    items_of_table,
    load_study,
    save_gold,
    save_items,
    save_study,
)

ENDING = ".answers.db"


def database_of(items: str) -> str:
    """Where the answers about a table of items are kept: in a file beside it.

    Examples
    --------
    >>> database_of("photos/items.csv")
    'photos/items.answers.db'
    """
    if is_database(items):
        return items
    path = Path(items)
    path = path if path.name else path.absolute()
    return str(path.with_name(f"{path.name.partition('.')[0]}{ENDING}"))


def open_study(
    items: Any = None,
    classes: Sequence[str] | None = None,
    *,
    db: str | None = None,
    gold: Any = None,
    notes: list[str] | None = None,
    columns: Mapping[str, str | None] | None = None,
    **options: Any,
) -> Store:
    """The database of a study, which is made or goes on.

    Parameters
    ----------
    items : table of items, folder of pictures or sounds, or a database that goes on
    classes : list of names
        Needed for a new study.
    db : path or address, optional
        By default a file beside the items.
    gold : table of items and their classes, optional
    notes : list, optional
        What was assumed is added to it.
    columns : dict, optional
        Which columns are meant: "name", "text", "image", "audio".
    **options : question, title, guide, help, words, options
        As they are asked; see the guide.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = open_study(
    ...         {"text": ["a tall one", "a broad one"]}, ["oak", "elm"], db=f"{folder}/trees.db"
    ...     )
    ...     print(store.ask("SELECT name, content FROM item"))
    ...     store.close()
    [('1', 'a tall one'), ('2', 'a broad one')]
    """
    said = [] if notes is None else notes
    is_path = isinstance(items, str | os.PathLike)
    if db is None:
        if not is_path:
            raise InputError("A database should be named", "there is no file of items", "give db")
        db = database_of(str(items))
    goes_on = items is None or (is_path and is_database(str(items)))
    there = db if goes_on else str(items) if is_path else None
    if there is not None and "://" not in there and there != "-" and not Path(there).exists():
        raise FileNotFoundError(f"{there!r} should be a table of items, or a database of answers, "
                                "but is not there; check its name.")  # fmt: skip
    is_new = "://" not in db and not Path(db).exists()
    store = Store(db)
    try:
        found = _said_before(store, load_study(store), classes, options)
        if not goes_on:
            made, told = _items_of(items, columns or {})
            new, changed = save_items(store, made)
            said += [told, f"{new} new items of {len(made)}"]
            if changed:
                said.append(f"{changed} items look different now, but stay as they were asked "
                            "about; name another database with --db to ask anew")  # fmt: skip
        if gold is not None:
            said.append(f"classes of {save_gold(store, _read_gold(gold), found.classes)} items "
                        "are known")  # fmt: skip
    except BaseException:
        was_closed = store.is_closed  # by a signal, which has told what is there
        store.close()
        if is_new and not was_closed:  # and has nothing in it
            for ending in ("", "-wal", "-shm"):
                Path(f"{db}{ending}").unlink(missing_ok=True)
        raise
    return store


def _items_of(items: Any, columns: Mapping[str, str | None]) -> tuple[list[dict[str, Any]], str]:
    """Items of a table, or of the files of a folder, and how they were read."""
    if isinstance(items, str | os.PathLike) and Path(items).is_dir():
        found = items_of_folder(Path(items).absolute())
        if found is not None:
            return found
    table = read_table(items)
    rows = {name: table.column(name).to_pylist() for name in table.column_names}
    return items_of_table(rows, **columns)


def _said_before(
    store: Store, before: Study | None, classes: Sequence[str] | None, options: Mapping[str, Any]
) -> Study:
    """The study, with what is not said anew as it was."""
    if classes is None and before is None:
        raise InputError("A new study should have classes", "none came", "name them with --classes",
                         parameter="classes")  # fmt: skip
    chosen: dict[str, Any] = {k: v for k, v in options.items() if v is not None}
    if before is not None:
        kept = {"title": before.title, "question": before.question, "guide": before.guide,
                "words": before.words,
                "help": dict(zip(before.classes, before.help, strict=True))}  # fmt: skip
        chosen = kept | chosen
    return save_study(store, classes or (before.classes if before else ()), **chosen)


def _read_gold(gold: Any) -> dict[str, str]:
    """Known classes by the names of items."""
    if isinstance(gold, Mapping) and all(isinstance(value, str) for value in gold.values()):
        return {str(name): value for name, value in gold.items()}
    known = read_known(gold, "labels")
    if known.items is None:
        raise InputError("Known classes should come with a column of items", "there is none")
    rows = known.labels.is_hard.nonzero()[0]
    names = known.labels.classes[known.labels.contour[rows].argmax(axis=1)]
    return {str(known.items[row]): str(name) for row, name in zip(rows, names, strict=True)}


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(2048)  # whoever comes before the server is ready waits
    except OSError as error:
        made.close()
        raise OSError(
            error.errno, f"Port {port} of {host} cannot be used ({error.strerror})"
        ) from None
    return made


def called(host: str) -> str:
    """A host as others can call it: where this listens at every address, the one it has outside.

    Examples
    --------
    >>> called("127.0.0.1"), called("::1")
    ('127.0.0.1', '[::1]')
    """
    if host in ("0.0.0.0", "::", ""):
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
            way.connect(("192.0.2.1", 9))  # nothing is sent
            return str(way.getsockname()[0])
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


class Stop:
    """Ends a server that runs in a thread of its own, where signals are heard by somebody else.

    An event loop in the main thread would take the signals for itself, each kind of loop in
    another way; in any other thread it leaves them alone.
    """

    def __init__(self) -> None:
        self.server: Any = None
        self.is_asked = False
        self.ended = threading.Event()
        self.error: BaseException | None = None

    def __call__(self, patience: float) -> None:
        """Take no more requests, and wait some seconds until those under way are answered."""
        self.is_asked = True
        if self.server is not None:
            self.server.should_exit = True
            self.ended.wait(patience)

    def hurry(self) -> None:
        """Wait for nothing more."""
        if self.server is not None:
            self.server.force_exit = True
        self.ended.set()

    def run(self, server: Any, made: socket.socket) -> None:
        """Serve until this is called."""
        self.server = server
        if self.is_asked:
            return
        thread = threading.Thread(target=self._run, args=[made], name="server", daemon=True)
        thread.start()
        thread.join()
        if self.error is not None:
            raise self.error

    def _run(self, made: socket.socket) -> None:
        try:
            self.server.run(sockets=[made])
        except BaseException as error:
            self.error = error
        finally:
            self.ended.set()


def quickest_loop() -> Literal["uvloop", "asyncio"]:
    """The event loop to serve by: uvloop where it is installed."""
    try:
        importlib.import_module("uvloop")
    except ImportError:
        return "asyncio"
    return "uvloop"


def run_app(app: Any, made: socket.socket, stop: Stop | None = None) -> None:
    """Serve an application on a socket, until the process is asked to end, or by `stop`."""
    import uvicorn

    loop = quickest_loop()
    config = uvicorn.Config(
        app, log_level="critical", access_log=False, lifespan="off", ws="none",
        proxy_headers=False, server_header=False, loop=loop,
    )  # fmt: skip
    config.load()
    if loop == "asyncio":
        config.http_protocol_class = joined_protocol(config.http_protocol_class)
    server = uvicorn.Server(config)
    if stop is None:
        server.run(sockets=[made])
    else:
        stop.run(server, made)


def serve(
    room: Room,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    name: str | None = None,
    browse: bool = True,
    tell: Callable[[str], Any] = print,
    ready: Callable[[str], Any] | None = None,
    stop: Stop | None = None,
) -> None:
    """Serve a study until it is interrupted.

    Parameters
    ----------
    room : Room
    host, port
        Where to listen; by default on this machine alone, at any free port.
    name : str, optional
        Who answers on this machine; by default who is logged in.
    browse : bool
        Open a browser.
    tell : function
        Takes lines for the terminal.
    ready : function, optional
        Called with the address once the socket listens.
    stop : Stop, optional
        Ends the server when it is called; by default, Ctrl-C and SIGTERM do.

    Examples
    --------
    >>> serve  # doctest: +ELLIPSIS
    <function serve at ...>
    """
    if name is None:
        import getpass

        with contextlib.suppress(Exception):
            name = getpass.getuser()
    person = find_or_add(room.store, name or "me", "manager")
    room.meet()
    is_local = host in ("127.0.0.1", "::1", "localhost")
    if is_local:
        room.settings.hosts = LOCAL
    room.settings.local_token = secrets.token_urlsafe(32)
    room.settings.local_person = person.id
    with contextlib.closing(listen(host, port)) as made:
        base = f"http://{called(host)}:{made.getsockname()[1]}"
        address = f"{base}/?token={room.settings.local_token}"
        tell(f"{person.name} answers at {address}")
        if ready is not None:
            ready(base)
        if browse:
            threading.Timer(0.5, webbrowser.open, [address]).start()
        run_app(make_app(room, tell), made, stop)
