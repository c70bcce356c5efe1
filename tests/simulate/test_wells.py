from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from boostr.exceptions import InvalidFeaturesError, InvalidParameterError
from boostr.simulate import wells

CORNERS = np.array([[0.45, 0.6], [0.45, 0.61], [0.46, 0.35], [0.46, 0.36]])

# The law once more, in words of the docstring: what each region adds to the base rate.
REGIONS = [
    lambda z: threshold(z[0]),
    lambda z: np.exp(-3.0 * z[1]) + np.exp(-0.5 * ((z[0] - 0.5) / 0.15) ** 2),
    lambda z: (2.0 * z[2] - 1.0) ** 2,
    lambda z: z[1] + threshold(z[2]),
]


def threshold(z):
    return 1.0 / (1.0 + np.exp(-20.0 * (z - 0.6)))


def samples_of(simulation, row):
    """Sample times and values of one individual."""
    paths = simulation.truth.paths
    mine = paths.owner == row
    return paths.times[mine], paths.values[:, mine]


def intensity_of(simulation, row, region):
    """Intensity of one individual as a function of time, by NumPy's interpolation."""
    times, values = samples_of(simulation, row)
    return lambda t: 0.005 + 0.1 * REGIONS[region]([np.interp(t, times, z) for z in values])


@pytest.fixture(scope="module")
def fleet():
    return wells(n=6000, random_state=3, interpolation="last")


def test_defaults():
    simulation = wells()
    y = simulation.y
    assert simulation.X.shape == (2000, 8)
    assert simulation.horizon == 100.0
    assert y.end.min() >= 20.0
    assert y.end.max() <= 100.0
    assert np.ptp(y.end) > 79.0
    assert np.all(y.times <= y.end[y.event_owner])
    assert simulation.feature_names[:3] == ("longitude", "latitude", "x3")


def test_regions_are_rectangles():
    truth = wells(n=1).truth
    assert_array_equal(truth.region(CORNERS), [0, 1, 2, 3])


@pytest.mark.parametrize("region", range(4))
def test_cumulative_intensity_is_the_integral_along_the_sensors(region):
    simulation = wells(n=8, random_state=2)
    X = np.tile(CORNERS[region], (8, 1))
    ends = [0.3, 50.0, 99.9, 130.0]
    curves = simulation.truth(ends, X=X)
    for row in range(8):
        intensity = intensity_of(simulation, row, region)
        kinks = samples_of(simulation, row)[0]
        for column, end in enumerate(ends):
            inner = kinks[(kinks > 0.0) & (kinks < end)]
            pieces = np.concatenate([[0.0], inner, [end]])
            total = sum(
                quad(intensity, low, high, epsabs=1e-12)[0]
                for low, high in pairwise(pieces)
            )
            assert curves[row, column] == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("region", range(4))
def test_intensity_is_that_of_the_law(region):
    simulation = wells(n=20, random_state=4)
    times = [120.0, 0.0, 33.3, samples_of(simulation, 0)[0][5]]
    rates = simulation.truth.intensity(times, X=np.tile(CORNERS[region], (20, 1)))
    expected = [intensity_of(simulation, row, region)(times) for row in range(20)]
    assert_allclose(rates, expected, rtol=1e-12)


def test_constant_sensors_integrate_to_their_rate(fleet):
    """Where values hardly change, the antiderivatives would cancel."""
    last = fleet.truth([100.0, 101.0, 1000.0])
    rate = fleet.truth.intensity(100.0).ravel()
    assert_allclose(last[:, 1] - last[:, 0], rate, rtol=1e-9)
    assert_allclose(last[:, 2] - last[:, 0], 900.0 * rate, rtol=1e-9)


def test_effects_add_up_to_the_intensity(fleet):
    values = np.array([0.0, 0.37, 0.6, 1.0])
    X = np.repeat(CORNERS, 2, axis=0)
    added = sum(fleet.truth.effect(sensor, values, X) for sensor in range(3))
    expected = [0.1 * law([values] * 3) for law in REGIONS for _ in range(2)]
    assert_allclose(added, expected)


