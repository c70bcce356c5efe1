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


@pytest.fixture(scope="session")
def own_cluster():
    """A cluster whose workers may be killed, once asked for."""

    # A busy machine takes its time to start a worker again, and must not give it up; but
    # nobody answers at the address of a dead one, however long one waits.
    patience = {
        "distributed.deploy.lost-worker-timeout": "300s",
        "distributed.comm.timeouts.connect": "10s",
    }

    @contextmanager
    def start(n_workers=2):
        with (
            dask.config.set(patience),
            start_cluster(n_workers) as started,
            Client(started) as connected,
        ):
            yield connected

    return start


@pytest.fixture(scope="session")
def client(cluster):
    with Client(cluster) as connected:
        yield connected
