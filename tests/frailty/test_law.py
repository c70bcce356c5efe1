from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles_forecasts

from boostr._frailty import law as law_module
from boostr._frailty.law import (
    LEAST_FADE,
    N_CELLS,
    Ahead,
    Frailties,
    FrailtyLaw,
    Histories,
    Pieces,
    SeenNumbers,
    cut_windows,
    fit_law,
    log_likelihood,
    sum_by_owner,
)

laws = pytest.mark.parametrize("drifts", [False, True])


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


def test_windows_are_cut_at_multiples_and_nothing_is_lost():
    pieces = cut_windows(np.array([3, 4]), np.array([0.5, 2.0]), np.array([2.5, 3.0]), 1.0)
    assert_allclose(pieces.start, [0.5, 1.0, 2.0, 2.0])
    assert_allclose(pieces.stop, [1.0, 2.0, 2.5, 3.0])
    assert pieces.owner.tolist() == [3, 3, 3, 4]


@pytest.mark.parametrize("cell", [0.1, 1 / 3, 0.7])
def test_pieces_of_a_window_meet_without_rounding(cell):
    pieces = cut_windows(np.array([0]), np.array([0.05]), np.array([9.99]), cell)
    assert np.array_equal(pieces.start[1:], pieces.stop[:-1])


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
    found, expected = (law.posterior(one, now, np.zeros(1)) for one in (capped, fine))
    assert_allclose(found.mean, expected.mean, rtol=1e-7)
    assert_allclose(found.dispersion, expected.dispersion, rtol=1e-7)


@laws
@pytest.mark.parametrize("half_life", [5e-324, 1e-250, 1e-9])
def test_half_lives_of_next_to_nothing_forget_everything(half_life, drifts):
    law = FrailtyLaw(0.8, half_life=half_life, drifts=drifts)
    histories = make_histories(
        np.full(2, 1000.0), np.array([1.0, 999.0]), np.zeros(2, int), 0.5, law.cell
    )
    found = law.posterior(histories, np.full(2, 1000.0), np.zeros(2))
    assert_allclose(found.mean, 1.0, rtol=1e-5)
    assert np.all(np.isfinite(found.dispersion))


@laws
def test_permanent_frailties_have_the_gamma_posterior(drifts):
    histories = make_histories(
        np.array([10.0, 10.0]), np.array([1.0, 2.0, 3.0]), np.zeros(3, int), 0.2, np.inf
    )
    law = FrailtyLaw(0.5, drifts=drifts)
    found = law.posterior(histories, np.full(2, 10.0), np.zeros(2))
    assert_allclose(found.mean, [(2.0 + 3.0) / (2.0 + 2.0), 2.0 / 4.0])
    assert_allclose(found.dispersion, [1.0 / 5.0, 1.0 / 2.0])


@laws
def test_faded_frailties_are_those_of_the_obvious_version(drifts):
    histories = make_histories(
        np.array([8.0]), np.array([1.0, 7.0]), np.zeros(2, int), 0.5, 1.0
    )
    law = FrailtyLaw(0.8, half_life=3.0, drifts=drifts)
    found = law.posterior(histories, np.array([9.0]), np.zeros(1))
    expected = oracles_forecasts.faded_frailty(
        [(1.0, 1.0), (7.0, 1.0)],
        [(cell + 0.5, 0.5) for cell in range(8)],
        0.8,
        law.fading,
        now=9.0,
        entry=0.0 if drifts else None,
    )
    assert_allclose([found.mean[0], found.dispersion[0]], expected)


def test_events_and_expectations_count_half_after_a_half_life():
    histories = make_histories(
        np.array([4.0]), np.array([1.0, 3.0]), np.zeros(2, int), 1.0, 2.0
    )
    fading = FrailtyLaw(1.0, half_life=2.0).fading
    events, expected = histories.discount(np.array([5.0]), fading)
    assert_allclose(events, 2.0 ** -np.array([2.0]) + 2.0 ** -np.array([1.0]))
    assert_allclose(expected, [2.0 * 2.0**-2.0 + 2.0 * 2.0**-1.0])


