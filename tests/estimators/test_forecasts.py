import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from tests.fitted import change_frailty

from boostr import BoostR, Panel, RecurrentEvents, Trajectories
from boostr._forecasting.arguments import warn_of_unknown
from boostr.basis import PowerBasis
from boostr.exceptions import (
    DataWarning,
    InvalidEventsError,
    InvalidParameterError,
    InvalidSensorsError,
)

COLUMNS = [
    "id",
    "now",
    "expected",
    "probability",
    "lower",
    "upper",
    "next_event_median",
    "frailty",
]


def draw_fleet(n, variance, seed, end=100.0, rate=0.08):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    frailty = rng.gamma(1.0 / variance, variance, n) if variance > 0 else np.ones(n)
    scale = rate * (1.0 + 2.0 * (X[:, 0] > 0.5)) * frailty
    events = [rng.uniform(0.0, end, count) for count in rng.poisson(scale * end)]
    return X, RecurrentEvents.from_lists(events, end=end), scale


def small(**params):
    settings = {
        "n_estimators": 6,
        "learning_rate": 0.5,
        "max_leaf_nodes": 2,
        "min_samples_leaf": 20,
        "splitter": "best",
        "leaf": PowerBasis((1.0,)),
        "n_folds": 2,
        "random_state": 0,
    }
    return BoostR(**(settings | params))


@pytest.fixture(scope="module")
def frail():
    X, y, scale = draw_fleet(200, 0.8, seed=1)
    return small().fit(X, y), X, y, scale


@pytest.fixture(scope="module")
def monitored():
    X, y, _ = draw_fleet(40, 0.5, seed=2)
    loads = np.random.default_rng(2).uniform(size=(1, 120))
    Z = Trajectories.from_flat(
        np.tile([0.0, 30.0, 60.0], 40), np.arange(0, 121, 3), loads, ["load"]
    )
    model = small(n_estimators=2, validation=None, sensor_penalty="ridge", n_knots=0)
    return model.fit(X, y, Z), X, y, Z


@pytest.fixture(scope="module")
def remembering():
    X, y, _ = draw_fleet(40, 0.5, seed=3, rate=0.02)

    def memory(y, until):
        return Trajectories.from_events(y).events_in_window(y, 30.0)

    model = small(n_estimators=2, validation=None, sensor_penalty="ridge", n_knots=0)
    return model.fit(X, y, memory(y, y.end)), X, y, memory


def in_order(table):
    return table.sort_values("id", ignore_index=True)


def test_the_table_is_sorted_by_risk_and_has_the_promised_columns(frail):
    model, X, y, _ = frail
    table = model.forecast(X, y, horizon=20)
    assert table.columns.tolist() == COLUMNS
    assert (np.diff(table["expected"]) <= 0.0).all()
    assert sorted(table["id"]) == list(range(200))


def test_frailties_follow_the_gamma_posterior_of_what_was_expected(frail):
    model, X, y, _ = frail
    assert 0.4 < model.frailty_variance_ < 1.4
    assert np.isinf(model.frailty_half_life_)
    table = in_order(model.forecast(X, y, horizon=20))
    found = table["frailty"].to_numpy()
    # All were observed equally long: those with the same curve differ by events alone.
    theta = model.ensemble_.coefficients(X)[:, 0]
    values, counts = np.unique(theta.round(9), return_counts=True)
    same = np.abs(theta - values[np.argmax(counts)]) < 1e-8
    assert same.sum() > 50
    assert_allclose((table["expected"] / found)[same].std(), 0.0, atol=1e-9)
    slope, first = np.polyfit(y.n_events[same], found[same], 1)
    assert_allclose(found[same], first + slope * y.n_events[same])
    assert_allclose(slope / first, model.frailty_variance_)


def test_own_history_can_be_switched_off(frail):
    model, X, y, _ = frail
    table = in_order(model.forecast(X, y, horizon=20, own_history=False))
    assert (table["frailty"] == 1.0).all()
    assert_allclose(table["expected"], model.predict_count(X, 100.0, 120.0), rtol=1e-9)


