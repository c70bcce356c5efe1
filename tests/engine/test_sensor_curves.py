from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles
from tests.basis.test_sensors import (
    BASELINES,
    Fleet,
    atoms_of,
    double_pieces,
    path_of,
)

from boostr._engine.sensor_curves import PathCurves
from boostr.basis import PowerBasis, SensorBasis

HORIZON = 10.0
REACH = 100.0
baselines = pytest.mark.parametrize("baseline", BASELINES)
straight = pytest.mark.parametrize("baseline", ["none", "constant", "step"])
bent = pytest.mark.parametrize("baseline", ["powers", "spline"])
RAW = -1.0
floors = pytest.mark.parametrize("floor", [RAW, 0.0, 0.1])
bent_floors = pytest.mark.parametrize("floor", [0.0, 0.1])

# Out of order, some of them twice, at the horizon, beyond it and beyond the reach.
TIMES = np.array([3.3, 0.0, 9.9, 3.3, 15.0, 0.4, HORIZON, 60.0, REACH, 0.0, 3 * REACH])


class Curves:
    """A fleet's curves, with coefficients that let many of them fall now and then."""

    def __init__(self, rng, baseline, floor=0.0, clock="calendar", level=0.3):
        self.fleet = Fleet(rng)
        self.basis = self.fleet.place(baseline, clock=clock)
        self.paths = self.fleet.clocked(clock).paths
        self.theta = rng.normal(level, 0.5, (len(self.fleet), self.basis.n_terms))
        self.floor = floor

    def make(self, paths=None):
        paths = self.paths if paths is None else paths
        return PathCurves(self.basis, self.theta, paths, HORIZON, REACH, self.floor)

    def breaks(self, individual):
        begins, _ = path_of(self, individual)
        return [*begins, *self.basis.breaks]

    def rate(self, individual):
        """Return the raw rate of one individual as a function of one time."""
        path, atoms = path_of(self, individual), atoms_of(self.basis)
        weights = self.basis.atom_weights(self.theta)[individual]
        own = self.theta[individual, : self.basis.n_baseline]

        def rate(time):
            from_sensors = weights @ oracles.path_atoms(*path, atoms, time)
            if self.basis.baseline is None:
                return from_sensors
            return own @ self.basis.baseline.rates(np.array([time]))[0] + from_sensors

        return rate

    def accumulated(self, individual, time, n_cells=0):
        """Add up the rate, in as many cells as wanted besides those of its own."""
        breaks = [*self.breaks(individual), *np.linspace(0.0, time, n_cells + 2)]
        arguments = self.rate(individual), breaks, min(time, REACH), self.floor
        return oracles.rise_along_path(*arguments)


@baselines
def test_another_floor_is_the_same_as_new_curves(rng, baseline):
    case = Curves(rng, baseline)
    curves = case.make()
    before = curves.values(TIMES)
    case.floor = 0.1
    assert_allclose(curves.with_floor(0.1).values(TIMES), case.make().values(TIMES))
    assert_allclose(curves.with_floor(0.1).slopes(TIMES), case.make().slopes(TIMES))
    assert_array_equal(curves.values(TIMES), before)


