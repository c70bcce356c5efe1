import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.linalg import expm

from boostr.exceptions import InvalidFeaturesError, InvalidParameterError
from boostr.simulate import kelly

GROUPS = [
    [x1, x2, treated] for x1 in (0.2, 0.7) for x2 in (0.2, 0.7) for treated in (0.0, 1.0)
]


def birth_rates(x1, x2, treated):
    """Rates before the 1st, 2nd, 3rd and all later events, from the paper's list."""
    effects = {
        (False, False): [-1.0, 0.0, 0.0, 0.0],
        (False, True): [-1.0, -1.0, 0.0, 0.0],
        (True, False): [-1.0, -1.0, -1.0, 0.0],
        (True, True): [-1.0, -1.0, -1.0, -1.0],
    }[x1 >= 0.5, x2 >= 0.5]
    return np.exp(-3.76 + np.array(effects) * treated)


def expected_events(time, rates):
    """Solve the birth process: states 0, 1, 2, 3 and more, and the expected count."""
    generator = np.zeros((5, 5))
    for state in range(3):
        generator[state, state] = -rates[state]
        generator[state, state + 1] = rates[state]
    generator[:4, 4] = rates
    return expm(time * generator)[0, 4]


@pytest.mark.parametrize("features", GROUPS)
def test_truth_without_random_effect_solves_the_birth_process(features):
    truth = kelly(n=1, sigma=0.0).truth([0.0, 50.0, 120.0, 240.0], X=[features])
    rates = birth_rates(*features)
    expected = [expected_events(time, rates) for time in (0.0, 50.0, 120.0, 240.0)]
    assert_allclose(truth[0], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sigma", [0.1, 0.4])
@pytest.mark.parametrize("features", GROUPS[1::2])
def test_truth_averages_over_the_random_effect(features, sigma):
    rates = birth_rates(*features)

    def weighted(v):
        density = np.exp(-0.5 * (v / sigma) ** 2) / (sigma * np.sqrt(2.0 * np.pi))
        return expected_events(120.0, np.exp(v) * rates) * density

    averaged = quad(weighted, -9.0 * sigma, 9.0 * sigma, epsabs=1e-9)[0]
    truth = kelly(n=1, sigma=sigma).truth(120.0, X=[features])
    assert truth.item() == pytest.approx(averaged, abs=1e-7)


@pytest.mark.parametrize("sigma", [0.0, 0.4])
@pytest.mark.parametrize("time", [60.0, 120.0, 240.0])
def test_complete_histories_have_the_true_mean_in_every_group(sigma, time):
    simulation = kelly(n=40_000, sigma=sigma, random_state=11)
    complete = simulation.complete
    counts = np.bincount(complete.event_owner[complete.times <= time], minlength=40_000)
    expected = simulation.truth(time).ravel()
    for value in np.unique(expected):
        error = (counts - expected)[expected == value]
        assert abs(error.mean()) < 4.0 * error.std() / np.sqrt(error.size)


def test_follow_up_stops_at_the_fourth_event_or_the_end():
    simulation = kelly(n=2000)
    y, complete = simulation.y, simulation.complete
    for row in range(200):
        everything = complete.times[complete.event_owner == row]
        seen = everything[everything <= 120.0][:4]
        assert_array_equal(y.times[y.event_owner == row], seen)
        assert y.end[row] == (seen[-1] if seen.size == 4 else 120.0)
    assert y.n_events.max() == 4


def test_without_a_limit_everybody_is_followed_to_the_end():
    simulation = kelly(n=500, max_events=None)
    assert_array_equal(simulation.y.end, 120.0)
    assert simulation.y.n_events.max() > 4


def test_exactly_half_are_treated():
    assert kelly(n=1000).X[:, 2].sum() == 500


def test_share_of_treated_can_be_chosen():
    assert kelly(n=10, treated_share=0.3).X[:, 2].sum() == 3


def test_the_same_seed_gives_the_same_trial():
    first, second = kelly(n=50, random_state=4), kelly(n=50, random_state=4)
    assert_array_equal(first.X, second.X)
    assert_array_equal(first.complete.times, second.complete.times)


def test_complete_histories_run_twice_as_long():
    simulation = kelly(n=20, end=60.0)
    assert simulation.horizon == 60.0
    assert_array_equal(simulation.complete.end, 120.0)


@pytest.mark.parametrize(
    "wrong",
    [{"sigma": -0.1}, {"end": 0.0}, {"max_events": 0}, {"treated_share": 1.5}],
)
def test_impossible_trials_are_refused_by_name(wrong):
    with pytest.raises(InvalidParameterError, match=f"`{next(iter(wrong))}` must"):
        kelly(**wrong)


def test_truth_needs_to_know_who_is_treated():
    with pytest.raises(InvalidFeaturesError, match="needs 3 features"):
        kelly(n=2).truth(1.0, X=[[0.1, 0.2]])