def test_own_history_brings_forecasts_closer_to_the_truth(frail):
    model, X, y, scale = frail
    errors = [
        np.mean((in_order(table)["expected"] - 20.0 * scale) ** 2)
        for table in (
            model.forecast(X, y, horizon=20),
            model.forecast(X, y, horizon=20, own_history=False),
        )
    ]
    assert errors[0] < 0.4 * errors[1]


def test_a_new_individual_gets_the_plain_model(frail):
    model, X, _, _ = frail
    table = in_order(model.forecast(X[:5], horizon=30))
    assert (table["frailty"] == 1.0).all()
    assert_allclose(table["expected"], model.predict(X[:5], horizon=30), rtol=1e-9)


def test_what_came_after_now_is_not_looked_at(frail):
    model, X, y, _ = frail
    lists = [times[times <= 40.0] for times in np.asarray(y)]
    cut = RecurrentEvents.from_lists(lists, end=40.0)
    pd.testing.assert_frame_equal(
        model.forecast(X, y, horizon=20, now=40.0), model.forecast(X, cut, horizon=20)
    )


def test_a_present_after_the_end_of_follow_up_is_a_warning(frail):
    model, X, y, _ = frail
    now = float(np.median(y.end))
    known = y[y.end >= now]
    model.forecast(X[y.end >= now], known, horizon=20, now=now)  # nothing is unknown
    with pytest.warns(
        DataWarning, match=r"end of follow-up of 1 of 3 individuals \(ids 2\)"
    ):
        model.forecast(X[:3], y[:3], 20, now=np.append(y.end[:2], y.end[2] + 5.0))


def test_nothing_is_unknown_of_the_dead():
    y = RecurrentEvents.from_lists([[3.0], []], end=[4.0, 9.0])
    warn_of_unknown(y.with_terminal([1, 1]), np.array([10.0, 10.0]))
    with pytest.warns(DataWarning, match=r"of 1 of 2 individuals \(ids 1\), by 1 unit "):
        warn_of_unknown(y.with_terminal([1, 0]), np.array([10.0, 10.0]))


def test_only_observed_time_counts(frail):
    model, X, _, _ = frail
    windows = pd.DataFrame(
        {"id": [0, 0], "start": [0.0, 80.0], "stop": [20.0, 100.0], "event": [True, False]}
    )
    gap = RecurrentEvents.from_start_stop(windows, "id", "start", "stop", "event")
    table = model.forecast(X[:1], gap, horizon=20)
    predicted = model.predict_count(X[:1], 0.0, 20.0) + model.predict_count(
        X[:1], 80.0, 100.0
    )
    bound = sorted([1.0, 1.0 / predicted[0]])
    assert bound[0] < table["frailty"][0] < bound[1]
    whole = RecurrentEvents.from_lists([[20.0]], end=100.0)
    assert table["frailty"][0] > model.forecast(X[:1], whole, horizon=20)["frailty"][0]


def test_probability_interval_and_median_belong_to_one_distribution(frail):
    model, X, y, _ = frail
    table = in_order(model.forecast(X, y, horizon=20, quantiles=[0.9]))
    half = in_order(model.forecast(X, y, table["next_event_median"].to_numpy()))
    assert_allclose(half["probability"], 0.5, atol=0.01)
    assert (table["next_event_q90"] > table["next_event_median"]).all()
    assert ((table["lower"] <= table["expected"]) & (table["upper"] >= 0.0)).all()


def test_more_events_are_less_probable(frail):
    model, X, y, _ = frail
    one, three = (in_order(model.forecast(X, y, 20, k=k))["probability"] for k in (1, 3))
    assert (one > three).all()


def test_intervals_of_drawn_futures_cover_what_was_drawn(frail):
    model, X, y, _ = frail
    paths = model.simulate(X, 50, y, horizon=20, random_state=0)
    table = in_order(model.forecast(X, y, horizon=20))
    counts = paths.n_events.reshape(200, 50)
    assert_allclose(counts.mean(), table["expected"].mean(), rtol=0.05)
    is_in = (counts >= table["lower"].to_numpy()[:, None]) & (
        counts <= table["upper"].to_numpy()[:, None]
    )
    assert abs(is_in.mean() - 0.9) < 0.02


