import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr import BoostR
from boostr._training.run import Hooks
from boostr.exceptions import InvalidParameterError


def fit(fleet, callbacks, **params):
    settings = {"n_estimators": 12, "n_origins": 0, "random_state": 0} | params
    model = BoostR(**settings)
    return model.fit(fleet.X, fleet.y, callbacks=callbacks)


def test_a_single_model_reports_the_training_loss_after_each_tree(fleet):
    seen = []
    model = fit(fleet, [seen.append], validation=None)
    assert [one.n_trees for one in seen] == list(range(1, 13))
    assert_allclose([one.train_loss for one in seen], model.train_loss_)
    assert all(math.isnan(one.validation_loss) for one in seen)


def test_validation_losses_are_those_of_the_results(fleet):
    seen = []
    model = fit(fleet, [seen.append])
    starts = [place for place, one in enumerate(seen) if one.n_trees == 1]
    for result in model.validation_results_:
        curve = result["curve"]
        runs = [seen[start : start + len(curve)] for start in starts]
        losses = [
            [one.validation_loss for one in run]
            for run in runs
            if run[0].label == result["label"]
        ]
        assert curve.tolist() in losses


def test_the_training_loss_is_below_the_validation_loss_in_the_end(fleet):
    seen = []
    fit(fleet, [seen.append], max_leaf_nodes=8, min_samples_leaf=5, splitter="best")
    assert seen[-1].train_loss < seen[-1].validation_loss


@pytest.mark.parametrize("validation", [None, "cv"])
def test_true_ends_a_run(fleet, validation):
    model = fit(fleet, [lambda progress: progress.n_trees == 4], validation=validation)
    assert model.n_estimators_ == 4


def test_a_run_that_is_ended_has_the_first_trees_of_the_whole_one(fleet):
    ended = fit(fleet, [lambda progress: progress.n_trees >= 5], validation=None)
    short = fit(fleet, None, validation=None, n_estimators=5)
    assert np.array_equal(ended.predict(fleet.X), short.predict(fleet.X))


@pytest.mark.parametrize("answer", [None, False, "text", 1, [1]])
def test_only_true_ends_a_run(fleet, answer):
    model = fit(fleet, [lambda progress: answer], validation=None)
    assert model.n_estimators_ == 12


def test_numpy_answers_count(fleet):
    model = fit(fleet, [lambda progress: np.float64(1.0) > 0.0], validation=None)
    assert model.n_estimators_ == 1


def test_all_callbacks_are_called_though_the_first_ends_the_run(fleet):
    seen = []
    fit(fleet, [lambda progress: True, seen.append], validation=None)
    assert len(seen) == 1


def test_looking_on_changes_nothing(fleet):
    watched, plain = fit(fleet, [lambda progress: None]), fit(fleet, None)
    assert np.array_equal(watched.predict(fleet.X), plain.predict(fleet.X))


def test_the_number_of_threads_changes_nothing(fleet):
    def stop(progress):
        return progress.validation_loss > progress.train_loss + 0.05

    one, two = (fit(fleet, [stop], n_jobs=n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one.predict(fleet.X), two.predict(fleet.X))


def test_errors_of_callbacks_reach_the_user(fleet):
    def fail(progress):
        raise ZeroDivisionError("own")

    with pytest.raises(ZeroDivisionError, match="own"):
        fit(fleet, [fail])


@pytest.mark.parametrize("callbacks", [print, [3], "text", 5])
def test_other_callbacks_are_refused(callbacks):
    with pytest.raises(InvalidParameterError, match="must be a list of functions"):
        Hooks(None, callbacks)


def test_a_fit_with_a_checkpoint_cannot_be_ended(fleet, tmp_path):
    model = BoostR(n_estimators=5, validation=None, random_state=0)
    options = {"checkpoint": tmp_path / "trees", "callbacks": [lambda progress: True]}
    with pytest.raises(InvalidParameterError, match="after 1 trees of 'trees'"):
        model.fit(fleet.X, fleet.y, **options)