@laws
def test_without_variance_a_history_changes_nothing(drifts):
    histories = make_histories(
        np.array([10.0]), np.array([1.0, 2.0]), np.zeros(2, int), 0.2, 5.0
    )
    law = FrailtyLaw(0.0, half_life=7.0, drifts=drifts)
    found = law.posterior(histories, np.array([10.0]), np.zeros(1))
    assert (found.mean[0], found.dispersion[0]) == (1.0, 0.0)


@pytest.mark.parametrize("persistence", [0.0, 0.25, 1.0])
def test_a_share_of_the_difference_from_one_goes_on(persistence):
    events, expected = np.array([0.0, 3.0, 9.0]), np.array([2.0, 3.0, 2.0])
    full = FrailtyLaw(0.7).judge(events, expected)
    found = FrailtyLaw(0.7, persistence=persistence).judge(events, expected)
    assert_allclose(found.mean - 1.0, persistence * (full.mean - 1.0))


def test_what_histories_leave_unknown_is_scaled_and_added_to():
    events, expected = np.array([0.0, 3.0]), np.array([2.0, 3.0])
    plain = FrailtyLaw(0.7).judge(events, expected)
    found = FrailtyLaw(0.7, scale=2.0, extra=0.3).judge(events, expected)
    assert_array_equal(found.mean, plain.mean)
    assert_allclose(found.dispersion, 2.0 * plain.dispersion + 0.3)


@pytest.mark.parametrize("law", [FrailtyLaw(0.7), FrailtyLaw(0.7, 3.0, 0.5, 2.0, 0.3)])
def test_an_empty_history_tells_nothing(law):
    found = law.judge(np.zeros(2), np.zeros(2))
    known = law.without_history(np.array([0.1, 0.2]))
    assert_allclose(found.mean, known.mean)
    assert_allclose(found.dispersion, known.dispersion)


def test_errors_of_predictions_matter_to_the_law_of_old_files_alone():
    errors = np.array([0.0, 0.4])
    old, new = (FrailtyLaw(0.7, drifts=drifts) for drifts in (True, False))
    assert_allclose(old.without_history(errors).dispersion, 0.7 + errors)
    assert_allclose(new.without_history(errors).dispersion, [0.7, 0.7])


def test_only_drifting_frailties_are_known_less_well_ahead():
    length, frailties = np.array([5.0]), Frailties(np.array([1.2]), np.array([0.3]))
    still = FrailtyLaw(0.7, half_life=4.0)
    drifting = FrailtyLaw(0.7, half_life=4.0, drifts=True)
    assert still.ahead(frailties, length) is frailties
    wider = drifting.ahead(frailties, length)
    assert_allclose(wider.dispersion, 0.3 * drifting.spread(length))


# --- Likelihoods


@laws
def test_the_likelihood_of_permanent_frailties_is_the_marginal_one(rng, drifts):
    histories = draw(rng, 30, 0.8)
    n = np.bincount(histories.event_owner, minlength=30)
    expected = sum_by_owner(histories.pieces.owner, histories.expected, 30)
    marginal = [
        oracles_forecasts.marginal_log_likelihood(*row, 0.8)
        for row in zip(n, expected, strict=True)
    ]
    weights = rng.choice([0.5, 2.0], 30)
    found = log_likelihood(
        histories, 100.0 / N_CELLS, FrailtyLaw(0.8, drifts=drifts), np.zeros(30), weights
    )
    assert_allclose(found, weights @ marginal, rtol=1e-9)


@laws
@pytest.mark.parametrize("half_life", [5.0, 60.0, 1e9])
def test_the_likelihood_of_faded_frailties_goes_cell_by_cell(rng, half_life, drifts):
    histories, cell = draw(rng, 8, 0.8), 100.0 / N_CELLS
    law = FrailtyLaw(0.8, half_life=half_life, drifts=drifts)
    found = log_likelihood(histories, cell, law, np.zeros(8), np.ones(8))
    expected = sum(
        oracles_forecasts.stepwise_log_likelihood(
            histories.event_times[histories.event_owner == row],
            [((k + 0.5) * cell, 0.1 * cell) for k in range(N_CELLS)],
            cell,
            0.8,
            law.fading,
            LEAST_FADE if drifts else 1.0,
        )
        for row in range(8)
    )
    assert_allclose(found, expected, rtol=1e-9)


