import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from boostr.data.features import (
    KnownColumns,
    sort_categories,
    to_codes,
    warn_of_unseen,
)
from boostr.exceptions import DataWarning


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
    codes = to_codes("site", ["b", "z", None, "a"], ["a", "b"])
    assert_array_equal(codes, [1.0, np.nan, np.nan, 0.0])


@pytest.mark.parametrize(("n_known", "warns"), [(2, True), (3, False), (4, False)])
def test_mostly_unseen_categories_give_a_warning(n_known, warns):
    values = ["a", "b", "c", "d", "e", "f", None, None]
    codes = to_codes("site", values, values[:n_known])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_unseen("site", values, codes)
    assert len(caught) == warns
    if warns:
        message = str(caught[0].message)
        assert caught[0].category is DataWarning
        assert "'site'" in message
        assert "4 of 6 rows ('c', 'd', 'e', 'f')" in message
        assert caught[0].filename == __file__
