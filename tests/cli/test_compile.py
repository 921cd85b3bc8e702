"""``plausible compile``."""

import json
import os
import subprocess
import sys

import pytest

from plausible.cli import main
from plausible.cli.compile import FAMILIES, seconds_to_compile

LARGE_FITS = """
import numpy as np
from plausible.cli.compile import seconds_to_compile
from plausible.engine import StreamRows
from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier

rng = np.random.default_rng(1)
X = rng.normal(size=(70_000, 25)).astype(np.float32)
y = Labels.from_plausibility(rng.uniform(0.1, 1.0, size=(70_000, 7)))
weight = rng.uniform(1.0, 2.0, size=70_000)

def fits():
    for kind in ("full", "tied"):
        model = GaussianMixtureClassifier(kind, max_iter=2, tol=1e9)
        model.fit(X, y, sample_weight=weight)
        model.fit(np.asfortranarray(X, dtype=np.float64), y)
    model.fit(StreamRows([(X[:40_000], y[:40_000]), (X[40_000:], y[40_000:])]))

print(seconds_to_compile(fits))
"""


def test_what_is_compiled_is_told_and_not_compiled_again(capsys):
    assert main(["compile", "calibration", "eknnclus", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["seconds"]
    assert list(told) == ["calibration", "eknnclus"]
    assert main(["compile", "calibration"]) == 0
    assert capsys.readouterr().out == "calibration: is there already\n"


def test_seconds_are_those_of_the_compiler():
    import numba

    @numba.njit
    def twice(x):
        return x + x

    @numba.njit
    def four_times(x):
        return twice(twice(x))

    assert seconds_to_compile(lambda: four_times(1.0)) > 0.0
    assert seconds_to_compile(lambda: four_times(2.0)) == 0.0


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_loops_to_compile(family, tmp_path):
    words = [sys.executable, "-m", "plausible.cli", "compile", family, "--json"]
    first, again = (
        json.loads(
            subprocess.run(
                words,
                env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )["seconds"][family]
        for _ in range(2)
    )
    assert first > 0.0
    assert again == 0.0


@pytest.mark.long
def test_large_fits_after_it_compile_nothing(tmp_path):
    outside = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    words = [sys.executable, "-m", "plausible.cli", "compile", "mixture"]
    subprocess.run(words, env=outside, check=True, capture_output=True)
    words = [sys.executable, "-W", "ignore", "-c", LARGE_FITS]
    done = subprocess.run(words, env=outside, check=True, capture_output=True, text=True)
    assert float(done.stdout) == 0.0
