"""Mean cumulative functions that account for terminal events."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from tests.oracles import is_at_risk, mean_with_terminal_events

from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidParameterError
from boostr.nonparametric import MeanCumulativeFunction

STEP = 1e-5


@st.composite
def populations(draw):
    """Windows with gaps and late entry, tied events inside them, deaths and weights."""
    windows, events, died = [], [], []
    for _ in range(draw(st.integers(2, 7))):
        n_windows = draw(st.integers(1, 2))
        cuts = draw(st.sets(st.integers(0, 9), min_size=4, max_size=4))
        bounds = sorted(cuts)[: 2 * n_windows]
        own = list(zip(bounds[::2], bounds[1::2], strict=True))
        inside = [time for time in range(10) if is_at_risk(own, time)]
        windows.append(own)
        events.append(sorted(draw(st.lists(st.sampled_from(inside), max_size=4))))
        died.append(draw(st.booleans()))
    n = len(windows)
    weights = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return windows, events, died, np.array(weights, dtype=float)


def make_histories(windows, events, died):
    flat = np.array([window for own in windows for window in own], dtype=float)
    return RecurrentEvents(
        times=np.array([time for own in events for time in own], dtype=float),
        event_offsets=np.cumsum([0, *map(len, events)]),
        costs=np.ones(sum(map(len, events))),
        has_costs=False,
        window_start=flat[:, 0],
        window_stop=flat[:, 1],
        window_offsets=np.cumsum([0, *map(len, windows)]),
        ids=np.arange(len(windows)),
        has_ids=False,
        is_terminal=np.array(died),
    )


@settings(deadline=None, max_examples=60)
@given(populations())
def test_agrees_with_the_definition(population):
    *histories, weights = population
    fitted = MeanCumulativeFunction().fit(make_histories(*histories), weights)
    times, expected = mean_with_terminal_events(*histories, weights)
    assert_array_equal(fitted.times_, times)
    assert_allclose(fitted.mcf_, expected, rtol=1e-9, atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(populations())
def test_the_variance_is_that_of_the_derivatives_by_weights(population):
    *histories, weights = population
    windows, _, died = histories
    last = max(own[-1][1] for own in windows)
    for i, own in enumerate(windows):  # where all die at once, there is no derivative
        died[i] = died[i] and own[-1][1] < last
        windows[i] = [*own[:-1], (own[-1][0], last)] if not died[i] else own
    fitted = MeanCumulativeFunction().fit(make_histories(*histories), weights)
    influences = [
        (
            mean_with_terminal_events(*histories, weights + step)[1]
            - mean_with_terminal_events(*histories, weights - step)[1]
        )
        / (2.0 * STEP)
        for step in STEP * np.eye(len(weights))
    ]
    assert_allclose(fitted.variance_, weights @ np.square(influences), rtol=1e-5, atol=1e-8)


def simulate(n, seed):
    """Return events at rate 2 while alive, deaths at rate 0.5, censoring up to 3."""
    rng = np.random.default_rng(seed)
    death, censored = rng.exponential(2.0, n), rng.uniform(1.0, 3.0, n)
    end = np.minimum(death, censored)
    lists = [rng.uniform(0.0, one, rng.poisson(2.0 * one)) for one in end]
    return RecurrentEvents.from_lists(lists, end=end, terminal=death <= censored)


def test_the_known_mean_is_recovered_and_censoring_is_wrong_upward():
    y = simulate(4000, 0)
    times = np.array([0.5, 1.0, 2.0])
    truth = 4.0 * (1.0 - np.exp(-0.5 * times))
    fitted = MeanCumulativeFunction().fit(y)
    lower, upper = fitted.confidence_band(times)
    assert np.all((lower < truth) & (truth < upper))
    assert_allclose(fitted.predict_survival(times), np.exp(-0.5 * times), atol=0.02)
    assert np.all(MeanCumulativeFunction(terminal="censor").fit(y).predict(times) > upper)


def test_bands_cover_the_known_mean():
    truth = 4.0 * (1.0 - np.exp(-1.0))
    bands = [
        MeanCumulativeFunction(confidence=0.8).fit(simulate(60, seed)).confidence_band([2])
        for seed in range(200)
    ]
    held = [low[0] <= truth <= high[0] for low, high in bands]
    assert 0.72 < np.mean(held) < 0.88


def test_censoring_gives_the_estimate_of_histories_without_terminal_events():
    y = simulate(50, 1)
    censored = MeanCumulativeFunction(terminal="censor").fit(y)
    plain = MeanCumulativeFunction().fit(y.with_terminal(None))
    assert_array_equal(censored.mcf_, plain.mcf_)
    assert_array_equal(censored.variance_, plain.variance_)
    assert censored.survival_ is None


def test_nobody_dead_changes_nothing():
    y = simulate(50, 1)
    alive = MeanCumulativeFunction().fit(y.with_terminal(False))
    plain = MeanCumulativeFunction().fit(y.with_terminal(None))
    assert_allclose(alive.mcf_, plain.mcf_)
    assert_allclose(alive.variance_, plain.variance_)


def test_exposures_count_for_events_and_not_for_deaths():
    y = simulate(50, 2)
    twice = MeanCumulativeFunction().fit(y.with_exposure(2.0))
    once = MeanCumulativeFunction().fit(y)
    assert_allclose(twice.mcf_, 0.5 * once.mcf_)
    assert_allclose(twice.variance_, 0.25 * once.variance_)
    assert_allclose(twice.survival_, once.survival_)


def test_a_weight_of_two_is_the_individual_twice():
    y = simulate(20, 3)
    weights = np.arange(20) % 2 + 1.0
    weighted = MeanCumulativeFunction().fit(y, weights)
    repeated = MeanCumulativeFunction().fit(
        y[np.repeat(np.arange(20), weights.astype(int))]
    )
    assert_allclose(weighted.mcf_, repeated.mcf_)
    assert_allclose(weighted.variance_, repeated.variance_, atol=1e-12)


def test_another_choice_is_refused():
    with pytest.raises(InvalidParameterError, match="'account' or 'censor'"):
        MeanCumulativeFunction(terminal="ignore").fit(simulate(20, 0))


@pytest.mark.plot
def test_the_plot_has_the_survival_at_the_right():
    fitted = MeanCumulativeFunction().fit(simulate(30, 0))
    right = fitted.plot().figure.axes[1]
    assert_allclose(right.lines[0].get_ydata()[-1], fitted.survival_[-1])
    assert len(fitted.plot(show_survival=False).figure.axes) == 1
