import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.engine.histories import AWKWARD
from tests.metrics.scenes import make_events

from boostr import simulate
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.metrics import (
    brier_score,
    expected_counts,
    point_process_log_likelihood,
    poisson_deviance,
    window_count_error,
)

MACHINES = RecurrentEvents.from_lists([[1.0, 3.0], [4.0], [1.0]], end=[5.0, 5.0, 2.0])


@pytest.fixture(scope="module")
def fleet():
    return simulate.dataset_a(n=60, random_state=4, end=(20.0, 100.0)).y


# --- Expected counts


def test_expected_counts_of_a_line_are_the_time_observed():
    y = make_events([AWKWARD, ([(1.0, 2.0)], [], [])])
    assert_allclose(expected_counts(y, [[0.0, 8.0]] * 2, [0.0, 8.0]), y.follow_up)


def test_expected_counts_can_be_narrowed_to_a_window():
    y = make_events([AWKWARD, ([(1.0, 2.0)], [], [])])
    line = [[0.0, 8.0]] * 2
    assert_allclose(expected_counts(y, line, [0.0, 8.0], start=1.5, stop=4.0), [1.0, 0.5])
    assert_allclose(
        expected_counts(y, line, [0.0, 8.0], start=[1.5, 5.0], stop=[4.0, 6.0]), [1.0, 0.0]
    )


def test_only_what_is_looked_at_must_be_covered():
    line = [[0.0, 4.0]] * 3
    assert_allclose(expected_counts(MACHINES, line, [0.0, 4.0], stop=4.0), [4.0, 4.0, 2.0])
    with pytest.raises(InvalidParameterError, match="from 0 to 5"):
        expected_counts(MACHINES, line, [0.0, 4.0])


# --- Squared errors


def test_those_who_leave_before_the_stop_are_left_out():
    # Of the first two one and two events in (0, 4], of the third nobody knows.
    assert window_count_error(MACHINES, [1.0, 3.0, 99.0], 0.0, 4.0) == 2.5


def test_an_event_at_the_start_is_not_in_the_window():
    assert window_count_error(MACHINES, [1.0, 1.0, 0.0], 1.0, 5.0) == 0.0


def test_windows_may_differ():
    error = window_count_error(MACHINES, [0.0, 0.0, 1.0], [3.0, 0.0, 0.0], [5.0, 3.0, 2.0])
    assert error == 0.0


def test_a_gap_in_the_window_leaves_out():
    y = make_events([([(0.0, 1.0), (2.0, 5.0)], [], []), ([(0.0, 5.0)], [3.0], [2.0])])
    assert window_count_error(y, [9.0, 1.0], 0.0, 4.0) == 1.0


def test_weights_bring_in_those_who_left():
    # At 1 all three are observed, at 3 and 4 two of them: these events count 1.5 each.
    error = window_count_error(MACHINES, [2.5, 1.5, 1.0], 0.0, 4.0, weights="ipcw")
    assert error == pytest.approx(0.0)


def test_errors_are_averaged_with_weights():
    error = window_count_error(MACHINES, [1.0, 3.0, 0.0], 0.0, 4.0, sample_weight=[1, 3, 1])
    assert error == pytest.approx((1.0 + 3.0 * 4.0) / 4.0)


def test_windows_that_no_individual_covers_are_refused():
    with pytest.raises(InvalidEventsError, match="none of 3 is"):
        window_count_error(MACHINES, np.zeros(3), 0.0, 6.0)
    with pytest.raises(InvalidEventsError, match="none is between 5 and 6"):
        window_count_error(MACHINES, np.zeros(3), 0.0, 6.0, weights="ipcw")


@pytest.mark.parametrize(
    ("start", "stop", "message"),
    [
        (2.0, 2.0, "stop after it starts"),
        ([0.0, 1.0], 2.0, "`start` must be one time or one per individual"),
        (0.0, np.nan, "`stop` must be one time or one per individual"),
    ],
)
def test_impossible_windows_are_refused(start, stop, message):
    with pytest.raises(InvalidParameterError, match=message):
        window_count_error(MACHINES, np.zeros(3), start, stop)


# --- Deviance


