import os

from hypothesis import settings

# Fast and repeatable by default; HYPOTHESIS_PROFILE=long searches further, with fresh cases.
settings.register_profile("fast", max_examples=40, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
