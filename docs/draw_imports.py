"""Draw who imports whom into CONTRIBUTING.md, from the code: rooms, and families of models.

``python docs/draw_imports.py`` writes the drawings between their markers; a test compares.
"""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "plausible"
PAGE = ROOT / "CONTRIBUTING.md"
Graph = dict[str, set[str]]


def imported(file: Path) -> set[str]:
    """Modules of this package that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith("plausible.")}


def parts(folder: Path) -> set[str]:
    """Rooms of a folder: its packages and modules."""
    names = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    return {name for name in names if not name.startswith("_")}


def graph_of(folder: Path, package: str) -> Graph:
    """Which part of a package imports which other."""
    names = parts(folder)
    graph: Graph = defaultdict(set)
    for name in sorted(names):
        files = (
            (folder / name).rglob("*.py") if (folder / name).is_dir() else [folder / f"{name}.py"]
        )
        for file in files:
            for module in imported(file):
                other = module.removeprefix(f"{package}.").partition(".")[0]
                if module.startswith(f"{package}.") and other in names - {name}:
                    graph[name].add(other)
        graph.setdefault(name, set())
    return dict(graph)


def reachable(graph: Graph, start: str) -> set[str]:
    """All that is imported on the way."""
    seen: set[str] = set()
    stack = [start]
    while stack:
        for other in graph[stack.pop()] - seen:
            seen.add(other)
            stack.append(other)
    return seen


def thinned(graph: Graph) -> Graph:
    """Without arrows that a longer way says as well."""
    return {
        name: {
            other
            for other in others
            if not any(other in reachable(graph, third) for third in others - {other})
        }
        for name, others in graph.items()
    }


def drawing(graph: Graph) -> str:
    """A flowchart in Mermaid's words."""
    lines = ["```mermaid", "flowchart TD"]
    for name, others in sorted(thinned(graph).items()):
        lines += [f"    {name} --> {other}" for other in sorted(others)]
    return "\n".join([*lines, "```"])


def with_drawings(text: str) -> str:
    """The page with what the code says between its markers."""
    for marker, folder, package in (
        ("rooms", SOURCE, "plausible"),
        ("models", SOURCE / "models", "plausible.models"),
    ):
        start, end = f"<!-- {marker} -->\n", f"<!-- end of {marker} -->"
        before, _, rest = text.partition(start)
        after = rest.partition(end)[2]
        text = f"{before}{start}{drawing(graph_of(folder, package))}\n{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(with_drawings(PAGE.read_text()))
