from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.engine.problems import make_problem

from boostr._engine.ensemble import Ensemble
from boostr._engine.selection import validate
from boostr._engine.training import (
    PLAIN_SHAPE,
    SHAPES,
    Shape,
    Validation,
    _are_chosen,
    choose_splitter,
    train,
)
from boostr._engine.tree import GrowthParams
from boostr.basis import CalendarClock

SMALL = [Shape(3, 5, 0), Shape(6, 3, 2)]
TRAINING = "boostr._engine.training"
PROPORTIONAL = 1  # the exponent 1 among 0.8, 1 and 1.5
OTHERS = [0, 2]


@pytest.fixture(autouse=True)
def all_are_useful(monkeypatch):
    """Let the tests of shapes have all features."""
    monkeypatch.setattr(f"{TRAINING}.screen_features", lambda *task: (np.arange(3),) * 8)


@pytest.fixture
def problem(rng):
    return make_problem(rng, 64)


@pytest.fixture
def by_folds(problem, monkeypatch):
    monkeypatch.setattr(f"{TRAINING}._MAX_REPEATS", 1)
    return train(problem.task(), SMALL, Validation("cv", n_folds=4), None)


def is_known(out_of_fold):
    return ~np.isnan(out_of_fold).any(axis=1)


def coefficients(problem, members):
    ensemble = Ensemble(CalendarClock(), problem.basis, problem.mapper, 8.0, members)
    return ensemble.coefficients(problem.x)


def test_without_validation_all_trees_are_grown_on_everybody(problem):
    trained = train(problem.task(9), SMALL, Validation(None), None)
    assert [(len(m.trees), m.weight) for m in trained.members] == [(9, 1.0)]
    assert trained.members[0].trees[0].count[0] == len(problem)


def test_without_validation_there_is_nothing_out_of_fold(problem):
    trained = train(problem.task(3), SMALL, Validation(None), None)
    assert trained.out_of_fold is None


def test_without_validation_training_losses_fall(problem):
    losses = train(problem.task(9), SMALL, Validation(None), None).train_loss
    assert np.diff(losses).max() < 0.0


def test_too_few_individuals_for_the_folds_are_not_validated(problem):
    few = problem.take(np.arange(7))
    trained = train(few.task(4), SMALL, Validation("cv", n_folds=4), None)
    assert (len(trained.members), trained.runs) == (1, ())


def test_weights_are_not_negative(by_folds):
    assert by_folds.weights.min() >= 0.0


def test_there_is_a_run_and_a_weight_for_every_shape(by_folds):
    assert (len(by_folds.runs), by_folds.weights.shape) == (2, (2,))


def test_every_fold_of_every_run_that_counts_is_a_member(by_folds):
    assert len(by_folds.members) == 4 * np.count_nonzero(by_folds.weights)


def test_the_members_share_the_weights(by_folds):
    total = sum(member.weight for member in by_folds.members)
    assert_allclose(total, by_folds.weights.sum())


def test_everybody_has_an_out_of_fold_prediction(problem, by_folds):
    assert by_folds.out_of_fold.shape == problem.stats.linear.shape
    assert is_known(by_folds.out_of_fold).all()


def test_out_of_fold_predictions_are_weighed_like_the_runs(by_folds):
    runs = zip(by_folds.runs, by_folds.weights, strict=True)
    expected = sum(weight * run.out_of_fold for run, weight in runs)
    assert_allclose(by_folds.out_of_fold, expected)


def test_runs_that_hardly_count_are_left_out(problem, monkeypatch):
    monkeypatch.setattr(f"{TRAINING}.weigh_runs", lambda *_: np.array([0.995, 0.005]))
    trained = train(problem.task(), SMALL, Validation("cv", n_folds=4), None)
    assert trained.weights.tolist() == [1.0, 0.0]


def test_small_data_are_dealt_out_more_than_once(problem):
    trained = train(problem.task(3), SMALL[:1], Validation("cv", n_folds=4), None)
    assert len(trained.runs[0].trees) == 4 * 2  # 300 / 64, at most twice


def test_a_share_is_held_out_once(problem):
    trained = train(problem.task(), SMALL, Validation(0.25), None)
    assert [len(run.trees) for run in trained.runs] == [1, 1]
    assert is_known(trained.out_of_fold).sum() == 16


def test_training_is_the_same_for_the_same_seed(problem):
    first, second = (
        coefficients(
            problem,
            train(problem.task(seed=5), SMALL, Validation("cv"), PROPORTIONAL).members,
        )
        for _ in range(2)
    )
    assert np.array_equal(first, second)


def test_refitting_grows_one_model_a_run_on_everybody(problem):
    scheme = Validation("cv", n_folds=4, average_folds=False)
    trained = train(problem.task(), SMALL, scheme, None)
    kept = [
        (run.n_rounds, weight)
        for run, weight in zip(trained.runs, trained.weights, strict=True)
        if weight > 0.0
    ]
    assert [(len(m.trees), m.weight) for m in trained.members] == kept
    assert {m.trees[0].count[0] for m in trained.members} == {64.0}


