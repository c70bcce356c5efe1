import hypothesis.strategies as st
import pytest
from hypothesis import given

from boostr._training.run import Progress


class Bar:
    """Notes what a bar is told."""

    def __init__(self, total, **_options):
        self.total, self.n, self.seen = total, 0.0, [0.0]

    def update(self, more):
        self.n += more
        self.seen.append(self.n)

    def set_description(self, *_text, **_options):
        pass

    set_postfix_str = set_description
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
