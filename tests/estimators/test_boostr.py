import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from boostr import BoostR, BoostrError, RecurrentEvents, simulate
from boostr._training import fit as fit_module
from boostr.basis import PowerBasis, SplineBasis, StepBasis
from boostr.exceptions import (
    DataWarning,
    InterruptedFitError,
    InvalidFeaturesError,
    InvalidParameterError,
    TargetTypeError,
)

FAMILIES = ["power", "step", "spline", PowerBasis((0.7, 1.0, 2.0), joint=False)]
COMBINATIONS = list(
    itertools.product(
        FAMILIES,
        ["intensity", "cumulative"],
        ["operational", "calendar"],
        ["best", "level"],
    )
)


def gappy_fleet(rng, n=60):
    """Late entry, gaps, ties, costs, individuals without events."""
    rows = []
    for number in range(n):
        start = float(rng.uniform(0, 20)) if number % 3 else 0.0
        middle, stop = start + 10.0, start + 40.0 + float(rng.uniform(0, 40))
        rows.append((number, start, middle, 0, 0.0))
        times = np.sort(rng.uniform(middle + 5, stop, rng.integers(0, 5)))
        edges = np.concatenate([[middle + 5], times])
        rows += [
            (number, a, b, 1, float(rng.uniform(1, 3)))
            for a, b in itertools.pairwise(edges)
        ]
        rows.append((number, edges[-1], stop, 0, 0.0))
    table = pd.DataFrame(rows, columns=["id", "start", "stop", "event", "cost"])
    return RecurrentEvents.from_start_stop(
        table, id="id", start="start", stop="stop", event="event", cost="cost"
    )


class TestEveryCombination:
    @pytest.fixture(scope="class", params=COMBINATIONS, ids=str)
    @classmethod
    def fitted(cls, request):
        rng = np.random.default_rng(7)
        leaf, loss, clock, growth = request.param
        X = rng.uniform(size=(60, 3))
        X[rng.uniform(size=X.shape) < 0.1] = np.nan
        model = BoostR(
            n_estimators=8,
            validation=None,
            leaf=leaf,
            loss=loss,
            clock=clock,
            growth=growth,
            min_samples_leaf=5,
            learning_rate=0.5,
        )
        return model.fit(X, gappy_fleet(rng)), X

    def test_curves_rise_from_zero_and_stay_finite(self, fitted):
        model, X = fitted
        times = np.linspace(0.0, 10 * model.horizon_, 400)
        curves = model.predict_cumulative(X, times)
        assert np.all(np.isfinite(curves))
        assert_array_equal(curves[:, 0], 0.0)
        assert np.all(np.diff(curves, axis=1) >= -1e-9 * curves.max())

    def test_rates_are_the_slopes_of_the_curves(self, fitted):
        model, X = fitted
        times = np.linspace(0.2, 2.0, 9) * model.horizon_ * 0.9137
        step = 1e-5 * model.horizon_
        rise = model.predict_cumulative(X, times + step)
        rise -= model.predict_cumulative(X, times - step)
        rates = model.predict_intensity(X, times)
        assert_allclose(np.median(rates - rise / (2 * step)), 0.0, atol=1e-7)
        assert np.mean(np.abs(rates - rise / (2 * step)) > 1e-4 * rates.max()) < 0.05

    def test_training_loss_falls(self, fitted):
        model, _ = fitted
        assert np.all(np.diff(model.train_loss_) <= 1e-9 * np.abs(model.train_loss_[:-1]))


