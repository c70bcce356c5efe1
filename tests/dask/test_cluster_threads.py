import threading
import time

import numba
import pytest

from boostr.dask._cluster import choose_one_per_host, compile_once, use_worker_threads


def count_in_worker():
    with use_worker_threads() as n_threads:
        return n_threads, numba.get_num_threads()


def list_kernels():
    """Kernels that a shard calls, and in how many versions they are compiled here."""
    from boostr._kernels.binning import partition_members
    from boostr._kernels.histogram import accumulate_few

    kernels = [accumulate_few, partition_members]
    return [len(kernel.signatures) for kernel in kernels]


def test_a_worker_uses_its_own_threads_and_no_others(client):
    asked = [
        client.submit(count_in_worker, workers=[worker], pure=False)
        for worker in client.nthreads()
    ]
    assert client.gather(asked) == [(1, 1), (1, 1)]


def test_kernels_have_one_caller_at_a_time():
    inside, most = 0, 0

    def work():
        nonlocal inside, most
        with use_worker_threads():
            inside += 1
            most = max(most, inside)
            time.sleep(0.01)
            inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_the_number_of_threads_is_given_back():
    before = numba.get_num_threads()
    with use_worker_threads():
        pass
    assert numba.get_num_threads() == before


def test_one_worker_compiles_for_its_machine():
    workers = ["tcp://a:2", "tcp://a:1", "tcp://b:7", "tcp://10.0.0.1:3"]
    assert choose_one_per_host(workers) == ["tcp://10.0.0.1:3", "tcp://a:1", "tcp://b:7"]


def test_a_worker_that_is_gone_is_not_waited_for(client, monkeypatch):
    monkeypatch.setattr("boostr.dask._cluster._warm_up", do_nothing)
    monkeypatch.setattr("boostr.dask._cluster._GLANCE", 0.1)
    gone = ["tcp://127.0.0.1:1"]
    monkeypatch.setattr("boostr.dask._cluster.choose_one_per_host", lambda workers: gone)
    asked = []
    waiting = threading.Thread(
        target=lambda: asked.append(compile_once(client, has_sensors=False)), daemon=True
    )
    waiting.start()
    waiting.join(20.0)
    assert asked == [gone]


def test_kernels_are_not_waited_for_for_ever(client, monkeypatch):
    monkeypatch.setattr("boostr.dask._cluster._warm_up", take_long)
    monkeypatch.setattr("boostr.dask._cluster._GLANCE", 0.05)
    monkeypatch.setattr("boostr.dask._cluster._PATIENCE", 0.2)
    before = time.monotonic()
    compile_once(client, has_sensors=False)
    assert time.monotonic() - before < 2.0


def do_nothing(has_sensors):
    return None


def take_long(has_sensors):
    time.sleep(3.0)


@pytest.mark.slow
def test_kernels_are_there_after_compiling(client):
    asked = compile_once(client, has_sensors=False)
    assert len(asked) == 1
    assert min(client.run(list_kernels, workers=asked)[asked[0]]) > 0
