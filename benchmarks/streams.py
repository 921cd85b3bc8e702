"""Every estimator that learns from rows anywhere: memory and time as rows grow, streams, Dask.

Run with ``python benchmarks/streams.py [names]``; needs pyarrow and dask, 500 MB of disk, and some
minutes. Each fit is of a few iterations, in a process of its own, so that the memory is its alone.
What a fit costs is then written as a model of seconds a row, seconds an iteration and bytes sent,
from one, two, four and eight workers, and read at 1,000 workers and 10 billion rows.
"""

import json
import pickle
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from timing import show

from plausible.cluster import ECM
from plausible.engine import ArrayRows, DaskRows, StreamRows, read_parquet
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    EvidentialNetworkClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    StochasticSupervisionClassifier,
    score_rows,
)

D, K = 10, 4
SIZES = 500_000, 1_000_000, 2_000_000
N_ITER = 5
WORKERS = 1, 2, 4, 8
NAMES = "mixture", "discriminant", "logistic", "network", "supervision", "ecm", "scores"
LABELS = [f"pl{k}" for k in range(K)]


def columns(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, D) in float32 around four centers, and plausibilities (n, K)."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(K, D)).astype(np.float32) * 1.5
    truth = rng.integers(K, size=n)
    X = rng.standard_normal((n, D), dtype=np.float32) + centers[truth]
    contour = np.full((n, K), 0.3)
    contour[np.arange(n), truth] = 1.0
    contour[rng.random(n) < 0.5] = 1.0
    return X, contour


def write(path: Path, n: int) -> None:
    """The columns as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, contour = columns(n)
    names = [f"x{j}" for j in range(D)] + LABELS
    table = pa.table(dict(zip(names, [*X.T, *contour.T], strict=True)))
    pq.write_table(table, path, use_dictionary=False, row_group_size=100_000)


def assessed(given: Any) -> Any:
    """Plausibilities of two classes as an expert's probability of the first, within (0, 1)."""
    X, contour, *_ = given
    share = contour[:, :2] + 0.1
    return X, share[:, 0] / share.sum(axis=1)


def model_of(name: str, n_iter: int = N_ITER) -> Any:
    """The estimator, for a few iterations."""
    few: dict[str, Any] = {"max_iter": n_iter, "tol": 0.0, "random_state": 0}
    if name == "mixture":
        return GaussianMixtureClassifier(accelerate=False, **few)
    if name == "discriminant":
        return DiscriminantClassifier(**few)
    if name == "logistic":
        return PartialLogisticRegression(n_init=1, **few)
    if name == "network":
        return EvidentialNetworkClassifier(n_prototypes=8, **few)
    if name == "supervision":
        return StochasticSupervisionClassifier(**few)
    return ECM(K, n_init=1, **few)


def run(name: str, rows: Any, n_iter: int = N_ITER) -> tuple[float, Any]:
    """Seconds of a fit, or of one pass of scores, and the model."""
    if name == "supervision":
        rows = rows.map(assessed)
    if name == "ecm":
        rows = rows.map(lambda given: given[:1])
    model = model_of("discriminant" if name == "scores" else name, n_iter)
    if name == "scores":
        X, contour = columns(2000)
        with warnings.catch_warnings(action="ignore"):
            model.fit(X, Labels.from_plausibility(contour, LABELS))
        rows.classes = LABELS
    start = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):  # that a few iterations are too few
        if name == "scores":
            score_rows(model, rows)
        else:
            model.fit(rows)
    return time.perf_counter() - start, model


def report(name: str, where: str, path: str) -> None:
    """Run in this process, and print seconds and peak memory as JSON."""
    source = read_parquet(path, labels=LABELS)
    if where == "stream":
        rows: Any = StreamRows(source)
    else:
        parts = list(source)
        rows = ArrayRows(*(np.concatenate([part[k] for part in parts]) for k in range(2)))
    run(name, ArrayRows(*columns(3000)))  # what is compiled or imported at first
    seconds, _ = run(name, rows)
    status = Path("/proc/self/status").read_text()
    peak = int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024  # type: ignore[index]
    print(json.dumps({"seconds": seconds, "peak": peak}))


def in_a_process(*arguments: str) -> dict[str, float]:
    """What `report` says in a process of its own; the faster of two runs."""
    command = [sys.executable, __file__, "--report", *arguments]
    done = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(2)]
    runs = [json.loads(one.stdout) for one in done]
    return {key: min(run[key] for run in runs) for key in runs[0]}


