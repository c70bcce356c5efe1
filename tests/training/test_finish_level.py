from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests import oracles, oracles_clock
from tests.fitted import make_settings

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr._engine.binning import BinMapper
from boostr._engine.ensemble import Ensemble
from boostr._training.finish import fit_link
from boostr._training.inputs import TrainingData
from boostr.basis import CalendarClock, OperationalClock, PowerBasis

SETTINGS = make_settings()
FLOORS = (0.02, 0.05, 0.1, 0.2, 0.4)


def make_data(rng, rates, weights=None):
    """Poisson histories with constant rates and staggered ends."""
    n = len(rates)
    end = rng.uniform(4.0, 10.0, n)
    times = [
        np.sort(rng.uniform(0.0, stop, rng.poisson(rate * stop)))
        for stop, rate in zip(end, rates, strict=True)
    ]
    events = RecurrentEvents.from_lists(times, end=end)
    weights = np.ones(n) if weights is None else weights
    return TrainingData(np.zeros((n, 1)), events, weights, None, np.ones(n, dtype=bool))


def make_ensemble(clock):
    mapper = BinMapper.from_quantiles(
        np.zeros((4, 1)), 16, np.array([False]), np.zeros(1, dtype=np.int32)
    )
    return Ensemble(clock, PowerBasis((1.0,)), mapper, 10.0, ())


@pytest.fixture
def predicted(rng):
    return rng.normal(1.0, 0.6, (300, 1))


@pytest.fixture
def data(rng, predicted):
    return make_data(rng, np.maximum(predicted[:, 0], 0.3))


@pytest.fixture
def on_clock(data):
    return make_ensemble(OperationalClock.from_events(data.events))


def total(ensemble, data, theta):
    """Return how many events are expected of all individuals, by their weights."""
    curves, rows = ensemble.curves(theta), np.arange(len(data))
    expected = curves.values_at(rows, ensemble.clock.read(data.events.end))
    return data.weights @ expected


def log_likelihood(data, clock, rates):
    """Return that of the events, with rates on the clock, at the right level."""
    times, n = clock.read(data.events.end), len(data.events.times)
    level = n / np.sum(rates * times)
    return np.sum(np.log(level * rates[data.events.event_owner])) - n


def test_as_many_events_are_expected_out_of_fold_as_there_were(on_clock, data, predicted):
    ensemble, level = fit_link(on_clock, data, predicted, SETTINGS)
    found = total(ensemble, data, level * predicted)
    assert_allclose(found, len(data.events.times), rtol=1e-9)


@pytest.mark.parametrize("least", [0.03, 0.5])
def test_the_floor_is_the_one_by_which_events_are_the_most_likely(rng, predicted, least):
    data = make_data(rng, np.maximum(predicted[:, 0], least))
    clock = OperationalClock.from_events(data.events)
    likelihoods = []
    for floor in FLOORS:
        rates = np.array([oracles.bend_rate(rate, floor) for rate in predicted[:, 0]])
        likelihoods.append(log_likelihood(data, clock, rates))
    ensemble, level = fit_link(make_ensemble(clock), data, predicted, SETTINGS)
    assert_allclose(ensemble.floor / level, FLOORS[int(np.argmax(likelihoods))])


def test_a_higher_least_rate_has_a_higher_floor(predicted):
    floors = []
    for least in (0.02, 0.5):
        data = make_data(np.random.default_rng(1), np.maximum(predicted[:, 0], least))
        clock = OperationalClock.from_events(data.events)
        ensemble, level = fit_link(make_ensemble(clock), data, predicted, SETTINGS)
        floors.append(ensemble.floor / level)
    assert floors[0] < floors[1]


def test_the_level_stays_within_bounds(on_clock, data):
    for rate, level in ((10.0, 0.5), (0.01, 2.0)):
        theta = np.full((300, 1), rate)
        assert fit_link(on_clock, data, theta, SETTINGS)[1] == level


@pytest.mark.parametrize(
    "changed", [{"loss": "cumulative"}, {"monotone": False}, {"theta": None}]
)
def test_without_what_it_takes_to_judge_the_floor_is_the_usual_one(
    on_clock, data, predicted, changed
):
    theta = changed.get("theta", predicted)
    settings = make_settings(**{k: v for k, v in changed.items() if k != "theta"})
    ensemble, level = fit_link(on_clock, data, theta, settings)
    assert (ensemble.floor, level) == (0.1, 1.0)


def test_floors_are_shares_of_the_average_rate_on_the_calendar(data):
    ensemble, _ = fit_link(make_ensemble(CalendarClock()), data, None, SETTINGS)
    rate = len(data.events.times) / data.events.end.sum()
    assert_allclose(ensemble.floor, 0.1 * rate)


def test_without_events_there_is_no_floor():
    events = RecurrentEvents.from_lists([[], []], end=5.0)
    data = TrainingData(np.zeros((2, 1)), events, np.ones(2), None, np.ones(2, dtype=bool))
    ensemble, level = fit_link(
        make_ensemble(CalendarClock()), data, np.zeros((2, 1)), SETTINGS
    )
    assert (ensemble.floor, level) == (None, 1.0)


