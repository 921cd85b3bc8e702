"""Ask people about items in a browser; answers, with their doubts, are kept beside the items.

Example: plausible annotate items.csv --classes oak,elm,ash

The same command goes on where it stopped, and every other verb reads the database as a table of
answers: plausible pool items.answers.db -o labels.csv
"""

import argparse
from pathlib import Path
from typing import Any

from plausible.cli import signals
from plausible.cli.options import add_trust, names, share
from plausible.cli.talk import Talk, UsageError

TO_CLOSE = 20.0  # seconds for a database: a disk may be slow
NOTHING = "Interrupted; nothing was written."
SUGGEST = ("never", "after", "coin", "before", "asked")


def whole(text: str) -> int:
    """A whole number from 0."""
    if not text.isdecimal() or len(text) > 12:
        raise argparse.ArgumentTypeError(f"{text!r} should be a whole number from 0")
    return int(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument(
        "items",
        nargs="?",
        help="table of items, folder of pictures or sounds, or a database that goes on",
    )
    asked = parser.add_argument_group("what is asked")
    asked.add_argument(
        "--classes", type=names, metavar="NAME,...",
        help="the classes, or a table of them with columns name and help",
    )  # fmt: skip
    asked.add_argument("--question", metavar="TEXT", help="default: Which is it?")
    asked.add_argument("--title", metavar="TEXT", help="of the study")
    asked.add_argument("--guide", metavar="FILE", help="what to look at, in Markdown")
    asked.add_argument("--id", metavar="COLUMN", help="column that names items")
    asked.add_argument("--text", metavar="COLUMN", help="column of texts")
    asked.add_argument("--image", metavar="COLUMN", help="column of pictures' files")
    asked.add_argument("--audio", metavar="COLUMN", help="column of sounds' files")
    asked.add_argument(
        "--media", metavar="FOLDER", help="where these files are (default: beside the items)"
    )
    asked.add_argument(
        "--words", choices=("on", "off"), help="ask how sure people are (default), or not"
    )
    asked.add_argument(
        "--gold", metavar="FILE",
        help="table of items and their classes that are known: they show what words are worth",
    )  # fmt: skip
    asked.add_argument(
        "--answers", type=whole, metavar="N",
        help="people who should answer about an item (default 1); up to twice as many where they "
        "disagree",
    )  # fmt: skip
    asked.add_argument(
        "--random", type=share, metavar="SHARE",
        help="share of questions that are drawn at random (default 0.1)",
    )  # fmt: skip
    asked.add_argument(
        "--rename", type=names, metavar="OLD=NEW,...", help="classes that have a new name"
    )
    model = parser.add_argument_group("suggestions")
    model.add_argument("--model", metavar="FILE", help="model that plausible fit has saved")
    model.add_argument("--features", metavar="FILE", help="table of features of the items")
    model.add_argument(
        "--suggest", choices=SUGGEST,
        help="show what the model says: never (default), after the answer, before it, by a coin "
        "(with which its pull on people can be told), or when asked, by the key M",
    )  # fmt: skip
    add_trust(model)
    team = parser.add_argument_group("for a team")
    team.add_argument("--host", default="127.0.0.1", help="default: this machine alone")
    team.add_argument("--port", type=whole, default=0, help="default: any that is free")
    team.add_argument(
        "--db", metavar="ADDRESS",
        help="where answers are kept: a file, or postgresql+psycopg://... (default: beside the "
        "items)",
    )  # fmt: skip
    team.add_argument("--name", help="who answers on this machine (default: who is logged in)")
    team.add_argument(
        "--names", choices=("on", "off"),
        help="tell reviewers who said what (default), or call people by numbers",
    )  # fmt: skip
    team.add_argument(
        "--invite", type=whole, metavar="N", help="print a link by which N people can join"
    )
    team.add_argument(
        "--address", metavar="URL", help="of a proxy in front, such as https://ask.example.org"
    )
    team.add_argument(
        "--trust-header", metavar="NAME", help="header in which the proxy says who asks"
    )
    team.add_argument("--trusted-proxy", metavar="ADDRESS", help="whose header is believed")
    team.add_argument("--no-browser", action="store_true", help="do not open a browser")
    moved = parser.add_argument_group("in and out, instead of asking")
    moved.add_argument(
        "--export", metavar="FILE|label-studio|doccano",
        help="write the answers: a table, or what these tools read",
    )  # fmt: skip
    moved.add_argument(
        "--as-of", type=whole, metavar="N", help="export as it was after the answer number N"
    )
    moved.add_argument(
        "--full", action="store_true",
        help="a mass for each set of classes in the table, exactly as answers are pooled",
    )  # fmt: skip
    moved.add_argument(
        "--spreadsheet", action="store_true",
        help="cells of the export that begin like a formula get an apostrophe in front",
    )  # fmt: skip
    moved.add_argument(
        "--import", dest="taken", metavar="FILE", help="add answers from a table or an export"
    )


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Open the study, and serve it, or move answers in or out."""
    if given.items is None and given.db is None:
        raise UsageError("annotate should be given items or a database; see plausible annotate "
                         "--help.")  # fmt: skip
    if (given.trust_header is None) != (given.trusted_proxy is None):
        raise UsageError("--trust-header and --trusted-proxy should come together.")
    if (given.model is None) != (given.features is None):
        raise UsageError("--model and --features should come together; give both, or neither.")
    if given.as_of is not None and given.export is None:
        raise UsageError("--as-of should come with --export.")
    if given.full and (given.export in (None, "label-studio", "doccano") or given.spreadsheet):
        raise UsageError("--full should come with --export and a file, and without --spreadsheet.")
    try:
        from plausible import web
    except ImportError as error:
        raise ImportError(
            f"plausible annotate needs {error.name}, which is not installed; run pip install "
            '"plausible[web]".'
        ) from None
    place, stop = _place_of(given, web), web.Stop()

    def leave() -> None:
        stop(signals.LAST_WORDS)
        web.end_all(TO_CLOSE)
        is_there = "://" in place or Path(place).exists()
        talk.leave(f"Stopped; answers are in {_shown(place)}." if is_there else NOTHING)

    signals.state.farewell, signals.state.hurry = leave, stop.hurry
    notes: list[str] = []
    classes, help_ = _read_classes(given.classes)
    store = web.open_study(
        given.items, classes, db=given.db, gold=given.gold, notes=notes, help=help_,
        columns={"name": given.id, "text": given.text, "image": given.image, "audio": given.audio},
        question=given.question, title=given.title, options=_options(given),
        guide=None if given.guide is None else Path(given.guide).read_text(encoding="utf-8"),
    )  # fmt: skip
    try:
        talk.note(*notes)
        if given.taken is not None or given.export is not None:
            return _move(given, talk, store, web) | {"notes": notes}
        if given.model is not None:
            _suggest(given, talk, store, web)
        return _serve(given, talk, store, web, stop) | {"notes": notes}
    finally:
        store.close()


def _place_of(given: argparse.Namespace, web: Any) -> str:
    """The file or the address of the database."""
    return str(given.db if given.db is not None else web.database_of(given.items))


def _shown(place: str) -> str:
    """An address without who may open it."""
    return place.rpartition("@")[2]


def _options(given: argparse.Namespace) -> dict[str, Any]:
    """Options of the study that were given."""
    renamed = [part.partition("=") for part in given.rename or ()]
    if not all(middle and old and new for old, middle, new in renamed):
        raise UsageError("--rename should be pairs such as old=new.")
    found = {
        "answers": given.answers,
        "random": given.random,
        "suggest": given.suggest,
        "words": None if given.words is None else given.words == "on",
        "names": None if given.names is None else given.names == "on",
        "rename": {old: new for old, _, new in renamed} or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _read_classes(classes: list[str] | None) -> tuple[list[str] | None, dict[str, str] | None]:
    """Classes from the command, or from a table of them, with what is said of each."""
    if classes is None or len(classes) > 1 or not Path(classes[0]).is_file():
        return classes, None
    from plausible.io import read_table

    table = read_table(classes[0])
    columns = {name.lower(): table.column(name).to_pylist() for name in table.column_names}
    found = [str(name) for name in columns.get("name", next(iter(columns.values())))]
    told = [str(text or "") for text in columns.get("help", [""] * len(found))]
    return found, dict(zip(found, told, strict=True))


def _suggest(given: argparse.Namespace, talk: Talk, store: Any, web: Any) -> None:
    """Keep what a model says of the items; without it, asking goes on."""
    from plausible.cli.predict import for_model, learned, load_model
    from plausible.io import read_new

    model, about = load_model(given.model, given.trusted)
    known = learned(model, about)
    with for_model():
        new = read_new(
            given.features, known["columns"], known["n_features"], usual=about.get("id"),
            kinds=known["kinds"], keep="none",
        )  # fmt: skip
    if new.ids is None:
        raise UsageError("--features should have a column that names the items.")
    ask = getattr(model, "predict_plausibility", model.predict_proba)
    count = web.save_suggestions(
        store, list(new.ids), ask(new.X), model.classes_.tolist(), web.digest_of(given.model)
    )
    talk.note(f"{given.model}: suggestions for {count} items")


def _serve(
    given: argparse.Namespace, talk: Talk, store: Any, web: Any, stop: Any
) -> dict[str, Any]:
    """Ask until Ctrl-C."""
    media = given.media or (str(Path(given.items).absolute().parent) if given.items else None)
    settings = web.Settings(
        media=None if media is None else Path(media),
        trust_header=given.trust_header,
        trusted_proxy=given.trusted_proxy,
        secure=bool(given.address and given.address.startswith("https:")),
    )
    room = web.Room(store, settings)
    place = _shown(store.url)
    talk.say(f"Answers are kept in {place}; Ctrl-C ends this, and the same command goes on.")

    def ready(base: str) -> None:
        if given.invite:
            base = given.address or base
            token = store.write(
                lambda connection: web.invite(connection, "annotator", given.invite, None)
            ).result()
            talk.say(f"{given.invite} people can join at {base.rstrip('/')}/join/{token}")

    web.serve(
        room, host=given.host, port=given.port, name=given.name, browse=not given.no_browser,
        tell=talk.say, ready=ready, stop=stop if signals.state.armed else None,
    )  # fmt: skip
    return {"database": place, "n_answers": int(room.live.answers.size)}


def _move(given: argparse.Namespace, talk: Talk, store: Any, web: Any) -> dict[str, Any]:
    """Take answers in, or write them out."""
    found: dict[str, Any] = {}
    if given.taken is not None:
        found["taken"] = web.take_in(store, given.taken)
        talk.say(f"{found['taken']} answers were added")
    if given.export is not None:
        found["output"] = web.write_out(
            store, given.export, as_of=given.as_of, spreadsheet=given.spreadsheet, full=given.full,
            beside=given.items or given.db,
        )  # fmt: skip
        talk.say(f"Answers: {found['output']}")
    return found
