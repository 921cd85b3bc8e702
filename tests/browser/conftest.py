"""One browser for these tests: Debian's chromium, driven by playwright.

Without them the tests are skipped, with one note at the end. With PLAUSIBLE_BROWSER=required they
fail instead.
"""

import os
import shutil
from pathlib import Path

import pytest

from plausible.report import render
from support.reports import all_reports

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
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._complain_about_dialog)
        page.goto(address)

    def _complain_about_dialog(self, dialog):
        self.complaints.append(dialog.message)
        dialog.dismiss()

    def measure(self, name):
        """A measure of ``measures.js``."""
        return self.page.evaluate(f"({MEASURES}).{name}()")

    def outline(self):
        """What a screen reader is told, one line for each element."""
        return self.page.locator("body").aria_snapshot().splitlines()


@pytest.fixture
def visit(browser):
    """Open an address, at a width in pixels, in light or in dark."""
    contexts = []

    def open_page(address, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        return Visit(context.new_page(), address)

    yield open_page
    for context in contexts:
        context.close()
