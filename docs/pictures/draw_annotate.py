"""Draw the picture of the annotation page: on a wide screen, and on a telephone at night.

Run with ``make pictures``; needs Debian's chromium (or its path as the environment variable
CHROMIUM), and writes ``annotate.png`` beside this file.
"""

import base64
import os
import runpy
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from plausible import web

HERE = Path(__file__).parent
drawn = runpy.run_path(str(HERE / "draw_report.py"))
CLASSES = ["chanterelle", "false chanterelle", "jack-o'-lantern", "honey fungus"]
TEXTS = [
    "A dense tuft at the foot of an oak; honey-brown caps with dark scales and a ring.",
    "Egg-yellow cap with a wavy edge. Blunt folds run far down the stalk. Smells of apricots.",
    "Orange cap, velvety, rolled in at the edge. Thin gills that fork again and again run down the "
    "stalk. No smell of apricots. In moss under spruce, beside a rotten stump.",
]
ACTIONS = {"wide": "21", "narrow": "2"}


def shoot(browser: Any, address: str, size: tuple[int, int], scheme: str, keys: str) -> str:
    """The page after some keys, as the address of an image."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme,
        device_scale_factor=drawn["SHARPNESS"],
    )  # fmt: skip
    page = context.new_page()
    page.goto(address)
    for key in keys:
        page.keyboard.press(key)
    shot = page.screenshot()
    context.close()
    return "data:image/png;base64," + base64.b64encode(shot).decode()


def main() -> None:
    """Serve a small study, open it twice, and frame what is seen."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("chromium is needed: install it, or give its path as CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        store = web.open_study(
            {"item": ["photo 17", "photo 4", "photo 9"], "text": TEXTS}, CLASSES,
            db=f"{folder}/mushrooms.db", question="Which mushroom is it?", options={"seed": 2},
        )  # fmt: skip
        person = web.find_or_add(store, "Ada", "annotator")
        room = web.Room(store, web.Settings(local_token="t" * 32, local_person=person.id), 0)
        server = uvicorn.Server(
            uvicorn.Config(web.make_app(room), port=8765, log_level="critical", lifespan="off")
        )
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            threading.Event().wait(0.05)
        address = f"http://127.0.0.1:8765/?token={'t' * 32}"
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        wide = shoot(browser, address, (1060, 690), "light", ACTIONS["wide"])
        narrow = shoot(browser, address, (360, 690), "dark", ACTIONS["narrow"])
        picture = drawn["frame"](browser, wide, narrow)
        browser.close()
        server.should_exit = True
        thread.join()
        store.close()
    few = picture.quantize(drawn["MOST_COLORS"], dither=Image.Dither.NONE)
    few.save(HERE / "annotate.png", optimize=True)


if __name__ == "__main__":
    main()
