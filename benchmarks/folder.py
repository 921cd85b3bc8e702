"""A folder of Parquet, two workers with little memory, a fit that is killed and goes on.

Run with ``python benchmarks/folder.py [N]``: ``plausible fit`` of N x 20 rows (20 million unless
told, for which it takes 2 GB of disk and a quarter of an hour or more) on two local Dask workers. A
first fit is left alone. A second one is killed when it has left a checkpoint, after a minute, with
one of the workers; the same command with --resume goes on. Both models should be the same, and no
process should need 1 GB. Below some five million rows a fit ends before it can be killed.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from timing import show

N_FILES, D, K = 20, 20, 3
N_ITER = 6
LIMIT = 1000  # MB of memory of a process


def write(folder: Path, n: int) -> None:
    """Features in a folder of files, and labels in their order: some sure, some not, some none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "features").mkdir()
    centers = 1.2 * np.random.default_rng(0).normal(size=(K, D)).astype(np.float32)
    writer = None
    for number in range(N_FILES):
        rng = np.random.default_rng(number + 1)
        truth = rng.integers(K, size=n // N_FILES)
        X = rng.standard_normal((len(truth), D), dtype=np.float32) + centers[truth]
        table = pa.table({f"x{j}": X[:, j] for j in range(D)})
        path = folder / "features" / f"{number:03d}.parquet"
        pq.write_table(table, path, use_dictionary=False, row_group_size=100_000)
        wrong = np.where(rng.random(len(truth)) < 0.1, rng.integers(K, size=len(truth)), truth)
        word = pa.array(np.array(["wren", "robin", "finch"])[wrong])
        known = pa.array(rng.random(len(truth)) < 0.7)
        label = pa.compute.if_else(known, word, pa.scalar(None, pa.string()))
        labels = pa.table({"label": label, "doubt": np.full(len(truth), 0.2, np.float32)})
        writer = writer or pq.ParquetWriter(folder / "labels.parquet", labels.schema)
        writer.write_table(labels)
    assert writer is not None
    writer.close()


CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(2, threads_per_worker=1, memory_limit="1 GB", dashboard_address="127.0.0.1:0",
                      host="127.0.0.1") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.readline()
"""


class Peaks:
    """The most memory that processes have had, in MB, looked up while they run."""

    def __init__(self) -> None:
        self.of: dict[int, float] = {}

    def look(self, *pids: int) -> None:
        """Look at some processes; those that have ended keep what was seen."""
        for pid in pids:
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            found = re.search(r"VmHWM:\s*(\d+) kB", status)
            if found:
                self.of[pid] = int(found[1]) / 1024


def worker_pids(address: str) -> list[int]:
    """Processes of the workers."""
    import distributed

    library: Any = distributed
    with library.Client(address) as client:
        client.wait_for_workers(2)
        return list(client.run(os.getpid).values())


def fit(
    folder: Path, name: str, address: str, peaks: dict[str, Peaks], *more: str, kill: bool = False
) -> float:
    """Run the command, or kill it and a worker in the middle; gives its seconds."""
    output = folder / f"{name}.skops"
    words = [str(folder / "labels.parquet"), str(folder / "features"), "-o", str(output)]
    words += ["--model", "mixture", "--set", f"max_iter={N_ITER}", "--set", "tol=0.0"]
    words += ["--set", "accelerate=false", "--cluster", address, "--form", "labels", *more]
    start, workers = time.perf_counter(), worker_pids(address)
    with subprocess.Popen(
        [sys.executable, "-m", "plausible.cli", "fit", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if not kill else subprocess.DEVNULL,
        text=True,
    ) as command:
        checkpoint, killed = Path(f"{output}.checkpoint"), False
        while command.poll() is None:
            peaks["command"].look(command.pid)
            peaks["worker"].look(*workers)
            if kill and not killed and checkpoint.exists():  # written after a minute
                killed = True
                os.kill(workers[0], signal.SIGKILL)
                command.kill()
            time.sleep(0.05)
        told = command.stderr.read() if command.stderr else ""
    if command.returncode and not kill:
        raise RuntimeError(told)
    if kill and command.returncode != -signal.SIGKILL:
        raise RuntimeError("the fit was not killed in time; give more rows")
    return time.perf_counter() - start


def apart(folder: Path) -> float:
    """The largest difference of parameters of both models."""
    from plausible.io import load

    models = [load(folder / f"{name}.skops") for name in ("alone", "killed")]
    one, other = (m[-1] if hasattr(m, "steps") else m for m in models)
    names = "weights_", "means_", "covariances_"
    return max(float(np.abs(getattr(one, n) - getattr(other, n)).max()) for n in names)


def main(n: int) -> bool:
    """All of it, and what it took."""
    peaks = {"worker": Peaks(), "command": Peaks()}
    with (
        tempfile.TemporaryDirectory() as temporary,
        subprocess.Popen(
            [sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        ) as cluster,
    ):  # fmt: skip
        assert cluster.stdin is not None
        assert cluster.stdout is not None
        try:
            address, folder = cluster.stdout.readline().strip(), Path(temporary)
            write(folder, n)
            seconds = fit(folder, "alone", address, peaks)
            print(f"      {n:,} x {D} rows, {N_ITER} iterations: {seconds:.0f} s")
            before = fit(folder, "killed", address, peaks, kill=True)
            after = fit(folder, "killed", address, peaks, "--resume")
            print(f"      killed after {before:.0f} s, resumed: {after:.0f} s more")
            difference = apart(folder)
        finally:
            cluster.stdin.close()
            cluster.wait(60)
    holds = show("largest difference of parameters (1e-9)", difference * 1e9, "<= 1",
                 difference <= 1e-9)  # fmt: skip
    for who, found in peaks.items():
        most = max(found.of.values())
        holds &= show(f"MB of a {who}", most, f"<= {LIMIT}", most <= LIMIT)
    return holds


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000_000))
