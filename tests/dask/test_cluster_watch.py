"""Workers that run out of memory: told of while they pause, explained when they end."""

import logging
import os
import signal
import threading
import time

import pytest
from distributed import Client
from distributed.core import Status
from tests.dask.scenes import COLUMNS, make_fleet, spread

from boostr.dask import DaskBoostR, _shards
from boostr.dask import _cluster as _watch
from boostr.dask._cluster import watch_workers
from boostr.exceptions import ClusterLostError


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(_watch, "_GLANCE", 0.05)


@pytest.fixture
def thread_client():
    """A worker in this process, whose memory nobody looks at."""
    with Client(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        memory_limit=0,
        dashboard_address=":0",
    ) as client:
        yield client


def set_status(client, status):
    def change(dask_worker):
        dask_worker.status = status

    client.run(change)


def wait_for(condition):
    end = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_paused_workers_are_reported_once_with_the_way_out(quick, thread_client, caplog):
    (address,) = thread_client.nthreads()
    caplog.set_level(logging.WARNING, logger="boostr.dask")

    def count():
        return sum(f"Worker {address} has paused" in text for text in caplog.messages)

    with watch_workers(thread_client):
        set_status(thread_client, Status.paused)
        wait_for(lambda: count() == 1)
        time.sleep(0.3)  # some more looks
        assert count() == 1
        set_status(thread_client, Status.running)
        time.sleep(0.3)
        set_status(thread_client, Status.paused)
        wait_for(lambda: count() == 2)
        set_status(thread_client, Status.running)
    assert "memory_limit=" in caplog.messages[0]


def test_nobody_watches_after_the_work(quick, thread_client):
    with watch_workers(thread_client):
        assert "boostr-watch" in [thread.name for thread in threading.enumerate()]
    wait_for(lambda: "boostr-watch" not in [t.name for t in threading.enumerate()])


def die(part):
    """Do as the system does with a worker that takes too much memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    return part


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_workers_that_end_over_their_work_are_a_lost_cluster(mortal, monkeypatch):
    monkeypatch.setattr(mortal.cluster.scheduler, "allowed_failures", 0)
    fleet = make_fleet(40)
    events = spread(fleet.events, 1).map_partitions(die, meta=fleet.events[:0])
    with pytest.raises(ClusterLostError, match=r"(?s)lack of memory.*memory_limit="):
        DaskBoostR(n_estimators=1).fit(
            spread(fleet.static, 1), events, **COLUMNS, client=mortal
        )


def test_statistics_are_not_tried_for_ever(monkeypatch):
    tries = []
    monkeypatch.setattr(_shards, "_try_to_build", lambda *_arguments: tries.append(1))
    with pytest.raises(ClusterLostError, match=r"(?s)6 attempts.*memory_limit="):
        _shards.build_training_set(None, None, None, None, None)
    assert len(tries) == 6
