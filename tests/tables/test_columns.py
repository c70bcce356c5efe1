import numpy as np
import pytest
from numpy.testing import assert_array_equal

from boostr._tables.columns import KnownColumns, sort_categories, to_codes


def test_columns_know_which_of_them_are_categorical():
    columns = KnownColumns(("a", "b", "c"), (None, ["x", "y"], ()))
    assert_array_equal(columns.is_categorical, [False, True, True])
    assert_array_equal(columns.n_categories, [0, 2, 0])


def test_there_may_be_no_columns():
    columns = KnownColumns((), ())
    assert columns.is_categorical.dtype == np.bool_
    assert columns.n_categories.dtype == np.int32
    assert columns.is_categorical.shape == columns.n_categories.shape == (0,)


@pytest.mark.parametrize(
    ("given", "ordered"),
    [(["b", "a"], ["a", "b"]), ([2, "a", 1], [1, 2, "a"]), ([True, 0.5], [True, 0.5])],
)
def test_categories_of_one_type_stand_together(given, ordered):
    assert sort_categories(given) == ordered


def test_a_code_is_a_place_and_the_rest_is_missing():
    assert_array_equal(
        to_codes(["b", "z", None, "a"], ["a", "b"]), [1.0, np.nan, np.nan, 0.0]
    )
