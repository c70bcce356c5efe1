"""Events after which further ones are rarer for a while."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate
from scipy.special import gamma

import boostr
from boostr import BoostR, RecurrentEvents
from boostr._frailty.law import FrailtyLaw, Histories, Pieces, add_renewal
from boostr._frailty.own_pace import OwnPace
from boostr._frailty.renewal import Recent, Renewal, RenewalCells

END = 1000.0
GAP = 200.0  # mean time between events


def draw_gaps(shape, n, rng):
    """Return events of individuals that begin as good as new, and become it by events."""
    scale = GAP / gamma(1.0 + 1.0 / shape)
    found = []
    for _ in range(n):
        times = np.cumsum(scale * rng.weibull(shape, 60))
        found.append(times[times < END])
    return found


def make_histories(times, cell=END / 64):
    """Return histories in which an event is expected every ``GAP``."""
    n, edges = len(times), np.arange(0.0, END + cell / 2, cell)
    k = len(edges) - 1
    pieces = Pieces(
        np.repeat(np.arange(n), k), np.tile(edges[:-1], n), np.tile(edges[1:], n)
    )
    owner = np.repeat(np.arange(n), [len(own) for own in times])
    flat = np.concatenate(times)
    return Histories(
        np.zeros(n), pieces, np.full(n * k, cell / GAP), owner, flat, np.ones(len(flat))
    )


def fit(times, variance=0.0, weights=None):
    n, law = len(times), FrailtyLaw(variance)
    weights = np.ones(n) if weights is None else weights
    histories = make_histories(times)
    return add_renewal(law, histories, END / 64, weights, np.full(n, END), END).renewal


# --- Factors of single individuals


@given(
    changes=st.lists(st.floats(0.05, 4.0), min_size=1, max_size=4),
    gaps=st.lists(st.floats(0.0, 2.0), min_size=4, max_size=4),
    at=st.floats(0.0, 9.0),
)
def test_paced_curves_are_integrals_of_paced_rates(changes, gaps, at):
    begins = np.cumsum(gaps[: len(changes)])

    def rate(time):
        place = np.searchsorted(begins, time, side="right") - 1
        return 2.0 * time * (changes[place] if place >= 0 else 1.0)

    inside = np.unique(begins[(begins > 0.0) & (begins < at)])
    expected = sum(
        integrate.quad(rate, low, high)[0]
        for low, high in zip(np.append(0.0, inside), np.append(inside, at), strict=True)
    )
    factors = np.diff(changes, prepend=1.0)
    pace = OwnPace(begins[:, None] ** 2, factors[:, None])
    found = pace.change(np.array([at**2]), np.zeros(1, dtype=np.intp))
    assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def look_ahead(renewal, events, expected, *, rate=0.01, frailty=1.0):
    recent = Recent(
        np.array([50.0]),
        np.array([50.0]),
        np.array([float(events)]),
        np.array([float(expected)]),
        np.array([frailty]),
    )
    pace = renewal.look_ahead(recent, lambda rows, times: rate * times)
    times = np.linspace(50.0, 5000.0, 2000)
    plain = rate * times
    return times, np.diff(pace.change(plain, np.zeros(2000, dtype=np.intp))) / np.diff(
        plain
    )


@pytest.mark.parametrize("half_life", [30.0, np.inf])
@pytest.mark.parametrize(("events", "expected"), [(2, 0.5), (0, 0.5), (0, 2.0), (9, 1.0)])
def test_factors_begin_at_what_events_tell_and_return_to_one(half_life, events, expected):
    renewal = Renewal(0.8, 0.7, half_life)
    _, factors = look_ahead(renewal, events, expected)
    begin = np.exp(np.clip(0.7 * expected - 0.8 * events, -3.0, 3.0)) - 1.0
    assert np.all(np.diff(np.abs(factors - 1.0)) <= 1e-9)  # ever nearer
    assert begin * (factors[0] - 1.0) >= 0.0
    assert abs(factors[0] - 1.0) >= 0.8 * abs(begin)
    assert factors[-1] == pytest.approx(1.0)


def test_nothing_changes_where_as_many_events_came_as_balance():
    _, factors = look_ahead(Renewal(0.8, 0.4, 30.0), 1, 2.0)
    assert_allclose(factors, 1.0)


@given(
    drop=st.floats(0.1, 3.0),
    share=st.floats(0.3, 2.0),
    half_life=st.floats(1e-3, 1e9) | st.just(np.inf),
    events=st.floats(0.0, 50.0),
    expected=st.floats(0.0, 50.0),
    rate=st.floats(1e-6, 1e3) | st.just(0.0),
    frailty=st.floats(1e-3, 1e3),
)
def test_rates_stay_positive_and_finite(
    drop, share, half_life, events, expected, rate, frailty
):
    renewal = Renewal(drop, share * drop, half_life)
    if rate > 0.0:
        _, factors = look_ahead(renewal, events, expected, rate=rate, frailty=frailty)
        assert np.all((factors > 0.0) & (factors < 30.0))
    else:
        pace = renewal.look_ahead(
            Recent(*np.array([[50.0], [50.0], [events], [expected], [frailty]])),
            lambda rows, times: 0.0 * times,
        )
        assert_array_equal(pace.change(np.zeros(1), np.zeros(1, dtype=np.intp)), 0.0)


# --- What histories show


@pytest.mark.parametrize("seed", range(5))
def test_regular_gaps_show_renewal(seed):
    found = fit(draw_gaps(3.0, 100, np.random.default_rng(seed)))
    assert found is not None
    assert found.drop >= 0.6


@pytest.mark.parametrize("variance", [0.0, 0.5])
def test_chance_and_frailties_show_none(variance):
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        frailty = rng.gamma(1.0 / variance, variance, 100) if variance else np.ones(100)
        times = [np.sort(rng.random(k) * END) for k in rng.poisson(5.0 * frailty)]
        found += fit(times, variance) is not None
    assert found <= 1


def test_events_that_excite_further_ones_show_none():
    rng = np.random.default_rng(0)
    first = [rng.random(rng.poisson(3.0)) * END for _ in range(200)]
    times = [np.sort(np.append(own, own + 5.0 * rng.random(len(own)))) for own in first]
    assert fit([own[own < END] for own in times]) is None


def test_a_weight_of_two_counts_as_two_individuals():
    times = draw_gaps(3.0, 40, np.random.default_rng(1))
    weights = np.where(np.arange(40) < 15, 2.0, 1.0)
    twice = fit([*times, *times[:15]])
    found = fit(times, weights=weights)
    assert found.half_life == twice.half_life
    assert found.drop == twice.drop
    assert found.rise == pytest.approx(twice.rise)


def test_recent_rates_stay_as_they_are_on_average():
    times = draw_gaps(3.0, 300, np.random.default_rng(2))
    renewal = fit(times)
    histories = make_histories(times)
    total = 0.0
    for now in np.linspace(0.9 * END, END, 20):
        past = histories.event_times < now
        pieces = histories.pieces
        share = np.clip((now - pieces.start) / (pieces.stop - pieces.start), 0.0, 1.0)
        known = replace(
            histories,
            expected=share * histories.expected,
            event_owner=histories.event_owner[past],
            event_times=histories.event_times[past],
            event_weights=histories.event_weights[past],
        )
        sums = known.discount(np.full(300, now), renewal.fading)
        total += np.exp(renewal.change(*sums)).mean() / 20
    assert total == pytest.approx(1.0, abs=0.05)


def test_scores_of_poisson_counts_have_a_variance_of_one():
    rng = np.random.default_rng(3)
    scores = []
    for _ in range(300):
        expected = rng.random((12, 60))
        events = rng.poisson(expected).astype(float)
        before = np.cumsum(events, axis=0) - events
        so_far = np.cumsum(expected, axis=0) - expected
        cells = RenewalCells(events, expected, np.ones(60), np.ones((12, 60)))
        scores.append(cells.score(before, so_far))
    assert np.mean(scores) == pytest.approx(0.0, abs=0.2)  # few tell their own spread
    assert np.std(scores) == pytest.approx(1.0, abs=0.15)


def test_without_validation_no_renewal_is_found_in_events_that_trees_have_seen():
    rng = np.random.default_rng(5)
    X, end = rng.random((300, 5)), np.full(300, END)
    times = [np.sort(rng.uniform(0.0, END, n)) for n in rng.poisson(3.0, 300)]
    y = RecurrentEvents.from_lists(times, end=end)
    model = BoostR(n_estimators=60, validation=None, min_samples_leaf=5, random_state=0)
    assert model.fit(X, y).fitted_.forecast_law.frailty.renewal is None


# --- Forecasts


def split(y):
    return np.split(y.times, y.event_offsets[1:-1])


@pytest.fixture(scope="module")
def repaired():
    """Return a model of machines that repairs make as good as new, and their histories."""
    rng = np.random.default_rng(4)
    y = RecurrentEvents.from_lists(draw_gaps(3.0, 300, rng), end=END)
    X = rng.random((300, 2))
    model = BoostR(n_estimators=20, validation=0.2, random_state=0).fit(X, y)
    assert model.fitted_.forecast_law.frailty.renewal is not None
    return model, X, y


def test_forecasts_are_lower_for_a_while_after_an_event(repaired):
    model, X, y = repaired
    last = np.array([own[-1] if len(own) else 0.0 for own in split(y)])
    near, far = (
        model.forecast(X, y, horizon).sort_values("id")["frailty"].to_numpy()
        for horizon in (0.2 * GAP, 10.0 * GAP)
    )
    is_new, is_old = END - last < 0.2 * GAP, END - last > GAP
    assert near[is_new].mean() < 0.6 * near.mean()
    assert near[is_old].mean() > 1.3 * near.mean()
    assert np.std(far) < 0.3 * np.std(near)


def test_totals_stay_level(repaired):
    model, X, y = repaired
    total = model.forecast_fleet(X, y, 0.5 * GAP).expected
    assert total == pytest.approx(300 * 0.5, rel=0.12)  # one event in a gap


def test_more_is_expected_over_a_longer_time(repaired):
    model, X, y = repaired
    expected = [
        model.forecast(X, y, horizon).sort_values("id")["expected"].to_numpy()
        for horizon in np.geomspace(1.0, 5000.0, 12)
    ]
    assert np.all(np.diff(expected, axis=0) > 0.0)


def test_next_events_come_when_chances_say(repaired):
    model, X, y = repaired
    waits = model.predict_next_event(X, y, 0.5)
    for place in (0, 7, 123):
        one = model.forecast(X[[place]], y[[place]], float(waits[place]))
        assert one["probability"].iloc[0] == pytest.approx(0.5, abs=1e-4)


def test_without_own_history_nothing_is_renewed(repaired):
    model, X, y = repaired
    plain = model.forecast(X, y, 50.0, own_history=False)
    assert_array_equal(plain["frailty"], 1.0)


def test_reasons_add_up_to_the_forecast(repaired):
    model, X, y = repaired
    expected = model.forecast(X, y, 50.0).sort_values("id")["expected"].to_numpy()
    assert_allclose(model.explain_forecast(X, y, 50.0).prediction, expected)


def test_simulated_futures_have_as_many_events_as_forecasts(repaired):
    model, X, y = repaired
    expected = model.forecast(X, y, 50.0).sort_values("id")["expected"].to_numpy()
    drawn = model.simulate(X, 200, y, horizon=50.0, random_state=0)
    counts = drawn.n_events.reshape(300, 200).mean(axis=1)
    assert_allclose(counts, expected, atol=5.0 * np.sqrt(expected.max() / 200))
    assert np.corrcoef(counts, expected)[0, 1] > 0.9


def test_model_files_keep_renewal(repaired, tmp_path):
    model, X, y = repaired
    model.save(tmp_path / "model.boostr")
    again = boostr.load(tmp_path / "model.boostr")
    assert again.fitted_.forecast_law.frailty == model.fitted_.forecast_law.frailty
    assert model.forecast(X, y, 50.0).equals(again.forecast(X, y, 50.0))
