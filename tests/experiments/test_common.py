import numpy as np
import pytest

from plausible.experiments import common
from plausible.experiments.comparison import format_table


def test_intervals_cover_the_mean_about_as_often_as_they_say():
    random = np.random.default_rng(0)
    found = [common.summary(random.normal(3.0, 1.0, size=8)) for _ in range(2000)]
    share = np.mean([value["low"] < 3.0 < value["high"] for value in found])
    assert share == pytest.approx(0.95, abs=0.015)


def test_intervals_cover_the_mean_of_fixed_strata():
    random = np.random.default_rng(0)
    centers = random.normal(size=(30, 1)) * 5.0  # strata differ much more than draws
    inside = []
    for _ in range(1000):
        found = common.summary_of_strata(centers + random.normal(size=(30, 3)))
        inside.append(found["low"] < centers.mean() < found["high"])
    assert np.mean(inside) == pytest.approx(0.95, abs=0.025)
    alone = common.summary_of_strata(np.ones((3, 1)))
    assert alone == {"mean": 1.0, "low": 1.0, "high": 1.0}


def test_seeds_differ_by_part_and_order():
    seeds = {common.seed_of(*parts) for parts in ((0, 1), (1, 0), (0, 2), (1, 1))}
    assert len(seeds) == 4


def test_tables_are_aligned():
    table = format_table(["a", "long head"], [["some cell", "1"], ["b", "2"]])
    assert len({len(line) for line in table.splitlines()}) == 1
