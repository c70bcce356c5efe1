import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.plotting.results import make_effect, make_modes

from boostr.plotting import plot_sensor_effect

pytestmark = pytest.mark.plot


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def curve(ax, number=0):
    return ax.lines[number + 1]  # the first line is at zero


def test_line_is_the_mean_effect_on_top_of_a_line_at_zero():
    ax = plot_sensor_effect(make_effect())
    assert_allclose(ax.lines[0].get_ydata(), 0.0)
    assert_allclose(curve(ax).get_xdata(), [0.0, 1.0, 2.0, 3.0])
    assert_allclose(curve(ax).get_ydata(), [-1.0, 0.0, 1.0, 2.0])


def test_band_covers_its_limits_in_the_colour_of_the_line():
    ax = plot_sensor_effect(make_effect())
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (-2.0, 4.0)
    assert_allclose(band.get_facecolor()[0, :3], mpl.colors.to_rgb(curve(ax).get_color()))


def test_strip_shows_the_density_of_time_within_the_range():
    ax = plot_sensor_effect(make_effect())
    widths = np.array([bar.get_width() for bar in ax.patches])
    heights = np.array([bar.get_height() for bar in ax.patches])
    assert_allclose(widths, [0.5, 1.0, 1.0, 0.5])
    assert_allclose(widths * heights / (widths @ heights), [0.1, 0.4, 0.3, 0.2])


def test_curves_stay_above_the_strip():
    ax = plot_sensor_effect(make_effect())
    plot_sensor_effect(make_effect(mean=np.full(4, -9.0)), ax=ax, label="lower")
    low, high = ax.get_ylim()
    strip = max(bar.get_height() for bar in ax.patches)
    assert low + strip * (high - low) < -9.0
    assert high > 4.0


def test_axes_are_labelled_with_units():
    ax = plot_sensor_effect(make_effect())
    assert ax.get_xlabel() == "torque"
    assert ax.get_ylabel() == "Rate added (events per day)"


@pytest.mark.parametrize(
    ("unit", "name"),
    [(None, "unit of time"), ("km", "km"), ("cycles", "cycle"), ("min", "minute")],
)
def test_units_of_rates_are_in_the_singular(unit, name):
    ax = plot_sensor_effect(make_effect(time_unit=unit))
    assert ax.get_ylabel() == f"Rate added (events per {name})"


def test_categories_are_points_with_bars():
    ax = plot_sensor_effect(make_modes())
    assert curve(ax).get_linestyle() == "None"
    assert [text.get_text() for text in ax.get_xticklabels()] == [
        "idle",
        "run",
        "rush",
        "off",
    ]
    (bars,) = ax.collections
    assert_allclose(bars.get_segments()[0], [[0.0, -2.0], [0.0, 1.0]])
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.6] * 4)


def test_crowded_categories_are_slanted():
    names = np.array([f"a category with the number {n}" for n in range(4)], dtype=object)
    ax = plot_sensor_effect(make_effect(grid=names, is_categorical=True))
    assert all(text.get_rotation() == 40.0 for text in ax.get_xticklabels())


def test_long_names_are_cut():
    names = np.array(["x" * 50, "b", "c", 1.5], dtype=object)
    ax = plot_sensor_effect(make_effect(grid=names, is_categorical=True))
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert len(texts[0]) == 28
    assert texts[3] == "1.5"


def test_several_curves_differ_in_colour_and_share_the_strip():
    ax = plot_sensor_effect(make_effect(), label="north")
    assert plot_sensor_effect(make_effect(), ax=ax, label="south") is ax
    assert curve(ax).get_color() != curve(ax, 1).get_color()
    assert len(ax.patches) == 4
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["north", "south", "share of time"]


def test_band_and_strip_can_be_left_out():
    ax = plot_sensor_effect(make_effect(), show_band=False, show_shares=False)
    assert not ax.collections
    assert not ax.patches


def test_unknown_shares_have_no_strip():
    assert not plot_sensor_effect(make_effect(shares=None)).patches


def test_a_single_value_has_a_cell_of_its_own():
    one = {name: np.array([1.0]) for name in ("grid", "mean", "lower", "upper", "shares")}
    (bar,) = plot_sensor_effect(make_effect(**one)).patches
    assert (bar.get_x(), bar.get_width()) == (0.5, 1.0)


def test_options_reach_the_artists():
    ax = plot_sensor_effect(
        make_effect(), line_kwargs={"color": "black"}, band_kwargs={"alpha": 0.5}
    )
    assert curve(ax).get_color() == "black"
    assert ax.collections[0].get_alpha() == 0.5
