"""`BoostR` with sensors: what goes in, what comes out, and what is refused."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.impute import SimpleImputer
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import Pipeline

from boostr import BoostR, Panel, RecurrentEvents, StaticTransformer, Trajectories
from boostr.basis import PowerBasis
from boostr.exceptions import (
    InvalidParameterError,
    InvalidSensorsError,
    SensorRangeWarning,
)
from boostr.simulate import wells

TIMES = np.array([0.0, 10.0, 37.5, 80.0, 100.0])
SMALL = {"n_estimators": 3, "validation": None, "n_origins": 0, "random_state": 0}
PLAIN = SMALL | {"n_estimators": 6, "learning_rate": 0.3}


@pytest.fixture(scope="module")
def fleet():
    return wells(n=120, n_sensors=2, random_state=1)


@pytest.fixture(scope="module")
def model(fleet):
    return BoostR(**PLAIN).fit(fleet.X, fleet.y, fleet.Z)


def named(fleet):
    """The same wells as tables with ids, none in the order of another."""
    rng = np.random.default_rng(0)
    ids = np.array([f"W{i:03d}" for i in range(len(fleet.y))])
    events = fleet.y.to_long(backend="pandas").assign(well=lambda df: ids[df["id"]])
    samples = fleet.Z.to_long(backend="pandas").assign(well=lambda df: ids[df["id"]])
    X = pd.DataFrame(fleet.X, index=pd.Index(ids, name="well"))
    X.columns = list(fleet.feature_names)
    y = RecurrentEvents.from_long(events, id="well", time="time", event="event")
    Z = Trajectories.from_long(
        samples.sample(frac=1.0, random_state=1),
        id="well",
        time="time",
        columns=list(fleet.Z.names),
    )
    return X, y, Z[rng.permutation(len(Z))]


class TestPredictions:
    def test_intensity_is_the_slope_of_the_cumulative_curve(self, model, fleet):
        Z, X = fleet.Z[:20], fleet.X[:20]
        times = np.linspace(1.0, 99.0, 25) + 0.01237  # away from the samples
        step = 1e-5
        rise = model.predict_cumulative(X, times + step, Z)
        rise -= model.predict_cumulative(X, times - step, Z)
        is_steady = np.all(
            fleet.Z[:20].read(times - step) == fleet.Z[:20].read(times + step), axis=2
        )
        intensity = model.predict_intensity(X, times, Z)
        assert is_steady.mean() > 0.9
        assert_allclose(
            intensity[is_steady], (rise / (2 * step))[is_steady], rtol=1e-3, atol=1e-6
        )

    def test_curves_start_at_zero_and_never_fall(self, model, fleet):
        curves = model.predict_cumulative(fleet.X, np.linspace(0, 150, 40), fleet.Z)
        assert np.all(curves[:, 0] == 0.0)
        assert np.all(np.diff(curves, axis=1) >= 0.0)

    def test_count_in_a_window_is_a_difference_of_the_curve(self, model, fleet):
        curves = model.predict_cumulative(fleet.X, [20.0, 60.0], fleet.Z)
        counts = model.predict_count(fleet.X, 20.0, 60.0, fleet.Z)
        assert_allclose(counts, curves[:, 1] - curves[:, 0])

    def test_predict_is_the_curve_at_the_horizon(self, model, fleet):
        expected = model.predict_cumulative(fleet.X, model.horizon_, fleet.Z)[:, 0]
        assert_allclose(model.predict(fleet.X, fleet.Z), expected)
        assert_allclose(model.predict(Panel(fleet.X, fleet.Z)), expected)

    def test_the_last_stage_is_the_prediction(self, model, fleet):
        stages = list(model.staged_predict_cumulative(fleet.X, TIMES, fleet.Z))
        assert len(stages) == model.n_estimators_
        assert_allclose(stages[-1], model.predict_cumulative(fleet.X, TIMES, fleet.Z))

    def test_another_path_gives_another_prediction(self, model, fleet):
        # The same wells at 80 % of the first sensor.
        eased = fleet.Z.assign(sensor1=lambda values: 0.8 * values)
        before = model.predict(fleet.X, fleet.Z)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SensorRangeWarning)
            after = model.predict(fleet.X, eased)
        assert np.abs(after - before).max() > 0.01

    def test_the_future_path_leaves_the_past_alone(self, model, fleet):
        planned = fleet.Z.assign(sensor1=0.5)
        future = fleet.Z.followed_by(planned, at=50.0)
        both = [model.predict_cumulative(fleet.X, TIMES, Z) for Z in (fleet.Z, future)]
        assert_allclose(both[0][:, TIMES <= 50.0], both[1][:, TIMES <= 50.0])
        assert np.abs(both[0] - both[1])[:, TIMES > 50.0].max() > 1e-3

    def test_last_values_hold(self, model, fleet):
        cut = Trajectories.from_flat(
            np.zeros(len(fleet.Z)),
            np.arange(len(fleet.Z) + 1),
            fleet.Z.read([1e-9])[:, 0, :].T,
            fleet.Z.names,
        )
        curves = model.predict_cumulative(fleet.X, [0.0, 30.0, 60.0], cut)
        clock = model.clock_.read(np.array([0.0, 30.0, 60.0]))
        shares = np.diff(clock) / clock[-1]
        assert_allclose(np.diff(curves, axis=1), curves[:, -1:] * shares, rtol=1e-9)

    def test_holding_can_be_forbidden(self, model, fleet):
        last = fleet.Z.last_times.max()
        ask = [
            lambda **kw: model.predict_cumulative(fleet.X, [last + 1.0], fleet.Z, **kw),
            lambda **kw: model.predict_intensity(fleet.X, [last + 1.0], fleet.Z, **kw),
            lambda **kw: model.predict_count(fleet.X, 0.0, last + 1.0, fleet.Z, **kw),
            lambda **kw: model.predict(fleet.X, fleet.Z, last + 1.0, **kw),
        ]
        for call in ask:
            call()
            with pytest.raises(InvalidSensorsError, match="120 of 120 individuals"):
                call(hold_last=False)

    def test_enough_reach_is_no_error(self, model, fleet):
        times = [fleet.Z.last_times.min()]
        held = model.predict_cumulative(fleet.X, times, fleet.Z)
        assert_allclose(
            model.predict_cumulative(fleet.X, times, fleet.Z, hold_last=False), held
        )

    @pytest.mark.slow
    def test_raw_sums_may_fall(self, fleet):
        settings = PLAIN | {"n_estimators": 40, "min_samples_leaf": 10}
        model = BoostR(**settings).fit(fleet.X, fleet.y, fleet.Z)
        bent = model.predict_intensity(fleet.X, TIMES, fleet.Z)
        model.set_params(monotone=False)
        raw = model.predict_intensity(fleet.X, TIMES, fleet.Z)
        rate, floor = raw / model.clock_.rate(np.array(TIMES)), model.ensemble_.floor
        assert_allclose(bent[rate >= floor], raw[rate >= floor])
        assert (rate < 0.0).any()
        assert (bent > 0.0).all()

    @pytest.mark.slow
    def test_out_of_fold_curves_need_the_training_sensors(self, fleet):
        model = BoostR(**(PLAIN | {"validation": "cv", "max_leaf_nodes": 2}))
        model.fit(fleet.X, fleet.y, fleet.Z)
        assert model.predict_out_of_fold(TIMES, fleet.Z).shape == (120, 5)
        with pytest.raises(InvalidSensorsError, match="all training individuals"):
            model.predict_out_of_fold(TIMES, fleet.Z[:3])
        assert set(model.sensor_usefulness_) == set(fleet.Z.names)


class TestIdentities:
    def test_order_of_individuals_does_not_matter(self, model, fleet, rng):
        order = rng.permutation(len(fleet.y))
        shuffled = BoostR(**PLAIN).fit(fleet.X[order], fleet.y[order], fleet.Z[order])
        assert_allclose(
            shuffled.predict_cumulative(fleet.X, TIMES, fleet.Z),
            model.predict_cumulative(fleet.X, TIMES, fleet.Z),
            rtol=1e-6,
        )

    def test_sensors_are_matched_by_id(self, model, fleet):
        X, y, Z = named(fleet)
        by_id = BoostR(**PLAIN).fit(X.loc[y.ids], y, Z)
        expected = model.predict_cumulative(fleet.X, TIMES, fleet.Z)
        assert_allclose(by_id.predict_cumulative(X, TIMES, Z), expected, rtol=1e-6)
        assert_allclose(by_id.score(X, y, Z=Z), model.score(fleet.X, fleet.y, Z=fleet.Z))

    def test_a_panel_is_features_and_sensors(self, model, fleet):
        panel = Panel(fleet.X, fleet.Z)
        same = BoostR(**PLAIN).fit(panel, fleet.y)
        assert_allclose(same.predict(panel), model.predict(fleet.X, fleet.Z))
        assert same.score(panel, fleet.y) == model.score(fleet.X, fleet.y, Z=fleet.Z)

    def test_a_constant_sensor_changes_nothing(self, model, fleet):
        with_constant = fleet.Z.assign(idle=3.0)
        other = BoostR(**PLAIN).fit(fleet.X, fleet.y, with_constant)
        assert_allclose(
            other.predict(fleet.X, with_constant), model.predict(fleet.X, fleet.Z)
        )

    def test_without_sensors_the_baseline_is_the_leaf(self, fleet):
        nothing = Trajectories.from_events(fleet.y)
        empty = BoostR(**PLAIN).fit(fleet.X, fleet.y, nothing)
        static = BoostR(leaf=PowerBasis((1.0,)), **PLAIN).fit(fleet.X, fleet.y)
        assert_allclose(
            empty.predict_cumulative(fleet.X, TIMES, nothing),
            static.predict_cumulative(fleet.X, TIMES),
        )

    @pytest.mark.parametrize("penalty", ["group_lasso", "ridge"])
    def test_weight_two_is_the_row_twice(self, fleet, penalty):
        rows = np.arange(80)
        twice = np.concatenate([rows, rows[:30]])
        weights = np.where(rows < 30, 2.0, 1.0)
        settings = PLAIN | {"min_samples_leaf": 1, "n_estimators": 2}
        # Counts of individuals differ, so trees that only ask for splits that pay.
        weighted = BoostR(sensor_penalty=penalty, **settings).fit(
            fleet.X[rows], fleet.y[rows], fleet.Z[rows], weights
        )
        doubled = BoostR(sensor_penalty=penalty, **settings).fit(
            fleet.X[twice], fleet.y[twice], fleet.Z[twice]
        )
        assert_allclose(
            weighted.predict(fleet.X, fleet.Z),
            doubled.predict(fleet.X, fleet.Z),
            rtol=1e-6,
        )

    @pytest.mark.slow
    def test_threads_do_not_matter(self, fleet):
        settings = PLAIN | {"validation": "cv", "max_leaf_nodes": 3}
        one, two = (
            BoostR(n_jobs=n_jobs, **settings).fit(fleet.X, fleet.y, fleet.Z)
            for n_jobs in (1, 2)
        )
        np.testing.assert_array_equal(
            one.predict(fleet.X, fleet.Z), two.predict(fleet.X, fleet.Z)
        )

    def test_pickling_keeps_predictions(self, model, fleet):
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(
            copy.predict(fleet.X, fleet.Z), model.predict(fleet.X, fleet.Z)
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("baseline", ["power", "step", "spline", None])
    @pytest.mark.parametrize("loss", ["intensity", "cumulative"])
    def test_every_baseline_and_loss_fits(self, fleet, baseline, loss):
        model = BoostR(baseline=baseline, loss=loss, clock="calendar", **PLAIN)
        curves = model.fit(fleet.X, fleet.y, fleet.Z).predict_cumulative(
            fleet.X, TIMES, fleet.Z
        )
        observed = fleet.y.n_events.sum()
        expected = model.predict_count(fleet.X, 0.0, fleet.y.end, fleet.Z).sum()
        assert np.all(np.diff(curves, axis=1) >= 0.0)
        assert 0.6 * observed < expected < 1.4 * observed

    @pytest.mark.slow
    def test_the_papers_algorithm_takes_sensors(self, fleet):
        model = BoostR.paper(n_estimators=3, gamma1=1.0, gamma2=1.0)
        model.fit(fleet.X, fleet.y, fleet.Z)
        assert model.ensemble_.basis.baseline is None
        assert np.all(np.isfinite(model.predict(fleet.X, fleet.Z)))


class TestCategories:
    def test_modes_are_told_apart(self):
        rng = np.random.default_rng(0)
        n = 200
        modes = rng.integers(0, 2, n)
        Z = Trajectories.from_long(
            pd.DataFrame(
                {"id": np.arange(n), "t": 0.0, "mode": np.array(["idle", "on"])[modes]}
            ),
            id="id",
            time="t",
        )
        events = [
            np.sort(rng.uniform(0, 10, rng.poisson(8.0 if m else 1.0))) for m in modes
        ]
        y = RecurrentEvents.from_lists(events, end=10.0, ids=np.arange(n))
        model = BoostR(n_estimators=30, learning_rate=0.3, validation=None, gamma2=0.01)
        model.fit(np.zeros((n, 1)), y, Z)
        predicted = model.predict(np.zeros((n, 1)), Z, 10.0)
        assert predicted[modes == 1].mean() == pytest.approx(8.0, rel=0.15)
        assert predicted[modes == 0].mean() == pytest.approx(1.0, abs=0.4)

    def test_unseen_categories_count_as_unknown_and_are_reported(self):
        n = 60
        frame = pd.DataFrame({"id": np.arange(n), "t": 0.0})
        frame["mode"] = np.where(np.arange(n) % 2, "on", "idle")
        Z = Trajectories.from_long(frame, id="id", time="t")
        y = RecurrentEvents.from_lists([[1.0, 2.0]] * n, end=3.0, ids=np.arange(n))
        model = BoostR(**PLAIN).fit(np.zeros((n, 1)), y, Z)
        strange = Trajectories.from_long(frame.assign(mode="gone"), id="id", time="t")
        with pytest.warns(SensorRangeWarning, match="60 in unseen categories"):
            predicted = model.predict(np.zeros((n, 1)), strange)
        assert np.all(np.isfinite(predicted))

    def test_categories_are_known_by_value_and_not_by_type(self):
        n = 60
        modes = np.arange(n) % 2 + 1
        frame = pd.DataFrame({"id": np.arange(n), "t": 0.0, "mode": modes.astype(str)})
        Z = Trajectories.from_long(frame, id="id", time="t")
        lists = [[1.0, 2.0] * mode for mode in modes]
        y = RecurrentEvents.from_lists(lists, end=3.0, ids=np.arange(n))
        model = BoostR(**PLAIN).fit(np.zeros((n, 1)), y, Z)
        predicted = model.predict(np.zeros((n, 1)), Z)
        assert len(set(predicted)) == 2
        whole = frame.assign(mode=modes).astype({"mode": "category"})
        same = Trajectories.from_long(whole, id="id", time="t")
        assert_array_equal(model.predict(np.zeros((n, 1)), same), predicted)

    def test_categories_in_the_place_of_numbers_are_refused(self, model, fleet):
        frame = fleet.Z.to_long().assign(sensor1="1.5")
        given = Trajectories.from_long(frame, *frame.columns[:2])
        with pytest.raises(InvalidSensorsError, match=r"1 hold categories \(sensor1\)"):
            model.predict(fleet.X, given)


class TestRange:
    def test_values_out_of_range_count_as_the_nearest_and_are_reported(self, model, fleet):
        high = fleet.Z.assign(sensor1=5.0)
        highest = fleet.Z.assign(sensor1=model.ensemble_.basis.sensors[0].high)
        with pytest.warns(SensorRangeWarning, match=r"'sensor1' in \d+ of \d+ samples"):
            predicted = model.predict(fleet.X, high)
        assert_allclose(predicted, model.predict(fleet.X, highest))

    def test_they_can_be_counted(self, model, fleet):
        counts = model.check_sensors(fleet.Z.assign(sensor1=5.0, sensor2=-1.0))
        n_samples = fleet.Z.times.size
        assert counts["sensor1"]["above"] == counts["sensor2"]["below"] == n_samples
        assert counts["sensor1"]["below"] == counts["sensor2"]["unknown"] == 0

    def test_counting_needs_sensors(self, fleet):
        with pytest.raises(InvalidSensorsError, match="without sensors"):
            BoostR(**PLAIN).fit(fleet.X, fleet.y).check_sensors(fleet.Z)

    def test_a_few_are_not_worth_a_warning(self, model, fleet):
        model.predict(fleet.X, fleet.Z)  # warnings are errors here


class TestScikitLearn:
    @pytest.mark.slow
    def test_scores_of_panels_are_finite(self, fleet):
        panel = Panel(fleet.X, fleet.Z)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SensorRangeWarning)
            scores = cross_val_score(BoostR(**SMALL), panel, fleet.y, cv=3)
        assert np.all(np.isfinite(scores))

    @pytest.mark.slow
    def test_a_search_finds_a_setting(self, fleet):
        search = GridSearchCV(
            BoostR(**SMALL), {"gamma2": [1.0, 10.0]}, cv=2, error_score="raise"
        )
        search.fit(Panel(fleet.X, fleet.Z), fleet.y)
        assert np.isfinite(search.best_score_)
        assert search.best_params_["gamma2"] in {1.0, 10.0}

    def test_predictions_come_out_of_cross_validation(self, fleet):
        panel = Panel(fleet.X, fleet.Z)
        predicted = cross_val_predict(BoostR(**SMALL), panel, fleet.y, cv=2)
        assert predicted.shape == (120,)

    def test_pipelines_carry_sensors(self, fleet):
        X = fleet.X.copy()
        X[0, 0] = np.nan
        steps = [
            ("impute", StaticTransformer(SimpleImputer())),
            ("model", BoostR(**SMALL)),
        ]
        pipeline = Pipeline(steps).fit(Panel(X, fleet.Z), fleet.y)
        assert pipeline.predict(Panel(X, fleet.Z)).shape == (120,)
        assert np.isfinite(pipeline.score(Panel(X, fleet.Z), fleet.y))

    def test_panels_are_split(self, fleet):
        panel = Panel(fleet.X, fleet.Z)
        parts = train_test_split(panel, fleet.y, test_size=0.25, random_state=0)
        assert [len(part) for part in parts] == [90, 30, 90, 30]
        model = BoostR(**SMALL).fit(parts[0], parts[2])
        assert np.isfinite(model.score(parts[1], parts[3]))

    def test_sensors_that_do_not_reach_the_score_are_no_silent_nan(self, fleet):
        with pytest.warns(UserWarning, match="fitted with sensors and needs them"):
            scores = cross_val_score(
                BoostR(**SMALL), fleet.X, fleet.y, cv=2, params={"Z": fleet.Z}
            )
        assert np.all(np.isnan(scores))


class TestErrors:
    def test_predicting_without_sensors(self, model, fleet):
        with pytest.raises(InvalidSensorsError, match=r"sensor1, sensor2") as caught:
            model.predict(fleet.X)
        assert "Panel(X, Z)" in str(caught.value)

    def test_predicting_with_sensors_that_training_did_not_have(self, fleet):
        static = BoostR(**PLAIN).fit(fleet.X, fleet.y)
        with pytest.raises(InvalidSensorsError, match="fitted without sensors"):
            static.predict(fleet.X, fleet.Z)

    def test_a_missing_sensor_is_named(self, model, fleet):
        with pytest.raises(InvalidSensorsError, match=r"1 are missing \(sensor2\)"):
            model.predict(fleet.X, fleet.Z.select(["sensor1"]))

    def test_sensors_twice(self, fleet):
        with pytest.raises(InvalidSensorsError, match="must come once"):
            BoostR().fit(Panel(fleet.X, fleet.Z), fleet.y, fleet.Z)

    def test_missing_individuals_are_named(self, fleet):
        X, y, Z = named(fleet)
        with pytest.raises(InvalidSensorsError, match="W003"):
            BoostR(**PLAIN).fit(X.loc[y.ids], y, Z[Z.ids != "W003"])

    def test_surplus_individuals_are_named(self, fleet):
        X, y, Z = named(fleet)
        keep = y.ids != "W003"
        with pytest.raises(InvalidSensorsError, match="W003"):
            BoostR(**PLAIN).fit(X.loc[y.ids[keep]], y[keep], Z)

    def test_other_origins(self, fleet):
        stamps = np.datetime64("2024-01-01") + np.arange(3).astype("timedelta64[D]")
        frame = pd.DataFrame({"id": [0, 1, 2], "t": stamps, "v": [1.0, 2.0, 3.0]})
        Z = Trajectories.from_long(frame, id="id", time="t", origin="2024-01-01")
        y = RecurrentEvents.from_lists([[1.0], [], []], end=5.0)
        with pytest.raises(InvalidSensorsError, match="same origin"):
            BoostR(**PLAIN).fit(np.zeros((3, 1)), y, Z)

    def test_something_else_as_sensors(self, fleet):
        with pytest.raises(TypeError, match="must be a Trajectories"):
            BoostR(**PLAIN).fit(fleet.X, fleet.y, np.zeros(3))

    @pytest.mark.parametrize(
        ("setting", "value"),
        [
            ("n_knots", -1),
            ("n_knots", {"torque": [1.0]}),
            ("spline_order", 0),
            ("baseline", "sine"),
            ("sensor_penalty", "lasso"),
        ],
    )
    def test_impossible_settings(self, fleet, setting, value):
        with pytest.raises(InvalidParameterError, match=setting):
            BoostR(**(PLAIN | {setting: value})).fit(fleet.X, fleet.y, fleet.Z)
