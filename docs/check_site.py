"""Check the built site: ``python docs/check_site.py site`` ends with 1 and says what is wrong.

Nothing that a browser loads may come from another host; every link inside the site leads to a page
and to a place on it; every public name has exactly one page; every example of the gallery is there,
with a picture and a sentence that says what one sees. Links of the text to other hosts, such as
papers, are counted and listed, and never followed.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).parent
# What a browser fetches by itself, by tag and attribute.
LOADED = {
    ("audio", "src"),
    ("embed", "src"),
    ("iframe", "src"),
    ("image", "href"),
    ("img", "src"),
    ("img", "srcset"),
    ("input", "src"),
    ("link", "href"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("source", "srcset"),
    ("track", "src"),
    ("use", "href"),
    ("video", "poster"),
    ("video", "src"),
}
IN_STYLE = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")
IN_SCRIPT = re.compile(r"""(?:import|fetch|src\s*=|importScripts)\s*\(?\s*['"](https?:)?//[^'"]+""")


@dataclass
class Page:
    """What a page loads, where it links to, and the places on it."""

    loads: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    text: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag if tag in ("style", "script") else self.inside
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.page.places.add(value)
            elif (tag, name) in LOADED:
                parts = value.split(",") if name == "srcset" else [value]
                self.page.loads += [part.split()[0] for part in parts if part.split()]
            elif tag in ("a", "area") and name == "href":
                self.page.links.append(value)
            elif name == "style":
                self.page.loads += in_style(value)

    def handle_endtag(self, tag: str) -> None:
        self.inside = "" if tag == self.inside else self.inside

    def handle_data(self, data: str) -> None:
        if self.inside == "style":
            self.page.loads += in_style(data)
        elif self.inside == "script":
            self.page.loads += [found[0] for found in IN_SCRIPT.finditer(data)]
        else:
            self.page.text += data


def in_style(text: str) -> list[str]:
    """Addresses that a style sheet loads."""
    return [found[1] or found[2] for found in IN_STYLE.finditer(text)]


def read_page(path: Path) -> Page:
    """Parse one page."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def is_elsewhere(address: str) -> bool:
    """Whether an address is on another host."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https", "ftp", "ws", "wss")


def is_inside(address: str) -> bool:
    """Whether an address is one of the site, and not data, mail or another host."""
    return not is_elsewhere(address) and urlsplit(address).scheme in ("", "file")


def loads_elsewhere(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Everything that a browser would fetch from another host, in pages and style sheets."""
    found = []
    for path, page in pages.items():
        found += [f"{path.relative_to(site)} loads {a}" for a in page.loads if is_elsewhere_(a)]
    for path in site.rglob("*.css"):
        addresses = in_style(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)} loads {a}" for a in addresses if is_elsewhere(a)]
    return found


def is_elsewhere_(address: str) -> bool:
    """As `is_elsewhere`, also for a line of a script that names another host."""
    return is_elsewhere(address) or bool(IN_SCRIPT.search(address))


def broken_links(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Links and loads inside the site that lead nowhere."""
    found = []
    for path, page in pages.items():
        for address in [*page.links, *(a for a in page.loads if not IN_SCRIPT.search(a))]:
            if is_inside(address) and not leads_somewhere(address, path, site, pages):
                found.append(f"{path.relative_to(site)} links to {address}, which is not there")
    return found


def leads_somewhere(address: str, path: Path, site: Path, pages: dict[Path, Page]) -> bool:
    """Whether the file is there, and the place on it."""
    parts = urlsplit(address)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file() or not target.is_relative_to(site):
        return False
    place = unquote(parts.fragment)
    return not place or target not in pages or place in pages[target].places


def wrong_names(site: Path, pages: dict[Path, Page], names: Iterable[str]) -> list[str]:
    """Public names that have no page, or several."""
    where = defaultdict(list)
    for path, page in pages.items():
        for place in page.places:
            where[place].append(str(path.relative_to(site)))
    return [
        f"{name} should have one page, but has {len(found)}: {', '.join(found) or 'none'}"
        for name in names
        if len(found := where[name]) != 1
    ]


def wrong_examples(site: Path, pages: dict[Path, Page], scripts: Iterable[Path]) -> list[str]:
    """Examples of the gallery without page, picture or sentence."""
    found = []
    for script in scripts:
        page = pages.get(site / "gallery" / f"{script.stem}.html")
        if page is None:
            found.append(f"{script.name} has no page in the gallery")
        elif not any(script.stem in address for address in page.loads):
            found.append(f"{script.name} has no picture")
        elif "What one sees." not in page.text:
            found.append(f"{script.name} does not say what one sees")
    return found


def outward(pages: dict[Path, Page]) -> dict[str, int]:
    """How many links of the text lead to each other host."""
    count: dict[str, int] = defaultdict(int)
    for page in pages.values():
        for address in page.links:
            if is_elsewhere(address):
                count[urlsplit(address).netloc] += 1
    return dict(sorted(count.items()))


def main(site: Path) -> int:
    """Check a site, and say what was found."""
    sys.path.insert(0, str(HERE))
    from extension.public_names import pages as public

    site = site.resolve()
    files = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: read_page(path) for path in files}
    names = [name.path for name in public()]
    scripts = sorted((HERE.parent / "examples" / "gallery").glob("*.py"))
    wrong = [
        *loads_elsewhere(site, pages),
        *broken_links(site, pages),
        *wrong_names(site, pages, names),
        *wrong_examples(site, pages, scripts),
    ]
    for line in wrong:
        print(line, file=sys.stderr)
    hosts = ", ".join(f"{host} ({count})" for host, count in outward(pages).items()) or "none"
    megabytes = sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) / 1e6
    print(f"{len(pages)} pages, {megabytes:.0f} MB; {len(names)} public names, each on one page")
    print(f"{len(scripts)} examples in the gallery; links of the text to other hosts: {hosts}")
    if not wrong:
        print(
            f"nothing is loaded from another host, and every link inside holds: {site}/index.html"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "site")))
