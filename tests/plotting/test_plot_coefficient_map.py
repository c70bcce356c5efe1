import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.plotting.results import make_map

from boostr.plotting import plot_coefficient_map

pytestmark = pytest.mark.plot


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


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
