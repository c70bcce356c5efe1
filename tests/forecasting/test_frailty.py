import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles_forecasts

from boostr._forecasting.frailty import (
    N_CELLS,
    Frailties,
    FrailtyLaw,
    Histories,
    Pieces,
    cut_windows,
    fit_frailty,
    sum_by_owner,
)


def make_histories(end, times, owner, rate, cell):
    """Histories from time 0 with a constant predicted rate."""
    n = len(end)
    pieces = cut_windows(np.arange(n), np.zeros(n), end, cell)
    expected = rate * (pieces.stop - pieces.start)
    weights = np.ones(len(times))
    return Histories(np.zeros(n), pieces, expected, owner, times, weights)


def draw(rng, n, variance, rate=0.1, end=100.0, max_events=None):
    """Histories with permanent frailties, which may stop at an event."""
    frailty = rng.gamma(1.0 / variance, variance, n) if variance > 0 else np.ones(n)
    all_times, owners, ends = [], [], np.full(n, end)
    for row in range(n):
        times = np.sort(rng.uniform(0.0, end, rng.poisson(frailty[row] * rate * end)))
        if max_events is not None and len(times) >= max_events:
            times = times[:max_events]
            ends[row] = times[-1]
        all_times.append(times)
        owners.append(np.full(len(times), row))
    return make_histories(
        ends, np.concatenate(all_times), np.concatenate(owners), rate, end / N_CELLS
    )


def fit(histories, end=100.0):
    n = len(histories)
    return fit_frailty(histories, end / N_CELLS, np.zeros(n), np.ones(n))


def test_windows_are_cut_at_multiples_and_nothing_is_lost():
    pieces = cut_windows(np.array([3, 4]), np.array([0.5, 2.0]), np.array([2.5, 3.0]), 1.0)
    assert_allclose(pieces.start, [0.5, 1.0, 2.0, 2.0])
    assert_allclose(pieces.stop, [1.0, 2.0, 2.5, 3.0])
    assert pieces.owner.tolist() == [3, 3, 3, 4]


@pytest.mark.parametrize("cell", [0.0, 5e-324, 1e-300, 1e-9, 1e-3])
def test_windows_are_cut_into_a_bounded_number_of_pieces(cell):
    start, stop = np.array([0.5, 2.0, 0.0]), np.array([90.0, 3.0, 1e-4])
    pieces = cut_windows(np.array([3, 4, 5]), start, stop, cell)
    for owner, begin, end in zip((3, 4, 5), start, stop, strict=True):
        own = pieces.owner == owner
        assert 1 <= own.sum() <= 256
        # Nothing is lost and nothing is counted twice.
        assert_allclose(pieces.start[own][0], begin)
        assert_allclose(pieces.stop[own][-1], end)
        assert_allclose(pieces.start[own][1:], pieces.stop[own][:-1])
        assert np.all(pieces.stop[own] >= pieces.start[own])


def test_what_lies_before_the_last_pieces_is_as_good_as_forgotten():
    law = FrailtyLaw(0.8, half_life=0.08)
    assert_allclose(law.cell, 0.01)
    end, now = np.array([100.0]), np.array([100.0])
    times, owner = np.array([50.0, 99.95]), np.zeros(2, int)
    capped = make_histories(end, times, owner, 5.0, law.cell)
    edges = np.linspace(0.0, 100.0, 10_001)
    whole = Pieces(np.zeros(10_000, int), edges[:-1], edges[1:])
    fine = Histories(
        np.zeros(1), whole, 5.0 * np.diff(edges), owner, times, np.ones(len(times))
    )
    assert len(capped.pieces.owner) == 256
    assert_allclose(capped.expected.sum(), 500.0)
    found, expected = (
        Frailties.posterior(one, now, np.array([0.8]), law.fading) for one in (capped, fine)
    )
    assert_allclose(found.mean, expected.mean, rtol=1e-7)
    assert_allclose(found.dispersion, expected.dispersion, rtol=1e-7)


@pytest.mark.parametrize("half_life", [5e-324, 1e-250, 1e-9])
def test_half_lives_of_next_to_nothing_forget_everything(half_life):
    law = FrailtyLaw(0.8, half_life=half_life)
    histories = make_histories(
        np.full(2, 1000.0), np.array([1.0, 999.0]), np.zeros(2, int), 0.5, law.cell
    )
    now = np.full(2, 1000.0)
    found = Frailties.posterior(histories, now, np.full(2, 0.8), law.fading)
    assert_allclose(found.mean, 1.0, rtol=1e-5)
    assert np.all(np.isfinite(found.dispersion))


def test_permanent_frailties_have_the_gamma_posterior():
    histories = make_histories(
        np.array([10.0, 10.0]), np.array([1.0, 2.0, 3.0]), np.zeros(3, int), 0.2, np.inf
    )
    found = Frailties.posterior(histories, np.full(2, 10.0), np.full(2, 0.5), 0.0)
    assert_allclose(found.mean, [(2.0 + 3.0) / (2.0 + 2.0), 2.0 / 4.0])
    assert_allclose(found.dispersion, [1.0 / 5.0, 1.0 / 2.0])


def test_faded_frailties_are_those_of_the_obvious_version():
    histories = make_histories(
        np.array([8.0]), np.array([1.0, 7.0]), np.zeros(2, int), 0.5, 1.0
    )
    law = FrailtyLaw(0.8, half_life=3.0)
    found = Frailties.posterior(histories, np.array([9.0]), np.array([0.8]), law.fading)
    expected = oracles_forecasts.faded_frailty(
        [(1.0, 1.0), (7.0, 1.0)],
        [(cell + 0.5, 0.5) for cell in range(8)],
        0.8,
        law.fading,
        now=9.0,
        entry=0.0,
    )
    assert_allclose([found.mean[0], found.dispersion[0]], expected)


