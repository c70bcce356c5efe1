"""`BoostR` with sensors that all share: weather, and the season known ahead."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr.exceptions import InvalidSensorsError, SeasonWarning, SensorTypeError

DAY = np.timedelta64(1, "D")
START = np.datetime64("2021-01-01", "us")
WINTER = [10, 11, 0, 1, 2, 3]  # November to April
SMALL = {"n_estimators": 5, "learning_rate": 0.5, "validation": 0.2, "random_state": 0}


def draw(n=60, n_days=1_096, base=0.02, factor=3.0, stagger=0):
    """Return features, and a table of events dated by day, with a high rate in winter."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"size": rng.uniform(size=n)})
    tables = []
    for place in range(n):
        entry = START + int(rng.integers(0, stagger + 1)) * DAY
        days = entry + np.arange(1, n_days + 1) * DAY
        is_winter = np.isin(days.astype("datetime64[M]").astype(int) % 12, WINTER)
        rate = base * (0.5 + X["size"][place]) * np.where(is_winter, factor, 1.0)
        moments = np.repeat(days, rng.poisson(rate))
        rows = {"id": place, "entry": entry}
        tables += [
            pd.DataFrame(rows | {"time": moments, "event": 1}),
            pd.DataFrame(rows | {"time": days[-1:], "event": 0}),
        ]
    return X, pd.concat(tables, ignore_index=True)


def read(table, origin=None):
    return RecurrentEvents.from_long(
        table,
        *("id", "time", "event"),
        start="entry",
        origin=origin,
        duplicates="keep",  # whole days, on which there may be several events
    )


def weather(n_days=1_500):
    dates = START - 30 * DAY + np.arange(n_days) * DAY
    place = np.arange(n_days) - 30
    values = np.random.default_rng(2).normal(-np.cos(2.0 * np.pi * place / 365.0), 0.3)
    return pd.DataFrame({"date": dates, "temperature": values})


def repeat(table, y):
    """Return the same rows for each individual, on its axis."""
    since = y.origin if y.origins is None else "origin"
    parts = [table.assign(id=one) for one in y.ids]
    if y.origins is not None:
        pairs = zip(parts, y.origins, strict=True)
        parts = [part.assign(origin=origin) for part, origin in pairs]
    return Trajectories.from_long(
        pd.concat(parts), "id", "date", ["temperature"], origin=since
    )


@pytest.fixture(scope="module")
def fleet():
    X, table = draw()
    return X, read(table)


@pytest.fixture(scope="module")
def winters(fleet):
    """A model that knows the month, and a fleet that ends with the year."""
    X, y = fleet
    season = Trajectories.seasonal(y, "month")
    params = SMALL | {"n_estimators": 100, "learning_rate": 0.1}
    return BoostR(**params).fit(X, y, season), X, y, season


@pytest.mark.slow
@pytest.mark.parametrize("origin", [None, "individual"])
def test_shared_predicts_as_the_table_repeated_for_each_to_the_bit(origin):
    X, table = draw(n=40, n_days=700, stagger=365)
    y = read(table, origin)
    shared, Z = Trajectories.shared(weather(), time="date"), repeat(weather(), y)
    models = [BoostR(**SMALL).fit(X, y, sensors) for sensors in (shared, Z)]
    asked = {"horizon": 30.0, "now": y.end - 50.0}
    tables = [
        model.forecast(X, y, Z=sensors, future=plan, **asked)
        for model, sensors in zip(models, (shared, Z), strict=True)
        for plan in (None, sensors)
    ]
    pd.testing.assert_frame_equal(tables[0], tables[2], check_exact=True)
    pd.testing.assert_frame_equal(tables[1], tables[3], check_exact=True)
    assert not tables[0]["expected"].equals(tables[1]["expected"])


@pytest.mark.slow
def test_a_common_axis_needs_no_histories_to_predict(fleet):
    X, y = fleet
    shared, Z = Trajectories.shared(weather(), time="date"), repeat(weather(), y)
    model = BoostR(**SMALL).fit(X, y, shared)
    times = np.array([10.0, 300.5, 900.0])
    assert_array_equal(
        model.predict_cumulative(X, times, shared, hold_last=False),
        model.predict_cumulative(X, times, Z),
    )
    assert_array_equal(
        model.predict_count(X, 5.0, 40.0, shared), model.predict_count(X, 5.0, 40.0, Z)
    )
    assert model.score(X, y, Z=shared) == model.score(X, y, Z=Z)


