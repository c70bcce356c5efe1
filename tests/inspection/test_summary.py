"""Models in plain words: sentences and figures agree with what the model knows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from tests.fitted import change, change_frailty, change_settings

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr._frailty.forecast_law import Shock
from boostr.data.events.fingerprint import Fingerprint
from boostr.exceptions import InvalidEventsError, InvalidSensorsError
from boostr.inspection import model_summary
from boostr.simulate import dataset_a

SETTINGS = {"n_estimators": 12, "learning_rate": 0.3, "n_folds": 2, "random_state": 0}
RUNS = [
    ("4 leaves, common curve shape", 30, -1.5, 0.6),
    ("4 leaves, random thresholds, common curve shape", 20, -1.4, 0.1),
    ("8 leaves, own curve shapes", 10, -1.2, 0.28),
    ("20 leaves, common curve shape", 10, -1.1, 0.02),
]


def make_runs(rows=RUNS, average=-1.0):
    return [
        {
            "label": label,
            "curve": np.array([average, loss]),
            "n_trees": n_trees,
            "loss": loss,
            "weight": weight,
        }
        for label, n_trees, loss, weight in rows
    ]


@pytest.fixture(scope="module")
def data():
    return dataset_a(n=120, random_state=1)


@pytest.fixture(scope="module")
def known(data):
    X = pd.DataFrame(data.X, columns=["load", "age"])
    model = BoostR(**SETTINGS, max_leaf_nodes=4, splitter="best", n_origins=2)
    return model.fit(X, data.y)


def law(model, **values):
    return change(model, forecast_law=replace(model.forecast_law_, **values))


def test_sizes_of_trees_are_summed_and_small_ones_left_out(known):
    text = change(known, validation_results=make_runs()).summary().learned[1]
    assert text.endswith("4 leaves (70%), 8 leaves (28%).")


def test_shapes_of_curves_that_are_all_the_same_are_not_told(data):
    model = BoostR(n_estimators=2, validation=None, n_origins=0)
    model.fit(np.zeros((120, 1)), data.y)
    figures = change(model, validation_results=make_runs()).summary().figures
    assert "share_of_common_shape" not in figures


@pytest.mark.parametrize(("weight", "word"), [(0.9, "together"), (0.1, "for others")])
def test_shapes_of_curves_are_told(known, weight, word):
    rows = [(*RUNS[0][:3], weight), (*RUNS[2][:3], 1.0 - weight)]
    summary = change(known, validation_results=make_runs(rows)).summary()
    assert word in summary.learned[2]
    assert_allclose(summary.figures["share_of_common_shape"], weight)


def test_features_are_named_by_importance(known):
    model = change(known, feature_importances=np.array([0.3, 0.7]))
    assert "age 70%, load 30%." in " ".join(model.summary().learned)


def test_a_model_without_features_says_so(data):
    model = BoostR(n_estimators=2, validation=None, n_origins=0).fit(
        np.empty((120, 0)), data.y
    )
    assert "No static feature makes a difference." in model.summary().learned


def test_own_history_is_told_by_an_example(known):
    model = change_frailty(known, variance=0.5, persistence=1.0, half_life=30.0)
    text = model.summary().learned[-1]
    assert "forecasts are 1.5 times" in text  # (1 + 0.5 * 4) / (1 + 0.5 * 2)
    assert "a tenth has less than 0.27 times and a tenth more than 1.9 times" in text
    assert "what happened 30 units of time ago counts half" in text
    assert model.summary().figures["frailty_variance"] == 0.5


def test_own_history_that_hardly_matters_is_told(known):
    model = change_frailty(known, variance=0.001)
    assert "hardly matters" in model.summary().learned[-1]


def test_the_gain_is_measured_from_the_average_individual(known):
    model = change(known, validation_results=make_runs(average=-1.2))
    assert_allclose(model.summary().figures["held_out_gain"], 0.25)


def test_the_first_tree_is_the_average_individual_only_if_training_starts_there(known):
    model = change_settings(known, init="zero")
    model.init = "zero"
    assert "held_out_gain" not in model.summary().figures


def test_a_small_gain_is_a_concern(known):
    model = change(known, validation_results=make_runs(average=-1.499))
    assert any("hardly help" in text for text in model.summary().watch_out)
    assert not any("hardly help" in text for text in known.summary().watch_out)


def test_coverage_is_the_share_of_scores_below_the_level(known):
    model = change(known, forecast_scores=np.array([0.1, 0.5, 0.9, 0.95]))
    summary = model.summary()
    assert summary.figures["interval_coverage"] == 0.5
    assert any("for only 50%" in text for text in summary.watch_out)
    wide = change(known, forecast_scores=np.zeros(4)).summary()
    assert "narrow_intervals" not in wide.figures


def test_errors_of_totals_are_told_and_large_ones_are_a_concern(known):
    shock = Shock(10.0, np.log([1.5, 0.9]), np.zeros(2))
    summary = law(known, shock=shock).summary()
    assert_allclose(summary.figures["mean_error_of_totals"], 0.3)
    assert any(
        "at the latest date 50% more events came" in text for text in summary.quality
    )
    assert "large_errors_of_totals" in summary.figures
    small = Shock(10.0, np.log([1.1, 0.9]), np.zeros(2))
    assert "large_errors_of_totals" not in law(known, shock=small).summary().figures


def test_a_level_of_the_recent_past_is_told(known):
    texts = law(known, level=0.8).summary().watch_out
    assert any("fewer events" in text and "by 0.80" in text for text in texts)


def test_out_of_fold_predictions_are_compared_with_the_histories(known, data):
    figures = known.summary(data.y).figures
    windows = known.predict_out_of_fold([100.0])[:, 0]
    assert (data.y.end == 100.0).all()
    assert_allclose(
        figures["observed_over_expected"], data.y.times.size / windows.sum(), rtol=1e-9
    )
    riskiest = np.argsort(-windows)[:12]
    share = data.y.n_events[riskiest].sum() / data.y.times.size
    assert_allclose(figures["share_of_riskiest_tenth"], share, atol=0.02)
    assert 0.5 < figures["calibration_slope"] < 2.0


def test_other_histories_are_refused(known, data):
    with pytest.raises(InvalidEventsError, match="119 in the place of 120"):
        known.summary(data.y[1:])
    later = RecurrentEvents.from_lists([[]] * 120, end=99.0)
    with pytest.raises(InvalidEventsError, match="99 in the place of 100"):
        known.summary(later)


@pytest.mark.slow
def test_few_individuals_and_events_are_a_concern():
    y = RecurrentEvents.from_lists([[1.0], []] * 15, end=2.0)
    model = BoostR(**SETTINGS).fit(np.arange(30.0)[:, None] % 2, y)
    summary = model.summary(y)
    assert "Only 30 individuals: held-out figures are rough." in summary.watch_out
    assert "Only 15 events: held-out figures are rough." in summary.watch_out
    few = change(model, fingerprint=Fingerprint(np.arange(9, dtype=np.uint64), True))
    assert "Only 9 individuals have had events." in few.summary().watch_out


def test_reaching_the_limit_of_trees_is_a_concern(known):
    rows = [("4 leaves", 12, -1.5, 1.0)]
    model = change(known, validation_results=make_runs(rows))
    assert model.summary().figures["limit_of_trees"] == 12
    fewer = change(known, validation_results=make_runs([("4 leaves", 11, -1.5, 1.0)]))
    assert "limit_of_trees" not in fewer.summary().figures
    flat = change(known, validation_results=make_runs(rows, average=-1.499))
    assert "limit_of_trees" not in flat.summary().figures


def test_unused_features_are_named(data):
    X = pd.DataFrame(data.X, columns=["load", "age"]).assign(constant=1.0)
    model = BoostR(n_estimators=3, validation=None, n_origins=0).fit(X, data.y)
    assert any(text.endswith("features constant.") for text in model.summary().watch_out)


def test_without_validation_nothing_is_said_on_quality(data):
    model = BoostR(n_estimators=3, validation=None, n_origins=0).fit(data.X, data.y)
    summary = model.summary(data.y)
    assert summary.quality == ()
    assert "without validation" in summary.watch_out[0]
    assert "How good it is" not in str(summary)


@pytest.fixture(scope="module")
def sensed():
    rng = np.random.default_rng(5)
    ids = [f"P{k:02d}" for k in range(40)]
    load = rng.uniform(0.0, 1.0, 40)
    y = RecurrentEvents.from_lists(
        [np.sort(rng.uniform(0, 10, n)) for n in rng.poisson(6 * load)], end=10.0, ids=ids
    )
    values = np.stack([load, rng.uniform(0.0, 1.0, 40)])
    Z = Trajectories.from_flat(
        np.zeros(40), np.arange(41), values, ["load", "noise"], ids=ids, before="first"
    )
    X = np.zeros((40, 1))
    return BoostR(**SETTINGS, n_origins=0, n_knots=0, spline_order=2).fit(X, y, Z), y, Z


@pytest.mark.slow
def test_sensors_that_help_are_named(sensed):
    model, _, _ = sensed
    told = change(model, sensor_usefulness={"load": (0.5, 0.1), "noise": (0.1, 0.1)})
    assert any(text.endswith("individuals: load.") for text in told.summary().learned)
    none = change(model, sensor_usefulness=None)
    assert any("Sensors in use" in text for text in none.summary().learned)


@pytest.mark.slow
def test_sensors_are_matched_by_id(sensed):
    model, y, Z = sensed
    figures = model.summary(y, Z).figures
    assert model.summary(y, Z[::-1]).figures == figures
    with pytest.raises(InvalidSensorsError, match="needs them"):
        model.summary(y)


@pytest.mark.parametrize(("backend", "kind"), [("pandas", pd), ("polars", pl)])
def test_a_table_has_all_sentences(known, backend, kind):
    summary = known.summary()
    table = summary.to_frame(backend=backend)
    assert isinstance(table, kind.DataFrame)
    assert list(table["text"]) == [*summary.learned, *summary.quality, *summary.watch_out]


def test_text_and_html_hold_all_sentences(known):
    summary = known.summary()
    assert str(summary) == repr(summary)
    for text in (*summary.learned, *summary.quality, *summary.watch_out):
        assert f"  - {text}" in str(summary)
    html = summary._repr_html_()
    assert html.count("<li>") == len(summary.facts)


def test_a_model_must_be_fitted():
    with pytest.raises(NotFittedError):
        BoostR().summary()
    with pytest.raises(NotFittedError):
        model_summary(BoostR())
