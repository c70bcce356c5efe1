"""Sensors that follow from the events, learned in turn with frailties."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.io.scenes import assert_same

from boostr import BoostR, Panel, RecurrentEvents, Trajectories
from boostr._training.event_sensors import _expose, _select_others
from boostr.exceptions import (
    InterruptedFitError,
    InvalidParameterError,
    InvalidSensorsError,
    TargetTypeError,
)

WINDOW = 10.0
END = 60.0


def memory(y, until):
    return Trajectories.from_events(y).events_in_window(y, WINDOW)


def draw(n, rate, seed, variance=0.0):
    """Histories whose rate depends on the events of the last while, times a frailty."""
    rng = np.random.default_rng(seed)
    frailty = rng.gamma(1.0 / variance, variance, n) if variance else np.ones(n)
    histories = []
    for own in frailty:
        times = []
        for now in np.arange(0.0, END, 0.25):
            lately = sum(now - WINDOW < time <= now for time in times)
            if rng.random() < 0.25 * own * rate(lately):
                times.append(now + 0.25 * rng.random())
        histories.append(times)
    return np.zeros((n, 1)), RecurrentEvents.from_lists(histories, end=END + 1.0)


def small(**params):
    settings = {
        "n_estimators": 20,
        "learning_rate": 0.3,
        "max_leaf_nodes": 2,
        "splitter": "best",
        "n_knots": 0,
        "n_folds": 2,
        "n_origins": 0,
        "random_state": 0,
    }
    return BoostR(**(settings | params))


@pytest.fixture(scope="module")
def frail():
    return draw(150, lambda lately: 0.15, seed=1, variance=1.0)


def usefulness(model):
    return model.sensor_usefulness_[f"events in last {WINDOW:g}"][0]


@pytest.mark.slow
def test_sensors_do_not_explain_what_frailties_do(frail):
    X, y = frail
    first, beside = small().fit(X, y, memory(y, y.end)), small().fit(X, y, memory)
    assert usefulness(beside) < 0.2 * usefulness(first)


@pytest.mark.slow
def test_sensors_explain_events_that_bring_events():
    X, y = draw(150, lambda lately: 0.05 + 0.06 * min(lately, 6), seed=2)
    model = small().fit(X, y, memory)
    assert model.frailty_variance_ < 0.1
    assert usefulness(model) > 0.1


def test_without_frailties_sensors_come_first():
    clockwork = [np.arange(1.0, END, 8.0) + shift for shift in np.linspace(0.0, 4.0, 60)]
    X, y = np.zeros((60, 1)), RecurrentEvents.from_lists(clockwork, end=END + 4.0)
    model = small(n_estimators=3).fit(X, y, memory)
    assert model.frailty_variance_ == 0.0
    plain = small(n_estimators=3).fit(X, y, memory(y, y.end))
    assert_same(vars(model), vars(plain))


def test_a_cumulative_loss_knows_no_exposure(frail):
    X, y = frail
    params = {"loss": "cumulative", "n_estimators": 3}
    model = small(**params).fit(X, y, memory)
    assert_same(vars(model), vars(small(**params).fit(X, y, memory(y, y.end))))


@pytest.mark.slow
def test_forecasts_without_validation_come_from_in_turn_fits_too(frail):
    X, y = frail
    model = small(validation=None, n_estimators=3).fit(X, y, memory)
    assert model.frailty_variance_ > 0.7  # 0.34 where sensors come first
    table = model.forecast(X, y, 10.0, memory, n_paths=3)
    assert np.isfinite(table["expected"]).all()


def test_other_sensors_are_told_apart(frail):
    _, y = frail
    loads = Trajectories.from_flat([0.0, 20.0], [0, 2], [[1.0, 2.0]], ["load"])
    loads = Trajectories.concatenate([loads] * len(y))._with(ids=y.ids)

    def both(y, until):
        return loads.events_in_window(y, WINDOW)

    quiet = y._with(
        times=y.times[:0],
        costs=y.costs[:0],
        event_offsets=np.zeros_like(y.event_offsets),
    )
    others = _select_others(both(y, None), both(quiet, None))
    assert others.names == ("load",)
    # A sensor that is not there without events follows from them.
    assert _select_others(both(y, None), loads).names == ("load",)
    assert _select_others(memory(y, None), memory(quiet, None)) is None


@pytest.mark.slow
def test_frailties_are_fitted_anew_between_the_turns(frail, monkeypatch):
    X, y = frail
    seen = []

    def expose(model, data):
        exposure = _expose(model, data)
        seen.append((model.sensor_layout is None, data.sensors is None, exposure.factors))
        return exposure

    monkeypatch.setattr("boostr._training.event_sensors._expose", expose)
    small(n_estimators=3).fit(X, y, memory)
    assert [one[:2] for one in seen] == [(True, True), (False, False)]
    assert not np.array_equal(seen[0][2], seen[1][2])


def test_costs_of_nothing_say_nothing(frail):
    X, y = frail
    free = y._with(costs=np.zeros(len(y.times)), has_costs=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(n_estimators=2).fit(X, free, memory)


@pytest.mark.slow
def test_individuals_without_weight_are_as_good_as_absent(frail):
    X, y = frail
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    some = weights > 0.0
    model = small(n_estimators=3).fit(X, y, memory, weights)
    other = small(n_estimators=3).fit(X[some], y[some], memory)
    assert_array_equal(
        model.out_of_fold_coefficients_[some], other.out_of_fold_coefficients_
    )
    assert model.frailty_variance_ == other.frailty_variance_


@pytest.mark.slow
def test_any_seed_will_do(frail):
    X, y = frail
    one, same = (
        small(n_estimators=2, random_state=np.random.RandomState(7)).fit(X, y, memory)
        for _ in range(2)
    )
    found = one.out_of_fold_coefficients_
    assert_array_equal(found, same.out_of_fold_coefficients_)
    other = small(n_estimators=2, random_state=None).fit(X, y, memory)
    assert not np.array_equal(found, other.out_of_fold_coefficients_)


@pytest.mark.slow
def test_a_stopped_fit_goes_on_from_its_files(frail, tmp_path):
    X, y = frail
    path = tmp_path / "trees"
    whole = small(n_estimators=3).fit(X, y, memory)
    kept = small(n_estimators=3).fit(X, y, memory, checkpoint=path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        f"trees.{turn}" for turn in range(4)
    ]
    (tmp_path / "trees.3").unlink()
    again = small(n_estimators=3).fit(X, y, memory, checkpoint=path)
    assert_same(vars(whole), vars(kept))
    assert_same(vars(whole), vars(again))


def test_an_interrupted_fit_leaves_nothing(frail, monkeypatch):
    X, y = frail
    model = small(n_estimators=2).fit(X, y, memory(y, y.end))

    def interrupt(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("boostr._training.event_sensors._expose", interrupt)
    with pytest.raises(InterruptedFitError):
        model.fit(X, y, memory)
    assert not hasattr(model, "ensemble_")


def test_what_does_not_go_together_is_refused(frail):
    X, y = frail
    with pytest.raises(InvalidParameterError, match="warm_start"):
        small(warm_start=True).fit(X, y, memory)
    with pytest.raises(InvalidParameterError, match="`checkpoint` needs a whole number"):
        small(random_state=None).fit(X, y, memory, checkpoint="trees")
    with pytest.raises(TargetTypeError, match="RecurrentEvents"):
        small().fit(X, y.n_events, memory)
    with pytest.raises(InvalidSensorsError, match="must return Trajectories"):
        small().fit(X, y, lambda y, until: None)
    with pytest.raises(InvalidSensorsError, match="must come once"):
        small().fit(Panel(X, memory(y, y.end)), y, memory)
