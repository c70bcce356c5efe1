"""``Panel`` keeps features and sensors in step, also through scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import _safe_indexing, indexable, shuffle
from sklearn.utils.validation import _num_samples

from boostr.data import Panel, RecurrentEvents, Trajectories
from boostr.estimators._static import StaticTransformer
from boostr.exceptions import (
    InvalidFeaturesError,
    InvalidSensorsError,
    SensorTypeError,
)

N = 12
IDS = [f"W{i:02d}" for i in range(N)]


class LastLoad(RegressorMixin, BaseEstimator):
    """Predict the depth plus the last load, shifted; both must be in step."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        assert isinstance(X, Panel)
        assert len(X.X) == len(X.Z) == len(y)
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X.X, dtype=float)[:, 0] + X.Z.values[0] + self.shift

    def score(self, X, y):
        assert_array_equal(X.Z.ids, y.ids)
        return -float(np.abs(self.predict(X) - 11.0 * y.n_events).sum())


@pytest.fixture(name="Z")
def series():
    return Trajectories.from_flat(
        np.zeros(N), np.arange(N + 1), [np.arange(N)], ["load"], ids=IDS
    )


@pytest.fixture
def y():
    return RecurrentEvents.from_lists([[1.0] * i for i in range(N)], end=2.0, ids=IDS)


@pytest.fixture(name="X")
def features():
    return pd.DataFrame({"depth": 10.0 * np.arange(N)}, index=IDS)


@pytest.fixture
def panel(X, Z):
    return Panel(X, Z)


def in_step(panel):
    return np.array_equal(np.asarray(panel.X)[:, 0], 10.0 * panel.Z.values[0])


def test_it_looks_like_a_table(panel):
    assert (len(panel), panel.shape, panel.ndim) == (N, (N, 1), 2)
    assert repr(panel) == "Panel(12 individuals, 1 feature, 1 sensor)"


@pytest.mark.parametrize(
    "key",
    [
        [3, 1, 1],
        slice(2, 9, 3),
        np.arange(N) % 2 == 0,
        (np.array([5, 0]), ...),
        -1,
        pd.Series(np.arange(N) < 3, index=IDS),
    ],
)
@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X,
        lambda X: X.to_numpy(),
        lambda X: pl.DataFrame({"depth": X["depth"].to_list()}),
        lambda X: X.to_numpy().tolist(),
    ],
    ids=["pandas", "numpy", "polars", "lists"],
)
def test_rows_are_taken_together(X, Z, key, convert):
    part = Panel(convert(X), Z)[key]
    assert isinstance(part, Panel)
    assert in_step(part)
    assert len(part) == part.X.shape[0] == part.Z.read([1.0]).shape[0]


def test_sparse_features_are_taken_as_well(X, Z):
    part = Panel(csr_array(X.to_numpy()), Z)[[3, 1]]
    assert_array_equal(part.X.toarray().ravel(), [30.0, 10.0])


def test_iterating_yields_panels_of_one(panel):
    assert [len(part) for part in panel] == [1] * N


def test_it_can_be_pickled(panel):
    assert in_step(pickle.loads(pickle.dumps(panel)))


# --- Matching


def test_sensors_follow_the_ids_of_the_features(X, Z):
    assert in_step(Panel(X.sample(frac=1.0, random_state=0), Z))


def test_repeated_rows_repeat_their_sensors(X, Z):
    assert in_step(Panel(X.iloc[[*range(N), 3, 3]], Z))


def test_other_labels_are_no_ids(X, Z):
    panel = Panel(X.reset_index(drop=True), Z)
    assert panel.Z is Z


def test_integers_are_ids_if_they_are_the_same():
    Z = Trajectories.from_flat([0] * 3, range(4), [[0, 1, 2]], ["load"], ids=[7, 3, 4])
    assert in_step(Panel(pd.DataFrame({"depth": [10, 20, 0]}, index=[3, 4, 7]), Z))
    assert Panel(pd.DataFrame({"depth": [10, 20, 0]}, index=[3, 4, 9]), Z).Z is Z


def test_an_index_named_like_the_id_is_compared(X):
    table = pd.DataFrame({"well": IDS[:2], "day": 0.0, "load": [0, 1]})
    Z = Trajectories.from_long(table, "well", "day")
    with pytest.raises(InvalidSensorsError, match=r"have no sensors \(ids 0, 1\)"):
        Panel(X[:2].set_index(pd.RangeIndex(2, name="well")), Z)


def test_missing_and_surplus_ids_are_named(X, Z):
    with pytest.raises(InvalidSensorsError, match=r"\(ids W11\)"):
        Panel(X, Z[:-1])
    with pytest.raises(InvalidSensorsError, match=r"\(ids W11\)"):
        Panel(X[:-1], Z)


