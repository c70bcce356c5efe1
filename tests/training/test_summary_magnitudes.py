"""Extreme sizes are fitted as any other, or refused with a word; nothing in between."""

import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr.exceptions import (
    BoostrError,
    DataWarning,
    InvalidEventsError,
    InvalidParameterError,
    InvalidSensorsError,
)

N = 24
QUICK = {"n_estimators": 2, "n_folds": 2, "max_leaf_nodes": 4, "n_origins": 1}
SETTINGS = {
    "default": {},
    "calendar": {"clock": "calendar"},
    "cumulative": {"loss": "cumulative", "clock": "calendar"},
    "paper": {**BoostR.paper(3, 0.0, 1.0).get_params(), "n_origins": 1},
}
WHAT = ["times", "costs", "weights", "exposures", "sensors", "features"]
POWERS = st.integers(-320, 307)


def make_fleet(sizes):
    """Return all arguments of a fit, multiplied by sizes."""
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 5, N)
    offsets = np.append(0, np.cumsum(counts))
    y = RecurrentEvents.from_flat(
        sizes["times"] * np.concatenate([np.sort(rng.uniform(0.1, 1, k)) for k in counts]),
        offsets,
        end=np.full(N, sizes["times"] * 1.0),
        costs=sizes["costs"] * rng.uniform(1, 2, offsets[-1]),
        ids=[f"M{number}" for number in range(N)],
    )
    if np.any(sizes["exposures"] != 1.0):
        y = y.with_exposure(sizes["exposures"] * np.ones(N))
    Z = None
    if np.any(sizes["sensors"] != 1.0):
        begins = np.tile(np.array([0.0, 0.5]), N) * sizes["times"]
        values = sizes["sensors"] * rng.uniform(1, 2, (1, 2 * N))
        Z = Trajectories.from_flat(
            begins, 2 * np.arange(N + 1), values, ["load"], ids=y.ids
        )
    X = sizes["features"] * rng.uniform(size=(N, 1))
    return X, y, Z, sizes["weights"] * np.ones(N)


def fit_and_save(setting, sizes, folder):
    """Fit, predict, forecast and save; warnings are errors here."""
    X, y, Z, weights = make_fleet(sizes)
    model = BoostR(**(SETTINGS[setting] | QUICK | {"n_estimators": 2}))
    model.fit(X, y, Z, weights)
    predicted = model.predict_count(X, y.start, y.end, Z)
    assert np.isfinite(predicted).all()
    assert np.isfinite(model.forecast(X, y, Z=Z)["expected"]).all()
    model.save(folder / "model.boostr")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(SETTINGS)), st.sampled_from(WHAT), POWERS)
@example("default", "costs", -170)
@example("default", "sensors", -310)
@example("default", "times", -120)
@example("calendar", "costs", 170)
@example("default", "times", 200)
@example("default", "times", 307)
@example("default", "weights", 200)
@example("calendar", "exposures", -310)
def test_any_size_is_fitted_or_refused(folder, setting, what, power):
    sizes = dict.fromkeys(WHAT, 1.0) | {what: 10.0**power}
    try:
        fit_and_save(setting, sizes, folder)
    except BoostrError as error:
        assert abs(power) >= 28
        assert "Hint:" in str(error)  # noqa: PT017


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.sampled_from(list(SETTINGS)), st.sampled_from(WHAT[1:]), POWERS)
@example("default", "weights", 19)
def test_one_odd_value_is_fitted_or_refused(folder, setting, what, power):
    n_events = make_fleet(dict.fromkeys(WHAT, 1.0))[1].times.size
    shapes = {"costs": n_events, "sensors": 2 * N, "features": (N, 1)}
    factors = np.ones(shapes.get(what, N))
    factors[5] = 10.0**power
    sizes = dict.fromkeys(WHAT, 1.0) | {what: factors}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # the individual outweighs others
            fit_and_save(setting, sizes, folder)
    except BoostrError as error:
        assert "Hint:" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("what", "power", "error", "message"),
    [
        ("times", 200, InvalidEventsError, r"Times must .* individual M0, is 1e\+200"),
        ("times", -120, InvalidEventsError, "Times must .* too small"),
        ("costs", -170, InvalidEventsError, "Costs must .* of individual M.* too small"),
        ("costs", 200, InvalidEventsError, "Costs must .* too large"),
        ("exposures", 99, InvalidEventsError, "Exposures must"),
        ("weights", 99, InvalidParameterError, "`sample_weight` must"),
        ("sensors", -310, InvalidSensorsError, "sensor 'load' must .* individual M"),
        ("sensors", 200, InvalidSensorsError, "sensor 'load' must .* too large"),
    ],
)
def test_sizes_that_cannot_be_computed_with_are_named(what, power, error, message):
    X, y, Z, weights = make_fleet(dict.fromkeys(WHAT, 1.0) | {what: 10.0**power})
    with pytest.raises(error, match=message) as caught:
        BoostR(**QUICK).fit(X, y, Z, weights)
    assert "Hint:" in str(caught.value)
