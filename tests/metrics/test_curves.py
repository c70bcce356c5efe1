import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.histories import AWKWARD, histories
from tests.metrics.scenes import make_events

from boostr import simulate
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.metrics import (
    integrated_count_error,
    integrated_squared_error,
    observed_l2,
    skill_score,
)
from boostr.nonparametric import MeanCumulativeFunction

GRID = np.array([0.0, 1.0, 2.5, 4.0, 7.0, 10.0])


@pytest.fixture(scope="module")
def fleet():
    return simulate.dataset_a(n=60, random_state=4, end=(20.0, 100.0)).y


# --- Against the truth


def test_simulations_offer_the_error_too():
    assert simulate.integrated_squared_error is integrated_squared_error


# --- Against what was observed


def test_distance_of_a_line_from_one_event_by_hand():
    # N - t is -t until the event at 1, then 1 - t: two parabolas of 1/3 each.
    y = RecurrentEvents.from_lists([[1.0]], end=[2.0])
    assert observed_l2(y, [[0.0, 2.0]], [0.0, 2.0]) == pytest.approx(2.0 / 3.0)


def test_counts_and_curves_rest_in_gaps():
    # Two windows of length 1, an event at the end of the first: then N = 1, mu = 0.
    y = make_events([([(0.0, 1.0), (5.0, 6.0)], [1.0], [1.0])])
    flat_but_in_the_gap = [[0.0, 0.0, 9.0, 9.0]]
    assert observed_l2(y, flat_but_in_the_gap, [0.0, 1.0, 5.0, 6.0]) == 1.0


def test_a_late_comer_is_compared_from_its_entry_on():
    y = RecurrentEvents.from_lists([[]], start=[4.0], end=[5.0])
    curve = [[0.0, 8.0, 8.0]]
    assert observed_l2(y, curve, [0.0, 4.0, 5.0]) == 0.0


@given(histories(), st.lists(st.integers(0, 4), min_size=6, max_size=6))
def test_distance_is_that_of_quadrature(history, steps):
    curve = np.cumsum(steps).astype(float)
    value = observed_l2(make_events([history]), curve[np.newaxis], GRID)
    assert value == pytest.approx(oracles.squared_gap(history, GRID, curve), abs=1e-8)


def test_the_distance_is_averaged_with_weights():
    y = make_events([AWKWARD, ([(0.0, 4.0)], [2.0], [1.0])])
    curves = np.array([GRID, 0.5 * GRID])
    each = [observed_l2(y[i], curves[[i]], GRID) for i in (0, 1)]
    value = observed_l2(y, curves, GRID, sample_weight=[1.0, 3.0])
    assert value == pytest.approx((each[0] + 3.0 * each[1]) / 4.0)


def test_times_must_cover_the_follow_up(fleet):
    with pytest.raises(InvalidParameterError, match=r"from 0 to 9.* but .* from 0 to 50"):
        observed_l2(fleet, np.zeros((60, 2)), [0.0, 50.0])


@pytest.mark.parametrize("times", [[1.0], [0.0, 0.0], [[0.0, 1.0]]])
def test_times_must_increase(times, fleet):
    with pytest.raises(InvalidParameterError, match="increasing"):
        observed_l2(fleet, np.zeros((60, 2)), times)


def test_curves_need_a_row_each_and_a_column_per_time(fleet):
    with pytest.raises(InvalidParameterError, match=r"\(60, 3\) for 60 .* at 2 times"):
        observed_l2(fleet, np.zeros((60, 3)), [0.0, 100.0])


def test_missing_curves_are_named(fleet):
    curves = np.zeros((60, 2))
    curves[[3, 8], 1] = np.nan
    with pytest.raises(InvalidParameterError, match=r"2 of 60 individuals \(rows 3, 8\)"):
        observed_l2(fleet, curves, [0.0, 100.0])


# --- Weighted for censoring


