import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from tests import oracles
from tests.kernels.calls import from_python

from boostr._kernels import atoms as kernels
from boostr._kernels.atoms import SensorAtoms, evaluate_atoms

find_atoms = from_python(kernels.find_atoms)
LOW, HIGH = -1.0, 3.0
orders = pytest.mark.parametrize("order", [1, 2, 3, 4])
numbers_of_knots = pytest.mark.parametrize("n_knots", [0, 1, 2, 5])


def make_knots(order, inner, low=LOW, high=HIGH):
    return np.concatenate([np.full(order, low), np.sort(inner), np.full(order, high)])


def make_atoms(*sensors):
    """Put sensors, each (knots, order, values where unknown), into one after the other."""
    return SensorAtoms(
        starts=np.cumsum([0, *(len(own[2]) for own in sensors)]).astype(np.int32),
        orders=np.array([own[1] for own in sensors], dtype=np.int32),
        knots=np.concatenate([np.empty(0), *(own[0] for own in sensors)]),
        knot_starts=np.cumsum([0, *(len(own[0]) for own in sensors)]).astype(np.int32),
        unknown=np.concatenate([np.empty(0), *(own[2] for own in sensors)]),
    )


def make_sensor(order, inner):
    knots = make_knots(order, inner)
    return knots, order, np.linspace(0.1, 0.5, len(knots) - order)


def spread_knots(n_knots):
    return LOW + (HIGH - LOW) * np.linspace(0.0, 1.0, n_knots + 2)[1:-1] ** 1.5


def evaluate(values, *sensors, sensor=0):
    values = np.array(values, dtype=float)
    out = np.full((len(values), len(sensors[sensor][2])), np.nan)
    evaluate_atoms(values, sensor, make_atoms(*sensors), out)
    return out


@orders
@numbers_of_knots
def test_atoms_are_the_b_splines(order, n_knots):
    sensor = make_sensor(order, spread_knots(n_knots))
    values = np.linspace(LOW, HIGH, 101)
    expected = [oracles.atoms_at(value, *sensor) for value in values]
    assert_allclose(evaluate(values, sensor), expected, atol=1e-12)


@settings(max_examples=40)
@given(
    order=st.integers(1, 4),
    inner=st.lists(st.floats(-0.95, 2.95), max_size=5, unique=True),
    share=st.floats(0.0, 1.0),
)
def test_atoms_are_the_b_splines_for_any_knots(order, inner, share):
    gaps = np.diff([LOW, *np.sort(inner), HIGH])
    inner = inner if gaps.min() > 1e-3 else []
    sensor = make_sensor(order, inner)
    value = LOW + share * (HIGH - LOW)
    assert_allclose(
        evaluate([value], sensor)[0], oracles.atoms_at(value, *sensor), atol=1e-9
    )


@orders
@numbers_of_knots
def test_at_the_knots_themselves_the_piece_to_the_right_counts(order, n_knots):
    sensor = make_sensor(order, spread_knots(n_knots))
    values = sensor[0][order - 1 : -order]  # all but the last
    after = evaluate(values + 1e-12, sensor)
    assert_allclose(evaluate(values, sensor), after, atol=1e-9)


@orders
@numbers_of_knots
def test_at_the_ends_one_atom_is_all_there_is(order, n_knots):
    sensor = make_sensor(order, spread_knots(n_knots))
    n_atoms = order + n_knots
    expected = np.eye(n_atoms)[[0, -1]]
    assert_allclose(evaluate([LOW, HIGH], sensor), expected, atol=1e-12)


@orders
@numbers_of_knots
def test_outside_of_the_range_atoms_stay_as_at_its_ends(order, n_knots):
    sensor = make_sensor(order, spread_knots(n_knots))
    outside = [-np.inf, LOW - 5.0, LOW - 1e-9, HIGH + 1e-9, HIGH + 5.0, np.inf]
    ends = evaluate([LOW] * 3 + [HIGH] * 3, sensor)
    assert np.array_equal(evaluate(outside, sensor), ends)


@orders
@numbers_of_knots
def test_atoms_sum_to_one_and_are_never_negative(order, n_knots):
    sensor = make_sensor(order, spread_knots(n_knots))
    atoms = evaluate(np.linspace(LOW - 1.0, HIGH + 1.0, 201), sensor)
    assert_allclose(atoms.sum(axis=1), 1.0)
    assert atoms.min() >= 0.0


def test_a_broken_line_by_hand():
    # Hats on the knots 0, 1 and 3.
    sensor = make_knots(2, [1.0], 0.0, 3.0), 2, np.zeros(3)
    expected = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]
    assert_allclose(evaluate([0.0, 0.5, 1.0, 2.0], sensor), expected)


@orders
def test_an_unknown_number_counts_as_its_stand_in(order):
    sensor = make_sensor(order, [0.5])
    assert np.array_equal(evaluate([np.nan], sensor), [sensor[2]])


CATEGORIES = (np.empty(0), 0, np.array([0.2, 0.3, 0.5]))


def test_categories_have_an_atom_each():
    assert np.array_equal(evaluate([0.0, 1.0, 2.0], CATEGORIES), np.eye(3))


@pytest.mark.parametrize("value", [np.nan, -1.0, 3.0, 99.0])
def test_an_unknown_category_counts_as_its_stand_in(value):
    assert np.array_equal(evaluate([value], CATEGORIES), [CATEGORIES[2]])


SENSORS = (
    make_sensor(3, [0.0, 1.0]),
    CATEGORIES,
    (np.empty(0), 0, np.empty(0)),  # says nothing
    make_sensor(1, [0.5]),
)


@pytest.mark.parametrize("sensor", range(4))
@pytest.mark.parametrize("value", [np.nan, 0.7, 2.0, 50.0])
def test_sensors_do_not_touch_each_other(sensor, value):
    alone = evaluate([value], SENSORS[sensor])
    assert np.array_equal(evaluate([value], *SENSORS, sensor=sensor), alone)


@pytest.mark.parametrize("sensor", range(4))
@pytest.mark.parametrize("value", [np.nan, -7.0, 0.0, 0.7, 2.0, 50.0])
def test_only_atoms_that_may_not_be_zero_are_written(sensor, value):
    atoms = make_atoms(*SENSORS)
    buffer = np.full(10, np.nan)
    first, n_written = find_atoms(value, sensor, atoms, buffer)
    spread = np.zeros(len(atoms.unknown))
    spread[first : first + n_written] = buffer[:n_written]
    expected = oracles.atoms_at(value, *SENSORS[sensor])
    begin = atoms.starts[sensor]
    assert_allclose(spread[begin : begin + len(expected)], expected, atol=1e-12)
    assert_allclose(spread.sum(), expected.sum())
    assert np.all(np.isnan(buffer[n_written:]))


@orders
def test_no_more_atoms_are_written_than_the_order(order):
    sensor = make_sensor(order, spread_knots(5))
    written = [find_atoms(z, 0, make_atoms(sensor), np.empty(20))[1] for z in (LOW, 0.3)]
    assert written == [order, order]
