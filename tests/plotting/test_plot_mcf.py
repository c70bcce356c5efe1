import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr.data import RecurrentEvents
from boostr.nonparametric import MeanCumulativeFunction
from boostr.plotting import plot_mcf

pytestmark = pytest.mark.plot


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def result():
    y = RecurrentEvents.from_lists([[1.0], [3.0, 8.0], [4.0]], end=[4.0, 10.0, 9.0])
    return MeanCumulativeFunction().fit(y)


def test_line_steps_from_zero_at_the_start_to_the_end_of_observation(result):
    line = plot_mcf(result).lines[0]
    assert line.get_drawstyle() == "steps-post"
    assert_allclose(line.get_xdata(), [0.0, 1.0, 3.0, 4.0, 8.0, 10.0])
    assert_allclose(line.get_ydata(), np.array([0, 2, 4, 6, 9, 9]) / 6.0)


def test_the_titles_of_the_axes_are_inside_the_figure_whatever_the_numbers():
    y = RecurrentEvents.from_lists([[1.0, 2.0], [3.0]], end=9.0, cost=[[1e9, 2e9], [1.0]])
    ax = plot_mcf(MeanCumulativeFunction().fit(y))
    ax.ticklabel_format(useOffset=False, style="plain", axis="y")
    ax.figure.canvas.draw()
    whole = ax.figure.bbox
    for axis in (ax.xaxis, ax.yaxis):
        box = axis.label.get_window_extent()
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1


def test_band_has_the_colour_of_the_line_and_covers_its_limits(result):
    ax = plot_mcf(result)
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert_allclose(
        band.get_facecolor()[0, :3], matplotlib.colors.to_rgb(ax.lines[0].get_color())
    )
    assert heights.max() == pytest.approx(result.upper_.max())


def test_band_can_be_left_out(result):
    assert not plot_mcf(result, show_band=False).collections


def test_two_curves_share_an_axes_and_a_legend(result):
    ax = plot_mcf(result, label="old")
    assert plot_mcf(result, ax=ax, label="new") is ax
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["old", "new"]
    assert ax.lines[0].get_color() != ax.lines[1].get_color()


def test_without_a_label_there_is_no_legend(result):
    assert plot_mcf(result).get_legend() is None


def test_axes_say_what_is_counted_and_in_which_unit(result):
    result.time_unit_ = "days"
    ax = plot_mcf(result)
    assert ax.get_xlabel() == "Time (days)"
    assert ax.get_ylabel() == "Mean cumulative number of events"


def test_costs_are_named_on_the_axis():
    y = RecurrentEvents.from_lists([[1.0]], end=[4.0], cost=[[20.0]])
    ax = plot_mcf(MeanCumulativeFunction().fit(y))
    assert ax.get_xlabel() == "Time"
    assert ax.get_ylabel() == "Mean cumulative cost of events"


def test_a_population_without_events_is_a_flat_line():
    y = RecurrentEvents.from_lists([[], []], end=[4.0, 5.0])
    line = plot_mcf(MeanCumulativeFunction().fit(y)).lines[0]
    assert_allclose(line.get_xdata(), [0.0, 5.0])
    assert_allclose(line.get_ydata(), 0.0)


def test_the_method_draws_the_same_curve(result):
    drawn = result.plot(line_kwargs={"color": "black"}).lines[0]
    assert drawn.get_color() == "black"
    assert_allclose(drawn.get_ydata(), plot_mcf(result).lines[0].get_ydata())
