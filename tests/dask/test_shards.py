"""Boosting on the workers of a real cluster, against boosting here."""

import os
import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from distributed import wait
from numpy.testing import assert_allclose
from tests.engine.problems import boosting, make_problem
from tests.engine.test_penalty import Case
from tests.engine.test_screening import bin_features, make_task

from boostr._engine.screening import rise_without
from boostr._engine.selection import Task, draw_folds, grow, validate, weigh_runs
from boostr._engine.training import SENSOR_SHAPES, Shape, Validation, train
from boostr._engine.training_set import sum_up
from boostr._engine.tree import GrowthParams
from boostr.dask import _boosting_state
from boostr.dask import _shard as _hosts
from boostr.dask._boosting_state import Shards
from boostr.dask._shard import Shard
from boostr.dask._shards import DaskTrainingSet
from boostr.exceptions import ClusterLostError

GROWTH = GrowthParams(max_leaves=4, min_samples_leaf=15)
N = 240


def make_shard(index, first, stats, features, weights):
    return Shard(index, first, stats, features, weights)


def spread(client, training_set, n_shards=2):
    """Return the individuals of a local training set on the workers."""
    parts = np.array_split(np.arange(len(training_set)), n_shards)
    futures = []
    for index, rows in enumerate(parts):
        own = training_set.take(rows)
        arguments = (index, int(rows[0]), own.stats, own.features, own.weights)
        futures.append(client.submit(make_shard, *arguments, pure=False))
    shards = Shards.host(client, tuple(futures), tuple(map(len, parts)))
    return DaskTrainingSet(shards, training_set.layout, training_set.n_terms)


def move(client, task, n_shards=2):
    return replace(task, training_set=spread(client, task.training_set, n_shards))


def assert_same_trees(training_set, found, expected):
    """Compare what trees do to everybody: of equal splits it may be one or the other."""
    assert len(found) == len(expected)
    nobody = np.empty(0, dtype=np.int32)
    one, other = (training_set.follow(0, nobody, 1) for _ in range(2))
    for tree, twin in zip(found, expected, strict=True):
        one.add(tree)
        other.add(twin)
        assert_allclose(one.theta, other.theta, rtol=1e-6, atol=1e-9)
        assert_allclose(np.sort(tree.gain), np.sort(twin.gain), rtol=1e-6, atol=1e-9)


@pytest.fixture
def problem(rng):
    return make_problem(rng, N)


@pytest.mark.parametrize("family", ["power", "step"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"subsample": 0.6},
        {"colsample": 0.5},
        {"growth": "level"},
        {"n_candidates": 2},
        {"starts_at_mean": True},
    ],
    ids=str,
)
def test_trees_are_those_of_a_machine_alone(client, rng, family, params):
    task = make_problem(rng, N, family).task(4, min_samples_leaf=15, **params)
    growth = task.params.growth
    found, losses = grow(move(client, task), growth, 4, "trees")
    expected, local_losses = grow(task, growth, 4, "trees")
    assert_same_trees(task.training_set, found, expected)
    assert_allclose(losses, local_losses)


def test_trees_with_sensors_and_prices_are_those_of_a_machine_alone(client, rng):
    case = Case(rng, "constant", n=40)
    task = make_task(bin_features(rng.random((40, 3))), case.stats, case.problem())
    found, _ = grow(move(client, task), GROWTH, 3, "trees")
    assert_same_trees(task.training_set, found, grow(task, GROWTH, 3, "trees")[0])


def test_weights_count_as_on_a_machine_alone(client, problem, rng):
    task = problem.weigh(rng.choice([1.0, 2.0, 5.0], N)).task(4)
    found, _ = grow(move(client, task), GROWTH, 4, "trees")
    assert_same_trees(task.training_set, found, grow(task, GROWTH, 4, "trees")[0])


def test_the_number_of_shards_does_not_matter_nor_how_they_are_summed(
    client, problem, monkeypatch
):
    monkeypatch.setattr(_hosts, "FAN_IN", 2)
    task = problem.task(4)
    found, _ = grow(move(client, task, n_shards=7), GROWTH, 4, "trees")
    assert_same_trees(task.training_set, found, grow(task, GROWTH, 4, "trees")[0])


def test_two_runs_have_the_same_bits(client, problem):
    task = move(client, problem.task(5), n_shards=3)
    one, two = (grow(task, GROWTH, 5, "trees")[0] for _ in range(2))
    for first, second in zip(one, two, strict=True):
        assert np.array_equal(first.nodes.value, second.nodes.value)


def test_folds_are_validated_as_on_a_machine_alone(client, problem):
    folds = draw_folds(N, 3, 1, 3)
    task = problem.task(5)
    remote = move(client, task, n_shards=3)
    found, expected = (validate(one, GROWTH, folds, "run") for one in (remote, task))
    assert_allclose(found.curve, expected.curve)
    for trees, others in zip(found.trees, expected.trees, strict=True):
        assert_same_trees(task.training_set, trees, others)
    rows = remote.training_set.collect(found.out_of_fold)
    assert_allclose(rows, expected.out_of_fold, atol=1e-10)