def test_effects_of_the_simulated_are_those_of_their_regions(fleet):
    assert_array_equal(
        fleet.truth.effect(0, [0.5, 0.9]), fleet.truth.effect(0, [0.5, 0.9], fleet.X)
    )


@pytest.mark.slow
def test_truth_of_the_simulated_is_that_of_their_features(fleet):
    times = [10.0, 100.0]
    assert_array_equal(fleet.truth(times), fleet.truth(times, X=fleet.X))
    assert_array_equal(fleet.truth.intensity(times), fleet.truth.intensity(times, fleet.X))


def test_only_coordinates_matter(fleet):
    other = fleet.X.copy()
    other[:, 2:] = 0.5
    assert_array_equal(fleet.truth(50.0, X=other), fleet.truth(50.0))


@pytest.mark.parametrize("region", range(4))
@pytest.mark.parametrize("time", [15.0, 100.0])
def test_counts_have_the_true_mean_and_a_poisson_variance(fleet, region, time):
    y, regions = fleet.y, fleet.truth.region()
    everybody, stops = np.arange(len(y)), np.minimum(y.end, time)
    expected = fleet.truth.totals(everybody, stops, regions)[regions == region]
    counts = np.bincount(y.event_owner[y.times <= time], minlength=len(y))
    error = counts[regions == region] - expected
    assert abs(error.sum()) < 4.0 * np.sqrt(expected.sum())
    excess = error**2 / expected - 1.0
    assert abs(excess.sum()) < 4.0 * np.sqrt((2.0 + 1.0 / expected).sum())


def test_totals_are_the_truth_at_individual_times():
    simulation = wells(n=40)
    end, truth = simulation.y.end, simulation.truth
    totals = truth.totals(np.arange(40), end, truth.region())
    assert_array_equal(totals, np.diag(truth(end)))


def test_time_change_makes_events_uniform():
    """Given their number, cumulative intensities at the events are uniform."""
    simulation = wells(n=300, random_state=8, end=100.0)
    y = simulation.y
    at_events = simulation.truth(y.times)[y.event_owner, np.arange(y.times.size)]
    share = at_events / simulation.truth(100.0).ravel()[y.event_owner]
    counts = np.histogram(share, bins=10, range=(0.0, 1.0))[0]
    expected = share.size / 10
    assert ((counts - expected) ** 2 / expected).sum() < 27.9  # 99.9 % of chi-squared, 9


def test_sensors_have_the_promised_samples(fleet):
    paths = fleet.truth.paths
    counts = np.bincount(paths.owner)
    assert counts.min() == 30
    assert counts.max() == 80
    assert_array_equal(paths.times[np.unique(paths.first)], 0.0)
    assert np.all(np.diff(paths.times)[np.diff(paths.owner) == 0] > 0.0)
    assert paths.times.max() < 100.0
    assert paths.values.min() == 0.0
    assert paths.values.max() == 1.0


def test_noise_forgets_within_days(fleet):
    """Differences of neighbouring samples show the noise; season and level are smooth."""
    paths = fleet.truth.paths
    inside = np.all((paths.values > 0.0) & (paths.values < 1.0), axis=0)
    pairs = (np.diff(paths.owner) == 0) & inside[1:] & inside[:-1]
    gaps, steps = np.diff(paths.times)[pairs], np.diff(paths.values, axis=1)[:, pairs]
    for low, high in [(0.1, 0.3), (0.5, 1.0)]:
        near = (gaps > low) & (gaps < high)
        expected = (2.0 * 0.01 * (1.0 - np.exp(-gaps[near] / 5.0))).mean()
        assert (steps[:, near] ** 2).mean() == pytest.approx(expected, rel=0.12)


def test_trajectories_follow_the_lines_in_pieces_of_half_a_day():
    simulation = wells(n=20)
    for row, Z in enumerate(simulation.Z):
        times, values = samples_of(simulation, row)
        middle = Z.times[:-1] + 0.5 * np.diff(Z.times)
        expected = [np.interp(middle, times, sensor) for sensor in values]
        assert np.diff(Z.times).max() <= 0.5 + 1e-9
        assert_allclose(Z.values[:, :-1], expected, atol=1e-9)
        assert_array_equal(Z.values[:, -1], values[:, -1])


