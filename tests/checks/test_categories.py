from datetime import date
from decimal import Decimal

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from boostr._checks.categories import number_categories
from boostr.exceptions import InvalidFeaturesError

MISSING = [None, np.nan, pd.NA, pd.NaT]


def number(values, known):
    """Return the codes of values, NaN where they have none."""
    codes = number_categories(values, known, "Feature 'site'", InvalidFeaturesError)
    return [codes.get(value) for value in values]


@pytest.mark.parametrize(
    ("values", "known"),
    [
        ([1, 2], ["1", "2"]),
        ([1.0, 2.0], ["1", "2"]),
        ([1, 2], ["1.0", "2.0"]),
        (["1.0", "2.0"], ["1", "2"]),
        (["1", "2"], ["1.0", "2.0"]),
        (["1", "2"], [1, 2]),
        (["1", "2"], [1.0, 2.0]),
        (["1.0", "2.0"], [1, 2]),
        ([np.int32(1), np.int64(2)], ["1", "2"]),
        ([np.float32(1), np.float64(2)], ["1", "2"]),
        ([np.str_("1"), np.str_("2")], [1, 2]),
        ([Decimal(1), Decimal(2)], ["1", "2"]),
        ([0.5, 1e22], ["0.5", "1e+22"]),
        ([False, True], ["False", "True"]),
        ([0.0, 1.0], ["False", "True"]),
        ([np.False_, np.True_], ["false", "true"]),
        (["False", "True"], [False, True]),
        (["FALSE", "TRUE"], [0.0, 1.0]),
        ([0, 1], [False, True]),
    ],
)
def test_values_of_another_type_are_the_categories_that_they_say(values, known):
    assert number(values, known) == [0.0, 1.0]


@given(st.integers(-(2**53), 2**53))
def test_whole_numbers_and_their_texts_are_the_same(whole):
    assert number([str(whole)], [whole]) == number([whole], [str(whole)]) == [0.0]
    assert number([float(whole)], [str(whole)]) == [0.0]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_fractions_and_their_texts_are_the_same(fraction):
    assert number([repr(fraction)], [fraction]) == [0.0]
    assert number([fraction], [repr(fraction)]) == [0.0]


@given(st.lists(st.text() | st.integers() | st.floats(allow_nan=False), unique=True))
def test_categories_have_their_own_places_whatever_else_they_are_like(known):
    assert number(known, known) == list(map(float, range(len(known))))


@pytest.mark.parametrize(
    ("values", "known"),
    [
        ([1, 2], ["north", "south"]),
        (["north"], [1, 2]),
        ([1, 2], ["01", "02"]),
        ([1, 2], ["01", "2"]),
        ([1.1], ["1.10", "1.2"]),
        ([12345678901234567890], ["12345678901234567890"]),
        ([1.0], ["1", "1.0"]),
        ([True], ["1", "True"]),
        ([0, 1, 2], ["false", "true"]),
        (["true", "false"], [0, 1, 2]),
        ([date(2024, 1, 31)], ["2024-01-31"]),
        ([b"1"], ["1"]),
    ],
)
def test_values_that_cannot_be_told_are_refused(values, known):
    with pytest.raises(InvalidFeaturesError, match="Feature 'site' must hold") as caught:
        number([*values, *MISSING], known)
    message = str(caught.value)
    assert "Hint:" in message
    assert repr(values[0]) in message
    assert repr(known[0]) in message


@pytest.mark.parametrize(
    ("values", "known"),
    [
        ([3], ["1", "2"]),
        (["3"], [1, 2]),
        (["west"], ["north"]),
        ([7.0], [1.0, 2.0]),
        (["1.10"], ["1.1"]),
        (["01"], ["1"]),
        (["nan", "inf"], [1, 2, "a"]),
        ([3], []),
        (MISSING, ["1"]),
    ],
)
def test_what_training_has_not_seen_has_no_code(values, known):
    assert number(values, known) == [None] * len(values)


def test_a_stray_value_among_known_ones_has_no_code():
    assert number(["north", 7, "south"], ["north", "south"]) == [0.0, None, 1.0]
