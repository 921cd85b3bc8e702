"""Models of stochastic supervision side by side: likelihoods, criteria and standard errors."""

from types import SimpleNamespace

import numpy as np
import pytest

from plausible.models import compare_models
from plausible.models.supervision.comparison import tabulate


def saturated_data():
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=60)
    X = rng.normal(size=(60, 2)) + 1.5 * y[:, None]
    z = 1 / (1 + np.exp(-rng.normal(np.where(y == 0, 2.0, -1.0), 1.5)))
    z[::10], z[1::15], z[2::17] = 0.0, 1.0, np.nan
    return X, z, rng.uniform(0.5, 2.0, 60)


@pytest.mark.filterwarnings("ignore::plausible.models.SupervisionWarning")
@pytest.mark.parametrize("scale", ["probability", "log_odds"])
@pytest.mark.parametrize("saturated", ["clip", "certain", 0.05, 1e-6])
def test_likelihoods_and_criteria_are_of_one_scale(saturated, scale):
    X, z, weight = saturated_data()
    if scale == "log_odds":
        with np.errstate(divide="ignore"):
            z = np.log(z) - np.log1p(-z)
    options = {"saturated": saturated, "scale": scale, "cv": 2, "max_iter": 8, "tol": 1e-3}
    some = ["krishnan_nandy", "g1"] if scale == "log_odds" else None
    table = compare_models(X, z, some, sample_weight=weight, **options)
    assert len(table) == 7 - 5 * bool(some)
    for row in table:
        bic = row.n_parameters * np.log(weight.sum()) - 2 * row.log_likelihood
        assert row.bic == pytest.approx(bic, rel=1e-9), row.model
        assert row.classifier.bic_ == row.bic
        # The likelihood of a fit is the sum of the densities of its items.
        density = row.classifier.score_samples(X, z) @ weight
        assert row.log_likelihood == pytest.approx(density, rel=1e-6), row.model


def table_of(held_out, weight):
    names = ("titterington", "g1", "g2")
    fitted = {
        name: SimpleNamespace(log_likelihood_=0.0, n_parameters_=1, bic_=0.0) for name in names
    }
    return tabulate(fitted, dict.fromkeys(names, ()), held_out, np.zeros(len(weight)), weight)


def test_standard_errors_are_of_the_spread_and_not_of_the_distance_behind_the_best():
    rng = np.random.default_rng(0)
    held_out, weight = rng.normal(size=(3, 40)), rng.uniform(0.5, 2.0, 40)
    weight[::8] = 0.0
    held_out[2] += 2.0  # the best
    errors = [row.held_out_error for row in table_of(held_out, weight)]
    gap = held_out[2] - held_out[0]
    spread = np.sqrt(np.average((gap - np.average(gap, weights=weight)) ** 2, weights=weight))
    assert errors[0] == pytest.approx(spread / np.sqrt(35))
    assert errors[2] == 0.0
    further = held_out - np.array([[5.0], [100.0], [0.0]])  # behind in each item by the same
    assert [row.held_out_error for row in table_of(further, weight)] == pytest.approx(errors)
