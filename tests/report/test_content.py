"""The numbers of the page are those of the library's own functions."""

import numpy as np
import pandas as pd
import pytest
from tests.report.scenes import (
    HOSTILE,
    SETTINGS,
    Pumps,
    fitted,
    fitted_plain,
    pumps,
    silent,
)

from boostr import (
    BoostR,
    MeanCumulativeFunction,
    Panel,
    RecurrentEvents,
    Trajectories,
)
from boostr.exceptions import InvalidParameterError
from boostr.report._content import collect
from boostr.report._fleet import FleetData, History
from boostr.report._quality import is_training_data


@pytest.fixture(scope="module")
def content():
    return collect(fitted(), *pumps().data, horizon=20.0)


@pytest.fixture(scope="module")
def forecast():
    X, y, Z = pumps().data
    return fitted().forecast(X, y, 20.0, Z)


def test_the_table_is_the_forecast(content, forecast):
    people = content.individuals
    assert people.ids.tolist() == forecast["id"].tolist()
    for name in ("expected", "probability", "lower", "upper"):
        np.testing.assert_allclose(getattr(people.risk, name), forecast[name], rtol=1e-12)
    np.testing.assert_allclose(people.risk.own_history, forecast["frailty"], rtol=1e-12)
    np.testing.assert_allclose(
        people.risk.next_event, forecast["next_event_median"], rtol=1e-9
    )


def test_curves_end_in_the_forecast(content, forecast):
    curves = content.individuals.curves
    assert curves.leads[-1] == 20.0
    for name in ("expected", "lower", "upper"):
        np.testing.assert_allclose(getattr(curves, name)[:, -1], forecast[name])
    assert np.all(np.diff(curves.expected, axis=1) >= 0.0)


def test_curves_on_the_way_are_shorter_forecasts(content):
    X, y, Z = pumps().data
    curves, place = content.individuals.curves, 3
    shorter = fitted().forecast(X, y, curves.leads[place], Z).set_index("id")
    shorter = shorter.loc[content.individuals.ids]
    np.testing.assert_allclose(curves.expected[:, place], shorter["expected"])
    np.testing.assert_allclose(curves.upper[:, place], shorter["upper"])


def test_the_past_is_what_the_plain_model_expects(content):
    X, y, Z = pumps().data
    place = pd.Series(range(len(y)), index=y.ids)[content.individuals.ids].to_numpy()
    expected = fitted().predict_count(X, y.start, y.end, Z)[place]
    np.testing.assert_allclose(content.individuals.curves.past[:, -1], expected)


def test_gaps_count_neither_events_nor_expectations():
    X, y, _ = pumps().data
    n = len(y)
    gapped = RecurrentEvents.from_flat(
        [], np.zeros(n + 1, int), end=y.end, ids=y.ids, start=0.0
    )._with(
        window_start=np.tile([0.0, 30.0], n),
        window_stop=np.stack([np.full(n, 10.0), y.end], axis=1).ravel(),
        window_offsets=np.arange(0, 2 * n + 1, 2),
        time_unit="D",
        origin=y.origin,
    )
    model = fitted_plain()
    people = collect(model, X, gapped, horizon=20.0).individuals
    place = pd.Series(range(n), index=y.ids)[people.ids].to_numpy()
    observed = model.predict_count(X, 0.0, 10.0) + model.predict_count(X, 30.0, y.end)
    np.testing.assert_allclose(people.curves.past[:, -1], observed[place])


def test_the_total_is_that_of_the_fleet(content):
    X, y, Z = pumps().data
    assert content.total == fitted().forecast_fleet(X, y, 20.0, Z)


def test_reasons_make_up_the_forecast(content):
    reasons, risk = content.individuals.reasons, content.individuals.risk
    total = reasons.base + reasons.amount.sum(axis=1) + reasons.rest
    np.testing.assert_allclose(total, risk.expected)
    sizes = np.abs(reasons.amount)
    assert np.all(sizes[:, :-1] >= sizes[:, 1:])


