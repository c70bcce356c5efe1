"""What every baseline must do, whatever it learns with."""

import importlib.util
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from boostr.baselines import (
    AndersenGill,
    HistGradientBoostingPoisson,
    HistGradientBoostingRate,
    HistGradientBoostingTime,
    HomogeneousPoisson,
    LightGBMPoisson,
    McfK,
    McfRegressor,
    PowerLawProcess,
    RandomForestRecurrence,
    XGBoostPoisson,
    XGBoostTime,
)
from boostr.data import Panel, RecurrentEvents, Trajectories
from boostr.exceptions import (
    DataWarning,
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
    InvalidSensorsError,
    MissingDependencyError,
    TargetTypeError,
)
from boostr.metrics import recurrent_concordance, scorer
from boostr.simulate import dataset_a

PACKAGES = {
    "AndersenGill": "lifelines",
    "LightGBMPoisson": "lightgbm",
    "XGBoostPoisson": "xgboost",
    "XGBoostTime": "xgboost",
}
SMOOTH = [
    McfRegressor(smooth=True),
    McfK(smooth=True),
    HomogeneousPoisson(),
    PowerLawProcess(),
    RandomForestRecurrence(n_estimators=20, smooth=True, random_state=0),
    RandomForestRecurrence(n_estimators=20, leaf="power", random_state=0),
    HistGradientBoostingRate(n_estimators=20, smooth=True, random_state=0),
    XGBoostTime(n_estimators=20, random_state=0),
    XGBoostPoisson(n_estimators=20, random_state=0),
    LightGBMPoisson(n_estimators=20, random_state=0),
    HistGradientBoostingTime(n_estimators=20, random_state=0),
    HistGradientBoostingPoisson(n_estimators=20, random_state=0),
    AndersenGill(smooth=True),
]
STEPS = [
    McfRegressor(),
    McfK(),
    RandomForestRecurrence(n_estimators=20, random_state=0),
    HistGradientBoostingRate(n_estimators=20, random_state=0),
    AndersenGill(),
]
COUNTS_SO_FAR = (XGBoostTime, HistGradientBoostingTime)
TAKES_SENSORS = (
    XGBoostPoisson,
    LightGBMPoisson,
    HistGradientBoostingPoisson,
    *COUNTS_SO_FAR,
    AndersenGill,
)
# A weight of two and a row given twice are the same; the others count rows somewhere.
WEIGHED = [McfRegressor(), HomogeneousPoisson(), PowerLawProcess()]
ORDERLESS = [*WEIGHED, McfK(), AndersenGill()]
WITHOUT_COSTS = [HomogeneousPoisson(), PowerLawProcess(), AndersenGill()]


def mark(baselines):
    def is_missing(baseline):
        package = PACKAGES.get(type(baseline).__name__)
        return package is not None and importlib.util.find_spec(package) is None

    return [
        pytest.param(
            baseline,
            id=f"{number}-{type(baseline).__name__}",
            marks=pytest.mark.skipif(is_missing(baseline), reason="package not installed"),
        )
        for number, baseline in enumerate(baselines)
    ]


every_baseline = pytest.mark.parametrize("baseline", mark(SMOOTH + STEPS))
smooth_baseline = pytest.mark.parametrize("baseline", mark(SMOOTH))
sensorless_baseline = pytest.mark.parametrize(
    "baseline",
    mark([one for one in SMOOTH + STEPS if not isinstance(one, TAKES_SENSORS)]),
)
weighed_baseline = pytest.mark.parametrize("baseline", mark(WEIGHED))


@pytest.fixture(scope="module")
def fleet():
    return dataset_a(n=100, random_state=3, end=(40.0, 100.0))


def gappy(rng, n=60):
    """Late entry, gaps, ties, individuals without events."""
    rows = []
    for number in range(n):
        start = float(rng.uniform(0, 20)) if number % 3 else 0.0
        cuts = np.sort(rng.uniform(start, 60, 3))
        rows.append((number, start, cuts[0], 1))
        rows.append((number, cuts[0], cuts[1], 0))
        rows.append((number, cuts[2], 70.0, number % 2))
    table = pd.DataFrame(rows, columns=["id", "start", "stop", "event"])
    return RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")


@every_baseline
def test_clone_keeps_parameters(baseline):
    assert clone(baseline).get_params() == baseline.get_params()


