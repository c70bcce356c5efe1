"""The rate of an individual is that of a unit, times its exposure."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score
from tests import oracles
from tests.fitted import change_frailty

import boostr
from boostr import BoostR, RecurrentEvents, Trajectories
from boostr._engine.statistics import compute_suffstats, put_on_clock
from boostr.basis import CalendarClock, PowerBasis, SensorBasis, SplineBasis, StepBasis
from boostr.exceptions import (
    InvalidEventsError,
    InvalidParameterError,
    SensorRangeWarning,
)
from boostr.inspection import explain, permutation_importance
from boostr.metrics import scorer

N, END = 60, 10.0
SETTINGS = {"n_estimators": 6, "max_leaf_nodes": 4, "n_folds": 3, "random_state": 0}
TIMES = np.array([0.0, 2.0, 5.0, 10.0, 14.0])


@pytest.fixture(scope="module")
def fleet():
    """Return features, lengths, flights and histories in proportion to the lengths."""
    rng = np.random.default_rng(5)
    X, length = rng.random((N, 2)), np.exp(rng.uniform(-1.5, 1.5, N))
    counts = rng.poisson(length * (1.0 + 3.0 * (X[:, 0] > 0.5)))
    events = [np.sort(rng.uniform(0.0, END, k)) for k in counts]
    flights = Trajectories.from_flat(
        np.tile([0.0, 3.0, 8.0, 12.0], N),
        4 * np.arange(N + 1),
        [np.tile([1.0, 3.0, 0.5, 4.0], N) * np.repeat(length, 4)],
        ["flights"],
    )
    return X, length, flights, RecurrentEvents.from_lists(events, end=END)


@pytest.fixture(scope="module")
def by_length(fleet):
    X, length, _, y = fleet
    return BoostR(**SETTINGS).fit(X, y, exposure=length)


@pytest.fixture(scope="module")
def by_flights(fleet):
    X, _, flights, y = fleet
    return BoostR(**SETTINGS).fit(X, y.with_exposure(flights))


def make_load(flights):
    """Return a sensor of the same individuals that stays in the range of training."""
    return flights._with(names=("load",), values=np.tile([1.0, 3.0, 2.0, 1.5], N)[None])


PIECES = [(0.0, 3.0, 1.0), (3.0, 8.0, 3.0), (8.0, 12.0, 0.5)]  # of flights, times length


def exposed_pieces(window, length):
    """Return the parts of a window with the flights in them."""
    parts = [
        (max(window[0], begin), min(window[1], end), length * flights)
        for begin, end, flights in PIECES
    ]
    return [part for part in parts if part[0] < part[1]]


@pytest.mark.slow
@pytest.mark.parametrize("family", [PowerBasis(), StepBasis(4), SplineBasis(2)])
def test_statistics_are_integrals_over_exposed_time(fleet, family):
    _, length, flights, y = fleet
    clocked = put_on_clock(y.with_exposure(flights), CalendarClock())
    basis = family.place(clocked, "intensity")
    stats = compute_suffstats(clocked, basis, "intensity")

    def rates(time):
        return basis.rates(np.array([time]))[0]

    for row in (0, 7):
        times = y[row].times
        linear = oracles.intensity_statistics(
            rates, [(0.0, END)], times, np.ones(len(times))
        )
        quadratic = sum(
            factor
            * oracles.intensity_statistics(rates, [(begin, end)], [], [], basis.breaks)[1]
            for begin, end, factor in exposed_pieces((0.0, END), length[row])
        )
        assert_allclose(stats.linear[row], linear[0], atol=1e-12)
        assert_allclose(stats.quadratic[row], oracles.lower_triangle(quadratic), rtol=1e-6)


@pytest.mark.parametrize("has_sensors", [False, True])
@pytest.mark.parametrize(("loss", "power"), [("intensity", 1), ("cumulative", 2)])
def test_constant_exposures_scale_statistics(fleet, has_sensors, loss, power):
    _, length, flights, y = fleet
    sensors = flights if has_sensors else None
    plain = put_on_clock(y, CalendarClock(), sensors)
    family = SensorBasis() if has_sensors else PowerBasis()
    basis = family.place(plain, loss)
    unit = compute_suffstats(plain, basis, loss)
    exposed = put_on_clock(y.with_exposure(length), CalendarClock(), sensors)
    stats = compute_suffstats(exposed, basis, loss)
    amounts = length[:, None]
    assert_allclose(stats.linear, unit.linear * amounts ** (power - 1))
    assert_allclose(stats.quadratic, unit.quadratic * amounts**power)


def test_sensors_and_time_see_the_same_series(fleet):
    _, _, flights, y = fleet
    exposed = put_on_clock(y.with_exposure(flights), CalendarClock(), flights)
    basis = SensorBasis().place(exposed, "intensity")
    stats = compute_suffstats(exposed, basis, "intensity")
    of_time = compute_suffstats(
        put_on_clock(y.with_exposure(flights), CalendarClock()),
        PowerBasis((1.0,)),
        "intensity",
    )
    assert_allclose(stats.quadratic[:, 0], of_time.quadratic[:, 0])


def test_the_cumulative_loss_refuses_exposures_that_change(fleet):
    X, _, flights, y = fleet
    with pytest.raises(InvalidEventsError, match="must not change in time"):
        BoostR(loss="cumulative", **SETTINGS).fit(X, y, exposure=flights)


@pytest.mark.slow
@pytest.mark.parametrize("has_sensors", [False, True])
def test_exposures_of_one_leave_all_bits(fleet, has_sensors):
    X, _, flights, y = fleet
    Z = make_load(flights) if has_sensors else None
    plain = BoostR(**SETTINGS).fit(X, y, Z)
    ones = BoostR(**SETTINGS).fit(X, y.with_exposure(1.0), Z)
    assert_array_equal(
        ones.predict_cumulative(X, TIMES, Z), plain.predict_cumulative(X, TIMES, Z)
    )
    exposed = y.with_exposure(1.0)
    expected = plain.forecast(X, y, 4.0, Z)
    assert ones.forecast(X, exposed, 4.0, Z).equals(expected)
    assert ones.score(X, exposed, Z=Z) == plain.score(X, y, Z=Z)
    drawn = [
        model.simulate(X, 2, own, horizon=4.0, Z=Z, random_state=1).times
        for model, own in ((plain, y), (ones, exposed))
    ]
    assert_array_equal(*drawn)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"leaf": "spline"}, {"clock": "calendar"}])
def test_the_unit_of_exposure_does_not_matter(fleet, settings):
    X, length, _, y = fleet
    km = BoostR(**SETTINGS, **settings).fit(X, y.with_exposure(length))
    miles = BoostR(**SETTINGS, **settings).fit(X, y.with_exposure(length / 1.6))
    columns = ["expected", "probability", "frailty", "next_event_median"]
    found = [
        model.forecast(X, y.with_exposure(own), 4.0).sort_values("id")[columns]
        for model, own in ((km, length), (miles, length / 1.6))
    ]
    assert_allclose(*found, rtol=1e-6)


def test_both_spellings_of_a_fit_are_the_same(fleet, by_length):
    X, length, _, y = fleet
    other = BoostR(**SETTINGS).fit(X, y.with_exposure(length))
    assert_array_equal(other.predict(X), by_length.predict(X))


def test_predictions_are_per_unit_by_default_and_proportional_to_exposure(fleet, by_length):
    X, length, _, _ = fleet
    unit = by_length.predict_cumulative(X, TIMES)
    assert_allclose(
        by_length.predict_cumulative(X, TIMES, exposure=length), length[:, None] * unit
    )
    assert_allclose(by_length.predict(X, exposure=2.0), 2.0 * by_length.predict(X))
    rates = by_length.predict_intensity(X, TIMES[1:])
    assert_allclose(by_length.predict_intensity(X, TIMES[1:], exposure=3.0), 3.0 * rates)
    counts = by_length.predict_count(X, 1.0, 4.0)
    assert_allclose(by_length.predict_count(X, 1.0, 4.0, exposure=length), length * counts)
    last = list(by_length.staged_predict_cumulative(X, TIMES, exposure=length))[-1]
    assert_allclose(last, length[:, None] * unit)
    held_out = by_length.predict_out_of_fold(TIMES)
    assert_allclose(
        by_length.predict_out_of_fold(TIMES, exposure=length), length[:, None] * held_out
    )


def test_exposures_of_new_individuals_are_matched_by_label(fleet):
    X, length, _, y = fleet
    table = pd.DataFrame(X, columns=["a", "b"], index=[f"P{i}" for i in range(N)])
    settings = SETTINGS | {"validation": None}
    model = BoostR(**settings).fit(table, y, exposure=length)
    expected = model.predict(table, exposure=length)
    by_label = pd.Series(length, index=table.index).sample(frac=1.0, random_state=0)
    assert_array_equal(model.predict(table, exposure=by_label), expected)
    assert_array_equal(model.predict(table, exposure=by_label.to_dict()), expected)


def test_a_series_is_used_ahead_and_its_last_value_held(fleet, by_flights):
    X, length, flights, y = fleet
    exposed = y.with_exposure(flights)
    table = by_flights.forecast(X, exposed, 10.0, own_history=False).sort_values("id")
    unit = by_flights.predict_cumulative(X, [10.0, 12.0, 20.0])
    ahead = length * (0.5 * (unit[:, 1] - unit[:, 0]) + 4.0 * (unit[:, 2] - unit[:, 1]))
    assert_allclose(table["expected"], ahead)
    counts = by_flights.predict_count(X, 10.0, 20.0, exposure=flights)
    assert_allclose(counts, ahead)


@pytest.mark.filterwarnings("ignore:.* events came while the exposure")
def test_the_next_event_comes_later_where_nothing_is_exposed_for_a_while(fleet):
    X, _, flights, y = fleet
    rest = flights._with(values=np.tile([1.0, 3.0, 0.0, 4.0], N)[None])
    model = BoostR(**SETTINGS).fit(X, y.with_exposure(rest))
    waits = model.predict_next_event(X, y.with_exposure(rest))
    assert np.all(waits > 2.0)  # flights begin again at time 12


def test_own_history_is_compared_with_what_the_exposure_expects(fleet, by_length):
    X, model = fleet[0], by_length
    expected = model.predict_count(X[:2], 0.0, END, exposure=[4.0, 8.0])
    counts = np.round(2.0 * expected[0]).astype(int), np.round(expected[1]).astype(int)
    events = [np.linspace(0.1, END, k) for k in counts]
    y = RecurrentEvents.from_lists(events, end=END, exposure=[4.0, 8.0])
    model = change_frailty(model, variance=0.5)
    table = model.forecast(X[:2], y, 5.0).sort_values("id")
    longer = model.forecast(X[:2], y.with_exposure([8.0, 8.0]), 5.0).sort_values("id")
    assert table["frailty"].iloc[0] > 1.4
    assert abs(table["frailty"].iloc[1] - 1.0) < 0.1
    assert abs(longer["frailty"].iloc[0] - 1.0) < 0.1


@pytest.mark.slow
def test_drawn_histories_have_the_expected_number_of_events(fleet, by_flights):
    X, _, flights, y = fleet
    exposed = y.with_exposure(flights)
    drawn = by_flights.simulate(
        X, 400, exposed, horizon=8.0, own_history=False, random_state=0
    )
    expected = by_flights.predict_count(X, 10.0, 18.0, exposure=flights)
    total = drawn.n_events.reshape(N, 400).mean(axis=1).sum()
    assert abs(total - expected.sum()) < 4.0 * np.sqrt(expected.sum() / 400 * 2.0)
    assert drawn.exposure.equals(exposed.exposure[np.repeat(np.arange(N), 400)])
    late = np.mean(drawn.times > 12.0)
    share = by_flights.predict_count(X, 12.0, 18.0, exposure=flights).sum() / expected.sum()
    assert abs(late - share) < 0.03


def test_the_fleet_is_the_sum_of_individuals(fleet, by_flights):
    X, _, flights, y = fleet
    exposed = y.with_exposure(flights)
    total = by_flights.forecast_fleet(X, exposed, 6.0)
    assert_allclose(total.expected, by_flights.forecast(X, exposed, 6.0)["expected"].sum())


def test_new_individuals_are_forecast_and_banded_with_exposures(fleet, by_length):
    X, length, _, _ = fleet
    expected = by_length.predict(X, horizon=6.0, exposure=length)
    table = by_length.forecast(X, horizon=6.0, exposure=length).sort_values("id")
    assert_allclose(table["expected"], expected)
    band = by_length.predict_band(X, [6.0], exposure=length)
    assert_allclose(band.expected[:, 0], expected)


def test_calibration_looks_at_exposures(fleet, by_length):
    X, length, _, y = fleet
    calibration = by_length.calibrate_forecast(X, y.with_exposure(length), 3.0)
    other = by_length.calibrate_forecast(X, y, 3.0, exposure=length)
    assert_array_equal(calibration.scores, other.scores)


@pytest.mark.slow
@pytest.mark.parametrize("has_sensors", [False, True])
@pytest.mark.parametrize("horizon", [7.0, [2.0, 7.0, 14.0]])
def test_reasons_add_up_to_the_exposed_prediction(fleet, has_sensors, horizon):
    X, length, flights, y = fleet
    Z = make_load(flights) if has_sensors else None
    model = BoostR(**SETTINGS).fit(X, y.with_exposure(flights), Z)
    for exposure in (length, flights):
        result = explain(model, X, horizon, Z, exposure=exposure)
        expected = model.predict_cumulative(X, horizon, Z, exposure=exposure)
        found = result.prediction.reshape(N, -1)
        assert_allclose(found, expected)
        parts = result.base + result.values.sum(axis=1) + result.above_zero
        assert_allclose(parts.reshape(N, -1), expected)
        assert np.abs(result.above_zero).max() < 0.5 * np.abs(expected).max()


def test_reasons_are_in_proportion_to_a_constant_exposure(fleet, by_length):
    X, length, _, y = fleet
    unit = explain(by_length, X, start=1.0, stop=6.0)
    exposed = explain(by_length, X, start=1.0, stop=6.0, exposure=length)
    assert_allclose(exposed.values, unit.values * length[:, None], atol=1e-12)
    assert_allclose(exposed.base, unit.base * length)
    reasons = by_length.explain_forecast(X, y.with_exposure(length), 5.0)
    table = by_length.forecast(X, y.with_exposure(length), 5.0).sort_values("id")
    assert_allclose(reasons.prediction, table["expected"])


def test_a_series_with_the_values_of_numbers_explains_the_same(fleet, by_length):
    X, length, flights, _ = fleet
    # A change that is too small to matter, but makes a series of it.
    almost = flights._with(
        values=np.repeat(length, 4)[None] * np.tile([1, 1, 1, 1 + 1e-9], N)
    )
    sides = [explain(by_length, X, 14.0, exposure=one) for one in (length, almost)]
    assert_allclose(sides[1].values, sides[0].values, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_the_score_is_the_likelihood_of_exposed_time(fleet, by_flights):
    X, length, flights, y = fleet
    exposed, clock = y.with_exposure(flights), by_flights.reference_clock_
    expected = by_flights.predict_count(X, 0.0, END, exposure=flights)
    average = sum(
        factor * np.diff(clock.read(np.array([begin, end])))[0]
        for begin, end, factor in exposed_pieces((0.0, END), 1.0)
    )
    owner, times = y.event_owner, y.times
    unit = np.array(
        [by_flights.predict_intensity(X[[i]], [t])[0, 0] for i, t in zip(owner, times)]  # noqa: B905
    )
    logs = np.log(np.maximum(unit / clock.rate(times), 1e-3))
    total = np.sum(logs) - np.sum(expected - length * average)
    assert_allclose(by_flights.score(X, exposed), total / N)


@pytest.mark.slow
def test_scikit_learn_and_scorers_carry_exposures(fleet):
    X, length, _, y = fleet
    exposed = y.with_exposure(length)
    model = BoostR(n_estimators=3, validation=None, random_state=0)
    assert np.all(np.isfinite(cross_val_score(model, X, exposed, cv=3)))
    fitted = model.fit(X, exposed)
    expected = fitted.predict_count(X, 0.0, END, exposure=length)
    n = y.n_events
    deviance = 2.0 * np.mean(
        np.where(n > 0, n * np.log(np.maximum(n, 1) / expected), 0.0) - n + expected
    )
    assert_allclose(-scorer("poisson_deviance")(fitted, X, exposed), deviance)
    assert np.isfinite(scorer("point_process_log_likelihood")(fitted, X, exposed))


def test_permutation_importance_measures_the_loss_of_exposed_time(fleet, by_length):
    X, length, _, y = fleet
    loss = permutation_importance(by_length, X, y.with_exposure(length)).loss
    other = permutation_importance(by_length, X, y.with_exposure(2.0 * length)).loss
    assert loss < other  # the model expects as many events as there were, not twice


@pytest.mark.slow
def test_sensors_that_follow_from_events_go_with_exposures(fleet):
    X, _, flights, y = fleet
    few = slice(0, 25)
    settings = SETTINGS | {"n_estimators": 2}

    def since(histories, until):
        made = Trajectories.from_events(histories)
        return made.time_since_event(histories, until=until)

    ones = BoostR(**settings).fit(X[few], y[few].with_exposure(1.0), since)
    plain = BoostR(**settings).fit(X[few], y[few], since)
    Z = since(y[few], y[few].end)
    assert_array_equal(ones.predict(X[few], Z), plain.predict(X[few], Z))
    exposed = y.with_exposure(flights)[few]
    model = BoostR(**settings).fit(X[few], exposed, since)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SensorRangeWarning)
        table = model.forecast(X[few], exposed, 4.0, since, n_paths=20)
    assert np.isfinite(table["expected"]).all()
    assert (table["expected"] > 0.0).all()


def test_a_model_with_exposures_refuses_histories_without(fleet, by_length):
    X, _, _, y = fleet
    for ask in (by_length.forecast, by_length.score, by_length.forecast_fleet):
        with pytest.raises(InvalidEventsError, match="histories have none") as caught:
            ask(X, y)
        assert "Hint:" in str(caught.value)


def test_a_model_without_exposures_refuses_some(fleet):
    X, length, _, y = fleet
    model = BoostR(n_estimators=2, validation=None).fit(X, y)
    for ask in (
        lambda: model.forecast(X, y.with_exposure(length)),
        lambda: model.forecast(X, exposure=length),
        lambda: model.score(X, y.with_exposure(length)),
        lambda: model.predict(X, exposure=length),
        lambda: explain(model, X, exposure=length),
    ):
        with pytest.raises(InvalidParameterError, match="fitted without exposures"):
            ask()


def test_a_file_keeps_that_there_were_exposures(fleet, by_length, tmp_path):
    X, length, _, y = fleet
    by_length.save(tmp_path / "pipes.boostr")
    loaded = boostr.load(tmp_path / "pipes.boostr")
    assert loaded.has_exposure_
    exposed = y.with_exposure(length)
    assert loaded.forecast(X, exposed, 4.0).equals(by_length.forecast(X, exposed, 4.0))
    with pytest.raises(InvalidEventsError, match="histories have none"):
        loaded.forecast(X, y)
