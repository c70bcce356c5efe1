import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from boostr import RecurrentEvents
from boostr.data.features import check_rows, check_table, is_frame, to_matrix
from boostr.exceptions import InvalidFeaturesError, TargetTypeError


def test_frames_have_columns_and_arrays_do_not():
    assert is_frame(pd.DataFrame({"a": [1]}))
    assert is_frame(pl.DataFrame({"a": [1]}))
    assert not is_frame(np.zeros((1, 1)))
    assert not is_frame([[1.0]])


def test_a_frame_stays_what_it_is():
    frame = pd.DataFrame({"a": ["x", None]})
    assert check_table(frame) is frame


def test_lists_become_arrays_of_any_type():
    assert_array_equal(check_table([["x", 1], ["y", 2]]), [["x", "1"], ["y", "2"]])


@pytest.mark.parametrize("n_features", [0, 3])
def test_a_table_may_have_no_features_but_must_have_rows(n_features):
    assert check_table(np.empty((4, n_features))).shape == (4, n_features)
    with pytest.raises(ValueError, match="0 sample"):
        check_table(np.empty((0, n_features)))


def test_events_in_the_place_of_features_are_named():
    y = RecurrentEvents.from_lists([[1.0]], end=2.0)
    with pytest.raises(InvalidFeaturesError, match=r"fit\(X, y\)"):
        check_table(y)


def test_there_is_one_history_per_row():
    y = RecurrentEvents.from_lists([[1.0], []], end=2.0)
    assert check_rows(y, 2, "none.") is y
    with pytest.raises(InvalidFeaturesError, match="3 rows for 2 individuals") as e:
        check_rows(y, 3, "so.")
    assert str(e.value).endswith("\n\nHint: so.")
    with pytest.raises(TargetTypeError):
        check_rows([1, 2], 2, "none.")


def test_numbers_become_a_matrix_in_rows():
    given = np.asfortranarray([[1, 2], [3, 4]])
    matrix = to_matrix(given, "none.")
    assert matrix.dtype == np.float64
    assert matrix.flags.c_contiguous
    assert_array_equal(matrix, given)


def test_missing_values_pass_and_infinite_ones_do_not():
    assert np.isnan(to_matrix([[np.nan]], "none.")).all()
    with pytest.raises(ValueError, match="infinity"):
        to_matrix([[np.inf]], "none.")


def test_text_is_refused_with_the_hint_given():
    with pytest.raises(
        InvalidFeaturesError, match=r"could not convert[^\n]*\n\nHint: so\."
    ):
        to_matrix([["x"]], "so.")