def test_sensors_are_numbered():
    assert wells(n=1, n_sensors=4).Z.names == ("sensor1", "sensor2", "sensor3", "sensor4")


def test_samples_can_be_held_until_the_next():
    linear, held = wells(n=30), wells(n=30, interpolation="last")
    assert_array_equal(held.Z.times, held.truth.paths.times)
    assert_array_equal(held.Z.values, held.truth.paths.values)
    assert_array_equal(held.y.times, linear.y.times)
    assert_array_equal(held.truth(50.0), linear.truth(50.0))


def test_other_interpolations_are_refused():
    with pytest.raises(InvalidParameterError, match="`interpolation` must"):
        wells(n=2, interpolation="cubic")


def test_further_sensors_change_nothing_else():
    three, six = wells(n=200, n_sensors=3), wells(n=200, n_sensors=6)
    assert_array_equal(three.X, six.X)
    assert_array_equal(three.y.end, six.y.end)
    assert_array_equal(three.y.times, six.y.times)
    assert_array_equal(three.y.event_offsets, six.y.event_offsets)
    assert_array_equal(three.truth.paths.times, six.truth.paths.times)
    assert_array_equal(three.truth.paths.values, six.truth.paths.values[:3])
    assert six.Z.select(three.Z.names).equals(three.Z)
    assert_array_equal(three.truth([20.0, 80.0]), six.truth([20.0, 80.0]))
    assert_array_equal(six.truth.effect(4, [0.5]), 0.0)


@pytest.mark.parametrize("n_sensors", [1, 2])
def test_missing_sensors_have_no_effect(n_sensors):
    few, three = wells(n=50, n_sensors=n_sensors), wells(n=50)
    everywhere = [few.truth.effect(sensor, 0.3, CORNERS) for sensor in range(n_sensors)]
    expected = [three.truth.effect(sensor, 0.3, CORNERS) for sensor in range(n_sensors)]
    assert_array_equal(everywhere, expected)
    assert_allclose(few.truth(10.0)[few.truth.region() == 2], 0.05)
    assert set(few.y.times) < set(three.y.times)


def test_the_same_seed_gives_the_same_fleet():
    first, second = wells(n=30, random_state=5), wells(n=30, random_state=5)
    assert_array_equal(first.X, second.X)
    assert_array_equal(first.y.times, second.y.times)
    assert_array_equal(first.truth.paths.values, second.truth.paths.values)


def test_a_generator_is_used_as_it_stands():
    rng = np.random.default_rng(0)
    first, second = wells(n=5, random_state=rng), wells(n=5, random_state=rng)
    assert np.all(first.X != second.X)


def test_a_common_end_is_kept():
    simulation = wells(n=20, end=60.0)
    assert_array_equal(simulation.y.end, 60.0)
    assert simulation.horizon == 60.0


def test_unsorted_times_keep_their_columns(fleet):
    sorted_curves = fleet.truth([10.0, 50.0, 90.0])
    assert_array_equal(fleet.truth([90.0, 10.0, 50.0]), sorted_curves[:, [2, 0, 1]])


@pytest.mark.parametrize("n_sensors", [0, -1, 2.5, True])
def test_impossible_numbers_of_sensors_are_refused(n_sensors):
    with pytest.raises(InvalidParameterError, match="`n_sensors` must"):
        wells(n=2, n_sensors=n_sensors)


@pytest.mark.parametrize("sensor", [3, -1, "sensor1"])
def test_effects_of_sensors_that_are_not_there_are_refused(sensor):
    with pytest.raises(InvalidParameterError, match="from 0 to 2"):
        wells(n=2).truth.effect(sensor, 0.5)


def test_truth_refuses_other_individuals():
    with pytest.raises(InvalidFeaturesError, match="must have 3 rows, but it has 4"):
        wells(n=3).truth(1.0, X=CORNERS)


def test_truth_refuses_features_without_coordinates():
    with pytest.raises(InvalidFeaturesError, match="needs 2 features"):
        wells(n=2).truth(1.0, X=[[1.0], [2.0]])
