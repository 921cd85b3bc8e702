import json
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from plausible.datasets import make_missing_labels
from plausible.experiments import grandvalet_2002 as experiment
from plausible.experiments import grandvalet_2002_report as report
from plausible.experiments.grandvalet_2002 import Setup
from plausible.experiments.stored import write_json

pytestmark = pytest.mark.long

random = np.random.default_rng(0)


@pytest.mark.parametrize("intercept", [-1.5, 0.0, 0.4])
def test_the_closed_form_agrees_with_simulation(intercept):
    slope, mean = random.normal(size=6), random.normal(size=6)
    y = random.integers(2, size=200_000)
    X = random.normal(size=(len(y), 6)) + y[:, None] * mean
    share = ((X @ slope + intercept > 0.0) == y).mean()
    rate = experiment.recognition_rate(slope, intercept, mean)
    assert rate == pytest.approx(share, abs=0.005)


def test_the_best_rule_reaches_the_bayes_rate_and_none_is_a_coin():
    mean = np.full(10, -2.0 * norm.ppf(0.05) / np.sqrt(10))
    best = experiment.recognition_rate(mean, -0.5 * mean @ mean, mean)
    assert best == pytest.approx(0.95)
    assert experiment.recognition_rate(np.zeros(10), 1.0, mean) == 0.5
    for slope in random.normal(size=(50, 10)) + mean:  # through the mean of the first class
        assert experiment.recognition_rate(slope, 0.0, mean) <= 0.75


@pytest.mark.parametrize(("quick", "size", "strength"), [(True, 25, 2), (False, 125, 3)])
def test_thinned_setups_are_balanced(quick, size, strength):
    main, extra = experiment.choose(quick, False)
    assert len(main) == size
    for factors in combinations(range(4), strength):
        assert len({tuple(one[i] for i in factors) for one in main}) == 5**strength
    assert len(extra) == (0 if quick else 40)
    shown = [one for one in [*main, *extra] if one.missing == 0.9]
    assert quick or sum(one.bayes_error in (0.1, 0.025) for one in shown) == 50


def test_there_are_625_setups():
    main, extra = experiment.choose(False, True)
    assert len(set(main)) == 625
    assert not extra
    assert np.mean([1 - one.bayes_error for one in main]) == pytest.approx(0.845)


def test_logistic_regression_is_that_of_the_labeled_rows():
    data = make_missing_labels(300, 10, missing=0.5, random_state=0)
    known = ~data.labels.is_unknown
    slope, intercept = experiment.logistic_rule(
        "minimum_commitment", "free", 1.0, data.X, data.labels
    )
    peer = LogisticRegression(C=2.0, tol=1e-8, max_iter=1000).fit(data.X[known], data.y[known])
    np.testing.assert_allclose(slope, peer.coef_[0], atol=2e-3)
    assert intercept == pytest.approx(peer.intercept_[0], abs=2e-3)


def test_a_centered_rule_goes_through_the_mean():
    data = make_missing_labels(300, 10, missing=0.9, random_state=1)
    slope, intercept = experiment.logistic_rule(
        "self_consistent", "centered", 1.0, data.X, data.labels
    )
    assert data.X.mean(axis=0) @ slope + intercept == pytest.approx(0.0, abs=1e-9)


def test_with_all_labels_the_mixture_is_discriminant_analysis():
    data = make_missing_labels(300, 10, missing=0.0, random_state=2)
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(data.X, data.y)
    for truth in (None, data.means[1]):
        slope, intercept = experiment.em_rule(data.X, data.labels, truth)
        np.testing.assert_allclose(slope, peer.coef_[0], rtol=1e-4, atol=1e-4)
        assert intercept == pytest.approx(peer.intercept_[0], abs=1e-3)


@pytest.fixture(scope="module")
def results():
    setups = [Setup(10, error, n, 0.9) for error, n in product((0.025, 0.1), (50, 400))]
    setups += [Setup(10, 0.4, 100, 0.0)]
    return experiment.run(setups=setups, n_draws=2)


