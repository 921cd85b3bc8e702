"""The rows that an estimator learns from, and the one loop that runs over them."""

from plausible.engine.cluster import ClusterLostError
from plausible.engine.distributed import DaskRows
from plausible.engine.loop import Progress, Result, maximise
from plausible.engine.numpy_files import read_npy
from plausible.engine.rows import ArrayRows, Rows
from plausible.engine.sources import read_arrow, read_csv, read_parquet
from plausible.engine.stream import StreamRows

__all__ = [
    "ArrayRows",
    "ClusterLostError",
    "DaskRows",
    "Progress",
    "Result",
    "Rows",
    "StreamRows",
    "maximise",
    "read_arrow",
    "read_csv",
    "read_npy",
    "read_parquet",
]