@every_baseline
@pytest.mark.parametrize(
    "table", [lambda n: np.empty((n, 0)), lambda n: pd.DataFrame(index=range(n))]
)
def test_without_features_everybody_is_average(baseline, table, fleet):
    none, model = table(len(fleet.y)), clone(baseline)
    if isinstance(baseline, McfK | HistGradientBoostingRate):
        with pytest.raises(InvalidFeaturesError, match="must have features"):
            model.fit(none, fleet.y)
        return
    predicted = model.fit(none, fleet.y).predict(none)
    assert_allclose(predicted, predicted[0])
    average = McfRegressor().fit(none, fleet.y).predict(none)[0]
    # Twenty small steps do not take the sum of counts all the way.
    assert_allclose(
        predicted[0], average, rtol=0.5 if type(baseline) in COUNTS_SO_FAR else 0.1
    )


@every_baseline
def test_an_unfitted_baseline_says_so(baseline):
    with pytest.raises(NotFittedError):
        clone(baseline).predict(np.zeros((2, 2)))


@pytest.mark.slow
@every_baseline
def test_cross_validation_gives_finite_scores(baseline, fleet):
    assert np.isfinite(cross_val_score(baseline, fleet.X, fleet.y, cv=3)).all()


@pytest.mark.slow
@every_baseline
def test_ranks_of_new_individuals_can_be_scored(baseline, fleet):
    scores = cross_val_score(
        baseline, fleet.X, fleet.y, cv=3, scoring=scorer("recurrent_concordance")
    )
    assert np.all((scores >= 0.5) if type(baseline) is McfRegressor else (scores > 0.6))


@every_baseline
def test_prediction_is_the_curve_at_the_horizon(baseline, fleet):
    model = clone(baseline).fit(fleet.X, fleet.y)
    curve = model.predict_cumulative(fleet.X, [fleet.y.end.max()])
    assert_allclose(model.predict(fleet.X), curve[:, 0])


@every_baseline
def test_counts_in_windows_are_differences_of_curves(baseline, fleet):
    model = clone(baseline).fit(fleet.X, fleet.y)
    stop = np.linspace(20.0, 90.0, 100)
    curves = model.predict_cumulative(fleet.X, [10.0, *stop])
    expected = curves[np.arange(100), 1 + np.arange(100)] - curves[:, 0]
    assert_allclose(model.predict_count(fleet.X, 10.0, stop), expected, atol=1e-9)


@every_baseline
def test_curves_begin_at_zero_and_never_fall(baseline, fleet):
    model = clone(baseline).fit(fleet.X, fleet.y)
    curves = model.predict_cumulative(fleet.X, np.linspace(0.0, 150.0, 151))
    assert_array_equal(curves[:, 0], 0.0)
    assert np.diff(curves, axis=1).min() >= -1e-9


@smooth_baseline
def test_rates_add_up_to_the_curve(baseline, fleet):
    model = clone(baseline).fit(fleet.X[:20], fleet.y[:20])
    grid = np.linspace(5.0, 90.0, 20_001)
    middles = 0.5 * (grid[1:] + grid[:-1])
    rates = model.predict_intensity(fleet.X[:3], middles)
    rise = model.predict_count(fleet.X[:3], 5.0, 90.0)
    assert_allclose((rates * np.diff(grid)).sum(axis=1), rise, rtol=2e-3)


@smooth_baseline
def test_log_likelihood_of_smooth_curves_is_finite(baseline, fleet):
    model = clone(baseline).fit(fleet.X, fleet.y)
    assert np.isfinite(scorer("point_process_log_likelihood")(model, fleet.X, fleet.y))


@every_baseline
def test_windows_with_gaps_and_late_entry_are_learned_from(baseline, rng):
    y = gappy(rng)
    model = clone(baseline).fit(rng.normal(size=(60, 2)), y)
    assert np.isfinite(model.score(rng.normal(size=(60, 2)), y))


@every_baseline
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_tables_with_categories_and_missing_values(baseline, library, fleet):
    names = ["red" if value > 0.5 else "blue" for value in fleet.X[:, 0]]
    names[3] = None
    numbers = fleet.X[:, 1].copy()
    numbers[5] = np.nan
    table = library({"colour": names, "load": numbers})
    model = clone(baseline).fit(table, fleet.y)
    strange = library({"colour": ["green", None], "load": [0.5, np.nan]})
    with pytest.warns(DataWarning, match=r"'colour' .* in 1 of 1 rows \('green'\)"):
        assert np.isfinite(model.predict(strange)).all()


@pytest.mark.slow
@every_baseline
def test_weight_zero_leaves_individuals_out(baseline, fleet):
    weight = np.arange(100) % 4 > 0
    weighted = clone(baseline).fit(fleet.X, fleet.y, sample_weight=weight.astype(float))
    smaller = clone(baseline).fit(fleet.X[weight], fleet.y[weight])
    assert_allclose(weighted.predict(fleet.X), smaller.predict(fleet.X))


