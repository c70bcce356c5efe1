import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import kstest

from boostr.data import RecurrentEvents
from boostr.datasets import load_valve_seats
from boostr.exceptions import InvalidEventsError, InvalidParameterError, TargetTypeError
from boostr.nonparametric import laplace_test, mil_hdbk_189_test

TESTS = [laplace_test, mil_hdbk_189_test]


def draw_power_law(rng, exponent, n=20, start=0.0):
    """Counts differ between individuals; times follow t ** exponent since the start."""
    lengths = rng.uniform(5.0, 20.0, n)
    counts = rng.poisson(lengths * rng.gamma(2.0, 0.1, n))
    times = [
        start + length * (1.0 - rng.random(k)) ** (1.0 / exponent)
        for length, k in zip(lengths, counts, strict=True)
    ]
    return RecurrentEvents.from_lists(times, start=start, end=start + lengths)


def stop_at_last_event(rng, n=20):
    """Homogeneous Poisson processes, each stopped at its fifth event."""
    times = np.cumsum(rng.exponential(rng.gamma(2.0, 1.0, (n, 1)), (n, 5)), axis=1)
    return RecurrentEvents.from_lists(list(times), end=times[:, -1])


def test_the_example_of_the_nist_handbook():
    # NIST/SEMATECH e-Handbook of Statistical Methods, section 8.2.3.4: ten repairs in 1500
    # hours, chi-squared 37.23 with 20 degrees of freedom.
    repairs = [5, 40, 43, 175, 389, 712, 747, 795, 1299, 1478]
    y = RecurrentEvents.from_lists([repairs], end=[1500.0])
    result = mil_hdbk_189_test(y)
    assert (round(result.statistic, 2), result.df) == (37.23, 20)
    assert result.trend == "falling"
    # The sum of the times is 5683, ten middles are 7500, and 1500 sqrt(10 / 12) = 1369.31.
    assert laplace_test(y).statistic == pytest.approx((5683 - 7500) / 1369.30639)


def test_individuals_are_pooled_about_their_own_middles():
    y = RecurrentEvents.from_lists([[6.0, 7.0], [1.0], []], end=[10.0, 4.0, 9.0])
    spread = np.sqrt((2 * 10.0**2 + 4.0**2) / 12)
    assert laplace_test(y).statistic == pytest.approx((1.0 + 2.0 - 1.0) / spread)
    logs = np.log(10 / 6) + np.log(10 / 7) + np.log(4)
    assert mil_hdbk_189_test(y).statistic == pytest.approx(2 * logs)
    assert mil_hdbk_189_test(y).n_events == 3


def test_p_values_are_two_sided():
    y = RecurrentEvents.from_lists([[6.0, 7.0, 8.0]], end=[10.0])
    assert laplace_test(y).pvalue == pytest.approx(0.230139340)
    y = RecurrentEvents.from_lists([[1.0, 5.0]], end=[10.0])
    # Chi-squared with 4 degrees of freedom beyond x has probability exp(-x/2) (1 + x/2).
    half = np.log(20.0)
    assert mil_hdbk_189_test(y).pvalue == pytest.approx(2 * np.exp(-half) * (1 + half))


@pytest.mark.parametrize("test", TESTS)
def test_an_event_at_the_very_end_only_sets_the_length(test):
    stopped = RecurrentEvents.from_lists([[1.0, 5.0, 10.0]], end=[10.0])
    watched = RecurrentEvents.from_lists([[1.0, 5.0]], end=[10.0])
    assert test(stopped).statistic == pytest.approx(test(watched).statistic)
    assert test(stopped).n_events == 2
    assert test(stopped, truncation="time").n_events == 3


@pytest.mark.parametrize("test", TESTS)
def test_failure_truncation_ends_at_the_last_event(test):
    y = RecurrentEvents.from_lists([[1.0, 5.0, 8.0], []], end=[10.0, 3.0])
    cut = RecurrentEvents.from_lists([[1.0, 5.0]], end=[8.0])
    result = test(y, truncation="failure")
    assert result.statistic == pytest.approx(test(cut).statistic)