def test_sentences_and_values_are_those_of_the_individual(content):
    X, y, Z = pumps().data
    people = content.individuals
    row = y.ids.tolist().index(people.ids[0])
    one = fitted().explain_forecast(X, y, 20.0, Z)
    assert people.reasons.sentences[0] == one.sentence(row)
    names = list(people.reasons.names)
    known = dict(zip(people.reasons.index[0], people.reasons.value[0], strict=True))
    assert known[names.index(HOSTILE)] == pytest.approx(X[HOSTILE].iloc[row], nan_ok=True)
    site = people.reasons.categories[0][int(known[0])]
    assert site == X["site"].iloc[row]
    samples = slice(Z.offsets[row], Z.offsets[row + 1])
    shown = Z.values[Z.names.index("load"), samples]
    last = np.searchsorted(Z.times[samples], y.end[row], side="right") - 1
    assert known[names.index("load")] == shown[last]


@pytest.mark.slow
def test_categories_that_are_not_learned_are_named():
    X, y, Z = pumps().data
    X = X.assign(site=["lonely", *X["site"][1:]])
    model = BoostR(**SETTINGS).fit(X, y, Z)
    X = X.assign(site=["lonely", "new", *X["site"][2:]])
    first = slice(Z.offsets[2], Z.offsets[3])
    modes = [*Z.categories]
    modes[Z.names.index("mode")] = ("idle", "run", "odd")
    values = Z.values.copy()
    values[Z.names.index("mode"), first] = 2.0
    odd = Z._with(values=values, categories=tuple(modes))
    reasons = collect(model, X, y, odd, horizon=20.0).individuals
    place = {one: row for row, one in enumerate(reasons.ids.tolist())}
    shown = reasons.reasons
    words = {
        (one, shown.names[shown.index[place[one], k]]): text
        for one in y.ids[:3]
        for k in range(shown.index.shape[1])
        if (text := shown.unlearned.get(place[one] * shown.index.shape[1] + k))
    }
    assert words == {
        (y.ids[0], "site"): "rare (lonely)",
        (y.ids[1], "site"): "unknown (new)",
        (y.ids[2], "mode"): "unknown (odd)",
    }


def test_sensors_are_read_from_entry_to_now(content):
    _, y, Z = pumps().data
    sensors, row = content.individuals.sensors, 5
    who = y.ids.tolist().index(content.individuals.ids[row])
    times = np.linspace(y.start[who], y.end[who], sensors.values.shape[2])
    place = sensors.names.index("load")
    sampled = Z.times[Z.offsets[who] : Z.offsets[who + 1]]
    shown = Z.values[Z.names.index("load"), Z.offsets[who] : Z.offsets[who + 1]]
    at = np.searchsorted(sampled, times, side="right") - 1
    np.testing.assert_array_equal(sensors.values[place, row], shown[at])


def test_what_happened_is_told_for_all(content):
    y = pumps().y
    assert content.n_events == y.n_events.sum() == content.activity.events.sum()
    mcf = MeanCumulativeFunction().fit(y)
    np.testing.assert_allclose(content.mcf.mean[1:-1], mcf.mcf_)
    lasting = np.diff(content.activity.edges) @ content.activity.observed
    assert lasting == pytest.approx(y.follow_up.sum())
    history, row = content.individuals.history, 0
    first, last = history.offsets[row : row + 2]
    who = y.ids.tolist().index(content.individuals.ids[row])
    np.testing.assert_array_equal(history.times[first:last], y[[who]].times)
    assert history.totals[last - 1] == content.individuals.risk.so_far[row] == last - first


def test_long_histories_are_thinned_but_counted():
    y = RecurrentEvents.from_lists([np.arange(1.0, 101.0), [3.0], []], end=101.0)
    history = History.of(y, 30)
    assert np.diff(history.offsets).tolist() == [10, 1, 0]
    assert history.totals[9] == 100.0
    np.testing.assert_array_equal(history.totals[:10], history.times[:10])


def test_only_those_at_risk_are_kept_but_all_are_counted(content):
    few = collect(fitted(), *pumps().data, horizon=20.0, max_individuals=7)
    assert few.individuals.ids.tolist() == content.individuals.ids[:7].tolist()
    assert few.individuals.curves.expected.shape[0] == 7
    assert few.total == content.total
    assert few.n_individuals == content.n_individuals


def test_training_individuals_are_recognised(content):
    X, y, Z = pumps().data
    assert content.quality.source == "out_of_fold"
    model = fitted()
    assert not is_training_data(model, FleetData.read(model, X[::-1], y[::-1], Z[::-1]))
    later = y._with(times=np.minimum(y.times * 1.01, y.end[y.event_owner]))
    assert not is_training_data(model, FleetData.read(model, X, later, Z))
    other = Pumps(n=59)
    assert collect(model, *other.data, horizon=20.0).quality.source == "new"


