from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from boostr import BoostR, RecurrentEvents
from boostr._frailty.law import cut_windows
from boostr._frailty.pace import Pace, PacedClock
from boostr._training.fold_curves import FoldCurves, jackknife_variance


@pytest.mark.parametrize("k", [5, 10, 30])
def test_the_variance_of_a_mean_is_that_of_a_student_variable(rng, k):
    values = rng.normal(size=k)
    without = np.array([np.delete(values, place).mean() for place in range(k)])
    student = stats.t(k - 1).var()
    assert_allclose(
        jackknife_variance(without, k), student * values.var(ddof=1) / k, rtol=1e-10
    )


@pytest.mark.parametrize("k", [5, 10])
def test_normal_intervals_hold_with_the_variance_of_few_groups(rng, k):
    draws = rng.normal(size=(4_000, k))
    spread = draws.sum(axis=1, keepdims=True) - draws
    errors = draws.mean(axis=1)
    variances = np.array([jackknife_variance(each, k) for each in spread / (k - 1)])
    is_held = np.abs(errors) < stats.norm.ppf(0.95) * np.sqrt(variances)
    assert abs(is_held.mean() - 0.9) < 0.03


def test_a_single_model_does_not_disagree():
    assert jackknife_variance(np.array([3.0]), 1) == 0.0


@pytest.fixture(scope="module")
def fleet():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    end = rng.uniform(60.0, 100.0, 60)
    times = [rng.uniform(0.0, stop, rng.poisson(0.06 * stop)) for stop in end]
    y = RecurrentEvents.from_lists(times, end=end)
    small = {"n_estimators": 3, "learning_rate": 0.5, "max_leaf_nodes": 2}
    return BoostR(**small, n_folds=4, random_state=0).fit(X, y), X, y


def test_errors_that_all_share_grow_with_the_square_of_the_fleet(fleet):
    model, X, y = fleet

    def shared(copies):
        rows = np.tile(np.arange(len(X)), copies)
        present, stop = model._present(X[rows], y[rows], 20.0, None, None, None)
        outlook = model._look_ahead(present, stop, own_history=True)
        return outlook.shared_variance(stop, outlook.expect(stop), outlook.rows)

    assert shared(1) > 0.0
    assert_allclose(shared(3), 9.0 * shared(1), rtol=1e-9)


@pytest.fixture(params=["even", "paced"])
def curves(fleet, request):
    model, X, _ = fleet
    paced = model.fitted_.forecast_law.paced if request.param == "paced" else None
    return FoldCurves(model.fitted_.trees, X, paced=paced)


@pytest.mark.parametrize("cell", [0.7, 3.0, 50.0, 1e3])
def test_pieces_of_cells_have_the_same_expectations_as_single_windows(curves, fleet, cell):
    y = fleet[2]
    pieces = cut_windows(np.arange(len(y)), y.window_start, y.window_stop, cell)
    windows = (pieces.owner, pieces.start, pieces.stop)
    single = zip(*windows, strict=True)
    expected = [curves.expect(*map(np.atleast_1d, window))[0] for window in single]
    assert_allclose(curves.expect(*windows, cell=cell), expected, rtol=1e-9, atol=1e-12)


def test_windows_that_end_elsewhere_do_not_mind_a_cell(curves, rng):
    rows = np.repeat(np.arange(60), 200)  # so many that they are read from a table
    start = rng.uniform(0.0, 50.0, len(rows))
    stop = start + rng.integers(1, 40, len(rows))
    expected = curves.expect(rows, start, stop)
    assert_allclose(curves.expect(rows, start, stop, cell=1.0), expected, rtol=1e-9)
    nobody = np.empty(0, dtype=np.intp)
    assert not curves.expect(nobody, nobody.astype(float), np.empty(0), cell=1.0).size


def test_curves_that_remember_give_the_same_values(curves, rng):
    remembering = curves.remembering()
    rows = np.arange(60)
    for moment in rng.choice(6, 30):
        times = np.full(60, 10.0 + moment)
        for some in (rows, rows[::-1], rows[:30]):
            values = curves.read(some, times[: len(some)])
            assert_array_equal(remembering.read(some, times[: len(some)]), values)


def test_readings_are_not_remembered_at_another_pace(fleet):
    model, X, _ = fleet
    paced = model.fitted_.forecast_law.paced
    slow = type(paced)(paced.clock, replace(paced.pace, factors=0.5 * paced.pace.factors))
    rows, times = np.arange(60), np.full(60, 30.0)
    curves = FoldCurves(model.fitted_.trees, X, paced=paced).remembering()
    values = curves.read(rows, times)
    assert_allclose(curves.at_pace(slow).read(rows, times), 0.5 * values)


def test_some_individuals_on_another_clock_have_the_curves_that_are_built_anew(fleet):
    model, X, _ = fleet
    trees, clock = model.fitted_.trees, model.fitted_.forecast_law.paced.clock
    faster = PacedClock(replace(clock, log_counts=clock.log_counts + 0.3), Pace.even())
    rows, times = np.arange(1, 60, 3), np.linspace(1.0, 60.0, 20)
    anew = FoldCurves(trees, X[rows], paced=faster)
    curves = FoldCurves(trees, X).take(rows, None, faster)
    places = np.arange(len(rows))
    assert_allclose(curves.read(places, times), anew.read(places, times), rtol=1e-5)
