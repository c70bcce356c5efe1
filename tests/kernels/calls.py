"""Calls of kernels that Python cannot call."""

from functools import cache

import numba


@cache
def from_python(inner):
    """Return a function for Python around a kernel that other kernels contain."""

    @numba.njit
    def call(*args):
        return inner(*args)

    return call
