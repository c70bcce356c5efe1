"""Forecasts of individuals who may die, or have died."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.fitted import change

from boostr import BoostR, Trajectories, simulate
from boostr._frailty.forecast_law import TerminalTie
from boostr.data.clip import clip
from boostr.inspection import explain


@pytest.fixture(scope="module")
def patients():
    return simulate.patients(n=200, random_state=1)


@pytest.fixture(scope="module")
def model(patients):
    return BoostR(n_estimators=20, random_state=0).fit(patients.X, patients.y)


@pytest.fixture(scope="module")
def untied(model):
    """Return a model without frailties, whose forecasts are integrals of predictions."""
    law = model.forecast_law_
    frailty = replace(law.frailty, variance=0.0, scale=0.0, extra=0.0)
    law = replace(law, frailty=frailty, tie=TerminalTie(), paced=None, level=1.0)
    return change(model, forecast_law=law)


def by_id(table):
    return table.sort_values("id").reset_index(drop=True)


def test_the_dead_expect_nothing(patients, model):
    table = by_id(model.forecast(patients.X, patients.y, horizon=30.0))
    dead = patients.y.is_terminal
    columns = ["expected", "probability", "lower", "upper", "terminal"]
    assert_array_equal(table.loc[dead, columns], 0.0)
    assert np.all(np.isinf(table.loc[dead, "next_event_median"]))
    assert np.all(table.loc[~dead, ["expected", "terminal"]] > 0.0)


def test_who_dies_later_is_alive_now(patients, model):
    table = by_id(model.forecast(patients.X, patients.y, horizon=10.0, now=1e-3))
    assert np.all(table["expected"] > 0.0)


def test_forecasts_are_the_integrals_of_the_predictions(patients, untied):
    X, y = patients.X[:20], patients.y[:20].with_terminal(None)
    now, stop = y.end, y.end + 40.0
    table = by_id(untied.forecast(X, y, horizon=40.0))
    grid = now[:, None] + np.linspace(0.0, 40.0, 2001)
    for i in range(5):
        survival = untied.predict_survival(X[[i]], grid[i])[0]
        rates = untied.predict_intensity(X[[i]], grid[i])[0]
        alive = survival / survival[0]
        assert_allclose(table["terminal"][i], 1.0 - alive[-1], rtol=1e-6)
        expected = np.trapezoid(rates * alive, grid[i])
        assert_allclose(table["expected"][i], expected, rtol=2e-3)
        passed = np.append(
            0.0, np.cumsum(0.5 * (rates[1:] + rates[:-1]) * np.diff(grid[i]))
        )
        first = np.trapezoid(rates * np.exp(-passed) * alive, grid[i])
        assert_allclose(table["probability"][i], first, rtol=5e-3)
        happened = np.append(
            0.0,
            np.cumsum(np.diff(-np.exp(-passed)) * 0.5 * (alive[1:] + alive[:-1])),
        )
        if happened[-1] > 0.5:
            median = np.interp(0.5, happened, grid[i] - now[i])
            assert_allclose(table["next_event_median"][i], median, rtol=0.02)
    assert np.all(stop > now)


def test_a_tie_lets_frail_individuals_die_sooner(patients, model):
    law = replace(model.forecast_law_, tie=TerminalTie(1.0, 1.0))
    tied = change(model, forecast_law=law)
    free = change(model, forecast_law=replace(law, tie=TerminalTie()))
    y = patients.y.with_terminal(None)
    one, other = (
        by_id(each.forecast(patients.X, y, horizon=20.0)) for each in (tied, free)
    )
    is_frail = one["frailty"] > 1.0
    assert np.all((one["terminal"] > other["terminal"]) == is_frail)


def test_counts_intervals_and_chances_hold_on_new_patients(model):
    new = simulate.patients(n=600, random_state=5)
    now = np.full(600, 40.0)
    table = by_id(model.forecast(new.X, new.complete, horizon=50.0, now=now))
    after, rows = clip(new.complete, now, now + 50.0)
    counts, died = np.zeros(600), np.zeros(600)
    counts[rows], died[rows] = after.n_events, after.is_terminal
    alive = new.complete.end > 40.0
    held = (table["lower"] <= counts) & (counts <= table["upper"])
    assert 0.85 < held[alive].mean() < 0.96
    assert 0.8 < table["expected"].sum() / counts.sum() < 1.2
    assert abs(table["terminal"][alive].mean() - died[alive].mean()) < 0.1
    assert_allclose(table["probability"].mean(), np.mean(counts > 0), atol=0.05)


def test_fleets_and_groups_know_the_dead(patients, model):
    X, y = patients.X, patients.y
    table = model.forecast(X, y, horizon=30.0)
    total = model.forecast_fleet(X, y, horizon=30.0)
    assert_allclose(total.expected, table["expected"].sum())
    by = np.where(y.is_terminal, "dead", "alive")
    groups = model.forecast_fleet(X, y, horizon=30.0, by=by).set_index("group")
    assert groups.loc["dead", "expected"] == groups.loc["dead", "upper"] == 0.0


def test_simulated_futures_agree_with_the_forecast(patients, model):
    X, y = patients.X[:60], patients.y[:60]
    table = by_id(model.forecast(X, y, horizon=30.0))
    drawn = model.simulate(X, 100, y, horizon=30.0, random_state=0)
    counts = drawn.n_events.reshape(60, 100)
    dies = drawn.is_terminal.reshape(60, 100)
    assert_allclose(counts.sum(axis=0).mean(), table["expected"].sum(), rtol=0.1)
    assert_allclose(dies.mean(), table["terminal"].mean(), atol=0.02)
    assert not counts[y.is_terminal].any()
    assert np.all(drawn.times <= drawn.end[drawn.event_owner])


def test_bands_level_off_with_the_dead(patients, model):
    X, y = patients.X[:30], patients.y[:30]
    band = model.predict_band(X, [50.0, 150.0], y=y)
    dead = y.is_terminal
    assert_array_equal(band.expected[dead, 1], y.n_events[dead])
    assert_array_equal(band.upper[dead, 1], y.n_events[dead])
    assert np.all(band.expected[~dead, 1] > y.n_events[~dead])


def test_explanations_add_up_to_the_forecast(patients, model):
    X, y = patients.X[:20], patients.y[:20]
    table = by_id(model.forecast(X, y, horizon=30.0))
    reasons = model.explain_forecast(X, y, horizon=30.0)
    assert_allclose(reasons.prediction, table["expected"])


def test_the_hazard_is_explained_by_its_own_features(patients, model):
    reasons = explain(model, patients.X[:5], horizon=60.0, target="terminal")
    hazard = -np.log(model.predict_survival(patients.X[:5], [60.0]))[:, 0]
    assert_allclose(reasons.prediction, hazard)


def test_newcomers_join_patients_with_terminal_events(patients, model):
    ids = np.arange(30)
    y = patients.y[:25]
    y = y._with(has_ids=True, ids=ids[:25], id_name="patient")
    X = pd.DataFrame(patients.X[:30], index=pd.Index(ids, name="patient"))
    named = BoostR(n_estimators=5, random_state=0).fit(X.iloc[:25], y)
    table = by_id(named.forecast(X, y, horizon=30.0))
    assert np.all(table["expected"][25:] > 0.0)


def test_a_model_without_hazard_knows_the_dead(patients):
    y = patients.y.with_terminal(None)
    model = BoostR(n_estimators=5, random_state=0).fit(patients.X, y)
    table = by_id(model.forecast(patients.X, patients.y, horizon=30.0))
    assert "terminal" not in table
    assert_array_equal(table["expected"] == 0.0, patients.y.is_terminal)
    plain = by_id(model.forecast(patients.X, y, horizon=30.0))
    alive = ~patients.y.is_terminal
    assert_array_equal(table["upper"][alive], plain["upper"][alive])


@pytest.mark.slow
def test_sensors_that_follow_from_events_are_drawn_until_death(patients):
    def past(y, until):
        return Trajectories.from_events(y).time_since_event(y, until=until)

    X, y = patients.X[:80], patients.y[:80]
    model = BoostR(n_estimators=5, random_state=0).fit(X, y, past)
    table = by_id(model.forecast(X, y, 20.0, past, n_paths=20))
    assert_array_equal(table["expected"][y.is_terminal], 0.0)
    assert np.all(table["terminal"][~y.is_terminal] > 0.0)