def test_drawn_histories_follow_the_predicted_curves():
    X, y, _ = draw_fleet(150, 0.0, seed=5)
    model = small().fit(X, y)
    paths = model.simulate(X[:1], 3000, horizon=100, own_history=False, random_state=1)
    shares = model.predict_cumulative(X[:1], paths.times)[0] / model.predict(X[:1])[0]
    assert stats.kstest(shares, "uniform").pvalue > 0.001


def test_drawn_histories_carry_ids_and_windows(frail):
    model, X, y, _ = frail
    named = RecurrentEvents.from_lists(
        [times.tolist() for times in np.asarray(y[:2])], end=[100.0, 100.0], ids=["a", "b"]
    )
    paths = model.simulate(X[:2], 2, named, horizon=[10.0, 20.0], random_state=0)
    assert paths.ids.tolist() == ["a", "a", "b", "b"]
    assert_array_equal(paths.start, [100.0] * 4)
    assert_array_equal(paths.end, [110.0, 110.0, 120.0, 120.0])


def test_the_fleet_is_the_sum_of_its_members(frail):
    model, X, y, _ = frail
    total = model.forecast_fleet(X, y, horizon=20)
    assert_allclose(total.expected, model.forecast(X, y, horizon=20)["expected"].sum())
    poisson = stats.poisson.interval(0.9, total.expected)
    assert total.lower < poisson[0]
    assert total.upper > poisson[1]


def test_next_events_of_several_quantiles_come_in_columns(frail):
    model, X, y, _ = frail
    waits = model.predict_next_event(X[:4], y[:4], [0.1, 0.5])
    assert waits.shape == (4, 2)
    assert_allclose(waits[:, 1], model.predict_next_event(X[:4], y[:4]))


def test_bands_start_with_what_was_seen_and_widen(frail):
    model, X, y, _ = frail
    band = model.predict_band(X[:3], [50.0, 100.0, 120.0, 200.0], y=y[:3])
    seen = [np.sum(times <= 50.0) for times in np.asarray(y[:3])]
    assert_array_equal(band.expected[:, 0], seen)
    assert_array_equal(band.lower[:, 1], y.n_events[:3])
    width = band.upper - band.lower
    assert (np.diff(width[:, 1:], axis=1) > 0.0).all()


def test_bands_of_the_mean_are_narrower_and_hold_it(frail):
    model, X, _, _ = frail
    count = model.predict_band(X[:3], [50.0, 100.0])
    mean = model.predict_band(X[:3], [50.0, 100.0], of="mean")
    assert_allclose(mean.expected, model.predict_cumulative(X[:3], [50.0, 100.0]))
    assert (mean.lower <= mean.expected).all()
    assert (mean.upper - mean.lower < count.upper - count.lower).all()


def test_conformal_intervals_cover_calibrated_individuals(frail):
    model, X, y, _ = frail
    calibration = model.calibrate_forecast(X, y, 20.0, out_of_fold=True)
    assert len(calibration.scores) == 200
    table = in_order(model.forecast(X, y, 20, now=80.0, intervals=calibration))
    seen = np.array([np.sum(times > 80.0) for times in np.asarray(y)])
    covered = np.mean((table["lower"] <= seen) & (seen <= table["upper"]))
    assert covered >= 0.88


def test_conformal_levels_need_enough_individuals(frail):
    model, X, y, _ = frail
    with pytest.raises(InvalidParameterError, match="than the 200 there are"):
        model.forecast(X, y, 20, level=0.999, intervals="conformal")


def test_calibration_needs_long_histories(frail):
    model, X, y, _ = frail
    with pytest.raises(InvalidEventsError, match="none of 200"):
        model.calibrate_forecast(X, y, 500.0)


