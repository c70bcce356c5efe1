import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engine.histories import AWKWARD
from tests.metrics.scenes import make_events

from boostr import BoostR, Panel, metrics, simulate
from boostr.exceptions import InvalidFeaturesError, InvalidParameterError

TIMES = np.linspace(0.0, 80.0, 9)


def make_scorers(truth):
    return {
        "recurrent": metrics.scorer("recurrent_concordance", horizon=80.0),
        "recurrent, model's horizon": metrics.scorer("recurrent_concordance"),
        "recurrent, weighted": metrics.scorer(
            "recurrent_concordance", horizon=60.0, weights="ipcw"
        ),
        "event": metrics.scorer("event_concordance", horizon=80.0),
        "paper": metrics.scorer("paper_concordance", horizon=60.0),
        "capture": metrics.scorer("capture_curve"),
        "truth": metrics.scorer("integrated_squared_error", truth=truth, times=80.0),
        "l2": metrics.scorer("observed_l2"),
        "l2 on a grid": metrics.scorer("observed_l2", times=100.0),
        "integrated": metrics.scorer("integrated_count_error", times=TIMES),
        "skill": metrics.scorer("skill_score", times=80.0),
        "window": metrics.scorer("window_count_error", start=20.0, stop=60.0),
        "window, weighted": metrics.scorer(
            "window_count_error", start=20.0, stop=60.0, weights="ipcw"
        ),
        "deviance": metrics.scorer("poisson_deviance"),
        "deviance in a window": metrics.scorer("poisson_deviance", start=10.0, stop=60.0),
        "likelihood": metrics.scorer("point_process_log_likelihood"),
        "slope": metrics.scorer("calibration_slope"),
    }


def skill_score(y, predicted):
    return 0.0


@pytest.fixture(scope="module")
def fleet():
    return simulate.dataset_a(n=160, random_state=3, end=(20.0, 100.0))


@pytest.fixture(scope="module")
def rig():
    return simulate.wells(n=60, random_state=1)


def quick(n_estimators=15):
    return BoostR(n_estimators=n_estimators, validation=None, n_origins=0, random_state=0)


@pytest.fixture(scope="module")
def model(fleet):
    return quick().fit(fleet.X, fleet.y)


@pytest.mark.slow
def test_cross_validation_prefers_trees_to_a_constant_by_every_scorer(fleet):
    scorers = make_scorers(fleet.truth)
    few, many = (
        cross_validate(
            quick(n), fleet.X, fleet.y, scoring=scorers, cv=3, error_score="raise"
        )
        for n in (1, 40)
    )
    for name in scorers:
        assert many[f"test_{name}"].mean() > few[f"test_{name}"].mean(), name


@pytest.mark.parametrize("name", make_scorers(abs))
def test_a_scorer_gives_one_number(name, model, fleet):
    scorer = make_scorers(fleet.truth)[name]
    assert np.isfinite(scorer(model, fleet.X, fleet.y))


def test_cross_val_score_and_grid_search_take_a_scorer(fleet):
    scorer = metrics.scorer("recurrent_concordance", horizon=80.0)
    scores = cross_val_score(
        quick(2), fleet.X, fleet.y, scoring=scorer, cv=2, error_score="raise"
    )
    assert np.all((scores > 0.5) & (scores < 1.0))
    grid = {"n_estimators": [1, 8]}
    search = GridSearchCV(quick(), grid, scoring=scorer, cv=2, error_score="raise")
    assert search.fit(fleet.X, fleet.y).best_params_ == {"n_estimators": 8}


def test_weights_count_individuals(model, fleet):
    kept = np.arange(160) % 2 == 0
    for name, scorer in make_scorers(fleet.truth).items():
        weighted = scorer(model, fleet.X, fleet.y, sample_weight=kept.astype(float))
        alone = scorer(model, fleet.X[kept], fleet.y[kept])
        # By default the grid reaches to the last end of all, whatever their weight.
        tolerance = 1e-3 if name == "l2" else 1e-9
        assert weighted == pytest.approx(alone, rel=tolerance), name


def test_errors_are_negative(model, fleet):
    curves = model.predict_cumulative(fleet.X, TIMES)
    error = metrics.integrated_count_error(fleet.y, curves, TIMES)
    scorer = metrics.scorer("integrated_count_error", times=TIMES)
    assert scorer(model, fleet.X, fleet.y) == -error


def test_likelihood_is_that_of_the_estimator_s_own_score_up_to_a_constant(fleet, model):
    other = quick(3).fit(fleet.X, fleet.y)
    scorer = metrics.scorer("point_process_log_likelihood")
    ours = scorer(model, fleet.X, fleet.y) - scorer(other, fleet.X, fleet.y)
    theirs = model.score(fleet.X, fleet.y) - other.score(fleet.X, fleet.y)
    assert ours == pytest.approx(theirs, rel=1e-3)


