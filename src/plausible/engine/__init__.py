"""The rows that an estimator learns from, and the one loop that runs over them."""

from typing import TYPE_CHECKING, Any

from plausible.engine.cluster import ClusterLostError
from plausible.engine.distributed import DaskRows
from plausible.engine.loop import Progress, Result, maximize
from plausible.engine.numpy_files import read_npy
from plausible.engine.rows import ArrayRows, Rows
from plausible.engine.sources import read_any, read_arrow, read_csv, read_parquet
from plausible.engine.stream import StreamRows

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

if TYPE_CHECKING:
    from plausible.engine.warnings import InterruptedFitWarning


def __getattr__(name: str) -> Any:
    if name == "InterruptedFitWarning":  # it needs scikit-learn, which rows do without
        from plausible.engine.warnings import InterruptedFitWarning

        return InterruptedFitWarning
    raise AttributeError(f"module 'plausible.engine' has no attribute {name!r}")
