"""Columns of later tables are matched by name."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from boostr import BoostR, simulate
from boostr.baselines import (
    HistGradientBoostingPoisson,
    HistGradientBoostingRate,
    HistGradientBoostingTime,
    HomogeneousPoisson,
    McfK,
    McfRegressor,
    PowerLawProcess,
    RandomForestRecurrence,
)
from boostr.exceptions import DataWarning, InvalidFeaturesError
from boostr.inspection import (
    coefficient_map,
    explain,
    feature_interaction,
    individual_convergence,
    partial_dependence,
    permutation_importance,
)
from boostr.metrics import scorer

MODELS = [BoostR(n_estimators=5, validation=None, n_origins=0), HomogeneousPoisson()]


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def model(request, X, fleet):
    return request.param.fit(X, fleet.y)


@pytest.fixture(scope="module", name="X")
def make_table(fleet):
    group = np.where(fleet.X[:, 0] > 0.5, "b", "a")
    return pd.DataFrame(fleet.X, columns=["load", "age"]).assign(group=group)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_the_order_of_columns_does_not_matter(model, X, kind):
    shuffled = kind(X[["group", "age", "load"]])
    assert_array_equal(model.predict(shuffled), model.predict(X))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_additional_columns_are_left_out_with_a_word(model, X, kind):
    more = kind(X.assign(note="?", code=7)[["note", "age", "group", "code", "load"]])
    with pytest.warns(DataWarning, match=r"2 columns .* left out \(note, code\)") as caught:
        predicted = model.predict(more)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert_array_equal(predicted, model.predict(X))


def test_missing_columns_are_named(model, X):
    with pytest.raises(InvalidFeaturesError, match=r"2 are missing \(load, group\)"):
        model.predict(X[["age"]].assign(note="?"))


def test_forecasts_scores_and_reasons_match_by_name_too(X, fleet):
    model = MODELS[0].fit(X, fleet.y)
    more = X.assign(note="?")[["note", "group", "age", "load"]]
    asked = [
        lambda X: model.forecast(X, fleet.y, horizon=10)["expected"],
        lambda X: model.forecast_fleet(X, fleet.y, horizon=10).expected,
        lambda X: model.score(X, fleet.y),
        lambda X: scorer("poisson_deviance")(model, X, fleet.y),
        lambda X: explain(model, X).prediction,
        lambda X: permutation_importance(model, X, fleet.y).importances,
        lambda X: model.explain_forecast(X, fleet.y, horizon=10).prediction,
    ]
    for ask in asked:
        expected = ask(X)
        with pytest.warns(DataWarning, match="note") as caught:
            assert_array_equal(ask(more), expected)
        assert sum(issubclass(one.category, DataWarning) for one in caught) == 1


def test_groups_of_a_fleet_may_be_a_column_that_is_no_feature(X, fleet):
    model = MODELS[0].fit(X, fleet.y)
    site = np.where(np.arange(len(X)) < 40, "north", "south")
    expected = model.forecast_fleet(X, fleet.y, horizon=10, by=site)
    found = model.forecast_fleet(X.assign(site=site), fleet.y, horizon=10, by="site")
    assert_array_equal(found.to_numpy(), expected.to_numpy())


def test_columns_without_names_go_by_position(fleet):
    model = MODELS[0].fit(fleet.X, fleet.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn's, of names
        named = model.predict(pd.DataFrame(fleet.X, columns=["age", "load"]))
    assert_array_equal(named, model.predict(fleet.X))


def test_additional_sensors_are_left_out_with_a_word():
    fleet = simulate.wells(n=40, n_sensors=3, random_state=1)
    few = fleet.Z.select(["sensor3", "sensor1"])
    model = BoostR(n_estimators=3, validation=None, n_origins=0).fit(fleet.X, fleet.y, few)
    other_way = few.select(["sensor1", "sensor3"])
    assert_array_equal(model.predict(fleet.X, other_way), model.predict(fleet.X, few))
    with pytest.warns(DataWarning, match=r"1 sensors .* left out \(sensor2\)") as caught:
        predicted = model.predict(fleet.X, fleet.Z)
    assert len(caught) == 1
    assert_array_equal(predicted, model.predict(fleet.X, few))


def other_order(X):
    return X[["group", "age", "load"]]


QUESTIONS = {
    "cumulative": lambda model, X, y: model.predict_cumulative(X, [5.0, 20.0]),
    "intensity": lambda model, X, y: model.predict_intensity(X, [5.0]),
    "count": lambda model, X, y: model.predict_count(X, 5.0, 20.0),
    "staged": lambda model, X, y: list(model.staged_predict_cumulative(X, [5.0])),
    "next event": lambda model, X, y: model.predict_next_event(X, y),
    "band": lambda model, X, y: model.predict_band(X, [5.0], y=y).upper,
    "groups": lambda model, X, y: model.forecast_fleet(X, y, 10, by="group")["expected"],
    "calibration": lambda model, X, y: model.calibrate_forecast(X, y, 10).scores,
    "dependence": lambda model, X, y: partial_dependence(model, X, "age").average,
    "interaction": lambda model, X, y: (
        feature_interaction(model, "load", "group", X=X, average=True).values
    ),
    "map": lambda model, X, y: (
        coefficient_map(model, "load", "age", X=X, average=True).values
    ),
    "convergence": lambda model, X, y: individual_convergence(model, X, y, 3).curves,
    "metric": scorer("poisson_deviance"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_method_and_function_matches_columns_by_name(X, fleet, name):
    model = MODELS[0].fit(X, fleet.y)
    expected = QUESTIONS[name](model, X, fleet.y)
    assert_array_equal(QUESTIONS[name](model, other_order(X), fleet.y), expected)


@pytest.mark.slow
def test_a_report_matches_columns_by_name(X, fleet, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("plotly")
    model = MODELS[0].fit(X, fleet.y)
    pages = []
    for name, table in {"one": X, "other": other_order(X)}.items():
        path = model.report(table, fleet.y, path=tmp_path / f"{name}.html", horizon=10)
        text = path.read_text()
        pages.append(re.sub(r"Made by boostr [^<]*", "", text))
    assert pages[0] == pages[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "baseline",
    [
        McfRegressor(),
        McfK(),
        PowerLawProcess(),
        RandomForestRecurrence(n_estimators=3, random_state=0),
        HistGradientBoostingTime(n_estimators=3, random_state=0),
        HistGradientBoostingPoisson(n_estimators=3, random_state=0),
        HistGradientBoostingRate(n_estimators=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_baseline_matches_columns_by_name(X, fleet, baseline):
    model = baseline.fit(X, fleet.y)
    other = other_order(X)
    assert_array_equal(model.predict(other), model.predict(X))
    times = [5.0, 20.0]
    assert_array_equal(
        model.predict_cumulative(other, times), model.predict_cumulative(X, times)
    )
