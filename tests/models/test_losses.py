"""Losses and objectives: gradients by finite differences, and the libraries' own objectives."""

import numpy as np
import pytest
from scipy.special import softmax

from plausible.labels import Labels
from plausible.models import (
    lightgbm_objective,
    partial_label_loss,
    soft_label_gradient,
    soft_label_loss,
    xgboost_objective,
)
from plausible.models.any_learner.objectives import gradient_and_curvature
from plausible.models.logistic.criteria import CRITERIA, curvature

RNG = np.random.default_rng(3)
N, K = 12, 4
NAMES = ["d", "a", "c", "b"]
LOGITS = RNG.normal(size=(N, K)) * 2
WEIGHT = RNG.uniform(0.2, 2.0, N)


def make_labels():
    """Hard labels, sets, degrees, doubts, probabilities, unknown rows."""
    contour = np.eye(K)[RNG.integers(0, K, N)]
    contour[2:5] = np.maximum(contour[2:5], RNG.integers(0, 2, (3, K)))
    contour[5:8] = np.maximum(contour[5:8], RNG.uniform(size=(3, K)))
    contour[8:10] = RNG.dirichlet(np.ones(K), 2)
    contour[10] = 1.0
    marks = np.isin(np.arange(N), [8, 9])
    return Labels(contour, NAMES, is_probability=marks)


LABELS = make_labels()


def finite_differences(value, logits, step=1e-5):
    """Central differences of a number by each logit."""
    slopes = np.empty_like(logits)
    for place in np.ndindex(logits.shape):
        moved = [logits.copy(), logits.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        slopes[place] = (value(moved[0]) - value(moved[1])) / (2 * step)
    return slopes


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_gradients_are_those_of_finite_differences(criterion, reduction):
    options = {"sample_weight": WEIGHT, "reduction": reduction}
    found = soft_label_gradient(LOGITS, LABELS, criterion, **options)
    expected = finite_differences(
        lambda z: float(soft_label_loss(z, LABELS, criterion, **options)), LOGITS
    )
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_losses_are_the_criteria_of_logistic_regression(criterion):
    value, slope = partial_label_loss(criterion)(LOGITS, LABELS, WEIGHT)
    options = {"sample_weight": WEIGHT, "reduction": "sum"}
    loss = soft_label_loss(LOGITS, LABELS, criterion, **options)
    np.testing.assert_allclose(loss, value, atol=1e-10)
    np.testing.assert_allclose(
        soft_label_gradient(LOGITS, LABELS, criterion, **options), slope, atol=1e-10
    )
    each = soft_label_loss(LOGITS, LABELS, criterion, reduction="none")
    np.testing.assert_allclose((each * WEIGHT).sum(), value, atol=1e-10)


def test_hard_labels_make_all_the_cross_entropy():
    codes = RNG.integers(0, K, N)
    expected = -np.log(softmax(LOGITS, axis=1)[np.arange(N), codes]).mean()
    for criterion in CRITERIA:
        loss = soft_label_loss(LOGITS, np.eye(K)[codes], criterion)
        np.testing.assert_allclose(loss, expected, atol=1e-12)


def test_logits_far_apart_keep_finite_losses_and_gradients():
    far = np.array([[900.0, 0.0, -900.0, 5.0]])
    only = np.array([[0.0, 0.5, 1.0, 0.0]])
    np.testing.assert_allclose(soft_label_loss(far, only), 900.0 - np.log(0.5))
    np.testing.assert_allclose(soft_label_gradient(far, only), [[1, -1, 0, 0]], atol=1e-12)
    for criterion in CRITERIA:
        assert np.isfinite(soft_label_gradient(far, only, criterion)).all()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_library_of_the_standard_is_served(criterion):
    strict = pytest.importorskip("array_api_strict")
    contour, marks = strict.asarray(LABELS.contour.copy()), strict.asarray(LABELS.is_probability)
    options = {"is_probability": marks, "sample_weight": strict.asarray(WEIGHT)}
    logits = strict.asarray(LOGITS)
    for function in (soft_label_loss, soft_label_gradient):
        found = function(logits, contour, criterion, **options)
        assert isinstance(found, type(logits))
        ours = function(LOGITS, LABELS, criterion, sample_weight=WEIGHT)
        np.testing.assert_allclose(np.asarray(found), ours, atol=1e-12)
    np.testing.assert_allclose(
        np.asarray(soft_label_loss(logits, LABELS, criterion)),
        soft_label_loss(LOGITS, LABELS, criterion),
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_torch_differentiates(criterion):
    torch = pytest.importorskip("torch")
    logits = torch.tensor(LOGITS, requires_grad=True)
    contour, marks = torch.tensor(LABELS.contour), torch.tensor(LABELS.is_probability)
    options = {"is_probability": marks, "sample_weight": torch.tensor(WEIGHT)}
    loss = soft_label_loss(logits, contour, criterion, **options)
    loss.backward()
    ours = soft_label_gradient(LOGITS, LABELS, criterion, sample_weight=WEIGHT)
    np.testing.assert_allclose(logits.grad.numpy(), ours, atol=1e-12)
    far = torch.tensor([[900.0, 0.0, -900.0, 5.0], [0.0, 1.0, 2.0, 3.0]], requires_grad=True)
    only = torch.tensor([[0.0, 0.5, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0]])
    soft_label_loss(far, only, criterion, reduction="sum").backward()
    assert torch.isfinite(far.grad).all()
    if criterion == "minimum_commitment":
        np.testing.assert_allclose(far.grad[0].numpy(), [1, -1, 0, 0], atol=1e-6)


def test_what_is_no_array_or_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="array API"):
        soft_label_loss([[0.0, 1.0]], np.ones((1, 2)))
    with pytest.raises(ValueError, match=r"\(12, 4\).*\(4, 12\)"):
        soft_label_loss(LOGITS, LABELS.contour.T)
    with pytest.raises(ValueError, match="minimum_commitment"):
        soft_label_loss(LOGITS, LABELS, "em")
    with pytest.raises(ValueError, match="reduction"):
        soft_label_gradient(LOGITS, LABELS, reduction="max")
    with pytest.raises(ValueError, match="training rows"):
        xgboost_objective(LABELS)(None, LOGITS[:3])
    with pytest.raises(ValueError, match="minimum_commitment"):
        lightgbm_objective(LABELS, "em")


# -- Objectives ------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("make", [xgboost_objective, lightgbm_objective])
def test_objectives_have_gradients_of_finite_differences_and_bound_the_curvature(make, criterion):
    gradient, bound = make(LABELS, criterion)(None, LOGITS, WEIGHT)
    options = {"sample_weight": WEIGHT, "reduction": "sum"}
    expected = finite_differences(
        lambda z: float(soft_label_loss(z, LABELS, criterion, **options)), LOGITS
    )
    np.testing.assert_allclose(gradient, expected, atol=1e-7)
    if criterion in ("minimum_commitment", "maximum_entropy"):
        own = -curvature(criterion, LOGITS.T, LABELS.contour.T, LABELS.is_probability)
        diagonal = WEIGHT[:, None] * np.einsum("kkn->nk", own)
        assert (bound >= diagonal - 1e-12).all()
    model = softmax(LOGITS, axis=1)
    says = ~LABELS.is_unknown
    factor = 2.0 if make is xgboost_objective else K / (K - 1)
    expected = factor * WEIGHT[:, None] * model * (1 - model)
    np.testing.assert_allclose(bound[says], expected[says], atol=1e-5)


def test_items_that_say_nothing_change_nothing_in_a_leaf():
    gradient, bend = gradient_and_curvature(LOGITS, LABELS, "minimum_commitment", 2.0)
    np.testing.assert_allclose(gradient[LABELS.is_unknown], 0.0, atol=1e-12)
    assert (bend[LABELS.is_unknown] == 0.0).all()


def make_rows(n=150):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, n)
    X = np.array([[0.0, 0], [2, 0], [0, 2]])[y] + rng.normal(size=(n, 2))
    return X, y, rng.uniform(0.5, 2.0, n)


