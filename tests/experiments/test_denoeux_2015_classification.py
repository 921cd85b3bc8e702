"""Vowels and two sensors, in small."""

import numpy as np
import pytest

from plausible.experiments import denoeux_2015_classification as experiment


def a_row(mean):
    return {"mean": mean, "low": mean - 0.01, "high": mean + 0.01}


def verdicts(fused=0.2, clean=0.2, product=0.49, masses=(0.1, 0.5, 1.0), error=0.4, peer=0.437):
    vowels = {"1-NN": peer, "LDA": 0.556, "QDA": 0.528}
    vowels["networks"] = [{"prototypes": 33, "error": a_row(error)}]
    names = {"clean": clean, "noisy": 0.5, "lda": product, "qda": product}
    sensors = [
        {name: a_row(value) for name, value in (names | {"fused": one, "ignorance": mass}).items()}
        for one, mass in zip((0.1, 0.15, fused), masses, strict=True)
    ]
    claims = experiment.judge(vowels, sensors)
    return {f"{one['quantity']}: {one['paper']}": one["holds"] for one in claims}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"fused": 0.22}, "fused networks"),
        ({"product": 0.3}, "products"),
        ({"masses": (0.1, 0.05, 1.0)}, "rises"),
        ({"error": 0.46}, "at most 0.45"),
        ({"peer": 0.46}, "1-NN"),
    ],
)
def test_verdicts_can_go_either_way(change, word):
    good, bad = verdicts(), verdicts(**change)
    (name,) = (one for one in good if word in one)
    assert good[name] is True
    assert bad[name] is False


def test_a_useless_sensor_does_no_harm_to_the_networks_and_ruins_products():
    draws = [experiment.sensor_errors((0.0, 4.0, 32.0), seed) for seed in range(3)]
    mean = {name: np.mean([one[name] for one in draws], axis=0) for name in draws[0]}
    assert mean["fused"][2] <= mean["clean"][2] + 0.01
    assert mean["fused"][0] < mean["clean"][0]
    assert min(mean["lda"][2], mean["qda"][2]) > 0.4
    assert (np.diff(mean["ignorance"]) > 0).all()
    np.testing.assert_allclose(mean["clean"], mean["clean"][0])  # no noise in x'


def test_a_run_in_small(tmp_path, monkeypatch):
    random = np.random.RandomState(0)
    y = np.arange(90) % 3
    X = random.normal(size=(90, 4)) + 2 * np.eye(3, 4)[y]
    data = {"X_train": X[:60], "y_train": y[:60], "X_test": X[60:], "y_test": y[60:]}
    (tmp_path / "vowel").mkdir()
    np.savez(tmp_path / "vowel" / "vowel.npz", **data)
    monkeypatch.setenv("PLAUSIBLE_DATA", str(tmp_path))
    monkeypatch.setattr(experiment, "SIGMAS", (0.0, 32.0))
    results = experiment.run(True, n_draws=2, n_starts=2, counts=(33,))
    (row,) = results["vowels"]["networks"]
    assert row["least"] <= row["error"]["mean"] <= row["largest"] < 0.4
    tables = experiment.tables(results)
    assert [line[0] for line in tables["sensors"].rows] == ["0", "32"]
    experiment.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000
