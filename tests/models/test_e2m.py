"""Laws of E2M: for every family, monotone, indifferent to scale, one step, maximum, information."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad, simpson
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from plausible import load, save
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models import (
    E2M,
    Bernoulli,
    Categorical,
    Exponential,
    Family,
    InformationWarning,
    Normal,
    Poisson,
    UncertainValues,
)
from plausible.models.e2m.classes import Contours
from plausible.models.e2m.truncated import central_moments, standard_truncated


def mixed(x, low, high, fuzziness, seed=0):
    """Values of which some are precise, intervals (also open), fuzzy and missing."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(5, size=len(x))
    noisy = x + fuzziness * rng.normal(size=len(x))
    values = UncertainValues.from_precise(x)
    for k, other in enumerate([
        UncertainValues.from_intervals(low, high),
        UncertainValues.from_intervals(low, np.inf),
        UncertainValues.from_fuzzy(noisy, fuzziness),
        UncertainValues.missing(len(x)),
    ]):  # fmt: skip
        values = values.where(kind != k + 1, other)
    assert min(values.is_precise.sum(), values.is_interval.sum(), values.is_fuzzy.sum()) > 5
    return values


def soft(codes, n_classes, seed=0):
    """Sure, doubted and set-valued labels of known codes, with rows scaled at random."""
    rng = np.random.default_rng(seed)
    pl = np.maximum(np.eye(n_classes)[codes], rng.uniform(size=(len(codes), n_classes)) ** 3)
    sets = rng.uniform(size=len(codes)) < 0.3
    pl[sets] = np.maximum(np.eye(n_classes)[codes[sets]], rng.uniform(size=pl[sets].shape) < 0.4)
    sure = rng.uniform(size=len(codes)) < 0.3
    pl[sure] = np.eye(n_classes)[codes[sure]]
    return pl


def data_of(name, n=90):
    rng = np.random.default_rng(1)
    if name == "bernoulli":
        return Labels.from_plausibility(soft(rng.binomial(1, 0.35, n), 2), classes=["no", "yes"])
    if name == "categorical":
        codes = rng.choice(4, size=n, p=[0.4, 0.1, 0.3, 0.2])
        return Labels.from_plausibility(soft(codes, 4), classes=["d", "a", "c", "b"])
    if name == "poisson":
        x = rng.poisson(3.2, n).astype(float)
        return mixed(x, np.maximum(x - 1, 0), x + 2, 1.0)
    if name == "poisson labels":
        codes = np.minimum(rng.poisson(2.0, n), 6)
        return Labels.from_plausibility(soft(codes, 7), classes=range(7))
    if name == "exponential":
        x = rng.exponential(2.0, n)
        return mixed(x, 0.7 * x, x + 1.0, 0.3)
    x = rng.normal(4.0, 1.5, n)
    return mixed(x, np.floor(x), np.floor(x) + 1, 0.8)


FAMILIES = {
    "bernoulli": Bernoulli(),
    "categorical": Categorical(),
    "poisson": Poisson(),
    "poisson labels": Poisson(),
    "exponential": Exponential(),
    "normal": Normal(),
}
STARTS = {
    "bernoulli": {"theta": 0.9},
    "categorical": {"probabilities": [0.05, 0.5, 0.05, 0.4]},
    "poisson": {"rate": 9.0},
    "poisson labels": {"rate": 0.3},
    "exponential": {"rate": 7.0},
    "normal": {"mean": -1.0, "variance": 20.0},
}


def reference(name, data):
    """Log likelihood as a function of a vector, by definitions of scipy alone."""
    if isinstance(data, Labels):
        order = np.argsort(data.classes)
        pl = data.contour[:, order]
        laws = {
            "bernoulli": lambda t: np.array([1 - t[0], t[0]]),
            "categorical": lambda t: np.append(t, 1 - np.sum(t)),
            "poisson labels": lambda t: stats.poisson.pmf(np.arange(7), t[0]),
        }
        return lambda t: float(np.log(pl @ laws[name](t)).sum())
    law = {
        "poisson": lambda t: stats.poisson(t[0]),
        "exponential": lambda t: stats.expon(scale=1 / t[0]),
        "normal": lambda t: stats.norm(t[0], np.sqrt(t[1])),
    }[name]
    return lambda t: values_likelihood(data, law(t), name == "poisson")


