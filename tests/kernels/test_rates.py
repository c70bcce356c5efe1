import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from numpy.testing import assert_allclose
from tests import oracles

from boostr._kernels.rates import bend_rate, bend_rates

rates = st.floats(-1e6, 1e6)
floors = st.floats(1e-6, 1e3)


@given(rate=rates, floor=st.one_of(floors, st.sampled_from([-1.0, 0.0])))
def test_rates_are_bent_as_in_the_obvious_version(rate, floor):
    assert_allclose(bend_rate(rate, floor), oracles.bend_rate(rate, floor), rtol=1e-12)


@given(rate=rates, floor=floors)
def test_rates_below_the_floor_stay_between_it_and_zero(rate, floor):
    assert 0.0 < bend_rate(min(rate, floor), floor) <= floor


@given(share=st.floats(0.0, 1e6), floor=floors)
def test_rates_above_the_floor_keep_all_bits(share, floor):
    rate = floor + share
    assert bend_rate(rate, floor) == rate


@given(rate=st.floats(-50.0, 50.0), step=st.floats(1e-3, 10.0), floor=floors)
def test_bent_rates_rise_with_the_rate(rate, step, floor):
    assert bend_rate(rate + step, floor) > bend_rate(rate, floor)


@given(floor=floors)
def test_bent_rates_meet_the_others_smoothly(floor):
    step = 1e-6 * floor
    below, above = bend_rate(floor - step, floor), bend_rate(floor + step, floor)
    assert_allclose((above - floor) / step, 1.0, rtol=1e-3)
    assert_allclose((floor - below) / step, 1.0, rtol=1e-3)


@given(rate=rates, floor=floors, factor=st.floats(1e-3, 1e3))
def test_the_unit_of_rates_does_not_matter(rate, floor, factor):
    scaled = bend_rate(factor * rate, factor * floor)
    assert_allclose(scaled, factor * bend_rate(rate, floor), rtol=1e-9)


def test_all_rates_of_an_array_are_bent_in_place(rng):
    values = rng.normal(size=50)
    expected = [bend_rate(value, 0.3) for value in values]
    bend_rates(values, 0.3)
    assert np.array_equal(values, expected)