def test_rates_lie_between_a_coin_and_the_best(results):
    for cell in results["cells"]:
        rates = cell["rate"]
        assert rates["Bayes"] == 1.0 - cell["bayes_error"]
        assert len(rates) == 2 + 2 * 2
        assert all(0.3 < rate <= rates["Bayes"] for rate in rates.values())
    assert len([key for key in results["overall"] if " - " not in key]) == 3 + 2 * 3 * 4


def test_with_all_labels_there_is_nothing_to_be_consistent_about():
    rates = experiment.rates_on(Setup(10, 0.4, 100, 0.0), 0)
    for intercept in report.INTERCEPTS:
        pair = [rates[report.name_of(m, intercept, 1.0)] for m in experiment.CRITERIA]
        assert pair[0] == pytest.approx(pair[1], abs=2e-3)


def test_table_picture_and_strict_results(results, tmp_path):
    found = experiment.tables(results)
    assert found["overall"].rows[0] == ["paper", "not stated", "81.2", "79.5", "77.1", "+4.1"]
    assert len(found["overall"].rows) == 1 + 3 * 4
    assert len(found["missing"].rows) == len(found["bayes_error"].rows) == 5
    order = [one for one in results["claims"] if "self-consistent > EM >" in one["paper"]]
    assert len(order) == 3
    write_json(results, tmp_path / "results.json")
    assert json.loads((tmp_path / "results.json").read_text())["settings"]["setups"] == 5
    experiment.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def totals_of(consistent, em, logistic, half=0.001):
    around = lambda x: {"mean": x, "low": x - half, "high": x + half}  # noqa: E731
    rates = {"self-consistent": consistent, "EM": em, "logistic": logistic}
    found = {"Bayes": around(0.845)}
    for where in product(report.INTERCEPTS, report.RIDGES):
        found |= {key: around(rates[m]) for m, key in report.keys_of(*where).items()}
        for first, second in combinations(rates, 2):
            name = f"{first} - {second}, {where[0]}, {where[1]:g}"
            found[name] = around(rates[first] - rates[second])
    return found


def test_verdicts_on_overall_rates_can_go_either_way():
    paper = totals_of(0.812, 0.795, 0.771)
    assert [one["holds"] for one in report.judge_figures(paper)] == [True] * 6
    assert report.judge_order(paper, "free", 1.0)["holds"] is True
    other = totals_of(0.78, 0.795, 0.79)
    verdicts = report.judge_figures(other)
    assert [one["holds"] for one in verdicts] == [False, False, False, True, False, True]
    assert [one["difference"] for one in verdicts[2:]] == ["-3.2", "+0.0", "+1.9", "+0.0"]
    assert report.judge_order(other, "free", 1.0)["holds"] is False
    unsure = totals_of(0.812, 0.795, 0.771, half=0.02)
    assert report.judge_order(unsure, "free", 1.0)["holds"] is None


def cell_of(setup, consistent, em, logistic):
    rates = {"self-consistent": consistent, "EM": em, "logistic": logistic}
    keys = report.keys_of("free", 1.0)
    return {**setup._asdict(), "main": True, "rate": {keys[m]: rates[m] for m in rates}}


def test_verdicts_on_figures_can_go_either_way():
    few, many = Setup(50, 0.1, 200, 0.9), Setup(10, 0.1, 1700, 0.9)
    known, close = Setup(10, 0.1, 200, 0.0), Setup(10, 0.4, 200, 0.95)
    good = [
        cell_of(few, 0.85, 0.80, 0.78),
        cell_of(many, 0.88, 0.89, 0.85),
        cell_of(known, 0.88, 0.88, 0.88),
        cell_of(close, 0.55, 0.55, 0.55),
    ]
    totals = totals_of(0.812, 0.795, 0.771)
    assert [one["holds"] for one in report.judge(totals, good, "free", 1.0)] == [True] * 5
    bad = [
        cell_of(few, 0.75, 0.80, 0.80),
        cell_of(many, 0.89, 0.88, 0.90),
        cell_of(known, 0.88, 0.85, 0.88),
        cell_of(close, 0.56, 0.56, 0.55),
    ]
    verdicts = report.judge(totals, bad, "free", 1.0)[1:]
    assert [one["holds"] for one in verdicts] == [False] * 4