class TestPredictions:
    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, fleet):
        return BoostR(n_estimators=60, random_state=0).fit(fleet.X, fleet.y)

    def test_default_finds_the_groups(self, model, fleet):
        error = np.abs(model.predict(fleet.X) - fleet.truth([100.0])[:, 0]).mean()
        assert error < 0.5 * np.abs(fleet.truth([100.0])[:, 0] - 5.25).mean()

    def test_horizon_is_the_end_of_training_by_default(self, model, fleet):
        assert_array_equal(
            model.predict(fleet.X), model.predict_cumulative(fleet.X, [100.0])[:, 0]
        )

    def test_value_at_one_time_does_not_depend_on_the_others(self, model, fleet):
        alone = model.predict_cumulative(fleet.X, [40.0])[:, 0]
        assert_allclose(model.predict_cumulative(fleet.X, [7.0, 40.0, 300.0])[:, 1], alone)

    def test_count_in_a_window_is_the_difference(self, model, fleet):
        stop = np.linspace(30.0, 90.0, len(fleet.X))
        by_hand = [
            model.predict_cumulative(row[None], [20.0, end])[0]
            for row, end in zip(fleet.X, stop, strict=True)
        ]
        assert_allclose(
            model.predict_count(fleet.X, 20.0, stop), np.diff(by_hand, axis=1)[:, 0]
        )

    def test_last_stage_is_the_prediction(self, model, fleet):
        stages = list(model.staged_predict_cumulative(fleet.X, [50.0]))
        assert len(stages) == model.n_estimators_
        assert_allclose(stages[-1], model.predict_cumulative(fleet.X, [50.0]))

    def test_out_of_fold_predictions_are_worse_than_those_in_sample(self, model, fleet):
        own = model.predict(fleet.X)
        held_out = model.predict_out_of_fold([100.0])[:, 0]
        counts = fleet.y.n_events
        assert np.mean((counts - own) ** 2) < np.mean((counts - held_out) ** 2)

    def test_score_prefers_the_model_to_the_average_and_noise(self, model, fleet, rng):
        fresh = simulate.dataset_a(n=400, random_state=77)
        noise = rng.permutation(fresh.X)
        assert model.score(fresh.X, fresh.y) > 0.5
        assert model.score(noise, fresh.y) < 0.0

    def test_importances_sum_to_one_and_gains_stand_beside(self, model):
        assert_allclose(model.feature_importances_.sum(), 1.0)
        assert np.all(model.feature_gains_ > 0)
        assert np.all(model.split_counts_ > 0)

    def test_weights_of_the_shapes_are_not_negative_and_sum_to_one(self, model):
        weights = np.array([run["weight"] for run in model.validation_results_])
        assert np.all(weights >= 0)
        assert_allclose(weights.sum(), 1.0)

    def test_pickle_predicts_the_same_bits(self, model, fleet):
        copy = pickle.loads(pickle.dumps(model))
        assert_array_equal(copy.predict(fleet.X), model.predict(fleet.X))


class TestValidationSchemes:
    def test_without_validation_all_trees_are_kept(self, fleet):
        model = BoostR(n_estimators=7, validation=None).fit(fleet.X, fleet.y)
        assert (model.n_estimators_, model.validation_results_) == (7, [])

    def test_share_holds_out_that_many(self, fleet):
        model = BoostR(n_estimators=7, validation=0.25, random_state=0)
        model.fit(fleet.X, fleet.y)
        assert np.isfinite(model.predict_out_of_fold([50.0])).sum() == 30

    @pytest.mark.slow
    def test_refit_grows_one_model_per_shape(self, fleet):
        model = BoostR(
            n_estimators=7, average_folds=False, max_leaf_nodes=4, splitter="best"
        ).fit(fleet.X, fleet.y)
        used = sum(run["weight"] > 0 for run in model.validation_results_)
        assert len(model.ensemble_.members) == used

    def test_too_few_individuals_to_validate_still_fit(self):
        y = RecurrentEvents.from_lists([[1.0], [2.0, 3.0], []], end=[4.0, 4.0, 4.0])
        model = BoostR(n_estimators=200).fit([[0.0], [1.0], [2.0]], y)
        assert_allclose(model.predict([[0.0]]), [3 / 3], atol=0.02)

    @pytest.mark.slow
    def test_one_event_among_many_is_still_predicted(self):
        y = RecurrentEvents.from_lists([[5.0]] + [[]] * 59, end=np.full(60, 10.0))
        X = np.arange(60.0)[:, None]
        expected = BoostR(n_estimators=50, random_state=0).fit(X, y).predict(X)
        assert_allclose(expected.mean(), 1 / 60, rtol=0.3)

    def test_nobody_with_events_scores_zero(self):
        y = RecurrentEvents.from_lists([[]] * 30, end=np.full(30, 10.0))
        with pytest.warns(DataWarning, match="no events"):
            model = BoostR(n_estimators=5, random_state=0).fit(np.zeros((30, 1)), y)
        assert model.score(np.zeros((30, 1)), y) == 0.0

    @pytest.mark.slow
    @pytest.mark.parametrize("backend", ["pandas", "polars"])
    def test_what_was_tried_is_a_table(self, fleet, backend):
        model = BoostR(n_estimators=4, random_state=0).fit(fleet.X, fleet.y)
        table = model.validation_to_frame(backend=backend)
        assert type(table).__module__.startswith(backend)
        assert len(table) == len(model.validation_results_) > 0
        for name in table.columns:
            assert list(table[name]) == [run[name] for run in model.validation_results_]
        plain = BoostR(n_estimators=2, validation=None).fit(fleet.X, fleet.y)
        assert plain.validation_to_frame(backend=backend).shape == (0, 4)

    def test_out_of_fold_predictions_need_validation(self, fleet):
        model = BoostR(n_estimators=2, validation=None).fit(fleet.X, fleet.y)
        with pytest.raises(InvalidParameterError, match="Hint"):
            model.predict_out_of_fold([50.0])