def test_who_was_never_held_out_is_unknown(client, problem):
    task = move(client, problem.task(3))
    held_out = np.array([2, 50, 180], dtype=np.int32)
    run = validate(task, GROWTH, [held_out], "run")
    rows = task.training_set.collect(run.out_of_fold)
    assert np.flatnonzero(~np.isnan(rows[:, 0])).tolist() == [2, 50, 180]


def test_runs_are_weighed_as_on_a_machine_alone(client, problem):
    folds = draw_folds(N, 3, 1, 0)
    weights = []
    for task in (problem.task(6), move(client, problem.task(6))):
        runs = [
            validate(task, replace(GROWTH, max_leaves=n), folds, str(n)) for n in (2, 3, 6)
        ]
        weights.append(weigh_runs(task.training_set, runs))
    assert_allclose(*weights, rtol=1e-6)


def test_sensors_are_judged_as_on_a_machine_alone(client, rng):
    case = Case(rng, "constant", n=40)
    task = make_task(bin_features(rng.random((40, 3))), case.stats, case.problem())
    starts = task.problem.groups.starts
    judged = []
    for one in (task, move(client, task)):
        run = validate(one, GROWTH, draw_folds(40, 2, 1, 0), "run")
        judged.append(rise_without(one.training_set, starts, run.out_of_fold))
    assert_allclose(judged[0][0], judged[1][0], rtol=1e-6)
    assert_allclose(judged[0][1], judged[1][1], rtol=1e-6)


@pytest.mark.parametrize("average_folds", [True, False])
def test_a_whole_training_is_that_of_a_machine_alone(client, problem, average_folds):
    shapes = [Shape(4, 15, 0)]
    validation = Validation("cv", n_folds=3, average_folds=average_folds)
    found, expected = (
        train(task, shapes, validation, 0)
        for task in (move(client, problem.task(4)), problem.task(4))
    )
    assert [run.label for run in found.runs] == [run.label for run in expected.runs]
    assert_allclose(found.weights, expected.weights, atol=1e-8)
    for one, other in zip(found.members, expected.members, strict=True):
        assert_same_trees(problem.training_set, one.trees, other.trees)


def test_screening_works_where_individuals_are_elsewhere(client, problem, rng):
    trained = train(
        move(client, problem.task(6)),
        [Shape(3, 15, 0), Shape(4, 15, 0)],
        Validation("cv"),
        0,
    )
    case = Case(rng, "constant", n=40)
    task = make_task(bin_features(rng.random((40, 3))), case.stats, case.problem())
    with_sensors = train(move(client, task), SENSOR_SHAPES, Validation("cv", 2), None)
    assert trained.members
    assert with_sensors.members


def test_large_data_compare_shapes_on_a_part_that_is_brought_here(
    client, problem, monkeypatch
):
    monkeypatch.setattr("boostr._engine.training._LARGE", 200)
    monkeypatch.setattr("boostr._engine.training._TRIAL", 150)
    shapes = [Shape(3, 15, 0), Shape(4, 15, 0)]
    found, expected = (
        train(task, shapes, Validation("cv"), None)
        for task in (move(client, problem.task(6)), problem.task(6))
    )
    assert found.runs[0].label == expected.runs[0].label
    assert_same_trees(
        problem.training_set, found.members[0].trees, expected.members[0].trees
    )


def test_some_individuals_come_here_in_order(client, problem):
    positions = np.array([0, 3, 79, 80, 239])
    here = problem.training_set.take(positions)
    brought = spread(client, problem.training_set, 3).take(positions)
    assert np.array_equal(brought.stats.linear, here.stats.linear)
    assert np.array_equal(brought.stats.quadratic, here.stats.quadratic)
    assert np.array_equal(brought.features.bins, here.features.bins)


def sum_linear(stats, weights):
    return (stats.linear.sum(axis=0), np.array(weights.sum()))


def test_sums_over_shards_are_sums_over_all(client, problem):
    training_set = spread(client, problem.training_set, 3)
    found = sum_up(training_set, sum_linear, training_set.weights)
    assert_allclose(found[0], problem.stats.linear.sum(axis=0))
    assert found[1] == N


def test_the_mark_is_that_of_a_machine_alone(client, problem):
    before = problem.training_set.mark()
    assert [spread(client, problem.training_set, n).mark() for n in (2, 3)] == [
        before,
        before,
    ]
    problem.stats.linear[70] += 1e-12
    assert (
        spread(client, problem.training_set, 2).mark()
        == problem.training_set.mark()
        != before
    )


