"""The evidential network: Dempster's rule, exact gradients, starts that only help."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from plausible.belief import SparseMasses, consonant, dempster, pignistic
from plausible.engine import StreamRows
from plausible.labels import Labels
from plausible.models import EvidentialNetworkClassifier
from plausible.models.network import evidence
from plausible.models.network.evidence import Form, Network
from plausible.models.network.gradient import loss_pass
from plausible.models.network.losses import LOSSES

FAR = np.array([0.0, 0.0, 40.0, 0.0])
NAMES = ["wasp", "ant", "moth"]


def a_network(n_prototypes=5, n_features=3, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    return Network(
        rng.normal(size=(n_prototypes, n_features)),
        rng.dirichlet(np.ones(n_classes), n_prototypes),
        rng.uniform(0.2, 0.95, n_prototypes),
        rng.uniform(0.3, 2.0, n_prototypes),
    )


def some_rows(n=40, n_features=3, n_classes=4, seed=1):
    rng = np.random.default_rng(seed)
    targets = rng.dirichlet(np.ones(n_classes), n)
    return rng.normal(size=(n, n_features)), targets, rng.uniform(0.2, 2.0, n)


def doubtful(n=150, seed=3):
    """Overlapping blobs with doubts, sets, unknown rows and unequal weights."""
    X, codes = make_blobs(n, centers=[[0, 0], [3, 0], [0, 3]], random_state=seed)
    rng = np.random.default_rng(seed)
    contour = np.where(np.eye(3, dtype=bool)[codes], 1.0, rng.uniform(0.0, 0.5, (n, 3)))
    contour[::5] = np.where(np.eye(3, dtype=bool)[codes[::5]], 1.0, [[1.0, 0.0, 0.0]])
    contour[::7] = 1.0
    return X, Labels.from_plausibility(contour, NAMES), rng.uniform(0.5, 2.0, n)


def slowly(x, network):
    """Masses of one item, by Dempster's rule over one prototype after another."""
    n_classes = network.memberships.shape[1]
    sets = np.append(1 << np.arange(n_classes), 2**n_classes - 1)
    pooled = SparseMasses([np.append(np.zeros(n_classes), 1.0)], sets, n_classes)
    for point, share, alpha, gamma in zip(*network, strict=True):
        strength = alpha * np.exp(-gamma * ((x - point) ** 2).sum())
        pooled = dempster(
            pooled, SparseMasses([np.append(strength * share, 1.0 - strength)], sets, n_classes)
        )
    return pooled


