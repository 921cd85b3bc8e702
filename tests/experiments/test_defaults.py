import json

import numpy as np
import pytest

from plausible.experiments import crowd_pools, default_peers, default_sets
from plausible.experiments import defaults as experiment
from plausible.labels import Labels
from plausible.models import SoftNearestCentroid
from support.real_files import write_crowds


def test_smallest_sets_hold_the_share_and_no_class_too_many():
    bets = np.random.default_rng(0).dirichlet(np.ones(5), size=200)
    inside = experiment.smallest_sets(bets, 0.9)
    held = (bets * inside).sum(axis=1)
    least = np.where(inside, bets, np.inf).min(axis=1)
    assert (held >= 0.9 - 1e-12).all()
    assert (held - least < 0.9).all()
    assert (np.where(inside, 0.0, bets).max(axis=1) <= least).all()


def test_settings_are_those_with_the_lowest_loss_in_folds():
    random = np.random.default_rng(0)
    y = random.integers(3, size=90)
    X = random.normal(size=(90, 12))
    X[:, :2] += 2.0 * np.eye(3, 2)[y]
    totals = []
    for ridge in default_peers.RIDGES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(default_peers, "RIDGES", (ridge,))
            (model,) = default_peers.settings_of("logistic")
        total = 0.0
        for train, test in default_peers.parts(y, 0):
            Z = (X - X.mean(axis=0)) / X.std(axis=0)
            p = model.fit(Z[train], y[train]).predict_proba(Z[test])
            total -= np.log(p[np.arange(len(test)), y[test]]).mean()
        totals.append(total)
    best = default_peers.settings_of("logistic")[int(np.argmin(totals))].fit(Z, y)
    bets = default_peers.tuned("logistic", X, y, 4, 0)(X)
    np.testing.assert_allclose(bets[:, :3], best.predict_proba(Z), atol=1e-8)
    assert not bets[:, 3].any()


def test_drawn_answers_are_among_the_counted_ones():
    votes = np.array([[5, 0, 2], [0, 1, 0], [1, 1, 0]])
    drawn = experiment.draw_answers(votes, ["c", "a", "b"], np.random.default_rng(0)).votes()
    assert (drawn <= votes).all()
    assert drawn.sum(axis=1).tolist() == [3, 1, 2]


def row(gain, ratio, high=0.01):
    scores = {"default": {"log loss": {"mean": ratio}}, "peer": {"log loss": {"mean": 1.0}}}
    for one in scores.values():
        one["accuracy"] = {"mean": 0.5}
    gained = {"accuracy": {"mean": gain, "low": gain - 0.01, "high": high}}
    held = {"ours coverage": {"mean": 0.9 + ratio - 1.0, "low": 0.8, "high": 1.0}}
    return {"set": "one", "scores": scores, "gain": {"peer": gained}, "gold": held}


@pytest.mark.parametrize(
    ("gain", "ratio", "high", "holds"),
    [
        (0.01, 0.981, 0.02, [True, True, True, True]),
        (-0.019, 1.19, -0.001, [False, True, True, False]),
        (-0.021, 1.21, 0.001, [True, False, False, False]),
    ],
)
def test_verdicts(gain, ratio, high, holds):
    verdicts = experiment.judge([row(gain, ratio, high)])
    assert [one["holds"] for one in verdicts] == holds


