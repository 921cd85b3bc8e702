"""What several files of tests of models share."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="module")
def two_threads():
    """Chunks are summed on two threads, whatever the machine and the number of processes."""
    with threadpool_limits(2, "blas"):
        yield