def test_errors_of_predictions_add_to_the_variance_of_drifting_frailties(rng):
    histories, errors = draw(rng, 20, 0.8), rng.uniform(0.0, 1.0, 20)
    arguments = np.zeros(20), np.ones(20)
    apart = log_likelihood(
        histories, 1.0, FrailtyLaw(0.3, drifts=True), np.full(20, 0.5), arguments[1]
    )
    within = log_likelihood(histories, 1.0, FrailtyLaw(0.8, drifts=True), *arguments)
    assert_allclose(apart, within)
    law = FrailtyLaw(0.8)
    without = log_likelihood(histories, 1.0, law, *arguments)
    assert log_likelihood(histories, 1.0, law, errors, arguments[1]) == without


# --- Variances of permanent frailties


def totals(histories):
    n = len(histories)
    expected = sum_by_owner(histories.pieces.owner, histories.expected, n)
    return expected, sum_by_owner(histories.event_owner, histories.event_weights, n)


def fit_variance(expected, seen, weights=None, near=None):
    return SeenNumbers.of(seen, weights).fit_variance(expected, near)


@pytest.mark.parametrize("variance", [0.1, 0.3, 1.0])
def test_the_variance_is_found(variance, rng):
    found = fit_variance(*totals(draw(rng, 1500, variance)))
    assert abs(found / variance - 1.0) < 0.2


def test_the_variance_is_found_where_observation_stops_at_an_event(rng):
    found = fit_variance(*totals(draw(rng, 1500, 0.5, max_events=4)))
    assert abs(found / 0.5 - 1.0) < 0.25


def test_poisson_histories_have_no_frailty(rng):
    assert fit_variance(*totals(draw(rng, 1500, 0.0))) < 0.02


def test_counts_more_even_than_poisson_ones_have_no_frailty():
    assert fit_variance(np.full(50, 3.0), np.full(50, 3.0)) == 0.0


def test_the_variance_is_the_most_likely_one(rng):
    expected, seen = totals(draw(rng, 300, 0.6))

    def likelihood(variance):
        pairs = zip(seen, expected, strict=True)
        return sum(
            oracles_forecasts.marginal_log_likelihood(n, m, variance) for n, m in pairs
        )

    found = fit_variance(expected, seen)
    # Up to the prior, which counts as little as a fraction of one individual.
    assert likelihood(found) > max(likelihood(0.95 * found), likelihood(1.05 * found))


@pytest.mark.parametrize("variance", [0.0, 0.02, 0.6])
@pytest.mark.parametrize("near", [0.0, 0.02, 0.6, 5.0])
def test_a_guess_only_makes_the_search_shorter(variance, near, rng):
    problem = totals(draw(rng, 1500, variance))
    assert_allclose(fit_variance(*problem, near=near), fit_variance(*problem), rtol=2e-3)


def test_weight_two_is_the_individual_twice(rng):
    expected, seen = totals(draw(rng, 40, 0.8))
    twice = fit_variance(np.tile(expected, 2), np.tile(seen, 2))
    assert_allclose(fit_variance(expected, seen, np.full(40, 2.0)), twice)


def test_individuals_who_were_not_observed_tell_nothing(rng):
    expected, seen = totals(draw(rng, 40, 0.8))
    more = fit_variance(np.append(expected, [0.0, 0.0]), np.append(seen, [0.0, 0.0]))
    assert more == fit_variance(expected, seen)


# --- Laws by what they say ahead


def look_ahead(rng, before, after, expected=6.0, weights=None):
    """Histories of 65 units of time with one frailty each, and counts of the next 35."""
    n = len(before)
    counts = rng.poisson(before * expected)
    owner = np.repeat(np.arange(n), counts)
    times = rng.uniform(0.0, 65.0, len(owner))
    histories = make_histories(
        np.full(n, 65.0), times, owner, expected / 65.0, 100.0 / N_CELLS
    )
    seen = rng.poisson(after * 0.5 * expected).astype(float)
    weights = np.ones(n) if weights is None else weights
    return Ahead(
        histories, np.full(n, 65.0), np.full(n, 0.5 * expected), seen, weights, 35.0
    )


