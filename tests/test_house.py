"""The repository keeps its own promises."""

import ast
import importlib
import importlib.metadata
import inspect
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import plausible
from plausible import (
    base,
    belief,
    cluster,
    datasets,
    engine,
    experiments,
    experts,
    io,
    labels,
    metrics,
    models,
    neighbors,
    plots,
    report,
    testing,
    web,
)

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOMS = sorted(p.parent.name for p in (ROOT / "src" / "plausible").glob("*/__init__.py"))
ABOVE_PLOTS = {"web", "cli", "report", "experiments", "plots"}


def test_every_room_is_in_the_contracts_and_in_the_package():
    layers, forbidden = PROJECT["tool"]["importlinter"]["contracts"]
    planned = {name for line in layers["layers"] for name in re.findall(r"plausible\.(\w+)", line)}
    assert set(ROOMS) <= planned
    below = {f"plausible.{room}" for room in set(ROOMS) - ABOVE_PLOTS}
    alone = {"plausible.checks", "plausible.errors", "plausible.short_rows"}
    assert below | alone == set(forbidden["source_modules"])
    used_most = {"Annotations", "Labels", "decide", "load", "save"}
    everything = {*ROOMS, *used_most, "__version__"}
    assert everything == set(plausible.__all__) == set(dir(plausible))
    for name in used_most:
        assert callable(getattr(plausible, name))
    for room in ROOMS:
        assert inspect.ismodule(getattr(plausible, room))


def test_one_version():
    assert importlib.metadata.version("plausible") == plausible.__version__
    assert plausible.__version__ in (ROOT / "CHANGES.md").read_text()


def test_all_is_every_extra():
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = re.fullmatch(r"plausible\[(.*)\]", everything)[1].split(",")
    assert sorted(named) == sorted(set(extras) - {"all"})


def test_core_dependencies_are_few():
    names = {re.match(r"[\w-]+", line)[0] for line in PROJECT["project"]["dependencies"]}
    assert names == {"numpy", "scipy", "scikit-learn", "numba"}


