import numpy as np
import pytest

from boostr._kernels._jit import kernel
from boostr._kernels.prefetch import prefetch


@kernel
def sum_with_prefetching(values, places):
    total = 0.0
    for place in places:
        prefetch(values, place)
        total += values.reshape(-1)[place]
    return total


@pytest.mark.parametrize("shape", [(12,), (4, 3)])
@pytest.mark.parametrize("kind", [np.uint8, np.float64])
def test_numbers_stay_as_they_are(shape, kind):
    values = np.arange(12).reshape(shape).astype(kind)
    places = np.array([11, 0, 5], dtype=np.uint64)
    assert sum_with_prefetching(values, places) == 16.0
    assert np.array_equal(values.reshape(-1), np.arange(12))


def test_places_outside_do_no_harm():
    values = np.zeros(3)

    @kernel
    def ask_beyond(values):
        prefetch(values, np.uint64(10**9))

    ask_beyond(values)
    assert not values.any()
