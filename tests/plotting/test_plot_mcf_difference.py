import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose, assert_array_equal

from boostr.data import RecurrentEvents
from boostr.datasets import load_cgd
from boostr.nonparametric import mcf_difference
from boostr.plotting import plot_mcf_difference

pytestmark = pytest.mark.plot


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def result():
    y = RecurrentEvents.from_lists([[1.0, 3.0], [4.0], [2.0], []], end=[5.0, 5.0, 5.0, 9.0])
    return mcf_difference(y, ["new", "new", "old", "old"], reference="old")


def step_of(ax):
    (line,) = (line for line in ax.lines if line.get_drawstyle() == "steps-post")
    return line


def test_line_steps_from_zero_to_the_end_that_both_groups_have(result):
    line = step_of(plot_mcf_difference(result))
    assert_array_equal(line.get_xdata(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert_allclose(line.get_ydata(), [0.0, 0.5, 0.0, 0.5, 1.0, 1.0])


def test_a_dashed_line_marks_no_difference(result):
    ax = plot_mcf_difference(result)
    (zero,) = (line for line in ax.lines if line.get_linestyle() == "--")
    assert_array_equal(zero.get_ydata(), [0.0, 0.0])


def test_band_has_the_colour_of_the_line_and_covers_its_limits(result):
    ax = plot_mcf_difference(result)
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert_allclose(band.get_facecolor()[0, :3], to_rgb(step_of(ax).get_color()))
    assert heights.max() == pytest.approx(result.upper.max())
    assert heights.min() == pytest.approx(result.lower.min())


def test_band_can_be_left_out(result):
    assert not plot_mcf_difference(result, show_band=False).collections


def test_axes_say_who_is_compared_and_in_which_unit():
    data = load_cgd()
    ax = plot_mcf_difference(
        mcf_difference(data.y, data.X["treatment"], confidence=0.9), band_kwargs={}
    )
    assert ax.get_xlabel() == "Time (days)"
    assert ax.get_ylabel() == "Mean cumulative number of events,\nrIFN-g minus placebo"
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["difference", "90% confidence"]


def test_costs_are_named_on_the_axis():
    y = RecurrentEvents.from_lists([[1.0]] * 4, end=4.0, cost=[[20.0]] * 4)
    ax = plot_mcf_difference(mcf_difference(y, [1, 1, 2, 2]))
    assert ax.get_ylabel() == "Mean cumulative cost of events,\n2 minus 1"


def test_it_draws_on_given_axes_with_given_options(result):
    ax = plt.subplots()[1]
    drawn = plot_mcf_difference(result, ax=ax, line_kwargs={"color": "black"})
    assert drawn is ax
    assert step_of(ax).get_color() == "black"
