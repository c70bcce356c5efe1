import hypothesis.strategies as st
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.histories import offsets as offsets_of
from tests.kernels.test_atoms import SENSORS, make_atoms
from tests.kernels.test_path_moments import VALUES

from boostr._kernels.path_curves import (
    add_sensor_rates,
    read_path_curves,
    read_path_slopes,
)

RAW = -1.0
floors = pytest.mark.parametrize("floor", [RAW, 0.0, 0.25])
bent_floors = pytest.mark.parametrize("floor", [0.0, 0.25])
quarters = st.integers(-8, 44).map(lambda number: number / 4)
times_asked = st.lists(st.integers(0, 100).map(lambda number: number / 8), max_size=8)
rates_of_pieces = st.sampled_from([-2.0, -0.5, 0.0, 0.75, 1.5])


@st.composite
def paths(draw):
    """Draw where pieces begin, the sensors' rate in each, and the one before them."""
    begins = sorted(draw(st.lists(quarters, max_size=6)))
    if begins and draw(st.booleans()):
        begins[0] = -np.inf
    rates = [draw(rates_of_pieces) for _ in begins]
    return begins, rates, draw(rates_of_pieces)


individuals = st.tuples(paths(), times_asked, st.sampled_from([-1.0, 0.0, 0.3, 2.0]))

# A baseline of constant rate needs no grid; one that bends, s^2, is cut into cells.
STRAIGHT = (lambda s: np.asarray(s)[:, None], [0.0])
BENT = (lambda s: np.asarray(s)[:, None] ** 2, [0.0, 2.0, 4.0, 8.0, 13.0])


def collect(individuals):
    begins = np.array([b for (own, _, _), _, _ in individuals for b in own], dtype=float)
    rates = np.array([r for (_, own, _), _, _ in individuals for r in own], dtype=float)
    unknown = np.array([own[2] for own, _, _ in individuals], dtype=float)
    pieces = offsets_of([len(own[0]) for own, _, _ in individuals])
    times = np.array([t for _, own, _ in individuals for t in sorted(own)], dtype=float)
    queries = offsets_of([len(own) for _, own, _ in individuals])
    return (begins, rates, unknown, pieces), times, queries


def read(individuals, floor, baseline=STRAIGHT):
    path, times, queries = collect(individuals)
    theta = np.array([[theta] for _, _, theta in individuals])
    phi, grid = baseline
    out = np.full(len(times), np.nan)
    read_path_curves(
        len(theta),
        *path,
        theta,
        phi(np.maximum(path[0], 0.0)),
        np.array(grid),
        phi(np.array(grid)),
        times,
        phi(times),
        queries,
        floor,
        out,
    )
    return out


def rate_at(path, time):
    """Return what the sensors add at a time: in the piece that began before it."""
    begins, rates, unknown = path
    earlier = [r for b, r in zip(begins, rates, strict=True) if b < time]
    return earlier[-1] if earlier else unknown


@floors
@given(individual=individuals)
def test_with_a_constant_baseline_curves_are_the_sums_of_their_rates(floor, individual):
    path, times, theta = individual
    expected = [
        oracles.rise_along_path(lambda s: theta + rate_at(path, s), path[0], time, floor)
        for time in sorted(times)
    ]
    found = read([individual], floor)
    assert_allclose(found, np.array(expected), rtol=1e-12, atol=1e-12)


@given(individual=individuals)
def test_raw_curves_are_exact_however_the_baseline_bends(individual):
    path, times, theta = individual
    sensors = [
        oracles.rise_along_path(lambda s: rate_at(path, s), path[0], time, RAW)
        for time in sorted(times)
    ]
    expected = np.array(sensors) + theta * np.sort(times) ** 2
    assert_allclose(read([individual], RAW, BENT), expected, rtol=1e-12, atol=1e-9)


@bent_floors
@given(individual=individuals)
def test_bent_curves_are_straight_in_cells_and_never_fall(floor, individual):
    path, times, theta = individual
    cuts = sorted({*BENT[1], *(begin for begin in path[0] if begin > 0.0)})

    def rate(time):
        cell = np.searchsorted(BENT[1], time)
        start, stop = BENT[1][cell - 1], BENT[1][cell]
        slope = theta * (stop**2 - start**2) / (stop - start)
        return slope + rate_at(path, time)

    times = [time for time in sorted(times) if time <= 13.0]
    expected = [oracles.rise_along_path(rate, cuts, time, floor) for time in times]
    found = read([(path, times, theta)], floor, BENT)
    assert_allclose(found, np.array(expected), rtol=1e-9, atol=1e-9)