def test_importing_is_cheap():
    heavy = "numba", "sklearn", "pandas", "matplotlib"
    code = f"""
import sys, plausible
assert "numpy" not in sys.modules, "import plausible loads numpy"
import plausible.belief
loaded = [name for name in {heavy} if name in sys.modules]
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)


PUBLIC = [
    (room, name)
    for room in (
        base,
        belief,
        cluster,
        engine,
        datasets,
        experiments,
        experts,
        io,
        labels,
        metrics,
        models,
        neighbors,
        plots,
        report,
        testing,
        web,
    )
    for name in room.__all__
    if callable(getattr(room, name))
]


@pytest.mark.parametrize(("room", "name"), PUBLIC)
def test_every_public_function_and_class_has_a_running_example(room, name):
    assert ">>>" in inspect.getdoc(getattr(room, name))


@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_every_experiment_is_run_and_reported(name):
    guide = (ROOT / "docs" / "reproduction.md").read_text()
    assert f"plausible reproduce {name}`" in guide
    assert f"(pictures/{name}.png)" in guide
    assert (ROOT / "docs" / "pictures" / f"{name}.png").stat().st_size < 100_000
    module = importlib.import_module(f"plausible.experiments.{name}")
    assert list(inspect.signature(module.run).parameters)[:3] == ["quick", "seed", "progress"]


def test_the_makefile_runs_them_all():
    text = (ROOT / "Makefile").read_text()
    assert "NAMES ?= all\n" in text
    assert "$(VENV)/bin/plausible reproduce $(NAMES)" in text


def test_every_file_of_the_experiments_is_one_or_a_part_of_one():
    folder = ROOT / "src/plausible/experiments"
    files = {path.stem: path.read_text() for path in folder.glob("*.py")}
    programs = {name for name, text in files.items() if "\ndef run(" in text}
    assert programs == set(experiments.EXPERIMENTS)
    imports = r"^from plausible\.experiments(?:\.(\w+))? import ([\w, ]*)"
    used = {
        name
        for text in files.values()
        for line in re.findall(imports, text, re.MULTILINE)
        for name in re.findall(r"\w+", " ".join(line))
    }
    assert set(files) - programs - {"__init__", "document"} <= used


def test_experiments_need_neither_pandas_nor_matplotlib():
    modules = ", ".join(f"plausible.experiments.{name}" for name in experiments.EXPERIMENTS)
    code = f"import sys; sys.modules |= dict.fromkeys(['pandas', 'matplotlib']); import {modules}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pictures_are_small():
    pictures = list((ROOT / "docs" / "pictures").glob("*.png"))
    assert len(pictures) > len(experiments.EXPERIMENTS)
    assert not [path.name for path in pictures if path.stat().st_size >= 100_000]


def test_unknown_rooms_are_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        plausible.nonsense  # noqa: B018


def test_the_demo_goes_from_doubtful_experts_to_soft_scores(capsys):
    runpy.run_path(str(ROOT / "examples" / "doubtful_experts.py"), run_name="__main__")
    story = capsys.readouterr().out
    scores = {
        line[2:38].strip(): float(line[38:43])
        for line in story.splitlines()
        if re.fullmatch(r"  [a-zA-Z].{35}\d\.\d{3}.*", line)
    }
    soft = scores["soft accuracy against the experts"]
    true = scores["accuracy against the true species"]
    assert abs(soft - true) < 0.05
    assert scores["scikit-learn's accuracy"] < true - 0.2
    assert scores["the same when it may refuse"] >= true
    assert max(map(len, story.splitlines())) <= 100


@pytest.mark.long
def test_models_that_are_not_linear_learn_from_partial_labels(capsys):
    accuracy = runpy.run_path(str(ROOT / "examples" / "partial_labels.py"))["main"]()
    capsys.readouterr()
    assert accuracy["linear"] < 0.6
    assert min(accuracy["additive (splines)"], accuracy["two-layer network"]) > 0.8


def test_the_two_experts_tell_their_story(capsys):
    runpy.run_path(str(ROOT / "examples" / "two_experts.py"), run_name="__main__")
    story = capsys.readouterr().out
    photographs = story.split("Photograph ")[1:7]
    assert ["refuse:" in text for text in photographs] == [False, False, False, True, True, False]
    assert "one name        chanterelle" in photographs[5]
    assert "in the kitchen  leave it" in photographs[5]
    assert "in the kitchen  eat it" in photographs[0]
    assert "conflict 0.80" in photographs[3]
    assert max(map(len, story.splitlines())) <= 100


def test_a_family_of_ones_own_takes_less_than_thirty_lines(capsys):
    path = ROOT / "examples" / "uncertain_durations.py"
    run = runpy.run_path(str(path))
    found = run["main"]()
    story = capsys.readouterr().out
    (family,) = [node for node in ast.parse(path.read_text()).body if type(node) is ast.ClassDef]
    assert family.end_lineno - family.lineno < 30
    assert abs(found["shape"] - run["SHAPE"]) < 0.2
    assert abs(found["scale"] - run["SCALE"]) < 0.3
    assert "From midpoints" in story
    assert max(map(len, story.splitlines())) <= 100


@pytest.mark.parametrize(
    ("room", "guide"),
    [
        (belief, "belief.md"),
        (cluster, "clustering.md"),
        (experts, "experts.md"),
        (io, "files.md"),
        (metrics, "labels.md"),
        (report, "report.md"),
        (testing, "testing.md"),
        (web, "annotate.md"),
    ],
)
def test_the_guide_names_every_function(room, guide):
    text = (ROOT / "docs" / guide).read_text()
    functions = [n for n in room.__all__ if n[0].islower() and n != "get_scorer"]
    assert not [name for name in functions if f"`{name}`" not in text]


def test_the_guide_names_every_picture():
    text = (ROOT / "docs" / "plots.md").read_text()
    assert not [name for name in plots.__all__ if f"`{name}`" not in text]


def test_every_scorer_is_in_the_guide():
    text = (ROOT / "docs" / "labels.md").read_text()
    assert not [name for name in metrics.SCORERS if f'`"{name}"`' not in text]


def test_the_drawings_of_imports_are_those_of_the_code():
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_imports.py"))
    page = (ROOT / "CONTRIBUTING.md").read_text()
    assert page == drawn["with_drawings"](page), "run python docs/draw_imports.py"
    for graph in (drawn["graph_of"](ROOT / "src/plausible/models", "plausible.models"),):
        assert all(name not in drawn["reachable"](graph, name) for name in graph), "a cycle"


SOURCES = sorted((ROOT / "src" / "plausible").rglob("*.py"))


def parsed(path):
    return ast.walk(ast.parse(path.read_text(), str(path)))


def test_rooms_are_entered_by_the_front_door():
    """`from plausible.engine.rows import ...` in another room is a way past `__init__`.

    Families, such as `plausible.models.gaussian`, are rooms with a door of their own.
    """
    doors = {path.parent for path in SOURCES if path.name == "__init__.py"}
    past = []
    for path in SOURCES:
        room = path.relative_to(ROOT / "src" / "plausible").parts[0]
        for node in parsed(path):
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else names
            for name in names:
                first, *rest = name.split(".")
                is_door = (ROOT / "src" / "plausible").joinpath(*rest) in doors
                if first == "plausible" and len(rest) > 1 and rest[0] != room and not is_door:
                    past.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
    assert not past


def says_message(node):
    """Whether an expression is the text of an error or a warning: str(error), w.message."""
    names = {"error", "exc", "err", "e", "exception", "failure", "caught", "warning", "w"}
    if isinstance(node, ast.Attribute):
        return (
            isinstance(node.value, ast.Name) and node.value.id in names and node.attr == "message"
        )
    is_text = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    if is_text and node.func.id in ("str", "repr") and node.args:
        held = node.args[0]
        return (isinstance(held, ast.Name) and held.id in names) or says_message(held)
    return isinstance(node, ast.Name) and node.id == "message"


# Where words of other libraries are all that there is to go by.
FOREIGN_WORDS = {
    "engine/alignment.py": "a warning of dask has no category of its own",
    "testing/promises.py": "that a message names what it should is what is tested",
}


def test_nothing_is_decided_by_the_words_of_a_message():
    """Errors carry attributes, and warnings have categories."""
    readers = set()
    methods = {"startswith", "endswith", "partition", "rpartition", "find", "replace", "count"}
    for path in SOURCES:
        for node in parsed(path):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
                reads = any(map(says_message, node.comparators))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name, owner = node.func.attr, node.func.value
                is_pattern = isinstance(owner, ast.Name) and owner.id == "re"
                reads = (name in methods and says_message(owner)) or (
                    is_pattern and any(map(says_message, node.args))
                )
                reads |= name == "filterwarnings" and (
                    len(node.args) > 1 or "message" in [word.arg for word in node.keywords]
                )
            else:
                continue
            if reads:
                readers.add(str(path.relative_to(ROOT / "src" / "plausible")))
    assert readers == set(FOREIGN_WORDS)
