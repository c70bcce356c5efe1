import math

import pytest

from boostr.reproduction._numbers import list_names, say, say_mean, standard_error


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.012345, "0.0123"), (12.345, "12.3"), (1234.5, "1234"), (math.nan, "-")],
)
def test_numbers_have_three_digits_or_all_whole_ones(value, text):
    assert say(value) == text


def test_a_standard_error_needs_two_values():
    assert math.isnan(standard_error([3.0]))
    assert standard_error([1.0, 3.0]) == pytest.approx(1.0)


def test_a_mean_shows_its_error_where_there_is_one():
    assert say_mean([1.0, 3.0]) == "2.0 ± 1.0"
    assert say_mean([0.0157, 0.0175]) == "0.01660 ± 0.00090"
    assert say_mean([100.0, 1100.0]) == "600 ± 500"
    assert say_mean([5.0, 5.0]) == "5 ± 0"
    assert say_mean([2.0]) == "2"


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b and c")]
)
def test_names_are_joined_as_in_a_sentence(names, text):
    assert list_names(names) == text
