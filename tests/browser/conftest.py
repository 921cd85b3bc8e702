"""One browser for these tests: Debian's chromium, driven by playwright.

Without them the tests are skipped, with one note at the end. With PLAUSIBLE_BROWSER=required they
fail instead.
"""

import os
import shutil
from pathlib import Path

import pytest

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MEASURES = (Path(__file__).parent / "measures.js").read_text(encoding="utf-8")
WHY_SKIPPED = pytest.StashKey[str]()


def pytest_terminal_summary(terminalreporter, config):
    """Say once why there were no browser tests."""
    why = config.stash.get(WHY_SKIPPED, None)
    if why is not None:
        terminalreporter.write_line(f"The browser tests were skipped: {why}", yellow=True)


def give_up(config, why):
    if os.environ.get("PLAUSIBLE_BROWSER") == "required":
        pytest.fail(f"PLAUSIBLE_BROWSER=required, but {why}", pytrace=False)
    config.stash[WHY_SKIPPED] = why
    pytest.skip(why)


@pytest.fixture(scope="package")
def browser(pytestconfig):
    """A browser that lives as long as the tests of this folder, and no longer."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        give_up(
            pytestconfig,
            "no chromium was found; install it (apt-get install chromium), or give its path as "
            "the environment variable CHROMIUM.",
        )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        give_up(pytestconfig, "the Python package playwright is missing; run make .venv/dev.")
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="package")
def reports(browser, tmp_path_factory):
    """Addresses of reports of every shape; made only if there is a browser."""
    from plausible.report import render
    from support.reports import all_reports

    folder = tmp_path_factory.mktemp("reports")
    addresses = {}
    for number, (name, summary) in enumerate(all_reports().items()):
        path = folder / f"{number}.html"
        path.write_text(render(summary), encoding="utf-8")
        addresses[name] = path.as_uri()
    return addresses


class Visit:
    """A page that was opened, with all that it asked for and complained about."""

    def __init__(self, page, address):
        self.page, self.address, self.requests, self.complaints = page, address, [], []
        self.listeners = {
            "request": lambda request: self.requests.append(request.url),
            "console": lambda message: self.complaints.append(message.text),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "dialog": self._complain_about_dialog,
        }
        for event, listener in self.listeners.items():
            page.on(event, listener)
        page.goto(address)

    def _complain_about_dialog(self, dialog):
        self.complaints.append(dialog.message)
        dialog.dismiss()

    def leave(self):
        """Stop listening, and forget the light and the paper."""
        for event, listener in self.listeners.items():
            self.page.remove_listener(event, listener)
        self.page.emulate_media(media="null", color_scheme="null")
        self.page.goto("about:blank")

    def measure(self, name):
        """A measure of ``measures.js``."""
        return self.page.evaluate(f"({MEASURES}).{name}()")

    def open_all(self):
        """Unfold what is folded."""
        self.page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")

    def outline(self):
        """What a screen reader is told, one line for each element."""
        lines = self.page.locator("body").aria_snapshot().splitlines()
        return [line.lstrip("- '") for line in lines]


@pytest.fixture(scope="package")
def page(browser):
    """One page for all visits, because a new one takes longer than most tests."""
    return browser.new_page()


@pytest.fixture
def visit(page):
    """Open an address at a width in pixels."""
    visits = []

    def open_page(address, width=1280):
        page.set_viewport_size({"width": width, "height": 900})
        visits.append(Visit(page, address))
        return visits[-1]

    yield open_page
    for seen in visits:
        seen.leave()
