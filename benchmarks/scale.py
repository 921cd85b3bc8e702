"""Mixtures on data larger than memory and on a cluster: time and memory against in-memory fits.

Run with ``make bench``; needs pyarrow and dask (``pip install "plausible[bench]"``) and 1 GB of
disk. Streams are timed in processes of their own, so that the memory is theirs alone.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from timing import show

from plausible.engine import StreamRows, read_parquet
from plausible.models import GaussianMixtureClassifier

D, K = 20, 10
N_STREAM = 10_000_000
N_DASK = 2_000_000
N_ITER = 4


def blocks(n: int, size: int = 1_000_000) -> Any:
    """Blocks of float32 rows around ten centers."""
    centers = np.random.default_rng(0).normal(size=(K, D)) * 2
    for number in range(-(-n // size)):
        rng = np.random.default_rng(number + 1)
        truth = rng.integers(K, size=min(size, n - number * size))
        noise = rng.standard_normal((len(truth), D), dtype=np.float32)
        yield noise + centers[truth].astype(np.float32)


def start() -> dict[str, Any]:
    """Where every fit starts."""
    rng = np.random.default_rng(5)
    return {"means": rng.normal(size=(K, D)) * 2, "covariances": np.tile(np.eye(D), (K, 1, 1))}


def fit(X: Any) -> tuple[GaussianMixtureClassifier, float]:
    """A fit of a few plain EM iterations, and the seconds of its fastest one."""
    ticks: list[float] = []
    model = GaussianMixtureClassifier(
        init=start(),
        n_classes=K,
        tol=0.0,
        max_iter=N_ITER,
        accelerate=False,
        callback=lambda progress: ticks.append(time.perf_counter()),
    ).fit(X)
    return model, float(np.diff(ticks).min())


def write_parquet(path: Path) -> None:
    """The rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for X in blocks(N_STREAM):
        table = pa.table({f"x{j}": X[:, j] for j in range(D)})
        # Numbers that hardly repeat gain nothing from a dictionary, and cost time when read.
        writer = writer or pq.ParquetWriter(path, table.schema, use_dictionary=False)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def report(X: Any) -> None:
    """Fit in this process, and print time, peak memory and means as JSON."""
    model, seconds = fit(X)
    # Not getrusage, in which a process inherits the peak of the one that started it.
    status = Path("/proc/self/status").read_text()
    peak = int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024  # type: ignore[index]
    print(json.dumps({"seconds": seconds, "peak": peak, "means": model.means_.tolist()}))


def in_a_process(*arguments: str) -> dict[str, Any]:
    """What `report` says in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def stream() -> bool:
    """Ten million rows from Parquet against the same rows in memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_parquet(path)
        runs = [(in_a_process("stream", str(path)), in_a_process("array")) for _ in range(2)]
    streamed = min(run[0]["seconds"] for run in runs)
    inside = min(run[1]["seconds"] for run in runs)
    peak = max(run[0]["peak"] for run in runs)
    apart = np.abs(np.array(runs[0][0]["means"]) - runs[0][1]["means"]).max()
    ratio = streamed / inside
    holds = show("MB resident, 10M x 20 float32 from Parquet", peak, "<= 400", peak <= 400)
    holds &= show(
        f"time of an iteration / {inside:.2f} s in memory", ratio, "<= 1.35", ratio <= 1.35
    )
    return holds & show("largest difference of means (1e-9)", apart * 1e9, "<= 1", apart <= 1e-9)


def on_a_cluster() -> bool:
    """Two local workers against one thread, and against what their sums alone would take."""
    import dask.array as da
    import distributed
    from threadpoolctl import threadpool_limits

    dask: Any = da
    cluster: Any = distributed

    X = np.concatenate(list(blocks(N_DASK)))
    with threadpool_limits(1):
        model, serial = fit(X)
    with (
        cluster.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        cluster.Client(local),
    ):
        spread, seconds = fit(dask.from_array(X, chunks=(N_DASK // 20, -1)))
        _, small = fit(dask.from_array(X[:20_000], chunks=(1000, -1)))
    _, alone = fit(X[:20_000])
    ratio, overhead = serial / seconds, (small - alone) * 1e3
    apart = float(np.abs(spread.means_ - model.means_).max())
    holds = show(f"two Dask workers / one thread ({serial:.2f} s)", ratio, ">= 1.6", ratio >= 1.6)
    holds &= show("ms overhead of an iteration, 20 blocks", overhead, "<= 50", overhead <= 50)
    return holds & show("largest difference of means (1e-9)", apart * 1e9, "<= 1", apart <= 1e-9)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    if sys.argv[1:2] == ["stream"]:
        report(StreamRows(read_parquet(sys.argv[2])))
    elif sys.argv[1:2] == ["array"]:
        report(np.concatenate(list(blocks(N_STREAM))))
    else:
        results = [stream(), on_a_cluster()]
        sys.exit(not all(results))