def values_likelihood(data, law, counts):
    """Densities of precise values, probabilities of intervals, sums over a grid of fuzzy ones."""
    sure, fuzzy = data.is_precise, data.is_fuzzy
    between = ~sure & ~fuzzy
    logs = (law.logpmf if counts else law.logpdf)(data.mean[sure]).sum()
    low = data.low[between] - 1 if counts else data.low[between]
    logs += np.log(law.sf(low) - law.sf(data.high[between])).sum()
    mean, sd = data.mean[fuzzy, None], data.sd[fuzzy, None]
    if counts:
        x = np.arange(200.0)
        return logs + np.log((law.pmf(x) * np.exp(-0.5 * ((x - mean) / sd) ** 2)).sum(axis=1)).sum()
    start = np.maximum(mean - 8 * sd, law.support()[0])
    x = start + (mean + 8 * sd - start) * np.linspace(0, 1, 801)
    y = law.pdf(x) * np.exp(-0.5 * ((x - mean) / sd) ** 2)
    return logs + np.log(simpson(y, x=x, axis=1)).sum()


def vector(params):
    values = np.concatenate([np.ravel(v) for v in params.values()])
    return values[:-1] if "probabilities" in params else values


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("accelerate", [False, True])
def test_the_likelihood_never_falls(name, accelerate):
    model = E2M(FAMILIES[name], init=STARTS[name], accelerate=accelerate).fit(data_of(name))
    assert model.converged_
    assert (np.diff(model.history_) >= 0).all()
    assert model.history_[-1] == model.log_likelihood_ > model.history_[0] + 1
    np.testing.assert_allclose(model.score_samples(data_of(name)).sum(), model.log_likelihood_)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_fixed_point_is_the_maximum_that_scipy_finds(name):
    data = data_of(name)
    model = E2M(FAMILIES[name], init=STARTS[name]).fit(data)
    log_likelihood = reference(name, data)
    found = vector(model.params_)
    np.testing.assert_allclose(log_likelihood(found), model.log_likelihood_, rtol=1e-9)
    # from a point beside it
    best = minimize(
        lambda t: -log_likelihood(t), found * 1.05, method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-11, "maxfev": 4000},
    )  # fmt: skip
    np.testing.assert_allclose(found, best.x, atol=1e-5)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_observed_information_is_that_of_differences(name):
    data = data_of(name)
    model = E2M(FAMILIES[name]).fit(data)
    log_likelihood, t = reference(name, data), vector(model.params_)
    p, h = len(t), 1e-3 * np.abs(t)
    found = np.empty((p, p))
    for i in range(p):
        for j in range(p):
            a, b = h[i] * np.eye(p)[i], h[j] * np.eye(p)[j]
            found[i, j] = (
                log_likelihood(t + a + b) - log_likelihood(t + a - b)
                - log_likelihood(t - a + b) + log_likelihood(t - a - b)
            ) / (4 * h[i] * h[j])  # fmt: skip
    np.testing.assert_allclose(
        model.information_, -found, rtol=1e-4, atol=1e-4 * np.abs(found).max()
    )
    if name != "categorical":
        np.testing.assert_allclose(model.covariance_, np.linalg.inv(-found), rtol=1e-3)


@pytest.mark.parametrize("name", ["bernoulli", "categorical", "poisson labels"])
def test_the_scale_of_a_contour_does_not_matter(name):
    data = data_of(name)
    factor = np.random.default_rng(3).uniform(0.01, 1.0, size=(len(data), 1))
    scaled = Labels.from_plausibility(data.contour * factor, classes=data.classes.tolist())
    first, second = (E2M(FAMILIES[name], init=STARTS[name]).fit(d) for d in (data, scaled))
    np.testing.assert_allclose(vector(first.params_), vector(second.params_), rtol=1e-9)
    np.testing.assert_allclose(first.covariance_, second.covariance_, rtol=1e-7)
    shift = np.log(factor).sum()
    np.testing.assert_allclose(second.log_likelihood_, first.log_likelihood_ + shift)