@bent_floors
@given(individual=individuals)
def test_beyond_the_last_cell_curves_go_on(floor, individual):
    path, _, theta = individual
    late = (path, [13.0, 14.0, 20.0], theta)
    found = read([late], floor, BENT)
    lengths = np.array([1.0, 7.0])
    last = theta * ((13.0 + lengths) ** 2 - 13.0**2)
    means = last / lengths + rate_at(path, 14.0)  # rates are averaged, and then bent
    rises = [oracles.bend_rate(mean, floor) for mean in means] * lengths
    assert_allclose(found[1:] - found[0], rises, rtol=1e-9, atol=1e-9)


@floors
@settings(max_examples=20)
@given(several=st.lists(individuals, min_size=1, max_size=5))
def test_individuals_do_not_touch_each_other(floor, several):
    alone = [read([one], floor, BENT) for one in several]
    assert np.array_equal(read(several, floor, BENT), np.concatenate([np.empty(0), *alone]))


@floors
@given(individual=individuals)
def test_curves_begin_at_zero(floor, individual):
    path, _, theta = individual
    assert np.array_equal(read([(path, [0.0, 0.0], theta)], floor), [0.0, 0.0])


@given(individual=individuals)
def test_slopes_are_the_rates_of_the_pieces_that_began_before(individual):
    path, times, _ = individual
    collected, asked, queries = collect([individual])
    out = np.full(len(asked), 100.0)
    read_path_slopes(len(queries) - 1, *collected, asked, queries, out)
    expected = [100.0 + rate_at(path, time) for time in sorted(times)]
    assert np.array_equal(out, expected)


@settings(max_examples=20)
@given(several=st.lists(individuals, min_size=1, max_size=5))
def test_slopes_of_individuals_do_not_touch_each_other(several):
    def slopes(individuals):
        collected, asked, queries = collect(individuals)
        out = np.zeros(len(asked))
        read_path_slopes(len(queries) - 1, *collected, asked, queries, out)
        return out

    alone = [slopes([one]) for one in several]
    assert np.array_equal(slopes(several), np.concatenate([np.empty(0), *alone]))


shown = st.lists(st.lists(VALUES, max_size=4), min_size=1, max_size=4)


def sensor_rates(values, weights):
    flat = [one for own in values for one in own]
    rates, unknown = np.full(len(flat), np.nan), np.full(len(values), np.nan)
    add_sensor_rates(
        len(values),
        np.ascontiguousarray(np.array(flat, dtype=float).reshape(-1, 4).T),
        offsets_of([len(own) for own in values]),
        make_atoms(*SENSORS),
        weights,
        rates,
        unknown,
    )
    return rates, unknown


@settings(max_examples=25)
@given(values=shown, seed=st.integers(0, 2**32 - 1))
def test_sensors_add_what_their_atoms_weigh(values, seed):
    weights = np.random.default_rng(seed).normal(size=(len(values), 10))
    rates, unknown = sensor_rates(values, weights)
    expected = [
        np.concatenate([oracles.atoms_at(z, *s) for z, s in zip(one, SENSORS, strict=True)])
        @ weights[individual]
        for individual, own in enumerate(values)
        for one in own
    ]
    stand_in = np.concatenate([sensor[2] for sensor in SENSORS])
    assert_allclose(rates, np.array(expected), atol=1e-12)
    assert_allclose(unknown, weights @ stand_in)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads need the compiler")
def test_threads_give_the_same_bits(rng):
    values = [[tuple(rng.uniform(-1.0, 3.0, 4)) for _ in range(5)] for _ in range(40)]
    weights = rng.normal(size=(40, 10))
    before = numba.get_num_threads()
    results = []
    try:
        for n_threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(n_threads)
            rates, _ = sensor_rates(values, weights)
            several = [
                ((np.arange(5.0), own, 0.3), [1.0, 4.5, 9.0], -0.2)
                for own in rates.reshape(40, 5)
            ]
            results.append(read(several, 0.25, BENT))
    finally:
        numba.set_num_threads(before)
    assert np.array_equal(*results)
