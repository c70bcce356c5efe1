import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.histories import offsets

from boostr._kernels.segments import measure_pieces

quarters = st.integers(-8, 40).map(lambda number: number / 4)


@st.composite
def individuals(draw):
    """Draw pieces, some of them empty or without a beginning, and disjoint windows."""
    begins = sorted(draw(st.lists(quarters, max_size=8)))
    if begins and draw(st.booleans()):
        begins[0] = -np.inf
    ends = draw(st.lists(quarters, max_size=6, unique=True))
    cuts = sorted(ends)[: len(ends) // 2 * 2]
    windows = list(zip(cuts[::2], cuts[1::2], strict=True))
    return begins, windows


def measure(*individuals):
    begins = np.array([b for own, _ in individuals for b in own], dtype=float)
    windows = np.array([w for _, own in individuals for w in own], dtype=float)
    windows = windows.reshape(-1, 2)
    out = np.full(len(begins), np.nan)
    measure_pieces(
        begins,
        offsets([len(own) for own, _ in individuals]),
        windows[:, 0].copy(),
        windows[:, 1].copy(),
        offsets([len(own) for _, own in individuals]),
        out,
    )
    return out


def expected(begins, windows):
    ends = [*begins, np.inf][1:]
    return [
        oracles.observed_length(begin, end, windows)
        for begin, end in zip(begins, ends, strict=True)
    ]


@given(individuals())
def test_a_piece_is_observed_where_it_meets_the_windows(individual):
    assert_allclose(measure(individual), np.array(expected(*individual)))


@given(individuals())
def test_lengths_are_those_counted_on_a_dense_grid(individual):
    begins, windows = individual
    grid = np.arange(-4.0, 14.0, 1 / 64) + 1 / 128
    is_observed = [oracles.is_at_risk(windows, time) for time in grid]
    owner = np.searchsorted(begins, grid) - 1
    counts = [np.sum(is_observed & (owner == piece)) / 64 for piece in range(len(begins))]
    assert_allclose(measure(individual), np.array(counts))


@given(st.lists(individuals(), max_size=4))
def test_individuals_do_not_touch_each_other(several):
    alone = [measure(one) for one in several]
    assert np.array_equal(measure(*several), np.concatenate([np.empty(0), *alone]))


@given(individuals())
def test_what_is_not_before_the_first_piece_is_all_measured(individual):
    begins, windows = individual
    first = begins[0] if begins else np.inf
    after = sum(max(stop - max(start, first), 0.0) for start, stop in windows)
    assert_allclose(measure(individual).sum(), after)


@pytest.mark.parametrize(
    ("windows", "lengths"),
    [
        ([(0.0, 10.0)], [1.0, 4.0, 5.0]),
        ([(2.0, 3.0)], [0.0, 1.0, 0.0]),
        ([(0.5, 1.5), (4.0, 6.0)], [0.5, 1.5, 1.0]),
        ([(0.0, 1.0), (5.0, 7.0)], [1.0, 0.0, 2.0]),
        ([(-3.0, -1.0)], [0.0, 0.0, 0.0]),
        ([], [0.0, 0.0, 0.0]),
    ],
)
def test_lengths_by_hand(windows, lengths):
    assert np.array_equal(measure(([0.0, 1.0, 5.0], windows)), lengths)