class TestTheory:
    def test_one_leaf_is_events_over_exposure(self):
        y = RecurrentEvents.from_lists([[1.0], [2.0, 3.0], []], end=[4.0, 5.0, 6.0])
        model = BoostR(
            n_estimators=1,
            learning_rate=1.0,
            gamma2=0.0,
            validation=None,
            clock="calendar",
            leaf=PowerBasis((1.0,)),
        ).fit(np.zeros((3, 1)), y)
        assert_allclose(model.predict([[0.0]], horizon=10.0), [10 * 3 / 15])

    def test_gamma2_counts_individuals_without_events(self):
        y = RecurrentEvents.from_lists([[1.0], [2.0, 3.0], []], end=[6.0, 6.0, 6.0])
        model = BoostR(
            n_estimators=1,
            learning_rate=1.0,
            gamma2=2.0,
            validation=None,
            clock="calendar",
            leaf=PowerBasis((1.0,)),
        ).fit(np.zeros((3, 1)), y)
        assert_allclose(model.predict([[0.0]], horizon=6.0), [3 / 5])

    @pytest.mark.slow
    def test_event_dependent_ends_bias_counts_but_not_rates(self):
        """Whoever has three events is not watched any longer (rate 0.1 a day)."""
        rng = np.random.default_rng(0)
        gaps = rng.exponential(10.0, size=(4000, 3)).cumsum(axis=1)
        ends = np.minimum(gaps[:, 2], 40.0)
        lists = [row[row <= end] for row, end in zip(gaps, ends, strict=True)]
        y = RecurrentEvents.from_lists(lists, end=ends)
        params = {"n_estimators": 30, "learning_rate": 0.5, "validation": None}
        params |= {"clock": "calendar", "leaf": PowerBasis((1.0,)), "max_leaf_nodes": 2}
        X = np.zeros((4000, 1))
        fair = BoostR(loss="intensity", **params).fit(X, y).predict(X[:1], horizon=40.0)
        biased = BoostR(loss="cumulative", **params).fit(X, y).predict(X[:1], horizon=40.0)
        assert_allclose(fair, 4.0, rtol=0.03)
        assert biased[0] < 3.4

    def test_paper_ranks_the_true_features_far_above_noise(self):
        data = simulate.dataset_b(n=200, random_state=0)
        importance = BoostR.paper().fit(data.X, data.y).feature_importances_
        assert importance[:2].min() > 10 * importance[2:].max()

    def test_paper_ends_in_trees_with_only_a_root(self):
        data = simulate.dataset_a(n=200, random_state=0, end=(171.0, 228.0))
        model = BoostR.paper().fit(data.X, data.y)
        leaves = [tree.n_leaves for tree in model.ensemble_.members[0].trees]
        assert max(leaves[:10]) > 2
        assert set(leaves[30:]) == {1}

    @pytest.mark.slow
    def test_leaves_bend_curves_where_groups_wear_differently(self, rng):
        wears = rng.uniform(size=600) < 0.5
        counts = rng.poisson(6.0, size=600)
        lists = [
            np.sort(100 * rng.uniform(size=count) ** (1 / (1.6 if late else 0.6)))
            for count, late in zip(counts, wears, strict=True)
        ]
        y = RecurrentEvents.from_lists(lists, end=np.full(600, 100.0))
        model = BoostR(n_estimators=100, n_folds=2, random_state=0).fit(
            wears[:, None].astype(float), y
        )
        halfway = model.predict_cumulative([[0.0], [1.0]], [50.0])[:, 0] / 6.0
        assert_allclose(halfway, [0.5**0.6, 0.5**1.6], atol=0.07)