@weighed_baseline
def test_weight_two_is_the_row_twice(baseline, fleet):
    weight = 1.0 + (np.arange(100) % 3 == 0)
    rows = np.repeat(np.arange(100), weight.astype(int))
    weighted = clone(baseline).fit(fleet.X, fleet.y, sample_weight=weight)
    repeated = clone(baseline).fit(fleet.X[rows], fleet.y[rows])
    times = [20.0, 60.0, 100.0]
    assert_allclose(
        weighted.predict_cumulative(fleet.X, times),
        repeated.predict_cumulative(fleet.X, times),
        rtol=1e-6,
    )


@pytest.mark.slow
@pytest.mark.parametrize("baseline", mark(ORDERLESS))
def test_order_of_individuals_does_not_matter(baseline, fleet, rng):
    order = rng.permutation(100)
    model = clone(baseline).fit(fleet.X, fleet.y)
    shuffled = clone(baseline).fit(fleet.X[order], fleet.y[order])
    assert_allclose(model.predict(fleet.X), shuffled.predict(fleet.X), rtol=1e-6)


@every_baseline
def test_pickle_predicts_the_same(baseline, fleet):
    model = clone(baseline).fit(fleet.X, fleet.y)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict(fleet.X), model.predict(fleet.X))


@pytest.fixture
def sensors():
    return Trajectories.from_flat(
        np.zeros(100), np.arange(101), [np.arange(100.0)], ["load"]
    )


@pytest.mark.slow
@every_baseline
def test_sensors_are_used_or_refused(baseline, fleet, sensors):
    if isinstance(baseline, TAKES_SENSORS):
        model = clone(baseline).fit(fleet.X, fleet.y, sensors)
        panel = Panel(fleet.X, sensors)
        assert_array_equal(
            model.predict(fleet.X, sensors), clone(model).fit(panel, fleet.y).predict(panel)
        )
        return
    message = f"{type(baseline).__name__} cannot use sensors.*\n\n.*LightGBMPoisson"
    with pytest.raises(InvalidSensorsError, match=message):
        clone(baseline).fit(fleet.X, fleet.y, sensors)


@pytest.mark.slow
@sensorless_baseline
def test_a_panel_lends_its_static_features_to_baselines_without_sensors(
    baseline, fleet, sensors
):
    with_sensors = clone(baseline).fit(Panel(fleet.X, sensors), fleet.y)
    without = clone(baseline).fit(fleet.X, fleet.y)
    assert_array_equal(with_sensors.predict(fleet.X), without.predict(fleet.X))


@every_baseline
def test_another_number_of_features_is_refused(baseline, fleet):
    model = clone(baseline).fit(fleet.X, fleet.y)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.zeros((2, 3)))


@every_baseline
def test_a_plain_target_is_refused_and_nothing_is_fitted(baseline, fleet):
    model = clone(baseline).fit(fleet.X, fleet.y)
    with pytest.raises(TargetTypeError):
        model.fit(fleet.X, np.zeros(100))
    with pytest.raises(NotFittedError):
        model.predict(fleet.X)


@pytest.mark.parametrize("baseline", mark(WITHOUT_COSTS))
def test_likelihoods_refuse_costs(baseline):
    y = RecurrentEvents.from_lists([[1.0], [2.0]], end=3.0, cost=[[5.0], [1.0]])
    with pytest.raises(InvalidEventsError, match="cannot use their costs"):
        baseline.fit(np.array([[0.0], [1.0]]), y)


