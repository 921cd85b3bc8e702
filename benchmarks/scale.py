"""Every estimator that learns from rows anywhere: memory and time as rows grow, streams, Dask.

Run with ``python benchmarks/scale.py [--quick] [--stream | --spread] [names]``; needs pyarrow and
dask, 500 MB of disk, and two minutes for each estimator (--quick: a fifth of the rows, for a look;
--stream: files alone; --spread: workers alone). Each fit is of a few iterations, in a process of
its own, so that the memory is its alone. What a fit costs is then written as a model of seconds a
row, seconds an iteration and bytes sent, fitted to one, two, four and eight workers, and read at
1,000 workers and 10 billion rows.
"""

import json
import pickle
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from plausible.cluster import ECM
from plausible.engine import ArrayRows, DaskRows, StreamRows, read_parquet
from plausible.labels import Labels
from plausible.models import (
    E2M,
    Categorical,
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    EvidentialNetworkClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    StochasticSupervisionClassifier,
    score_rows,
)

D, K = 10, 4
QUICK = "--quick" in sys.argv
SIZES = tuple(n // (5 if QUICK else 1) for n in (500_000, 1_000_000, 2_000_000))
N_ITER, LONG = 5, 4  # iterations of a fit, and how many times as many a longer one has
WORKERS = 1, 2, 4, 8
CORES = 2  # which they share
BLOCKS = 10  # of each worker, each with its sums
# Times the rows of the largest file, such that the 10 to 20 ms of a pass that dask itself takes are
# a small part of it.
SPREAD = {"supervision": 2, "ecm": 2, "scores": 4, "calibration": 4, "e2m": 16}
OFTEN = 8  # of all others
FEW, FEW_BLOCKS = 20_000, 20  # rows of which a pass is short, and their blocks
# What the guide of large data advises for clusters: without it, Dask's own watching takes 0.14 of a
# core while nothing is done, with it 0.04.
SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
}
TURNS, ENOUGH = 3, 120.0  # of fits by one thread and by workers, the fastest count; seconds
OFTEN_ENOUGH, LONG_ENOUGH = 5, 20.0  # fits of which the fastest counts; seconds of them, at most
FEW_ROWS = {"calibration": 40_000}  # fewer are brought together and learned from in memory
NAMES = (
    "mixture", "discriminant", "logistic", "network", "supervision", "ecm", "e2m", "calibration",
    "scores",
)  # fmt: skip
ONCE = "scores", "calibration"  # which take a few passes, whatever is asked
LABELS = [f"pl{k}" for k in range(K)]


class Line(NamedTuple):
    """One claim about an estimator."""

    name: str
    what: str
    value: float
    wanted: str
    holds: bool


class Cost(NamedTuple):
    """Seconds of a row; of an iteration; of a call of a worker in it; bytes to and from a worker.

    An iteration over n rows on w workers takes  n row / w + fixed + call w + sent w / 1e9  seconds:
    parameters go to each worker, and sums come back from each, through one scheduler and client.
    """

    row: float
    fixed: float
    call: float
    sent: int

    def parts(self, n: float, w: float) -> tuple[float, float, float]:
        """Seconds of the sums, of the calls, and of sending."""
        return n * self.row / w, self.fixed + self.call * w, self.sent * w / 1e9

    def turn(self, n: float) -> float:
        """Workers from which more of them do not help."""
        return float(np.sqrt(n * self.row / max(self.call + self.sent / 1e9, 1e-9)))


