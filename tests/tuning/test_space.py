import numpy as np
import pytest

from boostr import BoostR
from boostr.basis import PowerBasis
from boostr.exceptions import InvalidParameterError
from boostr.tuning import default_space
from boostr.tuning._space import draw_settings


def draw(space, n_points=12, **params):
    return draw_settings(space, n_points, BoostR(**params), seed=0)


def test_values_lie_in_their_ranges():
    settings = draw({"gamma1": (0, 600), "gamma2": (0.1, 30.0, "log")})
    assert all(0.0 < one["gamma1"] < 600.0 for one in settings)
    assert sum(one["gamma2"] < np.sqrt(3.0) for one in settings) == 6


def test_every_whole_number_of_a_range_comes_equally_often():
    settings = draw({"max_leaf_nodes": (2, 5), "gamma1": (0.0, 1.0)})
    sizes = [one["max_leaf_nodes"] for one in settings]
    assert sorted(sizes) == [2] * 3 + [3] * 3 + [4] * 3 + [5] * 3
    assert all(isinstance(size, int) for size in sizes)


def test_every_choice_comes_equally_often():
    basis = PowerBasis((1.0,))
    settings = draw({"leaf": ["step", basis, "spline"], "gamma1": (0.0, 1.0)})
    leaves = [one["leaf"] for one in settings]
    assert [leaves.count(leaf) for leaf in ("step", basis, "spline")] == [4, 4, 4]


def test_settings_that_are_the_same_come_once():
    assert len(draw({"leaf": ["power", "step"]})) == 2


@pytest.mark.parametrize("has_sensors", [True, False])
@pytest.mark.parametrize("estimator", [BoostR(), BoostR.paper()])
def test_default_spaces_can_be_drawn_from(estimator, has_sensors):
    space = default_space(estimator, has_sensors=has_sensors)
    assert len(draw_settings(space, 10, estimator, seed=0)) == 10


def test_leaf_functions_of_time_are_not_searched_with_sensors():
    assert "leaf" not in default_space(has_sensors=True)


@pytest.mark.parametrize(
    "values",
    [(1.0,), (2.0, 1.0), (0.0, 1.0, "log"), (1, 2, "lin"), ("a", "b"), (0, np.inf)],
)
def test_impossible_ranges_are_refused(values):
    with pytest.raises(InvalidParameterError, match="must be a range"):
        draw({"gamma1": values})


@pytest.mark.parametrize("values", [[], "power", 3.0, None])
def test_impossible_choices_are_refused(values):
    with pytest.raises(InvalidParameterError, match="a list of choices"):
        draw({"leaf": values})


@pytest.mark.parametrize("space", [{}, [("gamma1", (0, 1))], None])
def test_a_space_is_a_dictionary(space):
    with pytest.raises(InvalidParameterError, match="must be a dictionary"):
        draw(space)


@pytest.mark.parametrize("name", ["gamma", "n_jobs", "random_state"])
def test_only_parameters_that_matter_are_searched(name):
    with pytest.raises(InvalidParameterError, match=repr(name)):
        draw({name: [1, 2]})


@pytest.mark.parametrize("space", [{"gamma1": (-5, 5)}, {"leaf": ["power", "stairs"]}])
def test_impossible_values_are_refused_before_anything_runs(space):
    with pytest.raises(InvalidParameterError, match="must be"):
        draw(space)
