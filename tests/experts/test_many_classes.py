"""Many classes: rates without confusions, contours without tables of answers and classes."""

import tracemalloc

import numpy as np
import pytest

from plausible.experts import Annotations, JointAnnotatorClassifier, fit_reliability, rate_model
from plausible.models import DiscriminantClassifier
from support import reference


def draw(n_items, n_people, n_classes, n_answers, seed=0, kind="mixed"):
    """Items, people, cells (hard, sets, refusals, abstentions), doubts, true classes."""
    random = np.random.default_rng(seed)
    y = random.integers(n_classes, size=n_items)
    item, who = random.integers(n_items, size=n_answers), random.integers(n_people, size=n_answers)
    skill = np.linspace(0.4, 0.9, n_people)
    said = np.where(
        random.random(n_answers) < skill[who], y[item], random.integers(n_classes, size=n_answers)
    )
    cells = said.astype(object)
    if kind == "mixed":
        for a in np.flatnonzero(random.random(n_answers) < 0.2):
            cells[a] = {int(said[a]), int(random.integers(n_classes))}
        cells[random.random(n_answers) < 0.05] = "none of these"
        cells[random.random(n_answers) < 0.05] = "cannot tell"
    doubt = random.choice([0.0, 0.15, 0.5, 1.0], size=n_answers, p=[0.4, 0.3, 0.2, 0.1])
    return item, who, cells, doubt, y


def contour_of(cell, doubt, n_classes):
    """Plausibilities (K,) by a discounted answer."""
    if cell == "cannot tell":
        return np.ones(n_classes)
    named = set() if cell == "none of these" else cell if isinstance(cell, set) else {cell}
    return doubt + (1 - doubt) * np.isin(np.arange(n_classes), list(named))


def em_by_loops(item, who, contours, shape, model, smoothing, prior, gold, n_steps):
    """E2M with full tables of confusions, one answer after the other."""
    n_items, n_people, n_classes = shape
    told = [a for a in range(len(item)) if contours[a].max() > contours[a].min()]
    fair = np.full((n_classes, n_classes), 1 / n_classes)
    half = (np.eye(n_classes) + fair) / 2
    imagined = smoothing * half / (n_classes if model == "one_coin" else 1)
    posterior = np.zeros((n_items, n_classes))
    for a in told:
        posterior[item[a]] += contours[a] / contours[a].sum()
    posterior[posterior.sum(axis=1) == 0] = 1.0
    posterior /= posterior.sum(axis=1, keepdims=True)
    theta, shares = np.tile(half, (n_people, 1, 1)), posterior.mean(axis=0)
    if gold is not None:
        known = gold / gold.sum(axis=1, keepdims=True)
        posterior = np.where(np.ptp(known, axis=1)[:, None] == 0, 0.0, known)
    for step in range(n_steps + 1):
        counts = np.tile(imagined, (n_people, 1, 1))
        reached = np.zeros(n_people)
        for a in told:
            meant = theta[who[a]] * contours[a]
            meant /= meant.sum(axis=1, keepdims=True)
            counts[who[a]] += posterior[item[a], :, None] * meant
            reached[who[a]] += posterior[item[a]].sum()
        if step == 0 and gold is not None:
            counts[reached == 0] += half
        right, total = np.diagonal(counts, axis1=1, axis2=2), counts.sum(axis=2)
        if model == "one_coin":
            right, total = right.sum(axis=1, keepdims=True), total.sum(axis=1, keepdims=True)
        rate = np.broadcast_to(right / total, (n_people, n_classes))
        theta = np.stack(
            [
                np.diag(r) + ((1 - r) / (n_classes - 1))[:, None] * (1 - np.eye(n_classes))
                for r in rate
            ]
        )
        pi = shares if prior is None else prior
        logs = np.tile(np.log(pi), (n_items, 1))
        for a in told:
            logs[item[a]] += np.log(theta[who[a]] @ contours[a])
        if gold is not None:
            with np.errstate(divide="ignore"):
                logs += np.log(gold)
        powers = np.exp(logs - logs.max(axis=1, keepdims=True))
        posterior = powers / powers.sum(axis=1, keepdims=True)
        likelihood = (np.log(powers.sum(axis=1)) + logs.max(axis=1)).sum()
        shares = posterior.mean(axis=0)
    return posterior, theta, likelihood, likelihood + (imagined * np.log(theta)).sum()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", ["one_coin", "class"])
