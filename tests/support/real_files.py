"""Small files in the layout of the real sets, with classes that can be learned."""

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


def write_images(folder, seed=0, per_kind=40):
    """Write three sets of images in which each kind has a bright block of its own."""
    random = np.random.default_rng(seed)
    for name in ("mnist_3_5", "cifar10n", "cifar10h", "emnist_balanced"):
        (folder / name).mkdir()
    X, kinds = draw_images(random, 2, per_kind, side=28)
    is_test = np.arange(len(X)) % 5 == 0
    y = np.array([3, 5], dtype=np.uint8)[kinds]
    np.savez(folder / "mnist_3_5" / "mnist_3_5.npz", X=X, y=y, is_test=is_test)
    X, kinds = draw_images(random, 10, per_kind, side=16)
    np.savez(folder / "cifar10n" / "cifar10n_train.npz", grey16=X, y=kinds.astype(np.int8))
    X, kinds = draw_images(random, 10, per_kind, side=16)
    large = X.reshape(-1, 16, 16).repeat(2, axis=1).repeat(2, axis=2).reshape(-1, 1024)
    np.savez(folder / "cifar10h" / "cifar10h_test.npz", grey=large, y=kinds.astype(np.int8))
    X, kinds = draw_images(random, 47, per_kind, side=28)
    np.savez(
        folder / "emnist_balanced" / "emnist47.npz",
        X=X,
        y=kinds.astype(np.int8),
        group=np.repeat([0, 1, 2], [10, 26, 11])[kinds].astype(np.int8),
        is_test=np.arange(len(X)) % 5 == 0,
    )


def draw_images(random, n_kinds, per_kind, side):
    """Bytes (n, pixels) and kinds; a kind's block is one of 7 x 7 places, bright or half bright."""
    kinds = random.permutation(np.repeat(np.arange(n_kinds), per_kind))
    X = random.integers(60, size=(len(kinds), side, side))
    step = side // 7
    for k in range(n_kinds):
        row, column = step * (k // 7), step * (k % 7)
        X[kinds == k, row : row + step, column : column + step] += 150
    return X.reshape(len(kinds), -1).astype(np.uint8), kinds


def write_graded(folder, seed=0, n=200):
    """Write two sets with an expert's grades, right in about nine of ten items."""
    random = np.random.default_rng(seed)
    for name in ("elpv", "mammographic"):
        (folder / name).mkdir()
    y = random.integers(2, size=n)
    thirds = np.array([0, 1, 2, 3])[np.clip(3 * y + random.integers(-1, 2, size=n), 0, 3)] / 3
    np.savez(
        folder / "elpv" / "elpv.npz",
        features=(1.5 * y[:, None] * np.eye(1, 64) + random.normal(size=(n, 64))).astype(
            np.float32
        ),
        defect_probability=thirds.astype(np.float32),
    )
    wrong = random.random(n) < 0.1
    birads = np.where(y ^ wrong, 5, 4)
    birads[:6] = 55, 6, 0, 2, 3, 5
    np.savez(
        folder / "mammographic" / "mammographic.npz",
        X=(1.5 * y[:, None] + random.normal(size=(n, 4))).astype(np.float32),
        birads=birads.astype(np.int8),
        y=y.astype(np.int8),
    )


def write_crowds(folder, names, seed=0, n_classes=3, per_class=20):
    """Write answers of crowds, four in five of them right; those with features can be learned."""
    random = np.random.default_rng(seed)
    for name in names:
        home = {"bluebirds", "dogs", "face_sentiment", "product"} & {name}
        place = folder / ("crowd_answers_only" if home else name)
        place.mkdir(exist_ok=True)
        k = {"labelme": 8, "music_genre": 10, "cifar10n": 10, "sentiment_polarity": 2}.get(
            name, n_classes
        )
        X, y, answers, _ = draw(random, k, per_class, workers=5)
        half = len(y) // 2
        parts = {"X_train": X[:half], "y_train": y[:half], "X_test": X[half:], "y_test": y[half:]}
        item, worker = np.nonzero(answers >= 0)
        said = answers[item, worker]
        file = f"{name}.npz"
        if name == "cifar10n":
            file = "cifar10n_train.npz"
            arrays = {"features": X, "y": y, "annotations": np.abs(answers[:, :3])}
            arrays["grey16"] = np.zeros((len(y), 4), dtype=np.uint8)
        elif name == "sentiment_polarity":
            seen = item < half
            keys = ("answer_item", "answer_annotator", "answer_label")
            columns = (item[seen], worker[seen], said[seen])
            arrays = parts | dict(zip(keys, columns, strict=True))
        elif home:
            arrays = {"item": item, "worker": worker, "label": said, "y": y}
        else:
            arrays = parts | {"answers": answers[:half]}
            arrays |= {"classes": np.array([f"genre{j}" for j in range(k)])}
        np.savez(place / file, **arrays)