class TestFeatures:
    @pytest.mark.slow
    def test_categories_are_found_and_unseen_ones_go_the_missing_way(self, fleet):
        maker = np.where(fleet.X[:, 0] > 0.5, "north", "south").astype(object)
        maker[:10] = None
        X = pd.DataFrame({"maker": pd.Categorical(maker), "x": fleet.X[:, 1]})
        model = BoostR(n_estimators=20, random_state=0).fit(X, fleet.y)
        asked = pd.DataFrame({"maker": ["elsewhere", None], "x": [0.3, 0.3]})
        with pytest.warns(DataWarning, match="'maker' .* in 1 of 1 rows"):
            predicted = model.predict(asked)
        assert_array_equal(model.encoder_.is_categorical, [True, False])
        assert predicted[0] == predicted[1]

    @pytest.mark.slow
    def test_polars_and_pandas_give_the_same_model(self, fleet):
        X = pd.DataFrame(fleet.X, columns=["a", "b"]).assign(c=["u", "v"] * 60)
        settings = {"n_estimators": 10, "validation": None}
        from_pandas = BoostR(**settings).fit(X, fleet.y).predict(X)
        frame = pl.DataFrame({name: X[name].to_list() for name in X.columns})
        assert_array_equal(
            BoostR(**settings).fit(frame, fleet.y).predict(frame), from_pandas
        )

    @pytest.mark.slow
    def test_named_columns_can_be_declared_categorical(self, fleet):
        codes = (10 * fleet.X[:, 0]).astype(int)
        X = pd.DataFrame({"code": codes, "x": fleet.X[:, 1]})
        model = BoostR(n_estimators=5, categorical_features=["code"]).fit(X, fleet.y)
        assert_array_equal(model.encoder_.is_categorical, [True, False])

    @pytest.mark.slow
    def test_missing_values_split_off_where_they_matter(self, rng):
        x = np.where(rng.uniform(size=200) < 0.5, np.nan, 1.0)
        counts = rng.poisson(np.where(np.isnan(x), 8.0, 1.0))
        lists = [np.sort(rng.uniform(0, 1, count)) for count in counts]
        y = RecurrentEvents.from_lists(lists, end=np.ones(200))
        model = BoostR(n_estimators=100, n_folds=2, random_state=0).fit(x[:, None], y)
        assert_allclose(model.predict([[np.nan], [1.0]]), [8.0, 1.0], rtol=0.15)

    @pytest.mark.slow
    @pytest.mark.parametrize("filling", [np.nan, 3.0], ids=["all missing", "constant"])
    def test_useless_features_leave_the_average(self, fleet, filling):
        X = np.full((len(fleet.y), 2), filling)
        model = BoostR(n_estimators=50, random_state=0).fit(X, fleet.y)
        assert_allclose(model.predict(X), fleet.y.n_events.mean(), rtol=0.03)
        assert_array_equal(model.feature_importances_, 0.0)

    @pytest.mark.slow
    def test_categories_of_a_few_individuals_are_not_learned(self, fleet):
        serial = [f"S{number:03d}" for number in range(len(fleet.y))]
        X = pd.DataFrame(fleet.X.copy(), columns=["a", "b"])
        settings = {"n_estimators": 30, "n_folds": 3, "random_state": 0}
        plain = BoostR(**settings).fit(X, fleet.y).predict(X)
        named = BoostR(**settings).fit(X.assign(serial=serial), fleet.y)
        # Runs without the useless column are tried as well, which may move small weights.
        assert_allclose(named.predict(X.assign(serial=serial)), plain, rtol=0.02)

    @pytest.mark.slow
    def test_categories_beyond_the_most_frequent_go_the_missing_way(self, rng):
        place = np.concatenate([np.repeat(np.arange(254), 4), np.repeat([300, 301], 3)])
        counts = rng.poisson(np.where(place % 2, 1.0, 6.0))
        lists = [np.sort(rng.uniform(0, 1, count)) for count in counts]
        y = RecurrentEvents.from_lists(lists, end=np.ones(len(place)))
        X = pd.DataFrame({"place": place.astype(str)})
        model = BoostR(n_estimators=30, max_leaf_nodes=4, random_state=0).fit(X, y)
        asked = pd.DataFrame({"place": ["2", "3", "300", "elsewhere", None]})
        even, odd, *others = model.predict(asked)
        assert even > 2.0 * odd
        assert len(set(others)) == 1

    @pytest.mark.slow
    def test_a_useless_column_of_many_categories_changes_nothing(self, fleet, rng):
        X = pd.DataFrame(fleet.X.copy(), columns=["a", "b"])
        named = X.assign(place=rng.integers(0, 30, len(X)).astype(str))
        settings = {"n_estimators": 30, "max_leaf_nodes": 4, "random_state": 0}
        model = BoostR(**settings).fit(named, fleet.y)
        plain = BoostR(**settings).fit(X, fleet.y)
        assert_array_equal(model.predict(named), plain.predict(X))
        assert model.feature_importances_[2] == 0.0

    def test_infinite_values_name_column_and_rows(self, fleet):
        X = pd.DataFrame(fleet.X.copy(), columns=["a", "b"])
        X.loc[[3, 5], "b"] = np.inf
        with pytest.raises(InvalidFeaturesError, match=r"'b' is infinite in 2 rows .*3, 5"):
            BoostR().fit(X, fleet.y)

    def test_ids_in_another_order_are_refused(self, fleet):
        names = [f"P{number}" for number in range(len(fleet.y))]
        table = fleet.y.to_long().assign(id=lambda t: [names[i] for i in t["id"]])
        y = RecurrentEvents.from_long(
            table, id="id", time="time", event="event", start="start"
        )
        X = pd.DataFrame(fleet.X, index=pd.Index(names, name="id")).loc[y.ids[::-1]]
        with pytest.raises(InvalidFeaturesError, match=r"Hint: .*X\.loc\[y\.ids\]"):
            BoostR().fit(X, y)


