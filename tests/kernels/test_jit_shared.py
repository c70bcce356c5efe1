"""Kernels whose individuals are shared by threads."""

import numpy as np
import pytest

from boostr._kernels import _jit
from boostr._kernels._jit import shared_kernel


def mark(part, out):
    for individual in range(part[0], part[1]):
        out[individual] += 1.0


@pytest.mark.parametrize("n", [0, 1, 5, 1000])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_individual_is_in_one_part(n, n_threads, monkeypatch):
    monkeypatch.setattr(_jit, "_SHARED_FROM", 1)
    monkeypatch.setattr("numba.get_num_threads", lambda: n_threads)
    out = np.zeros(n)
    shared_kernel(mark)(n, out)
    assert np.array_equal(out, np.ones(n))


def test_errors_of_parts_are_raised(monkeypatch):
    def fail(part, out):
        raise ZeroDivisionError

    monkeypatch.setattr(_jit, "_SHARED_FROM", 1)
    monkeypatch.setattr("numba.get_num_threads", lambda: 2)
    with pytest.raises(ZeroDivisionError):
        shared_kernel(fail)(10, np.zeros(10))
