import numpy as np
import pytest

from boostr import BoostR
from boostr.data import Trajectories
from boostr.metrics import scorer
from boostr.simulate import dataset_a
from boostr.tuning import BoostRSearch, as_of_split


@pytest.fixture(scope="module")
def pipes():
    data = dataset_a(n=60, random_state=0)
    length = np.random.default_rng(0).uniform(0.5, 5.0, 60)
    return data.X, length, data.y.with_exposure(length)


@pytest.mark.slow
def test_a_search_fits_and_scores_with_exposures(pipes):
    X, length, y = pipes
    search = BoostRSearch(
        BoostR(n_estimators=3, validation=None, random_state=0),
        {"gamma2": [0.5, 50.0]},
        scoring=scorer("poisson_deviance"),
        random_state=0,
    ).fit(X, y)
    assert search.best_estimator_.has_exposure_
    np.testing.assert_allclose(
        search.predict(X, exposure=length), length * search.predict(X)
    )
    assert np.isfinite(search.score(X, y))


def test_splits_in_time_keep_what_is_known_ahead(pipes):
    X, length, y = pipes
    series = Trajectories.from_flat(
        np.tile([0.0, 50.0], 60),
        2 * np.arange(61),
        [np.stack([length, 3.0 * length], axis=1).ravel()],
        ["flights"],
    )
    split = as_of_split(y.with_exposure(series), 40.0)
    model = BoostR(n_estimators=3, validation=None, random_state=0)
    model.fit(X[split.train_rows], split.train)
    asked = model.forecast(X, split.train, 30.0, own_history=False).sort_values("id")
    counts = model.predict_count(X, 40.0, 70.0, exposure=series)
    np.testing.assert_allclose(asked["expected"], counts)
