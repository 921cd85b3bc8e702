"""What an answer on the page is worth, against mass functions by hand and known shares."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible import belief
from plausible.experts import (
    SUPPORT,
    Statement,
    contour_of,
    masses_of,
    worth_before,
    worth_learned,
)
from plausible.experts.saying import LEAD

K = 5
statements = st.lists(st.integers(0, K - 1), min_size=1, max_size=K, unique=True).flatmap(
    lambda picks: st.builds(
        Statement,
        st.just(tuple(picks)),
        st.booleans(),
        st.one_of(
            st.just(()), st.tuples(*[st.sampled_from([1.0, 2.0, 5.0, 10.0, 20.0])] * len(picks))
        ),
    )
)


@given(statements, st.floats(0, 1))
def test_masses_are_those_of_the_contour(said, lead):
    masses = masses_of(said, K, lead)
    assert sum(masses.values()) == pytest.approx(1)
    assert min(masses.values()) >= 0
    contour = [sum(m for members, m in masses.items() if k in members) for k in range(K)]
    np.testing.assert_allclose(contour, contour_of(said, K, lead), atol=1e-12)
    chain = sorted(masses, key=len)
    assert all(set(one) <= set(two) for one, two in pairwise(chain))


def test_the_table_of_the_guide():
    """m({b}) = s t, m(A) = s (1 - t), m(all) = 1 - s, by discounting in `belief`."""
    s, t = SUPPORT["rather"], LEAD
    said = Statement((3, 1))
    masses = masses_of(said, K)
    assert masses == pytest.approx({(3,): t, (1, 3): 1 - t})
    values = np.zeros(1 << K)
    for members, mass in masses.items():
        values[sum(1 << k for k in members)] = mass
    discounted = belief.discount(values, 1 - s)
    assert discounted[1 << 3] == pytest.approx(s * t)
    assert discounted[(1 << 3) | (1 << 1)] == pytest.approx(s * (1 - t))
    assert discounted[-1] == pytest.approx(1 - s)
    contour = 1 - s + s * contour_of(said, K)
    np.testing.assert_allclose(contour, [1 - s, 1 - s * t, 1 - s, 1, 1 - s])


def test_cannot_tell_says_nothing_and_none_of_these_is_the_empty_set():
    assert masses_of(Statement(tuple(range(K)), level=True), K) == {tuple(range(K)): 1.0}
    assert masses_of(Statement(()), K) == {(): 1.0}
    assert contour_of(Statement(()), K).tolist() == [0] * K
    assert masses_of(Statement((2, 4), level=True), K) == {(2, 4): 1.0}
    assert masses_of(Statement((2,)), K) == {(2,): 1.0}


def simulate(random, n, right, first):
    """Answers whose shares of hits by word and size, and of first picks, are known."""
    truth = random.integers(K, size=n)
    word = random.integers(3, size=n)
    said = []
    for true, w in zip(truth, word, strict=True):
        size = int(random.integers(1, 4))
        others = [k for k in random.permutation(K) if k != true]
        picks = others[:size]
        if random.random() < right[w, size - 1]:
            picks = [true, *others[: size - 1]]
            if size > 1 and random.random() > first:
                picks = [*picks[1:], true]
        said.append(Statement(tuple(int(k) for k in picks)))
    return truth, word, said


def test_words_and_leads_are_recovered():
    random = np.random.default_rng(0)
    right = np.array([[0.9, 0.93, 0.95], [0.7, 0.75, 0.8], [0.4, 0.55, 0.7]])
    truth, word, said = simulate(random, 9000, right, first=0.75)
    before = worth_before(SUPPORT, K)
    found = worth_learned(before, word, said, ["ann"] * 9000, truth)
    for w in range(3):
        for size in (1, 2, 3):
            share = found.share(w, size)
            assert share == pytest.approx(right[w, size - 1], abs=0.04)
            support = (share - size / K) / (1 - size / K)
            person = found.calibration.offset[0]
            assert abs(person) < 0.15
            doubt = found.doubts(np.array([w]), np.array([size]), ["somebody new"])[0]
            assert doubt == pytest.approx(1 - support, abs=1e-9)
    for size in (2, 3):
        lead = (0.75 - 1 / size) / (1 - 1 / size)
        assert found.lead_of(size) == pytest.approx(lead, abs=0.05)


def test_a_person_who_is_surer_than_right_is_believed_less():
    random = np.random.default_rng(1)
    n = 600
    truth = random.integers(K, size=n)
    person = np.array(["ann", "bob"])[np.arange(n) % 2]
    hit = random.random(n) < np.where(person == "ann", 0.95, 0.5)
    said = [Statement((int(t if h else (t + 1) % K),)) for t, h in zip(truth, hit, strict=True)]
    found = worth_learned(
        worth_before(SUPPORT, K), np.zeros(n, dtype=int), said, person.tolist(), truth
    )
    ann, bob = found.doubts(np.zeros(2, dtype=int), np.ones(2, dtype=int), ["ann", "bob"])
    assert ann < 0.12 < 0.4 < bob


def test_little_gold_changes_nothing():
    before = worth_before(SUPPORT, K)
    said = [Statement((0,))] * 29
    found = worth_learned(before, np.zeros(29, dtype=int), said, ["a"] * 29, np.ones(29, dtype=int))
    assert found.calibration is None
    assert found.n_known == 29
    more = worth_learned(
        before, np.zeros(30, dtype=int), [*said, said[0]], ["a"] * 30, np.ones(30, dtype=int)
    )
    assert more.doubts(np.array([0]), np.array([1]), ["a"])[0] > 0.9  # never right
