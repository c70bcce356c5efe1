import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.exceptions import InvalidFeaturesError, InvalidParameterError
from boostr.simulate import dataset_a, dataset_b, dataset_c, dataset_d

SIMULATORS = [dataset_a, dataset_b, dataset_c, dataset_d]


def count_by(y, time):
    return np.bincount(y.event_owner[y.times <= time], minlength=len(y))


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("share", [0.25, 1.0])
def test_counts_have_the_true_mean_and_a_poisson_variance(simulator, share):
    simulation = simulator(n=20_000, random_state=3)
    time = share * simulation.horizon
    expected = simulation.truth(time).ravel()
    error = (count_by(simulation.y, time) - expected) / np.sqrt(expected)
    assert abs(error.mean()) < 4.0 / np.sqrt(error.size)
    assert error.var() == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize(
    ("simulator", "n", "n_features", "horizon"),
    [
        (dataset_a, 200, 2, 100.0),
        (dataset_b, 200, 10, 100.0),
        (dataset_c, 1000, 2, 50.0),
        (dataset_d, 1000, 2, 100.0),
    ],
)
def test_defaults_are_those_of_the_paper(simulator, n, n_features, horizon):
    simulation = simulator()
    assert simulation.X.shape == (n, n_features)
    assert len(simulation.y) == n
    assert simulation.horizon == horizon
    assert_array_equal(simulation.y.end, horizon)


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_same_seed_gives_the_same_data(simulator):
    first, second = simulator(n=30, random_state=5), simulator(n=30, random_state=5)
    assert_array_equal(first.X, second.X)
    assert_array_equal(first.y.times, second.y.times)


def test_a_generator_is_used_as_it_stands():
    rng = np.random.default_rng(0)
    first, second = dataset_a(n=5, random_state=rng), dataset_a(n=5, random_state=rng)
    assert np.all(first.X != second.X)


def test_noise_features_change_neither_events_nor_truth():
    plain, noisy = dataset_a(random_state=7), dataset_b(random_state=7)
    shuffled = noisy.X.copy()
    shuffled[:, 2:] = shuffled[::-1, 2:]
    times = [10.0, 100.0]
    assert_array_equal(plain.y.times, noisy.y.times)
    assert_array_equal(noisy.truth(times, X=shuffled), plain.truth(times))


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_staggered_ends_lie_between_their_bounds(simulator):
    simulation = simulator(n=500, end=(10.0, 20.0))
    y = simulation.y
    assert y.end.min() >= 10.0
    assert y.end.max() <= 20.0
    assert np.ptp(y.end) > 9.0
    assert simulation.horizon == 20.0
    assert np.all(y.times <= y.end[y.event_owner])


def test_counts_with_staggered_ends_agree_with_the_truth_at_each_end():
    simulation = dataset_c(n=20_000, end=(5.0, 50.0))
    expected = simulation.truth(1.0).ravel() * np.sqrt(simulation.y.end)
    error = simulation.y.n_events - expected
    assert abs(error.mean()) < 4.0 * error.std() / np.sqrt(error.size)


def test_dataset_a_is_constant_in_quadrants():
    X = [[0.5, 0.5], [0.5, 0.51], [0.51, 0.5], [0.51, 0.51]]
    truth = dataset_a(n=1).truth(100.0, X=X).ravel()
    assert_allclose(truth, [1.0, 5.0, 5.0, 10.0])


def test_dataset_c_is_constant_in_rings():
    X = [[0.5, 0.69], [0.5, 0.71], [0.11, 0.5], [0.09, 0.5]]
    assert_allclose(dataset_c(n=1).truth(4.0, X=X).ravel(), [6.0, 4.0, 4.0, 2.0])


@pytest.mark.parametrize(
    ("simulator", "intensity"),
    [
        (dataset_c, lambda t: 1.5 * t**-0.5),
        (dataset_d, lambda t: 0.01 * t**0.5 * np.exp(0.5 * 0.01 + 2.0 * 0.0025)),
    ],
)
def test_slope_of_the_truth_is_the_intensity_of_the_paper(simulator, intensity):
    times = np.array([5.0, 20.0, 45.0])
    truth, X = simulator(n=1).truth, [[0.6, 0.45]]
    slope = (truth(times + 1e-4, X=X) - truth(times - 1e-4, X=X)) / 2e-4
    assert_allclose(slope[0], intensity(times), rtol=1e-6)


@pytest.mark.parametrize("end", [0.0, (5.0, 1.0), (1.0, 2.0, 3.0), float("nan")])
def test_impossible_ends_are_refused_with_a_hint(end):
    with pytest.raises(InvalidParameterError, match="Hint:"):
        dataset_a(end=end)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_impossible_sizes_are_refused(n):
    with pytest.raises(InvalidParameterError, match="at least 1"):
        dataset_a(n=n)


def test_truth_refuses_features_of_another_shape():
    with pytest.raises(InvalidFeaturesError, match=r"needs 2 features"):
        dataset_a(n=2).truth(1.0, X=[[1.0], [2.0]])


def test_truth_refuses_negative_times():
    with pytest.raises(InvalidParameterError, match=r"not negative, got -1\.0"):
        dataset_a(n=2).truth([-1.0, 1.0])