def test_the_likelihood_ahead_is_the_negative_binomial_one_at_the_right_level(rng):
    ahead = look_ahead(rng, np.ones(20), np.ones(20), weights=rng.choice([1.0, 3.0], 20))
    frailties = Frailties(rng.uniform(0.5, 2.0, 20), rng.uniform(0.1, 1.0, 20))
    mean = ahead.expected * frailties.mean
    mean = mean * (ahead.weights @ ahead.seen) / (ahead.weights @ mean)
    each = [
        oracles_forecasts.log_probability(n, m, v)
        for n, m, v in zip(ahead.seen, mean, frailties.dispersion, strict=True)
    ]
    assert_allclose(ahead.log_likelihood(frailties), ahead.weights @ each)


def test_the_likelihood_ahead_of_known_frailties_is_the_poisson_one(rng):
    ahead = look_ahead(rng, np.ones(20), np.ones(20))
    frailties = Frailties(rng.uniform(0.5, 2.0, 20), np.zeros(20))
    mean = frailties.mean * ahead.seen.sum() / frailties.mean.sum()
    each = [
        oracles_forecasts.log_probability(n, m, 0.0)
        for n, m in zip(ahead.seen, mean, strict=True)
    ]
    assert_allclose(ahead.log_likelihood(frailties), np.sum(each))


def test_shares_of_known_frailties_are_judged_one_by_one(rng):
    weights = rng.choice([1.0, 3.0], 20)
    ahead = look_ahead(rng, np.ones(20), np.ones(20), weights=weights)
    known, shares = Frailties(rng.uniform(0.0, 2.0, 20), np.zeros(20)), np.linspace(0, 1, 4)
    expected = [ahead.log_likelihood(known.persist(share)) for share in shares]
    assert_allclose(ahead.judge_known(known.mean, shares), expected)


def test_what_is_discounted_faster_fades_at_twice_the_rate_each_time(rng):
    histories, now = draw(rng, 20, 0.8), np.full(20, 120.0)
    found = islice(histories.discount_faster(now, 0.01), 5)
    for place, sums in enumerate(found):
        assert_allclose(sums, histories.discount(now, 0.01 * 2**place), rtol=1e-12)


@pytest.mark.parametrize("variance", [0.3, 1.0])
def test_permanent_frailties_are_found_to_be_so(variance, rng):
    frailty = rng.gamma(1.0 / variance, variance, 1500)
    law = fit_law(look_ahead(rng, frailty, frailty), variance, 100.0)
    assert law == FrailtyLaw(variance)


def test_without_frailties_the_law_has_none(rng):
    ones = np.ones(1500)
    assert fit_law(look_ahead(rng, ones, ones), 0.0, 100.0) == FrailtyLaw(0.0)


def test_frailties_that_begin_anew_are_not_carried_on(rng):
    before, after = rng.gamma(1.0, 1.0, (2, 800))
    law = fit_law(look_ahead(rng, before, after), 1.0, 100.0)
    judged = law.judge(np.array([0.0, 30.0]), np.array([6.0, 6.0]))
    assert np.abs(judged.mean - 1.0).max() < 0.2
    # What nothing tells of the time ahead is all of the variance there.
    assert_allclose(judged.dispersion, 1.0, rtol=0.5)


def test_drifting_frailties_are_found_to_fade(rng):
    n = 800
    old, new = rng.gamma(1.0, 1.0, (2, n))
    ahead = look_ahead(rng, np.ones(n), new)
    # One life up to 40, another from there on.
    histories, (early, late) = ahead.histories, rng.poisson([4.0 * old, 2.5 * new])
    owner = np.repeat(np.tile(np.arange(n), 2), np.concatenate([early, late]))
    times = rng.uniform(0.0, 40.0, early.sum()), rng.uniform(40.0, 65.0, late.sum())
    histories = replace(
        histories,
        event_owner=owner,
        event_times=np.concatenate(times),
        event_weights=np.ones(len(owner)),
    )
    law = fit_law(replace(ahead, histories=histories), 1.0, 100.0)
    assert law.half_life <= 25.0


