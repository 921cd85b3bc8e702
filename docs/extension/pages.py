"""Pages of the root, such as CHANGES.md, as pages of the site, with their links in order."""

import re
from pathlib import Path
from typing import Any

# Names of files as the pages of the repository link to them, and of the pages of the site.
PAGES = {"CHANGES.md": "changes.md", "CONTRIBUTING.md": "contributing.md", "README.md": "index.md"}


def relinked(text: str) -> str:
    """Links that hold in the repository, as they hold in the site.

    >>> relinked("[what landed](../CHANGES.md), [a guide](docs/labels.md#scores)")
    '[what landed](changes.md), [a guide](labels.md#scores)'
    """
    for file, page in PAGES.items():
        text = re.sub(rf"\]\((?:\.\./)?{re.escape(file)}(?=[)#])", f"]({page}", text)
    return re.sub(r"\]\(docs/", "](", text)


def unlisted(folder: Path) -> list[str]:
    """Pages that no list of pages names: guides that are new, which would have no place."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    lists = [re.findall(r"^```{toctree}\n(.*?)^```", text, re.M | re.S) for text in texts.values()]
    listed = set(re.findall(r"[\w/]+", " ".join(block for found in lists for block in found)))
    return sorted(set(texts) - listed - {"index", "reproduction.template"})


def filled(text: str, folder: Path) -> str:
    """What is drawn or taken from the code, in the place of its marker."""
    from draw_imports import SOURCE, drawing, graph_of
    from plausible.cli.demo import COMMANDS

    commands = "\n".join(["```sh", *COMMANDS, "```"])
    text = text.replace("<!-- demo commands -->", commands)
    others = "\n".join(["```{toctree}", ":hidden:", ":caption: More", "", *unlisted(folder), "```"])
    text = text.replace("<!-- other pages -->", others if unlisted(folder) else "")
    return text.replace("<!-- drawing: rooms -->", drawing(graph_of(SOURCE, "plausible")))


def read(app: Any, name: str, source: list[str]) -> None:
    """Take the file of the root into the page that stands for it."""
    root = app.srcdir.parent
    for file, page in PAGES.items():
        if page == f"{name}.md" and source[0].strip() == f"<!-- {file} -->":
            source[0] = (root / file).read_text(encoding="utf-8")
            app.env.note_dependency(str(root / file))
    if (app.srcdir / f"{name}.md").exists():
        source[0] = relinked(filled(source[0], Path(app.srcdir)))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
