"""The rows that an estimator learns from, and the one loop that runs over them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from plausible.engine.cluster import ClusterLostError
from plausible.engine.distributed import DaskRows
from plausible.engine.loop import Progress, Result, maximize
from plausible.engine.numpy_files import read_npy
from plausible.engine.rows import ArrayRows, Rows
from plausible.engine.sources import read_any, read_arrow, read_csv, read_parquet
from plausible.engine.stream import StreamRows

# isort: split
# For the rooms above; not part of the public interface.
from plausible.engine.distributed import watched as watched
from plausible.engine.files import atomic_file as atomic_file
from plausible.engine.files import write_atomically as write_atomically
from plausible.engine.loop import Callback as Callback
from plausible.engine.remembering import remembering as remembering
from plausible.engine.reporting import reporter as reporter
from plausible.engine.rows import Columns as Columns
from plausible.engine.rows import is_sparse as is_sparse
from plausible.engine.rows import length as length
from plausible.engine.rows import stack as stack
from plausible.engine.rows import take as take
from plausible.engine.sums import Moments as Moments
from plausible.engine.sums import total as total
from plausible.engine.threads import in_order as in_order
from plausible.engine.threads import one_blas_thread as one_blas_thread

__all__ = [
    "ArrayRows",
    "ClusterLostError",
    "DaskRows",
    "InterruptedFitWarning",
    "Progress",
    "Result",
    "Rows",
    "StreamRows",
    "maximize",
    "read_any",
    "read_arrow",
    "read_csv",
    "read_npy",
    "read_parquet",
]

# What needs scipy.optimize or scikit-learn, which rows do without, comes when it is used.
_LATE = {
    "Criterion": "plausible.engine.gradient",
    "InterruptedFitWarning": "plausible.engine.warnings",
    "climb": "plausible.engine.gradient",
    "passed_on": "plausible.engine.warnings",
}

if TYPE_CHECKING:
    from plausible.engine.gradient import Criterion as Criterion
    from plausible.engine.gradient import climb as climb
    from plausible.engine.warnings import InterruptedFitWarning
    from plausible.engine.warnings import passed_on as passed_on


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'plausible.engine' has no attribute {name!r}")
