"""Promises about labels: the same knowledge gives the same model, and degrees count."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold

from plausible.labels import Labels
from plausible.testing.promises import OWN_Y, assert_says, promised
from plausible.testing.samples import NAMES, answers, assert_same, differ, draw
from plausible.testing.subject import Subject

# -- The same knowledge ---------------------------------------------------------------------------


@promised
def check_row_scale(subject: Subject) -> None:
    """Plausibilities count up to a factor for each row."""
    sample = draw()
    factors = np.random.default_rng(2).uniform(0.1, 1.0, (len(sample.X), 1))
    scaled = Labels.from_plausibility(sample.contour * factors, classes=NAMES)
    model, other = subject.fit(sample.X, sample.plausible), subject.fit(sample.X, scaled)
    assert_same(other, model, sample.fresh, "rows of plausibilities times a factor each")


@promised
def check_class_order(subject: Subject) -> None:
    """The order of classes does not matter; `classes_` are sorted."""
    sample = draw()
    model = subject.fit(sample.X, sample.plausible)
    for order in ([1, 2, 0], [2, 1, 0]):
        other = subject.fit(sample.X, sample.plausible.reorder(NAMES[order]))
        # Scorers of scikit-learn take the columns of predict_proba for those of sorted classes.
        assert other.classes_.tolist() == sorted(NAMES.tolist()), "classes_ should be sorted"
        assert_same(other, model, sample.fresh, f"classes in the order {order}")


@promised
def check_sample_order(subject: Subject) -> None:
    """The order of rows does not matter."""
    sample = draw()
    order = np.random.default_rng(3).permutation(len(sample.X))
    model = subject.fit(sample.X, sample.plausible)
    other = subject.fit(sample.X[order], sample.plausible[order])
    assert_same(other, model, sample.fresh, "rows in another order")


def _dense_masses(sets: NDArray[Any], mass: NDArray[Any]) -> NDArray[Any]:
    """Mass on the given sets, (n, 2^K), and the rest on all classes: a bit for each class."""
    n, n_classes = sets.shape
    dense = np.zeros((n, 2**n_classes))
    dense[np.arange(n), sets @ (1 << np.arange(n_classes))] = mass
    dense[:, -1] += 1.0 - mass
    return dense


def _dict_masses(sets: NDArray[Any], mass: NDArray[Any]) -> list[dict[tuple[str, ...], float]]:
    return [
        {tuple(NAMES[inside]): value, tuple(NAMES): 1.0 - value}
        for inside, value in zip(sets, mass.tolist(), strict=True)
    ]


def _assert_forms_agree(subject: Subject, forms: dict[str, Any]) -> None:
    sample = draw()
    (first, reference), *others = forms.items()
    model = subject.fit(sample.X, reference)
    for name, y in others:
        other = subject.fit(sample.X, y)
        assert_same(other, model, sample.fresh, f"the same knowledge as {name} and as {first}")


@promised
def check_forms_of_hard_labels(subject: Subject) -> str | None:
    """Hard labels give one model, in whatever form they come."""
    if subject.own_fit is not None:
        return OWN_Y
    sample = draw()
    single = np.eye(len(NAMES), dtype=bool)[sample.codes]
    sure = np.ones(len(sample.X))
    forms = {
        "an array of names": sample.hard,
        "a list of names": sample.hard.tolist(),
        "numbers of classes": sample.codes,
        "a list of sets": [{name} for name in sample.hard.tolist()],
        "a bool array": single,
        "a 0/1 array": single.astype(float),
        "from_crisp": Labels.from_crisp(sample.hard),
        "from_plausibility": Labels.from_plausibility(single, classes=NAMES),
        "from_probability": Labels.from_probability(single.astype(float), classes=NAMES),
        "from_doubt(0)": Labels.from_doubt(sample.hard, doubt=0.0),
        "dictionaries of masses": Labels.from_masses(
            [{(name,): 1.0} for name in sample.hard.tolist()], classes=NAMES
        ),
        "dense masses": Labels.from_masses(_dense_masses(single, sure), classes=NAMES),
    }
    _assert_forms_agree(subject, forms)
    return None


@promised
def check_forms_of_sets(subject: Subject) -> str | None:
    """Sets of classes give one model, in whatever form they come."""
    if subject.own_fit is not None:
        return OWN_Y
    sample = draw()
    sure = np.ones(len(sample.X))
    forms = {
        "a list of sets": [set(NAMES[inside].tolist()) for inside in sample.sets],
        "a bool array": sample.sets,
        "a 0/1 array": sample.sets.astype(float),
        "from_sets": Labels.from_sets(sample.sets, classes=NAMES),
        "from_plausibility": Labels.from_plausibility(sample.sets, classes=NAMES),
        "dictionaries of masses": Labels.from_masses(_dict_masses(sample.sets, sure), NAMES),
        "dense masses": Labels.from_masses(_dense_masses(sample.sets, sure), classes=NAMES),
    }
    _assert_forms_agree(subject, forms)
    return None


@promised
def check_forms_of_doubted_labels(subject: Subject) -> str | None:
    """Doubted labels give one model, in whatever form they come."""
    if subject.own_fit is not None:
        return OWN_Y
    sample = draw()
    single = np.eye(len(NAMES), dtype=bool)[sample.codes]
    contour = np.where(single, 1.0, sample.doubt[:, None])
    trust = 1.0 - sample.doubt
    forms = {
        "from_doubt": Labels.from_doubt(sample.hard, sample.doubt),
        "an array of plausibilities": contour,
        "from_plausibility": Labels.from_plausibility(contour, classes=NAMES),
        "dictionaries of masses": Labels.from_masses(_dict_masses(single, trust), NAMES),
        "dense masses": Labels.from_masses(_dense_masses(single, trust), classes=NAMES),
    }
    _assert_forms_agree(subject, forms)
    return None


@promised
def check_degrees_matter(subject: Subject) -> None:
    """Doubted labels do not count like sure ones."""
    sample = draw()
    model = subject.fit(sample.X, sample.doubted)
    hardened = subject.fit(sample.X, sample.hard)
    assert differ(model, hardened, sample.fresh), "doubted labels count like sure ones"


# -- Nothing known ---------------------------------------------------------------------------------


@promised
def check_unknown_labels(subject: Subject) -> None:
    """With labels that say nothing, fit works, or says that it needs some."""
    sample = draw()
    refusal = None
    try:
        model = subject.fit(sample.X, Labels.unknown(len(sample.X), NAMES))
    except ValueError as error:
        refusal = error
    if refusal is not None:
        assert subject.unknown != "works", f"such labels should work, but are refused: {refusal}"
        assert_says(refusal, "label")
        return
    assert subject.unknown != "refuses", "labels that say nothing should be refused; nothing was"
    predicted, probability = answers(model, sample.fresh)
    assert set(predicted) <= set(NAMES), "labels that say nothing give classes that do not exist"
    assert probability is None or np.isfinite(probability).all(), "probabilities are not finite"


@promised
def check_unknown_rows(subject: Subject) -> None:
    """Rows without a label are welcome, and favor no class."""
    sample = draw(150)  # enough for models with many parameters
    contour = sample.contour.copy()
    contour[::3] = 1.0
    labels = Labels.from_plausibility(contour, classes=NAMES)
    model = subject.fit(sample.X, labels)
    right = accuracy_score(sample.fresh_names, model.predict(sample.fresh))
    assert right > 0.7, f"with a third of the labels unknown, only {right:.0%} are right"
    other = subject.fit(sample.X, labels.reorder(NAMES[::-1]))
    assert_same(other, model, sample.fresh, "unknown rows favor a class by its place")
    for train, test in StratifiedKFold(3).split(sample.X, labels):
        model = subject.fit(sample.X[train], labels[train])
        score = model.score(sample.X[test], labels[test])
        assert np.isfinite(score), "unknown rows make the score of a fold undefined"


# -- Sample weights --------------------------------------------------------------------------------


@promised
def check_weights_are_repetitions(subject: Subject) -> str | None:
    """A whole weight is as good as so many equal rows."""
    if not subject.weights:
        return "takes no sample weights"
    sample = draw()
    times = 1 + np.arange(len(sample.X)) % 3
    model = subject.fit(sample.X, sample.plausible, times)
    rows = np.repeat(np.arange(len(sample.X)), times)
    other = subject.fit(sample.X[rows], sample.plausible[rows])
    assert_same(model, other, sample.fresh, "whole weights instead of repeated rows")
    return None


@promised
def check_zero_weight_is_absence(subject: Subject) -> str | None:
    """Rows without weight are as if they were not there."""
    if not subject.weights:
        return "takes no sample weights"
    sample = draw()
    weight = (np.arange(len(sample.X)) % 4 > 0).astype(float)
    model = subject.fit(sample.X, sample.plausible, weight)
    kept = weight > 0
    other = subject.fit(sample.X[kept], sample.plausible[kept])
    assert_same(model, other, sample.fresh, "zero weight instead of dropped rows")
    return None
