"""Threads that share the steps of a kernel do every part once, one step after the other."""

import hypothesis.strategies as st
import numba
import numpy as np
import pytest
from hypothesis import given

from boostr._kernels import compiling
from boostr._kernels._jit import inner_kernel, kernel
from boostr._kernels.team import (
    Team,
    begin_step,
    can_share,
    cut,
    dismiss,
    next_part,
    read_step,
    run_together,
)

needs_compiler = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="threads share compiled kernels only"
)


@inner_kernel
def do_step(place, n_parts, totals, counts, team):
    """Add to every part what the last step has left in all of its parts."""
    part = begin_step(team, 0, place, n_parts)
    while part >= 0:
        _, place, n_parts = read_step(team)
        counts[place, part] += 1
        before = 0
        if place > 0:
            for other in range(totals.shape[1]):
                before += totals[place - 1, other]
        totals[place, part] = (before + part + 1) % 1_000_003
        part = next_part(team)


@kernel
def do_steps(sizes, totals, counts, team):
    """Do so many parts of every step; return how many steps there were."""
    if team.number > 0:
        do_step(0, 0, totals, counts, team)
        return -1
    for place in range(sizes.shape[0]):
        do_step(place, sizes[place], totals, counts, team)
    dismiss(team)
    return sizes.shape[0]


def do_steps_slowly(sizes):
    totals, before = np.zeros((len(sizes), max(sizes)), dtype=np.int64), 0
    for place, n_parts in enumerate(sizes):
        totals[place, :n_parts] = (before + np.arange(1, n_parts + 1)) % 1_000_003
        before = int(totals[place].sum())
    return totals


def check_steps(sizes, run):
    shape = len(sizes), max(sizes)
    totals, counts = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    assert run(np.array(sizes, dtype=np.int64), totals, counts) == len(sizes)
    expected = np.arange(max(sizes)) < np.array(sizes)[:, None]
    assert np.array_equal(counts, expected)
    assert np.array_equal(totals, do_steps_slowly(sizes))


@needs_compiler
@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=60),
    n_threads=st.sampled_from([2, 3, 5]),
)
def test_every_part_is_done_once_and_after_the_step_before(sizes, n_threads):
    check_steps(sizes, lambda *given: run_together(n_threads, do_steps, *given))


@needs_compiler
def test_many_steps_in_a_row_stay_in_order(rng):
    sizes = rng.integers(1, 9, size=20_000).tolist()
    check_steps(sizes, lambda *given: run_together(2, do_steps, *given))


@inner_kernel
def mix(number, n_rounds):
    """Return a number that takes a while."""
    for _ in range(n_rounds):
        number = (number * 1_103_515_245 + 12_345) % 2_147_483_648
    return number


@inner_kernel
def do_long_step(place, n_parts, numbers, n_rounds, team):
    """Change the numbers of all parts, one of which takes far longer than the others."""
    part = begin_step(team, 0, place, n_parts)
    while part >= 0:
        _, place, _ = read_step(team)
        slow = place % numbers.shape[0]
        numbers[part] = mix(numbers[part] + place, n_rounds if part == slow else 1)
        part = next_part(team)


@kernel
def do_long_steps(n_steps, numbers, n_rounds, team):
    """Do steps, with a while between them in which helpers have nothing to do."""
    if team.number > 0:
        do_long_step(0, 0, numbers, n_rounds, team)
        return 0
    total = 0
    for place in range(n_steps):
        do_long_step(place, numbers.shape[0], numbers, n_rounds, team)
        total += mix(place, n_rounds)
    dismiss(team)
    return total


@needs_compiler
@pytest.mark.parametrize("n_threads", [2, 4])
def test_threads_that_have_to_wait_for_long_go_on_in_order(n_threads):
    n_rounds = 300_000  # a millisecond or more, after which a thread that waits sleeps
    alone, together = np.arange(n_threads), np.arange(n_threads)
    expected = do_long_steps(12, alone, n_rounds, Team.of(1))
    assert run_together(n_threads, do_long_steps, 12, together, n_rounds) == expected
    assert np.array_equal(together, alone)


@needs_compiler
def test_a_team_whose_helpers_never_come_does_all_itself():
    check_steps([3, 1, 4], lambda *given: do_steps(*given, Team.of(3)))


@needs_compiler
def test_a_helper_that_comes_late_does_nothing():
    team = Team.of(2)
    check_steps([2, 2], lambda *given: do_steps(*given, team))
    totals, counts = np.zeros((2, 2), dtype=np.int64), np.zeros((2, 2), dtype=np.int64)
    helper = team._replace(number=1)
    assert do_steps(np.array([2, 2]), totals, counts, helper) == -1
    assert not counts.any()


def test_an_error_is_raised_by_the_first_thread():
    def refuse(number, team):
        raise ValueError(f"{number} for {team.n_threads} threads")

    with pytest.raises(ValueError, match="7 for 2 threads"):
        run_together(2, refuse, 7)


@needs_compiler
def test_nobody_waits_for_a_kernel_that_another_process_compiles(monkeypatch):
    assert can_share(2, do_steps)
    assert not can_share(1, do_steps)
    monkeypatch.setattr(compiling, "_compiling", [lambda: True])
    monkeypatch.setattr(compiling, "_found", set())
    monkeypatch.setattr(compiling, "is_missing", lambda kernel: True)
    assert not can_share(2, do_steps)


@given(
    begin=st.integers(0, 50),
    size=st.integers(0, 50),
    n_parts=st.integers(1, 9),
)
def test_parts_of_a_range_follow_each_other(begin, size, n_parts):
    find = getattr(cut, "py_func", cut)  # only kernels call it
    parts = [find(begin, begin + size, part, n_parts) for part in range(n_parts)]
    numbers = [number for part in parts for number in range(*part)]
    assert numbers == list(range(begin, begin + size))
