"""Dates as the present where everybody's time counts from its own start."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.fitted import drifting

from boostr import BoostR, RecurrentEvents, Trajectories, load
from boostr.basis import PowerBasis
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.tuning import as_of_split, cut_at

N = 40
END, NOW = np.datetime64("2024-09-01", "us"), np.datetime64("2024-05-01", "us")
DAY = np.timedelta64(1, "D")
SMALL = {
    "n_estimators": 3,
    "learning_rate": 0.5,
    "max_leaf_nodes": 2,
    "splitter": "best",
    "leaf": PowerBasis((1.0,)),
    "n_folds": 2,
    "random_state": 0,
}


def draw():
    """Return features, and a table of pumps that were installed on different days."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N, 2))
    entries = np.datetime64("2024-01-01", "us") + rng.integers(0, 90, N) * DAY
    tables = []
    for place, entry in enumerate(entries):
        span = (END - entry) / np.timedelta64(1, "us")
        count = rng.poisson((0.5 + X[place, 0]) * rng.gamma(1.0, 1.0) * 6.0)
        moments = entry + np.sort(rng.integers(1, int(span), count))
        name = f"P{place:02d}"
        rows = {"pump": name, "installed": entry, "when": moments, "failed": 1}
        last = {"pump": [name], "installed": entry, "when": END, "failed": 0}
        tables += [pd.DataFrame(rows), pd.DataFrame(last)]
    return pd.DataFrame(X, columns=["x0", "x1"]), pd.concat(tables, ignore_index=True)


def read(table, origin="individual"):
    return RecurrentEvents.from_long(
        table, "pump", "when", "failed", start="installed", origin=origin
    )


@pytest.fixture(scope="module")
def fleet():
    X, table = draw()
    y = read(table)
    return BoostR(**SMALL).fit(X, y), X, y, table


def ask(model, X, y, now):
    """Return all that may be asked of a present, as plain arrays."""
    table = model.forecast(X, y, 30, now=now)
    total = model.forecast_fleet(X, y, 30, now=now)
    reasons = model.explain_forecast(X, y, 30, now=now)
    return table, total, reasons.prediction


def test_a_date_is_each_ones_own_age(fleet):
    model, X, y, _ = fleet
    ages = (NOW - y.origins) / DAY
    table, total, reasons = ask(model, X, y, "2024-05-01")
    same, same_total, same_reasons = ask(model, X, y, ages)
    pd.testing.assert_frame_equal(table, same)
    assert total == same_total
    assert_array_equal(reasons, same_reasons)
    assert len(np.unique(ages)) > 10


def test_forecasts_at_a_date_are_those_from_what_was_known_then(fleet):
    model, X, y, table = fleet
    known = table[(table["failed"] == 1) & (table["when"] <= NOW)]
    last = table[table["failed"] == 0].assign(when=NOW)
    before = read(pd.concat([known, last]))
    assert before.times.size < y.times.size
    expected = model.forecast(X, before, 30)
    pd.testing.assert_frame_equal(model.forecast(X, y, 30, now=NOW), expected)


def test_the_present_is_told_as_a_date(fleet):
    model, X, y, _ = fleet
    assert (model.forecast(X, y, 30, now=NOW)["now"] == NOW).all()
    assert (model.forecast(X, y, 30)["now"] == END).all()


@pytest.mark.parametrize(
    "now",
    [datetime(2024, 5, 1), datetime(2024, 5, 1, tzinfo=UTC), pd.Timestamp(NOW), [NOW] * N],
    ids=["datetime", "with zone", "pandas", "each"],
)
def test_dates_may_be_written_in_many_ways(fleet, now):
    model, X, y, _ = fleet
    expected = model.forecast(X, y, 30, now=NOW)
    pd.testing.assert_frame_equal(model.forecast(X, y, 30, now=now), expected)


def test_tables_of_polars_are_read_and_given_back(fleet):
    model, X, y, table = fleet
    same = read(pl.from_pandas(table))
    assert same.equals(y)
    found = model.forecast(pl.from_pandas(X), same, 30, now=NOW)
    expected = model.forecast(X, y, 30, now=NOW)
    assert isinstance(found, pl.DataFrame)
    assert found["now"].to_list() == [NOW.astype(object)] * N
    assert_array_equal(found["expected"], expected["expected"])