def test_xgboost_on_hard_labels_is_its_own_objective():
    xgboost = pytest.importorskip("xgboost")
    X, y, weight = make_rows()
    settings = {"num_class": 3, "max_depth": 3, "base_score": 0.5, "nthread": 1}
    data = xgboost.DMatrix(X, y, weight=weight)
    own = xgboost.train(settings | {"objective": "multi:softprob"}, data, 8)
    settings["disable_default_eval_metric"] = True
    ours = xgboost.train(settings, data, 8, obj=xgboost_objective(y))
    np.testing.assert_allclose(
        softmax(ours.predict(data, output_margin=True), axis=1), own.predict(data), atol=1e-5
    )
    alone = xgboost.XGBClassifier(n_estimators=5, max_depth=2, base_score=0.5, n_jobs=1)
    mine = xgboost.XGBClassifier(
        objective=xgboost_objective(y), n_estimators=5, max_depth=2, base_score=0.5, n_jobs=1
    )
    alone.fit(X, y, sample_weight=weight)
    mine.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        mine.predict(X, output_margin=True), alone.predict(X, output_margin=True), atol=1e-5
    )


def test_lightgbm_on_hard_labels_is_its_own_objective():
    lightgbm = pytest.importorskip("lightgbm")
    X, y, weight = make_rows()
    settings = {
        "num_class": 3, "boost_from_average": False, "verbosity": -1, "num_threads": 1,
        "min_data_in_leaf": 5,
    }  # fmt: skip
    data = lightgbm.Dataset(X, y, weight=weight, free_raw_data=False)
    own = lightgbm.train(settings | {"objective": "multiclass"}, data, 8)
    data = lightgbm.Dataset(X, y, weight=weight, free_raw_data=False)
    ours = lightgbm.train(settings | {"objective": lightgbm_objective(y)}, data, 8)
    np.testing.assert_allclose(softmax(ours.predict(X), axis=1), own.predict(X), atol=1e-5)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosting_learns_from_sets(library):
    boosting = pytest.importorskip(library)
    X, y, _ = make_rows(400)
    rng = np.random.default_rng(1)
    contour = np.eye(3)[y]
    contour[np.arange(400), (y + rng.integers(0, 3, 400)) % 3] = 1.0
    contour[::10] = 1.0
    labels = Labels.from_plausibility(contour)
    if library == "xgboost":
        settings = {"num_class": 3, "max_depth": 2, "disable_default_eval_metric": True}
        data = boosting.DMatrix(X)
        model = boosting.train(settings | {"nthread": 1}, data, 10, obj=xgboost_objective(labels))
        margins = model.predict(data, output_margin=True)
    else:
        settings = {"num_class": 3, "objective": lightgbm_objective(labels), "num_leaves": 4}
        data = boosting.Dataset(X, contour.argmax(axis=1))
        model = boosting.train(settings | {"verbosity": -1, "num_threads": 1}, data, 10)
        margins = model.predict(X)
    assert (margins.argmax(axis=1) == y).mean() > 0.74  # the best that can be is about 0.78