def test_few_events_ahead_do_not_tell_a_law(rng):
    before, after = rng.gamma(1.0, 1.0, (2, 800))
    ahead = look_ahead(rng, before, after)
    few = replace(ahead, seen=np.where(np.arange(800) < 9, 1.0, 0.0))
    assert fit_law(few, 0.7, 100.0) == FrailtyLaw(0.7)


def test_the_law_of_weights_two_is_that_of_all_individuals_twice(rng):
    before = rng.gamma(1.0, 1.0, 60)
    ahead = look_ahead(rng, before, 0.5 + 0.5 * before, weights=np.full(60, 2.0))
    histories, n = ahead.histories, 60
    twice = Ahead(
        Histories(
            np.tile(histories.entry, 2),
            Pieces(
                np.append(histories.pieces.owner, histories.pieces.owner + n),
                np.tile(histories.pieces.start, 2),
                np.tile(histories.pieces.stop, 2),
            ),
            np.tile(histories.expected, 2),
            np.append(histories.event_owner, histories.event_owner + n),
            np.tile(histories.event_times, 2),
            np.tile(histories.event_weights, 2),
        ),
        np.tile(ahead.now, 2),
        np.tile(ahead.expected, 2),
        np.tile(ahead.seen, 2),
        np.ones(2 * n),
        ahead.length,
    )
    assert fit_law(ahead, 0.8, 100.0) == fit_law(twice, 0.8, 100.0)


@pytest.mark.parametrize("spread", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("variance", [0.0, 0.5])
def test_the_spread_ahead_is_the_most_likely_one(variance, spread, rng):
    frailty = rng.gamma(2.0, 0.5, 400) if variance else np.ones(400)
    later = rng.gamma(1.0 / spread, spread, 400) if spread else np.ones(400)
    ahead = look_ahead(rng, frailty, frailty * later)
    found = fit_law(ahead, variance, 100.0)
    sums = ahead.histories.discount(ahead.now, found.fading)
    plain = replace(found, scale=1.0, extra=0.0)
    judged = {
        law: ahead.log_likelihood(law.judge(*sums))
        for scale, extra in product(law_module._SCALES, law_module._EXTRAS)
        for law in [replace(plain, scale=scale, extra=extra)]
    }
    best = max(judged, key=judged.get)
    is_worth_it = judged[best] > judged[plain] + law_module._WORTH_OF_SPREAD
    assert judged[found] == judged[best if is_worth_it else plain]


def test_pieces_after_a_time_are_cut_there():
    pieces = Pieces(
        np.array([0, 1, 2]), np.array([0.0, 1.0, 3.0]), np.array([2.0, 4.0, 5.0])
    )
    late = pieces.after(2.0)
    assert late.owner.tolist() == [1, 2]
    assert_allclose(late.start, [2.0, 3.0])
    assert_allclose(late.stop, [4.0, 5.0])


# --- Draws, and drifts of the first model files


def test_drawn_frailties_have_mean_and_variance(rng):
    frailties = Frailties(np.full(20_000, 1.5), np.full(20_000, 0.4))
    drawn = frailties.draw(rng)
    assert_allclose(drawn.mean(), 1.5, rtol=0.03)
    assert_allclose(drawn.var() / 1.5**2, 0.4, rtol=0.06)


@pytest.mark.parametrize("length", [0.0, 3.0, 40.0, 80.0, 200.0, 5000.0])
def test_variances_ahead_are_averaged_over_pairs_of_times(length):
    law = FrailtyLaw(0.5, half_life=8.0, drifts=True)
    times = (np.arange(1000) + 0.5) / 1000 * length
    drifts = np.minimum(law.fading * times, 10.0 * np.log(2.0))
    shared = 1.0 + np.minimum.outer(drifts, drifts)
    assert_allclose(law.spread(np.array([length])), shared.mean(), rtol=1e-4)


def test_drifts_end_where_nothing_more_is_forgotten():
    law = FrailtyLaw(0.5, half_life=1e-200)
    assert_allclose(law.spread(np.array([1.0, 1e100])), 1.0 + 10.0 * np.log(2.0))


def test_permanent_frailties_do_not_spread():
    assert_array_equal(FrailtyLaw(0.5).spread(np.array([0.0, 1e9])), [1.0, 1.0])
