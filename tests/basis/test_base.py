"""Runs of individuals, as they are handed to kernels block by block."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from boostr import simulate
from boostr._engine.suffstats import put_on_clock
from boostr.basis import CalendarClock

BLOCKS = [slice(0, 7), slice(7, 20), slice(3, 3), slice(0, 20)]


@pytest.fixture(scope="module")
def clocked():
    fleet = simulate.wells(n=20, n_sensors=3, random_state=2)
    return put_on_clock(fleet.y, CalendarClock(), fleet.Z)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_part_has_the_paths_of_its_individuals(clocked, block):
    whole, part = clocked.paths, clocked.part(block).paths
    pieces = slice(whole.offsets[block.start], whole.offsets[block.stop])
    assert_array_equal(part.values, whole.values[:, pieces])
    assert_array_equal(part.begins, whole.begins[pieces])
    assert_array_equal(np.diff(part.offsets), np.diff(whole.offsets)[block])
    assert part.offsets[0] == 0


@pytest.mark.parametrize("block", BLOCKS)
def test_arrays_of_a_part_lie_as_those_of_the_whole(clocked, block):
    # A kernel is compiled anew for every layout.
    events = clocked.part(block)
    for name in ("begins", "values", "offsets"):
        assert getattr(events.paths, name).flags.c_contiguous, name
    for name in ("window_start", "window_stop", "window_offsets", "times", "costs"):
        assert getattr(events, name).flags.c_contiguous, name