@pytest.mark.parametrize("prior", ["uniform", "fit"])
@pytest.mark.parametrize("with_gold", [False, True])
@pytest.mark.parametrize("n_classes", [3, 12])
def test_rates_are_those_of_full_tables(model, prior, with_gold, n_classes, monkeypatch):
    monkeypatch.setattr(rate_model, "TILE", 5 * n_classes)  # several tiles
    item, who, cells, doubt, y = draw(23, 4, n_classes, 90, seed=n_classes)
    answers = Annotations.from_long(item, who, cells, doubt=doubt, classes=list(range(n_classes)))
    contours = [contour_of(cell, d, n_classes) for cell, d in zip(cells, doubt, strict=True)]
    gold = None
    if with_gold:
        gold = np.ones((len(answers.items), n_classes))
        for i in (0, 5, 9):
            gold[i] = np.arange(n_classes) == y[answers.items[i]]
    known = {answers.items[i]: int(gold[i].argmax()) for i in (0, 5, 9)} if with_gold else None
    found = fit_reliability(
        answers,
        model,
        prior=prior,
        gold=known,
        smoothing=0.6,
        tol=0.0,
        max_iter=3,
        accelerate=False,
    )
    shape = len(answers.items), len(answers.annotators), n_classes
    given = np.full(n_classes, 1 / n_classes) if prior == "uniform" else None
    posterior, theta, likelihood, criterion = em_by_loops(
        answers.item, answers.annotator, contours, shape, model, 0.6, given, gold, 3
    )
    np.testing.assert_allclose(found.posterior, posterior, atol=1e-9)
    np.testing.assert_allclose(found.confusion, theta, atol=1e-9)
    assert found.log_likelihood == pytest.approx(likelihood, abs=1e-8)
    assert found.history[-1] == pytest.approx(criterion, abs=1e-8)


@pytest.mark.parametrize("n_classes", [9, 70])
@pytest.mark.parametrize("kind", ["hard", "mixed"])
@pytest.mark.parametrize("sure", [False, True])
def test_contours_of_many_classes_are_products(n_classes, kind, sure, monkeypatch):
    monkeypatch.setattr("plausible.experts.contours.BLOCK", 4 * n_classes)
    item, who, cells, doubt, _ = draw(15, 4, n_classes, 40, seed=1, kind=kind)
    names = list(range(n_classes))
    answers = Annotations.from_long(item, who, cells, classes=names)
    given = np.where(doubt > 0, doubt, 0.0 if sure else 0.05)
    labels = answers.pool(doubt=given, on_conflict="unknown")
    for row, name in enumerate(answers.items):
        mine = np.flatnonzero(item == name)
        product = np.prod([contour_of(cells[a], given[a], n_classes) for a in mine], axis=0)
        clash = product.max() == 0
        product = np.ones(n_classes) if clash else product / product.max()
        np.testing.assert_allclose(labels.scaled()[row], product, atol=1e-9)
        every = frozenset(names)
        sources = []
        for a in mine:
            told = {"cannot tell": every, "none of these": frozenset()}.get(str(cells[a]))
            if told is None:
                told = frozenset(cells[a] if isinstance(cells[a], set) else [cells[a]])
            source = {told: 1 - given[a]}
            source[every] = source.get(every, 0.0) + given[a]
            sources.append(source)
        pooled = reference.combine(sources, lambda sets, _: {frozenset.intersection(*sets): 1.0})
        empty = pooled.get(frozenset(), 0.0)
        if any(isinstance(cells[a], set) and len(cells[a]) > 1 for a in mine):
            assert labels.conflict[row] >= empty - 1e-9  # an upper bound
        else:
            assert labels.conflict[row] == pytest.approx(empty, abs=1e-9)


