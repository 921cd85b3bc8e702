"""What to ask next: the simulation against `next_items` and against `Annotations.pool`."""

import numpy as np
import pytest

from plausible.experiments import asking
from plausible.experts import Annotations, next_items


def some_answers(random, n_answers=150):
    """Answers, with the log contours and the log doubts of votes that the simulation keeps."""
    done = np.zeros((asking.N_PEOPLE, asking.N_ITEMS), dtype=bool)
    logs, votes = np.zeros((2, asking.N_ITEMS, asking.N_CLASSES))
    log_doubt, rows = np.log(asking.doubts()), []
    crowd = asking.Crowd(random)
    while len(rows) < n_answers:
        who, item = random.integers(asking.N_PEOPLE), random.integers(40)
        if done[who, item]:
            continue
        done[who, item] = True
        said = crowd.says[who, item]
        logs[item] += log_doubt[who]
        logs[item, said] -= log_doubt[who]
        votes[item, said] += log_doubt[who]
        rows.append((int(item), int(who), int(said)))
    return rows, logs, votes, done


def test_the_state_is_that_of_dempsters_rule_and_the_reasons_those_of_next_items():
    rows, logs, votes, done = some_answers(np.random.default_rng(0))
    items, people, said = zip(*rows, strict=True)
    answers = Annotations.from_long(
        items, people, said, doubt=asking.doubts()[list(people)], classes=range(4)
    )
    pooled = answers.pool()
    names = answers.items.astype(int)
    contour = np.exp(logs - logs.max(axis=1, keepdims=True))[names]
    np.testing.assert_allclose(pooled.scaled(), contour, atol=1e-12)
    priority = asking.reasons(logs, votes, done.sum(axis=0).astype(float))
    for question in next_items(answers, len(names)):
        assert question.priority == pytest.approx(priority[int(question.item)], abs=1e-9)


def test_people_err_as_often_as_they_should():
    crowds = [asking.Crowd(np.random.default_rng(k)) for k in range(40)]
    right = np.mean([(c.says == c.truth)[:, ~c.is_ambiguous].mean(axis=1) for c in crowds], axis=0)
    np.testing.assert_allclose(right, asking.ACCURACY, atol=0.02)
    unclear = np.mean([(c.says == c.truth)[:, c.is_ambiguous].mean() for c in crowds])
    assert unclear < 0.55


def test_chosen_questions_halve_the_errors_of_asking_evenly():
    results = asking.run(quick=True)
    fewest, best = (np.mean(asking.at(results, way, 3.0)) for way in ("fewest", "information"))
    assert best < 0.6 * fewest
    assert len(asking.tables(results)["errors"].rows) == len(asking.ANSWERS)
