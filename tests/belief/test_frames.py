import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.belief import (
    SparseMasses,
    belief,
    categorical,
    coarsen,
    conjunctive,
    contour,
    cylinders,
    marginalize,
    membership,
    plausibility,
    refine,
    sets_from_membership,
    to_sparse,
    vacuous,
    vacuous_extension,
    with_unknown,
)
from support.reference import to_dict, to_row
from support.strategies import mass_functions


@st.composite
def refinings(draw):
    """A coarse frame, a fine one, and the part of the fine one behind each coarse class."""
    n_coarse = draw(st.integers(1, 4))
    extra = draw(st.lists(st.integers(0, n_coarse - 1), max_size=3))
    owner = np.array([*range(n_coarse), *extra])
    owner = owner[np.random.default_rng(draw(st.integers(0, 99))).permutation(len(owner))]
    return n_coarse, len(owner), sets_from_membership(owner == np.arange(n_coarse)[:, None])


def with_masses(case, fine):
    return st.tuples(st.just(case), mass_functions(case[1] if fine else case[0]))


@given(refinings().flatmap(lambda case: with_masses(case, fine=False)))
def test_refining_keeps_belief_and_coarsening_undoes_it(case):
    (n_coarse, n_fine, parts), masses = case
    finer = refine(masses, parts, n_fine)
    np.testing.assert_allclose(coarsen(finer, parts), masses, atol=1e-12)
    np.testing.assert_allclose(coarsen(finer, parts, inner=True), masses, atol=1e-12)
    images = membership(np.arange(1 << n_coarse), n_coarse) @ parts
    np.testing.assert_allclose(belief(finer, images), belief(masses), atol=1e-12)
    np.testing.assert_allclose(plausibility(finer, images), plausibility(masses), atol=1e-12)
    np.testing.assert_allclose(refine(to_sparse(masses), parts, n_fine).to_dense(), finer)


@given(refinings().flatmap(lambda case: with_masses(case, fine=True)))
def test_outer_coarsening_keeps_plausibility_and_inner_keeps_belief(case):
    (n_coarse, _, parts), masses = case
    images = membership(np.arange(1 << n_coarse), n_coarse) @ parts
    outer, inner = coarsen(masses, parts), coarsen(masses, parts, inner=True)
    np.testing.assert_allclose(plausibility(outer), plausibility(masses, images), atol=1e-12)
    # Inner reductions may turn a set into nothing; what implies an image still implies it.
    np.testing.assert_allclose(outer[:, 0], masses[:, 0], atol=1e-12)
    assert (plausibility(inner) <= plausibility(outer) + 1e-12).all()
    np.testing.assert_allclose(coarsen(to_sparse(masses), parts).to_dense(), outer)


@given(st.integers(1, 3).flatmap(mass_functions), st.integers(1, 3), st.booleans())
def test_marginal_of_the_extension_is_the_original(masses, other, first):
    n_classes = masses.shape[1].bit_length() - 1
    shape, axis = ((n_classes, other), 0) if first else ((other, n_classes), 1)
    extended = vacuous_extension(masses, shape, axis)
    np.testing.assert_allclose(marginalize(extended, shape, axis), masses, atol=1e-12)
    of_the_other = marginalize(extended, shape, 1 - axis)
    np.testing.assert_allclose(of_the_other[:, -1], 1 - masses[:, 0], atol=1e-12)


@given(st.tuples(*[mass_functions(2)] * 2))
def test_independent_marginals_give_the_product_of_plausibilities(pair):
    # Cognitive independence: pl(A x B) = pl(A) pl(B) after combining two extensions.
    shape = (2, 2)
    joint = conjunctive(*(vacuous_extension(m, shape, axis) for axis, m in enumerate(pair)))
    for a in range(4):
        for b in range(4):
            box = sum(
                1 << (2 * i + j) for i in range(2) for j in range(2) if a >> i & 1 and b >> j & 1
            )
            np.testing.assert_allclose(
                plausibility(joint, [box])[:, 0],
                plausibility(pair[0])[:, a] * plausibility(pair[1])[:, b],
                atol=1e-12,
            )


def test_several_factors_at_once():
    shape = (2, 3, 2)
    masses = np.random.default_rng(0).dirichlet(np.ones(16), size=2)
    extended = vacuous_extension(to_sparse(masses), shape, axis=(0, 2))
    np.testing.assert_allclose(marginalize(extended, shape, axis=(0, 2)).to_dense(), masses)
    np.testing.assert_array_equal(cylinders((2, 3), axis=1), [0b001001, 0b010010, 0b100100])


def test_large_product_frames():
    masses = SparseMasses([0.4, 0.6], [0b1, 0b111111], 6)
    extended = vacuous_extension(masses, (6, 10), axis=0)
    assert extended.n_classes == 60
    np.testing.assert_array_equal(marginalize(extended, (6, 10), axis=0).values, [0.4, 0.6])


def test_the_unknown_class():
    masses = np.array([0.2, 0.5, 0.0, 0.3])
    opened = with_unknown(masses)
    np.testing.assert_allclose(contour(opened), [0.8, 0.3, 0.5])
    np.testing.assert_allclose(with_unknown(to_sparse(masses)).to_dense(), opened)
    np.testing.assert_array_equal(with_unknown(vacuous(2)).to_dense(), vacuous(3).to_dense())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: refine(m, [1, 3], 2), r"cover each of the 2 classes .* once, but \[1, 3\]"),
        (lambda m: refine(m, [1], 2), r"parts should be 2 non-empty sets"),
        (lambda m: refine(m, [0, 3], 2), r"non-empty sets .* but \[0, 3\] was given; give each"),
        (lambda m: coarsen(m, [1]), r"cover each of the 2 classes .* but \[1\] was given"),
        (lambda m: marginalize(m, (2, 2)), r"multiply to the 2 classes .* \(2, 2\) makes 4"),
        (lambda m: vacuous_extension(m, (2, 32)), "1 to 62 classes, but 64 were given"),
        (lambda m: vacuous_extension(m, (2, 11)), "at most K = 20 classes, but the frame has 22"),
        (lambda _: with_unknown(categorical(1, 62)), "1 to 62 classes, but 63 were given"),
    ],
)
def test_bad_frames_are_refused_with_a_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.array([0.0, 0.5, 0.2, 0.3]))


@given(refinings().flatmap(lambda case: with_masses(case, fine=True)), st.booleans())
def test_coarsening_by_definition(case, inner):
    (n_coarse, n_fine, parts), masses = case
    split = [frozenset(np.flatnonzero(row).tolist()) for row in membership(parts, n_fine)]

    def coarse(focal):
        counts = (lambda part: part <= focal) if inner else (lambda part: bool(part & focal))
        return frozenset(k for k in range(n_coarse) if counts(split[k]))

    for row, found in zip(masses, coarsen(masses, parts, inner=inner), strict=True):
        expected = {}
        for focal, mass in to_dict(row).items():
            expected[coarse(focal)] = expected.get(coarse(focal), 0) + mass
        np.testing.assert_allclose(found, to_row(expected, n_coarse), atol=1e-12)


def test_a_class_that_is_only_touched_is_kept_by_the_outer_reduction_alone():
    masses = SparseMasses([0.4, 0.6], [0b0011, 0b0111], 4)
    parts = [0b0101, 0b0010, 0b1000]
    np.testing.assert_allclose(coarsen(masses, parts).to_dense()[[0b011]], [1.0])
    inner = coarsen(masses, parts, inner=True).to_dense()
    np.testing.assert_allclose(inner[[0b010, 0b011]], [0.4, 0.6])
