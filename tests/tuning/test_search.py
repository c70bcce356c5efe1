import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ShuffleSplit

from boostr import BoostR, BoostRSearch, Panel, RecurrentEvents, simulate
from boostr.basis import PowerBasis
from boostr.exceptions import InvalidFeaturesError, InvalidParameterError
from boostr.metrics import scorer
from boostr.tuning import AsOfSplit, as_of_split
from boostr.tuning import _search as search_module
from boostr.tuning._plan import SharedData, fit_on_part

SMALL = BoostR(n_estimators=8, validation=None, learning_rate=0.3, n_origins=0)
SPACE = {
    "gamma1": (0.0, 3.0),
    "gamma2": (0.1, 30.0, "log"),
    "learning_rate": (0.02, 0.5, "log"),
    "max_leaf_nodes": (2, 6),
}
FAMILIES = {
    "leaf": ["power", "step", "spline"],
    "loss": ["intensity", "cumulative"],
    "clock": ["operational", "calendar"],
    "gamma2": (0.1, 30.0, "log"),
}
LINE = PowerBasis((1.0,))
SENSOR_SPACE = {"gamma2": (0.1, 5.0, "log"), "learning_rate": (0.1, 0.5)}


@pytest.fixture(scope="module")
def fleet():
    return simulate.dataset_a(n=120, random_state=3)


@pytest.fixture(scope="module")
def searched(fleet):
    search = BoostRSearch(SMALL, SPACE, n_points=8, splits=3, random_state=0)
    return search.fit(fleet.X, fleet.y)


def scores(search):
    return np.array([result["scores"] for result in search.results_])


class TestResults:
    def test_the_best_setting_beats_the_worst_on_fresh_individuals(self, fleet, searched):
        fresh = simulate.dataset_a(n=500, random_state=4)
        ranked = sorted(searched.results_, key=lambda result: result["rank"])
        model = clone(SMALL).set_params(**ranked[-1]["params"]).fit(fleet.X, fleet.y)
        assert searched.score(fresh.X, fresh.y) > model.score(fresh.X, fresh.y) + 0.1

    def test_the_best_has_the_highest_mean(self, searched):
        means = scores(searched).mean(axis=1)
        assert searched.best_score_ == means.max()
        assert searched.best_index_ == means.argmax()
        assert searched.best_params_ == searched.results_[means.argmax()]["params"]

    def test_ranks_follow_the_means(self, searched):
        ranks = [result["rank"] for result in searched.results_]
        assert_array_equal(np.argsort(ranks), np.argsort(-scores(searched).mean(axis=1)))

    def test_leaves_of_every_tree_are_counted(self, searched):
        for result in searched.results_:
            assert result["leaf_counts"].shape == (3 * 8,)
            assert result["leaf_counts"].max() <= result["params"]["max_leaf_nodes"]

    @pytest.mark.parametrize("backend", ["pandas", "polars"])
    def test_the_table_has_a_row_for_every_setting(self, searched, backend):
        frame = searched.to_frame(backend=backend)
        assert len(frame) == 8
        assert {"param_gamma1", "mean_score", "split2_score"} <= set(frame.columns)

    def test_the_best_model_is_a_plain_fit(self, fleet, searched):
        model = clone(searched.best_estimator_).fit(fleet.X, fleet.y)
        assert_array_equal(searched.predict(fleet.X), model.predict(fleet.X))

    def test_predictions_are_those_of_the_best_model(self, fleet, searched):
        times = [10.0, 50.0]
        assert_array_equal(
            searched.predict_cumulative(fleet.X, times),
            searched.best_estimator_.predict_cumulative(fleet.X, times),
        )

    @pytest.mark.slow
    def test_the_seed_makes_the_results(self, fleet, searched):
        again = clone(searched).fit(fleet.X, fleet.y)
        assert_array_equal(scores(again), scores(searched))

    @pytest.mark.slow
    def test_threads_do_not_change_the_results(self, fleet, searched):
        again = clone(searched).set_params(n_jobs=1).fit(fleet.X, fleet.y)
        assert_array_equal(scores(again), scores(searched))


