import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from tests.fitted import without_attributes

from boostr import BoostR, Panel, RecurrentEvents, Trajectories, load
from boostr._forecasting import simulate as _paths
from boostr._frailty.law import Frailties
from boostr.basis import PowerBasis
from boostr.exceptions import DataWarning, InvalidEventsError, InvalidParameterError
from boostr.report._content import collect

N = 40
SMALL = {
    "n_estimators": 3,
    "learning_rate": 0.5,
    "max_leaf_nodes": 2,
    "splitter": "best",
    "leaf": PowerBasis((1.0,)),
    "n_folds": 2,
    "random_state": 0,
}
SENSORS = {"validation": None, "sensor_penalty": "ridge", "n_knots": 0}
BEGIN = pd.Timestamp("2024-01-01")


def draw(seed=0, rate=4.0):
    """Return features, and days of events within 100 days for each."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(N, 2))
    counts = rng.poisson(rate * (0.5 + X[:, 0]) * rng.gamma(1.0, 1.0, N))
    return X, [np.sort(rng.uniform(0.0, 100.0, count)) for count in counts]


def dated(lists, begin=BEGIN, **options):
    """Return histories from a table of time stamps."""
    rows = [
        (f"P{place:02d}", BEGIN + pd.Timedelta(days=day), is_event)
        for place, days in enumerate(lists)
        for day, is_event in [*((day, 1) for day in days), (100.0, 0)]
    ]
    table = pd.DataFrame(rows, columns=["pump", "when", "failed"])
    return RecurrentEvents.from_long(
        table, "pump", "when", "failed", start=begin, **options
    )


@pytest.fixture(scope="module")
def counted():
    X, lists = draw()
    y = RecurrentEvents.from_lists(lists, end=100.0)
    return BoostR(**SMALL).fit(X, y), X, y


@pytest.fixture(scope="module")
def stamped():
    X, lists = draw()
    y = dated(lists)
    return BoostR(**SMALL).fit(X, y), X, y, lists


@pytest.fixture(scope="module")
def remembering():
    """A model whose sensor is the number of earlier events in a month."""
    X, lists = draw(seed=3, rate=2.0)
    y = RecurrentEvents.from_lists(lists, end=100.0)

    def memory(y, until):
        return Trajectories.from_events(y).events_in_window(y, 30.0)

    model = BoostR(**SMALL | SENSORS).fit(X, y, memory(y, y.end))
    return model, X, y, memory


def ask_everything(model, X, y):
    """Yield everything that looks ahead from histories, not called yet."""
    yield lambda: model.forecast(X, y, 20)
    yield lambda: model.forecast_fleet(X, y, 20)
    yield lambda: model.predict_next_event(X, y)
    yield lambda: model.predict_band(X, [120.0], y=y)
    yield lambda: model.simulate(X, 1, y, horizon=20)
    yield lambda: model.calibrate_forecast(X, y, 20.0)
    yield lambda: model.explain_forecast(X, y, 20)
    yield lambda: collect(model, X, y, horizon=20.0)


def test_models_keep_the_clock_and_the_costs_of_training(counted, stamped):
    model = counted[0]
    assert (model.time_unit_, model.time_origin_, model.has_costs_) == (None, None, False)
    model, _, y, _ = stamped
    assert (model.time_unit_, model.time_origin_) == ("D", y.origin)


def test_model_files_keep_them_too(stamped, tmp_path):
    model, X, y, lists = stamped
    model.save(tmp_path / "pumps.boostr")
    loaded = load(tmp_path / "pumps.boostr")
    assert loaded.time_origin_ == y.origin
    assert loaded.has_costs_ is False
    pd.testing.assert_frame_equal(loaded.forecast(X, y, 20), model.forecast(X, y, 20))
    with pytest.raises(InvalidEventsError, match="origin of training"):
        loaded.forecast(X, dated(lists, origin="2023-12-01"), 20)


def test_histories_in_another_unit_are_refused(stamped):
    model, X, _, lists = stamped
    for ask in ask_everything(model, X, dated(lists, unit="h")):
        with pytest.raises(InvalidEventsError, match=r"'h'.*'D'.\n\nHint: .*unit='D'"):
            ask()


def test_histories_from_another_origin_are_refused(stamped):
    model, X, _, lists = stamped
    other = dated(lists, origin="2023-12-01")
    for ask in ask_everything(model, X, other):
        with pytest.raises(
            InvalidEventsError, match=r"2023-12-01.*\n\nHint: .*origin='2024"
        ):
            ask()


def test_the_hint_about_the_origin_helps(stamped):
    model, X, y, lists = stamped
    same = dated(lists, origin=str(model.time_origin_))
    pd.testing.assert_frame_equal(model.forecast(X, same, 20), model.forecast(X, y, 20))


def test_time_may_be_counted_from_each_ones_own_start(stamped):
    _, X, _, lists = stamped
    y = dated(lists, origin="individual")
    model = BoostR(**SMALL).fit(X, y)
    assert model.time_origin_ is None
    later = dated(lists, begin=BEGIN - pd.Timedelta(days=9), origin="individual")
    assert len(model.forecast(X, later, 20)) == N


@pytest.mark.parametrize("is_costly", [True, False])
def test_costs_must_be_there_where_training_had_them(counted, is_costly):
    model, X, y = counted
    dear = y._with(costs=np.full(len(y.times), 100.0), has_costs=True)
    trained, asked = (dear, y) if is_costly else (y, dear)
    model = BoostR(**SMALL).fit(X, trained)
    assert model.has_costs_ == is_costly
    hint = "with cost=" if is_costly else "without cost="
    for ask in ask_everything(model, X, asked):
        with pytest.raises(InvalidEventsError, match=f"Hint: read the histories {hint}"):
            ask()


def test_histories_without_events_need_no_costs(counted):
    _, X, y = counted
    dear = y._with(costs=np.full(len(y.times), 100.0), has_costs=True)
    model = BoostR(**SMALL).fit(X, dear)
    quiet = RecurrentEvents.from_lists([[]] * N, end=10.0)
    assert (model.forecast(X, quiet, 20)["frailty"] < 1.0).all()
    assert model.simulate(X, horizon=20, random_state=0).has_costs


@pytest.mark.slow
def test_models_from_files_that_do_not_tell_of_costs_have_them_by_their_moments(counted):
    model, X, y = counted
    dear = y._with(costs=np.full(len(y.times), 100.0), has_costs=True)
    for trained, other in [(y, dear), (dear, y)]:
        model = BoostR(**SMALL).fit(X, trained)
        model = without_attributes(model, "has_costs_", "time_origin_")
        assert len(model.forecast(X, trained, 20)) == N
        with pytest.raises(InvalidEventsError, match="costs"):
            model.forecast(X, other, 20)


@pytest.mark.parametrize("now", [np.inf, -1.0, -np.inf])
def test_the_present_is_finite_and_not_before_the_start(counted, now):
    model, X, y = counted
    with pytest.raises(InvalidParameterError, match="`now` must be finite and not before"):
        model.forecast(X, y, 20, now=now)


def test_a_date_before_the_origin_is_no_present(stamped):
    model, X, y, _ = stamped
    with pytest.raises(InvalidParameterError, match="not before the start of follow-up"):
        model.forecast(X, y, 20, now="2023-12-31")


def test_those_who_start_after_the_present_are_named_with_the_way_to_leave_them_out(rng):
    start = np.repeat([0.0, 40.0], [20, 5])
    times = [np.sort(rng.uniform(first, 60.0, 6)) for first in start]
    y = RecurrentEvents.from_lists(times, end=60.0, start=start)
    X = rng.random((25, 1))
    model = BoostR(n_estimators=5, random_state=0).fit(X, y)
    for forecast in (model.forecast, model.forecast_fleet):
        with pytest.raises(
            InvalidParameterError, match=r"(?s)5 of 25 .* y.start > now"
        ) as told:
            forecast(X, y, 10.0, now=30.0)
        assert "ids 20, 21" in str(told.value)
    there = y.start <= 30.0
    alone = model.forecast_fleet(X[there], y[there], 10.0, now=30.0)
    assert alone.n_individuals == 20
    dates = y.to_long(backend="pandas")
    first = pd.Timestamp("2024-01-01")
    for name in ("time", "start"):
        dates[name] = first + pd.to_timedelta(dates[name], unit="D")
    dated = RecurrentEvents.from_long(dates, "id", "time", "event", start="start")
    model = BoostR(n_estimators=5, random_state=0).fit(X, dated)
    with pytest.raises(InvalidParameterError, match=r"numpy\.datetime64") as told:
        model.forecast(X, dated, 10.0, now="2024-01-31")
    expression = (
        str(told.value).split("which is ")[1].split(";")[0].replace("now", "'2024-01-31'")
    )
    late = eval(expression, {"y": dated, "numpy": np})
    assert_array_equal(late, ~there)


@pytest.mark.parametrize("shift", [0.0, 20_000.0])
def test_the_usual_horizon_is_the_time_of_the_training_data(rng, shift):
    start = rng.uniform(0.0, 60.0, 60)
    start[0] = 0.0
    times = [shift + np.sort(rng.uniform(first, 100.0, 5)) for first in start]
    y = RecurrentEvents.from_lists(times, end=shift + 100.0, start=shift + start)
    X = rng.random((60, 2))
    model = BoostR(n_estimators=10, random_state=0).fit(X, y)
    assert_allclose(model.forecast(X, y).expected, model.forecast(X, y, 100.0).expected)


@pytest.mark.parametrize("ends_together", [True, False])
def test_newcomers_begin_at_the_common_end_if_ages_differ_there(rng, ends_together):
    start = np.linspace(0.0, 50.0, 40)
    end = np.full(40, 100.0) if ends_together else 60.0 + start
    times = [np.sort(rng.uniform(*ends, 5)) for ends in zip(start, end, strict=True)]
    ids = [f"P{place}" for place in range(40)]
    y = RecurrentEvents.from_lists(times, end=end, start=start, ids=ids)
    X = pd.DataFrame({"x": rng.random(41)}, index=[*ids, "new"])
    model = BoostR(n_estimators=5, random_state=0).fit(X[:-1], y)
    if ends_together:
        found = model.forecast(X, y, 10.0).set_index("id")
    else:
        with pytest.warns(DataWarning, match=r"\(ids new\) are forecast from time 0"):
            found = model.forecast(X, y, 10.0).set_index("id")
    assert_allclose(found.now["new"], 100.0 if ends_together else 0.0, atol=1e-9)


def test_one_quantile_may_come_alone(counted):
    model, X, y = counted
    alone = model.forecast(X, y, 20, quantiles=0.1)
    pd.testing.assert_frame_equal(alone, model.forecast(X, y, 20, quantiles=[0.1]))
    assert "next_event_q10" in alone.columns


@pytest.mark.parametrize("horizon", [0.0, -3.0, np.inf, np.nan, [20.0], np.full(N, 20.0)])
def test_calibration_is_for_one_length_above_zero(counted, horizon):
    model, X, y = counted
    with pytest.raises(InvalidParameterError, match="`horizon` must be a finite number"):
        model.calibrate_forecast(X, y, horizon)


def test_scores_are_those_of_the_individuals_that_were_followed_long_enough(counted):
    model, X, y = counted
    lists = [times[times <= 100.0 - place] for place, times in enumerate(np.asarray(y))]
    uneven = RecurrentEvents.from_lists(lists, end=100.0 - np.arange(N))
    found = model.calibrate_forecast(X, uneven, 80.0).scores
    kept = uneven.end >= 80.0
    alone = model.calibrate_forecast(X[kept], uneven[kept], 80.0).scores
    assert len(found) == kept.sum() < N
    assert_allclose(found, alone)


def test_a_window_lost_to_rounding_has_no_scores(counted):
    model, X, _ = counted
    y = RecurrentEvents.from_lists([[]] * N, end=np.r_[np.full(N - 1, 1e9), 1e-6])
    assert len(model.calibrate_forecast(X, y, 1e-9).scores) == 1


def test_reasons_of_forecasts_are_in_the_order_of_the_features(stamped):
    model, X, y, _ = stamped
    reasons = model.explain_forecast(X, y, 20)
    table = model.forecast(X, y, 20).set_index("id")
    assert table.index.tolist() != y.ids.tolist()
    assert_array_equal(reasons.ids, y.ids)
    assert_allclose(reasons.prediction, table["expected"].loc[y.ids])
    assert_allclose(reasons.base + reasons.amounts.sum(axis=1), reasons.prediction)
    plain = reasons.prediction - reasons.own_history
    assert_allclose(reasons.prediction / plain, table["frailty"].loc[y.ids])


def test_reasons_may_leave_out_the_own_history(counted):
    model, X, y = counted
    reasons = model.explain_forecast(X, y, 20, now=50.0, own_history=False)
    assert reasons.own_history is None
    assert_allclose(reasons.prediction, model.predict_count(X, 50.0, 70.0))


def test_reasons_of_forecasts_go_by_the_sensors_up_to_now(remembering):
    model, X, y, memory = remembering
    Z = memory(y, y.end)
    with pytest.raises(InvalidParameterError, match="needs sensors as Trajectories"):
        model.explain_forecast(X, y, 20, memory)
    plan = Trajectories.from_flat(np.zeros(N), np.arange(N + 1), np.zeros((1, N)), Z.names)
    for future in (None, plan):
        reasons = model.explain_forecast(Panel(X, Z), y, 20, future=future, now=50.0)
        table = model.forecast(X, y, 20, Z, future, now=50.0).sort_values("id")
        assert_allclose(reasons.prediction, table["expected"])


@pytest.mark.slow
def test_next_events_do_not_depend_on_how_far_sensors_were_made(remembering):
    model, X, y, _ = remembering

    def ageing(y, until):
        """Return a sensor that rises every ten days, made no further than asked for."""
        n_samples = np.ceil(np.maximum(until, 1.0) / 10.0).astype(int)
        steps = [np.arange(count) for count in n_samples]
        offsets = np.r_[0, np.cumsum(n_samples)]
        values = np.concatenate(steps).astype(float)
        return Trajectories.from_flat(10.0 * values, offsets, values[None], ["age"])

    model = BoostR(**SMALL | SENSORS).fit(X, y, ageing(y, np.full(N, 200.0)))
    now = np.full(N, 20.0)
    asked = {"now": now, "quantiles": [0.9], "n_paths": 1}
    short, long = (
        model.forecast(X, y, horizon, ageing, **asked).sort_values("id")
        for horizon in (30.0, 75.0)
    )
    for column in ("next_event_median", "next_event_q90"):
        expected = np.where(long[column] <= 30.0, long[column], np.inf)
        assert_allclose(short[column], expected, rtol=1e-6)
    assert np.isfinite(short["next_event_median"]).any()
    assert np.isinf(short["next_event_median"]).any()


def test_individuals_that_never_have_events_are_drawn_without_any(remembering, monkeypatch):
    model, X, y, memory = remembering
    asked = {"horizon": 20, "Z": memory, "random_state": 0}
    draw = Frailties.draw

    def draw_some(self, rng):
        drawn = draw(self, rng)
        drawn[:N] = 0.0
        drawn[N : N + 2] = 1e-320
        drawn[N + 2 : N + 3] = 3e-308
        return drawn

    monkeypatch.setattr(Frailties, "draw", draw_some)
    dear = y._with(costs=np.full(len(y.times), 10.0), has_costs=True)
    costly = clone(model).fit(X, dear, memory(dear, dear.end))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        costly.simulate(X, 2, dear, **asked)
    paths = model.simulate(X, 2, y, **asked)
    assert not paths.n_events[: N + 3].any()
    assert paths.n_events[N + 3 :].any()
    assert not model.simulate(X, 1, y, **asked).n_events.any()


def test_histories_that_are_cut_off_are_warned_of(remembering, monkeypatch):
    model, X, y, memory = remembering
    asked = {"horizon": 60, "Z": memory, "random_state": 0}
    whole = model.simulate(X, 1, y, **asked).n_events
    assert whole.max() > 2
    monkeypatch.setattr(_paths, "_MANY_EVENTS", 2)
    with pytest.warns(RuntimeWarning, match="cut off after 2 events") as caught:
        cut = model.simulate(X, 1, y, **asked).n_events
    assert cut.max() == 2
    assert f"{(cut == 2).sum()} of {N} drawn" in str(caught[0].message)
    assert caught[0].filename == __file__