class TestErrors:
    def test_plain_array_is_no_target(self, fleet):
        with pytest.raises(TargetTypeError, match="Hint: RecurrentEvents"):
            BoostR().fit(fleet.X, np.ones(len(fleet.X)))

    def test_row_counts_must_agree(self, fleet):
        with pytest.raises(InvalidFeaturesError, match="120 rows for 50 individuals"):
            BoostR().fit(fleet.X, fleet.y[:50])

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"n_estimators": 0}, "`n_estimators` must be a whole number of at least 1"),
            ({"learning_rate": 1.5}, "`learning_rate` must be a number above 0"),
            ({"loss": "poisson"}, "`loss` must be one of 'intensity', 'cumulative'"),
            ({"validation": 3}, "`validation` must be 'cv'"),
            ({"leaf": "tree"}, "`leaf` must be 'power', 'step', 'spline'"),
            ({"max_bins": 256}, "at most 255"),
            ({"max_leaf_nodes": "many"}, "or 'auto'"),
            ({"n_jobs": 0}, "`n_jobs` must not be 0"),
        ],
    )
    def test_parameters_out_of_range_are_named(self, fleet, params, message):
        with pytest.raises(InvalidParameterError, match=message):
            BoostR(**params).fit(fleet.X, fleet.y)

    def test_low_exponents_with_the_intensity_loss_say_why(self, fleet):
        with pytest.raises(InvalidParameterError, match="infinite integral at zero"):
            BoostR(leaf=PowerBasis((0.5, 1.0))).fit(fleet.X, fleet.y)

    def test_low_exponents_with_the_cumulative_loss_work(self, fleet):
        model = BoostR(
            leaf=PowerBasis((0.5, 1.0)), loss="cumulative", n_estimators=5, validation=None
        )
        assert np.all(np.isfinite(model.fit(fleet.X, fleet.y).predict(fleet.X)))

    @pytest.mark.parametrize("times", [[-1.0], [np.nan], [np.inf], [[1.0, 2.0]]])
    def test_impossible_times_are_refused(self, fleet, times):
        model = BoostR(n_estimators=2, validation=None).fit(fleet.X, fleet.y)
        with pytest.raises(InvalidParameterError, match="`times` must be"):
            model.predict_cumulative(fleet.X, times)

    @pytest.mark.parametrize("times", ["soon", pd.Timestamp("2024-06-01"), [None]])
    def test_times_that_are_no_numbers_get_a_hint(self, fleet, times):
        model = BoostR(n_estimators=2, validation=None).fit(fleet.X, fleet.y)
        with pytest.raises(InvalidParameterError, match="`times` must be"):
            model.predict_cumulative(fleet.X, times)

    def test_several_horizons_are_refused(self, fleet):
        model = BoostR(n_estimators=2, validation=None).fit(fleet.X, fleet.y)
        with pytest.raises(InvalidParameterError, match="predict_cumulative"):
            model.predict(fleet.X, horizon=[10.0, 20.0])

    def test_windows_that_stop_before_they_start_name_the_rows(self, fleet):
        model = BoostR(n_estimators=2, validation=None).fit(fleet.X, fleet.y)
        stop = np.where(np.arange(len(fleet.X)) == 7, 5.0, 50.0)
        with pytest.raises(InvalidParameterError, match=r"1 of 120 .*\(rows 7\)"):
            model.predict_count(fleet.X, 20.0, stop)

    def test_swapped_arguments_are_named(self, fleet):
        with pytest.raises(InvalidFeaturesError, match=r"fit\(X, y\)"):
            BoostR().fit(fleet.y, fleet.X)

    def test_text_in_an_array_gets_a_hint(self, fleet):
        X = np.array([["high"]] * len(fleet.y), dtype=object)
        with pytest.raises(InvalidFeaturesError, match="categorical_features"):
            BoostR().fit(X, fleet.y)

    def test_costs_beyond_reason_are_refused(self):
        y = RecurrentEvents.from_lists(
            [[1.0], [1.0]], end=[2.0, 2.0], cost=[[1e308], [1e308]]
        )
        with pytest.raises(BoostrError, match="too large"):
            BoostR(loss="cumulative", clock="calendar").fit([[0.0], [1.0]], y)

    def test_unfitted_estimators_say_so(self, fleet):
        with pytest.raises(NotFittedError):
            BoostR().predict(fleet.X)

    def test_negative_weights_name_the_rows(self, fleet):
        weights = np.ones(len(fleet.y))
        weights[[2, 9]] = -1
        with pytest.raises(BoostrError, match=r"2 of 120 individuals \(rows 2, 9\)"):
            BoostR().fit(fleet.X, fleet.y, sample_weight=weights)


