import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba
from numpy.testing import assert_allclose

from boostr.exceptions import InvalidParameterError
from boostr.inspection import Explanation
from boostr.plotting import plot_beeswarm, plot_reason_bars, plot_waterfall
from boostr.plotting.style import BLUE, GREY, VERMILION

pytestmark = pytest.mark.plot

VALUES = np.array([[1.0, -0.5, 0.25], [-2.0, 0.5, 0.25], [0.0, 0.5, -0.001]])


def make_explanation(**changes):
    facts = {
        "values": VALUES,
        "base": np.full(3, 4.0),
        "prediction": 4.0 + VALUES.sum(axis=1),
        "above_zero": np.zeros(3),
        "own_history": None,
        "features": ("age", "site"),
        "sensors": ("load",),
        "ids": np.arange(3),
        "data": np.array([[7.0, 0.0], [12345.0, 1.0], [np.nan, 1.0]]),
        "categories": (None, ["north", "south"]),
        "times": np.array([90.0]),
        "time_unit": "D",
    }
    return Explanation(**(facts | changes))


def names_of(labels):
    return [text.get_text() for text in labels]


def several_times():
    return make_explanation(
        values=VALUES[:, :, None], base=np.ones((3, 1)), prediction=np.ones((3, 1))
    )


def test_bars_lead_from_the_average_to_the_prediction():
    ax = plot_waterfall(make_explanation(), 0)
    lefts = np.array([bar.get_x() for bar in ax.patches])
    widths = np.array([bar.get_width() for bar in ax.patches])
    assert_allclose(widths, [1.0, -0.5, 0.25])
    assert_allclose(lefts[-1], 4.0)
    assert_allclose(lefts + widths, [4.75, lefts[0], lefts[1]])
    assert ax.get_xlabel() == "Expected events by 90 days"
    assert {"average 4", "expected 4.75"} <= set(names_of(ax.texts))


def test_labels_tell_the_values_of_features():
    assert names_of(plot_waterfall(make_explanation(), 0).get_yticklabels()) == [
        "age = 7",
        "site = north",
        "load",
    ]
    labels = names_of(plot_waterfall(make_explanation(), 1).get_yticklabels())
    assert labels == ["age = 12345", "site = south", "load"]


@pytest.mark.parametrize("i", [0, -3])
def test_categories_that_are_not_learned_are_named(i):
    explanation = make_explanation(unlearned={(0, 1): "rare (EIRE)"})
    labels = names_of(plot_waterfall(explanation, i).get_yticklabels())
    assert labels == ["age = 7", "site = rare (EIRE)", "load"]


def test_missing_values_are_called_unknown():
    values = np.ones((3, 3))
    labels = names_of(plot_waterfall(make_explanation(values=values), 2).get_yticklabels())
    assert labels[0] == "age unknown"


def test_more_events_have_another_colour_than_fewer():
    colours = [
        to_hex(bar.get_facecolor()) for bar in plot_waterfall(make_explanation()).patches
    ]
    assert colours == [VERMILION.lower(), BLUE.lower(), VERMILION.lower()]


def test_small_and_surplus_reasons_have_one_bar_together():
    ax = plot_waterfall(make_explanation(), 0, n_most=1)
    assert names_of(ax.get_yticklabels()) == ["age = 7", "2 other reasons"]
    assert_allclose(ax.patches[1].get_width(), -0.25)
    labels = names_of(plot_waterfall(make_explanation(), 2).get_yticklabels())
    assert labels == ["site = south", "1 other reason"]


def test_own_history_is_a_bar():
    explanation = make_explanation(own_history=np.full(3, 2.0))
    assert "own history" in names_of(plot_waterfall(explanation).get_yticklabels())


def test_individuals_without_reasons_have_nothing_to_show():
    ax = plot_waterfall(make_explanation(values=np.zeros((3, 3))))
    assert names_of(ax.get_yticklabels()) == ["nothing"]


@pytest.mark.parametrize("place", [3, -4, 0.5])
def test_waterfalls_are_of_one_of_the_individuals(place):
    with pytest.raises(InvalidParameterError, match="position among 3 individuals"):
        plot_waterfall(make_explanation(), place)


@pytest.mark.parametrize(
    ("start", "stop", "label"),
    [
        ([1, 1, 1], [5, 5, 5], "Expected events in (1, 5] days"),
        ([1, 2, 3], [5, 6, 7], "Expected events in the next 4 days"),
        ([1, 2, 3], [5, 9, 7], "Expected events in the window"),
    ],
)
def test_labels_tell_the_window(start, stop, label):
    windows = {"times": None, "start": np.array(start), "stop": np.array(stop)}
    assert plot_waterfall(make_explanation(**windows)).get_xlabel() == label


def test_bars_are_mean_sizes_the_largest_on_top():
    ax = plot_reason_bars(make_explanation(), n_most=2)
    assert names_of(ax.get_yticklabels()) == ["age", "site"]
    assert_allclose([bar.get_width() for bar in ax.patches], [1.0, 0.5])
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == "Mean change of expected events by 90 days"


def test_every_individual_is_a_point_on_every_row():
    explanation = make_explanation()
    ax = plot_beeswarm(explanation)
    assert names_of(ax.get_yticklabels()) == ["age", "site", "load"]
    points = np.concatenate([each.get_offsets() for each in ax.collections])
    rows = np.rint(points[:, 1]).astype(int)
    for row in range(3):
        assert_allclose(np.sort(points[rows == row, 0]), np.sort(VALUES[:, row]))


def test_colours_are_ranks_and_grey_is_without_order():
    ranked, *others = sorted(
        plot_beeswarm(make_explanation()).collections,
        key=lambda each: each.get_array() is None,
    )
    assert ranked.get_array().tolist() == [0.0, 1.0]
    assert {tuple(each.get_facecolor()[0]) for each in others} == {to_rgba(GREY)}
    # One machine of unknown age; three points each of a category and a sensor.
    assert sorted(len(each.get_offsets()) for each in others) == [1, 3, 3]


def test_points_of_one_place_are_stacked_within_their_row():
    values = np.zeros((30, 3))
    many = make_explanation(
        values=values,
        base=np.ones(30),
        prediction=np.ones(30),
        above_zero=np.zeros(30),
        data=np.zeros((30, 2)),
    )
    (points, *_) = plot_beeswarm(many).collections
    heights = points.get_offsets()[:, 1]
    assert len(np.unique(heights)) == 30
    assert np.ptp(heights) < 1.0


@pytest.mark.parametrize("plot", [plot_beeswarm, plot_reason_bars, plot_waterfall])
def test_plots_are_of_one_time(plot):
    with pytest.raises(InvalidParameterError, match=r"explanation\.at\(0\)"):
        plot(several_times())


@pytest.mark.parametrize("plot", [plot_beeswarm, plot_reason_bars, plot_waterfall])
def test_plots_go_where_they_are_told(plot):
    own = plt.subplots()[1]
    assert plot(make_explanation(time_unit=None), ax=own) is own
    assert "events by time 90" in own.get_xlabel()
