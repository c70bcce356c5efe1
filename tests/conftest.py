import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile(
    "boostr",
    deadline=None,  # the first call of a kernel compiles it
    max_examples=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("boostr")


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)
