"""Runs of individuals, as they are handed to kernels block by block."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.engine.histories import AWKWARD, FAMILIES
from tests.engine.histories import clocked as clocked_histories

from boostr import simulate
from boostr._engine.statistics import put_on_clock
from boostr.basis import CalendarClock
from boostr.basis.base import exposed_moments

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


@pytest.mark.parametrize("name", FAMILIES)
def test_curvature_is_summed_over_windows_by_their_exposure(name):
    quiet = ([(0.0, 6.0)], [], [])
    events = clocked_histories([AWKWARD, quiet])
    basis = FAMILIES[name].place(events, "intensity")
    factors = np.array([0.5, 3.0, 2.0])
    exposed = replace(events, window_exposure=factors)
    slope, curvature = exposed_moments(basis, exposed, "intensity")
    plain = basis.moments(events, "intensity")
    assert_array_equal(slope, plain[0])
    assert_allclose(curvature[1], 2.0 * plain[1][1])
    alone = [([window], [], []) for window in AWKWARD[0]]
    parts = basis.moments(clocked_histories(alone, events.horizon), "intensity")[1]
    assert_allclose(curvature[0], factors[:2] @ parts)
    same = exposed_moments(basis, replace(events, window_exposure=np.ones(3)), "intensity")
    assert_allclose(same[1], plain[1])


@pytest.mark.parametrize("block", BLOCKS)
def test_a_part_has_the_exposure_of_its_windows(clocked, block):
    factors = np.arange(float(len(clocked.window_start)))
    part = replace(clocked, window_exposure=factors).part(block)
    windows = slice(*clocked.window_offsets[[block.start, block.stop]])
    assert_array_equal(part.exposures, factors[windows])
    assert_array_equal(clocked.part(block).exposures, np.ones(len(part.window_start)))