def test_without_variance_a_history_changes_nothing():
    histories = make_histories(
        np.array([10.0]), np.array([1.0, 2.0]), np.zeros(2, int), 0.2, 5.0
    )
    found = Frailties.posterior(histories, np.array([10.0]), np.zeros(1), 0.1)
    assert (found.mean[0], found.dispersion[0]) == (1.0, 0.0)


def test_the_likelihood_of_all_cells_is_the_marginal_one(rng):
    histories = draw(rng, 30, 0.8)
    from boostr._forecasting.frailty import _Table

    n = np.bincount(histories.event_owner, minlength=30)
    expected = sum_by_owner(histories.pieces.owner, histories.expected, 30)
    marginal = [
        oracles_forecasts.marginal_log_likelihood(*row, 0.8)
        for row in zip(n, expected, strict=True)
    ]
    for cell in (np.inf, 100.0 / N_CELLS):
        found = _Table.make(histories, cell).log_likelihood(np.full(30, 0.8), 0.0)
        assert_allclose(found, marginal, rtol=1e-9)


@pytest.mark.parametrize("variance", [0.3, 1.0])
def test_the_variance_is_found(variance, rng):
    found = fit(draw(rng, 1500, variance))
    assert abs(found.variance / variance - 1.0) < 0.2
    assert np.isinf(found.half_life)


def test_the_variance_is_found_where_observation_stops_at_an_event(rng):
    found = fit(draw(rng, 1500, 0.5, max_events=4))
    assert abs(found.variance / 0.5 - 1.0) < 0.25


def test_poisson_histories_have_no_frailty(rng):
    assert fit(draw(rng, 1500, 0.0)).variance < 0.02


def test_known_errors_of_the_model_are_no_frailty(rng):
    histories = draw(rng, 1500, 0.4)
    n = len(histories)
    found = fit_frailty(histories, 100.0 / N_CELLS, np.full(n, 0.4), np.ones(n))
    assert found.variance < 0.1


def test_weight_two_is_the_individual_twice(rng):
    histories = draw(rng, 40, 0.8)
    pieces, n = histories.pieces, len(histories)
    twice = Histories(
        np.tile(histories.entry, 2),
        cut_windows(
            np.arange(2 * n), np.zeros(2 * n), np.full(2 * n, 100.0), 100.0 / N_CELLS
        ),
        np.tile(histories.expected, 2),
        np.concatenate([histories.event_owner, histories.event_owner + n]),
        np.tile(histories.event_times, 2),
        np.tile(histories.event_weights, 2),
    )
    weights = np.ones(n)
    found = fit_frailty(histories, 100.0 / N_CELLS, np.zeros(n), 2.0 * weights)
    again = fit_frailty(twice, 100.0 / N_CELLS, np.zeros(2 * n), np.tile(weights, 2))
    assert_allclose(found.variance, again.variance, rtol=1e-3)
    assert len(pieces.owner) == n * N_CELLS


def test_drifting_frailties_are_found_to_fade(rng):
    n, n_steps = 800, 10
    frailty = rng.gamma(1.0, 1.0, n)
    times, owners = [], []
    for step in range(n_steps):
        if step % 2 == 0:  # a new life every fifth of the time
            frailty = rng.gamma(1.0, 1.0, n)
        counts = rng.poisson(frailty * 2.0)
        owners.append(np.repeat(np.arange(n), counts))
        times.append(10.0 * step + rng.uniform(0.0, 10.0, counts.sum()))
    histories = make_histories(
        np.full(n, 100.0),
        np.concatenate(times),
        np.concatenate(owners),
        0.2,
        100.0 / N_CELLS,
    )
    assert fit(histories).half_life < 40.0


def test_pairs_of_events_are_no_drifting_frailties(rng):
    n = 800
    counts = rng.poisson(3.0, n)
    owner = np.repeat(np.arange(n), counts)
    first = rng.uniform(0.0, 85.0, len(owner))
    histories = make_histories(
        np.full(n, 100.0),
        np.concatenate([first, first + rng.uniform(0.5, 4.0, len(owner))]),
        np.concatenate([owner, owner]),
        0.06,
        100.0 / N_CELLS,
    )
    law = fit(histories)
    assert law.variance > 0.0
    assert np.isinf(law.half_life)


def test_drawn_frailties_have_mean_and_variance(rng):
    frailties = Frailties(np.full(20_000, 1.5), np.full(20_000, 0.4))
    drawn = frailties.draw(rng)
    assert_allclose(drawn.mean(), 1.5, rtol=0.03)
    assert_allclose(drawn.var() / 1.5**2, 0.4, rtol=0.06)


@pytest.mark.parametrize("length", [0.0, 3.0, 40.0, 80.0, 200.0, 5000.0])
def test_variances_ahead_are_averaged_over_pairs_of_times(length):
    law = FrailtyLaw(0.5, half_life=8.0)
    times = (np.arange(1000) + 0.5) / 1000 * length
    drifts = np.minimum(law.fading * times, 10.0 * np.log(2.0))
    shared = 1.0 + np.minimum.outer(drifts, drifts)
    assert_allclose(law.spread(np.array([length])), shared.mean(), rtol=1e-4)


def test_drifts_end_where_nothing_more_is_forgotten():
    law = FrailtyLaw(0.5, half_life=1e-200)
    assert_allclose(law.spread(np.array([1.0, 1e100])), 1.0 + 10.0 * np.log(2.0))


def test_permanent_frailties_do_not_spread():
    assert_array_equal(FrailtyLaw(0.5).spread(np.array([0.0, 1e9])), [1.0, 1.0])
