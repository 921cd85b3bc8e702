import os

# Tests run in as many processes as there are cores, whose threads should not wait by spinning.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from hypothesis import Phase, settings

# Fast and repeatable by default; HYPOTHESIS_PROFILE=long searches further, with fresh cases.
settings.register_profile("fast", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=2000, deadline=None)
# The cases of "fast"; a case that fails is not made smaller, for it was made to fail.
settings.register_profile(
    "mutants", settings.get_profile("fast"), phases=(Phase.explicit, Phase.generate)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
