import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.plotting.results import make_effect, make_modes

from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidParameterError, InvalidSensorsError
from boostr.plotting import plot_sensor_effect, plot_sensor_path

pytestmark = pytest.mark.plot


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


@pytest.fixture
def paths():
    return Trajectories.from_flat(
        [1.0, 4.0, 0.0],
        [0, 2, 3],
        [[5.0, 6.0, 7.0], [0.0, 1.0, 1.0]],
        ["torque", "mode"],
        categories={"mode": ["idle", "run"]},
        ids=["W1", "W2"],
    )


@pytest.fixture
def histories():
    return RecurrentEvents.from_lists(
        [[2.0], [3.0, 8.0]], end=[9.0, 10.0], ids=["W2", "W1"]
    )


def test_every_sensor_has_a_panel_with_steps(paths):
    panels = plot_sensor_path(paths).child_axes
    assert [panel.get_title(loc="left") for panel in panels] == ["torque", "mode"]
    line = panels[0].lines[0]
    assert line.get_drawstyle() == "steps-post"
    assert_allclose(line.get_xdata(), [1.0, 4.0, 4.0])
    assert_allclose(line.get_ydata(), [5.0, 6.0, 6.0])


def test_the_last_value_holds_to_the_end_of_observation(paths, histories):
    panel = plot_sensor_path(paths, y=histories).child_axes[0]
    assert_allclose(panel.lines[0].get_xdata()[-1], 10.0)
    assert panel.get_xlim() == (0.0, 10.0)


def test_first_values_that_hold_before_are_drawn_from_the_start(paths):
    ax = plot_sensor_path(paths._with(before="first"), sensors="torque")
    assert_allclose(ax.lines[0].get_xdata(), [0.0, 4.0, 4.0])


def test_one_sensor_is_drawn_on_the_axes_itself(paths):
    ax = plt.subplots()[1]
    assert plot_sensor_path(paths, 1, sensors="torque", ax=ax) is ax
    assert not ax.child_axes
    assert_allclose(ax.lines[0].get_ydata(), 7.0)


def test_categories_are_named(paths):
    panel = plot_sensor_path(paths).child_axes[1]
    assert [text.get_text() for text in panel.get_yticklabels()] == ["idle", "run"]


def test_events_are_those_of_the_same_id_in_all_panels(paths, histories):
    for panel in plot_sensor_path(paths, y=histories).child_axes:
        (marks,) = panel.collections
        assert_allclose([each[0, 0] for each in marks.get_segments()], [3.0, 8.0])


def test_without_ids_events_are_matched_by_position(paths):
    y = RecurrentEvents.from_lists([[], [1.0]], end=[4.0, 5.0])
    ax = plot_sensor_path(paths, 1, y=y, sensors="torque")
    assert_allclose([each[0, 0] for each in ax.collections[0].get_segments()], [1.0])


def test_time_that_is_not_observed_is_shaded(paths):
    y = RecurrentEvents.from_lists([[], [3.0]], start=[0.0, 1.0], end=[4.0, 5.0])
    late = paths._with(times=np.array([1.0, 4.0, 7.0]))
    ax = plot_sensor_path(late, 1, y=y, sensors="torque")
    assert [(gap.get_x(), gap.get_width()) for gap in ax.patches] == [(0, 1), (5, 2)]
    assert ax.texts[0].get_text() == "individual W2: 1 event (dashed), grey: not observed"


def test_title_names_the_individual(paths):
    ax = plot_sensor_path(paths._with(id_name="well"), 1, sensors="torque")
    assert ax.texts[0].get_text() == "well W2"


def test_intensity_has_a_panel_below(paths):
    ax = plot_sensor_path(paths, times=[3.0, 1.0], intensity=[0.3, 0.1])
    panel = ax.child_axes[-1]
    assert panel.get_title(loc="left") == "predicted intensity (events per unit of time)"
    assert_allclose(panel.lines[0].get_xdata(), [1.0, 3.0])
    assert_allclose(panel.lines[0].get_ydata(), [0.1, 0.3])
    assert panel.get_ylim()[0] == 0.0


def test_time_is_labelled_with_its_unit(paths):
    panels = plot_sensor_path(paths._with(time_unit="h")).child_axes
    assert panels[-1].get_xlabel() == "Time (hours)"
    assert panels[0].get_xlabel() == ""


def test_an_individual_without_samples_has_an_empty_panel(paths):
    nobody = Trajectories.from_flat([1.0], [0, 1, 1], [[5.0]], ["torque"])
    ax = plot_sensor_path(nobody, 1)
    assert not ax.lines
    assert ax.get_xlim() == (0.0, 1.0)


def test_options_reach_the_lines(paths):
    ax = plot_sensor_path(paths, sensors="torque", line_kwargs={"color": "black"})
    assert ax.lines[0].get_color() == "black"


def test_unknown_sensors_are_named(paths):
    with pytest.raises(InvalidParameterError, match=r"'load'.*\n\n.*'torque', 'mode'"):
        plot_sensor_path(paths, sensors="load")


def test_there_must_be_something_to_draw(histories):
    with pytest.raises(InvalidSensorsError, match="there is none"):
        plot_sensor_path(Trajectories.from_events(histories))


def test_a_missing_history_is_named(paths, histories):
    with pytest.raises(InvalidSensorsError, match="W1"):
        plot_sensor_path(paths, y=histories[:1])


def test_histories_without_ids_must_be_as_many(paths):
    y = RecurrentEvents.from_lists([[]], end=[4.0])
    with pytest.raises(InvalidSensorsError, match="1 individuals and the sensors of 2"):
        plot_sensor_path(paths, y=y)


def test_an_intensity_needs_times(paths):
    with pytest.raises(InvalidParameterError, match="one is missing"):
        plot_sensor_path(paths, intensity=[0.1])


def test_an_intensity_is_of_one_individual(paths):
    with pytest.raises(InvalidParameterError, match=r"\(2,\) and \(1, 2\)"):
        plot_sensor_path(paths, times=[1.0, 2.0], intensity=[[0.1, 0.2]])