@pytest.mark.parametrize("test", TESTS)
def test_only_time_under_observation_counts(test):
    table = pd.DataFrame(
        [(0, 5, 7, 1), (0, 7, 9, 0), (0, 20, 21, 1), (0, 21, 26, 1)],
        columns=["id", "start", "stop", "event"],
    )
    y = RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")
    # Windows (5, 9] and (20, 26] put together: events at 2, 5 and 10 of 10.
    whole = RecurrentEvents.from_lists([[2.0, 5.0, 10.0]], end=[10.0])
    for truncation in ("auto", "time", "failure"):
        found = test(y, truncation=truncation).statistic
        assert found == pytest.approx(test(whole, truncation=truncation).statistic)


@pytest.mark.parametrize("test", TESTS)
def test_an_event_where_one_window_stops_and_is_far_from_the_next(test):
    table = pd.DataFrame(
        [(0, 0, 4, 1), (0, 6, 10, 1), (0, 10, 12, 0), (1, 0, 3, 0)],
        columns=["id", "start", "stop", "event"],
    )
    y = RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")
    whole = RecurrentEvents.from_lists([[4.0, 8.0], []], end=[10.0, 3.0])
    assert test(y).statistic == pytest.approx(test(whole).statistic)


@pytest.mark.parametrize("test", TESTS)
def test_unit_and_origin_of_time_do_not_matter(test, rng):
    y = draw_power_law(rng, 1.5)
    moved = RecurrentEvents.from_lists(
        [24.0 * own.times + 7.0 for own in y], start=7.0, end=24.0 * y.end + 7.0
    )
    assert test(moved).statistic == pytest.approx(test(y).statistic)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("start", [0.0, 3.0])
def test_constant_rates_give_uniform_p_values(test, start):
    rng = np.random.default_rng(11)
    found = [test(draw_power_law(rng, 1.0, start=start)).pvalue for _ in range(300)]
    assert kstest(found, "uniform").pvalue > 0.05


@pytest.mark.parametrize("test", TESTS)
def test_stopping_at_the_last_event_gives_uniform_p_values(test):
    rng = np.random.default_rng(12)
    found = [test(stop_at_last_event(rng)).pvalue for _ in range(300)]
    assert kstest(found, "uniform").pvalue > 0.05


@pytest.mark.parametrize("test", TESTS)
def test_power_rises_with_the_trend(test):
    rng = np.random.default_rng(13)
    power = [
        np.mean([test(draw_power_law(rng, exponent)).pvalue < 0.05 for _ in range(100)])
        for exponent in (1.0, 1.4, 2.0)
    ]
    assert power[0] < 0.12 < power[1] < power[2]
    assert power[2] > 0.9


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(("exponent", "trend"), [(0.5, "falling"), (2.0, "rising")])
def test_the_direction_is_named(test, exponent, trend, rng):
    assert test(draw_power_law(rng, exponent, n=100)).trend == trend


def test_the_statistic_estimates_the_exponent(rng):
    result = mil_hdbk_189_test(draw_power_law(rng, 1.7, n=2000))
    assert result.df / result.statistic == pytest.approx(1.7, rel=0.05)


def test_valve_seats_wear_out():
    y = load_valve_seats().y
    middle, squares = 0.0, 0.0
    for own in y:
        middle += sum(own.times - own.end / 2)
        squares += len(own.times) * float(own.end[0]) ** 2 / 12
    result = laplace_test(y)
    assert_allclose(result.statistic, middle / np.sqrt(squares))
    assert (result.trend, result.n_events) == ("rising", 48)
    assert result.pvalue < 0.02
    assert mil_hdbk_189_test(y).pvalue < 0.02


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("events", [[[], []], [[4.0], []]])
def test_events_that_tell_nothing_are_refused(test, events):
    y = RecurrentEvents.from_lists(events, end=4.0)
    with pytest.raises(InvalidEventsError, match="at least one event that did not end"):
        test(y)


@pytest.mark.parametrize("test", TESTS)
def test_an_unknown_truncation_is_refused(test):
    y = RecurrentEvents.from_lists([[1.0]], end=4.0)
    with pytest.raises(InvalidParameterError, match="`truncation` must be 'auto'"):
        test(y, truncation="random")


@pytest.mark.parametrize("test", TESTS)
def test_a_target_of_another_type_is_refused(test):
    with pytest.raises(TargetTypeError, match="but it is a list"):
        test([[1.0]])