# --- Faults


def count_models(shard):
    return len(shard.followed)


def test_workers_forget_models_that_are_done(client, problem):
    task = move(client, problem.task(3))
    run = validate(task, GROWTH, draw_folds(N, 3, 1, 0), "run")
    assert len(task.training_set.collect(run.out_of_fold, 7)) == -(-N // 7)
    grow(task, GROWTH, 2, "trees")
    deadline = time.monotonic() + 10.0
    while sum(client.gather(task.training_set.shards.submit(count_models))) > 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_hosts_are_where_their_shards_are(client, problem):
    task = move(client, problem.task(2), n_shards=4)
    strangers = [client.submit(Stranger, actor=True, pure=False) for _ in range(3)]
    wait(strangers)
    grow(task, GROWTH, 2, "trees")
    hosts = task.training_set.shards.hosts
    owners = client.who_has(list(task.training_set.shards.futures))
    for node, shard in zip(hosts._heads, task.training_set.shards.futures, strict=True):
        assert owners[shard.key] == (node.host._address,)


class Stranger:
    """An actor that has nothing to do with us."""


def test_losses_that_never_end_are_an_error(client, problem, monkeypatch):
    task = move(client, problem.task(2))
    monkeypatch.setattr(_hosts.Hosts, "ask", lambda *order: None)
    with pytest.raises(ClusterLostError, match=r"(?s)in a row.*Hint:.*checkpoint"):
        grow(task, GROWTH, 2, "trees")


def test_a_cluster_that_is_gone_is_named_as_such(own_cluster, problem):
    with own_cluster() as client:
        task = move(client, problem.task(6))

        def close(label, n_trees, loss):
            if n_trees == 2:
                client.shutdown()

        with pytest.raises(ClusterLostError):
            grow(replace(task, report=close), GROWTH, 6, "trees")


def lose_state(shard):
    shard.followed.clear()


def test_a_shard_that_lost_its_state_is_brought_up_to_date(client, problem):
    expected = grow(problem.task(6), GROWTH, 6, "trees")[0]
    task = move(client, problem.task(6))
    lost = []

    def lose(label, n_trees, loss):
        if n_trees == 3:
            future = client.submit(
                lose_state, task.training_set.shards.futures[1], pure=False
            )
            lost.append(future.result())

    found = grow(replace(task, report=lose), GROWTH, 6, "trees")[0]
    assert lost == [None]
    assert_same_trees(problem.training_set, found, expected)


def make_slowly(index, first, seed, n, path):
    """Return a shard that is made from a seed, and note that it was."""
    with Path(path).open("a") as file:
        file.write(f"{index} {os.getpid()}\n")
    problem = make_problem(np.random.default_rng(seed), n)
    own = problem.training_set.take(np.arange(first, first + n // 2))
    return make_shard(index, first, own.stats, own.features, own.weights)


@pytest.mark.parametrize("when", ["between trees", "within a tree"])
def test_a_killed_worker_costs_time_and_nothing_else(
    mortal, problem, tmp_path, monkeypatch, when
):
    local = make_problem(np.random.default_rng(5), N)
    path = tmp_path / "made"
    workers = list(mortal.nthreads())
    futures = [
        mortal.submit(
            make_slowly,
            index,
            index * (N // 2),
            5,
            N,
            str(path),
            pure=False,
            workers=[workers[index]],
            allow_other_workers=True,
        )
        for index in range(2)
    ]
    wait(futures)
    owner = mortal.who_has(futures[1])[futures[1].key]
    pid = mortal.submit(os.getpid, workers=list(owner), pure=False).result()
    shards = Shards.host(mortal, tuple(futures), (N // 2, N // 2))
    training_set = DaskTrainingSet(shards, local.features, local.stats.n_terms)
    task = Task(training_set, local.leaf, boosting(), 8, 1, lambda *report: None)
    killed = []
    kill = partial(_kill_once, killed, pid)
    if when == "between trees":
        task = replace(task, report=lambda label, n, loss: kill() if n == 4 else None)
    else:
        _kill_within(monkeypatch, kill, order=12)
    found = grow(task, GROWTH, 8, "trees")[0]
    expected = grow(local.task(8), GROWTH, 8, "trees")[0]
    assert killed == [pid]
    assert_same_trees(local.training_set, found, expected)
    made = [line.split()[0] for line in path.read_text().splitlines()]
    assert len(made) > 2  # what was lost was made again


def _kill_once(killed, pid):
    if not killed:
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)


def _kill_within(monkeypatch, kill, order):
    send = _boosting_state.SharedBoostingState._send
    counted = []

    def send_and_kill(self, asked, *rest):
        counted.append(asked)
        if len(counted) == order:
            kill()
        return send(self, asked, *rest)

    monkeypatch.setattr(_boosting_state.SharedBoostingState, "_send", send_and_kill)
