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


COUNT_IN_A_THREAD = """
import resource
from threading import Thread
import numpy as np
from plausible.engine.allocation import reuse_memory

def faults(n_times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(n_times):
        some = [np.ones(5 << 17) for _ in range(3)]  # five megabytes each, 1280 pages
        del some
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def work():
    faults(1)
    print(faults(20))

reuse_memory()
thread = Thread(target=work)
thread.start()
thread.join()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
def test_several_arrays_of_a_thread_take_the_memory_of_those_that_are_gone():
    """Freed together, they are more than glibc keeps, were none larger than each freed before."""
    told = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    told |= {"NUMPY_MADVISE_HUGEPAGE": "0"}
    with_it, without = (
        subprocess.run([sys.executable, "-c", one], env=told, capture_output=True, text=True)
        for one in (COUNT_IN_A_THREAD, COUNT_IN_A_THREAD.replace("\nreuse_memory()", ""))
    )
    assert int(with_it.stdout) < 0.05 * int(without.stdout)


COUNT_AFTER_A_CLUSTER = """
import os
import resource
import numpy as np
from plausible.engine.allocation import memory_kept, reuse_memory

reuse_memory()
os.environ["MALLOC_TRIM_THRESHOLD_"] = "65536"  # as a nanny does before it starts its worker
with memory_kept():
    pass
np.ones(1 << 18)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    np.ones(1 << 18)  # two megabytes, 512 pages
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
def test_memory_is_kept_as_before_in_a_process_that_has_started_workers():
    told = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    told |= {"NUMPY_MADVISE_HUGEPAGE": "0"}
    command = [sys.executable, "-c", COUNT_AFTER_A_CLUSTER]
    done = subprocess.run(command, env=told, capture_output=True, text=True)
    assert int(done.stdout) < 500  # 25,600 if each array were taken from the system
