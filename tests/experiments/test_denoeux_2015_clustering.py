"""The experiment on clusterings without centers: its parts, and what is stored of it."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from plausible.datasets import ClusterData
from plausible.experiments import clustering_peers, stored
from plausible.experiments import denoeux_2015_clustering as experiment


def data():
    X, y = make_blobs(
        [60, 80, 70, 50], centers=[[0, 0], [12, 0], [0, 12], [12, 12]], random_state=0
    )
    return ClusterData("a1", X, y)


def test_everybody_finds_clusters_that_are_far_apart():
    names = tuple(clustering_peers.CONTESTANTS)
    found = clustering_peers.contest(data(), 50, 0, names)
    assert set(found) == set(names)
    for name in ("EK-NNclus", "GaussianMixture, BIC"):
        assert found[name]["clusters"] == 4
        assert found[name]["ari"] == 1.0
    assert found["HDBSCAN"]["ari"] > 0.8
    assert all(one["seconds"] > 0 for one in found.values())


def test_noise_is_no_cluster():
    few = ClusterData("three", np.zeros((3, 2)), np.array([0, 0, 1]))
    assert clustering_peers.scored(few, np.array([0, 0, -1]), 1.0)["clusters"] == 1


def test_runs_of_the_protocol_are_summarized(monkeypatch):
    monkeypatch.setitem(experiment.A_SETS, "a1", {**experiment.A_SETS["a1"], "k": 50})
    told = []
    found = experiment.a_set(data(), 3, 0, told.append)
    assert found["n"]["clusters"] == 4
    assert found["n"]["spread"] == 0
    assert found["n"]["ari"] == 1.0
    assert len(told) == 2
    assert len(found["picture"]["c"]) == 260
    assert max(found["picture"]["x"]) <= 1000


def test_strips_are_found():
    assert experiment.strip(0, 0) >= 0.97


def test_a_criterion_that_rises_is_told():
    assert experiment.falls([3.0, 2.0, 2.0])
    assert not experiment.falls([3.0, 2.0, 2.1])


def test_what_is_stored_is_judged_as_it_says(tmp_path):
    results = stored.read_results("denoeux_2015_clustering")
    assert not results["quick"]
    assert experiment.judge(results) == results["claims"]
    assert all(one["holds"] for one in results["claims"] if one["required"])
    clusters = [results["a_sets"][name]["n"]["clusters"] for name in ("a1", "a2", "a3")]
    assert clusters[:2] == [20, 35]
    assert 49 <= clusters[2] <= 50
    tables = experiment.tables(results)
    assert len(tables["a_sets"].rows) == 6
    assert {len(row) for row in tables["contest"].rows} == {len(tables["contest"].head)}
    worse = {**results, "strips": [0.5]}
    assert experiment.judge(worse)[-1]["holds"] is False
    pytest.importorskip("matplotlib")
    experiment.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
