"""Evidential c-means, as far as it needs no data of others."""

import numpy as np
import pytest

from plausible.experiments import denoeux_2015_ecm as experiment
from plausible.experiments.stored import read_results


def test_butterfly_masses_are_those_of_the_slides():
    found = experiment.butterfly(seed=1)
    masses = np.array(found["10"]["masses"])
    assert found["10"]["criterion"] == pytest.approx(23.4129, abs=1e-3)
    assert found["25"]["criterion"] == pytest.approx(35.1600, abs=1e-3)
    # Object 3 is in the left wing, 9 in the right one, 6 in either, and 12 in none.
    assert masses[[2, 8, 5, 11]].argmax(axis=1).tolist() == [1, 2, 3, 0]
    np.testing.assert_allclose(masses[:5, 1], masses[[10, 9, 8, 7, 6], 2], atol=0.1)


def test_strips_are_linked_truly():
    X, owner, links, same = experiment.strips(30, seed=0)
    assert X.shape == (150, 2)
    np.testing.assert_array_equal(owner[links[:, 0]] == owner[links[:, 1]], same)
    assert np.abs(X[owner == 1, 1].mean() - 1.5) < 0.2


def test_what_was_found_is_stored_and_told():
    results = read_results("denoeux_2015_ecm")
    tables = experiment.tables(results)
    assert len(tables["butterfly"].rows) == 12
    claims = experiment.judge(results)
    assert claims == results["claims"]
    assert all(one["holds"] for one in claims if one["required"])
    # Four classes overlap; ECM on strips is better than was said; two of 200 starts are missed.
    assert [one["holds"] for one in claims].count(False) == 3