def peak_of(work):
    """Most bytes in use by Python and numpy while something is done, beyond those before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


N_ITEMS, N_PEOPLE, N_CLASSES, N_ANSWERS = 1500, 40, 500, 6000


@pytest.mark.parametrize("doubt", ["fit", 0.2])
@pytest.mark.parametrize("kind", ["hard", "mixed"])
def test_memory_grows_with_items_and_not_with_answers_or_confusions(doubt, kind, monkeypatch):
    monkeypatch.setattr(rate_model, "TILE", 1 << 14)
    monkeypatch.setattr("plausible.experts.contours.BLOCK", 1 << 14)
    item, who, cells, _, _ = draw(N_ITEMS, N_PEOPLE, N_CLASSES, N_ANSWERS, kind=kind)
    names = list(range(N_CLASSES))

    def work():
        Annotations.from_long(item, who, cells, classes=names).pool(doubt=doubt)

    result = 8 * N_ITEMS * N_CLASSES  # 6 MB; answers times classes are 24, confusions 80
    assert peak_of(work) < 2.5 * result + 6e6


def test_memory_of_joint_fits_is_that_of_items_as_well():
    item, who, cells, _, y = draw(600, 30, 300, 1500, kind="hard")
    item[:600] = np.arange(600)
    answers = Annotations.from_long(item, who, cells, classes=list(range(300)))
    X = np.random.default_rng(0).normal(size=(600, 2)) + np.stack([y % 17, y // 17], axis=1)
    joint = JointAnnotatorClassifier(DiscriminantClassifier(reg_covar=1e-3), "one_coin", max_iter=2)

    def work():
        with pytest.warns(UserWarning, match="max_iter|items"):
            joint.fit(X, answers)

    assert peak_of(work) < 8 * 30 * 300**2  # one table of confusions; items take 1.4 MB


def test_a_set_of_very_many_classes_and_very_many_classes_are_small():
    names = [f"class {k}" for k in range(5000)]

    def one_set():
        answers = Annotations.from_long(
            [0, 0], ["p", "q"], ["|".join(names[1:]), names[3]], classes=names
        )
        assert answers.pool().contour.argmax() == 3

    def all_hard():
        answers = Annotations.from_long(np.arange(5000) % 10, np.arange(5000) % 7, names)
        assert answers.reliability().n_answers.sum() == pytest.approx(5000)

    assert peak_of(one_set) < 20e6  # a table of classes and classes takes 200
    assert peak_of(all_hard) < 20e6


def test_confusions_that_no_memory_holds_are_refused():
    names = [f"class {k}" for k in range(4000)]
    answers = Annotations.from_long([0, 0, 1, 1], [0, 1, 2, 3], names[:4], classes=names)
    words = r"64,000,000, or 0\.5 GB .*model='one_coin' or model='class'"
    with pytest.raises(ValueError, match=words):
        answers.reliability("full")
    with pytest.raises(ValueError, match=words):
        JointAnnotatorClassifier().fit(np.eye(2), answers)
    found = answers.reliability("class")
    assert found.learned.shape == (4, 4000)
    with pytest.raises(ValueError, match="use `learned`"):
        _ = found.confusion


def test_the_default_of_a_joint_fit_refuses_so_many_classes_with_a_remedy():
    answers = Annotations.from_answers(np.arange(2000)[:, None] % 600)
    X = np.random.default_rng(0).normal(size=(2000, 2))
    with pytest.raises(ValueError, match="at most 500 classes, but there are 600.*Discriminant"):
        JointAnnotatorClassifier(model="one_coin").fit(X, answers)
