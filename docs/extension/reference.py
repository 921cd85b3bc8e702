"""Write the pages of the reference, one for each public name, before Sphinx reads them.

They are made in ``docs/reference`` (ignored by git) from each room's ``__all__``, and only those
that changed are written, so that a second build reads little. Short names in code, such as
``Annotations.pool``, are links to them, in docstrings and in the guides.
"""

import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

from extension.public_names import ROOMS, PublicName, home_of, names_of, pages, rooms

HEADINGS = {
    "class": "Classes",
    "function": "Functions",
    "warning": "Errors and warnings",
    "data": "Constants",
}


def underlined(title: str, line: str = "=") -> str:
    """A heading of reStructuredText."""
    return f"{title}\n{line * len(title)}\n"


def indented(lines: list[str], by: str = "   ") -> list[str]:
    """The same lines, further right."""
    return [f"{by}{line}" if line else "" for line in lines]


def table(found: list[PublicName]) -> list[str]:
    """Names, as links, and what they are."""
    lines = [".. list-table::", "   :class: names", "   :widths: 40 60", ""]
    for name in found:
        path = f"plausible.{home_of(name)}.{name.name}"
        lines += [f"   * - :py:obj:`~{path}`", f"     - {name.summary}"]
    return [*lines, ""]


def constants(found: list[PublicName]) -> list[str]:
    """Values of a room, on its page."""
    lines = []
    for name in found:
        value = repr(name.value)
        shown = value if len(value) <= 70 else f"{type(name.value).__name__} of {len(name.value)}"
        lines += [f".. py:data:: {name.name}", "", f"   ``{shown}``", ""]
    return lines


def room_page(room: str) -> str:
    """What a room is for, and lists of its names."""
    found = names_of(room)
    here = [name for name in found if home_of(name) == room]
    elsewhere = [name for name in found if home_of(name) != room]
    lines = [underlined(f"plausible.{room}"), f".. automodule:: plausible.{room}", ""]
    for kind, heading in HEADINGS.items():
        of_kind = [name for name in here if name.kind == kind]
        if of_kind:
            make = constants if kind == "data" else table
            lines += [underlined(heading, "-"), *make(of_kind)]
    if elsewhere:
        lines += [underlined("Also here", "-"), "From a lower room:", "", *table(elsewhere)]
    of_pages = [name.page for name in here if name.kind != "data"]
    if of_pages:
        lines += [".. toctree::", "   :hidden:", "", *indented(of_pages)]
    return "\n".join([*lines, ""])


def name_page(found: PublicName, examples: str) -> str:
    """One name: its docstring, and where the gallery uses it."""
    lines = [underlined(found.name), f".. currentmodule:: plausible.{found.room}", ""]
    if found.kind == "function":
        lines += [f".. autofunction:: {found.name}", ""]
    else:
        directive = "autoexception" if found.kind == "warning" else "autoclass"
        lines += [f".. {directive}:: {found.name}"]
        if found.kind == "class":
            lines += ["   :members:", "   :inherited-members:"]
        lines += [""]
    if re.search(rf"\b{found.name}\b", examples):
        lines += [".. minigallery:: " + found.path, "   :add-heading: In the gallery", ""]
    return "\n".join(lines)


def index_page() -> str:
    """All rooms, and the names that stand at the top of the package."""
    import plausible

    lines = [underlined("Reference")]
    lines += ["Every public name has one page. Rooms are in the order in which data flows.", ""]
    lines += [".. list-table::", "   :class: names", "   :widths: 30 70", ""]
    for room in rooms():
        lines += [f"   * - :doc:`plausible.{room} <plausible.{room}>`", f"     - {ROOMS[room]}"]
    lines += ["", underlined("At the top of the package", "-")]
    lines += ["What is used most can be had from ``plausible`` itself:", ""]
    top = [name for name in plausible.__all__ if name not in rooms() and name != "__version__"]
    everything = {id(name.value): name for name in pages()}
    lines += table([everything[id(getattr(plausible, name))] for name in top])
    lines += [".. toctree::", "   :hidden:", ""]
    lines += [f"   plausible.{room}" for room in rooms()]
    return "\n".join([*lines, ""])


