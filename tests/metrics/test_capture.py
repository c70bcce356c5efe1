import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr import simulate
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.metrics import capture_curve, event_concordance

MACHINES = RecurrentEvents.from_lists([[], [1.0, 2.0, 3.0], [3.0], []], end=[4, 4, 4, 8])


def test_curve_by_hand():
    curve = capture_curve(MACHINES, [1.0, 3.0, 4.0, 2.0])
    assert_allclose(curve.share, [0.0, 0.25, 0.5, 0.75, 1.0])
    assert_allclose(curve.captured, [0.0, 0.25, 1.0, 1.0, 1.0])
    assert_allclose(curve.ideal_captured, [0.0, 0.75, 1.0, 1.0])
    assert curve.area == pytest.approx(0.25 * (0.125 + 0.625 + 1.0 + 1.0))
    assert curve.n_events == 4.0


def test_the_top_half_has_all_events():
    assert capture_curve(MACHINES, [1.0, 3.0, 4.0, 2.0]).at(0.5) == 1.0


def test_shares_of_follow_up():
    curve = capture_curve(MACHINES, [1.0, 3.0, 4.0, 2.0], per="follow_up")
    assert_allclose(curve.share, [0.0, 0.2, 0.4, 0.8, 1.0])


def test_a_constant_is_the_diagonal():
    curve = capture_curve(MACHINES, np.ones(4))
    assert_allclose(curve.share, curve.captured)
    assert curve.area == 0.5
    assert curve.gain == 0.0


def test_the_best_order_has_the_ideal_area():
    curve = capture_curve(MACHINES, MACHINES.n_events)
    assert curve.area == curve.ideal_area
    assert curve.gain == 1.0


def test_where_all_have_the_same_there_is_nothing_to_gain():
    y = RecurrentEvents.from_lists([[1.0], [2.0]], end=4.0)
    assert capture_curve(y, [1.0, 2.0]).gain == 0.0


def test_weights_count_individuals():
    weights = [1.0, 2.0, 0.0, 1.0]
    curve = capture_curve(MACHINES, [1.0, 3.0, 4.0, 2.0], sample_weight=weights)
    assert curve.at(0.5) == 1.0
    assert curve.n_events == 6.0


def test_costs_are_captured_where_there_are_any():
    y = RecurrentEvents.from_lists([[1.0], [1.0]], end=4.0, cost=[[1.0], [9.0]])
    assert capture_curve(y, [1.0, 2.0]).at(0.5) == pytest.approx(0.9)


def test_the_area_is_the_concordance_at_events_where_ends_are_the_same(rng):
    y = simulate.dataset_a(n=50, random_state=1).y
    predicted = rng.integers(0, 9, 50)
    # The curve compares every owner with itself, too: half of one pair in fifty.
    others = 49.0 * event_concordance(y, predicted)
    assert capture_curve(y, predicted).area == pytest.approx((others + 0.5) / 50.0)


def test_no_events_cannot_be_captured():
    with pytest.raises(InvalidEventsError, match="there are none"):
        capture_curve(MACHINES[[0, 3]], [1.0, 2.0])


def test_unknown_units_are_refused():
    with pytest.raises(InvalidParameterError, match="'individual', 'follow_up'"):
        capture_curve(MACHINES, np.ones(4), per="machine")