def test_deviance_of_right_numbers_is_zero():
    assert poisson_deviance(MACHINES, [2.0, 1.0, 1.0]) == 0.0


def test_deviance_by_hand():
    expected = 2.0 * (2.0 * np.log(2.0) - 1.0) / 3.0
    assert poisson_deviance(MACHINES, [1.0, 1.0, 1.0]) == pytest.approx(expected)


def test_deviance_counts_in_the_window_only():
    assert poisson_deviance(MACHINES, [1.0, 1.0, 0.0], start=1.0, stop=4.0) == 0.0


def test_an_event_where_none_is_expected_costs_infinitely_much():
    assert poisson_deviance(MACHINES, [2.0, 1.0, 0.0]) == np.inf


def test_unless_its_weight_is_zero():
    assert poisson_deviance(MACHINES, [2.0, 1.0, 0.0], sample_weight=[1, 1, 0]) == 0.0


def test_negative_expectations_are_named():
    with pytest.raises(InvalidParameterError, match=r"1 of 3 individuals \(rows 2\)"):
        poisson_deviance(MACHINES, [2.0, 1.0, -1.0])


# --- Likelihood


def test_likelihood_by_hand():
    value = point_process_log_likelihood(MACHINES, [5.0, 5.0, 2.0], np.ones(4))
    assert value == pytest.approx(-4.0)


def test_constant_rates_differ_as_their_deviances_do(fleet, rng):
    rates = rng.uniform(0.01, 0.1, (2, 60))
    expected = rates * fleet.follow_up
    likelihoods = [
        point_process_log_likelihood(fleet, e, r[fleet.event_owner])
        for e, r in zip(expected, rates, strict=True)
    ]
    deviances = [poisson_deviance(fleet, e) for e in expected]
    assert_allclose(2.0 * np.diff(likelihoods), -np.diff(deviances))


def test_the_unit_of_time_does_not_change_differences(fleet):
    def difference(unit):
        values = [
            point_process_log_likelihood(
                fleet, rate * fleet.follow_up, np.full(fleet.times.size, rate / unit)
            )
            for rate in (0.03, 0.05)
        ]
        return values[1] - values[0]

    assert difference(1.0) == pytest.approx(difference(24.0))


def test_costs_weight_the_events():
    y = RecurrentEvents.from_lists([[1.0]], end=[2.0], cost=[[3.0]])
    assert point_process_log_likelihood(y, [0.0], [np.e]) == pytest.approx(3.0)


def test_a_rate_of_zero_makes_an_event_impossible():
    assert point_process_log_likelihood(MACHINES, np.ones(3), [1, 1, 1, 0]) == -np.inf


def test_rates_are_one_per_event():
    with pytest.raises(InvalidParameterError, match=r"shape is \(3,\) for 4 events"):
        point_process_log_likelihood(MACHINES, np.ones(3), np.ones(3))


def test_wrong_rates_are_named():
    with pytest.raises(InvalidParameterError, match=r"2 of 4 events \(of ids 0, 2\)"):
        point_process_log_likelihood(MACHINES, np.ones(3), [-1.0, 1.0, 1.0, np.nan])


# --- Any event


def test_the_brier_score_is_that_of_scikit_learn(fleet, rng):
    from sklearn.metrics import brier_score_loss

    chances, weights = rng.uniform(size=60), rng.uniform(size=60)
    known = fleet.end >= 50.0
    counted = np.array([np.any((one.times > 10.0) & (one.times <= 50.0)) for one in fleet])
    expected = brier_score_loss(
        counted[known], chances[known], sample_weight=weights[known]
    )
    found = brier_score(fleet, chances, 10.0, 50.0, sample_weight=weights)
    assert_allclose(found, expected)


def test_a_chance_above_one_names_the_row_and_the_way_out():
    with pytest.raises(InvalidParameterError, match=r"1 of 3 individuals \(rows 1\)"):
        brier_score(MACHINES, [0.5, 1.5, 0.2], 0.0, 1.0)


def test_a_window_that_nobody_sees_through_is_refused():
    with pytest.raises(InvalidEventsError, match="observed through the window"):
        brier_score(MACHINES, [0.5, 0.5, 0.2], 0.0, 9.0)
