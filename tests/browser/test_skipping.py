"""Without a browser, its tests are skipped with one note, or fail where a browser is required."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("required", [False, True])
def test_a_missing_browser_is_noticed(tmp_path, required):
    for name in ("conftest.py", "measures.js"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "test_two.py").write_text(
        "def test_one(browser): pass\ndef test_other(browser): pass\n"
    )
    wanted = "required" if required else ""
    environment = os.environ | {"PATH": "", "CHROMIUM": "", "PLAUSIBLE_BROWSER": wanted}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    note = "The browser tests were skipped: no chromium was found"
    failure = "PLAUSIBLE_BROWSER=required, but no chromium was found"
    assert ("2 errors in" if required else "2 skipped in") in ran.stdout
    assert (ran.returncode, ran.stdout.count(note)) == ((1, 0) if required else (0, 1))
    assert (failure in ran.stdout) == required