def test_the_output_is_dempsters_rule_over_the_prototypes():
    network, (X, _, _) = a_network(), some_rows()
    strength = evidence.activations(evidence.squared_distances(X, network.prototypes), network)
    found = evidence.masses(*evidence.combine(strength, network.memberships))
    sets = np.append(1 << np.arange(4), 15)
    for x, masses in zip(X, found, strict=True):
        expected = slowly(x, network).to_dense()[0]
        np.testing.assert_allclose(SparseMasses(masses, sets, 4).to_dense(), expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


def test_a_fitted_model_answers_by_dempsters_rule():
    X, labels, weight = doubtful()
    model = EvidentialNetworkClassifier(4, random_state=0).fit(X, labels, weight)
    network = Network(model.prototypes_, model.memberships_, model.alpha_, model.gamma_)
    masses = model.predict_mass(X[:5]).to_dense()
    for x, found in zip(X[:5], masses, strict=True):
        np.testing.assert_allclose(found, slowly(x, network).to_dense()[0], atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X[:5]), pignistic(masses), atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("units", [(0.0, 1.0), (0.25, 1.6)])
def test_gradients_are_those_of_differences(loss, units):
    network, rows, form = a_network(), some_rows(), Form(5, 3, 4, *units)
    vector = evidence.pack(network, form)
    _, gradient = loss_pass(rows, vector, form, loss)
    step = 1e-6
    differences = [
        (
            loss_pass(rows, vector + step * way, form, loss)[0]
            - loss_pass(rows, vector - step * way, form, loss)[0]
        )
        / (2 * step)
        for way in np.eye(len(vector))
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("n_classes", [4, 5])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_compiled_pass_is_the_plain_one(loss, n_classes):
    form = Form(19, 3, n_classes, 0.1)
    vector = evidence.pack(a_network(19, n_classes=n_classes), form)
    for weight in (None, some_rows(150)[2]):
        rows = (*some_rows(150, n_classes=n_classes)[:2], weight)
        value, gradient = loss_pass(rows, vector, form, loss, compiled=False)
        fast, slope = loss_pass(rows, vector, form, loss, compiled=True)
        assert fast == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(slope, gradient, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("compiled", [False, True])
def test_some_rows_after_the_others_are_all_rows(compiled, monkeypatch):
    form, rows = Form(5, 3, 4, 0.1), (*some_rows(150), np.arange(150) % 3 == 1)
    vector = evidence.pack(a_network(), form)
    value, slope = loss_pass(rows, vector, form, "likelihood", compiled)
    monkeypatch.setattr("plausible.models.network.gradient.FEWEST_ROWS", 37)
    monkeypatch.setattr("plausible.models.network.gradient.AT_ONCE", 40 * 5)
    parts, gradient = loss_pass(rows, vector, form, "likelihood", compiled)
    assert parts == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-9, atol=1e-11)


def test_products_over_many_prototypes_do_not_vanish_when_compiled():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([5.0, 3.0, 2.0], 1501)
    network = Network(rng.normal(size=(1501, 1)), shares, np.full(1501, 0.9), np.full(1501, 1e-3))
    form = Form(1501, 1, 3)
    vector = evidence.pack(network, form)
    rows = rng.normal(size=(6, 1)), rng.dirichlet(np.ones(3), 6), None
    value, gradient = loss_pass(rows, vector, form, "squared")
    fast, slope = loss_pass(rows, vector, form, "squared", compiled=True)
    assert fast == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(slope, gradient, rtol=1e-8, atol=1e-12)


def test_compiled_exponentials_are_exact_however_far():
    from plausible.models.network.evidence_compiled import BLOCK, activate

    rng = np.random.default_rng(0)
    network = a_network()
    near = 10.0 ** rng.uniform(-9, 2.3, (5, 2 * BLOCK - 2))
    squared = np.column_stack([np.zeros(5), near, [1e9] * 5])
    strength, power = np.empty((2, 5, BLOCK)), np.empty(BLOCK)
    given = squared.reshape(5, 2, BLOCK), network.alpha, network.gamma
    activate(*given, strength, power, power.view(np.int64))
    found = strength.transpose(1, 0, 2).reshape(5, -1)
    expected = evidence.activations(squared, network)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-300)
    np.testing.assert_array_equal(found[:, 0], network.alpha)


def test_cross_entropy_of_probabilities_has_its_gradient_plain_and_compiled():
    X, targets, weight = some_rows(150)
    rows, form = (X, targets, weight, np.arange(150) % 3 == 1), Form(5, 3, 4, 0.1)
    vector = evidence.pack(a_network(), form)
    value, gradient = loss_pass(rows, vector, form, "likelihood")
    fast, slope = loss_pass(rows, vector, form, "likelihood", compiled=True)
    assert fast == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(slope, gradient, rtol=1e-10, atol=1e-12)
    way = np.random.default_rng(0).normal(size=len(vector))
    ends = [loss_pass(rows, vector + step * way, form, "likelihood")[0] for step in (1e-6, -1e-6)]
    assert gradient @ way == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-7)
    assert value != pytest.approx(loss_pass(rows[:3], vector, form, "likelihood")[0], rel=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_probabilities_are_shares_of_hard_labels(loss):
    """A row of probabilities is worth one hard row for each class, weighted; beside other rows."""
    X, labels, weight = doubtful(60)
    shares = np.random.default_rng(0).dirichlet([2.0, 1.0, 1.0], 60)
    shares[::9] = 1 / 3  # undecided, which is not the same as unknown
    some = np.arange(60) % 2 == 0
    mixed = Labels.concatenate([Labels.from_probability(shares[some], NAMES), labels[~some]])
    X, weight = np.concatenate([X[some], X[~some]]), np.concatenate([weight[some], weight[~some]])
    n = int(some.sum())
    hard = [Labels.from_crisp([name] * n, NAMES) for name in NAMES]
    split = Labels.concatenate([*hard, labels[~some]])
    weights = np.concatenate([*(weight[:n] * shares[some].T), weight[n:]])
    init = {"prototypes": X[:4] + 0.1, "gamma": np.full(4, 0.4)}
    model = EvidentialNetworkClassifier(init=init, loss=loss, regularization=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = model.fit(X, mixed, weight).predict_proba(X)
        expected = model.fit(np.concatenate([*[X[:n]] * 3, X[n:]]), split, weights)
    np.testing.assert_allclose(found, expected.predict_proba(X), atol=1e-4)


def test_losses_are_what_they_say():
    bets, said = np.array([[0.5, 0.3, 0.2]]).T, np.array([[0.0, 1.0, 0.4]]).T
    assert LOSSES["squared"](bets, said)[0] == pytest.approx(0.25 + 0.49 + 0.04)
    assert LOSSES["c1"](bets, said)[0] == pytest.approx(1 - 0.3 - 0.08)
    assert LOSSES["likelihood"](bets, said)[0] == pytest.approx(-np.log(0.38))


def test_numbers_without_bounds_there_and_back():
    network = a_network()
    for form in (Form(5, 3, 4), Form(5, 3, 4, 0.2, 30.0)):
        again = evidence.unpack(evidence.pack(network, form), form)
        for found, expected in zip(again, network, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_hundreds_of_sure_prototypes_do_not_vanish():
    network = Network(
        np.zeros((900, 2)), np.tile([0.5, 0.3, 0.2], (900, 1)), np.full(900, 0.999), np.ones(900)
    )
    strength = evidence.activations(np.zeros((900, 1)), network)
    found = evidence.masses(*evidence.combine(strength, network.memberships))
    np.testing.assert_allclose(found, [[1.0, 0.0, 0.0, 0.0]], atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_is_the_mean_loss_and_the_penalty_and_never_rises(loss):
    X, labels, weight = doubtful()
    model = EvidentialNetworkClassifier(
        5, regularization=0.3, loss=loss, random_state=1, max_iter=60, tol=1e-3
    ).fit(X, labels, weight)
    classes = model.classes_.tolist()
    said, says = labels.reorder(classes), labels.informativeness > 0
    targets = said.contour if loss == "likelihood" else pignistic(consonant(said.scaled()))
    losses = LOSSES[loss](model.predict_proba(X).T, targets.T)[0]
    expected = (weight * losses)[says].sum() / weight[says].sum() + 0.3 * model.alpha_.mean()
    assert model.objective_ == pytest.approx(expected, rel=1e-9)
    assert (np.diff(model.history_) <= 1e-12).all()
    assert len(model.history_) == model.n_iter_ + 1


def test_more_starts_never_end_worse_and_seeds_decide():
    X, labels, weight = doubtful()
    fits = [
        EvidentialNetworkClassifier(6, n_init=count, random_state=5, max_iter=200, tol=1e-4).fit(
            X, labels, weight
        )
        for count in (1, 4, 4)
    ]
    assert fits[1].objectives_[0] == pytest.approx(fits[0].objective_, rel=1e-12)
    assert fits[1].objective_ == fits[1].objectives_.min() <= fits[0].objective_
    assert len(set(fits[1].objectives_.round(6))) > 1
    np.testing.assert_array_equal(fits[1].prototypes_, fits[2].prototypes_)


def test_a_fit_goes_on_from_a_given_start():
    X, labels, _ = doubtful()
    short = EvidentialNetworkClassifier(5, random_state=0, max_iter=10, tol=1e-3)
    with pytest.warns(match="raise max_iter"):
        short.fit(X, labels)
    init = {
        "prototypes": short.prototypes_,
        "memberships": dict(zip(short.classes_.tolist(), short.memberships_.T, strict=True)),
        "alpha": short.alpha_,
        "gamma": short.gamma_,
    }
    longer = EvidentialNetworkClassifier(init=init, tol=1e-3).fit(X, labels)
    assert longer.history_[0] == pytest.approx(short.objective_, rel=1e-6)
    assert longer.objective_ < short.objective_


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_that_say_nothing_change_nothing(loss):
    X, labels, weight = doubtful()
    says = labels.informativeness > 0
    model = EvidentialNetworkClassifier(5, loss=loss, random_state=0, tol=1e-6)
    whole = model.fit(X, labels, weight).predict_proba(X)
    part = model.fit(X[says], labels[says], weight[says]).predict_proba(X)
    np.testing.assert_allclose(whole, part, atol=1e-6)


def test_masses_are_learned_as_their_bets():
    X, _, weight = doubtful()
    rng = np.random.default_rng(8)
    values = rng.dirichlet(np.ones(4), len(X))
    sets = np.array([0b001, 0b100, 0b110, 0b111])
    values[::6] = [0.0, 0.0, 0.0, 1.0]  # which favor no class
    masses = SparseMasses(values, sets, 3)
    as_bets = np.zeros((len(X), 3))
    for k, members in enumerate(([0], [2], [1, 2], [0, 1, 2])):
        as_bets[:, members] += values[:, [k]] / len(members)
    says = np.arange(len(X)) % 6 > 0
    found = EvidentialNetworkClassifier(max_iter=20, random_state=0)
    expected = EvidentialNetworkClassifier(max_iter=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found.fit(X, Labels.from_masses(masses, NAMES), weight)
        bets = Labels(as_bets[says], NAMES, is_probability=np.ones(says.sum(), bool))
        assert not bets.has_masses
        expected.fit(X[says], bets, weight[says])
    np.testing.assert_allclose(found.prototypes_, expected.prototypes_, rtol=1e-7)
    np.testing.assert_allclose(found.memberships_, expected.memberships_, atol=1e-7)


def test_masses_count_and_not_only_their_contour():
    X, _, _ = doubtful(60)
    first = [{("ant",): 0.5, ("moth", "wasp"): 0.5}] * 30 + [{("moth",): 1.0}] * 30
    second = [{("ant", "moth"): 0.25, ("ant",): 0.25, ("moth", "wasp"): 0.25, ("wasp",): 0.25}] * 30
    labels = [Labels.from_masses(rows, NAMES) for rows in (first, second + first[30:])]
    np.testing.assert_allclose(labels[0].contour[:, 1], labels[1].contour[:, 1])
    fits = [EvidentialNetworkClassifier(4, random_state=0, tol=1e-4).fit(X, y) for y in labels]
    assert np.abs(fits[0].predict_proba(X) - fits[1].predict_proba(X)).max() > 0.01


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["squared", "likelihood"])
def test_streams_give_the_fit_of_arrays(loss):
    X, labels, weight = doubtful()
    model = EvidentialNetworkClassifier(5, loss=loss, random_state=0, tol=1e-4, max_iter=30)
    expected, objective = model.fit(X, labels, weight).predict_proba(X), model.objective_
    chunks = [(X[a : a + 40], labels[a : a + 40], weight[a : a + 40]) for a in range(0, 150, 40)]
    streamed = model.fit(StreamRows(chunks))
    assert streamed.objective_ == pytest.approx(objective, rel=1e-9)
    np.testing.assert_allclose(streamed.predict_proba(X), expected, atol=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_far_from_zero_streams_give_the_fit_of_arrays():
    X, labels, weight = doubtful()
    X = np.round(X, 3) + 2.0**30
    model = EvidentialNetworkClassifier(max_iter=1, random_state=0).fit(X, labels, weight)
    parts = [slice(0, 1), slice(1, 70), slice(70, None)]
    rows = StreamRows([(X[part], labels[part], weight[part]) for part in parts])
    other = EvidentialNetworkClassifier(max_iter=1, random_state=0).fit(rows)
    np.testing.assert_allclose(other.gamma_, model.gamma_, rtol=1e-9)
    near = EvidentialNetworkClassifier(max_iter=1, random_state=0).fit(X - 2.0**30, labels, weight)
    np.testing.assert_allclose(model.gamma_, near.gamma_, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_dask_gives_the_fit_of_arrays():
    da = pytest.importorskip("dask.array")
    X, labels, _ = doubtful()
    model = EvidentialNetworkClassifier(5, random_state=0, tol=1e-4, max_iter=30)
    expected = model.fit(X, labels).predict_proba(X)
    spread = model.fit(da.from_array(X, chunks=(40, 2)), labels)
    np.testing.assert_allclose(spread.predict_proba(X), expected, atol=1e-8)


def test_few_different_rows_start_as_wide_as_they_lie_apart():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(8, 5))
    X, y = places[rng.integers(8, size=60)], np.array(NAMES)[rng.integers(3, size=60)]
    model = EvidentialNetworkClassifier(15, init="kmeans", max_iter=40, random_state=0).fit(X, y)
    apart = ((places[:, None] - places) ** 2).sum(axis=-1).max()
    assert (model.gamma_ < 1000.0 / apart).all()  # and not that of rounding
    rows = StreamRows([(X[:1], y[:1]), (X[1:], y[1:])])
    other = EvidentialNetworkClassifier(15, init="kmeans", max_iter=40, random_state=0).fit(rows)
    np.testing.assert_allclose(other.memberships_, model.memberships_, atol=1e-9)


def test_what_is_far_is_new():
    X, y = load_iris(return_X_y=True)
    for count in (3, 6):
        model = EvidentialNetworkClassifier(count, random_state=0, max_iter=300, tol=1e-3)
        model.fit(X, y)
        near, far = model.score_novelty(X), model.score_novelty(X + FAR)
        assert near.mean() < 0.1
        assert far.min() > 0.999
        assert model.score(X, y) > 0.95


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_a_limit_of_width_nothing_is_new():
    X, y = load_iris(return_X_y=True)
    model = EvidentialNetworkClassifier(6, widest=1e3, random_state=0, max_iter=300)
    model.fit(X, y)
    assert model.score_novelty(X + FAR).max() < 0.1


def test_fewer_rows_than_prototypes_and_a_single_class():
    model = EvidentialNetworkClassifier(10, random_state=0).fit([[0.0], [0.0], [3.0]], [0, 0, 1])
    assert len(model.prototypes_) == 2
    assert model.predict([[0.1], [2.9]]).tolist() == [0, 1]
    alone = EvidentialNetworkClassifier(2, random_state=0).fit([[0.0], [1.0]], ["a", "a"])
    assert alone.predict([[5.0]]).tolist() == ["a"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_prototypes": 0}, "n_prototypes should be"),
        ({"loss": "hinge"}, "loss should be"),
        ({"init": "random"}, "init should be"),
        ({"init": {"alpha": 0.5}}, "has no prototypes"),
        ({"init": {"prototypes": [[0.0, 1.0]], "weights": 1}}, "has 'weights'"),
        ({"init": {"prototypes": [[0.0]]}}, r"of shape \(1, 2\)"),
        ({"init": {"prototypes": [[0.0, 1.0]], "alpha": 1.5}}, "between 0 and 1"),
        ({"init": {"prototypes": [[0.0, 1.0]], "gamma": 0.0}}, "gamma'] positive"),
        ({"init": {"prototypes": [[0.0, 1.0]], "memberships": [[0, 0, 0]]}}, "all zero"),
        ({"regularization": -1.0}, "regularization should be"),
        ({"widest": 0.0}, "widest should be"),
    ],
)
def test_bad_options(options, message):
    X, labels, _ = doubtful(30)
    with pytest.raises(ValueError, match=message):
        EvidentialNetworkClassifier(**options).fit(X, labels)


def test_too_many_classes_for_masses():
    with pytest.raises(ValueError, match="at most 62 classes"):
        EvidentialNetworkClassifier(2).fit(np.arange(70.0)[:, None], np.arange(70))