class TestSurroundings:
    def test_interrupt_leaves_the_estimator_unfitted_and_says_so(self, fleet, monkeypatch):
        model = BoostR(n_estimators=3, validation=None).fit(fleet.X, fleet.y)

        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(fit_module, "learn_trees", interrupt)
        with pytest.raises(InterruptedFitError, match="not fitted"):
            model.fit(fleet.X, fleet.y)
        with pytest.raises(NotFittedError):
            model.predict(fleet.X)

    def test_interrupt_is_not_caught_as_an_error(self):
        assert not issubclass(InterruptedFitError, Exception)

    def test_progress_bar_shows_the_validation_loss(self, fleet, capsys):
        BoostR(n_estimators=3, verbose=1, random_state=0).fit(fleet.X, fleet.y)
        shown = capsys.readouterr().err
        assert "validation loss" in shown
        assert "100%" in shown

    def test_nothing_is_printed_by_default(self, fleet, capsys):
        BoostR(n_estimators=3).fit(fleet.X, fleet.y)
        assert capsys.readouterr() == ("", "")

    @pytest.mark.parametrize("leaf", [StepBasis(4), SplineBasis(1, 2)], ids=str)
    def test_basis_objects_are_families_too(self, fleet, leaf):
        model = BoostR(leaf=leaf, n_estimators=5, validation=None).fit(fleet.X, fleet.y)
        assert model.ensemble_.basis.n_terms == (4 if isinstance(leaf, StepBasis) else 3)

    def test_large_data_validate_once_and_shapes_on_a_part(self, monkeypatch):
        from boostr._engine import training

        monkeypatch.setattr(training, "_LARGE", 500)
        monkeypatch.setattr(training, "_TRIAL", 300)
        data = simulate.dataset_a(n=800, random_state=0)
        model = BoostR(n_estimators=30, random_state=0).fit(data.X, data.y)
        assert np.isfinite(model.predict_out_of_fold([50.0])).sum() == 160
        assert model.feature_importances_.min() > 0.2