def streamed(name: str, folder: Path) -> bool:
    """Memory flat in n, time linear in n, and a stream against rows in memory."""
    found = [in_a_process(name, "stream", str(folder / f"{n}.parquet")) for n in SIZES]
    seconds, peaks = ([one[key] for one in found] for key in ("seconds", "peak"))
    inside = in_a_process(name, "array", str(folder / f"{SIZES[-1]}.parquet"))["seconds"]
    exponent = float(np.polyfit(np.log(SIZES), np.log(seconds), 1)[0])
    growth, ratio = peaks[-1] - peaks[0], seconds[-1] / inside
    holds = show(f"{name}: MB more at 2M rows than at 0.5M", growth, "<= 60", growth <= 60)
    holds &= show(f"{name}: exponent of time in rows", exponent, "< 1.05", exponent < 1.05)
    said = f"{name}: stream / {inside:.2f} s in memory"
    return holds & show(said, ratio, "<= 1.4", ratio <= 1.4)


def per_iteration(name: str, rows: Any) -> float:
    """Seconds of an iteration, without what a fit does before the first; of scores, of the pass."""
    if name == "scores":
        return min(run(name, rows)[0] for _ in range(3))
    more = min(run(name, rows, 4 * N_ITER)[0] for _ in range(2))
    return (more - min(run(name, rows)[0] for _ in range(2))) / (3 * N_ITER)


def spread(name: str) -> tuple[bool, dict[str, Any]]:
    """Two Dask workers against one thread; what iterations cost beside the sums."""
    import dask.array as da
    import distributed
    from threadpoolctl import threadpool_limits

    library: Any = distributed
    arrays: Any = da
    X, contour = columns(SIZES[-1])
    with threadpool_limits(1):
        serial, model = run(name, ArrayRows(X, contour))
        alone = per_iteration(name, ArrayRows(X[:20_000], contour[:20_000]))
    seconds, overhead = {}, 0.0
    for n_workers in WORKERS:
        with (
            library.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            ) as local,
            library.Client(local),
        ):
            size = -(-len(X) // (10 * n_workers))
            blocks = arrays.from_array(X, chunks=(size, -1)), arrays.from_array(contour, (size, -1))
            rows = DaskRows(*blocks)
            _ = rows.n_rows  # sent
            seconds[n_workers] = min(run(name, rows)[0] for _ in range(2))
            if n_workers == 2:
                few = [arrays.from_array(part[:20_000], chunks=(1000, -1)) for part in (X, contour)]
                overhead = (per_iteration(name, DaskRows(*few)) - alone) * 1e3
    ratio = serial / seconds[2]
    holds = show(f"{name}: two workers / one thread ({serial:.2f} s)", ratio, ">= 1.6", ratio > 1.6)
    holds &= show(f"{name}: ms overhead of an iteration", overhead, "<= 50", overhead <= 50)
    return holds, {
        "row": serial / len(X) / N_ITER, "iteration": overhead / 1e3, "seconds": seconds,
        "sent": len(pickle.dumps(model)),
    }  # fmt: skip


def foretell(name: str, cost: dict[str, Any]) -> None:
    """What the model of cost says for 1,000 workers and 10 billion rows.

    An iteration sends the parameters to every worker and gets as much back from each, one after
    the other through the scheduler: with w workers, n rows, r seconds a row, f fixed seconds for a
    worker, b bytes and 1 GB/s, it takes  n r / w + f w + 2 b w / 1e9  seconds.
    """
    fixed = max(cost["iteration"], 0.0) / 2  # measured with two workers
    rows, workers = 1e10, np.array([10, 100, 1000])
    sums = rows * cost["row"] / workers
    calls = fixed * workers
    bytes_sent = 2 * cost["sent"] * workers / 1e9
    for w, one, other, sent in zip(workers, sums, calls, bytes_sent, strict=True):
        said = f"sums {one:8.1f} s, calls {other:6.1f} s, sending {sent:6.3f} s an iteration"
        print(f"      {name}: 10 billion rows, {w:>4} workers: {said}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--report"]:
        report(*sys.argv[2:])
        sys.exit()
    chosen = sys.argv[1:] or NAMES
    with tempfile.TemporaryDirectory() as temporary:
        for n in SIZES:
            write(Path(temporary) / f"{n}.parquet", n)
        results = [streamed(name, Path(temporary)) for name in chosen]
    for name in chosen:
        holds, cost = spread(name)
        print(f"      {name}: seconds of a fit by workers {cost['seconds']}")
        foretell(name, cost)
        results.append(holds)
    sys.exit(not all(results))
