import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.plotting.results import make_map

from boostr.exceptions import InvalidParameterError
from boostr.inspection import FeatureInteraction
from boostr.plotting import plot_coefficient_map, plot_feature_map, plot_interaction

pytestmark = pytest.mark.plot


def bar_label(ax):
    return ax.figure.axes[-1].get_ylabel()


def test_cells_lie_around_the_values():
    ax = plot_coefficient_map(make_map())
    (mesh,) = ax.collections
    assert_allclose(mesh.get_array(), make_map().values)
    assert_allclose(mesh.get_coordinates()[0, :, 0], [-0.5, 0.5, 1.5, 2.5])
    assert_allclose(mesh.get_coordinates()[:, 0, 1], [4.0, 6.0, 8.0])


def test_axes_have_the_names_of_the_features():
    ax = plot_coefficient_map(make_map())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("longitude", "latitude")


@pytest.mark.parametrize(
    ("facts", "label"),
    [
        ({}, "Spread of the rate added by torque\n(events per day)"),
        (
            {"kind": "effect", "at": 0.5},
            "Rate added by torque at 0.5\n(events per day)",
        ),
        ({"kind": "baseline"}, "Baseline rate (events per day)"),
        ({"kind": "expected"}, "Expected number of events by 90 days"),
        (
            {"kind": "expected", "time_unit": None},
            "Expected number of events by time 90",
        ),
    ],
)
def test_colours_are_explained_with_units(facts, label):
    assert bar_label(plot_coefficient_map(make_map(**facts))) == label


def test_effects_have_colours_around_zero():
    ax = plot_coefficient_map(make_map(kind="effect", at=0.5))
    assert ax.collections[0].get_clim() == (-6.0, 6.0)


def test_a_sensor_without_effect_can_be_drawn():
    values = np.zeros((2, 3))
    ax = plot_coefficient_map(make_map(kind="effect", at=0.5, values=values))
    assert ax.collections[0].get_clim() == (-1.0, 1.0)


def test_categories_are_named_on_the_axis():
    grid = np.array(["east", "west", "north"], dtype=object)
    ax = plot_coefficient_map(make_map(x_grid=grid))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["east", "west", "north"]
    assert_allclose(ax.get_xlim(), (-0.5, 2.5))


def test_the_colour_bar_can_be_left_out():
    ax = plt.subplots()[1]
    assert plot_coefficient_map(make_map(), ax=ax, show_colorbar=False) is ax
    assert ax.figure.axes == [ax]


def test_options_reach_the_mesh():
    ax = plot_coefficient_map(make_map(), mesh_kwargs={"cmap": "cividis"})
    assert ax.collections[0].get_cmap().name == "cividis"


def make_interaction(**changes):
    facts = {
        "feature_x": "age",
        "feature_y": "site",
        "x_grid": np.array([0.0, 1.0, 2.0]),
        "y_grid": np.array(["north", "south"], dtype=object),
        "times": np.array([30.0, 90.0]),
        "values": np.arange(12.0).reshape(2, 2, 3),
        "time_unit": "D",
    }
    return FeatureInteraction(**(facts | changes))


def names_of(labels):
    return [text.get_text() for text in labels]


def test_every_time_has_a_map():
    result = make_interaction()
    panels = plot_interaction(result).child_axes
    assert [panel.get_title() for panel in panels] == ["By 30 days", "By 90 days"]
    for panel, values in zip(panels, result.values, strict=True):
        assert_allclose(panel.collections[0].get_array(), values)
        assert panel.collections[0].get_clim() == (values.min(), values.max())
    assert names_of(panels[0].get_yticklabels()) == ["north", "south"]
    assert panels[0].get_xlabel() == "age"


def test_maps_can_share_a_scale():
    ax = plot_interaction(make_interaction(), same_scale=True)
    assert {panel.collections[0].get_clim() for panel in ax.child_axes} == {(0.0, 11.0)}
    (bar,) = ax.child_axes[-1].child_axes
    assert bar.get_ylabel() == "Expected number of events"


def test_one_time_needs_no_panels():
    own = plt.subplots()[1]
    values = np.arange(6.0).reshape(1, 2, 3)
    result = make_interaction(times=np.array([5.0]), values=values, time_unit=None)
    ax = plot_interaction(result, ax=own, mesh_kwargs={"cmap": "cividis"})
    assert ax is own
    assert ax.get_title() == "By time 5"
    assert ax.collections[0].get_cmap().name == "cividis"


@pytest.mark.parametrize("is_grid", [False, True])
def test_truth_and_estimate_have_the_same_colours(is_grid):
    true = np.array([[1.0, 2.0], [3.0, 4.0]]) if is_grid else np.array([1.0, 4.0])
    x = y = np.array([0.0, 1.0])
    labels = ("longitude", "latitude", "Events a year")
    ax = plot_feature_map(x, y, true, true - 1.0, labels=labels)
    panels = ax.child_axes
    assert [panel.get_title() for panel in panels] == ["True", "Estimated"]
    assert {panel.collections[0].get_clim() for panel in panels} == {(0.0, 4.0)}
    assert_allclose(panels[1].collections[0].get_array(), true - 1.0)
    assert (panels[0].get_xlabel(), panels[0].get_ylabel()) == labels[:2]
    assert panels[1].child_axes[0].get_ylabel() == labels[2]


def test_maps_that_do_not_fit_the_features_are_refused():
    with pytest.raises(InvalidParameterError, match="one value per individual"):
        plot_feature_map([0.0, 1.0, 2.0], [0.0, 1.0], np.ones((3, 2)), np.ones((3, 2)))