def test_those_who_are_not_there_yet_are_named(fleet):
    model, X, y, _ = fleet
    now = np.datetime64("2024-02-10")
    is_late = y.origins > now
    names = ", ".join(y.ids[is_late][:5])
    with pytest.raises(InvalidParameterError) as caught:
        model.forecast(X, y, 30, now=now)
    message = str(caught.value)
    assert f"the start of follow-up, but it is not for {is_late.sum()} of {N}" in message
    assert f"(ids {names}, …)" in message
    last = str(y.origins.max().astype("datetime64[D]"))
    assert message.endswith(
        f"y.origins > numpy.datetime64(now); the last of all starts at {last}."
    )


def test_the_hint_about_those_who_are_not_there_helps(fleet):
    model, X, y, _ = fleet
    now = "2024-02-10"
    is_late = y.origins > np.datetime64(now)
    assert len(model.forecast(X[~is_late], y[~is_late], 30, now=now)) == (~is_late).sum()
    last = str(y.origins.max().astype("datetime64[D]"))
    assert len(model.forecast(X, y, 30, now=last)) == N


def test_ages_may_still_be_given(fleet):
    model, X, y, _ = fleet
    assert (model.forecast(X, y, 30, now=50.0)["frailty"] > 0.0).all()
    with pytest.raises(InvalidParameterError, match="not before the start of follow-up"):
        model.forecast(X, y, 30, now=-1.0)


def test_drawn_futures_keep_the_origins(fleet):
    model, X, y, _ = fleet
    paths = model.simulate(X, 2, y, horizon=30, now=NOW, random_state=0)
    assert_array_equal(paths.origins, np.repeat(y.origins, 2))
    starts = pd.to_datetime(paths.to_long(backend="pandas")["start"])
    assert (starts == NOW).all()


def test_sensors_are_known_up_to_the_date(fleet):
    _, X, y, _ = fleet
    samples = pd.DataFrame(
        {
            "pump": np.repeat(y.ids, 3),
            "installed": np.repeat(y.origins, 3),
            "when": np.column_stack([y.origins, [NOW] * N, [NOW + DAY] * N]).ravel(),
            "load": np.random.default_rng(1).uniform(size=3 * N),
        }
    )

    def read_samples(table):
        return Trajectories.from_long(
            table, "pump", "when", ["load"], ids=y.ids, origin="installed"
        )

    Z = read_samples(samples)
    options = SMALL | {"validation": None, "sensor_penalty": "ridge", "n_knots": 0}
    model = BoostR(**options).fit(X, y, Z)
    known = read_samples(samples[samples["when"] <= NOW])
    found = model.forecast(X, y, 30, Z, now=NOW)
    pd.testing.assert_frame_equal(found, model.forecast(X, y, 30, known, now=NOW))
    ages = (NOW - y.origins) / DAY
    pd.testing.assert_frame_equal(found, model.forecast(X, y, 30, Z, now=ages))


def test_histories_are_cut_at_a_date(fleet):
    _, _, y, _ = fleet
    cut = cut_at(y, "2024-02-10")
    assert_array_equal(
        cut.rows_before, np.flatnonzero(y.origins < np.datetime64("2024-02-10"))
    )
    assert (cut.before.to_long()["time"] <= np.datetime64("2024-02-10")).all()
    assert cut.before.times.size + cut.after.times.size == y.times.size
    assert_array_equal(cut.after.origins, y.origins)
    split = as_of_split(y, NOW, 30.0)
    assert_allclose(split.dates, (NOW - y.origins) / DAY)


def test_ages_are_refused_where_training_had_a_calendar(fleet):
    _, X, y, table = fleet
    model = BoostR(**SMALL).fit(X, read(table, origin=None))
    with pytest.raises(
        InvalidEventsError, match=r"each one's own start and .*from 2024-01"
    ):
        model.forecast(X, y, 30)


def test_model_files_need_no_origins(fleet, tmp_path):
    model, X, y, _ = fleet
    model.save(tmp_path / "pumps.boostr")
    loaded = load(tmp_path / "pumps.boostr")
    assert loaded.time_origin_ is None
    expected = model.forecast(X, y, 30, now=NOW)
    pd.testing.assert_frame_equal(loaded.forecast(X, y, 30, now=NOW), expected)


@pytest.mark.parametrize("half_life", [5e-324, 1e-200, 1e-9])
def test_a_file_with_a_tiny_half_life_costs_no_memory(fleet, tmp_path, half_life):
    model, X, y, _ = fleet
    hostile = drifting(model, half_life, variance=1.0)
    hostile.save(tmp_path / "hostile.boostr")
    found = load(tmp_path / "hostile.boostr").forecast(X, y, 30, now=NOW)
    # All is forgotten, and what is left of the prior says that everybody is average.
    assert_allclose(found["frailty"], 1.0)