def test_own_origins_need_histories_to_read_shared_sensors():
    X, table = draw(n=20, n_days=200, stagger=90)
    y = read(table, "individual")
    shared = Trajectories.shared(weather(), time="date")
    model = BoostR(**SMALL).fit(X, y, shared)
    with pytest.raises(InvalidSensorsError, match=r"Hint: Z=shared.for_individuals"):
        model.predict(X, shared)
    model.predict(X, shared.for_individuals(y))


def test_the_season_is_learned_and_its_future_known(winters):
    model, X, y, season = winters
    # Follow-up ends with December: half a year of mostly winter, and the summer after it.
    base = 0.02 * (0.5 + X["size"]).sum()
    winter = model.forecast(X, y, 120.0, season)["expected"].sum()
    until_may = model.forecast(X, y, 121.0, season)["expected"].sum()
    until_november = model.forecast(X, y, 304.0, season)["expected"].sum()
    summer = until_november - until_may
    assert winter == pytest.approx(3.0 * base * 120.0, rel=0.2)
    assert summer == pytest.approx(base * 183.0, rel=0.2)


def test_the_season_before_the_present_is_no_future(winters):
    model, X, y, season = winters
    july = np.datetime64("2023-07-01")
    winter = model.forecast(X, y, 120.0, season, now=np.datetime64("2022-12-31"))
    summer = model.forecast(X, y, 120.0, season, now=july)
    ratio = winter["expected"].sum() / summer["expected"].sum()
    assert 2.0 < ratio < 4.0


def test_a_plan_without_the_season_is_not_needed(winters):
    model, X, y, season = winters
    spread = season.for_individuals(y, until=y.end + 2.0 * model.horizon_)
    for ask in (model.forecast_fleet, model.predict_next_event):
        by_hand = ask(X, y, Z=spread, future=spread)
        by_itself = ask(X, y, Z=season)
        assert_array_equal(np.asarray(by_hand), np.asarray(by_itself))


def test_new_individuals_beside_old_ones_see_the_same_season(winters):
    model, X, y, season = winters
    more = pd.concat([X, X.iloc[:1].set_axis([len(X)])])
    table = model.forecast(more, y, 60.0, season, own_history=False).set_index("id")
    assert table["expected"][len(X)] == pytest.approx(table["expected"][0], rel=1e-9)


@pytest.mark.slow
def test_seasons_beside_event_sensors_go_on_in_drawn_futures(winters):
    _, X, y, season = winters

    def sensors(events, until):
        own = Trajectories.from_events(events).events_in_window(events, window=10.0)
        return own.merge(season)

    some = slice(0, 30)
    few = SMALL | {"n_estimators": 40}
    model = BoostR(**few).fit(X.iloc[some], y[some], sensors)
    asked = {"Z": sensors, "n_paths": 20}
    winter = model.forecast(
        X[some], y[some], 90.0, **asked, now=np.datetime64("2022-12-31")
    )
    summer = model.forecast(
        X[some], y[some], 90.0, **asked, now=np.datetime64("2023-06-30")
    )
    assert winter["expected"].sum() > 1.5 * summer["expected"].sum()


def test_a_season_that_is_left_out_leaves_a_model_without_sensors():
    X, table = draw(n=20, n_days=540)
    y = read(table)
    with pytest.warns(SeasonWarning, match="'month' is left out"):
        season = Trajectories.seasonal(y, "month")
    model, plain = BoostR(**SMALL).fit(X, y, season), BoostR(**SMALL).fit(X, y)
    pd.testing.assert_frame_equal(
        model.forecast(X, y, 30.0, season), plain.forecast(X, y, 30.0)
    )


def test_scans_do_not_take_shared_sensors(fleet, tmp_path):
    X, y = fleet
    path = tmp_path / "events.parquet"
    y.to_long(backend="pandas").to_parquet(path)
    scan = RecurrentEvents.scan_parquet(
        path, id="id", time="time", event="event", start="start"
    )
    with pytest.raises(SensorTypeError, match=r"Hint: fit\(X, y.collect\(\)"):
        BoostR(**SMALL).fit(X, scan, Trajectories.shared(weather(), time="date"))