def test_time_stamps_stay_time_stamps():
    table = pd.DataFrame(
        {
            "pump": np.repeat([f"P{i:02d}" for i in range(30)], 3),
            "day": pd.to_datetime(["2024-01-05", "2024-02-10", "2024-03-01"] * 30),
            "failed": [1, 1, 0] * 30,
        }
    )
    y = RecurrentEvents.from_long(
        table, "pump", "day", "failed", start=pd.Timestamp("2024-01-01")
    )
    model = small(n_estimators=3, validation=None).fit(np.zeros((30, 1)), y)
    found = model.forecast(np.zeros((30, 1)), y, horizon=30)
    assert (found["now"] == pd.Timestamp("2024-03-01")).all()
    assert found["id"][0] == "P00"
    early = model.forecast(np.zeros((30, 1)), y, horizon=30, now="2024-02-01")
    assert (early["now"] == pd.Timestamp("2024-02-01")).all()


def test_polars_in_polars_out(frail):
    pl = pytest.importorskip("polars")
    _, X, y, _ = frail
    frame = pl.DataFrame({"x0": X[:, 0], "x1": X[:, 1]})
    fitted = small(n_estimators=3, validation=None).fit(frame, y)
    table = fitted.forecast(frame, y, horizon=20)
    assert isinstance(table, pl.DataFrame)
    assert table.columns == COLUMNS


def test_costs_scale_forecasts_but_not_probabilities(frail):
    model, X, y, _ = frail
    dear = y._with(costs=np.full(len(y.times), 7.0), has_costs=True)
    costly = small().fit(X, dear)
    assert_allclose(costly.frailty_variance_, model.frailty_variance_, rtol=1e-3)
    counted = in_order(model.forecast(X, y, horizon=20))
    paid = in_order(costly.forecast(X, dear, horizon=20))
    assert_allclose(paid["expected"], 7.0 * counted["expected"], rtol=1e-3)
    assert_allclose(paid["probability"], counted["probability"], rtol=1e-3)


def test_sensors_hold_their_last_value_unless_a_future_is_planned(monitored):
    model, X, y, Z = monitored
    held = in_order(model.forecast(X, y, 20, Z, now=50.0))
    known = Z.read([50.0])[:, 0, :]
    frozen = Trajectories.from_flat(np.full(40, 50.0), np.arange(41), known.T, Z.names)
    same = in_order(model.forecast(X, y, 20, Z, frozen, now=50.0))
    pd.testing.assert_frame_equal(held, same)
    eased = Trajectories.from_flat(np.zeros(40), np.arange(41), np.full(40, 0.1), ["load"])
    other = in_order(model.forecast(X, y, 20, Z, eased, now=50.0))
    assert_allclose(held["frailty"], other["frailty"])
    path = Z.followed_by(eased, at=50.0)
    plain = in_order(model.forecast(X, y, 20, Z, eased, now=50.0, own_history=False))
    assert_allclose(plain["expected"], model.predict_count(X, 50.0, 70.0, path))


def test_panels_carry_sensors_into_forecasts(monitored):
    model, X, y, Z = monitored
    pd.testing.assert_frame_equal(
        model.forecast(Panel(X, Z), y, 20), model.forecast(X, y, 20, Z)
    )


def test_bands_follow_the_sensors_that_are_given(monitored):
    model, X, _, Z = monitored
    times = [20.0, 50.0, 90.0]
    expected = model.predict_cumulative(X, times, Z)
    assert_allclose(model.predict_band(X, times, Z).expected, expected)
    assert_allclose(model.predict_band(Panel(X, Z), times).expected, expected)


def test_a_future_without_a_past_is_refused(frail, monitored):
    model, X, y, _ = frail
    with pytest.raises(InvalidSensorsError, match="needs their past"):
        model.forecast(X, y, 20, future=monitored[3])


@pytest.mark.slow
def test_drawn_futures_reset_sensors_that_follow_from_events(remembering):
    model, X, y, memory = remembering
    table = in_order(model.forecast(X, y, 20, memory, n_paths=500))
    paths = model.simulate(X, 500, y, horizon=20, Z=memory, random_state=1)
    counts = paths.n_events.reshape(40, 500)
    error = counts.std(axis=1) / np.sqrt(500)
    assert (np.abs(table["expected"] - counts.mean(axis=1)) < 4.5 * error).all()
    assert ((paths.times > 100.0) & (paths.times <= 120.0)).all()


