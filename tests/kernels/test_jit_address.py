"""Kernels that other kernels call by their addresses."""

from typing import NamedTuple

import numba
import numpy as np
import pytest

from boostr._kernels._jit import call_any_by_address, call_by_address, kernel, types


class Values(NamedTuple):
    numbers: object
    is_doubled: bool
    nothing: object = None


@kernel
def sum_up(values, first):
    total, n = 0.0, 0
    for place in range(first, values.numbers.shape[0]):
        total += values.numbers[place] * (2.0 if values.is_doubled else 1.0)
        values.numbers[place] = 0
        n += 1
    return total, n


@kernel
def negate(numbers, is_doubled):
    return is_doubled and numbers[0] > 0.0


call_sum, find_sum = call_any_by_address(sum_up, types.Tuple((types.float64, types.int64)))
call_negate, find_negate = call_by_address(
    negate, types.boolean(types.float64[::1], types.boolean)
)


@kernel
def sum_from_everywhere(address, values, out):
    for first in range(values.numbers.shape[0] - 1, -1, -1):
        total, n = call_sum(address, values, first)
        out[first] += total * n


@kernel
def negate_by_address(address, numbers):
    return call_negate(address, numbers, True), call_negate(address, numbers, False)


@pytest.mark.parametrize("kind", [float, np.float32, np.int64])
@pytest.mark.parametrize("is_doubled", [False, True])
@pytest.mark.parametrize("step", [1, 2])
def test_a_call_by_address_is_a_call(kind, is_doubled, step):
    numbers = np.arange(8, dtype=kind)[::step]
    expected = numbers * (1.0 + is_doubled) * np.arange(len(numbers), 0, -1)
    values, out = Values(numbers, is_doubled), np.zeros(len(numbers))
    sum_from_everywhere(find_sum(values, 0), values, out)
    assert np.array_equal(out, expected)  # all others were summed, and set to 0, before
    assert not numbers.any()


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="no addresses")
def test_types_of_arguments_have_an_address_each():
    numbers = np.arange(4.0)
    address = find_sum(Values(numbers, True), 0)
    assert find_sum(Values(np.ones(9), False), 3) == address
    others = [
        Values(numbers[::2], True),
        Values(numbers.astype(np.float32), True),
        Values(numbers, True, numbers),
        Values(numbers, 1),
    ]
    assert len({address, *(find_sum(other, 0) for other in others)}) == 5


def test_flags_are_passed_and_returned():
    assert negate_by_address(find_negate(), np.ones(2)) == (True, False)
    assert negate_by_address(find_negate(), np.zeros(2)) == (False, False)
