import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr.exceptions import InvalidParameterError
from boostr.inspection import FeatureImportance, FeatureInteraction
from boostr.plotting import plot_feature_map, plot_importance, plot_interaction

pytestmark = pytest.mark.plot


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def make_importance():
    shares = np.array([0.2, 0.7, 0.1])
    return FeatureImportance(("age", "depth", "site"), shares, 10 * shares, 1 + shares)


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


def test_the_most_important_feature_is_on_top():
    ax = plot_importance(make_importance(), n_most=2)
    assert names_of(ax.get_yticklabels()) == ["depth", "age"]
    assert_allclose([bar.get_width() for bar in ax.patches], [0.7, 0.2])
    assert ax.yaxis_inverted()


@pytest.mark.parametrize(
    ("measure", "label", "largest"),
    [
        ("importance", "Share of the gain of all splits", 0.7),
        ("gain", "Gain of all splits", 7.0),
        ("n_splits", "Number of splits", 1.7),
    ],
)
def test_bars_show_what_was_asked_for(measure, label, largest):
    ax = plot_importance(make_importance(), measure=measure)
    assert ax.get_xlabel() == label
    assert_allclose(ax.patches[0].get_width(), largest)


def test_unknown_measures_are_refused():
    with pytest.raises(InvalidParameterError, match="`measure`"):
        plot_importance(make_importance(), measure="weight")


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