@straight
@floors
def test_curves_add_up_the_rates_of_their_pieces(rng, baseline, floor):
    curves = Curves(rng, baseline, floor)
    rows = range(len(curves.theta))
    expected = [[curves.accumulated(row, time) for time in TIMES] for row in rows]
    assert_allclose(curves.make().values(TIMES), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@bent
@bent_floors
@pytest.mark.parametrize("clock", ["calendar", "operational"])
def test_curves_over_a_bent_baseline_add_up_to_within_a_cell(rng, baseline, floor, clock):
    curves = Curves(rng, baseline, floor, clock=clock)
    times = np.array([3.3, 9.9])
    found = curves.make().values(times)
    for row in (1, 6, 11):
        expected = [curves.accumulated(row, time, 500) for time in times]
        assert_allclose(found[row], expected, atol=5e-3)


@bent
def test_raw_curves_over_a_bent_baseline_are_exact(rng, baseline):
    curves = Curves(rng, baseline, floor=RAW)
    found, times = curves.make().values(TIMES), np.minimum(TIMES, REACH)
    phi = curves.basis.baseline.evaluate(times)
    weights, atoms = curves.basis.atom_weights(curves.theta), atoms_of(curves.basis)
    for row in range(len(curves.theta)):
        path = path_of(curves, row)
        totals = [oracles.accumulated_atoms(*path, atoms, time) for time in times]
        own = curves.theta[row, : curves.basis.n_baseline]
        expected = phi @ own + np.array(totals) @ weights[row]
        assert_allclose(found[row], expected, rtol=1e-9, atol=1e-9)


@baselines
@bent_floors
def test_bent_curves_never_fall_and_begin_at_zero(rng, baseline, floor):
    times = np.unique(np.concatenate([np.linspace(0.0, 20.0, 501), TIMES]))
    values = Curves(rng, baseline, floor).make().values(times)
    assert np.array_equal(values[:, 0], np.zeros(len(values)))
    assert np.diff(values, axis=1).min() >= -1e-9


@baselines
def test_above_a_floor_curves_rise_at_all_times(rng, baseline):
    curves = Curves(rng, baseline, floor=0.1).make()
    times = np.linspace(0.0, 1.5 * HORIZON, 501)
    assert np.diff(curves.values(times), axis=1).min() > 0.0
    assert curves.slopes(times[1:]).min() > 0.0


@baselines
def test_curves_that_rise_as_they_are_are_the_raw_ones_at_the_edges_of_cells(rng, baseline):
    curves = Curves(rng, baseline, level=0.0)
    curves.theta[:, : curves.basis.n_baseline] = 1.0
    curves.theta[:, curves.basis.n_baseline :] *= 0.02
    if baseline == "none":
        curves.theta = np.abs(curves.theta)
    times = np.linspace(0.0, HORIZON, 129)
    bent = curves.make().values(times)
    curves.floor = RAW
    assert_allclose(bent, curves.make().values(times), rtol=1e-9, atol=1e-9)


@baselines
@floors
def test_slopes_are_the_rates(rng, baseline, floor):
    curves = Curves(rng, baseline, floor)
    times = np.array([7.0, 0.1, 9.9, 0.1, 30.0])
    for row in range(len(curves.theta)):
        expected = [curves.rate(row)(time) for time in times]
        expected = [oracles.bend_rate(rate, floor) for rate in expected]
        assert_allclose(curves.make().slopes(times)[row], expected, atol=1e-9)


@straight
@floors
def test_slopes_are_those_of_the_values(rng, baseline, floor):
    curves = Curves(rng, baseline, floor).make()
    times = rng.uniform(0.1, 30.0, 40)
    differences = (curves.values(times) - curves.values(times - 1e-7)) / 1e-7
    is_smooth = np.abs(curves.slopes(times) - curves.slopes(times - 1e-7)) < 1e-9
    assert_allclose(
        curves.slopes(times)[is_smooth], differences[is_smooth], rtol=1e-5, atol=1e-5
    )


def test_a_sample_acts_only_after_its_time(rng):
    curves = Curves(rng, "constant", floor=RAW)
    individual = int(np.argmax(np.diff(curves.paths.offsets)))
    begins, _ = path_of(curves, individual)
    moment = begins[begins > 0.0][:1]
    before, at, after = (
        curves.make().slopes(moment + shift)[individual, 0] for shift in (-1e-9, 0.0, 1e-9)
    )
    assert at == before
    assert at != after


@baselines
@floors
def test_values_at_pairs_are_entries_of_the_table(rng, baseline, floor):
    curves = Curves(rng, baseline, floor).make()
    rows, times = rng.integers(0, 12, 80), rng.choice([0.0, 2.0, 6.5, 20.0, 300.0], 80)
    expected = np.diag(curves.values(times)[rows])
    assert_allclose(curves.values_at(rows, times), expected, atol=1e-12)


@baselines
@floors
def test_slopes_at_pairs_are_entries_of_the_table(rng, baseline, floor):
    curves = Curves(rng, baseline, floor).make()
    rows, times = rng.integers(0, 12, 80), rng.uniform(0.0, 20.0, 80)
    expected = np.diag(curves.slopes(times)[rows])
    assert_allclose(curves.slopes_at(rows, times), expected, atol=1e-12)


@baselines
def test_the_order_of_times_and_their_number_do_not_matter(rng, baseline):
    curves = Curves(rng, baseline).make()
    alone = np.hstack([curves.values(TIMES[[place]]) for place in range(len(TIMES))])
    assert_allclose(curves.values(TIMES), alone, atol=1e-12)
    slopes = np.hstack([curves.slopes(TIMES[[place]]) for place in range(len(TIMES))])
    assert_allclose(curves.slopes(TIMES), slopes, atol=1e-12)


@baselines
def test_one_curve_does_not_depend_on_the_others(rng, baseline):
    curves = Curves(rng, baseline)
    whole = curves.make().values(TIMES)
    for row in range(len(curves.theta)):
        part = curves.fleet.take([row]).clocked().paths
        alone = PathCurves(
            curves.basis, curves.theta[[row]], part, HORIZON, REACH, 0.0
        ).values(TIMES)
        assert_allclose(alone[0], whole[row], atol=1e-12)


def change_after(paths, moment, rng):
    """Return paths with other samples after a moment, and the same up to it."""
    kept = paths.begins <= moment
    owner = np.repeat(np.arange(len(paths.offsets) - 1), np.diff(paths.offsets))
    n = len(paths.offsets) - 1
    begins = np.append(paths.begins[kept], np.full(n, moment + rng.uniform(0.01, 0.06, n)))
    values = np.hstack(
        [paths.values[:, kept], rng.uniform(0.0, 3.0, (len(paths.values), n))]
    )
    owner = np.append(owner[kept], np.arange(n))
    order = np.lexsort((begins, owner))
    return replace(
        paths,
        begins=begins[order],
        values=np.ascontiguousarray(values[:, order]),
        offsets=np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n))]),
    )