@pytest.mark.parametrize("name", sorted(PACKAGES))
def test_a_missing_package_names_the_extra(name, fleet, monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    baseline = globals()[name]()
    message = (
        rf"{name} needs {PACKAGES[name]}, .*\n\nHint: pip install 'boostr\[baselines\]'"
    )
    with pytest.raises(MissingDependencyError, match=message):
        baseline.fit(fleet.X, fleet.y)


def test_rows_and_histories_must_be_as_many(fleet):
    with pytest.raises(InvalidFeaturesError, match="99 rows for 100 individuals"):
        McfRegressor().fit(fleet.X[1:], fleet.y)


def test_text_in_an_array_is_refused(fleet):
    with pytest.raises(InvalidFeaturesError, match="numbers or categories"):
        McfRegressor().fit(np.full((100, 1), "red", dtype=object), fleet.y)


def test_numbers_in_a_column_of_objects_are_read(fleet):
    numbers = fleet.X[:, 0].tolist()
    numbers[0] = None
    objects = pd.DataFrame({"load": np.array(numbers, dtype=object)})
    floats = pd.DataFrame({"load": [np.nan, *numbers[1:]]})
    models = [HomogeneousPoisson().fit(table, fleet.y) for table in (objects, floats)]
    assert_array_equal(models[0].coef_, models[1].coef_)


def test_infinite_features_are_refused(fleet):
    X = fleet.X.copy()
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        McfRegressor().fit(X, fleet.y)


def test_features_and_histories_must_be_in_order(fleet):
    with pytest.raises(InvalidFeaturesError, match="order is fit"):
        McfRegressor().fit(fleet.y, fleet.X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model, X: model.predict(X, horizon=[1.0, 2.0]), "one time"),
        (lambda model, X: model.predict(X, horizon="soon"), "must be numbers"),
        (lambda model, X: model.predict_cumulative(X, [-1.0]), "finite and not negative"),
        (lambda model, X: model.predict_count(X, 5.0, 4.0), "not stop before it starts"),
        (lambda model, X: model.predict_count(X, [1.0, 2.0], 4.0), "one per individual"),
    ],
)
def test_impossible_times_are_refused(call, message, fleet):
    model = McfRegressor().fit(fleet.X, fleet.y)
    with pytest.raises(InvalidParameterError, match=message):
        call(model, fleet.X)


@pytest.mark.parametrize(
    "baseline",
    [
        McfK(n_neighbors=0),
        HomogeneousPoisson(confidence=1.0),
        RandomForestRecurrence(n_estimators=0),
        RandomForestRecurrence(max_features=1.5),
        RandomForestRecurrence(max_features=0),
        RandomForestRecurrence(leaf="spline"),
        RandomForestRecurrence(max_bins=300),
        RandomForestRecurrence(n_jobs=0),
        HistGradientBoostingRate(learning_rate=0.0),
        XGBoostPoisson(n_cells=0),
        XGBoostTime(n_times=0.5),
        LightGBMPoisson(max_leaf_nodes=1),
        AndersenGill(alpha=-1.0),
    ],
    ids=lambda baseline: repr(baseline)[:60],
)
def test_impossible_parameters_are_refused(baseline, fleet):
    with pytest.raises(InvalidParameterError):
        baseline.fit(fleet.X, fleet.y)


@pytest.mark.parametrize(
    "baseline",
    mark(
        [HomogeneousPoisson(), HistGradientBoostingRate(), XGBoostPoisson(), AndersenGill()]
    ),
)
def test_no_events_at_all_are_refused(baseline):
    y = RecurrentEvents.from_lists([[], []], end=3.0)
    with pytest.raises(InvalidEventsError, match="without any event"):
        baseline.fit(np.array([[0.0], [1.0]]), y)


@pytest.mark.parametrize(
    "baseline",
    [McfRegressor(), McfRegressor(smooth=True), McfK(), RandomForestRecurrence()],
)
def test_without_events_nothing_is_expected(baseline):
    y = RecurrentEvents.from_lists([[], []], end=3.0)
    model = baseline.fit(np.array([[0.0], [1.0]]), y)
    assert_array_equal(model.predict_cumulative(np.zeros((1, 1)), [1.0, 3.0]), 0.0)
    assert_array_equal(model.predict_intensity(np.zeros((1, 1)), [1.0, 3.0]), 0.0)


def test_settings_are_found_by_grid_search(fleet):
    search = GridSearchCV(McfK(), {"n_neighbors": [2, 20]}, cv=3).fit(fleet.X, fleet.y)
    assert search.best_params_ == {"n_neighbors": 20}


def test_score_is_the_log_likelihood_beyond_the_average(fleet):
    model = HomogeneousPoisson().fit(fleet.X, fleet.y)
    clock = model.reference_clock_
    rate = model.predict_intensity(fleet.X, [1.0])[:, 0]
    owner, times = fleet.y.event_owner, fleet.y.times
    gain = np.sum(np.log(rate[owner] / clock.rate(times)))
    gain -= np.sum(rate * fleet.y.end - clock.read(fleet.y.end))
    assert_allclose(model.score(fleet.X, fleet.y), gain / 100)


@pytest.mark.parametrize(
    "baseline",
    mark([each for each in SMOOTH if type(each) is not McfRegressor]),
)
def test_baselines_rank_new_individuals_better_than_the_mean(baseline, fleet):
    test = dataset_a(n=200, random_state=4)
    model = clone(baseline).fit(fleet.X, fleet.y)
    assert recurrent_concordance(test.y, model.predict(test.X)) > 0.65