class TestSharedStatistics:
    @pytest.mark.slow
    def test_runs_on_everybody_are_separate_fits(self, fleet):
        everybody = np.arange(120)
        search = BoostRSearch(
            SMALL,
            FAMILIES,
            n_points=12,
            splits=[(everybody, everybody)],
            refit=False,
            random_state=1,
        ).fit(fleet.X, fleet.y)
        for result in search.results_:
            model = clone(SMALL).set_params(**result["params"]).fit(fleet.X, fleet.y)
            assert_allclose(result["scores"][0], model.score(fleet.X, fleet.y), rtol=1e-9)

    @pytest.mark.slow
    def test_runs_on_a_part_are_separate_fits_where_bins_and_clock_agree(self, rng):
        X = rng.integers(0, 3, size=(90, 2)).astype(float)
        y = simulate.dataset_a(n=90, random_state=5).y
        y = y._with(window_start=np.zeros(90), window_stop=np.full(90, y.end.max()))
        train, test = np.arange(60), np.arange(60, 90)
        base = clone(SMALL).set_params(clock="calendar", loss="cumulative")
        search = BoostRSearch(
            base,
            {"leaf": ["power", LINE], "gamma2": (0.1, 9.0), "gamma1": (0.0, 50.0)},
            n_points=6,
            splits=[(train, test)],
            scoring=scorer("point_process_log_likelihood"),
            random_state=1,
        ).fit(X, y)
        for result in search.results_:
            model = clone(base).set_params(**result["params"]).fit(X[train], y[train])
            own = scorer("point_process_log_likelihood")(model, X[test], y[test])
            assert_allclose(result["scores"][0], own, rtol=1e-9)

    @pytest.mark.slow
    def test_validation_happens_inside_the_training_part(self, fleet):
        base = BoostR(n_estimators=60, validation=0.25, learning_rate=0.3, random_state=0)
        everybody = np.arange(120)
        search = BoostRSearch(
            base, {"gamma2": (0.1, 9.0)}, n_points=2, splits=[(everybody, everybody)]
        ).fit(fleet.X, fleet.y)
        model = clone(base).set_params(**search.results_[1]["params"])
        model.fit(fleet.X, fleet.y)
        assert_array_equal(search.results_[1]["n_trees"], [model.n_estimators_])
        assert_allclose(search.results_[1]["scores"], [model.score(fleet.X, fleet.y)])

    @pytest.mark.slow
    def test_statistics_are_computed_once_a_family(self, fleet, monkeypatch):
        from boostr.tuning import _plan as _shared

        calls = []
        compute = _shared.compute_statistics

        def count(settings, data):
            calls.append((settings.leaf, settings.loss))
            return compute(settings, data)

        monkeypatch.setattr(_shared, "compute_statistics", count)
        space = {"leaf": ["power", "step"], "gamma2": (0.1, 9.0)}
        search = BoostRSearch(SMALL, space, n_points=6, splits=3, refit=False)
        search.fit(fleet.X, fleet.y)
        assert sorted(calls) == [("power", "intensity"), ("step", "intensity")]

    @pytest.mark.slow
    def test_test_individuals_do_not_train(self, fleet):
        """Their features may change as long as bins stay, and no run changes."""
        train, test = np.arange(80), np.arange(80, 120)
        X = np.where(fleet.X > 0.5, 1.0, 0.0)
        swapped = X.copy()
        swapped[test] = X[test][::-1]
        models = []
        for features in (X, swapped):
            search = BoostRSearch(
                SMALL,
                {"gamma2": (0.1, 9.0)},
                n_points=2,
                splits=[(train, train)],
                random_state=0,
            )
            models.append(search.fit(features, fleet.y))
        assert_array_equal(scores(models[0]), scores(models[1]))


class TestAsOf:
    SPLITS = AsOfSplit([40.0, 60.0], horizon=20.0)

    @pytest.mark.slow
    def test_runs_are_fits_to_what_was_known(self, fleet):
        search = BoostRSearch(
            SMALL, FAMILIES, n_points=5, splits=self.SPLITS, random_state=2, refit=False
        ).fit(fleet.X, fleet.y)
        part = as_of_split(fleet.y, 60.0, 20.0)
        for result in search.results_:
            model = clone(SMALL).set_params(**result["params"])
            model.fit(fleet.X[part.train_rows], part.train)
            own = model.score(fleet.X[part.test_rows], part.test)
            assert_allclose(result["scores"][1], own, rtol=1e-9)

    @pytest.mark.slow
    def test_what_comes_after_the_horizon_changes_nothing(self, fleet):
        late = fleet.y.times > 80.0
        other = fleet.y._with(costs=np.where(late, 7.0, 1.0))
        found = [
            scores(
                BoostRSearch(
                    SMALL, SPACE, n_points=3, splits=self.SPLITS, random_state=2
                ).fit(fleet.X, y)
            )
            for y in (fleet.y, other)
        ]
        assert_array_equal(*found)

    @pytest.mark.slow
    def test_what_comes_after_the_date_changes_no_model(self, fleet, monkeypatch):
        kept = []
        fit = search_module.fit_on_part

        def keep(*arguments):
            model = fit(*arguments)
            kept[-1].append(model.predict_cumulative(fleet.X, [30.0, 70.0, 100.0]))
            return model

        monkeypatch.setattr(search_module, "fit_on_part", keep)
        late = fleet.y.times > 40.0
        other = fleet.y._with(costs=np.where(late, 7.0, 1.0))
        for y in (fleet.y, other):
            kept.append([])
            BoostRSearch(
                SMALL,
                SPACE,
                n_points=3,
                splits=AsOfSplit([40.0], 20.0),
                random_state=2,
                refit=False,
            ).fit(fleet.X, y)
        assert_array_equal(np.array(kept[0]), np.array(kept[1]))

    def test_late_comers_are_tested_only(self, fleet):
        start = np.where(np.arange(120) < 30, 50.0, 0.0)
        histories = [one.times for one in fleet.y]
        events = [one[one > begin] for one, begin in zip(histories, start, strict=True)]
        y = RecurrentEvents.from_lists(events, end=fleet.y.end.max(), start=start)
        search = BoostRSearch(
            SMALL, SPACE, n_points=2, splits=AsOfSplit([45.0]), random_state=0
        )
        assert np.isfinite(search.fit(fleet.X, y).best_score_)


