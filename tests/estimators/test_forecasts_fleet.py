"""Totals by groups, new individuals beside old ones, and dates in forecasts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr import BoostR, Panel, RecurrentEvents, Trajectories
from boostr.exceptions import InvalidParameterError

N, N_NEW = 90, 4
START = np.datetime64("2024-01-01", "us")
DAY = np.timedelta64(1, "D")
SITES = np.array(["north", "south", "west"])
SMALL = {
    "n_estimators": 10,
    "learning_rate": 0.3,
    "max_leaf_nodes": 3,
    "splitter": "best",
    "n_folds": 2,
    "random_state": 0,
}
PLAIN = SMALL | {"n_knots": 0, "spline_order": 2, "validation": None}


def draw_features(n, prefix):
    rng = np.random.default_rng(n)
    index = [f"{prefix}{place:02d}" for place in range(n)]
    columns = {"site": SITES[np.arange(n) % 3], "load": rng.uniform(size=n)}
    return pd.DataFrame(columns, index=index)


def draw_events(X, end):
    """Return histories of machines that differ by more than their features tell."""
    rng = np.random.default_rng(1)
    rate = 0.03 * (1.0 + (X["site"] == "west") + X["load"]) * rng.gamma(2.0, 0.5, len(X))
    events = [
        np.sort(rng.uniform(0.0, stop, rng.poisson(each * stop)))
        for each, stop in zip(rate, end, strict=True)
    ]
    return RecurrentEvents.from_lists(events, end=end, ids=X.index)


@pytest.fixture(scope="module")
def scene():
    """Return a model of ages as numbers, and what it was fitted to."""
    X = draw_features(N, "P")
    y = draw_events(X, np.random.default_rng(2).uniform(60.0, 100.0, N))
    return BoostR(**SMALL).fit(X, y), X, y


def with_dates(y, origin):
    """Return the same histories as read from a table of dates."""
    entered = START + (np.arange(len(y)) % 20) * DAY
    table = y.to_long(backend="pandas")
    table["entered"] = pd.Series(entered, index=y.ids)[table["id"]].to_numpy()
    table["when"] = table["entered"] + pd.to_timedelta(table["time"], unit="D")
    options = {"start": "entered", "origin": origin, "unit": "D"}
    return RecurrentEvents.from_long(table, "id", "when", "event", **options)


@pytest.fixture(scope="module", params=[None, "individual"], ids=["common", "own"])
def dated(request, scene):
    """Return the same in calendar time, or with a date of the own for time 0."""
    _, X, y = scene
    y = with_dates(y, request.param)
    return BoostR(**SMALL).fit(X, y), X, y


def remember(y, until):
    """Return sensors that follow from the events."""
    return Trajectories.from_events(y).events_in_window(y, window=20.0)


@pytest.fixture(scope="module")
def remembering(scene):
    _, X, y = scene
    X = X[["load"]]
    return BoostR(**PLAIN).fit(X, y, remember(y, y.end)), X, y


# --- Totals by groups


def test_groups_add_up_to_the_total(scene):
    model, X, y = scene
    total = model.forecast_fleet(X, y, 30)
    table = model.forecast_fleet(X, y, 30, by="site")
    assert table.columns.tolist() == ["site", "n_individuals", "expected", "lower", "upper"]
    assert sorted(table["site"]) == sorted(SITES)
    assert_allclose(table["expected"].sum(), total.expected)
    assert table["n_individuals"].sum() == total.n_individuals == N
    assert (np.diff(table["expected"]) <= 0.0).all()


def test_a_group_is_the_sum_of_its_members(scene):
    model, X, y = scene
    members = model.forecast(X, y, 30).set_index("id")["expected"].groupby(X["site"]).sum()
    table = model.forecast_fleet(X, y, 30, by="site").set_index("site")
    assert_allclose(table["expected"], members.loc[table.index])


def test_a_group_is_a_fleet_of_its_own(scene):
    model, X, y = scene
    table = model.forecast_fleet(X, y, 30, by="site", level=0.8).set_index("site")
    for site in SITES:
        rows = np.flatnonzero(X["site"] == site)
        alone = model.forecast_fleet(X.iloc[rows], y[rows], 30, level=0.8)
        expected = [alone.n_individuals, alone.expected, alone.lower, alone.upper]
        assert_allclose(table.loc[site].tolist(), expected)


def test_labels_may_be_given_and_keep_their_type(scene):
    model, X, y = scene
    by_column = model.forecast_fleet(X, y, 30, by="site")
    by_name = model.forecast_fleet(X, y, 30, by=X["site"].to_numpy())
    assert_array_equal(by_name["group"], by_column["site"])
    assert_array_equal(by_name["lower"], by_column["lower"])
    number = np.arange(N) % 3
    by_number = model.forecast_fleet(X, y, 30, by=number)
    assert by_number["group"].dtype.kind == "i"
    assert SITES[by_number["group"]].tolist() == by_column["site"].tolist()


def test_missing_labels_are_a_group(scene):
    model, X, y = scene
    labels = [None if site == "west" else site for site in X["site"]]
    table = model.forecast_fleet(X, y, 30, by=labels)
    assert sorted(table["group"]) == ["None", "north", "south"]
    assert_allclose(table["expected"].sum(), model.forecast_fleet(X, y, 30).expected)


def test_tables_of_polars_and_panels_have_columns(scene, remembering):
    model, X, y = scene
    table = model.forecast_fleet(pl.from_pandas(X), y, 30, by="site")
    assert isinstance(table, pl.DataFrame)
    expected = model.forecast_fleet(X, y, 30, by="site")
    assert table["site"].to_list() == expected["site"].tolist()
    other, loads, y = remembering
    level = loads.round(0)
    panel = Panel(level, remember(y, y.end))
    table = other.forecast_fleet(panel, y, 30, by="load")
    assert sorted(table["load"]) == [0.0, 1.0]


def test_a_column_that_is_not_there_is_refused_with_those_that_are(scene):
    model, X, y = scene
    with pytest.raises(InvalidParameterError, match=r"no column 'depot'(?s:.*)site, load"):
        model.forecast_fleet(X, y, 30, by="depot")


def test_labels_must_be_one_per_individual(scene):
    model, X, y = scene
    with pytest.raises(InvalidParameterError, match="it has 2 for 90"):
        model.forecast_fleet(X, y, 30, by=["a", "b"])


# --- New individuals beside old ones


def split_new(table):
    """Return the rows of old and of new individuals, by id."""
    table = table.set_index("id")
    is_new = table.index.str.startswith("Q")
    return table[~is_new], table[is_new].sort_index()


def shuffled(X, new):
    joined = pd.concat([X, new])
    return joined.iloc[np.random.default_rng(3).permutation(len(joined))]


def test_old_individuals_do_not_notice_new_ones(scene):
    model, X, y = scene
    both = shuffled(X, draw_features(N_NEW, "Q"))
    old, new = split_new(model.forecast(both, y, 30, quantiles=0.9))
    alone = model.forecast(X, y, 30, quantiles=0.9).set_index("id")
    assert len(new) == N_NEW
    pd.testing.assert_frame_equal(old.loc[alone.index], alone)


def test_new_individuals_begin_at_time_0_as_they_do_without_histories(scene):
    model, X, y = scene
    arrivals = draw_features(N_NEW, "Q")
    _, new = split_new(model.forecast(shuffled(X, arrivals), y, 30))
    plain = model.forecast(arrivals, horizon=30).set_index("id").loc[new.index]
    assert_allclose(new["now"], 0.0, atol=1e-10)
    assert_allclose(new["frailty"], 1.0, rtol=1e-5)  # observed for a moment
    # Those with a history have a pace and a level of their own, which come in here.
    law = model.forecast_law_
    ratio = new["expected"] / plain["expected"] / law.level
    factors = law.paced.pace.factors
    assert (ratio >= factors.min() - 1e-9).all()
    assert (ratio <= factors.max() + 1e-9).all()


def test_new_individuals_begin_when_the_fleets_present_is(scene):
    _, X, y = scene
    y = with_dates(y, None)
    model = BoostR(**SMALL).fit(X, y)
    arrivals = draw_features(N_NEW, "Q")
    _, new = split_new(model.forecast(shuffled(X, arrivals), y, 30))
    last = y.origin + pd.to_timedelta(y.end.max(), unit="D")
    assert (abs(new["now"] - last) < pd.Timedelta("1ms")).all()
    plain = model.forecast(arrivals, horizon=30, now=float(y.end.max())).set_index("id")
    law = model.forecast_law_
    assert law.paced.clock.last_slope == model.clock_.last_slope
    factor = law.level * law.paced.pace.factors[-1]
    assert_allclose(new["expected"], factor * plain.loc[new.index, "expected"], rtol=1e-6)


def test_new_individuals_with_dates_of_their_own_have_theirs_now(scene):
    _, X, y = scene
    y = with_dates(y, "individual")
    model = BoostR(**SMALL).fit(X, y)
    table = model.forecast(shuffled(X, draw_features(N_NEW, "Q")), y, 30)
    _, new = split_new(table)
    last = (y.origins + pd.to_timedelta(y.end, unit="D")).max()
    assert (abs(new["now"] - last) < pd.Timedelta("1ms")).all()


def test_new_individuals_are_in_the_total_and_in_their_groups(scene):
    model, X, y = scene
    both = shuffled(X, draw_features(N_NEW, "Q"))
    table = model.forecast_fleet(both, y, 30, by="site")
    assert table["n_individuals"].sum() == N + N_NEW
    assert_allclose(table["expected"].sum(), model.forecast(both, y, 30)["expected"].sum())


def test_another_present_needs_histories_of_all(scene):
    model, X, y = scene
    both = pd.concat([X, draw_features(N_NEW, "Q")])
    with pytest.raises(InvalidParameterError, match=r"4 of 94 have none \(ids Q00, Q01"):
        model.forecast(both, y, 30, now=50.0)


# --- Dates


def test_a_date_ahead_is_the_length_up_to_it(dated):
    model, X, y = dated
    zero = y.origin if y.origins is None else y.origins
    until = START + 200 * DAY
    lengths = (until - zero) / DAY - y.end
    assert len(np.unique(lengths)) > 10
    by_date = model.forecast(X, y, "2024-07-19")
    pd.testing.assert_frame_equal(by_date, model.forecast(X, y, lengths))
    total = model.forecast_fleet(X, y, pd.Timestamp(until))
    assert_allclose(total.expected, by_date["expected"].sum())


def test_a_date_ahead_must_come_after_every_present(dated):
    model, X, y = dated
    with pytest.raises(InvalidParameterError, match="later than the present of all"):
        model.forecast(X, y, "2024-03-15")


def test_next_events_have_dates(dated):
    model, X, y = dated
    table = model.forecast(X, y, 30)
    waits = pd.to_timedelta(table["next_event_median"], unit="D")
    late = abs(table["next_event_date"] - (table["now"] + waits))
    assert (late < pd.Timedelta("1ms")).all()


def test_numbers_have_no_dates(scene):
    model, X, y = scene
    assert "next_event_date" not in model.forecast(X, y, 30).columns


@pytest.mark.slow
def test_next_events_that_are_not_known_have_no_date(remembering):
    _, X, y = remembering
    y = with_dates(y, "individual")
    model = BoostR(**PLAIN).fit(X, y, remember(y, y.end))
    table = model.forecast(X, y, 10.0, remember, n_paths=2)
    is_known = np.isfinite(table["next_event_median"])
    assert 0 < is_known.sum() < N
    assert_array_equal(table["next_event_date"].notna(), is_known)


# --- Sensors that follow from the events


@pytest.mark.slow
def test_totals_of_drawn_futures_are_sums_of_forecasts(remembering):
    model, X, y = remembering
    options = {"Z": remember, "n_paths": 5, "random_state": 1}
    total = model.forecast_fleet(X, y, 20, **options)
    table = model.forecast(X, y, 20, **options)
    assert_allclose(total.expected, table["expected"].sum())
    assert total.lower < total.expected < total.upper
    groups = model.forecast_fleet(X, y, 20, by=np.arange(N) % 2, **options)
    assert_allclose(groups["expected"].sum(), total.expected)


@pytest.mark.slow
def test_futures_beyond_all_experience_are_warned_of(remembering):
    model, X, y = remembering
    options = {"Z": remember, "n_paths": 1}
    with pytest.warns(RuntimeWarning, match="longer than the training data"):
        model.forecast_fleet(X, y, 1.01 * model.fitted_.span, **options)
    model.forecast_fleet(X, y, model.fitted_.span, **options)  # warnings are errors here