def test_quality_is_out_of_fold_for_training_individuals(content):
    _, y, Z = pumps().data
    curves = fitted().predict_out_of_fold(np.unique(y.end), Z)
    expected = curves[np.arange(len(y)), np.searchsorted(np.unique(y.end), y.end)]
    assert content.quality.whole.table.expected.sum() == pytest.approx(expected.sum())


def test_quality_of_others_is_that_of_the_model():
    fleet, model = Pumps(n=59), fitted()
    quality = collect(model, *fleet.data, horizon=20.0).quality
    expected = model.predict_count(fleet.X, fleet.y.start, fleet.y.end, fleet.Z).sum()
    assert quality.whole.table.expected.sum() == pytest.approx(expected)


def test_the_look_back_is_a_forecast_of_what_is_known():
    fleet, model = Pumps(n=59), fitted()
    X, y, Z = fleet.data
    back = collect(model, X, y, Z, horizon=20.0).quality.look_back
    earlier = model.forecast(X, y, 20.0, Z, now=y.end - 20.0).set_index("id").loc[y.ids]
    seen = np.bincount(y.event_owner, y.times > (y.end - 20.0)[y.event_owner], len(y))
    held = (earlier["lower"] <= seen) & (seen <= earlier["upper"])
    assert back.expected == pytest.approx(earlier["expected"].sum())
    assert back.observed == seen.sum()
    assert back.covered == pytest.approx(held.mean())


def test_a_model_without_validation_is_called_that():
    X, y, _ = pumps().data
    model = BoostR(**SETTINGS | {"validation": None}).fit(X, y)
    quality = collect(model, X, y, horizon=20.0).quality
    assert quality.source == "in_sample"
    assert quality.trained_on.startswith("These 60 individuals were used in training")
    assert quality.runs == ()


def test_costs_take_the_place_of_numbers():
    X, y, _ = pumps().data
    dear = y._with(costs=2.0 * np.ones_like(y.costs), has_costs=True)
    model = BoostR(**SETTINGS).fit(X, dear)
    content = collect(model, X, dear, horizon=20.0)
    assert content.has_costs
    assert content.individuals.risk.so_far.sum() == 2.0 * content.n_events


def test_no_features_and_no_events_are_no_error():
    content = collect(*silent(), horizon=20.0)
    assert set(content.drivers.reasons) <= {"own history"}
    assert content.mcf is None
    assert content.quality.whole is None
    assert any("no events" in one for one in content.warnings)


def test_categories_in_arrays_are_checked_too():
    y = pumps().y
    X = pumps().X[["site"]].to_numpy(dtype=object).copy()
    model = BoostR(**SETTINGS, categorical_features=[0]).fit(X, y)
    X[3, 0], X[4, 0] = "elsewhere", None
    content = collect(model, X, y, horizon=20.0)
    told = "x0 unknown (elsewhere) for 1 individual."
    assert any(told in one for one in content.warnings)


@pytest.mark.slow
def test_a_plan_of_the_sensors_counts():
    X, y, Z = pumps().data
    n = len(y)
    future = Trajectories.from_flat(
        y.end, np.arange(n + 1), np.full((1, n), 0.4), ["load"], ids=y.ids
    )._with(time_unit="D", origin=y.origin)
    model = BoostR(**SETTINGS, sensor_penalty="ridge").fit(X, y, Z)
    people = collect(model, X, y, Z, horizon=20.0, future=future).individuals
    planned = model.forecast(X, y, 20.0, Z, future=future)
    assert not np.allclose(planned["expected"], model.forecast(X, y, 20.0, Z)["expected"])
    np.testing.assert_allclose(people.risk.expected, planned["expected"])
    reasons = people.reasons
    total = reasons.base + reasons.amount.sum(axis=1) + reasons.rest
    np.testing.assert_allclose(total, planned["expected"])


def test_a_panel_is_features_and_sensors(content):
    X, y, Z = pumps().data
    found = collect(fitted(), Panel(X, Z), y, horizon=20.0)
    np.testing.assert_array_equal(
        found.individuals.risk.expected, content.individuals.risk.expected
    )


def test_functions_as_sensors_are_refused():
    X, y, _ = pumps().data
    with pytest.raises(InvalidParameterError, match="Trajectories"):
        collect(fitted(), X, y, lambda y, until: None)