def test_events_count_the_inverse_share_of_those_observed():
    # At 3 half are left: the event there counts 2, squared over one unit of time.
    y = RecurrentEvents.from_lists([[], [3.0]], end=[2.0, 4.0])
    assert integrated_count_error(y, np.zeros((2, 2)), [0.0, 4.0]) == 2.0


def test_without_censoring_it_is_the_distance_from_what_was_observed():
    y = simulate.dataset_a(n=30, random_state=4).y
    curves = np.linspace(0.0, 1.0, 30)[:, np.newaxis] * np.linspace(0.0, 9.0, 11)
    times = np.linspace(0.0, 100.0, 11)
    assert integrated_count_error(y, curves, times) == pytest.approx(
        observed_l2(y, curves, times)
    )


def test_counts_start_with_the_first_time():
    y = RecurrentEvents.from_lists([[1.0, 3.0]], end=[4.0])
    assert integrated_count_error(y, [[5.0, 5.0]], [2.0, 4.0]) == 1.0


def test_late_comers_make_up_for_each_other():
    # One is observed at a time, so every event counts twice.
    y = RecurrentEvents.from_lists([[1.0], [3.0]], start=[0.0, 2.0], end=[2.0, 4.0])
    value = integrated_count_error(y, np.zeros((2, 2)), [0.0, 4.0])
    assert value == pytest.approx(0.5 * (4.0 * 3.0 + 4.0 * 1.0))


def test_a_weight_of_two_is_the_individual_twice(fleet, rng):
    times = np.linspace(0.0, 90.0, 10)
    curves = rng.random((60, 1)) * times
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    twice = np.concatenate([np.arange(60), np.arange(20)])
    assert_allclose(
        integrated_count_error(fleet, curves, times, sample_weight=weights),
        integrated_count_error(fleet[twice], curves[twice], times),
    )


def test_a_weight_of_zero_leaves_out(fleet, rng):
    times, kept = np.linspace(0.0, 90.0, 10), np.arange(60) % 2 == 0
    curves = rng.random((60, 1)) * times
    assert_allclose(
        skill_score(fleet, curves, times, sample_weight=kept.astype(float)),
        skill_score(fleet[kept], curves[kept], times),
    )


@pytest.mark.parametrize(
    ("times", "hole"), [([1.0, 6.0], "5 and 6"), ([0.0, 2.0], "0 and 1")]
)
def test_an_individual_must_be_observed_at_any_time(times, hole):
    y = RecurrentEvents.from_lists([[], [4.5]], start=[1.0, 2.0], end=[3.0, 5.0])
    with pytest.raises(InvalidEventsError, match=f"none is between {hole}"):
        integrated_count_error(y, np.zeros((2, 2)), times)


# --- Skill


def test_the_mean_cumulative_function_has_no_skill(fleet):
    times = np.linspace(0.0, 90.0, 200)
    mean = MeanCumulativeFunction().fit(fleet).predict(times)
    assert skill_score(fleet, np.tile(mean, (60, 1)), times) == pytest.approx(
        0.0, abs=1e-12
    )


def test_no_other_single_curve_has_more_skill(fleet, rng):
    times = np.linspace(0.0, 90.0, 200)
    mean = MeanCumulativeFunction().fit(fleet).predict(times)
    for _ in range(5):
        other = mean + rng.normal(scale=0.2, size=times.size)
        assert skill_score(fleet, np.tile(other, (60, 1)), times) < 0.0


def test_another_reference_may_be_given(fleet):
    times = np.linspace(0.0, 90.0, 10)
    curves = np.tile(0.05 * times, (60, 1))
    assert skill_score(fleet, curves, times, reference=curves[0]) == pytest.approx(0.0)
    with pytest.raises(InvalidParameterError, match="reference"):
        skill_score(fleet, curves, times, reference=[1.0])


def test_without_events_there_is_no_skill_to_have():
    y = RecurrentEvents.from_lists([[], []], end=3.0)
    with pytest.raises(InvalidEventsError, match="between 0 and 3"):
        skill_score(y, np.zeros((2, 2)), [0.0, 3.0])
