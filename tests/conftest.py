import os

from hypothesis import Phase, settings

# Several processes that test at once compute on one thread each: those of BLAS and OpenMP wait for
# each other in loops, which takes most of the time where cores are shared. This must come before
# numpy. Tests of threads say how many there are; in one process, everything has those it finds.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # where a test asks for more
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# Fast and repeatable by default; HYPOTHESIS_PROFILE=long searches further, with fresh cases.
settings.register_profile("fast", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=2000, deadline=None)
# The cases of "fast"; a case that fails is not made smaller, for it was made to fail.
settings.register_profile(
    "mutants", settings.get_profile("fast"), phases=(Phase.explicit, Phase.generate)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
