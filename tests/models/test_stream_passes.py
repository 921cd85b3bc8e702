"""How often a fit reads a file: on a stream, passes are what it costs."""

import warnings

import numpy as np
import pytest

from plausible.cluster import ECM
from plausible.engine import StreamRows
from plausible.models import (
    E2M,
    Categorical,
    DiscriminantClassifier,
    EvidentialNetworkClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    StochasticSupervisionClassifier,
)

N_ROWS, SIZE, N_ITER = 2400, 60, 3


class Counted:
    """Chunks of columns, and how often they were read to their end."""

    def __init__(self, *columns):
        self.columns, self.n_passes = columns, 0

    def __iter__(self):
        for start in range(0, N_ROWS, SIZE):
            yield tuple(column[start : start + SIZE] for column in self.columns)
        self.n_passes += 1


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    truth = random.integers(3, size=N_ROWS)
    X = random.normal(size=(N_ROWS, 2)) + 3.0 * np.eye(3, 2)[truth] * (truth[:, None] + 1)
    contour = np.full((N_ROWS, 3), 0.2)
    contour[np.arange(N_ROWS), truth] = 1.0
    contour[random.random(N_ROWS) < 0.4] = 1.0
    return X, contour


def n_passes(model, *columns, scratch=False):
    source = Counted(*columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a few iterations are too few
        fitted = model.fit(StreamRows(source, scratch=scratch))
    assert fitted.n_iter_ == N_ITER
    return source.n_passes


few = {"max_iter": N_ITER, "tol": 0.0}


@pytest.mark.parametrize(
    "model",
    [
        GaussianMixtureClassifier(accelerate=False, random_state=0, **few),
        DiscriminantClassifier(random_state=0, **few),
    ],
)
def test_gaussian_models_read_four_times_beside_their_iterations(data, model):
    """A census, what labels favor, the criterion at the start, and a sample of labeled rows."""
    assert n_passes(model, *data) == N_ITER + 4


def test_supervision_reads_five_times_beside_its_iterations(data):
    """Two counts, a sample, the criterion at the start, and what components agree with."""
    X, contour = data
    share = (contour[:, 0] + 0.1) / (contour[:, :2] + 0.1).sum(axis=1)
    model = StochasticSupervisionClassifier(random_state=0, **few)
    assert n_passes(model, X, share) == N_ITER + 5


def test_e2m_reads_three_times_beside_its_iterations(data):
    """Where to start, the criterion there, and the information."""
    assert n_passes(E2M(Categorical(), **few), data[1]) == N_ITER + 3


@pytest.mark.parametrize(
    "model",
    [
        GaussianMixtureClassifier(accelerate=False, random_state=0, **few),
        DiscriminantClassifier(random_state=0, **few),
        PartialLogisticRegression(random_state=0, **few),
        EvidentialNetworkClassifier(n_prototypes=4, random_state=0, **few),
    ],
)
def test_a_source_is_read_once_where_rows_may_be_kept(data, model, tmp_path):
    assert n_passes(model, *data, scratch=tmp_path) == 1


def test_other_estimators_read_a_source_once_too(data, tmp_path):
    X, contour = data
    share = (contour[:, 0] + 0.1) / (contour[:, :2] + 0.1).sum(axis=1)
    supervised = StochasticSupervisionClassifier(random_state=0, **few)
    assert n_passes(supervised, X, share, scratch=tmp_path) == 1
    assert n_passes(E2M(Categorical(), **few), contour, scratch=tmp_path) == 1
    assert n_passes(ECM(3, n_init=1, random_state=0, **few), X, scratch=tmp_path) == 1