@baselines
@floors
@pytest.mark.parametrize("moment", [0.0, 2.0, 5.0, 9.0])
def test_the_future_of_a_path_changes_nothing_in_its_past(rng, baseline, floor, moment):
    curves = Curves(rng, baseline, floor)
    changed = change_after(curves.paths, moment, rng)
    times = np.linspace(0.0, moment, 9)
    assert_allclose(
        curves.make(changed).values(times), curves.make().values(times), atol=1e-12
    )
    slopes = curves.make().slopes(times)
    assert np.array_equal(curves.make(changed).slopes(times), slopes)


@straight
@floors
def test_samples_that_say_nothing_new_change_nothing(rng, baseline, floor):
    curves = Curves(rng, baseline, floor)
    again = curves.make(double_pieces(curves.paths)).values(TIMES)
    assert_allclose(again, curves.make().values(TIMES), rtol=1e-9, atol=1e-9)


@baselines
@floors
def test_beyond_the_reach_curves_stay_where_they_are(rng, baseline, floor):
    curves = Curves(rng, baseline, floor).make()
    values = curves.values(np.array([1.0, 3.0, 1e6]) * REACH)
    assert_allclose(values, values[:, :1] * np.ones(3))


@pytest.mark.parametrize("baseline", ["constant", "powers"])
@floors
def test_beyond_the_reach_curves_have_no_slope(rng, baseline, floor):
    curves, rows = Curves(rng, baseline, floor).make(), np.arange(12)
    slopes = [curves.slopes_at(rows, np.full(12, 2 * REACH))]
    slopes.extend(curves.slopes(np.array([1.01, 3.0]) * REACH).T)
    assert np.array_equal(slopes, np.zeros((3, 12)))


def test_rates_without_bound_count_as_zero(rng):
    curves = Curves(rng, "constant")
    family = SensorBasis(baseline=PowerBasis((0.75, 1.0)))
    curves.basis = family.place(curves.fleet.clocked(), "intensity")
    curves.theta = np.ones((12, curves.basis.n_terms))
    curves.theta[:, 2:] = 0.0
    assert_allclose(curves.make().slopes(np.zeros(1)), 1.0)


def test_without_sensors_curves_are_the_baseline_s(rng):
    curves = Curves(rng, "constant")
    nobody = curves.fleet.sensors.select([])
    paths = replace(
        curves.paths, values=nobody.values, names=(), categories=(), begins=nobody.times
    )
    basis = replace(curves.basis, sensors=())
    theta = np.abs(curves.theta[:, :1])
    found = PathCurves(basis, theta, paths, HORIZON, REACH, 0.0).values(TIMES)
    assert_allclose(found, theta * np.minimum(TIMES, REACH))


def test_no_curves_have_no_values(rng):
    curves = Curves(rng, "powers")
    paths = curves.fleet.take(np.arange(0)).sensors
    empty = replace(
        curves.paths, begins=paths.times, values=paths.values, offsets=paths.offsets
    )
    none = PathCurves(curves.basis, curves.theta[:0], empty, HORIZON, REACH, 0.0)
    assert none.values(np.ones(3)).shape == (0, 3)
    assert none.slopes(np.ones(3)).shape == (0, 3)


@baselines
def test_curves_are_coefficients_times_what_has_accumulated(rng, baseline):
    curves = Curves(rng, baseline, floor=RAW)
    rows = rng.integers(0, len(curves.theta), 30)
    times = rng.choice(TIMES, 30)
    made = curves.make()
    n_baseline = curves.basis.n_baseline
    phi = curves.basis.evaluate_baseline(np.minimum(times, REACH))
    terms = np.hstack([phi, made.accumulate(rows, times)])
    assert terms.shape[1] == curves.basis.n_terms > n_baseline
    expected = np.sum(curves.theta[rows] * terms, axis=1)
    assert_allclose(made.values_at(rows, times), expected, atol=1e-10)
