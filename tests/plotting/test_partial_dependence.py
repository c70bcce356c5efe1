import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from numpy.testing import assert_allclose

from boostr.exceptions import InvalidParameterError
from boostr.inspection import PartialDependence
from boostr.plotting import plot_partial_dependence

pytestmark = pytest.mark.plot


def make_result(**changes):
    facts = {
        "feature": "age",
        "grid": np.linspace(0.0, 9.0, 10),
        "times": np.array([30.0, 90.0]),
        "average": np.arange(20.0).reshape(10, 2),
        "individual": None,
        "ids": np.arange(4),
        "observed": np.array([0.0, 5.0, 9.0, np.nan]),
        "time_unit": "D",
    }
    return PartialDependence(**(facts | changes))


def make_sites(**changes):
    grid = np.array(["north", "south"], dtype=object)
    return make_result(grid=grid, average=np.arange(4.0).reshape(2, 2), **changes)


def names_of(labels):
    return [text.get_text() for text in labels]


def thin_lines(ax):
    found = [each for each in ax.collections if isinstance(each, LineCollection)]
    return [each for each in found if each.get_alpha() is not None]


def test_every_time_has_a_line_over_the_feature():
    result = make_result()
    ax = plot_partial_dependence(result)
    for place, line in enumerate(ax.lines):
        assert_allclose(line.get_xdata(), result.grid)
        assert_allclose(line.get_ydata(), result.average[:, place])
    assert names_of(ax.get_legend().get_texts()) == ["by 30 days", "by 90 days"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "Expected number of events")


def test_individuals_are_thin_lines_for_the_last_time():
    individual = np.arange(60.0).reshape(3, 10, 2)
    (lines,) = thin_lines(plot_partial_dependence(make_result(individual=individual)))
    heights = sorted(segment[0, 1] for segment in lines.get_segments())
    assert_allclose(heights, individual[:, 0, 1])


def test_of_many_individuals_some_are_drawn():
    individual = np.random.default_rng(0).normal(size=(500, 10, 2))
    (lines,) = thin_lines(plot_partial_dependence(make_result(individual=individual)))
    assert len(lines.get_segments()) == 200


def test_averages_alone_have_no_thin_lines():
    assert thin_lines(plot_partial_dependence(make_result())) == []


def test_deciles_are_marked_at_the_bottom():
    ax = plot_partial_dependence(make_result())
    (marks,) = ax.collections
    places = [segment[0, 0] for segment in marks.get_segments()]
    assert_allclose(places, np.quantile([0.0, 5.0, 9.0], np.arange(1, 10) / 10))


def test_categories_stand_at_their_names():
    ax = plot_partial_dependence(make_sites())
    assert names_of(ax.get_xticklabels()) == ["north", "south"]
    assert ax.lines[0].get_xdata().tolist() == [0.0, 1.0]


def test_curves_in_time_are_drawn_for_five_values():
    result = make_result()
    ax = plot_partial_dependence(result, over="time")
    assert len(ax.lines) == 5
    assert_allclose(ax.lines[-1].get_xdata(), result.times)
    assert_allclose(ax.lines[-1].get_ydata(), result.average[-1])
    assert ax.get_legend().get_title().get_text() == "age"
    assert ax.get_xlabel() == "Time (days)"


def test_curves_in_time_are_drawn_for_all_categories():
    ax = plot_partial_dependence(make_sites(time_unit=None), over="time")
    assert names_of(ax.get_legend().get_texts()) == ["north", "south"]


def test_other_axes_are_refused():
    with pytest.raises(InvalidParameterError, match="`over`"):
        plot_partial_dependence(make_result(), over="age")


def test_options_reach_the_lines():
    own = plt.subplots()[1]
    ax = plot_partial_dependence(make_result(), ax=own, line_kwargs={"linewidth": 5.0})
    assert ax is own
    assert {line.get_linewidth() for line in ax.lines} == {5.0}
