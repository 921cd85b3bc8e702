"""Fifty million answers pooled, and the memory that it takes.

Run with ``python benchmarks/many_answers.py [N]``: ``plausible pool`` of a Parquet file of N
answers (50 million unless told; some minutes and 1 GB of disk), five about each item, in a process
of its own.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from timing import show

N_PEOPLE, K, EACH = 20_000, 8, 5
LIMIT = 8.0  # GB
AT_ONCE = 1_000_000


def write(path: Path, n: int) -> None:
    """Answers of people of different skill, in random order among a million."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = pa.array([f"class {k}" for k in range(K)])
    skill = np.random.default_rng(0).beta(4.0, 2.0, size=N_PEOPLE)
    writer = None
    for number, start in enumerate(range(0, n, AT_ONCE)):
        rng = np.random.default_rng(number + 1)
        item = np.arange(start, min(start + AT_ONCE, n)) // EACH
        truth = (item * 2654435761 >> 7) % K
        # Nobody answers an item twice.
        person = (item * 7919 + np.arange(start, start + len(item)) % EACH * 3557) % N_PEOPLE
        said = np.where(
            rng.random(len(item)) < skill[person], truth, rng.integers(K, size=len(item))
        )
        order = rng.permutation(len(item))
        label = pa.DictionaryArray.from_arrays(pa.array(said[order].astype(np.int8)), words)
        table = pa.table({"item": item[order], "annotator": person[order], "label": label})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def peak_of(command: subprocess.Popen[str]) -> float:
    """The most memory of a process, in GB, until it ends."""
    most = 0.0
    while command.poll() is None:
        try:
            status = Path(f"/proc/{command.pid}/status").read_text()
        except OSError:
            break
        found = re.search(r"VmHWM:\s*(\d+) kB", status)
        most = max(most, int(found[1]) / 2**20 if found else 0.0)
        time.sleep(0.05)
    return most


def main(n: int) -> bool:
    """Write, pool, and tell."""
    with tempfile.TemporaryDirectory() as temporary:
        given, output = Path(temporary) / "answers.parquet", Path(temporary) / "labels.parquet"
        write(given, n)
        start = time.perf_counter()
        words = ["pool", str(given), "-o", str(output), "--quiet"]
        with subprocess.Popen(
            [sys.executable, "-m", "plausible.cli", *words], text=True, env=os.environ
        ) as command:
            peak = peak_of(command)
        seconds = time.perf_counter() - start
        if command.returncode:
            return False
        import pyarrow.parquet as pq

        n_items = pq.ParquetFile(output).metadata.num_rows
    print(f"      {n:,} answers about {n_items:,} items pooled in {seconds:.0f} s")
    holds = show("GB of memory", peak, f"<= {LIMIT:g}", peak <= LIMIT)
    return holds and n_items == -(-n // EACH)


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000_000))
