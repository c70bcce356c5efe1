import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile(
    "boostr",
    deadline=None,  # the first call of a kernel compiles it
    # Plain Python is a hundred times slower, and sees the same inputs once more.
    max_examples=10 if "NUMBA_DISABLE_JIT" in os.environ else 40,
    derandomize="BOOSTR_FUZZ" not in os.environ,  # `make fuzz` tries other inputs each time
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("boostr")


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)
