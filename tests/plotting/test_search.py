import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.exceptions import InvalidParameterError
from boostr.plotting import plot_design, plot_setting_boxes

pytestmark = pytest.mark.plot

DESIGN = np.array([[100.0, 20.0], [300.0, 150.0], [500.0, 80.0]])


def make_results(design=DESIGN, names=("gamma1", "gamma2"), **more):
    return [{"params": dict(zip(names, row, strict=True)), **more} for row in design]


def test_settings_lie_where_their_values_are():
    ax = plot_design(make_results())
    assert_allclose(ax.collections[0].get_offsets(), DESIGN)


def test_settings_are_numbered_in_their_order():
    ax = plot_design(make_results())
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3"]


def test_marked_settings_have_their_own_colour():
    colours = plot_design(make_results(), marked=[1]).collections[0].get_facecolors()
    assert_array_equal(colours[0], colours[2])
    assert (colours[0] != colours[1]).any()


def test_several_parameters_have_a_panel_per_pair():
    rows = [(1.0, 0.001, "power", 3), (2.0, 0.5, "step", 5), (3.0, 0.1, "power", 4)]
    names = ("gamma1", "learning_rate", "leaf", "max_leaf_nodes")
    ax = plot_design(make_results(rows, names))
    labels = {(panel.get_xlabel(), panel.get_ylabel()) for panel in ax.child_axes}
    assert len(ax.child_axes) == 6
    assert ("gamma1", "max_leaf_nodes") in labels
    assert ax.child_axes[0].get_yscale() == "log"
    words = [text.get_text() for text in ax.child_axes[-1].get_xticklabels()]
    assert words == ["power", "step"]


def test_parameters_that_do_not_vary_are_left_out():
    rows = [(1.0, 4, 2.0), (2.0, 4, 1.0)]
    ax = plot_design(make_results(rows, ("gamma1", "depth", "gamma2")))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("gamma1", "gamma2")


@pytest.mark.parametrize("parameters", [["gamma1"], ["gamma1", "speed"]])
def test_a_design_needs_two_known_parameters(parameters):
    with pytest.raises(InvalidParameterError, match="settings have gamma1, gamma2"):
        plot_design(make_results(), parameters=parameters)


def test_many_settings_are_not_numbered():
    design = np.random.default_rng(0).random((60, 2))
    assert not plot_design(make_results(design)).texts


def test_boxes_have_the_medians_of_their_settings():
    counts = [[1, 2, 2, 3], [4, 5, 6, 9]]
    ax = plot_setting_boxes([{"leaf_counts": each} for each in counts])
    medians = [line.get_ydata()[0] for line in ax.lines if line.get_linewidth() == 2.0]
    assert_allclose(medians, [np.median(each) for each in counts])


def test_areas_of_dots_are_shares_of_whole_numbers():
    ax = plot_setting_boxes([{"leaf_counts": [1, 1, 1, 4]}])
    dots = ax.collections[0]
    assert_array_equal(dots.get_offsets(), [[1, 1], [1, 4]])
    assert_allclose(dots.get_sizes()[0], 3.0 * dots.get_sizes()[1])


def test_scores_are_boxes_without_dots():
    ax = plot_setting_boxes([{"scores": [0.5, 0.7]}], measure="scores", label="C-index")
    assert not ax.collections
    assert ax.get_ylabel() == "C-index"


def test_an_unknown_measure_is_refused():
    with pytest.raises(InvalidParameterError, match="'speed'"):
        plot_setting_boxes([{"leaf_counts": [1]}], measure="speed")


def test_settings_without_numbers_are_refused():
    with pytest.raises(InvalidParameterError, match="some leaf_counts"):
        plot_setting_boxes([{"leaf_counts": []}])