class TestInput:
    def test_clone_keeps_every_parameter(self):
        search = BoostRSearch(
            SMALL, SPACE, n_points=3, splits=AsOfSplit([1.0]), checkpoint="runs.jsonl"
        )
        copy = clone(search)
        assert copy.space == SPACE
        assert copy.splits.dates == [1.0]
        assert copy.get_params(deep=False).keys() == search.get_params(deep=False).keys()
        assert copy.get_params()["estimator__n_estimators"] == 8

    @pytest.mark.slow
    def test_tables_are_split_by_row(self, fleet):
        found = []
        for make in (np.asarray, pd.DataFrame, pl.DataFrame):
            search = BoostRSearch(SMALL, SPACE, n_points=2, splits=3, random_state=0)
            found.append(scores(search.fit(make(fleet.X), fleet.y)))
        assert_array_equal(found[0], found[1])
        assert_array_equal(found[0], found[2])

    @pytest.mark.slow
    def test_categories_are_those_of_all_individuals(self, fleet):
        X = pd.DataFrame(fleet.X).assign(kind=np.where(fleet.X[:, 0] > 0.5, "new", "old"))
        X.columns = ["x1", "x2", "kind"]
        search = BoostRSearch(SMALL, SPACE, n_points=2, splits=3, random_state=0)
        assert search.fit(X, fleet.y).best_estimator_.n_features_in_ == 3

    @pytest.mark.slow
    def test_weight_zero_leaves_out(self, fleet):
        weights = np.where(np.arange(120) < 90, 1.0, 0.0)
        search = BoostRSearch(SMALL, SPACE, n_points=2, splits=3, random_state=0)
        left_out = scores(search.fit(fleet.X, fleet.y, sample_weight=weights))
        assert_array_equal(left_out, scores(search.fit(fleet.X[:90], fleet.y[:90])))

    def test_weights_count_in_training_and_in_scores(self, fleet, rng):
        weights = rng.uniform(0.5, 2.0, 120)
        everybody = np.arange(120)
        search = BoostRSearch(
            SMALL, SPACE, n_points=2, splits=[(everybody, everybody)], random_state=0
        ).fit(fleet.X, fleet.y, sample_weight=weights)
        model = clone(SMALL).set_params(**search.results_[0]["params"])
        model.fit(fleet.X, fleet.y, sample_weight=weights)
        own = model.score(fleet.X, fleet.y, sample_weight=weights)
        assert_allclose(search.results_[0]["scores"], [own], rtol=1e-9)

    @pytest.mark.slow
    def test_the_first_of_several_scorers_decides(self, fleet):
        scoring = {"c_index": scorer("recurrent_concordance"), "likelihood": None}
        search = BoostRSearch(
            SMALL,
            SPACE,
            n_points=3,
            splits=ShuffleSplit(4, test_size=30, random_state=0),
            scoring=scoring,
            random_state=0,
        ).fit(fleet.X, fleet.y)
        best = search.results_[search.best_index_]
        assert_array_equal(best["scores"], best["all_scores"]["c_index"])
        assert best["all_scores"]["likelihood"].shape == (4,)
        assert "mean_likelihood" in search.to_frame().columns

    @pytest.mark.slow
    def test_the_default_space_of_the_paper(self, fleet):
        search = BoostRSearch(
            BoostR.paper(n_estimators=5), n_points=3, splits=2, random_state=0
        ).fit(fleet.X, fleet.y)
        assert set(search.best_params_) == {"gamma1", "gamma2"}

    def test_the_progress_bar_counts_runs(self, fleet, capsys):
        search = BoostRSearch(SMALL, SPACE, n_points=2, splits=2, verbose=1)
        search.fit(fleet.X, fleet.y)
        shown = capsys.readouterr().err
        assert "4/4" in shown
        assert "best score" in shown

    @pytest.mark.parametrize("scoring", ["r2", {}, {"a": 3}])
    def test_impossible_scorers_are_refused(self, fleet, scoring):
        with pytest.raises(InvalidParameterError, match="`scoring` must"):
            BoostRSearch(SMALL, SPACE, scoring=scoring).fit(fleet.X, fleet.y)

    def test_rows_and_individuals_must_be_as_many(self, fleet):
        with pytest.raises(InvalidFeaturesError, match="119 rows for 120"):
            BoostRSearch(SMALL, SPACE).fit(fleet.X[1:], fleet.y)

    def test_only_boostr_is_searched(self, fleet):
        with pytest.raises(InvalidParameterError, match="`estimator` must be a BoostR"):
            BoostRSearch(ShuffleSplit(), SPACE).fit(fleet.X, fleet.y)

    def test_scores_that_are_all_missing_are_refused(self, fleet):
        search = BoostRSearch(SMALL, SPACE, n_points=2, splits=2, scoring=lambda *_: np.nan)
        with pytest.raises(InvalidParameterError, match="must have a score"):
            search.fit(fleet.X, fleet.y)

    def test_predictions_need_a_fit(self, fleet):
        with pytest.raises(NotFittedError):
            BoostRSearch(SMALL, SPACE).predict(fleet.X)

    def test_predictions_need_the_best_model(self, fleet):
        search = BoostRSearch(SMALL, SPACE, n_points=2, splits=2, refit=False)
        with pytest.raises(InvalidParameterError, match="refit=False"):
            search.fit(fleet.X, fleet.y).predict(fleet.X)


