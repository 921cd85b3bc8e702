import os
import platform
import subprocess
import sys

import pytest

COUNT = """
import resource
import numpy as np
from plausible.engine.allocation import memory_kept

def faults(n_times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(n_times):
        np.ones(1 << 18)  # two megabytes, 512 pages
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(faults(50))
with memory_kept():
    faults(1)
    print(faults(50))
print(faults(50))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
def test_arrays_take_the_memory_of_those_that_are_gone():
    told = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536", "NUMPY_MADVISE_HUGEPAGE": "0"}
    told.pop("MALLOC_MMAP_THRESHOLD_", None)
    done = subprocess.run([sys.executable, "-c", COUNT], env=told, capture_output=True, text=True)
    before, inside, after = map(int, done.stdout.split())
    assert inside < 0.05 * before
    assert after > 0.5 * before


REUSE = COUNT.replace("import memory_kept", "import reuse_memory").split("print(")[0]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
def test_arrays_of_threads_take_the_memory_of_those_that_are_gone():
    """Of sizes that glibc would give back after each of them, were none larger freed before."""
    script = REUSE + (
        "from threading import Thread\n"
        "reuse_memory()\n"
        "found = []\n"
        "def work():\n"
        "    faults(1)\n"
        "    found.append(faults(50))\n"
        "thread = Thread(target=work)\n"
        "thread.start()\n"
        "thread.join()\n"
        "print(found[0])\n"
    )
    kept_out = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
    told = {name: value for name, value in os.environ.items() if name not in kept_out}
    told |= {"NUMPY_MADVISE_HUGEPAGE": "0"}
    with_it, without = (
        subprocess.run([sys.executable, "-c", one], env=told, capture_output=True, text=True)
        for one in (script, script.replace("\nreuse_memory()", ""))
    )
    assert int(with_it.stdout) < 1000  # of 25,600 pages
    assert int(with_it.stdout) <= int(without.stdout)
