import threading
import time

import hypothesis.strategies as st
import numba
import numpy as np
import pytest
from hypothesis import given

from boostr._kernels.threads import run_in_parts, run_side_by_side

needs_threads = pytest.mark.skipif(
    numba.config.NUMBA_NUM_THREADS < 2, reason="one thread only"
)


@pytest.fixture(autouse=True)
def two_threads():
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    yield
    numba.set_num_threads(before)


@given(n=st.integers(0, 50), n_parts=st.integers(1, 9))
def test_every_number_is_in_one_part_and_parts_are_in_order(n, n_parts):
    parts = run_in_parts(n, n_parts, lambda own: list(range(n))[own])
    assert len(parts) == n_parts
    assert [number for part in parts for number in part] == list(range(n))


@needs_threads
def test_two_threads_work_at_the_same_time():
    meeting = threading.Barrier(2, timeout=10.0)  # breaks if one comes alone
    run_in_parts(2, 2, lambda own: meeting.wait())


@needs_threads
def test_what_the_caller_ignores_is_ignored_in_all_threads():
    meeting = threading.Barrier(2, timeout=10.0)

    def read(own):
        meeting.wait()
        return np.geterr()["over"]

    for wanted in ("ignore", "raise"):
        with np.errstate(over=wanted):
            assert run_in_parts(2, 2, read) == [wanted, wanted]


@needs_threads
def test_work_in_parts_can_be_done_in_parts():
    def work(own):
        return sum(run_in_parts(10, 5, lambda inner: inner.stop - inner.start))

    assert run_in_parts(6, 6, work) == [10] * 6


@needs_threads
@pytest.mark.parametrize("where", [0, 1])
def test_an_error_is_raised_and_ends_the_work(where):
    main, begun, failed = threading.get_ident(), [], threading.Event()

    def work(own):
        begun.append(own.start)
        if (threading.get_ident() == main) == (where == 0):
            failed.set()
            raise ValueError("no")
        failed.wait(10.0)
        time.sleep(0.05)

    with pytest.raises(ValueError, match="no"):
        run_in_parts(100, 100, work)
    n_begun = len(begun)
    time.sleep(0.1)
    assert len(begun) == n_begun <= 3


@pytest.mark.parametrize("is_worth_it", [False, True])
def test_two_calls_side_by_side_return_both_results(is_worth_it):
    given = {"is_worth_it": is_worth_it}
    assert run_side_by_side(lambda: 1, lambda: "two", **given) == (1, "two")
    for calls in ((int, lambda: int("no")), (lambda: int("no"), int)):
        with pytest.raises(ValueError, match="no"):
            run_side_by_side(*calls, **given)


@needs_threads
def test_two_calls_run_at_the_same_time_if_that_is_worth_it():
    meeting = threading.Barrier(2, timeout=10.0)

    def meet():
        meeting.wait()
        return threading.get_ident()

    one, other = run_side_by_side(meet, meet, is_worth_it=True)
    assert one == threading.get_ident() != other


def test_a_call_is_made_here_if_no_thread_is_free(monkeypatch):
    monkeypatch.setattr("boostr._kernels.threads.run_soon", lambda *call: None)
    found = run_side_by_side(int, threading.get_ident, is_worth_it=True)
    assert found == (0, threading.get_ident())