def columns(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, D) in float32 around four centers, and plausibilities (n, K).

    Classes overlap and doubts are large, so that most fits take all iterations that they may.
    """
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(K, D)).astype(np.float32) * 0.5
    truth = rng.integers(K, size=n)
    X = rng.standard_normal((n, D), dtype=np.float32) + centers[truth]
    contour = np.full((n, K), 0.5)
    contour[np.arange(n), truth] = 1.0
    contour[rng.random(n) < 0.8] = 1.0
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
    if name == "e2m":
        return E2M(Categorical(), tol=0.0, max_iter=n_iter)
    if name == "calibration":
        return EvidentialCalibratedClassifier(DiscriminantClassifier(**few), cv=2)
    return ECM(K, n_init=1, **few)


def run(name: str, rows: Any, n_iter: int = N_ITER) -> tuple[float, Any]:
    """Seconds of a fit, or of one pass of scores, and the model."""
    named = {}
    if name == "supervision":
        rows, named = rows.map(assessed), {"classes": LABELS[:2]}
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
            model.fit(rows, **named)
    return time.perf_counter() - start, model


def used(name: str, X: Any, contour: Any) -> tuple[Any, ...]:
    """The columns that a model learns from."""
    return (X,) if name == "ecm" else (contour,) if name == "e2m" else (X, contour)


def source_of(name: str, path: str) -> Any:
    """A Parquet file, of which a model reads the columns that it learns from."""
    features = [f"x{j}" for j in range(D)]
    chosen = used(name, features, LABELS)
    return read_parquet(path, chosen[0], chosen[1] if len(chosen) > 1 else None)


def report(name: str, where: str, path: str) -> None:
    """Run in this process, and print seconds and peak memory as JSON."""
    source = source_of(name, path)
    if where == "stream":
        rows: Any = StreamRows(source)
    else:
        parts = list(source)
        given = zip(*([c for c in part if c is not None] for part in parts), strict=True)
        rows = ArrayRows(*map(np.concatenate, given))
    run(name, rows, 1)  # what is compiled or imported at first
    fits: list[float] = []
    while len(fits) < OFTEN_ENOUGH and sum(fits) < LONG_ENOUGH:
        fits.append(run(name, rows)[0])
    seconds = min(fits)
    status = Path("/proc/self/status").read_text()
    peak = int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024  # type: ignore[index]
    print(json.dumps({"seconds": seconds, "peak": peak}))


def in_a_process(*arguments: str) -> dict[str, float]:
    """What `report` says in processes of their own; the better of two."""
    command = [sys.executable, __file__, "--report", *arguments]
    done = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(2)]
    runs = [json.loads(one.stdout) for one in done]
    return {key: min(run[key] for run in runs) for key in runs[0]}


def streamed(name: str, folder: Path) -> list[Line]:
    """Memory flat in n, time linear in n, and a stream against rows in memory."""
    found = [in_a_process(name, "stream", str(folder / f"{n}.parquet")) for n in SIZES]
    seconds, peaks = ([one[key] for one in found] for key in ("seconds", "peak"))
    inside = in_a_process(name, "array", str(folder / f"{SIZES[-1]}.parquet"))["seconds"]
    exponent = float(np.polyfit(np.log(SIZES), np.log(seconds), 1)[0])
    growth, ratio = peaks[-1] - peaks[0], seconds[-1] / inside
    return [
        Line(name, "MB more for four times the rows", growth, "<= 60", growth <= 60),
        Line(name, "exponent of time in rows", exponent, "< 1.05", exponent < 1.05),
        Line(name, f"stream / {inside:.2f} s in memory", ratio, "<= 1.4", ratio <= 1.4),
    ]


def per_pass(name: str, rows: DaskRows) -> float:
    """Seconds of a pass over rows, without what a fit does before the first; of `ONCE`, with it.

    Most iterations are one pass; the steps of a logistic regression may be several.
    """
    if name in ONCE:
        seconds, n_passes = timed_passes(name, rows, N_ITER)
        return seconds / n_passes
    (more, n_more), (less, n_less) = (
        timed_passes(name, rows, n_iter) for n_iter in (LONG * N_ITER, N_ITER)
    )
    return (more - less) / (n_more - n_less)


def timed_passes(name: str, rows: DaskRows, n_iter: int) -> tuple[float, int]:
    """Seconds of the fastest of three fits, and how many passes over the rows it takes."""
    sums, n_passes = DaskRows.reduce, 0

    def counted(rows: DaskRows, summary: Any, *parameters: Any) -> Any:
        nonlocal n_passes
        n_passes += 1
        return sums(rows, summary, *parameters)

    with mock.patch.object(DaskRows, "reduce", counted):
        fastest = min(run(name, rows, n_iter)[0] for _ in range(3))
    return fastest, n_passes // 3


def in_turns(name: str, in_memory: ArrayRows, shared: DaskRows) -> tuple[list[float], int]:
    """Seconds of the fastest whole fit by one thread and by workers, and its iterations.

    The fits take turns, since a machine that is shared with others changes its speed.
    """
    from threadpoolctl import threadpool_limits

    def fitted(n_iter: int) -> list[tuple[float, Any]]:
        with threadpool_limits(1):
            alone = run(name, in_memory, n_iter)
        return [alone, run(name, shared, n_iter)]

    fitted(1)  # what is compiled or loaded at first
    n_iter = N_ITER if name in ONCE else LONG * N_ITER
    fits: list[list[float]] = []
    while len(fits) < TURNS and sum(map(sum, fits)) < ENOUGH:
        found = fitted(n_iter)
        done = min(getattr(model, "n_iter_", n_iter) for _, model in found)
        if done < n_iter:  # sums in another order may stop earlier
            n_iter, fits = done, []
        fits.append([seconds for seconds, _ in found])
    return list(map(min, zip(*fits, strict=True))), n_iter


def bytes_sent(fit: Callable[[], Any]) -> int:
    """Bytes that a pass of a fit in memory would send to a worker, and back."""
    sums, most = ArrayRows.reduce, 0

    def counted(rows: ArrayRows, summary: Any, *parameters: Any) -> Any:
        nonlocal most
        found = sums(rows, summary, *parameters)
        most = max(most, len(pickle.dumps(parameters)) + BLOCKS * len(pickle.dumps(found)))
        return found

    with mock.patch.object(ArrayRows, "reduce", counted):
        fit()
    return most


def spread(name: str) -> tuple[list[Line], Cost]:
    """Two Dask workers against one thread; what iterations cost beside the sums."""
    import dask
    import dask.array as da
    import distributed
    from threadpoolctl import threadpool_limits

    library: Any = distributed
    arrays: Any = da
    X, contour = columns(SPREAD.get(name, OFTEN) * SIZES[-1])
    in_memory = ArrayRows(*used(name, X, contour))
    with threadpool_limits(1):
        n_few = FEW_ROWS.get(name, FEW)
        small_part = used(name, X[:n_few], contour[:n_few])
        sent = bytes_sent(lambda: run(name, ArrayRows(*small_part)))
    few = [arrays.from_array(part, chunks=(n_few // FEW_BLOCKS, -1)) for part in small_part]
    with threadpool_limits(1), dask.config.set(scheduler="synchronous"):
        alone = per_pass(name, DaskRows(*few))  # the same sums, one after another
    small = {}
    for n_workers in WORKERS:
        with (
            dask.config.set(SETTINGS),
            warnings.catch_warnings(action="ignore", category=UserWarning),  # that rows are sent
            library.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            ) as local,
            library.Client(local),
        ):
            small[n_workers] = per_pass(name, DaskRows(*few)) - alone / min(n_workers, CORES)
            if n_workers == 2:
                size = -(-len(X) // (BLOCKS * n_workers))
                whole = used(name, X, contour)
                rows = DaskRows(*(arrays.from_array(part, (size, -1)) for part in whole))
                _ = rows.n_rows  # sent
                (serial, shared), n_iter = in_turns(name, in_memory, rows)
    ratio, overhead = serial / shared, small[2] * 1e3
    lines = [
        Line(
            name,
            f"two workers / one thread ({serial:.2f} s, {n_iter} iterations)",
            ratio,
            ">= 1.6",
            ratio >= 1.6,
        ),
        Line(name, "ms overhead of a pass", overhead, "<= 50", overhead <= 50),
    ]
    each, fixed = np.polyfit(WORKERS, [small[w] for w in WORKERS], 1)
    passes = 1 if name in ONCE else n_iter
    return lines, Cost(serial / len(X) / passes, max(fixed, 0.0), max(each, 0.0), sent)


def foretell(name: str, cost: Cost) -> None:
    """What the model of cost says for up to 1,000 workers and 10 billion rows."""
    print(
        f"      {name}: {cost.row * 1e9:.0f} ns a row, {cost.fixed * 1e3:.1f} ms an iteration, "
        f"{cost.call * 1e3:.2f} ms a worker, {cost.sent} bytes"
    )
    for w in (10, 100, 1000):
        sums, calls, sent = cost.parts(1e10, w)
        said = f"sums {sums:8.1f} s, calls {calls:6.2f} s, sending {sent:6.3f} s an iteration"
        print(f"      {name}: 10 billion rows, {w:>4} workers: {said}")
    print(f"      {name}: calls take as long as sums at {cost.turn(1e10):.0f} workers")


def main(chosen: list[str]) -> bool:
    """All of it, and one table in the end."""
    lines: list[Line] = []
    print("| estimator | what | found | wanted | |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as temporary:
        for n in SIZES if "--spread" not in sys.argv else ():
            write(Path(temporary) / f"{n}.parquet", n)
        for name in chosen if "--spread" not in sys.argv else ():
            lines += shown(streamed(name, Path(temporary)))
    costs = {}
    for name in chosen if "--stream" not in sys.argv else ():
        found, costs[name] = spread(name)
        lines += shown(found)
    print()
    for name, cost in costs.items():
        foretell(name, cost)
    return all(line.holds for line in lines)


def shown(lines: list[Line]) -> list[Line]:
    """The lines, printed."""
    for line in lines:
        verdict = "ok" if line.holds else "missed"
        print(
            f"| {line.name} | {line.what} | {line.value:.2f} | {line.wanted} | {verdict} |",
            flush=True,
        )
    return lines


if __name__ == "__main__":
    if sys.argv[1:2] == ["--report"]:
        report(*sys.argv[2:])
        sys.exit()
    unknown = set(sys.argv[1:]) - {"--quick", "--stream", "--spread", *NAMES}
    if unknown:
        sys.exit(f"{', '.join(sorted(unknown))}: choose among {', '.join(NAMES)}.\n\n{__doc__}")
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    sys.exit(not main(names or list(NAMES)))
