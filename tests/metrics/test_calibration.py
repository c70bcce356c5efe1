import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.metrics.scenes import predict

from boostr import simulate
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.metrics import calibration_slope, calibration_table

MACHINES = RecurrentEvents.from_lists(
    [[], [1.0], [2.0, 3.0], [1.0, 2.0, 3.0, 4.0]], end=4.0
)
EXPECTED = np.array([0.5, 0.5, 2.0, 4.0])


@pytest.fixture(scope="module")
def truth():
    simulation = simulate.dataset_a(n=1000, random_state=7, end=(20.0, 100.0))
    return predict(simulation, sigma=0.0)[0]


# --- Table


def test_groups_by_hand():
    table = calibration_table(MACHINES, EXPECTED, n_groups=2)
    assert_array_equal(table.n, [2, 2])
    assert_allclose(table.lower, [0.5, 2.0])
    assert_allclose(table.upper, [0.5, 4.0])
    assert_allclose(table.follow_up, [8.0, 8.0])
    assert_allclose(table.expected, [1.0, 6.0])
    assert_allclose(table.observed, [1.0, 6.0])
    assert_allclose(table.ratio, [1.0, 1.0])
    assert_allclose(table.error, [np.sqrt(0.5), 0.0])


def test_groups_follow_the_score():
    table = calibration_table(MACHINES, EXPECTED, by=[4.0, 3.0, 2.0, 1.0], n_groups=4)
    assert_allclose(table.observed, [4.0, 2.0, 1.0, 0.0])


def test_equal_scores_stay_together():
    table = calibration_table(MACHINES, np.ones(4), n_groups=3)
    assert_array_equal(table.n, [4])


def test_weights_count_individuals_and_zero_leaves_out():
    weights = [2.0, 0.0, 1.0, 0.0]
    table = calibration_table(MACHINES, EXPECTED, n_groups=2, sample_weight=weights)
    assert_array_equal(table.n, [1, 1])
    assert_allclose(table.expected, [1.0, 2.0])
    assert_allclose(table.observed, [0.0, 2.0])


def test_nothing_expected_has_no_ratio():
    table = calibration_table(MACHINES, [0.0, 0.0, 2.0, 4.0], n_groups=2)
    assert_array_equal(np.isnan(table.ratio), [True, False])


def test_table_has_a_row_per_group():
    pytest.importorskip("pandas")
    frame = calibration_table(MACHINES, EXPECTED, n_groups=2).to_frame(backend="pandas")
    assert frame["observed"].tolist() == [1.0, 6.0]


def test_ratios_of_the_truth_are_one_within_their_errors(truth):
    table = calibration_table(truth.y, truth.expected, by=truth.scores)
    assert table.n.size == 3  # the truth has three values
    assert np.all(np.abs(table.ratio - 1.0) < 3.0 * table.error)


def test_robust_errors_are_those_of_repeated_samples():
    ratios, errors = [], []
    for seed in range(200):
        simulation = simulate.dataset_a(n=60, random_state=seed, end=(20.0, 100.0))
        expected = 0.05 * simulation.y.follow_up
        table = calibration_table(simulation.y, expected, by=np.ones(60))
        ratios.append(table.ratio[0])
        errors.append(table.error[0])
    assert np.mean(errors) == pytest.approx(np.std(ratios), rel=0.15)


@pytest.mark.parametrize("n_groups", [0, 2.5, True])
def test_impossible_numbers_of_groups_are_refused(n_groups):
    with pytest.raises(InvalidParameterError, match="n_groups"):
        calibration_table(MACHINES, EXPECTED, n_groups=n_groups)


def test_unequal_follow_up_needs_a_score(truth):
    with pytest.raises(InvalidParameterError, match=r"Hint: by=model\.predict"):
        calibration_table(truth.y, truth.expected)


# --- Slope


def test_slope_of_two_points_by_hand():
    y = RecurrentEvents.from_lists([[1.0], [1.0, 2.0, 3.0, 4.0]], end=5.0)
    found = calibration_slope(y, [1.0, 2.0])
    assert found.slope == pytest.approx(2.0)
    assert found.ratio == pytest.approx(5.0 / 3.0)
    assert found.slope_error == pytest.approx(0.0, abs=1e-6)


