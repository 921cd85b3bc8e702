"""Run experiments, and list what they found: the library's side of ``plausible reproduce``."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from traceback import format_exc
from typing import Any, Literal

from plausible.experiments.catalogue import (
    EVERYTHING,
    TITLES,
    Experiment,
    select,
    select_figures,
)
from plausible.experiments.comparison import (
    VERDICTS,
    Results,
    Row,
    Table,
    count_verdicts,
    format_rows,
    format_table,
)
from plausible.experiments.stored import read_results, rounded, write_json

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """What became of one experiment.

    Attributes
    ----------
    experiment : str
    state : {"run", "skipped", "failed"}
        Skipped for want of data.
    message : str
        Why it was skipped or failed; for one that was run, what else there is to say.
    rows : list of Row
        Paper, ours, difference and verdict.
    tables : dict of str to Table
        All that was measured.
    json, picture : Path or None
        What was written.
    seconds : float

    Examples
    --------
    >>> Outcome("come_2008", "skipped", "a set is missing").state
    'skipped'
    """

    experiment: str
    state: Literal["run", "skipped", "failed"]
    message: str = ""
    rows: list[Row] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    json: Path | None = None
    picture: Path | None = None
    seconds: float = 0.0


def reproduce(
    names: str | Iterable[str] = EVERYTHING,
    quick: bool = False,
    seed: int = 0,
    output: str | Path = "reproduction",
    progress: Progress = lambda message: None,
    finished: Callable[[Outcome], Any] = lambda outcome: None,
) -> list[Outcome]:
    """Run experiments; each leaves JSON and a picture in a folder.

    An experiment whose data are missing is skipped, one that fails does not stop the others, and
    what is written is there in whole or not at all.

    Parameters
    ----------
    names : str or iterable of str
        Papers, figures, experiments, or "all".
    quick : bool
        Small runs, of seconds instead of minutes.
    seed : int
        Seed of all draws.
    output : path
        Folder for ``<experiment>.json`` and ``<experiment>.png``; it is made if need be.
    progress : function of a message
        Called on the way.
    finished : function of an Outcome
        Called after each experiment.

    Returns
    -------
    list of Outcome

    Raises
    ------
    ValueError
        If a name is unknown or the folder cannot be made; before anything is run.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (outcome,) = reproduce("denoeux_2015_lda", quick=True, output=folder)
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['denoeux_2015_lda.json', 'denoeux_2015_lda.png']
    >>> outcome.rows[0].paper, outcome.rows[0].verdict
    ('asked: soft labels at least 0.025 below a majority vote', 'holds (required)')
    """
    chosen = select(names)
    folder = Path(output)
    try:  # before the run, so that hours are not lost for want of a folder
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"The output should be a folder that can be made, but {error}; name another."
        ) from None
    outcomes = []
    for experiment in chosen:
        outcomes.append(attempt(experiment, quick, seed, folder, progress))
        finished(outcomes[-1])
    return outcomes


def attempt(
    experiment: Experiment, quick: bool, seed: int, folder: Path, progress: Progress
) -> Outcome:
    """Run one experiment and write what it found; nothing but an interruption escapes."""
    if message := missing_data(experiment):
        return Outcome(experiment.name, "skipped", message)
    try:
        module: Any = import_module(f"plausible.experiments.{experiment.name}")
        start = perf_counter()
        parts = folder / f"{experiment.name}.parts"  # of a run that was interrupted
        further = {"parts": parts} if getattr(module, "RESUMES", False) else {}
        found: Results = module.run(quick=quick, seed=seed, progress=progress, **further)
        seconds = found.get("seconds") or round(perf_counter() - start, 1)
        results = rounded(found | {"seconds": seconds})
        path = folder / f"{experiment.name}.json"
        write_json(results, path)
        picture: Path | None = path.with_suffix(".png")
        try:
            module.draw(results, picture)
        except ImportError:
            picture = None
            message = "No picture: matplotlib is not installed (pip install 'plausible[plots]')."
        rows, tables = experiment.rows(results), module.tables(results)
        rmtree(parts, ignore_errors=True)
    except Exception as error:
        progress(format_exc())
        return Outcome(experiment.name, "failed", f"{type(error).__name__}: {error}")
    return Outcome(experiment.name, "run", message, rows, tables, path, picture, results["seconds"])


def missing_data(experiment: Experiment) -> str:
    """Which sets an experiment lacks, and where they should be; empty if it lacks none."""
    if not experiment.files:
        return ""
    from plausible.datasets import VARIABLE, MissingDataError, locate

    lacking, reason = [], ""
    for file, name in experiment.files.items():
        try:
            locate(name, file)
        except MissingDataError as error:
            lacking.append(f"{name!r} in the file {file}")
            reason = f"{error.reason}."
    if not lacking:
        return ""
    n_sets = len(set(experiment.files.values()))
    return (
        f"{experiment.name} needs {n_sets} sets that are not bundled, in the folder that "
        f"{VARIABLE} names; missing: {', '.join(lacking)}. {reason[:1].upper()}{reason[1:]}"
    )


def listing(names: str | Iterable[str] = EVERYTHING, folder: str | Path | None = None) -> list[Row]:
    """What the papers say beside what we found, one row for each comparison.

    Parameters
    ----------
    names : str or iterable of str
        Papers, figures, experiments, or "all".
    folder : path or None
        Results of your own; what is not there comes from the full runs that were shipped with the
        package.

    Examples
    --------
    >>> row = listing("come_2008")[0]
    >>> row.figure, row.quantity, row.verdict
    ('come-2008-figure-1.1', 'N = 2000', 'holds (required)')
    """
    own = None if folder is None else Path(folder)
    figures = select_figures(names)
    rows: list[Row] = []
    for experiment in select(names):
        results = read_results(experiment.name, own)
        found = [] if results is None else experiment.rows(results)
        rows += [row for row in found if row.figure in figures]
    return rows


@dataclass(frozen=True)
class Line:
    """One figure in a listing: one comparison, and how many of all of them hold.

    `run` says where it comes from, such as "full run, seed 0".

    Examples
    --------
    >>> Line("come_2008 fig 1.1", "errors", "0.1", "0.1", "1 of 1", "full run").verdict
    '1 of 1'
    """

    figure: str
    title: str
    paper: str
    ours: str
    verdict: str
    run: str


def overview(
    names: str | Iterable[str] = EVERYTHING, folder: str | Path | None = None
) -> list[Line]:
    """Every figure and table that is reproduced, one line for each.

    Parameters
    ----------
    names, folder
        As for `listing`.

    Examples
    --------
    >>> line = overview("come_2008")[0]
    >>> line.figure, line.verdict
    ('come-2008-figure-1.1', 'holds; 8 of 8 hold')
    """
    own = None if folder is None else Path(folder)
    figures = select_figures(names)
    lines = []
    for experiment in select(names):
        results = read_results(experiment.name, own)
        rows = [] if results is None else experiment.rows(results)
        for figure in experiment.figures:
            if figure in figures:
                mine = [row for row in rows if row.figure == figure]
                lines.append(line_of(figure, mine, describe_run(results)))
    return lines


def describe_run(results: Results | None) -> str:
    """How much was run.

    Examples
    --------
    >>> describe_run({"quick": True, "seed": 3})
    'quick run, seed 3'
    """
    if results is None:
        return "not run yet"
    return f"{'quick' if results['quick'] else 'full'} run, seed {results['seed']}"


def line_of(figure: str, rows: list[Row], run: str) -> Line:
    """The first comparison that is required, or the first, and how many of all of them hold."""
    if not rows:
        return Line(figure, TITLES[figure], "", "nothing to compare", "", run)
    first = next((row for row in rows if row.required), rows[0])
    verdict = VERDICTS[first.holds]
    if len(rows) > 1:
        verdict += f"; {count_verdicts(rows)}"
    return Line(figure, TITLES[figure], first.statement, first.ours, verdict, run)


def format_outcome(outcome: Outcome) -> str:
    """Tables, comparison and files of one experiment, or why there are none.

    Examples
    --------
    >>> print(format_outcome(Outcome("crowds", "skipped", "crowds needs 8 sets.")))
    crowds: skipped. crowds needs 8 sets.
    """
    parts = [f"{outcome.experiment}: {outcome.state}. {outcome.message}".rstrip()]
    for table in outcome.tables.values():
        parts += [table.caption, format_table(table.head, table.rows)]
    if outcome.rows:
        parts += [format_rows(outcome.rows), f"{outcome.seconds} seconds."]
    written = [str(path) for path in (outcome.json, outcome.picture) if path is not None]
    return "\n\n".join([*parts, *(["\n".join(written)] if written else [])])


def format_overview(lines: Iterable[Line], aligned: bool = True) -> str:
    """A table of figures: paper, ours, verdict, and how much was run.

    Examples
    --------
    >>> print(format_overview(overview("denoeux_2015")).splitlines()[2][:20])
    | denoeux-2015-faces
    """
    cells = [[one.figure, one.paper, one.ours, one.verdict, one.run] for one in lines]
    return format_table(["figure or table", "paper", "ours", "verdict", "run"], cells, aligned)