@pytest.mark.slow
def test_one_future_is_as_right_as_many_on_average(remembering):
    model, X, y, memory = remembering
    model = change_frailty(model, variance=2.0)
    asked = {"horizon": 60, "Z": memory, "own_history": False}
    many = model.forecast(X, y, n_paths=300, **asked)["expected"].sum()
    rows = np.repeat(np.arange(40), 100)
    alike = y[rows]._with(ids=np.arange(4000))
    one = in_order(model.forecast(X[rows], alike, n_paths=1, **asked))["expected"]
    totals = one.to_numpy().reshape(40, 100).sum(axis=0)
    assert abs(totals.mean() - many) < 4.0 * totals.std() / 10.0


@pytest.mark.slow
def test_drawn_futures_are_counted_on_a_bar(remembering, monkeypatch, capsys):
    model, X, y, memory = remembering
    monkeypatch.setattr("boostr._forecasting.simulate._BLOCK", 50)
    quiet = model.forecast(X, y, 20, memory, n_paths=5)
    assert capsys.readouterr().err == ""
    shown = copy.copy(model)
    shown.verbose = 1
    pd.testing.assert_frame_equal(shown.forecast(X, y, 20, memory, n_paths=5), quiet)
    assert "200/200" in capsys.readouterr().err


def test_sensors_of_events_that_do_nothing_change_nothing(frail):
    X, y, _ = draw_fleet(30, 0.5, seed=7, rate=0.02)

    def constant(y, until):
        return Trajectories.from_flat(
            y.start, np.arange(len(y) + 1), np.zeros((1, len(y))), ["nothing"], ids=y.ids
        )

    named = y._with(has_ids=True)
    settings = {"n_estimators": 2, "validation": None, "sensor_penalty": "ridge"}
    model = small(**settings).fit(X, named, constant(named, None))
    drawn = in_order(model.forecast(X, named, 50, constant, n_paths=2))
    exact = in_order(model.forecast(X, named, 50, constant(named, None)))
    assert_allclose(drawn["expected"], exact["expected"], rtol=1e-9)


def test_sensors_of_events_must_be_trajectories(remembering):
    model, X, y, _ = remembering
    with pytest.raises(InvalidSensorsError, match="must return Trajectories"):
        model.forecast(X, y, 20, lambda y, until: None)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"level": 1.0}, "`level` must be"),
        ({"horizon": 0.0}, "`horizon` must be finite and above zero, but it is 0.0."),
        ({"horizon": -5}, "`horizon` must be finite and above zero, but it is -5.0."),
        ({"horizon": np.inf}, "`horizon` must be finite and above zero"),
        ({"k": 0}, "`k` must be"),
        ({"quantiles": [1.5]}, "`quantiles` must be"),
        ({"quantiles": "x"}, "`quantiles` must be"),
        ({"intervals": "normal"}, "`intervals` must be"),
    ],
)
def test_impossible_wishes_are_refused(frail, asked, message):
    model, X, y, _ = frail
    with pytest.raises(InvalidParameterError, match=message):
        model.forecast(X, y, **({"horizon": 20} | asked))


def test_models_without_validation_have_frailties_too():
    X, y, _ = draw_fleet(150, 1.0, seed=4)
    model = small(validation=None).fit(X, y)
    assert model.frailty_variance_ > 0.3
    assert model.n_fold_models_ == 1


def test_data_without_events_forecast_none():
    y = RecurrentEvents.from_lists([[] for _ in range(30)], end=10.0)
    with pytest.warns(DataWarning, match="no events among 30 individuals"):
        model = small(n_estimators=3).fit(np.zeros((30, 1)), y)
    table = model.forecast(np.zeros((30, 1)), y, horizon=5)
    assert (table["upper"] == 0.0).all()
    assert np.isinf(table["next_event_median"]).all()
