"""Labels of every kind on the same items, and a slow neighbor rule to compare with."""

import numpy as np
from scipy.spatial.distance import cdist

from plausible.belief import SparseMasses, dempster, discount, normalize, pignistic
from plausible.labels import Labels

CLASSES = ("plum", "fig", "date", "kiwi")


def by_name(values):
    """Numbers of the sorted classes, as estimators want them where labels are not sorted."""
    return dict(zip(sorted(CLASSES), values, strict=True))


def draw_items(n=40, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def random_masses(n, n_classes, n_sets, rng):
    """Masses on some sets of each row, the frame and single classes among them."""
    dense = np.zeros((n, 1 << n_classes))
    for row in dense:
        sets = rng.choice(np.arange(1, 1 << n_classes), n_sets, replace=False)
        row[sets] = rng.dirichlet(np.ones(n_sets))
    return dense


def all_kinds(n=40, classes=CLASSES, seed=1):
    """Labels by kind: every third says nothing where the kind allows it."""
    rng = np.random.default_rng(seed)
    K = len(classes)
    names = np.array(classes)[rng.integers(K, size=n)]
    inside = rng.random((n, K)) < 0.5
    inside[np.arange(n), rng.integers(K, size=n)] = True
    some = [name if i % 3 else None for i, name in enumerate(names.tolist())]
    contour = rng.uniform(0.05, 1.0, (n, K))
    contour[::5] = 1.0
    kinds = {
        "hard": Labels.from_crisp(names, classes),
        "missing": Labels.from_crisp(some, classes, missing=None),
        "doubted": Labels.from_doubt(names, rng.random(n), classes),
        "sets": Labels.from_sets(inside, classes),
        "plausibilities": Labels.from_plausibility(contour, classes),
        "probabilities": Labels.from_probability(rng.dirichlet(np.ones(K), n), classes),
    }
    if K <= 10:
        kinds["masses"] = Labels.from_masses(random_masses(n, K, 4, rng), classes)
    return kinds


def exact_masses(labels):
    """Normalized mass functions of labels, as the estimators mean them."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return normalize(labels.masses())


def slow_rule(X, labels, new, k, gamma, max_mass=0.95):
    """Masses of new items: sorted distances, discounting and Dempster's rule, one by one."""
    masses = exact_masses(labels)
    rates = pignistic(masses) @ np.broadcast_to(gamma, labels.n_classes)
    squares = cdist(new, X) ** 2
    rows = []
    for row in squares:
        near = np.argsort(row, kind="stable")[:k]
        trust = max_mass * np.exp(-rates[near] * row[near])
        sources = [discount(masses[j], 1.0 - t) for j, t in zip(near, trust, strict=True)]
        rows.append(dempster(*sources) if len(sources) > 1 else sources[0])
    return rows


def as_dicts(masses, classes):
    """Each row as a dictionary from sets of names to masses."""
    rows = masses if isinstance(masses, list) else list(masses)
    rows = [SparseMasses(m.values[None], m.focal_sets, m.n_classes) for m in rows]
    return [
        {frozenset(key): value for key, value in row.to_dicts(classes)[0].items()} for row in rows
    ]


def assert_same_masses(found, expected, classes, tolerance):
    """Two lists of mass functions agree set by set."""
    pairs = zip(as_dicts(found, classes), as_dicts(expected, classes), strict=True)
    for one, other in pairs:
        for key in one.keys() | other.keys():
            assert abs(one.get(key, 0.0) - other.get(key, 0.0)) <= tolerance, key