def test_without_labels_there_must_be_as_many(X, Z):
    with pytest.raises(InvalidSensorsError, match=r"(?s)11 rows and Z has 12.*Z\.align"):
        Panel(X.to_numpy()[1:], Z)


@pytest.mark.parametrize("wrong", [None, np.zeros(N), 3.0])
def test_features_must_be_a_table(Z, wrong):
    with pytest.raises(InvalidFeaturesError, match=r"(?s)one row per individual.*Hint"):
        Panel(wrong, Z)


def test_sensors_must_be_series(X):
    with pytest.raises(SensorTypeError, match=r"(?s)`Z` must be a Trajectories.*Hint"):
        Panel(X, X)


def test_a_mask_in_another_order_is_refused(panel):
    mask = pd.Series(np.arange(N) < 3, index=IDS[::-1])
    with pytest.raises(InvalidSensorsError, match="order of the individuals"):
        panel[mask]


# --- scikit-learn


def test_it_is_no_array(panel):
    with pytest.raises(SensorTypeError, match=r"(?s)cannot become an array.*StaticTransf"):
        np.asarray(panel)


def test_scikit_learn_counts_and_takes_rows(panel, y):
    assert _num_samples(panel) == N
    assert indexable(panel, y)[0] is panel
    assert in_step(_safe_indexing(panel, np.array([4, 2])))
    assert in_step(shuffle(panel, random_state=0))


def test_train_and_test_stay_in_step(panel, y):
    train, test, y_train, y_test = train_test_split(panel, y, random_state=0)
    assert in_step(train)
    assert_array_equal(test.Z.ids, y_test.ids)
    assert_array_equal(train.Z.ids, y_train.ids)


def test_cross_validation_stays_in_step(panel, y):
    folds = KFold(3, shuffle=True, random_state=0)
    assert_array_equal(cross_val_score(LastLoad(), panel, y, cv=folds), 0.0)
    found = cross_val_predict(LastLoad(), panel, y, cv=folds)
    assert_array_equal(found, 11.0 * np.arange(N))


def test_searches_stay_in_step(panel, y):
    search = GridSearchCV(LastLoad(), {"shift": [1.0, 0.0]}, cv=3).fit(panel, y)
    assert search.best_params_ == {"shift": 0.0}


def test_transformers_meet_the_features_only(panel):
    scaler = StaticTransformer(StandardScaler()).fit(panel)
    scaled = scaler.transform(panel)
    assert scaled.Z is panel.Z
    assert_array_equal(scaled.X, StandardScaler().fit_transform(panel.X))


def test_transformers_take_plain_tables_as_well(X):
    made = StaticTransformer(StandardScaler()).fit_transform(X)
    assert_array_equal(made, StandardScaler().fit_transform(X))


def test_transformers_are_cloned(panel):
    inner = StandardScaler()
    outer = StaticTransformer(inner).fit(panel)
    assert not hasattr(inner, "mean_")
    assert clone(outer).get_params()["transformer__with_mean"] is True


def test_names_of_features_come_from_the_transformer(panel):
    scaler = StaticTransformer(StandardScaler()).fit(panel)
    assert scaler.get_feature_names_out().tolist() == ["depth"]
    nameless = StaticTransformer(FunctionTransformer())
    assert not hasattr(nameless, "get_feature_names_out")


@pytest.mark.parametrize("fitted", [False, True])
def test_the_kind_of_table_can_be_chosen(panel, fitted):
    scaler = StaticTransformer(StandardScaler())
    scaler = scaler.fit(panel) if fitted else scaler
    scaled = scaler.set_output(transform="pandas").fit_transform(panel)
    assert isinstance(scaled.X, pd.DataFrame)


def test_the_kind_of_table_may_be_chosen_for_all(panel):
    with config_context(transform_output="pandas"):
        scaled = StaticTransformer(StandardScaler()).fit_transform(panel)
    assert isinstance(scaled, Panel)
    assert isinstance(scaled.X, pd.DataFrame)


def test_pipelines_carry_the_sensors(panel, y):
    steps = [("impute", StaticTransformer(SimpleImputer())), ("model", LastLoad())]
    assert_array_equal(cross_val_score(Pipeline(steps), panel, y, cv=3), 0.0)
    grid = {"impute__transformer__strategy": ["mean", "median"], "model__shift": [0, 1]}
    search = GridSearchCV(Pipeline(steps), grid, cv=3).fit(panel, y)
    assert search.best_params_["model__shift"] == 0
