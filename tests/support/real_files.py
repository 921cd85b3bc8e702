"""Small files in the layout of the real sets, with classes that can be learnt."""

import numpy as np


def write_sets(folder, seed=0, per_class=12):
    """Write all five sets under the folder; a fifth of the answers are drawn at random."""
    random = np.random.default_rng(seed)
    for name in ("ferplus", "cifar10h", "labelme", "music_genre", "sjaffe"):
        (folder / name).mkdir()
    X, y, _, votes = draw(random, 8, per_class, workers=10)
    split = np.arange(len(y)) % 3
    unknown = np.zeros((len(y), 2), dtype=int)
    votes[0], unknown[0] = 0, (9, 1)
    np.savez(
        folder / "ferplus" / "ferplus.npz",
        features=X.astype(np.float16),
        votes=np.hstack([votes, unknown]).astype(np.uint8),
        split=split.astype(np.int8),
    )
    X, y, _, votes = draw(random, 10, per_class, workers=50)
    np.savez(
        folder / "cifar10h" / "cifar10h_test.npz",
        features=X,
        y=y.astype(np.int8),
        human_counts=votes,
        grey=np.zeros((len(y), 4), dtype=np.uint8),
    )
    for name, n_classes, parts in (
        ("labelme", 8, ("train", "valid", "test")),
        ("music_genre", 10, ("train", "test")),
    ):
        X, y, answers, _ = draw(random, n_classes, per_class * len(parts), workers=3)
        arrays = {}
        for number, part in enumerate(parts):
            rows = np.arange(len(y)) % len(parts) == number
            arrays |= {f"X_{part}": X[rows], f"y_{part}": y[rows]}
            if part == "train":
                arrays["answers"] = answers[rows]
        if name == "music_genre":
            arrays["classes"] = np.array([f"genre{k}" for k in range(n_classes)])
        np.savez(folder / name / f"{name}.npz", **arrays)
    X, _, _, votes = draw(random, 6, per_class, workers=9)
    ratings = votes + 1.0
    np.savez(
        folder / "sjaffe" / "sjaffe.npz",
        X=X,
        distribution=(ratings / ratings.sum(axis=1, keepdims=True)).astype(np.float32),
    )


def draw(random, n_classes, per_class, workers):
    """Features, classes, answers (n, workers) with some missing, and counts of answers."""
    y = random.permutation(np.repeat(np.arange(n_classes), per_class))
    X = 3.0 * np.eye(n_classes, 12)[y] + random.normal(size=(len(y), 12))
    shape = len(y), workers
    wrong = random.random(shape) < 0.2
    answers = np.where(wrong, random.integers(n_classes, size=shape), y[:, None])
    votes = (answers[:, :, None] == np.arange(n_classes)).sum(axis=1)
    answers[random.random(shape) < 0.1] = -1
    return X, y, answers.astype(np.int8), votes


def write_partial_sets(folder, names, seed=0, n_classes=5, per_class=12):
    """Write sets of candidates: the true class, and each other one with probability 0.3."""
    random = np.random.default_rng(seed)
    (folder / "partial_labels").mkdir()
    for name in names:
        X, y, _, _ = draw(random, n_classes, per_class, workers=1)
        candidates = random.random((len(y), n_classes)) < 0.3
        candidates[np.arange(len(y)), y] = True
        np.savez(
            folder / "partial_labels" / f"{name}.npz",
            X=X.astype(np.float32),
            candidates=candidates.astype(np.uint8),
            y=y.astype(np.int16),
        )