def test_an_interrupted_run_is_taken_up(tmp_path, monkeypatch):
    asked = []

    def scored(name, split, n_rows, seed, side):
        if len(asked) == 3:
            raise KeyboardInterrupt
        asked.append((name, split, side))
        return {side: dict.fromkeys((*experiment.SCORES, "ours size"), 0.1 * len(asked))}

    def compare(settings):
        kept = experiment.Kept(tmp_path / "parts", settings)
        return experiment.compare("one", 3, 10, 0, lambda message: None, kept)

    monkeypatch.setattr(experiment, "score_split", scored)
    with pytest.raises(KeyboardInterrupt):
        compare({"rows": 10})
    asked[:] = [("one", 9, "peers")] * 5  # the next is the sixth
    found = compare({"rows": 10})
    rest = [(split, side) for split in range(3) for side in experiment.SIDES][3:]
    assert asked[5:] == [("one", *one) for one in rest]
    assert found["splits"] == 3
    assert found["gold"]["ours size"]["mean"] == pytest.approx((0.1 + 0.3 + 0.7) / 3)
    assert found["scores"]["peers"]["u65"]["mean"] == pytest.approx((0.2 + 0.6 + 0.8) / 3)
    assert found["gain"]["peers"]["u65"]["mean"] == pytest.approx((0.1 + 0.3 + 0.7 - 1.6) / 3)
    del asked[:]
    (tmp_path / "parts" / "one_1_default.json").unlink()
    compare({"rows": 10})
    assert asked == [("one", 1, "default")]
    with pytest.raises(KeyboardInterrupt):  # other settings
        compare({"rows": 20})
    assert asked[1:] == [("one", 0, side) for side in experiment.SIDES]


def test_gold_sets_leave_out_classes_below_the_quantile_of_gold():
    random = np.random.default_rng(3)
    names = np.array(["c", "a", "b", "d"])
    y = random.integers(4, size=150)
    X = random.normal(size=(150, 2)) + np.array([[0, 0], [2, 0], [0, 2], [2, 2]])[y]
    model = SoftNearestCentroid().fit(X[:30], names[y[:30]])
    found = default_sets.gold_scores(model, X[30:], names[y[30:]])
    bets = model.predict_proba(X[30:])
    true = np.searchsorted(model.classes_, names[y[30:]])
    right = np.sort(1.0 - bets[np.arange(60), true[:60]])  # 60 of 120 are gold
    least = right[int(np.ceil(0.9 * 61)) - 1]
    sets = 1.0 - bets[60:] <= least + 1e-12
    assert found["ours coverage"] == pytest.approx(sets[np.arange(60), true[60:]].mean())
    assert found["ours size"] == pytest.approx(sets.sum(axis=1).mean())
    assert 1.0 < found["ours size"] < 4.0


@pytest.mark.long
def test_default_and_peers_are_scored_on_the_same_splits(tmp_path, monkeypatch):
    sets = ("labelme", "sentiment_polarity")
    write_crowds(tmp_path, sets, per_class=60)
    monkeypatch.setenv("PLAUSIBLE_DATA", str(tmp_path))
    monkeypatch.setattr(crowd_pools, "installed", lambda: {"crowd-kit": False, "cleanlab": False})
    monkeypatch.setattr(experiment, "AutoClassifier", lambda random_state: SoftNearestCentroid())
    results = experiment.run(quick=True, sets=sets)
    json.dumps(results, allow_nan=False)
    for one in results["sets"]:
        assert set(one["gain"]) == {f"majority + {name}" for name in experiment.LEARNERS}
        for method, gains in one["gain"].items():
            for score in experiment.SCORES:
                means = (one["scores"][m][score]["mean"] for m in ("default", method))
                assert gains[score]["mean"] == pytest.approx(next(means) - next(means))
    tables = experiment.tables(results)
    assert set(tables) == {"accuracy", "log_loss", "ece", "coverage", "u65", "gains", "sets"}
    experiment.draw(results, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_scores_of_a_clairvoyant_are_perfect():
    y = np.array([2, 0, 1, 1])
    labels = Labels.from_crisp(["a", "b", "c", "a"])
    task = experiment.Task(np.zeros((4, 1)), labels, None, np.eye(4, 3), np.zeros((4, 1)), y,
                           labels.classes)  # fmt: skip
    found = experiment.score(np.eye(3)[y], task)
    assert found == pytest.approx({"accuracy": 1, "log loss": 0, "ECE": 0, "coverage": 1, "u65": 1})
