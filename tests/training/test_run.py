import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from boostr._training.run import Progress


class Bar:
    """Notes what a bar is told."""

    def __init__(self, total, **_options):
        self.total, self.n, self.seen, self.notes = total, 0.0, [0.0], []

    def update(self, more):
        self.n += more
        self.seen.append(self.n)

    def set_description(self, *_text, **_options):
        pass

    def set_postfix_str(self, note, **_options):
        self.notes.append(note)

    def format_interval(self, seconds):
        return f"{seconds:.6f}"

    close = set_description


def show(monkeypatch, runs, n_runs, n_rounds=20):
    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    with Progress(is_shown=True, n_runs=n_runs, n_rounds=n_rounds) as progress:
        for number, length in enumerate(runs):
            for n_trees in range(1, length + 1):
                progress.report(f"run {number}", n_trees, 1.0)
    return progress._bar


@given(
    runs=st.lists(st.integers(1, 20), min_size=1, max_size=30), n_runs=st.integers(1, 12)
)
def test_the_bar_never_goes_back_and_its_total_stays(runs, n_runs):
    with pytest.MonkeyPatch.context() as patch:
        bar = show(patch, runs, n_runs)
    assert bar.total == 100.0
    assert bar.seen == sorted(bar.seen)
    assert max(bar.seen[:-1]) <= 95.0
    assert bar.n == 100.0


def test_one_run_fills_the_bar_evenly(monkeypatch):
    bar = show(monkeypatch, [20], n_runs=1)
    assert bar.seen[10] == pytest.approx(47.5)
    assert bar.seen[20] == pytest.approx(95.0)


def test_as_many_runs_as_usual_fill_the_bar(monkeypatch):
    bar = show(monkeypatch, [20] * 4, n_runs=4)
    assert bar.seen[40] == pytest.approx(47.5)
    assert bar.seen[-2] > 75.0


def test_the_time_left_is_told_by_trees_and_not_by_what_came_before_them(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("boostr._training.run.time.monotonic", lambda: now[0])
    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    with Progress(is_shown=True, n_runs=1, n_rounds=1000) as progress:
        progress.announce("statistics")
        now[0] = 500.0  # kernels are compiled
        for n_trees in range(1001):
            progress.report("run", n_trees, float("nan"))
            now[0] += 0.1
    bar = progress._bar
    assert set(bar.notes[:20]) == {""}  # too few trees to tell
    for n_trees in (50, 300, 1000):
        (left,) = re.fullmatch(r"([0-9.]+) left", bar.notes[n_trees]).groups()
        share = 0.95 * n_trees / 1000
        assert float(left) == pytest.approx(0.1 * n_trees * (1.0 - share) / share)
    assert bar.notes[-1] == ""  # nothing is left
