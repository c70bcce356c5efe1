import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidParameterError, TargetTypeError
from boostr.plotting import plot_timeline
from boostr.simulate import dataset_a

matplotlib.use("Agg")

pytestmark = pytest.mark.plot


@pytest.fixture
def y():
    return RecurrentEvents.from_lists(
        [[1.0, 3.0], [2.0, 2.0, 2.0], []], end=[5.0, 9.0, 4.0], ids=["A", "B", "C"]
    )


def names_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_lines_are_the_windows_sorted_by_their_ends(y):
    lines, _ = plot_timeline(y).collections
    assert_array_equal(
        lines.get_segments(), [[[0, 0], [4, 0]], [[0, 1], [5, 1]], [[0, 2], [9, 2]]]
    )


def test_dots_are_the_events_and_grow_with_ties(y):
    _, dots = plot_timeline(y).collections
    assert_array_equal(dots.get_offsets(), [[1.0, 1.0], [3.0, 1.0], [2.0, 2.0]])
    assert_allclose(dots.get_sizes() / dots.get_sizes()[0], [1.0, 1.0, 3.0])


def test_crosses_mark_terminal_events_at_the_ends(y):
    ax = plot_timeline(y.with_terminal([False, True, True]))
    *_, crosses = ax.collections
    assert_array_equal(crosses.get_offsets(), [[4.0, 0.0], [9.0, 2.0]])
    assert names_of(ax) == ["observed", "event", "terminal event"]


def test_nothing_is_marked_where_all_are_alive(y):
    ax = plot_timeline(y.with_terminal([False, False, False]))
    assert names_of(ax) == ["observed", "event"]


def test_events_of_intervals_are_named_as_such():
    table = pd.DataFrame({"id": ["A"], "start": [0.0], "stop": [9.0], "count": [2]})
    y = RecurrentEvents.from_counts(table, "id", "start", "stop", "count")
    assert names_of(plot_timeline(y)) == ["observed", "event (spread over its interval)"]


@pytest.mark.slow
def test_gaps_are_left_open():
    table = pd.DataFrame(
        [("A", 0, 2, 1), ("A", 6, 8, 0)], columns=["id", "start", "stop", "event"]
    )
    y = RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")
    lines, _ = plot_timeline(y).collections
    assert_array_equal(lines.get_segments(), [[[0, 0], [2, 0]], [[6, 0], [8, 0]]])


def test_few_individuals_bear_their_ids(y):
    ax = plot_timeline(y)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["C", "A", "B"]
    assert ax.get_ylabel() == "Individual"


def test_the_axis_is_named_like_the_id_column():
    table = pd.DataFrame({"pump": ["P1", "P2"], "day": [3.0, 4.0], "failed": [0, 0]})
    y = RecurrentEvents.from_long(table, "pump", "day", "failed", unit="D")
    ax = plot_timeline(y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Time (days)", "Pump")


def test_many_individuals_are_not_named():
    ax = plot_timeline(dataset_a(n=100).y)
    assert not ax.get_yticklabels()
    assert ax.get_ylabel() == "Individuals by end of follow-up"


def test_more_are_thinned_evenly_and_the_axis_says_so():
    y = dataset_a(n=3000, end=(50.0, 100.0)).y
    ax = plot_timeline(y, max_individuals=120)
    ends = np.array([line[1, 0] for line in ax.collections[0].get_segments()])
    assert ends.size == 120
    assert (ends[0], ends[-1]) == (y.end.min(), y.end.max())
    assert_allclose(ends, np.quantile(y.end, np.linspace(0, 1, 120)), atol=0.1)
    assert ax.get_ylabel().endswith("(120 of 3,000 shown)")


def test_dots_stay_visible_and_lines_thin_when_there_are_many():
    lines, dots = plot_timeline(dataset_a(n=200).y).collections
    assert dots.get_sizes().min() > 2.5**2
    assert lines.get_linewidths()[0] < 1.2


def test_dots_and_lines_differ_in_lightness_and_are_explained(y):
    ax = plot_timeline(y)
    lines, dots = ax.collections
    grey, colour = lines.get_edgecolor()[0, :3], dots.get_facecolor()[0, :3]
    assert np.dot([0.3, 0.59, 0.11], grey - colour) > 0.2
    assert names_of(ax) == ["observed", "event"]


def test_without_events_there_are_only_lines():
    ax = plot_timeline(RecurrentEvents.from_lists([[], []], end=[3.0, 4.0]))
    assert len(ax.collections[0].get_segments()) == 2
    assert names_of(ax) == ["observed"]


def test_it_draws_on_given_axes_with_given_options(y):
    ax = plt.subplots()[1]
    drawn = plot_timeline(
        y, ax=ax, line_kwargs={"linewidth": 3.0}, event_kwargs={"color": "black"}
    )
    lines, dots = drawn.collections
    assert drawn is ax
    assert lines.get_linewidths()[0] == 3.0
    assert_allclose(dots.get_facecolor()[0, :3], 0.0)


@pytest.mark.parametrize("wrong", [0, 2.5, True, "all"])
def test_an_impossible_number_of_individuals_is_refused(y, wrong):
    with pytest.raises(InvalidParameterError, match="`max_individuals` must be a whole"):
        plot_timeline(y, max_individuals=wrong)


def test_a_target_of_another_type_is_refused():
    with pytest.raises(TargetTypeError, match="but it is a list"):
        plot_timeline([[1.0]])
