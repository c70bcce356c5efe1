"""Every metric ranks the truth above a noisy prediction, and that above a constant."""

import numpy as np
import pytest
from tests.metrics.scenes import predict

from boostr import metrics, simulate

N = 800
STAGGERED = (20.0, 100.0)


def slope_distance(p):
    if np.ptp(p.scores) < 1e-9:
        return -1.0  # as the scorer has it
    return -abs(metrics.calibration_slope(p.y, p.expected, by=p.scores).slope - 1.0)


def ratio_distance(p):
    table = metrics.calibration_table(p.y, p.expected, by=p.scores, n_groups=5)
    return -np.average(np.abs(np.log(table.ratio)), weights=table.expected)


# Look at the order of predictions only.
RANKS = {
    "recurrent": lambda p: metrics.recurrent_concordance(p.y, p.scores, p.horizon),
    "recurrent, all times": lambda p: metrics.recurrent_concordance(p.y, p.scores),
    "recurrent, weighted": lambda p: metrics.recurrent_concordance(
        p.y, p.scores, p.horizon, weights="ipcw"
    ),
    "event": lambda p: metrics.event_concordance(p.y, p.scores, p.horizon),
    "event, weighted": lambda p: metrics.event_concordance(
        p.y, p.scores, p.horizon, weights="ipcw"
    ),
    "capture": lambda p: metrics.capture_curve(p.y, p.scores).area,
    "capture per follow-up": lambda p: (
        metrics.capture_curve(p.y, p.scores, per="follow_up").area
    ),
}
# Look at the numbers; those that compare counts and exposure, first.
NUMBERS = {
    "deviance": lambda p: -metrics.poisson_deviance(p.y, p.expected),
    "likelihood": lambda p: metrics.point_process_log_likelihood(p.y, p.expected, p.rates),
    "slope": slope_distance,
}
SQUARES = {
    "observed l2": lambda p: -metrics.observed_l2(p.y, p.curves, p.times),
    "integrated error": lambda p: (
        -metrics.integrated_count_error(p.y, p.early[1], p.early[0])
    ),
    "skill": lambda p: metrics.skill_score(p.y, p.early[1], p.early[0]),
    "window": lambda p: (
        -metrics.window_count_error(p.y, p.at(60.0) - p.at(20.0), 20.0, 60.0)
    ),
    "any event": lambda p: (
        -metrics.brier_score(p.y, -np.expm1(p.at(20.0) - p.at(60.0)), 20.0, 60.0)
    ),
    "window, weighted": lambda p: (
        -metrics.window_count_error(
            p.y, p.at(60.0) - p.at(20.0), 20.0, 60.0, weights="ipcw"
        )
    ),
}


def check_order(metric, predictions):
    truth, noisy, same = (metric(prediction) for prediction in predictions)
    assert truth > noisy > same


@pytest.fixture(scope="module")
def quadrants():
    return simulate.dataset_a(n=N, random_state=2, end=STAGGERED)


@pytest.fixture(scope="module")
def smooth():
    return simulate.dataset_d(n=2000, random_state=2, end=STAGGERED)


@pytest.fixture(scope="module")
def trial():
    return simulate.kelly(n=N, random_state=2)


@pytest.mark.parametrize("name", RANKS)
def test_orders_with_staggered_ends(name, quadrants):
    check_order(RANKS[name], predict(quadrants, sigma=1.0))


@pytest.mark.parametrize("name", [*RANKS, "paper"])
def test_orders_of_smooth_rates(name, smooth):
    def paper(p):
        return metrics.paper_concordance(p.y, p.scores, p.horizon)

    check_order(RANKS.get(name, paper), predict(smooth, sigma=0.2))


@pytest.mark.parametrize("name", [*NUMBERS, *SQUARES])
def test_numbers_with_staggered_ends(name, quadrants):
    check_order((NUMBERS | SQUARES)[name], predict(quadrants, sigma=0.3))


@pytest.mark.parametrize("name", [*NUMBERS, *SQUARES])
def test_numbers_of_smooth_rates(name, smooth):
    check_order((NUMBERS | SQUARES)[name], predict(smooth, sigma=0.1))


@pytest.mark.parametrize(
    "name", ["recurrent", "recurrent, all times", "event", "capture per follow-up"]
)
def test_orders_where_ends_depend_on_the_events(name, trial):
    check_order(RANKS[name], predict(trial, sigma=1.0, horizon=100.0))


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_where_ends_depend_on_the_events(name, trial):
    check_order(NUMBERS[name], predict(trial, sigma=0.3, horizon=100.0))


@pytest.mark.parametrize("name", ["quadrants", "smooth", "trial"])
def test_groups_of_the_truth_are_better_calibrated_than_those_of_noise(name, request):
    truth, noisy, _ = predict(request.getfixturevalue(name), sigma=0.5, horizon=100.0)
    assert ratio_distance(truth) > ratio_distance(noisy)


def test_the_constant_is_calibrated_too(quadrants):
    _, _, same = predict(quadrants, sigma=0.5)
    table = metrics.calibration_table(same.y, same.expected, by=same.scores)
    assert table.n.tolist() == [N]
    assert table.ratio[0] == pytest.approx(1.0, abs=3.0 * table.error[0])


def test_integrated_error_of_the_truth_is_zero(quadrants):
    predictions = predict(quadrants, sigma=0.3)
    true = predictions[0].curves
    errors = [
        metrics.integrated_squared_error(p.curves, true, p.times).mean()
        for p in predictions
    ]
    assert errors[0] == 0.0
    assert errors[0] < errors[1] < errors[2]


def test_where_ends_depend_on_the_events_counts_in_windows_mislead(trial):
    truth = predict(trial, sigma=0.0, horizon=100.0)[0]
    growth = truth.at(120.0) - truth.at(60.0)
    too_low = metrics.window_count_error(truth.y, 0.8 * growth, 60.0, 120.0)
    assert too_low < metrics.window_count_error(truth.y, growth, 60.0, 120.0)


def test_where_ends_depend_on_the_events_the_likelihood_does_not_mislead(trial):
    truth = predict(trial, sigma=0.0, horizon=100.0)[0]
    scores = [
        metrics.point_process_log_likelihood(
            truth.y, factor * truth.expected, factor * truth.rates
        )
        for factor in (0.9, 1.0, 1.1)
    ]
    assert np.argmax(scores) == 1