def write_pages(folder: Path) -> None:
    """Write what changed, and remove what is no longer public."""
    folder.mkdir(exist_ok=True)
    texts = {"index": index_page()}
    texts |= {f"plausible.{room}": room_page(room) for room in rooms()}
    gallery = folder.parents[1] / "examples" / "gallery"
    examples = "".join(file.read_text(encoding="utf-8") for file in gallery.glob("*.py"))
    texts |= {found.page: name_page(found, examples) for found in pages() if found.kind != "data"}
    for name, text in texts.items():
        file = folder / f"{name}.rst"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    for file in folder.glob("*.rst"):
        if file.stem not in texts:
            file.unlink()


def skip_foreign(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> Any:
    """Leave out what comes from scikit-learn, numpy or Python itself: their pages tell it."""
    if what not in ("class", "exception"):
        return None
    function = inspect.unwrap(getattr(value, "fget", None) or getattr(value, "func", None) or value)
    owner = getattr(value, "__objclass__", function)
    module = getattr(owner, "__module__", None) or ""
    is_field = type(value).__name__ == "_tuplegetter"  # of a named tuple: the docstring has it
    is_foreign = (callable(function) or owner is not function) and "plausible" not in module
    return True if is_field or is_foreign or name.startswith("set_") else None


def name_attributes(
    app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """In ``classes_`` the underscore is part of the name, not a target of reStructuredText."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")) and "``" not in line:
            lines[k] = re.sub(r"(?<![\\\w`*:])([a-z]\w*)_(?=[\s.,;:)]|$)", r"\1\\_", line)


def short_names() -> dict[str, str]:
    """Full names by the short ones that mean one thing only."""
    full: dict[str, set[str]] = {}
    for found in pages():
        if found.kind == "data":
            continue
        full.setdefault(found.name, set()).add(found.path)
        full.setdefault(f"{found.room}.{found.name}", set()).add(found.path)
        if found.kind == "class":
            for member in vars(found.value):
                if not member.startswith("_"):
                    full.setdefault(f"{found.name}.{member}", set()).add(f"{found.path}.{member}")
    return {short: paths.pop() for short, paths in full.items() if len(paths) == 1}


def find_short(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Resolve a short name such as ``Labels`` or ``Annotations.pool``."""
    if node.get("refdomain") != "py":
        return None
    known = app.config.plausible_short_names
    target = known.get(node.get("reftarget", "").removesuffix("()"))
    if target is None:
        return None
    domain = env.get_domain("py")
    builder = app.builder
    return domain.resolve_xref(env, node["refdoc"], builder, "obj", target, node, content)


def link_code(app: Any, document: Any) -> None:
    """Code in the text of a guide that is the name of something becomes a link."""
    known = app.config.plausible_short_names
    for code in list(document.findall(nodes.literal)):
        text = code.astext().removesuffix("()").removeprefix("plausible.")
        is_plain = not isinstance(code.parent, addnodes.pending_xref | nodes.reference)
        if text in known and is_plain and (text[0].isupper() or "." in text or "_" in text):
            reference = addnodes.pending_xref(
                "",
                code.deepcopy(),
                refdomain="py",
                reftype="obj",
                reftarget=known[text],
                refdoc=app.env.docname,
                refwarn=False,
            )
            code.replace_self(reference)


def show_room(app: Any, name: str, template: str, context: dict[str, Any], document: Any) -> None:
    """Give the sidebar of a page of the reference the names of its room."""
    folder, _, page = name.partition("/")
    if folder == "reference" and page != "index":
        room = page.split(".")[1].removesuffix("-function")
        context["room"] = room
        context["rooms"] = rooms()
        context["names"] = [
            (n.name, n.page) for n in names_of(room) if home_of(n) == room and n.kind != "data"
        ]


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_config_value("plausible_short_names", short_names(), "")
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "reference"))
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", name_attributes, priority=900)
    app.connect("missing-reference", find_short)
    app.connect("doctree-read", link_code)
    app.connect("html-page-context", show_room)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