def test_a_share_that_is_held_out_tells_the_floor_and_all_tell_the_level(
    on_clock, data, predicted
):
    known = np.arange(300) % 3 > 0
    theta = np.where(known[:, None], predicted, np.nan)
    found, level = fit_link(on_clock, data, theta, SETTINGS)
    some = data.take(np.flatnonzero(known))
    expected, expected_level = fit_link(on_clock, some, predicted[known], SETTINGS)
    assert_allclose(found.floor / level, expected.floor / expected_level)
    # An ensemble without trees predicts 0 for all whom it has seen.
    everybody = np.where(known[:, None], predicted, 0.0)
    events = total(found, data, level * everybody)
    assert_allclose(events, len(data.events.times), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.* events came while the exposure")
def test_events_without_exposure_do_not_tell_a_floor(on_clock, data, predicted):
    n = len(data)
    samples = Trajectories.from_flat(
        np.tile([0.0, 2.0, 4.0], n),
        3 * np.arange(n + 1),
        [np.tile([1.0, 0.0, 2.0], n)],
        ["flights"],
    )
    owner, times = data.events.event_owner, data.events.times
    is_exposed = (times <= 2.0) | (times > 4.0)
    floors = []
    for is_in in (is_exposed, np.ones(len(times), dtype=bool)):
        lists = [times[is_in & (owner == row)] for row in range(n)]
        events = RecurrentEvents.from_lists(lists, end=data.events.end, exposure=samples)
        found = fit_link(on_clock, replace(data, events=events), predicted, SETTINGS)
        floors.append(found[0].floor / found[1])
    assert_allclose(*floors)


def test_weight_two_is_the_individual_twice(rng, on_clock, data, predicted):
    weights = rng.choice([1.0, 2.0], 300)
    rows = np.repeat(np.arange(300), weights.astype(int))
    weighed = TrainingData(data.features, data.events, weights, None, data.is_used)
    twice = TrainingData(
        data.features[rows],
        data.events[rows],
        np.ones(len(rows)),
        None,
        np.ones(len(rows), dtype=bool),
    )
    found, level = fit_link(on_clock, weighed, predicted, SETTINGS)
    expected, expected_level = fit_link(on_clock, twice, predicted[rows], SETTINGS)
    assert_allclose([found.floor, level], [expected.floor, expected_level])


# --- In fitted models


@pytest.mark.slow
def test_fitted_models_expect_as_many_events_out_of_fold_as_there_were(fleet):
    model = BoostR(n_estimators=30, random_state=0).fit(fleet.X, fleet.y)
    curves = model.ensemble_.curves(model.out_of_fold_coefficients_)
    rows, read = np.arange(len(fleet.y)), model.clock_.read
    expected = curves.values_at(rows, read(fleet.y.end))
    expected -= curves.values_at(rows, read(fleet.y.start))
    assert_allclose(expected.sum(), len(fleet.y.times), rtol=1e-6)


@pytest.mark.slow
def test_models_with_a_held_out_share_expect_about_as_many_events_as_there_were(fleet):
    expected = []
    for seed in range(3):  # whose held-out individuals have more or fewer events
        model = BoostR(n_estimators=30, validation=0.2, random_state=seed)
        model.fit(fleet.X, fleet.y)
        expected.append(model.predict_count(fleet.X, fleet.y.start, fleet.y.end).sum())
    assert_allclose(expected, len(fleet.y.times), rtol=0.03)


class Common:
    """The curve that a model predicts for everybody, read like a clock."""

    def __init__(self, model):
        self.model = model

    def read(self, times):
        flat = self.model.predict_cumulative(np.ones((1, 1)), times.ravel())
        return flat.reshape(times.shape)


def test_a_constant_feature_leaves_the_events_of_every_tenth_of_time(rng):
    end = rng.uniform(2.0, 10.0, 400)
    start = np.where(rng.random(400) < 0.5, 0.0, rng.uniform(0.0, 2.0, 400))
    times = []
    for first, last in zip(start, end, strict=True):
        tried = rng.uniform(first, last, rng.poisson(2.0 * (last - first)))
        kept = rng.random(len(tried)) < np.where(tried < 5.0, 1.0, 0.3)
        times.append(np.sort(tried[kept]))
    events = RecurrentEvents.from_lists(times, end=end, start=start)
    settings = {"n_estimators": 5, "validation": None, "n_origins": 0}
    model = BoostR(random_state=0, **settings).fit(np.ones((400, 1)), events)
    edges = np.linspace(0.0, 10.0, 11)
    expected = oracles_clock.expected_events(Common(model), events, edges)
    came = np.histogram(events.times, edges)[0]
    assert np.all(np.abs(expected - came) <= np.maximum(0.05 * came, 2.0 * came**0.5))
