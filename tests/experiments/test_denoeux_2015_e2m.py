import numpy as np
import pytest

from plausible.experiments import denoeux_2015_e2m as experiment
from plausible.experiments.uncertain_data import (
    LAWS,
    covered,
    deviations_of_rounded,
    errors_with_missing,
    gaussian_classes,
    said_labels,
    seen_in_part,
)


def test_the_table_of_the_slides_comes_out_to_four_decimals():
    found = experiment.bernoulli()
    assert np.round(found["theta"], 4).tolist() == list(experiment.THETA)
    assert np.round(found["likelihood"], 4).tolist() == list(experiment.LIKELIHOOD)
    curve = np.array(found["curves"]["0.5"])
    assert np.argmax(curve) == 60
    assert curve[60] == pytest.approx(17.28)
    assert np.argmax(found["curves"]["0.0"]) == 67  # a fourth sure one of six
    assert np.argmax(found["curves"]["1.0"]) == 50


def test_what_is_said_errs_as_often_as_it_states():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=20_000)
    labels = said_labels(rng, codes, 3)
    share = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    # the classes are equally frequent, so that the plausibilities are probabilities
    expected = share.max(axis=1).mean()
    assert (labels.contour.argmax(axis=1) == codes).mean() == pytest.approx(expected, abs=0.02)


def test_what_is_seen_holds_the_truth():
    rng = np.random.default_rng(0)
    x = rng.normal(5.0, 2.0, size=3000)
    values = seen_in_part(rng, x, 2.0, 8.0, 1.0)
    sharp = ~values.is_fuzzy
    assert (values.plausibility(x)[sharp] == 1).all()
    fuzzy = values.is_fuzzy
    assert (values.mean - x)[fuzzy].std() == pytest.approx(1.0, abs=0.05)
    assert min(values.is_precise.mean(), values.is_interval.mean(), fuzzy.mean()) > 0.15


def test_rounded_values_keep_their_spread():
    rng = np.random.default_rng(0)
    found = [deviations_of_rounded(rng, 1000, 2.0) for _ in range(8)]
    mean = {name: np.mean([one[name] for one in found]) for name in found[0]}
    assert abs(mean["E2M"] - 1) < experiment.MOST_BIAS
    assert mean["midpoints"] ** 2 - 1 == pytest.approx(1 / 3, abs=0.08)


def test_integrating_beats_filling_in():
    rng = np.random.default_rng(0)
    errors = [errors_with_missing(rng, gaussian_classes(rng, 200), "full") for _ in range(4)]
    mean = {name: np.mean([one[name] for one in errors]) for name in errors[0]}
    assert mean["complete"] < mean["integrated"] < min(mean["mean"], mean["IterativeImputer"])


def judged(bias, gain, share):
    around = lambda x: {"mean": x, "low": x - 0.001, "high": x + 0.001}  # noqa: E731
    results = {
        "bernoulli": experiment.bernoulli(),
        "rounded": {"E2M": around(1 + bias), "midpoints": around(1.15)},
        "missing": {
            "simulated": {"gain": {"mean": around(gain), "IterativeImputer": around(gain)}}
        },
        "coverage": {"Normal": {"mean": share}},
    }
    return [one["holds"] for one in experiment.judge(results)]


def test_verdicts_can_go_either_way():
    assert judged(0.01, 0.02, 0.95) == [True] * 16
    assert judged(-0.05, -0.02, 0.91) == [True] * 12 + [False] * 4


@pytest.mark.long
@pytest.mark.parametrize("name", LAWS)
def test_intervals_cover_what_they_say(name):
    low, high = experiment.COVERAGE
    shares = covered(LAWS[name], 1000, np.random.default_rng(7))
    assert all(low <= share <= high for share in shares.values()), shares


@pytest.mark.long
def test_it_runs_in_small(tmp_path):
    results = experiment.run(n_fits=3, n_draws=2)
    assert set(experiment.tables(results)) == {"missing", "coverage"}
    experiment.draw(results, tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").stat().st_size > 1000