def test_shapes_are_tried_on_the_proportional_term_first(problem):
    trained = train(problem.task(), SMALL, Validation("cv", n_folds=4), PROPORTIONAL)
    narrow = [run for run in trained.runs if "own curve shapes" not in run.label]
    assert len(narrow) == 2
    assert all(np.all(run.out_of_fold[:, OTHERS] == 0.0) for run in narrow)


def test_the_best_shape_is_tried_with_all_terms(problem):
    trained = train(problem.task(), SMALL, Validation("cv", n_folds=4), PROPORTIONAL)
    best = min(trained.runs[:2], key=lambda run: run.curve.min())
    assert trained.runs[2].label == best.label.replace(
        "common curve shape", "own curve shapes"
    )
    assert np.any(trained.runs[2].out_of_fold[:, OTHERS] != 0.0)


def test_refitting_a_run_of_the_proportional_term_uses_that_term_alone(problem):
    scheme = Validation("cv", n_folds=4, average_folds=False)
    trained = train(problem.task(), SMALL, scheme, PROPORTIONAL)
    used = [
        run for run, weight in zip(trained.runs, trained.weights, strict=True) if weight
    ]
    refits = zip(used, trained.members, strict=True)
    others = [
        tree.nodes.value[:, OTHERS]
        for run, member in refits
        if "own curve shapes" not in run.label
        for tree in member.trees
    ]
    assert np.abs(np.concatenate(others)).max() == 0.0


def test_large_data_hold_out_one_share(problem, monkeypatch):
    monkeypatch.setattr(f"{TRAINING}._LARGE", 50)
    monkeypatch.setattr(f"{TRAINING}._TRIAL", 40)
    trained = train(problem.task(), SMALL, Validation("cv", n_folds=4), None)
    assert is_known(trained.out_of_fold).sum() == 13  # a fifth of 64


def test_large_data_choose_one_shape_on_a_part(problem, monkeypatch):
    monkeypatch.setattr(f"{TRAINING}._LARGE", 50)
    monkeypatch.setattr(f"{TRAINING}._TRIAL", 40)
    sizes = []
    original = problem.task().__class__.take

    def spy(task, rows):
        sizes.append(len(rows))
        return original(task, rows)

    monkeypatch.setattr("boostr._engine.selection.Task.take", spy)
    trained = train(problem.task(), SMALL, Validation("cv", n_folds=4), None)
    assert (len(trained.runs), len(trained.members), len(sizes)) == (1, 1, 1)
    assert 25 < sizes[0] < 55  # of 64, drawn one by one


def test_validated_models_beat_no_model(problem, by_folds):
    theta = by_folds.out_of_fold
    products = problem.stats.multiply(theta, problem.everybody)
    assert np.sum(theta * (0.5 * products - problem.stats.linear)) < 0.0


@pytest.mark.parametrize(
    ("least", "n", "expected"), [(0.3, 1_000, 300), (0.3, 10, 20), (5, 1_000, 5)]
)
def test_the_least_leaf_is_a_number_or_a_share(least, n, expected):
    growth = Shape(4, least, 2).growth(GrowthParams(max_leaves=2), n)
    assert (growth.max_leaves, growth.min_samples_leaf, growth.n_candidates) == (
        4,
        expected,
        2,
    )


def test_a_shape_keeps_what_it_does_not_name():
    base = GrowthParams(max_leaves=2, growth="level", gamma1=3.0)
    growth = Shape(4, 5, 0).growth(base, 100)
    assert (growth.growth, growth.gamma1) == ("level", 3.0)


@pytest.mark.parametrize(("splitter", "is_drawn"), [("best", False), ("random", True)])
def test_shapes_are_chosen_by_their_splitter(splitter, is_drawn):
    chosen = choose_splitter(SHAPES, splitter)
    assert chosen == [shape for shape in SHAPES if (shape.n_candidates > 0) == is_drawn]


@pytest.mark.parametrize(("splitter", "is_drawn"), [("best", False), ("random", True)])
def test_a_shape_without_the_splitter_is_made_to_use_it(splitter, is_drawn):
    other = Shape(8, 20, 0 if is_drawn else 4)
    (chosen,) = choose_splitter([other], splitter)
    assert (chosen.n_candidates > 0) == is_drawn


def test_the_plain_shape_tries_all_thresholds():
    assert PLAIN_SHAPE.n_candidates == 0


# --- Features that are left out


def train_on(problem, monkeypatch, columns, **validation):
    columns = tuple(np.array(one, dtype=np.int32) for one in columns)
    monkeypatch.setattr(f"{TRAINING}.screen_features", lambda *task: columns)
    scheme = Validation("cv", n_folds=4, **validation)
    return train(problem.task(), SMALL, scheme, None)


def features_of(trees):
    return set(np.concatenate([tree.nodes.feature for tree in trees]).tolist()) - {-1}


