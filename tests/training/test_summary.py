"""Times that begin far from 0 are fitted as if they began there, and said."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from boostr import BoostR, RecurrentEvents, Trajectories, load
from boostr.exceptions import DataWarning

PLAIN = {"n_estimators": 20, "validation": None, "n_origins": 0}
MODELS = {
    "power": BoostR(clock="calendar", **PLAIN),
    "step": BoostR(clock="calendar", leaf="step", **PLAIN),
    "spline": BoostR(clock="calendar", leaf="spline", **PLAIN),
    "paper": BoostR.paper(n_estimators=20, gamma1=0.0, gamma2=1.0, n_origins=0),
}
FAR = {
    "like calendar years": (2005.3, 1.0),
    "like days since 1970": (12_000.0, 365.0),
    "like seconds since 1970": (1.1e9, 3.2e7),
    "like milliseconds since 1970": (1.1e12, 8.64e7),
    "far from 0. With": (500.0, 1.0),
}


@pytest.fixture(scope="module")
def features():
    return np.random.default_rng(0).uniform(size=(80, 1))


def make_events(features, since, unit):
    """Return histories of five units of time, some of which start late."""
    rng = np.random.default_rng(1)
    start = np.where(np.arange(len(features)) % 2, rng.uniform(0.0, 2.0, len(features)), 0)
    lists = [
        since + unit * np.sort(rng.uniform(begin, 5.0, rng.poisson((5 - begin) * (1 + x))))
        for begin, x in zip(start, features[:, 0], strict=True)
    ]
    return RecurrentEvents.from_lists(
        lists, start=since + unit * start, end=since + 5 * unit
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("likely", FAR)
def test_a_far_start_changes_nothing_but_is_said(features, name, likely, tmp_path):
    near, far = (make_events(features, *when) for when in ((0.0, 1.0), FAR[likely]))
    plain = clone(MODELS[name]).fit(features, near)
    with pytest.warns(DataWarning, match=likely) as caught:
        model = clone(MODELS[name]).fit(features, far)
    assert len(caught) == 1
    expected = plain.predict_count(features, near.start, near.end)
    predicted = model.predict_count(features, far.start, far.end)
    # The paper's step of full size can turn on the last bits.
    tolerance = 0.02 if name == "paper" else 1e-3
    assert_allclose(predicted, expected, rtol=tolerance)
    assert predicted.sum() == pytest.approx(len(far.times), rel=0.05)
    model.save(tmp_path / "far.boostr")
    again = load(tmp_path / "far.boostr").predict_count(features, far.start, far.end)
    assert_allclose(again, predicted, rtol=1e-12)


def test_sensors_move_with_the_events(features):
    models, n = [], len(features)
    for since in (0.0, 2005.3):
        y = make_events(features, since, 1.0)
        values = np.random.default_rng(2).uniform(size=(1, 3 * n))
        begins = np.tile([0.0, since, since + 2.0], n)
        Z = Trajectories.from_flat(begins, 3 * np.arange(n + 1), values, ["load"])
        model = BoostR.paper(n_estimators=3, gamma1=0.0, gamma2=0.1, n_origins=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            model.fit(features, y, Z)
        models.append(model.predict_count(features, y.start, y.end, Z))
    assert_allclose(models[1], models[0], rtol=1e-6)


@pytest.mark.parametrize("when", [(0.0, 1.0), (2.0, 1.0), (1e8, 1e9)])
def test_a_near_start_is_not_said(features, when):
    clone(MODELS["power"]).set_params(n_estimators=1).fit(
        features, make_events(features, *when)
    )


def test_time_stamps_may_begin_at_any_date(features):
    y = make_events(features, 12_000.0, 365.0)
    dated = y._with(origin=np.datetime64("1970-01-01"), time_unit="D")
    clone(MODELS["power"]).set_params(n_estimators=1).fit(features, dated)


def test_the_operational_clock_takes_any_start(features):
    model = BoostR(**PLAIN)
    near, far = (make_events(features, *when) for when in ((0.0, 1.0), (2005.3, 1.0)))
    expected = model.fit(features, near).predict_count(features, near.start, near.end)
    coefficients = model.fitted_.trees.coefficients(features)
    predicted = model.fit(features, far).predict_count(features, far.start, far.end)
    assert_allclose(model.fitted_.trees.coefficients(features), coefficients, rtol=1e-10)
    # Curves that bend far ahead are read from a grid, and how far counts from time 0.
    assert_allclose(predicted, expected, rtol=1e-5)


@pytest.mark.parametrize("likely", [name for name in FAR if name.startswith("like")])
def test_dates_without_starts_are_said_on_any_clock(features, likely):
    dated = make_events(features, *FAR[likely])
    since_zero = RecurrentEvents.from_lists([one.times for one in dated], end=dated.end)
    with pytest.warns(DataWarning, match=f"begins at 0, .* look {likely}"):
        BoostR(**PLAIN).set_params(n_estimators=1).fit(features, since_zero)