def test_slope_of_the_truth_is_one_within_its_error(truth):
    found = calibration_slope(truth.y, truth.expected, by=truth.scores)
    assert found.slope == pytest.approx(1.0, abs=3.0 * found.slope_error)
    assert found.ratio == pytest.approx(1.0, abs=3.0 * found.ratio_error)


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_predictions_too_close_or_too_far_apart_show_in_the_slope(truth, power):
    straight = calibration_slope(truth.y, truth.expected, by=truth.scores).slope
    bent = truth.scores**power
    expected = bent * truth.expected / truth.scores
    found = calibration_slope(truth.y, expected, by=bent)
    assert found.slope == pytest.approx(straight / power, rel=1e-6)


def test_a_common_factor_shows_in_the_ratio_only(truth):
    one = calibration_slope(truth.y, truth.expected, by=truth.scores)
    two = calibration_slope(truth.y, 2.0 * truth.expected, by=truth.scores)
    assert two.slope == pytest.approx(one.slope)
    assert two.ratio == pytest.approx(0.5 * one.ratio)


def test_robust_errors_of_the_slope_are_those_of_repeated_samples():
    slopes, errors = [], []
    for seed in range(200):
        simulation = simulate.dataset_a(n=100, random_state=seed, end=(20.0, 100.0))
        rates = simulation.truth(1.0)[:, 0]
        found = calibration_slope(simulation.y, rates * simulation.y.follow_up, by=rates)
        slopes.append(found.slope)
        errors.append(found.slope_error)
    assert np.mean(slopes) == pytest.approx(1.0, abs=0.05)
    assert np.mean(errors) == pytest.approx(np.std(slopes), rel=0.15)


def test_a_weight_of_two_is_the_individual_twice():
    y = MACHINES[[0, 1, 2, 3, 3]]
    twice = calibration_slope(y, EXPECTED[[0, 1, 2, 3, 3]])
    weighted = calibration_slope(MACHINES, EXPECTED, sample_weight=[1.0, 1.0, 1.0, 2.0])
    assert weighted.slope == pytest.approx(twice.slope)
    assert weighted.ratio == pytest.approx(twice.ratio)


def test_a_constant_has_no_slope():
    with pytest.raises(InvalidParameterError, match="all scores are equal"):
        calibration_slope(MACHINES, np.ones(4))


def test_events_where_none_are_expected_are_named():
    with pytest.raises(InvalidParameterError, match=r"1 of 4 individuals \(ids 1\)"):
        calibration_slope(MACHINES, [0.0, 0.0, 2.0, 4.0])


def test_without_events_there_is_no_slope():
    y = RecurrentEvents.from_lists([[], []], end=3.0)
    with pytest.raises(InvalidEventsError, match="there are none"):
        calibration_slope(y, [1.0, 2.0])


@pytest.mark.parametrize("place", [0, 2])
@pytest.mark.parametrize("numbers", [(1,), (7, 0), (3, 2)])
def test_events_at_the_end_of_the_scores_alone_have_no_slope(place, numbers):
    scores = np.array([1.0, 2.0, 3.0])[[0, 1, 2, *[place] * (len(numbers) - 1)]]
    rows = [place, *range(3, 2 + len(numbers))]
    times = [[] for _ in scores]
    for row, number in zip(rows, numbers, strict=True):
        times[row] = np.linspace(1.0, 2.0, number)
    y = RecurrentEvents.from_lists(times, end=4.0)
    with pytest.raises(InvalidEventsError, match="the highest ones, or with the lowest"):
        calibration_slope(y, scores)


def test_events_of_one_individual_among_many_have_no_error_or_a_finite_one():
    scores = np.linspace(0.5, 2.0, 60)
    for row in range(60):
        times = [[] for _ in scores]
        times[row] = np.linspace(0.1, 3.9, 300)
        y = RecurrentEvents.from_lists(times, end=4.0)
        try:
            found = calibration_slope(y, scores)
        except InvalidEventsError:
            continue
        assert np.isfinite([found.slope, found.slope_error]).all()


def test_chances_of_any_event_are_compared_with_shares():
    y = RecurrentEvents.from_lists(
        [[1.0, 1.5], [], [2.0], [3.5], [1.0]], end=[4.0] * 4 + [1.5]
    )
    table = calibration_table(y, [0.6, 0.1, 0.7, 0.2, 0.9], n_groups=2, window=(0.0, 3.0))
    assert_allclose(table.n, [2, 2])
    assert_allclose(table.expected, [0.3, 1.3])
    assert_allclose(table.observed, [0.0, 2.0])
    assert_allclose(table.follow_up, [2.0, 2.0])
    assert table.is_chance