def test_shapes_are_tried_again_on_the_features_that_every_fold_finds_useful(
    problem, monkeypatch
):
    monkeypatch.setattr(f"{TRAINING}._MAX_REPEATS", 1)
    own = [[0], [1], [0, 1], [2]]
    runs = train_on(problem, monkeypatch, own).runs
    assert ["useful features" in run.label for run in runs] == [False, False, True, True]
    for run in runs[2:]:
        assert all(
            features_of(trees) <= set(one)
            for trees, one in zip(run.trees, own, strict=True)
        )


def test_of_many_features_the_useful_ones_are_tried_first(problem, monkeypatch):
    monkeypatch.setattr(f"{TRAINING}._MAX_REPEATS", 1)
    own = [[0, 2]] * 4
    usual = train_on(problem, monkeypatch, own).runs
    monkeypatch.setattr(f"{TRAINING}._MANY_FEATURES", 3)
    runs = train_on(problem, monkeypatch, own).runs
    assert [run.label for run in runs[2:]] == [run.label for run in usual[:2]]
    assert [run.label for run in runs[:2]] == [run.label for run in usual[2:]]
    for run, same in zip([*runs[2:], *runs[:2]], usual, strict=True):
        assert_allclose(run.curve[:10], same.curve[:10])


def test_runs_on_many_features_are_judged_beside_the_best_on_few(problem, monkeypatch):
    rivals = []

    def remember(task, growth, folds, label, rival=None):
        rivals.append((label, rival))
        return validate(task, growth, folds, label, rival)

    monkeypatch.setattr(f"{TRAINING}.validate", remember)
    monkeypatch.setattr(f"{TRAINING}._MANY_FEATURES", 3)
    runs = train_on(problem, monkeypatch, [[0, 2]] * 8).runs
    best = min(runs[:2], key=lambda run: run.curve.min())
    labels, known = zip(*rivals, strict=True)
    assert ["useful" in label for label in labels] == [True, True, False, False]
    assert known[0] is None
    assert known[2] is best


def test_one_model_for_all_has_the_features_of_most_folds(problem, monkeypatch):
    monkeypatch.setattr(f"{TRAINING}._MAX_REPEATS", 1)
    own = [[0], [0], [0, 1], [2]]
    trained = train_on(problem, monkeypatch, own, average_folds=False)
    n_plain = np.count_nonzero(trained.weights[:2])
    assert all(features_of(member.trees) <= {0} for member in trained.members[n_plain:])


@pytest.mark.parametrize("own", [[[0, 1, 2]] * 4, [[0], [], [0], [0]]])
def test_nothing_is_left_out_where_all_or_none_are_useful(problem, monkeypatch, own):
    monkeypatch.setattr(f"{TRAINING}._MAX_REPEATS", 1)
    assert len(train_on(problem, monkeypatch, own).runs) == 2


# --- Terms that are judged by forecasts


class Judge:
    """Says always the same, and remembers what it was asked."""

    def __init__(self, prefers_all):
        self.answer, self.asked = prefers_all, []

    def prefers_all(self, narrow, wide):
        self.asked.append((narrow, wide))
        return self.answer


def make_run(term, *losses):
    return SimpleNamespace(term=term, curve=np.array(losses))


NARROW, WORSE = make_run(1, 3.0, 2.0, 2.5), make_run(1, 2.9)
WIDE, BETTER, BAD = make_run(None, 1.8), make_run(None, 1.5), make_run(None, 2.2)


@pytest.mark.parametrize("answer", [True, False])
def test_runs_with_all_terms_count_where_the_judge_prefers_them(answer):
    judge = Judge(answer)
    chosen = _are_chosen([WORSE, NARROW, WIDE, BETTER], judge)
    assert chosen.tolist() == [True, True, answer, answer]
    assert judge.asked == [(NARROW, BETTER)]


def test_the_judge_is_not_asked_where_all_terms_do_not_validate_better():
    judge = Judge(prefers_all=True)
    assert _are_chosen([NARROW, BAD], judge).tolist() == [True, False]
    assert judge.asked == []


@pytest.mark.parametrize("runs", [[NARROW, WORSE], [WIDE, BAD]])
def test_runs_of_one_kind_all_count(runs):
    assert _are_chosen(runs, Judge(prefers_all=False)).all()


def test_without_a_judge_all_runs_count():
    assert _are_chosen([NARROW, BAD, WIDE], None).all()


@pytest.mark.parametrize("prefers_all", [True, False])
def test_the_judge_decides_about_terms_of_the_trained_model(problem, prefers_all):
    judge, term = Judge(prefers_all), 2  # rates are constant, and do not rise like this
    trained = train(problem.task(), SMALL, Validation("cv", n_folds=4), term, judge)
    assert len(judge.asked) == 1
    assert np.any(trained.out_of_fold[:, :2] != 0.0) == prefers_all
    values = [tree.nodes.value for member in trained.members for tree in member.trees]
    assert np.any(np.concatenate(values)[:, :2] != 0.0) == prefers_all
    is_wide = np.array(["own curve shapes" in run.label for run in trained.runs])
    assert np.any(trained.weights[is_wide] > 0.0) == prefers_all
    assert_allclose(trained.weights.sum(), 1.0)