def test_the_scale_of_a_contour_of_numbers_does_not_matter():
    # The same fuzzy value, with the constant that a density of measurement errors has.
    rng = np.random.default_rng(0)
    m, s = rng.normal(size=50), rng.uniform(0.1, 2.0, size=50)
    model = E2M(Normal()).fit(UncertainValues.from_fuzzy(m, s))

    def minus(t):
        return -stats.norm.logpdf(m, t[0], np.sqrt(np.exp(t[1]) + s**2)).sum()

    best = minimize(minus, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(
        [model.params_["mean"], model.params_["variance"]],
        [best.x[0], np.exp(best.x[1])],
        atol=1e-5,
    )


@pytest.mark.parametrize("start", [None, "far"])
@pytest.mark.parametrize("name", FAMILIES)
def test_precise_data_give_the_closed_form_in_one_step(name, start):
    rng = np.random.default_rng(2)
    weight = rng.uniform(0.5, 2.0, size=40)
    if name == "bernoulli":
        x = rng.binomial(1, 0.4, 40)
        data, expected = x, [weight @ x]
    elif name == "categorical":
        x = rng.integers(4, size=40)
        data, expected = x, np.bincount(x, weight)[:-1]
    else:
        x = rng.poisson(2.0, 40) if "poisson" in name else rng.exponential(size=40)
        data, expected = x, [weight @ x]
        if name == "poisson labels":
            data = Labels.from_crisp(x)
    expected = np.array(expected) / weight.sum()
    if name == "exponential":
        expected = 1 / expected
    if name == "normal":
        expected = np.append(expected, weight @ (x - expected[0]) ** 2 / weight.sum())
    init = STARTS[name] if start else None
    model = E2M(FAMILIES[name], init=init).fit(data, sample_weight=weight)
    assert model.n_iter_ <= 2
    first = vector({key: path[min(1, model.n_iter_)] for key, path in model.path_.items()})
    np.testing.assert_allclose(first, expected, rtol=1e-9)
    np.testing.assert_allclose(vector(model.params_), expected, rtol=1e-9)


def test_the_bernoulli_table_of_the_slides():
    pl = [[0, 1]] * 3 + [[1, 0]] * 2 + [[0.5, 0.5]]
    labels = Labels.from_plausibility(pl, classes=[0, 1])
    model = E2M(Bernoulli(), init={"theta": 0.3}).fit(labels)
    theta = [0.3000, 0.5500, 0.5917, 0.5986, 0.5998, 0.6000]
    likelihood = [6.6150, 16.8455, 17.2676, 17.2797, 17.2800, 17.2800]
    assert model.path_["theta"][:6].round(4).tolist() == theta
    assert (1e3 * np.exp(model.history_[:6])).round(4).tolist() == likelihood
    assert round(model.params_["theta"], 6) == 0.6


def test_weights_are_repeated_rows():
    data = data_of("normal")
    counts = np.arange(len(data)) % 3
    weighted = E2M(Normal()).fit(data, sample_weight=counts)
    repeated = E2M(Normal()).fit(data[np.repeat(np.arange(len(data)), counts)])
    np.testing.assert_allclose(vector(weighted.params_), vector(repeated.params_), rtol=1e-7)
    np.testing.assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-6)