def test_exposure_is_that_of_all_windows():
    y = make_events([AWKWARD, ([(0.0, 6.0)], [2.0, 3.0], [1.0, 1.0])])
    X = np.array([[0.0], [1.0]])
    model = BoostR(n_estimators=2, validation=None, min_samples_leaf=1).fit(X, y)
    curves = model.predict_cumulative(X, np.linspace(0.0, 7.0, 7001))
    expected = metrics.expected_counts(y, curves, np.linspace(0.0, 7.0, 7001))
    score = metrics.scorer("poisson_deviance")(model, X, y)
    assert score == pytest.approx(-metrics.poisson_deviance(y, expected), rel=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::boostr.exceptions.SensorRangeWarning")
def test_panels_go_through(rig):
    panel = Panel(rig.X, rig.Z)
    scorers = {
        "recurrent": metrics.scorer("recurrent_concordance"),
        "deviance": metrics.scorer("poisson_deviance"),
        "likelihood": metrics.scorer("point_process_log_likelihood"),
        "l2": metrics.scorer("observed_l2"),
    }
    scores = cross_validate(
        quick(3), panel, rig.y, scoring=scorers, cv=2, error_score="raise"
    )
    assert all(np.isfinite(scores[f"test_{name}"]).all() for name in scorers)


def test_tables_and_pipelines_and_searches_are_looked_into(fleet, model):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(fleet.X, columns=["x1", "x2"])
    pipeline = make_pipeline(StandardScaler(), quick())
    grid = {"boostr__n_estimators": [15]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(table, fleet.y)
    for scorer in make_scorers(abs).values():
        if scorer.name != "integrated_squared_error":
            alone = scorer(model, fleet.X, fleet.y)
            assert_allclose(scorer(search, table, fleet.y), alone, rtol=1e-6)


def test_scorers_can_be_sent_to_other_processes():
    scorer = pickle.loads(
        pickle.dumps(metrics.scorer("recurrent_concordance", horizon=5.0, tied="drop"))
    )
    shown = "scorer('recurrent_concordance', horizon=5.0, tied='drop', weights=None)"
    assert repr(scorer) == shown


def test_a_metric_and_its_name_make_the_same_scorer(model, fleet):
    by_function = metrics.scorer(metrics.recurrent_concordance, horizon=50.0)
    by_name = metrics.scorer("recurrent_concordance", horizon=50.0)
    assert by_function(model, fleet.X, fleet.y) == by_name(model, fleet.X, fleet.y)


def test_a_required_option_is_named():
    with pytest.raises(InvalidParameterError, match="needs start and stop"):
        metrics.scorer("window_count_error")


def test_a_constant_counts_as_a_slope_of_zero(fleet):
    constant = quick(1).fit(fleet.X[:, :1] * 0.0, fleet.y)
    scorer = metrics.scorer("calibration_slope")
    assert scorer(constant, fleet.X[:, :1] * 0.0, fleet.y) == -1.0


def test_other_estimators_are_refused_by_name(fleet):
    dummy = DummyRegressor().fit(fleet.X, fleet.y.n_events)
    with pytest.raises(InvalidParameterError, match=r"predict_count, but DummyRegressor"):
        metrics.scorer("poisson_deviance")(dummy, fleet.X, fleet.y)


def test_but_any_that_predicts_has_an_order(fleet):
    dummy = DummyRegressor().fit(fleet.X, fleet.y.n_events)
    assert metrics.scorer("recurrent_concordance")(dummy, fleet.X, fleet.y) == 0.5


def test_features_of_others_are_refused(model, fleet):
    with pytest.raises(InvalidFeaturesError, match="10 rows for 160 individuals"):
        metrics.scorer("recurrent_concordance")(model, fleet.X[:10], fleet.y)


@pytest.mark.parametrize(
    "make",
    [
        lambda: metrics.scorer("recurrent_concordance", tied="both"),
        lambda: metrics.scorer("event_concordance", weights="km"),
        lambda: metrics.scorer("capture_curve", per="machine"),
        lambda: metrics.scorer("window_count_error", start=5.0, stop=5.0),
        lambda: metrics.scorer("skill_score", times=[3.0]),
        lambda: metrics.scorer("integrated_count_error", times=0.0),
        lambda: metrics.scorer("integrated_count_error", times=None),
        lambda: metrics.scorer("integrated_count_error"),
        lambda: metrics.scorer("poisson_deviance", horizon=5.0),
        lambda: metrics.scorer("accuracy"),
        lambda: metrics.scorer(metrics.calibration_table),
        lambda: metrics.scorer(skill_score),
    ],
)
def test_impossible_settings_are_refused_before_anything_is_fitted(make):
    with pytest.raises(InvalidParameterError):
        make()
