"""Draw the picture of a report: its top on a wide screen, and a part of it on a telephone at night.

Run with ``make pictures``; needs Debian's chromium (or its path as the environment variable
CHROMIUM), and writes ``report.png`` beside this file. All data are generated.
"""

import base64
import os
import shutil
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from plausible.experts import Annotations
from plausible.models import GaussianMixtureClassifier
from plausible.report import label_report

HERE = Path(__file__).parent
DISEASES = np.array(["blight", "healthy", "mildew", "rust"])
SKILL = {"Ada": 0.95, "Ben": 0.9, "Chloe": 0.85, "David": 0.7, "Emma": 0.0}  # else they guess
N_ITEMS, N_ASKED = 600, 400
SHARPNESS = 1.4  # pixels of the picture for each pixel of the page
MOST_COLORS = 56

FRAME = """<!doctype html>
<style>
  body {{ margin: 0; padding: 20px; width: max-content; background: #e4e8ee; display: flex;
    gap: 20px; align-items: center; }}
  img {{ display: block; border-radius: 10px; }}
</style>
<img src="{wide}" width="920"><img src="{narrow}" width="360">
"""


def survey() -> dict[str, Any]:
    """Leaves that five people looked at, a model, and leaves whose disease is known."""
    rng = np.random.default_rng(7)
    disease = rng.integers(4, size=N_ITEMS)
    X = rng.normal(size=(N_ITEMS, 3)) + 2.6 * np.eye(4, 3)[disease]
    rows = []
    for item in range(N_ASKED):
        for person in rng.permutation(list(SKILL))[: rng.integers(2, 5)]:
            knows = rng.uniform() < SKILL[person]
            alike = disease[item] >= 2 and rng.uniform() < 0.7  # mildew and rust are
            guess = 5 - disease[item] if alike else rng.integers(4)
            said = disease[item] if knows else guess
            second = rng.integers(4) if rng.uniform() < 0.15 else said
            doubt = rng.uniform(0.05, 0.3) if knows else rng.uniform(0.2, 0.7)
            rows.append((f"leaf {item + 1}", person, {*DISEASES[[said, second]]}, doubt))
    items, people, statements, doubts = zip(*rows, strict=True)
    answers = Annotations.from_long(items, people, statements, doubt=doubts)
    return {
        "annotations": answers,
        "model": GaussianMixtureClassifier("tied").fit(X[:N_ASKED], answers.pool()),
        "X": X[:N_ASKED],
        "X_test": X[N_ASKED:],
        "y_test": DISEASES[disease[N_ASKED:]],
        "feature_names": ["color", "spots", "size"],
    }


def shoot(
    browser: Browser, address: str, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> str:
    """A part of a page, as the address of an image."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        device_scale_factor=SHARPNESS,
    )
    page = context.new_page()
    page.goto(address)
    shot = page.screenshot()
    context.close()
    return "data:image/png;base64," + base64.b64encode(shot).decode()


def frame(browser: Browser, wide: str, narrow: str) -> Image.Image:
    """Both parts side by side."""
    size: ViewportSize = {"width": 1400, "height": 900}
    page = browser.new_page(viewport=size, device_scale_factor=SHARPNESS)
    page.set_content(FRAME.format(wide=wide, narrow=narrow))
    return Image.open(BytesIO(page.locator("body").screenshot())).convert("RGB")


def main() -> None:
    """Make a report, open it twice, and frame what is seen."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("chromium is needed: install it, or give its path as CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        report = Path(folder) / "report.html"
        label_report(report, **survey(), title="Leaf survey", date="1 May 2026")
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        wide = shoot(browser, report.as_uri(), (920, 820), "light")
        narrow = shoot(browser, report.as_uri() + "#confusion", (360, 820), "dark")
        picture = frame(browser, wide, narrow)
        browser.close()
    few = picture.quantize(MOST_COLORS, dither=Image.Dither.NONE)
    few.save(HERE / "report.png", optimize=True)


if __name__ == "__main__":
    main()