class TestSensors:
    BASE = BoostR(n_estimators=3, validation=None, learning_rate=0.3, n_origins=0)

    @pytest.fixture(scope="class")
    @classmethod
    def wells(cls):
        return simulate.wells(n=60, n_sensors=2, random_state=1)

    @pytest.mark.slow
    def test_runs_on_everybody_are_separate_fits(self, wells):
        everybody = np.arange(60)
        search = BoostRSearch(
            self.BASE,
            SENSOR_SPACE,
            n_points=2,
            splits=[(everybody, everybody)],
            random_state=0,
        ).fit(wells.X, wells.y, wells.Z)
        model = clone(self.BASE).set_params(**search.results_[0]["params"])
        own = model.fit(wells.X, wells.y, wells.Z).score(wells.X, wells.y, Z=wells.Z)
        assert_allclose(search.results_[0]["scores"], [own], rtol=1e-6)

    @pytest.mark.slow
    def test_panels_are_split_by_individual(self, wells):
        search = BoostRSearch(self.BASE, SENSOR_SPACE, n_points=2, splits=2, random_state=0)
        panel = scores(search.fit(Panel(wells.X, wells.Z), wells.y))
        assert_array_equal(panel, scores(search.fit(wells.X, wells.y, wells.Z)))

    @pytest.mark.slow
    def test_samples_after_the_date_change_nothing(self, wells):
        date = 0.5 * float(wells.y.end.max())
        late = wells.Z.times > date
        other = wells.Z._with(values=np.where(late, 0.0, wells.Z.values))
        found = [
            scores(
                BoostRSearch(
                    self.BASE,
                    SENSOR_SPACE,
                    n_points=2,
                    splits=AsOfSplit([date]),
                    refit=False,
                    random_state=0,
                ).fit(wells.X, wells.y, Z)
            )
            for Z in (wells.Z, other)
        ]
        assert_array_equal(*found)


@pytest.mark.slow
def test_scorers_may_forecast(fleet):
    def score(model, X, y):
        table = model.forecast(X, y, 10.0, intervals="conformal", level=0.5)
        return -float(table["upper"].sum())

    model = BoostR(n_estimators=5, validation=0.3, random_state=0)
    search = BoostRSearch(
        model, {"gamma2": (0.1, 9.0)}, n_points=2, splits=2, scoring=score
    )
    found = search.fit(fleet.X, fleet.y)
    assert np.isfinite([run["mean_score"] for run in found.results_]).all()
    assert np.isfinite(found.score(fleet.X, fleet.y))


def test_scorers_see_models_that_know_terminal_events():
    clinic = simulate.patients(n=120, random_state=1)
    params = {"n_estimators": 5, "validation": None, "random_state": 0}
    shared = SharedData.check(BoostR(**params), clinic.X, clinic.y, None, None)
    found = fit_on_part(BoostR(**params), shared, None, 1)
    model = BoostR(**params).fit(clinic.X, clinic.y)
    times = [20.0, 80.0]
    assert_array_equal(
        found.predict_survival(clinic.X, times), model.predict_survival(clinic.X, times)
    )
    assert found.forecast_law_.tie == model.forecast_law_.tie
