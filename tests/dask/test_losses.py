"""A worker or a scheduler that dies takes nothing with it that cannot be made again."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from distributed import Client
from tests.dask.scenes import make_fleet, spread, write
from tests.dask.test_estimator import after_rounds, count_grown, fit, scatter
from tests.dask.test_survey import SETTINGS, look

from boostr._training.settings import find_bins
from boostr._training.statistics import plan_statistics
from boostr.dask._shards import Recipe, build_training_set
from boostr.exceptions import ClusterLostError

pytestmark = pytest.mark.slow


def kill_one(client):
    client.wait_for_workers(2, timeout=120)
    pids = client.run(os.getpid)
    victim = sorted(pids)[0]
    os.kill(pids[victim], signal.SIGKILL)
    return victim


def prepare(client, sources):
    data, found = look(client, sources)
    plan = plan_statistics(SETTINGS, found.clock_sample, found.sample, found.summary)
    mapper = find_bins(found.clock_sample.features, 16, found.encoder)
    return data, Recipe(plan, found.encoder, mapper, found.categories)


@pytest.fixture(params=["files", "moved rows"])
def sources(request, tmp_path):
    fleet = make_fleet(200)
    if request.param == "files":
        return {
            "X": write(fleet.static, tmp_path / "X", 2),
            "events": write(fleet.events, tmp_path / "events", 3),
        }
    shuffled = fleet.shuffled(1)
    return {"X": spread(shuffled.static, 2), "events": spread(shuffled.events, 3)}


def test_statistics_of_a_lost_worker_are_made_again(mortal, sources):
    data, recipe = prepare(mortal, sources)
    training_set = build_training_set(mortal, data.context, data.tasks, data.heads, recipe)
    everybody = np.arange(len(training_set))
    before = training_set.take(everybody)
    del data
    kill_one(mortal)
    after = training_set.take(everybody)
    np.testing.assert_array_equal(after.stats.linear, before.stats.linear)
    np.testing.assert_array_equal(after.stats.quadratic, before.stats.quadratic)
    np.testing.assert_array_equal(after.features.bins, before.features.bins)


def test_a_worker_lost_between_survey_and_statistics_does_not_matter(mortal, sources):
    data, recipe = prepare(mortal, sources)
    whole = build_training_set(mortal, data.context, data.tasks, data.heads, recipe)
    everybody = np.arange(data.heads.total)
    expected = whole.take(everybody)
    del whole
    kill_one(mortal)
    found = build_training_set(mortal, data.context, data.tasks, data.heads, recipe)
    assert len(found) == data.heads.total
    same = found.take(everybody)
    np.testing.assert_array_equal(same.stats.linear, expected.stats.linear)
    np.testing.assert_array_equal(same.stats.quadratic, expected.stats.quadratic)
    np.testing.assert_array_equal(same.features.bins, expected.features.bins)


class Machines:
    """A scheduler and its worker as processes of their own, as on several machines."""

    def __init__(self, folder):
        self._file = folder / "scheduler.json"
        self._processes = []

    def __enter__(self):
        self._start("dask_scheduler", "--port", "0", "--no-dashboard")
        self._start("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
        return self

    def __exit__(self, *error):
        for process in self._processes:
            process.kill()
            process.wait()

    def _start(self, module, *options):
        command = [sys.executable, "-m", f"distributed.cli.{module}"]
        self._processes.append(
            subprocess.Popen(
                [*command, "--scheduler-file", str(self._file), *options],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    def connect(self):
        client = Client(scheduler_file=str(self._file), timeout=60)
        client.wait_for_workers(1, timeout=60)
        return client

    def kill_scheduler(self):
        self._processes[0].kill()


def test_a_lost_scheduler_leaves_a_checkpoint_for_another_cluster(
    client, own_cluster, tmp_path, monkeypatch
):
    fleet, path = make_fleet(160, seed=3), tmp_path / "trees.ckpt"
    options = {"weight": "weight", "local_below": 0}
    grown = count_grown(monkeypatch)
    whole = fit(client, *scatter(fleet, 2), **options)
    n_all = len(grown)
    with (
        Machines(tmp_path) as machines,
        machines.connect() as lost,
        monkeypatch.context() as patch,
    ):
        after_rounds(patch, 3, machines.kill_scheduler)
        with pytest.raises(ClusterLostError, match="checkpoint"):
            fit(lost, *scatter(fleet, 2), **options, checkpoint=path)
    n_before = len(grown) - n_all
    with own_cluster() as other:
        again = fit(other, *scatter(fleet, 2), **options, checkpoint=path)
    assert 1 < n_before < n_all
    # The tree in the making is the only one that is grown twice.
    assert len(grown) - n_all == n_all + 1
    np.testing.assert_allclose(again.model_.predict(fleet.X), whole.model_.predict(fleet.X))