def test_probabilities_are_shares_and_not_likelihoods():
    p = np.array([[0.6, 0.4]] * 10)
    shares = E2M(Bernoulli()).fit(Labels.from_probability(p, classes=[0, 1]))
    assert shares.params_["theta"] == pytest.approx(0.4)
    sharp = E2M(Bernoulli(), max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sharp.fit(Labels.from_plausibility(p, classes=[0, 1]))
    assert sharp.params_["theta"] < 1e-3


def test_the_second_class_is_the_last_or_the_named_one():
    y = ["yes", "no", "no", "yes", "no"]
    assert E2M(Bernoulli()).fit(y).params_["theta"] == pytest.approx(0.4)
    model = E2M(Bernoulli("no")).fit(y)
    assert model.params_["theta"] == pytest.approx(0.6)
    assert model.classes_.tolist() == ["yes", "no"]
    probabilities = E2M(Categorical()).fit(data_of("categorical"))
    assert probabilities.classes_.tolist() == list("abcd")


@pytest.mark.parametrize("shape", [0.6, 1.0, 2.5])
def test_a_family_that_states_only_its_density_finds_the_same(shape):
    class Weibull:
        bounds = {"shape": (0, np.inf), "scale": (0, np.inf)}  # noqa: RUF012
        support = (0.0, np.inf)

        def log_density(self, x, params):
            k, s = params["shape"], params["scale"]
            return np.log(k / s) + (k - 1) * np.log(x / s) - (x / s) ** k

    rng = np.random.default_rng(0)
    x = 3 * rng.weibull(shape, 80)
    low = np.floor(x)
    high = np.where(x > 6, np.inf, low + 1)
    low = np.where(x > 6, 6, low)
    model = E2M(Weibull(), init={"shape": 1.3, "scale": 1.0})
    model.fit(UncertainValues.from_intervals(low, high))

    def log_likelihood(t):
        law = stats.weibull_min(t[0], scale=t[1])
        return np.log(law.sf(low) - law.sf(high)).sum()

    found = vector(model.params_)
    np.testing.assert_allclose(model.log_likelihood_, log_likelihood(found), rtol=1e-7)
    best = minimize(lambda t: -log_likelihood(t), found * 1.02, method="Nelder-Mead",
                    options={"xatol": 1e-9, "fatol": 1e-12})  # fmt: skip
    np.testing.assert_allclose(found, best.x, rtol=1e-5)
    assert (np.diff(model.history_) >= 0).all()


@pytest.mark.parametrize("name", ["poisson", "poisson labels", "exponential", "normal"])
def test_densities_alone_give_what_the_exact_steps_give(name):
    family = FAMILIES[name]

    class Stated(Family):
        bounds, support, discrete = family.bounds, family.support, family.discrete

        def log_density(self, x, params):
            return family.log_density(x, params)

    data = data_of(name)
    exact = E2M(family).fit(data)
    by_points = E2M(Stated(), init=STARTS[name]).fit(data)
    np.testing.assert_allclose(vector(by_points.params_), vector(exact.params_), rtol=1e-6)
    np.testing.assert_allclose(by_points.log_likelihood_, exact.log_likelihood_, rtol=1e-9)
    np.testing.assert_allclose(by_points.information_, exact.information_, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(by_points.score_samples(data), exact.score_samples(data), atol=1e-5)


def test_a_family_may_state_its_steps():
    class Geometric:
        bounds = {"p": (0.0, 1.0)}  # noqa: RUF012

        def e_step(self, data, params):
            x, p = data.mean, params["p"]
            return np.log(p) + x * np.log1p(-p), x[:, None]

        def m_step(self, statistics, params):
            return {"p": 1 / (1 + statistics[0])}

    x = np.array([0.0, 3.0, 1.0, 2.0])
    model = E2M(Geometric(), init={"p": 0.9}).fit(UncertainValues.from_precise(x))
    assert model.params_["p"] == pytest.approx(1 / 2.5)
    expected = 4 / 0.4**2 + 6 / 0.6**2
    np.testing.assert_allclose(model.information_, [[expected]], rtol=1e-6)


def test_intervals_are_those_of_the_log_odds_and_stay_inside():
    model = E2M(Bernoulli()).fit([0] * 18 + [1] * 2)
    low, high = model.intervals(0.95)["theta"]
    error = np.sqrt(0.1 * 0.9 / 20)
    assert model.standard_errors_["theta"] == pytest.approx(error)
    center, reach = np.log(0.1 / 0.9), 1.959964 * error / (0.1 * 0.9)
    expected = 1 / (1 + np.exp(-np.array([center - reach, center + reach])))
    np.testing.assert_allclose([low, high], expected, rtol=1e-5)
    wide = model.intervals(0.999)["theta"]
    assert 0 < wide[0] < low < 0.1 < high < wide[1] < 1


def test_the_bootstrap_agrees_with_the_information():
    data = data_of("normal", 200)
    model = E2M(Normal(), n_bootstrap=60, random_state=0, tol=1e-8).fit(data)
    again = E2M(Normal(), n_bootstrap=60, random_state=0, tol=1e-8).fit(data)
    for name in model.params_:
        by_information, by_bootstrap = (
            model.standard_errors(method)[name] for method in ("information", "bootstrap")
        )
        assert by_bootstrap == pytest.approx(by_information, rel=0.3)
        np.testing.assert_array_equal(model.bootstrap_[name], again.bootstrap_[name])
        low, high = model.intervals(0.9, method="bootstrap")[name]
        inside = (model.bootstrap_[name] >= low) & (model.bootstrap_[name] <= high)
        assert inside.mean() == pytest.approx(0.9, abs=0.034)
    with pytest.raises(InputError, match="n_bootstrap=200"):
        E2M(Normal()).fit(data).intervals(method="bootstrap")


@pytest.mark.parametrize("cell", [0.0, 0.7])
def test_rounded_normal_data_are_as_spread_out_as_they_were(cell):
    # Cells two deviations wide; midpoints add width^2 / 12, a third, to the variance.
    rng = np.random.default_rng(0)
    ours, theirs = [], []
    for _ in range(10):
        x = rng.normal(10.0, 1.0, size=2000)
        low = 2 * np.floor((x - cell) / 2) + cell
        values = UncertainValues.from_intervals(low, low + 2)
        ours.append(np.sqrt(E2M(Normal()).fit(values).params_["variance"]))
        theirs.append(values.midpoints().var())
    assert abs(np.mean(ours) - 1) < 0.03
    assert np.mean(theirs) - 1 == pytest.approx(1 / 3, abs=0.05)


def test_an_estimate_on_the_edge_has_no_standard_error():
    with pytest.warns(InformationWarning, match="edge of what is possible"):
        model = E2M(Bernoulli()).fit([1, 1, 1])
    assert model.params_["theta"] == 1
    assert np.isnan(model.standard_errors_["theta"])


@pytest.mark.parametrize(
    ("family", "data", "words"),
    [
        (Exponential(), [1.0, -2.0], r"in \[0, inf\].*\[-2, -2\] in 1 row \(row 1\)"),
        (Poisson(), [1.0, 2.5], r"whole numbers, but values such as 2.5 .*row 1"),
        (Poisson(), UncertainValues.from_intervals([0.2], [0.8]), "leave none"),
        (Normal(), [np.nan, np.nan], "all 2 are missing"),
        (Normal(), [2.0, 2.0, 2.0], "variance is zero"),
        (Normal(), UncertainValues.from_intervals([0, 0.5], [1, np.inf]), "from 0.5 to 1, and are"),
        (Normal(), np.zeros((3, 2)), r"one for each row, \(n,\)"),
        (Bernoulli(), ["a", "b", "c"], "two classes, but they have 3"),
        (Normal(), [], "there are no rows"),
        ("normal", [1.0], "log_density"),
    ],
)
def test_data_that_cannot_be(family, data, words):
    with pytest.raises(ValueError, match=words):
        E2M(family).fit(data)


@pytest.mark.parametrize(
    ("init", "words"),
    [
        ({"theta": 0.0}, r"strictly within \(0, 1\)"),
        ({"p": 0.5}, "'theta', but it names 'p'"),
        ([0.5], "a dictionary"),
        ({"theta": [0.1, 0.2]}, r"a finite number of shape \(\)"),
    ],
)
def test_starts_that_cannot_be(init, words):
    with pytest.raises(InputError, match=words):
        E2M(Bernoulli(), init=init).fit([0, 1])


def test_a_family_that_does_not_know_where_to_start_says_so():
    class Law(Family):
        def log_density(self, x, params):
            return -np.abs(x - params["center"])

    with pytest.raises(InputError, match="write E2M"):
        E2M(Law()).fit([1.0, 2.0])
    model = E2M(Law(), init={"center": 0.5}).fit(UncertainValues.from_fuzzy([1.0, 2.0, 4.0], 0.5))
    assert 1.5 < model.params_["center"] < 2.5


def test_too_few_steps_are_a_warning():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        E2M(Normal(), max_iter=2).fit(data_of("normal"))


def test_it_is_an_estimator():
    model = E2M(Bernoulli("no"), init={"theta": 0.2}, tol=1e-9)
    copy = clone(model)
    assert copy.family is not model.family
    assert copy.get_params()["family__success"] == "no"
    assert copy.fit(["yes", "no"]).params_["theta"] == pytest.approx(0.5)


WIDE = [(-1.0, 0.5), (2.0, np.inf), (-np.inf, -3.0), (0.1, 90.0)]
HARD = [(-40.0, -39.0), (35.0, np.inf), (5.0, 5.0 + 1e-6), (-0.3, 0.2)]


@pytest.mark.parametrize("where", WIDE + HARD)
def test_truncated_moments_are_those_of_integrals(where):
    a, b = where
    mode = float(np.clip(0.0, a, b))
    span = min(b, mode + 14 / max(abs(mode), 1) ** 0.9 + 1), max(a, mode - 14)
    ends = (max(a, span[1]), min(b, span[0]))
    width = ends[1] - ends[0]

    def moment(power, center=0.0):
        f = lambda u: ((mode + u - center) ** power) * np.exp(-0.5 * u * (u + 2 * mode))  # noqa: E731
        return quad(f, ends[0] - mode, ends[1] - mode, epsabs=0, epsrel=1e-9, limit=500)[0]

    mass = moment(0)
    mean = mode + quad(
        lambda u: u * np.exp(-0.5 * u * (u + 2 * mode)),
        ends[0] - mode, ends[1] - mode, epsabs=0, epsrel=1e-9, limit=500,
    )[0] / mass  # fmt: skip
    found = standard_truncated(np.array([a]), np.array([b]))
    log_mass = np.log(mass) - 0.5 * mode**2 - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(found.log_mass, log_mass, rtol=1e-10)
    np.testing.assert_allclose(found.mean - mode, mean - mode, rtol=1e-7, atol=1e-11 * width)
    np.testing.assert_allclose(found.variance, moment(2, mean) / mass, rtol=1e-6)
    higher = central_moments(np.array([a]), np.array([b]), 4)[2]
    np.testing.assert_allclose(higher[2], moment(4, mean) / mass, rtol=1e-6)


@pytest.mark.parametrize("family", [Bernoulli("no"), Normal()])
def test_a_law_can_be_saved_and_loaded(family, tmp_path):
    data = ["yes", "no", "no"] if family.get_params() else [1.0, 2.0, 4.0]
    model = E2M(family).fit(data)
    save(model, tmp_path / "law.skops")
    again = load(tmp_path / "law.skops")
    assert again.params_ == model.params_
    assert again.intervals() == model.intervals()
    np.testing.assert_array_equal(again.score_samples(data), model.score_samples(data))


def test_counts_far_from_each_other_and_numbers_of_any_size():
    far = UncertainValues.from_intervals([100, 2000], [200, 3000])
    model = E2M(Poisson()).fit(far)
    assert 200 < model.params_["rate"] < 2000
    assert (np.diff(model.history_) >= 0).all()
    values = data_of("normal")
    first = E2M(Normal()).fit(values)
    for scale in (1e-9, 1e9):
        parts = (getattr(values, name) * scale for name in ("mean", "sd", "low", "high"))
        model = E2M(Normal()).fit(UncertainValues(*parts))
        for name, power in (("mean", 1), ("variance", 2)):
            unit = scale**power
            assert model.params_[name] == pytest.approx(unit * first.params_[name], rel=1e-5)
            error = first.standard_errors_[name]
            assert model.standard_errors_[name] == pytest.approx(unit * error, rel=1e-4)


def test_uncertain_values_mix_and_select_as_arrays_do():
    x = np.array([[0.3, 0.04], [0.7, 2.0], [1.5, 0.02]])
    below = UncertainValues.from_intervals(np.zeros_like(x), 0.1)
    values = UncertainValues.from_precise(x).where(x > 0.1, below)
    np.testing.assert_array_equal(values.is_interval, x <= 0.1)
    np.testing.assert_array_equal(values.is_precise, x > 0.1)
    assert values[[2, 0]] == values[::-2]
    assert values[:, 1].shape == (3,)
    assert values[0, 0].shape == (1,)
    assert values == UncertainValues.concatenate([values[:1], values[1:]])
    assert values != UncertainValues.from_precise(x)
    np.testing.assert_array_equal(values.plausibility(0.05), x <= 0.1)
    np.testing.assert_array_equal(values.midpoints(), np.where(x > 0.1, x, 0.05))
    train, test = train_test_split(values, test_size=1, random_state=0)
    assert (train.shape, test.shape) == ((2, 2), (1, 2))
    with pytest.raises(TypeError, match="midpoints"):
        np.asarray(values)
    with pytest.raises(IndexError, match=r"shape \(3, 2\)"):
        values[7]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: UncertainValues.from_precise([1.0, np.inf]), r"finite.* 1 row \(row 1\)"),
        (lambda: UncertainValues.from_intervals([2.0, 3.0], [1.0, 4.0]), "low should be at most"),
        (lambda: UncertainValues.from_intervals([np.nan], [1.0]), "low should be a number"),
        (lambda: UncertainValues.from_fuzzy([1.0], [-0.5]), "sd should be 0 or more"),
        (lambda: UncertainValues.from_fuzzy([np.nan], [0.5]), "infinite sd"),
        (lambda: UncertainValues.from_fuzzy([1.0, 2.0], [1.0, 2.0, 3.0]), r"one shape"),
        (lambda: UncertainValues([5.0], [0.0], [0.0], [1.0]), "within its bounds"),
        (lambda: UncertainValues.from_precise(3.0), r"\(n,\) or \(n, d\)"),
        (lambda: UncertainValues.concatenate([]), "none were given"),
        (lambda: UncertainValues.missing("many"), "a number of values"),
        (lambda: UncertainValues.missing(2).where([1, 2], [0.0, 0.0]), "True or False"),
        (lambda: UncertainValues.missing(2).where([True, False], [0.0]), r"shape \(2,\)"),
    ],
)
def test_uncertain_values_that_cannot_be(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize("smallest", [0.0, 1e-310])
@pytest.mark.parametrize(
    ("family", "params", "n_classes"),
    [
        (Categorical(), {"probabilities": np.array([0.2, 0.0, 0.7, 0.1])}, 4),
        (Bernoulli(), {"theta": 0.3}, 2),
    ],
)
def test_sums_of_a_step_are_those_of_its_rows(family, params, n_classes, smallest):
    rng = np.random.default_rng(0)
    table = np.where(rng.random((200, n_classes)) < 0.5, rng.random((200, n_classes)), 0.0)
    table[np.arange(200), rng.choice([0, n_classes - 1], size=200)] = 1.0
    table[:3] *= smallest or 1.0  # numbers so small that one cannot divide by them
    weight = rng.uniform(0.5, 2.0, size=200) * (rng.random(200) < 0.8)
    data = Contours(table, np.arange(n_classes))
    logs, statistics = family.e_step(data, params)
    criterion, sums = family.step_sums(data, weight, params)
    assert criterion == pytest.approx(weight @ logs, rel=1e-12)
    np.testing.assert_allclose(sums, weight @ statistics, rtol=1e-12)
    np.testing.assert_allclose(
        family.covariance_sum(data, weight, params),
        np.einsum("n,nij->ij", weight, family.covariances(data, params)),
        rtol=1e-10, atol=1e-12,
    )  # fmt: skip
