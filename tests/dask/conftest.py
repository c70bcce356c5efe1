import logging
from contextlib import contextmanager

import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster

import dask


def start_cluster(n_workers=2):
    """Start worker processes of one thread each."""
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",  # any free port: other tests may have a cluster, too
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="session")
def cluster():
    with start_cluster() as started:
        yield started


# A busy machine takes its time to start a worker again, and must not give it up; but nobody
# replies at the address of a dead one, however long one waits.
PATIENCE = {
    "distributed.deploy.lost-worker-timeout": "300s",
    "distributed.comm.timeouts.connect": "10s",
}


@pytest.fixture(scope="session")
def own_cluster():
    """A cluster that may be shut down, once asked for."""

    @contextmanager
    def start():
        with (
            dask.config.set(PATIENCE),
            start_cluster(n_workers=1) as started,
            Client(started) as connected,
        ):
            yield connected

    return start


@pytest.fixture(scope="session")
def mortal_cluster():
    with start_cluster() as started, Client(started, set_as_default=False) as connected:
        yield connected


@pytest.fixture
def mortal(mortal_cluster):
    """A cluster of two workers that may be killed: each begins again, for the next test."""
    with dask.config.set(PATIENCE), mortal_cluster.as_current():
        mortal_cluster.wait_for_workers(2, timeout=120)
        yield mortal_cluster


@pytest.fixture(scope="session")
def client(cluster):
    with Client(cluster) as connected:
        yield connected
