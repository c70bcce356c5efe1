"""What must not change a fitted model, and what must change it the same way."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr import BoostR, RecurrentEvents, simulate

TIMES = np.linspace(0.0, 100.0, 11)


def plain(**params):
    settings = {
        "n_estimators": 10,
        "validation": None,
        "n_origins": 0,
        "min_samples_leaf": 1,
    }
    return BoostR(**(settings | params))


@pytest.mark.parametrize("loss", ["intensity", "cumulative"])
@pytest.mark.parametrize("clock", ["operational", "calendar"])
def test_weight_two_is_the_row_twice(fleet, loss, clock):
    weights = 1.0 + (np.arange(len(fleet.y)) % 2)
    rows = np.repeat(np.arange(len(fleet.y)), weights.astype(int))
    params = {"loss": loss, "clock": clock, "max_leaf_nodes": 4}
    weighted = plain(**params).fit(fleet.X, fleet.y, sample_weight=weights)
    repeated = plain(**params).fit(fleet.X[rows], fleet.y[rows])
    assert_allclose(
        weighted.predict_cumulative(fleet.X, TIMES),
        repeated.predict_cumulative(fleet.X, TIMES),
        rtol=1e-8,
        atol=1e-10,
    )


@pytest.mark.slow
def test_weight_zero_is_no_row(fleet):
    keeps = np.arange(len(fleet.y)) % 3 > 0
    weighted = BoostR(n_estimators=10, random_state=0)
    weighted.fit(fleet.X, fleet.y, sample_weight=keeps.astype(float))
    without = BoostR(n_estimators=10, random_state=0).fit(fleet.X[keeps], fleet.y[keeps])
    assert_array_equal(weighted.predict(fleet.X), without.predict(fleet.X))


def test_order_of_individuals_does_not_matter(fleet, rng):
    order = rng.permutation(len(fleet.y))
    straight = plain().fit(fleet.X, fleet.y)
    shuffled = plain().fit(fleet.X[order], fleet.y[order])
    assert_allclose(straight.predict(fleet.X), shuffled.predict(fleet.X), rtol=1e-8)


def test_monotone_transforms_of_features_do_not_matter(fleet):
    straight = plain().fit(fleet.X, fleet.y)
    bent = plain().fit(np.exp(3 * fleet.X), fleet.y)
    assert_allclose(straight.predict(fleet.X), bent.predict(np.exp(3 * fleet.X)))


def test_window_cut_in_two_changes_nothing(fleet):
    table = fleet.y.to_start_stop()
    first = table["start"] + 0.37 * (table["stop"] - table["start"])
    before = table.assign(stop=first, event=0)
    after = table.assign(start=first)
    columns = {"id": "id", "start": "start", "stop": "stop", "event": "event"}
    halves = type(table)(
        {
            name: np.concatenate([before[name], after[name]])
            for name in ("id", "start", "stop", "event")
        }
    )
    cut = RecurrentEvents.from_start_stop(halves, **columns)
    assert_allclose(
        plain().fit(fleet.X, cut).predict(fleet.X),
        plain().fit(fleet.X, fleet.y).predict(fleet.X),
        rtol=1e-9,
    )


def test_unit_of_time_does_not_matter_on_the_operational_clock(fleet):
    hours = RecurrentEvents.from_flat(
        24 * fleet.y.times, fleet.y.event_offsets, end=24 * fleet.y.end
    )
    in_days = plain().fit(fleet.X, fleet.y).predict_cumulative(fleet.X, TIMES)
    in_hours = plain().fit(fleet.X, hours).predict_cumulative(fleet.X, 24 * TIMES)
    assert_allclose(in_days, in_hours, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("validation", [None, "cv", 0.3])
def test_same_seed_gives_the_same_model(fleet, validation):
    models = [
        BoostR(n_estimators=15, validation=validation, random_state=5).fit(fleet.X, fleet.y)
        for _ in range(2)
    ]
    assert_array_equal(models[0].predict(fleet.X), models[1].predict(fleet.X))


@pytest.mark.slow
def test_one_thread_is_two_threads_bit_for_bit():
    crowd = simulate.dataset_b(n=31_000, random_state=0)
    predictions = [
        BoostR(n_estimators=5, validation=None, n_jobs=n_jobs)
        .fit(crowd.X, crowd.y)
        .predict_cumulative(crowd.X, TIMES)
        for n_jobs in (1, 2)
    ]
    assert_array_equal(*predictions)


def test_costs_of_two_double_the_prediction(fleet):
    doubled = RecurrentEvents.from_flat(
        fleet.y.times,
        fleet.y.event_offsets,
        end=fleet.y.end,
        costs=np.full(len(fleet.y.times), 2.0),
    )
    counts = plain(clock="calendar").fit(fleet.X, fleet.y).predict(fleet.X)
    costs = plain(clock="calendar").fit(fleet.X, doubled).predict(fleet.X)
    assert_allclose(costs, 2 * counts, rtol=1e-8)
